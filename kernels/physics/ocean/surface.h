/* surface.h - a row of water as it looks along both axes. */

/* An axis in one row: dt / dn, 2 g dt / dn, dn / (2 g), viscosity / dn. */
typedef struct axis { real lambda, push, tilt, mixing; } axis;

/* Eta, velocities along x and y, depth; the Coriolis parameter with what curvature adds, and the
 * same behind a wall in the west or east, where the earth holds the surface the other way round. */
typedef struct surface { lanes eta, u, v, h, spin, turned; } surface;

MR_FN axis axis_along(real inv_dn, real dn, work s) {
    axis a = { s.dt * inv_dn, R(2.0) * s.sea.g * (s.dt * inv_dn), R(0.5) * dn * mr_rcp(s.sea.g),
        s.sea.viscosity * inv_dn };
    return a;
}

MR_FN void take_surface(surface *to, const line *from, int j, work s) {
#if CORIOLIS == CORIOLIS_BY_ROW
    real f = row(s.rows, s.row_count, ROW_F, mirrored_row(j, s));
#endif
#if METRIC
    real curvature = row(s.rows, s.row_count, ROW_CURVATURE, mirrored_row(j, s));
#endif
    MR_LANES(l, LANES) {
        cell q = get_cell(&from->q, l);
        real depth = from->depth.at[l], eta = mr_max(q.eta, -depth), h = eta + depth;
        real inverse = mr_rcp(mr_max(h, NONE));
        to->eta.at[l] = eta;
        to->h.at[l] = h;
        to->u.at[l] = q.mn * inverse;
        to->v.at[l] = q.mt * inverse;
#if CORIOLIS == CORIOLIS_BY_CELL
        real spin = from->rotation.at[l];
#elif CORIOLIS == CORIOLIS_BY_ROW
        real spin = f;
#else
        real spin = R(0.0);
#endif
        real turned = -spin;
#if METRIC
        spin = mr_fma(to->u.at[l], curvature, spin);
        turned = mr_fma(to->u.at[l], curvature, turned);
#endif
        to->spin.at[l] = spin;
        to->turned.at[l] = turned;
    }
}

/* A cell as it looks along an axis. */
MR_FN flow along_x(const surface *from, int l, real tilt, work s) {
    flow w = { from->eta.at[l], from->u.at[l], from->v.at[l], R(0.0), from->h.at[l] };
#if CORIOLIS
    int is_mirrored = WALLS && (l < s.west || l >= s.east);
    real held = mr_select(is_mirrored, tilt * from->turned.at[l], tilt * from->spin.at[l]);
    w.tilt = held * from->v.at[l];
#endif
    return w;
}

MR_FN flow along_y(const surface *from, int l, real tilt) {
    flow w = { from->eta.at[l], from->v.at[l], from->u.at[l], R(0.0), from->h.at[l] };
#if CORIOLIS
    w.tilt = -((tilt * from->spin.at[l]) * from->u.at[l]);
#endif
    return w;
}
