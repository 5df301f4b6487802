/* partition.h - which team goes over which rows. Columns fall into strips as wide as what a team
 * owns, rows into bands of such a height that every team has one strip of a band, side by side, so
 * that they read neighbouring memory at the same time. The teams that are left share what the bands
 * leave in the north, strip by strip; where that is nothing, bands differ by a row at most. Teams
 * may be more than run at a time: bands are taken from the south on. */

#ifndef TRAVERSE_PARTITION
#define TRAVERSE_PARTITION

#define START 8     /* what it takes to begin anew, in rows */

/* A team's `count` rows of the `rows` rows from `south` on, counted strip by strip: from row `row`
 * of strip `strip` on. */
typedef struct portion { int south, rows, strip, row, count; } portion;

MR_FN int ceil_ratio(int a, int b) { return (a + b - 1) / b; }
MR_FN int least(int a, int b) { return a < b ? a : b; }

MR_FN portion portion_of(int team, int teams, int strips, int ny) {
    portion s = { 0, ny, team % strips, 0, 0 };
    int bands = teams / strips, others = teams - bands * strips;
    if (bands > 0) {
        int even = ceil_ratio(strips * ny + START * (strips - others), teams);
        int low = ny / bands, high = low < even ? ny - low * bands : 0;
        if (low >= even) low = even;
        int band = least(team / strips, bands);
        s.south = band * low + least(band, high);
        s.rows = band < bands ? low + (band < high) : ny - s.south;
    }
    s.count = s.rows;
    if (team >= bands * strips && s.rows > 0) {
        int mine = ceil_ratio(strips * s.rows, others), from = (team - bands * strips) * mine;
        s.strip = from / s.rows;
        s.row = from - s.strip * s.rows;
        s.count = least(mine, strips * s.rows - from);
    }
    return s;
}

/* The rows of this group's strip of the rows low .. high - 1, which all groups along y share
 * evenly: first .. end - 1. */
MR_FN void strip_of(int low, int high, int *first, int *end) {
    int rows = ceil_ratio(high - low, mr_groups_y());
    *first = low + mr_group_y() * rows;
    *end = least(*first + rows, high);
}

#endif
