/* HLLC flux (Toro, Spruce and Speares 1994; Toro 2009, 10.4): two outer waves and the contact,
 * which it keeps exactly.
 *
 * Outer speeds after Davis (1988): sl <= u - c and sr >= u + c of both states, from which
 * sl < contact < sr follows for positive density and pressure, so that no division meets a zero. */

/* Flux between the outer wave s of state w and the contact; a = rho (s - u). With contact = u it is
 * the flux of w itself, which serves the supersonic case. */
MR_FN cell star_flux(flow w, real s, real a, real contact, real gamma) {
    cell f;
    real inverse = mr_rcp(s - contact), change = contact - w.un, twice = change + change;
    real p = mr_fma(a, change, w.p), square = mr_fma(w.un, w.un, w.ut * w.ut);
    real heat = mr_fma(R(2.0) * mr_rcp(gamma - R(1.0)), s - w.un, twice);
    real energy = inverse * mr_fma(w.p, heat, a * mr_fma(twice, contact, square));
    f.rho = a * inverse * contact;
    f.mn = mr_fma(f.rho, contact, p);
    f.mt = f.rho * w.ut;
    f.energy = contact * mr_fma(R(2.0), p, energy);
    return f;
}

MR_FN cell flux(face l, face r, real lambda, real gamma) {
    real cl = sound(l), cr = sound(r), scale = MR_ROOT * mr_sqrt(gamma);
    real sl = mr_min(mr_fma(-scale, cl, l.un), mr_fma(-scale, cr, r.un));
    real sr = mr_max(mr_fma(scale, cl, l.un), mr_fma(scale, cr, r.un));
    real al = l.rho * (sl - l.un), ar = r.rho * (sr - r.un);
    real push = mr_fma(al, l.un, -l.p) - mr_fma(ar, r.un, -r.p);
    real contact = push * mr_rcp(al - ar);
    int left = contact >= R(0.0);
    flow w;
    w.rho = R(0.0);
    w.un = mr_select(left, l.un, r.un);
    w.ut = mr_select(left, l.ut, r.ut);
    w.p = mr_select(left, l.p, r.p);
    real s = mr_select(left, sl, sr), a = mr_select(left, al, ar);
    int supersonic = (s > R(0.0)) == left;
    return star_flux(w, s, a, mr_select(supersonic, w.un, contact), gamma);
}
