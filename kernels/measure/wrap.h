/* wrap.h - a kernel that fills the ghost cells of a state of three fields on a periodic plane, for
 * the ladders, each of which says what a plane_of is. Global max(nx, ny) + 2 HALO. */

MR_KERNEL
void wrap(MR_GLOBAL real *q, const plane_of p) {
    int n = mr_gid_x() - HALO;
    for (int k = 0; k < 3; ++k) {
        MR_GLOBAL real *f = q + k * p.plane;
        for (int h = 0; h < HALO; ++h) {
            int from = n < 0 ? n + p.nx : n >= p.nx ? n - p.nx : n;
            if (n < p.nx + HALO) {
                f[cell_offset(n, -1 - h, p.stride)] = f[cell_offset(from, p.ny - 1 - h, p.stride)];
                f[cell_offset(n, p.ny + h, p.stride)] = f[cell_offset(from, h, p.stride)];
            }
            if (n >= 0 && n < p.ny) {
                f[cell_offset(-1 - h, n, p.stride)] = f[cell_offset(p.nx - 1 - h, n, p.stride)];
                f[cell_offset(p.nx + h, n, p.stride)] = f[cell_offset(h, n, p.stride)];
            }
        }
    }
}
