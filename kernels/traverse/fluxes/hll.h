/* HLL flux of any equation (Harten, Lax and van Leer 1983; Toro 2009, 10.3) with the outer speeds
 * of Davis (1988); west is that of the wave to the low side and east of that to the high side, both
 * from 0 on. */

#ifdef CARRIED
#define WEIGHT(name, k) CARRIED_##k
#define SUM_(name, k) f.name = lower.name + upper.name;
#endif
#define HLL_(name, k) \
    f.name = width * mr_fma(-(west * east), qr.name - ql.name, east * fl.name + west * fr.name);

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    real west = mr_most(l.s.west, r.s.west), east = mr_most(l.s.east, r.s.east);
    real width = mr_rcp(mr_max(east + west, R(1e-30)));
#ifdef CARRIED
    flux lower = carried(l.w, -west, east * width, k);
    flux upper = carried(r.w, east, west * width, k), f;
    EACH_FIELD(SUM_)
    return f;
#else
    flux fl = physical_flux(l.w, k), fr = physical_flux(r.w, k), f;
    cell ql = conserved_of(l.w, k), qr = conserved_of(r.w, k);
    EACH_FIELD(HLL_)
    return f;
#endif
}
