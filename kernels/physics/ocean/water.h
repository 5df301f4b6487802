/* water.h - water over a bed between neighbouring cells along one direction, shared by both axes:
 * "normal" is along it, "transverse" across. Every function is mirror symmetric.
 *
 * eta is the elevation of the surface above still water, and never leaves that form: depths of the
 * sea bed, thousands of metres beside a surface of centimetres, are added only where a product
 * wants them. A dry cell has eta at its bed, land for ever -LAND.
 *
 * Lakes at rest and geostrophic flow are steady by construction. Momentum changes by what pressure
 * differs from that of the cell's own surface: through a jump at a face, and through the part of
 * the surface's slope that the earth's rotation does not hold (tilt, below). Both are zero in a
 * steady state, to the bit; no pressure of a whole water column is ever taken from another.
 *
 * Sources: Chertock, Dudzinski, Kurganov and Lukacova-Medvid'ova 2018 (slopes of the surface less
 * what rotation holds); Kurganov, Noelle and Petrova 2001 (flux); Audusse, Bouchut, Bristeau, Klein
 * and Perthame 2004 (depths at faces beside dry cells). */

#define TILTED (BALANCED && CORIOLIS)   /* rotation is part of the reconstruction */
#define DEEP R(1e30)

/* eta, velocities, depth; tilt: half of what a surface that rotation holds rises across the cell */
typedef struct flow { real eta, un, ut, tilt, h; } flow;

/* What neighbours differ by, eta beyond what rotation holds. */
typedef struct gap { real eta, un, ut; } gap;

/* A cell at one of its faces; bed: the depth that its water may not see below. */
typedef struct face { real eta, un, ut, bed; } face;

/* Volume and transverse momentum through a face, normal momentum that the water carries, and the
 * jump of pressure, of which the cell on the low side feels low, the other high. */
typedef struct flux { real mass, mn, mt, jump, low, high; } flux;

/* Between two cells. A dry cell is taken for water at its bed: where that lies higher, the limiter
 * leaves its neighbour the slope that this has on the other side, or none. Land is a wall. */
MR_FN gap difference(flow a, flow b) {
    gap d;
    real rise = b.eta - a.eta;
#if TILTED
    rise = rise - (a.tilt + b.tilt);
#endif
    d.eta = rise;
    d.un = b.un - a.un;
    d.ut = b.ut - a.ut;
#if LAND_CELLS
    int wall = mr_abs(rise) > R(1e29);
    d.eta = mr_select(wall, R(0.0), d.eta);
    d.ut = mr_select(wall, R(0.0), d.ut);
#endif
    return d;
}

/* The cell at both faces, whose beds lie so deep: one as much deeper than the centre's as the other
 * is shallower. Returns half of what the surface rises beyond what rotation holds. Where water and
 * bed come close the cell is flat, and its water sees no bed deeper than that of its centre: then
 * no face holds more than the cell has. */
MR_FN real reconstruct(flow w, gap below, gap above, real low_depth, real high_depth, real dry,
    face *low, face *high) {
    real excess = half_slope(below.eta, above.eta), rise = excess;
#if TILTED
    rise = rise + w.tilt;
#endif
    real un = slope(below.un, above.un), ut = slope(below.ut, above.ut);
    int calm = w.h - mr_abs(mr_fma(R(0.5), high_depth - low_depth, rise)) > dry;
    real whole = mr_select(calm, R(1.0), R(0.0)), some = HALF * whole;
    low->eta = mr_fma(-whole, rise, w.eta);
    low->un = mr_fma(some, -un, w.un);
    low->ut = mr_fma(some, -ut, w.ut);
    low->bed = high->bed = mr_select(calm, DEEP, w.h - w.eta);
    high->eta = mr_fma(whole, rise, w.eta);
    high->un = mr_fma(some, un, w.un);
    high->ut = mr_fma(some, ut, w.ut);
#if TILTED
    return mr_select(calm, excess, -w.tilt);
#elif CORIOLIS
    return mr_fma(whole, excess, -w.tilt);
#else
    return whole * excess;
#endif
}

/* Central-upwind flux through a face whose bed lies `depth` deep, times lambda. Waves run at the
 * speed of the deeper side; water that passes takes its transverse velocity along. Eddies mix
 * velocities, which differ by d between the cells: mixing = viscosity / dn.
 *
 * The volume is rounded to a multiple of what both elevations are (the last digit of twice their
 * sum), so that adding it to one and taking it from the other is exact, also half of it in a step
 * of two stages. Without that, what a cell of a few last digits gives is less than one of them: its
 * neighbour gains what it keeps, and a shore that moves makes water. */
MR_FN flux flux_between(face a, face b, gap d, real depth, real lambda, real mixing, real g) {
    flux f;
#if LAND_CELLS
    int wall_a = is_land(a.bed), wall_b = is_land(b.bed);
    if (wall_b) b = a, b.un = -a.un;
    if (wall_a) a = b, a.un = -b.un;
#endif
    depth = mr_min(depth, mr_min(a.bed, b.bed));
    real eta_a = mr_max(a.eta, -depth), eta_b = mr_max(b.eta, -depth);
    real ha = eta_a + depth, hb = eta_b + depth, rise = eta_b - eta_a;
    real c = mr_sqrt(g * mr_max(ha, hb));
    real right = mr_max(NONE, mr_max(a.un, b.un) + c);
    real left = mr_max(NONE, c - mr_min(a.un, b.un));
    real inverse = lambda * mr_rcp(right + left), diffusion = right * left;
    real qa = ha * a.un, qb = hb * b.un, from_a = right * qa, from_b = left * qb;
    real mass = inverse * mr_fma(-diffusion, rise, from_a + from_b);
    real sum = mr_abs(a.eta) + mr_abs(b.eta);
    f.mass = mr_fma(R(-2.0), sum, mr_fma(R(2.0), sum, mass));
    f.mn = inverse * mr_fma(-diffusion, qb - qa, from_a * a.un + from_b * b.un);
    f.mt = f.mass * mr_select(f.mass > R(0.0), a.ut, b.ut);
#if VISCOSITY
    real mixed = lambda * mixing * mr_min(ha, hb);
    f.mn = mr_fma(-mixed, d.un, f.mn);
    f.mt = mr_fma(-mixed, d.ut, f.mt);
#endif
    f.jump = inverse * ((R(0.5) * g) * (ha + hb) * rise);
    f.low = left;
    f.high = -right;
    return f;
}

/* The flux as the cell on one side feels it, weight = its low or high; scale: the share of its face
 * in the cell's own width, METRIC only. */
MR_FN cell felt(flux f, real weight, real scale) {
#if METRIC
    f.mass = scale * f.mass;
    f.mn = scale * f.mn;
    f.mt = scale * f.mt;
#endif
    cell c = { f.mass, mr_fma(weight, f.jump, f.mn), f.mt };
    return c;
}

/* What a cell changes by: in through its low face, out through its high one, and by its own excess
 * of slope; push = 2 g lambda times its depth. */
MR_FN cell change_of(cell in, cell out, real push, real excess) {
    cell c = { in.eta - out.eta, mr_fma(-push, excess, in.mn - out.mn), in.mt - out.mt };
    return c;
}
