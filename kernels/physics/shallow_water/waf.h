/* Weighted average flux (Toro 1989; Toro 2001, 11.2): the fluxes between the three waves of a face,
 * each weighted with the width it takes up after half a step: second order in space and time. A
 * limiter compares the jump across each wave with that at the next face upwind, so that the average
 * turns to the upwind flux where jumps differ. Needs jumps.h. */

/* Of the three waves from the low to the high side. */
typedef struct of_waves { real low, middle, high; } of_waves;

/* sign(c) (1 - (1 - |c|) ratio): -1 for a wave to the low side, 1 for one to the high side, less
 * where jumps agree. Of slow waves a limiter that goes up to 2 changes the sign. */
MR_FN real weight(real courant, real jump, real low_jump, real high_jump) {
    real upwind = mr_select(courant > R(0.0), low_jump, high_jump);
    real ratio = R(2.0) * half_slope(upwind, jump) * mr_rcp(jump);
    real limited = mr_select(mr_abs(jump) > DRY, ratio, R(0.0));
    real size = mr_min(mr_abs(courant), R(1.0));
    return mr_copysign(R(1.0), courant) * mr_fma(size - R(1.0), limited, R(1.0));
}

/* Mean of the fluxes fl, f2, f3, fr, which the waves of weights w part; or the one at the face,
 * where they do not agree. */
MR_FN real average(int agree, real fl, real f2, real f3, real fr, of_waves w, of_waves courant) {
    real jumps = mr_fma(w.middle, f3 - f2, w.low * (f2 - fl) + w.high * (fr - f3));
    real between = mr_select(courant.middle > R(0.0), f2, f3);
    real upwind = mr_select(courant.low > R(0.0), fl,
        mr_select(courant.high < R(0.0), fr, between));
    return mr_select(agree, R(0.5) * (fl + fr - jumps), upwind);
}

/* Whether depths are of one size, in the four cells around a face and between the waves of the
 * three faces there. Where they are not, as at the edge of a dry bed, the average could take more
 * than a cell has. */
MR_FN int similar(face l, face r, real middle) {
    real at_l = l.w.h - l.other.high, far_l = at_l - l.other.low;
    real at_r = r.w.h + r.other.low, far_r = at_r + r.other.high;
    real least = mr_min(mr_min(far_l, far_r), mr_min(l.w.h, r.w.h));
    real most = mr_max(mr_max(far_l, far_r), mr_max(l.w.h, r.w.h));
    least = mr_min(least, mr_min(middle, mr_min(at_l, at_r)));
    most = mr_max(most, mr_max(middle, mr_max(at_l, at_r)));
    return least > R(0.1) * most;
}

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    fan s = outer_waves(l.w, r.w, k.g);
    flux fl = physical_flux(l.w, k), fr = physical_flux(r.w, k), f = star_flux(l.w, r.w, s, k.g);
    jumps here = jumps_between(l.w, r.w, k.g);
    real water = s.right * r.w.h - s.left * l.w.h + (fl.h - fr.h);     /* between the outer waves */
    real contact = f.h * (s.right - s.left) * mr_rcp(mr_max(water, DRY));
    of_waves c = { lambda * s.left, lambda * contact, lambda * s.right }, w;
    w.low = weight(c.low, here.low, l.other.low, r.other.low);
    w.middle = weight(c.middle, here.shear, l.other.shear, r.other.shear);
    w.high = weight(c.high, here.high, l.other.high, r.other.high);
    real mass = f.h;
    int agree = similar(l, r, l.w.h + here.low);
    f.h = average(agree, fl.h, mass, mass, fr.h, w, c);
    f.mn = average(agree, fl.mn, f.mn, f.mn, fr.mn, w, c);
    f.mt = average(agree, fl.mt, mass * l.w.ut, mass * r.w.ut, fr.mt, w, c);
    return f;
}
