/* interior.h - the warps of persistent.krn that hold cells, in registers: a work-item has ROWS
 * rows, or one less but at least two, of two columns. What they need of the tile's neighbours are
 * fluxes through its edges, at the end of a sweep; slopes are ready before dt is known. */

typedef struct pairs { cell of[ROWS][2]; } pairs;
typedef struct slopes { primitive w[ROWS][2], h[ROWS][2]; } slopes;

/* The rows of a warp: the lane of this work-item and the last one with cells, the warp, the first
 * of its rows in the tile, how many, and whether these are all ROWS. */
typedef struct slab { int lane, last, warp, row, rows, is_full; } slab;

MR_FN slab slab_of(tile t) {
    slab a;
    a.lane = mr_lid_x() % WARP;
    a.last = t.w / 2 - 1;
    a.warp = mr_uniform(mr_lid_x() / WARP);
    a.row = begin_of(a.warp, t.h, INTERIOR_WARPS);
    a.rows = begin_of(a.warp + 1, t.h, INTERIOR_WARPS) - a.row;
    a.is_full = a.rows == ROWS;
    return a;
}

MR_FN mr_index offset_of(tile t, slab a, int r, int stride) {
    int i = t.west + 2 * a.lane, j = t.south + a.row + r;
    return cell_offset(i < t.nx ? i : t.nx - 2, j < t.ny ? j : t.ny - 1, stride);
}

MR_FN void load_pairs(pairs *q, const MR_GLOBAL real *src, tile t, slab a, sweep s) {
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r)
        MR_LANES(c, 2) {
            const MR_GLOBAL real *p = src + offset_of(t, a, r, s.stride) + c;
            q->of[r][c] = load_cell(p, s.plane);
        }
}

MR_FN void store_pairs(MR_GLOBAL real *dst, const pairs *q, tile t, slab a, sweep s) {
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r)
        MR_LANES(c, 2) {
            MR_GLOBAL real *p = dst + offset_of(t, a, r, s.stride) + c;
            cell here = q->of[r][c];
            if (a.lane > a.last || r >= a.rows) continue;
            store_cell(p, s.plane, here);
        }
}

MR_FN void turn_pairs(pairs *q) {
    MR_LANES(r, ROWS) MR_LANES(c, 2) q->of[r][c] = turned(q->of[r][c]);
}

MR_FN cell plain(cell q, int is_turned) { return is_turned ? turned(q) : q; }

/* Puts rows near the edges into local memory. */
MR_FN void put_edge_rows(const pairs *q, edge_store b, tile t, slab a, int is_turned) {
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r) {
        int j = a.row + r;
        if (!is_near(j, t.h) || r >= a.rows) continue;
        MR_LANES(c, 2)
            put_cell(b.rows + near(j, t.h) * ROW_ROOM + c * WARP + a.lane,
                plain(q->of[r][c], is_turned));
    }
}

MR_FN void put_edge_columns(const pairs *q, edge_store b, tile t, slab a, int is_turned) {
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

/* The first and the last row, vectors turned, for the warps below and above. */
MR_FN void put_lines(const pairs *q, edge_store b, slab a, sweep y) {
    MR_LANES(c, 2) {
        int at = a.warp * MOST_COLUMNS + c * WARP + a.lane;
        cell last = select_cell(a.is_full, q->of[ROWS - 1][c], q->of[ROWS - 2][c]);
        put_primitive(b.first + at, primitive_of(q->of[0][c], y.k));
        put_primitive(b.last + at + MOST_COLUMNS, primitive_of(last, y.k));
    }
}

/* Slopes along x. They are wrong in the outermost columns, but the fluxes next to those come from
 * the edge warps. */
MR_FN void find_slopes_x(slopes *m, const pairs *q, sweep x) {
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r) {
        primitive west = primitive_of(q->of[r][0], x.k), east = primitive_of(q->of[r][1], x.k);
        primitive middle = difference(west, east), ahead = difference(east, primitive_down(west));
        m->w[r][0] = west;
        m->w[r][1] = east;
        m->h[r][0] = slope_of(west, primitive_up(ahead), middle);
        m->h[r][1] = slope_of(east, middle, ahead);
    }
}

/* Slopes along y. The rows next to the first and the last are those of the warps below and above,
 * where there are such warps. */
MR_FN void find_slopes_y(slopes *m, const pairs *q, edge_store b, slab a, sweep y) {
    MR_LANES(c, 2) {
        int at = a.warp * MOST_COLUMNS + c * WARP + a.lane;
        primitive above = primitive_at(b.first + at + MOST_COLUMNS);
        MR_LANES(r, ROWS) m->w[r][c] = primitive_of(q->of[r][c], y.k);
        primitive below = difference(primitive_at(b.last + at), m->w[0][c]);
        MR_LANES(r, ROWS) {
            primitive next = r < ROWS - 1 ? m->w[(r + 1) % ROWS][c] : above;
            if (r == ROWS - 2) next = select_primitive(a.is_full, next, above);
            primitive step = difference(m->w[r][c], next);
            m->h[r][c] = slope_of(m->w[r][c], below, step);
            below = step;
        }
    }
}

/* A sweep along x. */
MR_FN void sweep_rows(pairs *q, const slopes *m, edge_store b, slab a, sweep x) {
    flux f[ROWS][2];
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r) {
        face low[2], high[2];
        MR_LANES(c, 2)
            faces_of(m->w[r][c], m->h[r][c], x.lambda, x.k, &low[c], &high[c]);
        f[r][0] = numerical_flux(high[0], low[1], x.lambda, x.k);
        f[r][1] = numerical_flux(high[1], primitive_down(low[0]), x.lambda, x.k);
    }
    sync_all(X_FLUXES_READY);
    const MR_LOCAL_PTR mr_quad *edge = b.x_fluxes + (a.lane == 0 ? 0 : 2 * COLUMN_ROOM) + a.row + 2;
    int is_outermost = a.lane == 0 || a.lane == a.last;
    MR_UNROLL(ROWS)
    for (int r = 0; r < ROWS; ++r) {
        flux outer = flux_at(edge + r);
        f[r][0] = select_flux(is_outermost, flux_at(edge + COLUMN_ROOM + r), f[r][0]);
        update_pair(q->of[r], f[r], outer, outer, a.lane, a.last, x);
    }
}

/* The flux through the upper face of a column's last row. The warp above must have stored its lower
 * face before. Fluxes next to the edges of the tile come from the edge warps. */
MR_FN void top_flux(flux (*f)[2], face high, int c, edge_store b, slab a, sweep y) {
    int at = a.warp * MOST_COLUMNS + c * WARP + a.lane;
    flux top = numerical_flux(high, primitive_at(b.last + at + MOST_COLUMNS), y.lambda, y.k);
    if (a.warp < INTERIOR_WARPS - 1) put_flux(b.first + at + MOST_COLUMNS, top);
    f[ROWS - 1][c] = top;
    f[ROWS - 2][c] = select_flux(a.is_full, f[ROWS - 2][c], top);
}

/* Puts the fluxes near the edges in the places of those that were wrong. */
MR_FN void take_edge_fluxes(flux (*f)[2], edge_store b, slab a) {
    if (a.warp > 0 && a.warp < INTERIOR_WARPS - 1) return;
    MR_LANES(c, 2) {
        const MR_LOCAL_PTR mr_quad *edge = b.y_fluxes + c * WARP + a.lane;
        if (a.warp > 0) edge += 2 * ROW_ROOM;
        flux outer = flux_at(edge), inner = flux_at(edge + ROW_ROOM);
        if (a.warp == 0) {
            f[0][c] = inner;
            put_flux(b.first + c * WARP + a.lane, outer);
            continue;
        }
        f[ROWS - 1][c] = select_flux(a.is_full, outer, f[ROWS - 1][c]);
        f[ROWS - 2][c] = select_flux(a.is_full, inner, outer);
        if (ROWS > 2) f[ROWS - 3][c] = select_flux(a.is_full, f[ROWS - 3][c], inner);
    }
}

/* A sweep along y, vectors turned. */
MR_FN void sweep_columns(pairs *q, const slopes *m, edge_store b, slab a, sweep y) {
    flux f[ROWS][2];
    face last[2];
    MR_LANES(c, 2) {
        face low[ROWS], high[ROWS];
        MR_LANES(r, ROWS) faces_of(m->w[r][c], m->h[r][c], y.lambda, y.k, &low[r], &high[r]);
        put_primitive(b.last + a.warp * MOST_COLUMNS + c * WARP + a.lane, low[0]);
        MR_LANES(r, ROWS - 1) f[r][c] = numerical_flux(high[r], low[r + 1], y.lambda, y.k);
        last[c] = select_primitive(a.is_full, high[ROWS - 1], high[ROWS - 2]);
    }
    sync_interior(FACES_READY);
    MR_LANES(c, 2) top_flux(f, last[c], c, b, a, y);
    sync_all(Y_FLUXES_READY);
    take_edge_fluxes(f, b, a);
    MR_LANES(c, 2) {
        flux in = flux_at(b.first + a.warp * MOST_COLUMNS + c * WARP + a.lane);
        MR_LANES(r, ROWS) {
            q->of[r][c] = update(q->of[r][c], in, f[r][c], y.lambda);
            in = f[r][c];
        }
    }
}

MR_FN real rate_of(const pairs *q, slab a, sweep s) {
    real rate = R(0.0);
    MR_LANES(r, ROWS)
        MR_LANES(c, 2) {
            real one = signal_rate(signals_of(q->of[r][c], s.k), s.inv_dn, s.inv_dt);
            if (a.lane <= a.last && r < a.rows) rate = mr_max_nan(rate, one);
        }
    return rate;
}
