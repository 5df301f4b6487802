/* HLLC flux (Toro, Spruce and Speares 1994; Toro 2009, 10.4): two outer waves and the contact,
 * which it keeps exactly.
 *
 * Outer speeds after Davis (1988): sl <= u - c and sr >= u + c of both states, from which
 * sl < contact < sr follows for positive density and pressure, so that no division meets a zero. */

/* Flux between the outer wave s of state w and the contact; a = rho (s - u). With contact = u it is
 * the flux of w itself, which serves the supersonic case. */
MR_FN cell star_flux(flow w, real s, real a, real contact, real gamma) {
    cell f;
    real inverse = mr_rcp(s - contact);
    real p = mr_fma(a, contact - w.un, w.p);
    real work = mr_fma(p, contact, -(w.p * w.un));
    real energy = inverse * mr_fma(energy_of(w, gamma), s - w.un, work);
    f.rho = a * inverse * contact;
    f.mn = mr_fma(f.rho, contact, p);
    f.mt = f.rho * w.ut;
    f.energy = contact * (energy + p);
    return f;
}

MR_FN cell flux(face l, face r, real lambda, real gamma) {
    real cl = sound_speed(l, gamma), cr = sound_speed(r, gamma);
    real sl = mr_min(l.un - cl, r.un - cr), sr = mr_max(l.un + cl, r.un + cr);
    real al = l.rho * (sl - l.un), ar = r.rho * (sr - r.un);
    real contact = ((r.p - l.p) + (al * l.un - ar * r.un)) * mr_rcp(al - ar);
    int left = contact >= R(0.0);
    flow w;
    w.rho = mr_select(left, l.rho, r.rho);
    w.un = mr_select(left, l.un, r.un);
    w.ut = mr_select(left, l.ut, r.ut);
    w.p = mr_select(left, l.p, r.p);
    real s = mr_select(left, sl, sr), a = mr_select(left, al, ar);
    int supersonic = mr_select(left, sl, -sr) >= R(0.0);
    return star_flux(w, s, a, mr_select(supersonic, w.un, contact), gamma);
}
