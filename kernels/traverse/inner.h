/* inner.h - the teams of resident.krn that have cells: a work-item has ROWS rows, or one less but
 * at least two, of two columns. What they need of the tile's neighbours are fluxes through its
 * edges, at the end of a sweep; slopes are ready before dt is known. */

typedef struct pairs { cell of[ROWS][2]; } pairs;
typedef struct slopes { flow w[ROWS][2], h[ROWS][2]; } slopes;

/* A work-item: its lane and the last one with cells, its team, the first of its rows in the tile,
 * how many, and whether these are all ROWS. */
typedef struct seat { int lane, last, team, row, rows, is_full; } seat;

MR_FN seat seat_of(tile t) {
    seat a;
    a.lane = mr_lid_x() % TEAM;
    a.last = t.w / 2 - 1;
    a.team = mr_uniform(mr_lid_x() / TEAM);
    a.row = begin_of(a.team, t.h, INNER);
    a.rows = begin_of(a.team + 1, t.h, INNER) - a.row;
    a.is_full = a.rows == ROWS;
    return a;
}

MR_FN mr_index offset_of(tile t, seat a, int r, int stride) {
    int i = t.west + 2 * a.lane, j = t.south + a.row + r;
    return cell_offset(i < t.nx ? i : t.nx - 2, j < t.ny ? j : t.ny - 1, stride);
}

MR_FN void load_pairs(pairs *q, const MR_GLOBAL real *src, tile t, seat a, sweep s) {
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r)
        MR_LANES(c, 2) {
            const MR_GLOBAL real *p = src + offset_of(t, a, r, s.stride) + c;
            cell here = { p[0], p[s.plane], p[2 * s.plane], p[3 * s.plane] };
            q->of[r][c] = here;
        }
}

MR_FN void store_pairs(MR_GLOBAL real *dst, const pairs *q, tile t, seat a, sweep s) {
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r)
        MR_LANES(c, 2) {
            MR_GLOBAL real *p = dst + offset_of(t, a, r, s.stride) + c;
            cell here = q->of[r][c];
            if (a.lane > a.last || r >= a.rows) continue;
            p[0] = here.rho;
            p[s.plane] = here.mn;
            p[2 * s.plane] = here.mt;
            p[3 * s.plane] = here.energy;
        }
}

MR_FN void turn_pairs(pairs *q) {
    MR_LANES(r, ROWS) MR_LANES(c, 2) q->of[r][c] = turned(q->of[r][c]);
}

MR_FN cell plain(cell q, int is_turned) { return is_turned ? turned(q) : q; }

/* Lays rows near the edges on the table. */
MR_FN void show_rows(const pairs *q, table b, tile t, seat a, int is_turned) {
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r) {
        int j = a.row + r;
        if (!is_near(j, t.h) || r >= a.rows) continue;
        MR_LANES(c, 2)
            put_cell(b.rows + near(j, t.h) * AHEAD + c * TEAM + a.lane,
                plain(q->of[r][c], is_turned));
    }
}

MR_FN void show_columns(const pairs *q, table b, tile t, seat a, int is_turned) {
    if (a.lane > 1 && a.lane < a.last - 1) return;
    MR_LANES(c, 2) {
        int i = 2 * a.lane + c;
        if (!is_near(i, t.w) || i >= t.w) continue;
        MR_UNROLL(ROWS)
        for (int r = 0; r < ROWS; ++r)
            if (r < a.rows)
                put_cell(b.columns + column_at(t, i, a.row + r), plain(q->of[r][c], is_turned));
    }
}

/* The first and the last row, momenta turned, for the teams below and above. */
MR_FN void show_lines(const pairs *q, table b, seat a, sweep y) {
    MR_LANES(c, 2) {
        int at = a.team * MOST_COLUMNS + c * TEAM + a.lane;
        cell last = select_cell(a.is_full, q->of[ROWS - 1][c], q->of[ROWS - 2][c]);
        put_flow(b.first + at, primitive(q->of[0][c], y.physics));
        put_flow(b.last + at + MOST_COLUMNS, primitive(last, y.physics));
    }
}

/* Along x. Wrong in the outermost columns, but the fluxes beside them come from others. */
MR_FN void find_slopes_x(slopes *m, const pairs *q, sweep x) {
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r) {
        flow west = primitive(q->of[r][0], x.physics), east = primitive(q->of[r][1], x.physics);
        flow middle = difference(west, east), ahead = difference(east, flow_down(west));
        m->w[r][0] = west;
        m->w[r][1] = east;
        m->h[r][0] = slope_of(west, flow_up(ahead), middle);
        m->h[r][1] = slope_of(east, middle, ahead);
    }
}

/* Along y, between the lines of the teams below and above, if any. */
MR_FN void find_slopes_y(slopes *m, const pairs *q, table b, seat a, sweep y) {
    MR_LANES(c, 2) {
        int at = a.team * MOST_COLUMNS + c * TEAM + a.lane;
        flow above = flow_at(b.first + at + MOST_COLUMNS);
        MR_LANES(r, ROWS) m->w[r][c] = primitive(q->of[r][c], y.physics);
        flow below = difference(flow_at(b.last + at), m->w[0][c]);
        MR_LANES(r, ROWS) {
            flow next = r < ROWS - 1 ? m->w[(r + 1) % ROWS][c] : above;
            if (r == ROWS - 2) next = select_flow(a.is_full, next, above);
            flow step = difference(m->w[r][c], next);
            m->h[r][c] = slope_of(m->w[r][c], below, step);
            below = step;
        }
    }
}

/* A sweep along x. */
MR_FN void sweep_rows(pairs *q, const slopes *m, table b, seat a, sweep x) {
    cell f[ROWS][2];
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r) {
        face low[2], high[2];
        MR_LANES(c, 2)
            faces_of(m->w[r][c], m->h[r][c], x.lambda, x.physics, &low[c], &high[c]);
        f[r][0] = flux(high[0], low[1], x.lambda, x.physics);
        f[r][1] = flux(high[1], flow_down(low[0]), x.lambda, x.physics);
    }
    meet_all(X_FLUXES);
    const MR_LOCAL_PTR mr_quad *edge = b.x_fluxes + (a.lane == 0 ? 0 : 2 * UPWARD) + a.row + 2;
    int is_outermost = a.lane == 0 || a.lane == a.last;
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r) {
        cell outer = cell_at(edge + r);
        f[r][0] = select_cell(is_outermost, cell_at(edge + UPWARD + r), f[r][0]);
        update_pair(q->of[r], f[r], outer, outer, a.lane, a.last, x);
    }
}

/* The fluxes through the upper faces of a column, the last row's only once those above have shown
 * their lower faces. What the edges are beside comes from others. */
MR_FN void top_flux(cell (*f)[2], face high, int c, table b, seat a, sweep y) {
    int at = a.team * MOST_COLUMNS + c * TEAM + a.lane;
    cell top = flux(high, flow_at(b.last + at + MOST_COLUMNS), y.lambda, y.physics);
    if (a.team < INNER - 1) put_cell(b.first + at + MOST_COLUMNS, top);
    f[ROWS - 1][c] = top;
    f[ROWS - 2][c] = select_cell(a.is_full, f[ROWS - 2][c], top);
}

/* Puts the fluxes near the edges in the places of those that were wrong. */
MR_FN void take_edges(cell (*f)[2], table b, seat a) {
    if (a.team > 0 && a.team < INNER - 1) return;
    MR_LANES(c, 2) {
        const MR_LOCAL_PTR mr_quad *edge = b.y_fluxes + c * TEAM + a.lane;
        if (a.team > 0) edge += 2 * AHEAD;
        cell outer = cell_at(edge), inner = cell_at(edge + AHEAD);
        if (a.team == 0) {
            f[0][c] = inner;
            put_cell(b.first + c * TEAM + a.lane, outer);
            continue;
        }
        f[ROWS - 1][c] = select_cell(a.is_full, outer, f[ROWS - 1][c]);
        f[ROWS - 2][c] = select_cell(a.is_full, inner, outer);
        if (ROWS > 2) f[ROWS - 3][c] = select_cell(a.is_full, f[ROWS - 3][c], inner);
    }
}

/* A sweep along y, momenta turned. */
MR_FN void sweep_columns(pairs *q, const slopes *m, table b, seat a, sweep y) {
    cell f[ROWS][2];
    face last[2];
    MR_LANES(c, 2) {
        face low[ROWS], high[ROWS];
        MR_LANES(r, ROWS) faces_of(m->w[r][c], m->h[r][c], y.lambda, y.physics, &low[r], &high[r]);
        put_flow(b.last + a.team * MOST_COLUMNS + c * TEAM + a.lane, low[0]);
        MR_LANES(r, ROWS - 1) f[r][c] = flux(high[r], low[r + 1], y.lambda, y.physics);
        last[c] = select_flow(a.is_full, high[ROWS - 1], high[ROWS - 2]);
    }
    meet_inner(INNER_FACES);
    MR_LANES(c, 2) top_flux(f, last[c], c, b, a, y);
    meet_all(Y_FLUXES);
    take_edges(f, b, a);
    MR_LANES(c, 2) {
        cell in = cell_at(b.first + a.team * MOST_COLUMNS + c * TEAM + a.lane);
        MR_LANES(r, ROWS) {
            q->of[r][c] = update(q->of[r][c], in, f[r][c], y.lambda);
            in = f[r][c];
        }
    }
}

MR_FN real rate_of(const pairs *q, seat a, sweep s) {
    real rate = R(0.0);
    MR_LANES(r, ROWS)
        MR_LANES(c, 2) {
            real one = signal_rate(signals_of(q->of[r][c], s.physics), s.inv_dn, s.inv_dt);
            if (a.lane <= a.last && r < a.rows) rate = mr_max_nan(rate, one);
        }
    return rate;
}
