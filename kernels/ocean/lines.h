/* lines.h - a row of water as it looks along both axes. */

/* An axis in one row: dt / dn, 2 g dt / dn, dn / (2 g), viscosity / dn. */
typedef struct axis { real lambda, push, tilt, mixing; } axis;

/* Eta, velocities along x and y, depth, and the Coriolis parameter with what curvature adds. */
typedef struct surface { lane eta, u, v, h, spin; } surface;

MR_FN axis axis_along(real inv_dn, real dn, work s) {
    axis a = { s.dt * inv_dn, R(2.0) * s.sea.g * (s.dt * inv_dn), R(0.5) * dn * mr_rcp(s.sea.g),
        s.sea.viscosity * inv_dn };
    return a;
}

MR_FN void take_surface(surface *to, const line *from, int j, work s) {
#if CORIOLIS == 1
    real f = row(s.rows, s.row_count, ROW_F, mirrored_row(j, s));
#endif
#if METRIC
    real curvature = row(s.rows, s.row_count, ROW_CURVATURE, mirrored_row(j, s));
#endif
    MR_LANES(l, LANES) {
        real depth = from->depth.at[l], eta = mr_max(from->q.eta.at[l], -depth), h = eta + depth;
        real inverse = mr_rcp(mr_max(h, NONE));
        to->eta.at[l] = eta;
        to->h.at[l] = h;
        to->u.at[l] = from->q.mn.at[l] * inverse;
        to->v.at[l] = from->q.mt.at[l] * inverse;
#if CORIOLIS == 2
        to->spin.at[l] = from->rotation.at[l];
#elif CORIOLIS == 1
        to->spin.at[l] = f;
#else
        to->spin.at[l] = R(0.0);
#endif
#if METRIC
        to->spin.at[l] = mr_fma(to->u.at[l], curvature, to->spin.at[l]);
#endif
    }
#if CORIOLIS && WALLS
    MR_LANES(l, LANES) {    /* behind a wall the earth holds the surface the other way round */
        int mirrored = l < s.west || l >= s.east;
        real turned = -to->spin.at[l];
#if METRIC
        turned = mr_fma(R(2.0) * to->u.at[l], curvature, turned);
#endif
        to->spin.at[l] = mr_select(mirrored, turned, to->spin.at[l]);
    }
#endif
}

/* A cell as it looks along an axis. */
MR_FN flow along_x(const surface *s, int l, real tilt) {
    flow w = { s->eta.at[l], s->u.at[l], s->v.at[l], s->h.at[l], R(0.0) };
#if CORIOLIS
    w.tilt = (tilt * s->spin.at[l]) * s->v.at[l];
#endif
    return w;
}

MR_FN flow along_y(const surface *s, int l, real tilt) {
    flow w = { s->eta.at[l], s->v.at[l], s->u.at[l], s->h.at[l], R(0.0) };
#if CORIOLIS
    w.tilt = -((tilt * s->spin.at[l]) * s->u.at[l]);
#endif
    return w;
}
