/* point.h - what is known of a point of the plane without iterating, and how its result is stored.
 *
 * Escape times are kept in 256ths: 256 n + q, where z_n is the first with |z_n| > 2 and q tells the
 * smooth time n + q / 64 - 2, that of a continuous potential; 0 for what has not escaped. */

#define NEVER 0u

/* Larger than the rounding errors of the tests below, so that they never err on the side of the
 * set: what is this near to its boundary is iterated. */
#define SLACK (sizeof(real) == 4 ? R(1e-5) : R(1e-14))

/* Whether c is in the main cardioid or in the disc west of it. */
MR_FN int in_largest_parts(real x, real y) {
    real a = x - R(0.25), b = x + R(1.0), yy = y * y, q = a * a + yy;
    return q * (q + a) < R(0.25) * yy - SLACK * q || b * b + yy < R(0.0625) - SLACK;
}

/* The result of z_n = x + iy. The potential is that far outside, where c no longer matters. */
MR_FN uint32_t escaped(int n, real x, real y, real cx, real cy) {
    real norm = mr_fma(x, x, y * y);
    int more = 0;
    for (; norm < R(65536.0) && more < 8; ++more) {
        real t = mr_fma(x, x, mr_fma(-y, y, cx));
        y = mr_fma(x + x, y, cy);
        x = t;
        norm = mr_fma(x, x, y * y);
    }
    float smooth = (float)more - log2(0.5f * log2((float)norm));
    int q = (int)(64.0f * (smooth + 2.0f));
    return (uint32_t)n * 256u + (uint32_t)(q < 0 ? 0 : q > 255 ? 255 : q);
}
