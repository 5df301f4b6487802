/* mailbox.h - how groups of persistent.krn exchange halos, in global memory: each publishes the
 * cells two deep inside the edges of its tile, and its largest rate, and polls for those of its
 * neighbours. Each word brings along the number of the step, so that it is there with it or not
 * yet, and no fence is needed. */

#define READERS (EDGE_WARPS * WARP)
#define WRITERS (READERS - WARP)            /* the last warp chooses dt */
#define HALO_CELLS (4 * ROW_ROOM + 4 * MOST_ROWS)
#define EDGE_CELLS (4 * MOST_COLUMNS + 4 * MOST_ROWS)
#define READS ((HALO_CELLS + READERS - 1) / READERS)
#define WRITES ((EDGE_CELLS + WRITERS - 1) / WRITERS)
#define COPIES 8                            /* of a rate, so that not all read one */

/* What a work-item reads of the mailbox and writes there: where, in numbers of words; and where in
 * local memory, -1 if nowhere. A cell is PAIRS times two words, one pair in each plane of the
 * mailbox. */
#define PAIRS ((FIELDS + 1) / 2)

typedef struct halo_map {
    uint from[READS], to[WRITES];
    int row[READS], column[READS], stored[WRITES];
} halo_map;

/* Where the first pair of a cell is: as one of a row or of a column. The next is `plane` words
 * further on. */
MR_FN uint row_word(int i, int j, tile t) { return 2u * (j * t.nx + i); }
MR_FN uint column_word(int i, int j, tile t) { return 2u * (t.nx * t.ny + i * t.ny + j); }

/* The row or column that is line k of four. Beside a tile of n: two below it, two above. Inside:
 * its first two, its last two. */
MR_FN int line_beside(int k, int n) { return k < 2 ? k - 2 : n - 2 + k; }
MR_FN int line_inside(int k, int n) { return k < 2 ? k : n - 4 + k; }

/* Item n of those beside the tile; returns whether there is one. */
MR_FN int halo_item(int n, tile t, int *i, int *j) {
    int is_row = n < 4 * ROW_ROOM, m = is_row ? n : n - 4 * ROW_ROOM;
    int size = is_row ? ROW_ROOM : MOST_ROWS, line = m / size, k = m % size;
    *i = is_row ? k - 2 : line_beside(line, t.w);
    *j = is_row ? line_beside(line, t.h) : k;
    return n < HALO_CELLS && (is_row ? k < t.w + 4 : k < t.h);
}

MR_FN int edge_item(int n, tile t, int *i, int *j) {
    int is_row = n < 4 * MOST_COLUMNS, m = is_row ? n : n - 4 * MOST_COLUMNS;
    int size = is_row ? MOST_COLUMNS : MOST_ROWS, line = m / size, k = m % size;
    *i = is_row ? k : line_inside(line, t.w);
    *j = is_row ? line_inside(line, t.h) : k;
    return n < EDGE_CELLS && k < (is_row ? t.w : t.h);
}

MR_FN halo_map halo_map_of(tile t, int me) {
    halo_map e;
    MR_UNROLL(READS)
    for (int k = 0; k < READS; ++k) {
        int i, j, there = halo_item(me + k * READERS, t, &i, &j);
        if (!there) i = j = -1;
        int column = around(t.west + i, t.nx), row = around(t.south + j, t.ny);
        int as_row = j < 0 || j >= t.h;
        e.from[k] = as_row ? row_word(column, row, t) : column_word(column, row, t);
        e.row[k] = there && is_near(j, t.h) ? row_at(t, i, j) : -1;
        e.column[k] = there && is_near(i, t.w) ? column_at(t, i, j) : -1;
    }
    MR_UNROLL(WRITES)
    for (int k = 0; k < WRITES; ++k) {
        int n = me + k * WRITERS, i, j, there = edge_item(n, t, &i, &j);
        int as_row = n < 4 * MOST_COLUMNS;
        e.to[k] = as_row ? row_word(t.west + i, t.south + j, t)
            : column_word(t.west + i, t.south + j, t);
        e.stored[k] = !there ? -1 : as_row ? row_at(t, i, j) : 10 * ROW_ROOM + column_at(t, i, j);
    }
    return e;
}

/* The words of a cell, with one to spare where FIELDS is odd. */
#define WORD_(name, k) v[k] = q.name;
#define FIELD_OF_WORD_(name, k) q->name = v[k];

MR_FN void publish_cell(MR_GLOBAL ulong *to, cell q, uint plane, uint step) {
    real v[2 * PAIRS];
    v[2 * PAIRS - 1] = R(0.0);
    EACH_FIELD(WORD_)
    MR_LANES(p, PAIRS)
        mr_publish_pair(to + p * plane, mr_mail(v[2 * p], step), mr_mail(v[2 * p + 1], step));
}

MR_FN void publish_edges(edge_store b, const halo_map *e, MR_GLOBAL ulong *mailbox, uint plane,
    uint step) {
    MR_UNROLL(WRITES)
    for (int k = 0; k < WRITES; ++k) {
        if (e->stored[k] < 0) continue;
        publish_cell(mailbox + e->to[k], cell_at(b.rows + e->stored[k]), plane, step);
    }
}

/* Returns whether all of it is there. */
MR_FN int poll_cell(cell *q, const MR_GLOBAL ulong *from, uint plane, uint step) {
    ulong word[2 * PAIRS];
    real v[2 * PAIRS];
    int all = 1;
    MR_LANES(p, PAIRS) mr_poll_pair(from + p * plane, &word[2 * p], &word[2 * p + 1]);
    MR_LANES(p, 2 * PAIRS) v[p] = mr_mail_value(word[p]);
    MR_LANES(p, 2 * PAIRS) all &= mr_is_mail(word[p], step);
    EACH_FIELD(FIELD_OF_WORD_)
    return all;
}

MR_FN void poll_halo(edge_store b, const halo_map *e, const MR_GLOBAL ulong *mailbox, uint plane,
    uint step) {
    cell q[READS];
    int all;
    do {
        all = 1;
        MR_LANES(k, READS) all &= poll_cell(&q[k], mailbox + e->from[k], plane, step);
    } while (!all);
    MR_LANES(k, READS) {
        if (e->row[k] >= 0) put_cell(b.rows + e->row[k], q[k]);
        if (e->column[k] >= 0) put_cell(b.columns + e->column[k], q[k]);
    }
}

MR_FN void load_halo(edge_store b, const MR_GLOBAL real *src, tile t, int me, sweep s) {
    MR_UNROLL(1)
    for (int n = me; n < HALO_CELLS; n += READERS) {
        int i, j;
        if (!halo_item(n, t, &i, &j)) continue;
        const MR_GLOBAL real *p = src + cell_offset(around(t.west + i, t.nx),
            around(t.south + j, t.ny), s.stride);
        cell q = load_cell(p, s.plane);
        if (is_near(j, t.h)) put_cell(b.rows + row_at(t, i, j), q);
        if (is_near(i, t.w)) put_cell(b.columns + column_at(t, i, j), q);
    }
}

/* The words of the rates of all groups, which a warp reads at once, so that it takes no longer than
 * reading one. Work-items that are left over read the first two once more. */
typedef struct look { ulong a[RATE_PAIRS], b[RATE_PAIRS]; } look;

MR_FN void look_at_rates(look *l, const MR_GLOBAL ulong *rates, int groups, int lane) {
    MR_LANES(k, RATE_PAIRS) {
        int n = 2 * (lane + k * WARP);
        mr_poll_pair(rates + (n < groups ? n : 0), &l->a[k], &l->b[k]);
    }
}

/* Whether all rates are there, and the largest. The second of the last pair may belong to no
 * group. */
MR_FN int has_seen(const look *l, int groups, int lane, uint step, real *most) {
    int all = 1;
    *most = R(0.0);
    MR_LANES(k, RATE_PAIRS) {
        int n = 2 * (lane + k * WARP), is_alone = (n < groups ? n : 0) + 1 == groups;
        real other = is_alone ? R(0.0) : mr_mail_value(l->b[k]);
        all &= mr_is_mail(l->a[k], step) & (is_alone | mr_is_mail(l->b[k], step));
        *most = mr_max_nan(*most, mr_max_nan(mr_mail_value(l->a[k]), other));
    }
    return all;
}

MR_FN real poll_rates(const MR_GLOBAL ulong *rates, int groups, int lane, uint step) {
    real most;
    look l;
    do look_at_rates(&l, rates, groups, lane); while (!has_seen(&l, groups, lane, step, &most));
    return mr_warp_most(most);
}
