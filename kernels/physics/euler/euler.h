/* euler.h - the compressible Euler equations in one direction, shared by both axes; every function
 * is mirror symmetric. A cell has rho, mn, mt (momentum) and energy, primitive variables are rho,
 * un, ut (velocity) and p; k.gamma is the ratio of specific heats. */

MR_FN primitive primitive_of(cell q, parameters k) {
    primitive w;
    real inverse = mr_rcp(q.rho);
    w.rho = q.rho;
    w.un = q.mn * inverse;
    w.ut = q.mt * inverse;
    w.p = (k.gamma - R(1.0)) * mr_fma(R(-0.5), mr_fma(q.mn, w.un, q.mt * w.ut), q.energy);
    return w;
}

/* rho (u^2 + v^2) / 2 + p / (gamma - 1) */
MR_FN real energy_of(primitive w, parameters k) {
    real square = mr_fma(w.un, w.un, w.ut * w.ut);
    return mr_fma(R(0.5) * w.rho, square, w.p * mr_rcp(k.gamma - R(1.0)));
}

/* sqrt(p / rho), but for a factor: the speed of sound over root_of_gamma. A flux that multiplies it
 * anyway saves one multiplication. The product of both must be within the range of numbers. */
MR_FN real sound_over_root(primitive w) { return mr_ratio_root(w.p, w.rho); }
MR_FN real root_of_gamma(parameters k) { return MR_ROOT * mr_sqrt(k.gamma); }

MR_FN real sound_speed(primitive w, parameters k) { return root_of_gamma(k) * sound_over_root(w); }

/* Below 0 or not numbers unless density and pressure are positive. */
MR_FN signals signals_of(cell q, parameters k) {
    real inverse = mr_rcp(q.rho), square = mr_fma(q.mn, q.mn, q.mt * q.mt);
    real heat = mr_fma(q.rho, q.energy, R(-0.5) * square);      /* rho p / (gamma - 1) */
    real c = mr_ratio_root(heat, R(1.0)), gamma = k.gamma;
    real scale = MR_ROOT * mr_sqrt(gamma * (gamma - R(1.0)));
    signals s = { mr_fma(scale, c, mr_abs(q.mn)) * inverse,
        mr_fma(scale, c, mr_abs(q.mt)) * inverse };
    return s;
}

MR_FN flux physical_flux(primitive w, parameters k) {
    flux f;
    f.rho = w.rho * w.un;
    f.mn = mr_fma(f.rho, w.un, w.p);
    f.mt = f.rho * w.ut;
    f.energy = w.un * (w.p + energy_of(w, k));
    return f;
}
