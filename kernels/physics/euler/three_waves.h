/* three_waves.h - a flux of two outer waves and the contact, of star_flux(l, r, w, s, a, contact,
 * gamma): the flux between the outer wave s of state w, of which a = rho (s - u), and the contact.
 *
 * Outer speeds after Davis (1988): sl <= u - c and sr >= u + c of both states, from which
 * sl < contact < sr follows for positive density and pressure, so that no division meets a zero.
 * Where all waves go one way the outer one counts as at rest: the flux is that of the state before
 * it then. */

MR_FN flux numerical_flux(face l, face r, real lambda, parameters k) {
    real cl = sound_over_root(l), cr = sound_over_root(r), scale = root_of_gamma(k);
    real west = mr_most(mr_fma(scale, cl, -l.un), mr_fma(scale, cr, -r.un));
    real east = mr_most(mr_fma(scale, cl, l.un), mr_fma(scale, cr, r.un));
    real al = -l.rho * (west + l.un), ar = r.rho * (east - r.un);
    real push = mr_fma(al, l.un, -l.p) - mr_fma(ar, r.un, -r.p);
    real contact = push * mr_rcp(al - ar);
    int left = contact >= R(0.0);
    primitive w;
    w.rho = R(0.0);
    w.un = mr_select(left, l.un, r.un);
    w.ut = mr_select(left, l.ut, r.ut);
    w.p = mr_select(left, l.p, r.p);
    return star_flux(l, r, w, mr_select(left, -west, east), mr_select(left, al, ar), contact,
        k.gamma);
}
