/* tide.h - waves of angular `speeds` (1/s): `harmonics` holds A cos(phase) and A sin(phase) of the
 * elevation, and of the transport through a side, one row of `lines` values each. They grow to
 * their full height during `ramp` seconds from time 0. */

/* Elevation, and velocity outwards; of a tide the transport along the axis. */
typedef struct edge { real eta, out; } edge;

MR_FN edge tide(double time, double ramp, const MR_GLOBAL double *speeds,
    const MR_GLOBAL real *harmonics, int constituents, int lines, int t) {
    double eta = 0.0, q = 0.0, grown = 1.0;
    if (time < ramp) grown = 0.5 - 0.5 * cos(3.141592653589793 * time / ramp);
    for (int k = 0; k < constituents; ++k) {
        const MR_GLOBAL real *a = harmonics + (mr_index)(4 * k) * lines + t;
        double c = cos(speeds[k] * time), s = sin(speeds[k] * time);
        eta += a[0] * c + a[lines] * s;
        q += a[2 * lines] * c + a[3 * lines] * s;
    }
    edge wave = { (real)(grown * eta), (real)(grown * q) };
    return wave;
}
