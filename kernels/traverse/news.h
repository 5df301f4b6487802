/* news.h - what groups of resident.krn tell one another: the cells two deep inside the edges of
 * their tiles, and their largest rates. Each word brings along the number of the step, so that it
 * is there with it or not yet, and no fence is needed. */

#define HEARERS (OUTER * TEAM)
#define TELLERS (HEARERS - TEAM)            /* the last team has the time to look after */
#define BESIDE (4 * AHEAD + 4 * MOST_ROWS)
#define RIM (4 * MOST_COLUMNS + 4 * MOST_ROWS)
#define HEARS ((BESIDE + HEARERS - 1) / HEARERS)
#define TELLS ((RIM + TELLERS - 1) / TELLERS)
#define COPIES 8                            /* of a rate, so that not all read one */

/* What a work-item hears and tells: where in the news, in numbers of words; where on the table, -1
 * if nowhere. */
typedef struct errands {
    uint from[HEARS], to[TELLS];
    int row[HEARS], column[HEARS], told[TELLS];
} errands;

/* Where a cell is told, half of it: as one of a row or of a column. The other half is `half` words
 * further on. */
MR_FN uint row_word(int i, int j, tile t) { return 2u * (j * t.nx + i); }
MR_FN uint column_word(int i, int j, tile t) { return 2u * (t.nx * t.ny + i * t.ny + j); }

/* Line k of four: the last two of the tile before, the first two of the one after; own ones. */
MR_FN int line_beside(int k, int n) { return k < 2 ? k - 2 : n - 2 + k; }
MR_FN int line_inside(int k, int n) { return k < 2 ? k : n - 4 + k; }

/* Item n of those beside the tile; returns whether there is one. */
MR_FN int find_beside(int n, tile t, int *i, int *j) {
    int is_row = n < 4 * AHEAD, m = is_row ? n : n - 4 * AHEAD, size = is_row ? AHEAD : MOST_ROWS;
    int line = m / size, k = m % size;
    *i = is_row ? k - 2 : line_beside(line, t.w);
    *j = is_row ? line_beside(line, t.h) : k;
    return n < BESIDE && (is_row ? k < t.w + 4 : k < t.h);
}

MR_FN int find_inside(int n, tile t, int *i, int *j) {
    int is_row = n < 4 * MOST_COLUMNS, m = is_row ? n : n - 4 * MOST_COLUMNS;
    int size = is_row ? MOST_COLUMNS : MOST_ROWS, line = m / size, k = m % size;
    *i = is_row ? k : line_inside(line, t.w);
    *j = is_row ? line_inside(line, t.h) : k;
    return n < RIM && k < (is_row ? t.w : t.h);
}

MR_FN errands errands_of(tile t, int me) {
    errands e;
    MR_UNROLL(HEARS)
    for (int k = 0; k < HEARS; ++k) {
        int i, j, there = find_beside(me + k * HEARERS, t, &i, &j);
        if (!there) i = j = -1;
        int column = around(t.west + i, t.nx), row = around(t.south + j, t.ny);
        int as_row = j < 0 || j >= t.h;
        e.from[k] = as_row ? row_word(column, row, t) : column_word(column, row, t);
        e.row[k] = there && is_near(j, t.h) ? row_at(t, i, j) : -1;
        e.column[k] = there && is_near(i, t.w) ? column_at(t, i, j) : -1;
    }
    MR_UNROLL(TELLS)
    for (int k = 0; k < TELLS; ++k) {
        int n = me + k * TELLERS, i, j, there = find_inside(n, t, &i, &j);
        int as_row = n < 4 * MOST_COLUMNS;
        e.to[k] = as_row ? row_word(t.west + i, t.south + j, t)
            : column_word(t.west + i, t.south + j, t);
        e.told[k] = !there ? -1 : as_row ? row_at(t, i, j) : 10 * AHEAD + column_at(t, i, j);
    }
    return e;
}

MR_FN void tell_rim(table b, const errands *e, MR_GLOBAL ulong *news, uint half, uint number) {
    MR_UNROLL(TELLS)
    for (int k = 0; k < TELLS; ++k) {
        if (e->told[k] < 0) continue;
        cell q = cell_at(b.rows + e->told[k]);
        mr_tell(news + e->to[k], mr_news(q.rho, number), mr_news(q.mn, number));
        mr_tell(news + e->to[k] + half, mr_news(q.mt, number), mr_news(q.energy, number));
    }
}

MR_FN int hear_cell(cell *q, const MR_GLOBAL ulong *from, uint half, uint number) {
    ulong a, b, c, d;
    mr_look(from, &a, &b);
    mr_look(from + half, &c, &d);
    q->rho = mr_number_of(a);
    q->mn = mr_number_of(b);
    q->mt = mr_number_of(c);
    q->energy = mr_number_of(d);
    return mr_is_news(a, number) & mr_is_news(b, number) & mr_is_news(c, number)
        & mr_is_news(d, number);
}

MR_FN void hear_beside(table b, const errands *e, const MR_GLOBAL ulong *news, uint half,
    uint number) {
    cell q[HEARS];
    int all;
    do {
        all = 1;
        MR_LANES(k, HEARS) all &= hear_cell(&q[k], news + e->from[k], half, number);
    } while (!all);
    MR_LANES(k, HEARS) {
        if (e->row[k] >= 0) put_cell(b.rows + e->row[k], q[k]);
        if (e->column[k] >= 0) put_cell(b.columns + e->column[k], q[k]);
    }
}

MR_FN void load_beside(table b, const MR_GLOBAL real *src, tile t, int me, sweep s) {
    MR_UNROLL(1)
    for (int n = me; n < BESIDE; n += HEARERS) {
        int i, j;
        if (!find_beside(n, t, &i, &j)) continue;
        const MR_GLOBAL real *p = src + cell_offset(around(t.west + i, t.nx),
            around(t.south + j, t.ny), s.stride);
        cell q = { p[0], p[s.plane], p[2 * s.plane], p[3 * s.plane] };
        if (is_near(j, t.h)) put_cell(b.rows + row_at(t, i, j), q);
        if (is_near(i, t.w)) put_cell(b.columns + column_at(t, i, j), q);
    }
}

/* A look at the rates of all groups: all at once, so that it takes no longer than one. Work-items
 * with none of their own look at others. */
typedef struct look { ulong a[POSTS], b[POSTS]; } look;

MR_FN void look_at_rates(look *l, const MR_GLOBAL ulong *posts, int groups, int lane) {
    MR_LANES(k, POSTS) {
        int n = 2 * (lane + k * TEAM);
        mr_look(posts + (n < groups ? n : 0), &l->a[k], &l->b[k]);
    }
}

/* Whether all are there, and the largest. The second of a pair may be no group's. */
MR_FN int has_seen(const look *l, int groups, int lane, uint number, real *most) {
    int all = 1;
    *most = R(0.0);
    MR_LANES(k, POSTS) {
        int n = 2 * (lane + k * TEAM), is_alone = (n < groups ? n : 0) + 1 == groups;
        real other = is_alone ? R(0.0) : mr_number_of(l->b[k]);
        all &= mr_is_news(l->a[k], number) & (is_alone | mr_is_news(l->b[k], number));
        *most = mr_max_nan(*most, mr_max_nan(mr_number_of(l->a[k]), other));
    }
    return all;
}

MR_FN real hear_rates(const MR_GLOBAL ulong *posts, int groups, int lane, uint number) {
    real most;
    look l;
    do look_at_rates(&l, posts, groups, lane); while (!has_seen(&l, groups, lane, number, &most));
    return mr_warp_most(most);
}
