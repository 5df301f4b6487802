/* c_grid.h - what the C-grid schemes share: lanes of columns, faces, and the rotation at corners.
 *
 * Elevation eta and depth are at centres; the transports hu and hv are on the west and south face
 * of their cell (Arakawa's C). A work-item owns W neighbouring columns and goes north. Lane l of
 * a row of cells is column l - 1; lane l of faces and corners is the west face, or the south-west
 * corner, of column l: between lanes l and l + 1 of cells. On a CPU lane loops run over whole
 * vectors, whose last lanes mean nothing.
 *
 * A face is open where both of its cells are water (depth > 0); through the others nothing flows.
 * Rotation follows Sadourny (1975): with w = f / (depth at the corner), (hu)' = h w hv, averaged
 * over the two corners of a face, each with the mean transport of the two faces that meet there.
 * What it takes from hu it gives to hv: it does no work, whatever the bed. Over a flat bed this is
 * the mean of the four surrounding transports. */

#include "array/reduce.h"
#include "physics/ocean/domain.h"
#include "traverse/partition.h"

#ifdef MR_CPU
#define CELLS (W + 16)
#define FACES (W + 16)
#define CORNERS (W + 16)
#define ROOM (W + 32)
#else
#define CELLS (W + 2)
#define FACES (W + 1)
#define CORNERS (W + 3)
#define ROOM (W + 4)
#endif

#include "traverse/lanes.h"

/* A row that is only read: on a CPU where it lies, which saves copying it, else in registers. */
#ifdef MR_CPU
typedef struct view { const MR_GLOBAL real *at; } view;
#else
typedef lanes view;
#endif

/* Columns -low .. W - 1 + high. */
MR_FN void view_columns(view *to, const MR_GLOBAL real *from, int low, int high) {
#ifdef MR_CPU
    to->at = from - low;
#else
    load_columns(to->at, from, low, high, ROOM);
#endif
}

/* Makes the row that `next` points to that of `row`; that of `next` is overwritten then. On a CPU
 * pointers change places, which saves copying. On a GPU they must not, for registers have no
 * addresses, and copies cost nothing. What is written through one pointer and read through others
 * has MR_RESTRICT, or loops over lanes check at run time whether they overlap. */
#ifdef MR_CPU
#define TAKE_OVER(type, row, next) { type *free = row; row = next; next = free; }
#else
#define TAKE_OVER(type, row, next) *row = *next
#endif

/* 1 or 0, of a type that adds up fast. */
MR_FN float is_water(real depth) { return mr_select(depth > R(0.0), 1.0f, 0.0f); }

MR_FN int is_open(real a, real b) { return (a > R(0.0)) & (b > R(0.0)); }

/* Depth at a face; 0 where it is closed. */
MR_FN real face_depth(real a, real b) {
    return mr_select(is_open(a, b), R(0.5) * (a + b), R(0.0));
}

/* One over the mean depth of the water around a corner; 0 where there is none. Diagonal cells are
 * added first, so that the transposed problem has the same bits. */
MR_FN real corner_inverse(real south_west, real south_east, real north_west, real north_east) {
    real a = mr_max(south_west, R(0.0)), b = mr_max(south_east, R(0.0));
    real c = mr_max(north_west, R(0.0)), d = mr_max(north_east, R(0.0));
    float cells = (is_water(a) + is_water(c)) + (is_water(b) + is_water(d));
    return (real)cells * mr_rcp(mr_max((a + d) + (b + c), R(1e-30)));
}

/* What a step knows of the whole part. */
typedef struct sea {
    real dt, g, friction, viscosity, dx, dy, inv_dx, inv_dy;
    const MR_GLOBAL real *bed, *rows;       /* bed points at the first own column of row 0 */
    int row_count, stride;
    mr_index plane;
    const MR_GLOBAL real *forcing;          /* likewise where it depends on the cell */
    real weight;                            /* of the later of its two times */
} sea;

/* From the arguments of a kernel, as seen from element `origin` of a plane. */
MR_FN sea sea_from(mr_index origin, real dt, part p, ocean o, const MR_GLOBAL real *bed,
    const MR_GLOBAL real *rows, const MR_GLOBAL real *forcing,
    const MR_GLOBAL double *forcing_times, const MR_GLOBAL double *clock) {
    sea s = { dt, o.g, o.friction, o.viscosity, o.dx, o.dy, p.inv_dx, p.inv_dy, bed + origin,
        rows, o.row_count, p.stride, p.plane, forcing + (FORCING == FORCING_BY_CELL ? origin : 0),
        time_weight(clock, forcing_times, 0.0) };
    return s;
}

/* One of FORCE_* in lane l of row j. */
MR_FN real force(const sea *s, int kind, int j, int l) {
    return forcing_at(s->forcing, kind, s->plane, (mr_index)j * s->stride + l, s->weight);
}

/* What wind and air do to a transport between two cells: stress, and slope of pressure towards the
 * second times the depth. inv_d: one over their distance. */
MR_FN real driven(const sea *s, int kind, int j, int l, int j2, int l2, real depth, real inv_d) {
#if FORCING
    real stress = R(0.5) * (force(s, kind, j, l) + force(s, kind, j2, l2));
    real slope = force(s, FORCE_PRESSURE, j, l) - force(s, FORCE_PRESSURE, j2, l2);
    return mr_fma(depth * inv_d, slope, stress);
#else
    return R(0.0);
#endif
}

/* Coriolis parameter at the corner of lane l, row j. */
MR_FN real corner_coriolis(const sea *s, int j, int l) {
#if CORIOLIS == CORIOLIS_BY_CELL
    const MR_GLOBAL real *f = s->bed + BED_CORIOLIS * s->plane + (mr_index)j * s->stride + l;
    return R(0.25) * ((f[-1 - s->stride] + f[0]) + (f[-s->stride] + f[-1]));
#elif CORIOLIS == CORIOLIS_BY_ROW
    return row(s->rows, s->row_count, ROW_F_SOUTH, j);
#else
    return R(0.0);
#endif
}

/* Width of the southern face of row `face` in widths of the cells of row j. */
MR_FN real relative_width(const sea *s, int face, int j) {
#if METRIC
    return row_south(s->rows, s->row_count, face, s->dx)
        * row_inv_dx(s->rows, s->row_count, j, s->inv_dx);
#else
    return R(1.0);
#endif
}

/* Width of the cells of row j in widths of the southern face of row `face`. */
MR_FN real relative_centre(const sea *s, int j, int face) {
#if METRIC
    return mr_rcp(row_inv_dx(s->rows, s->row_count, j, s->inv_dx)
        * row_south(s->rows, s->row_count, face, s->dx));
#else
    return R(1.0);
#endif
}

/* One over the width of the southern face of row j. */
MR_FN real inv_south(const sea *s, int j) {
#if METRIC
    return mr_rcp(row_south(s->rows, s->row_count, j, s->dx));
#else
    return s->inv_dx;
#endif
}

/* The highest frequency (1/s) that the grid can hold where water is h deep, and the rate at which
 * the flow crosses cells. It is no number where h < 0. */
MR_FN real signal_rate(real f, real g, real h, real u, real v, real inv_dx, real inv_dy) {
    real k = mr_fma(inv_dx, inv_dx, inv_dy * inv_dy);
    real wave = mr_sqrt(mr_fma(R(4.0) * g * h, k, f * f));
    return wave + (mr_abs(u) * inv_dx + mr_abs(v) * inv_dy);
}

/* Bottom friction over dt, to divide a new transport by 1 + this: implicit, so that it is stable
 * however shallow. depth: at the face; along, across: transports there. */
MR_FN real drag(const sea *s, real dt, real depth, real along, real across) {
#if !FRICTION
    return R(0.0);
#elif FRICTION == FRICTION_LINEAR
    return dt * s->friction;
#else
    real square = mr_max(depth * depth, R(1e-30));
    real speed = mr_sqrt(mr_fma(along, along, across * across)) * mr_rcp(square);
#if FRICTION == FRICTION_MANNING
    speed = speed * s->g * s->friction * mr_rcp(mr_cbrt(mr_max(depth, R(1e-10))));
#endif
    return dt * s->friction * speed;
#endif
}

/* A transport that would have moved from `old` to `moved`, with friction and, in leapfrog, what
 * half of its neighbours' viscosity takes of the next one. Second order, and where friction is
 * strong what it and the forces balance at: as if the water had a mass of 1 + s^2 / (4 + 2 s) times
 * its own and friction acted on the mean of old and new, so that it never adds energy. */
MR_FN real resist(real old, real moved, real resistance, real mixed) {
#if FRICTION
    real way = mr_fma(R(0.5), resistance, R(1.0));
    return mr_fma(way, moved - old, old) * mr_rcp(mr_fma(way, resistance + mixed, R(1.0)));
#elif VISCOSITY
    return moved * mr_rcp(R(1.0) + mixed);
#else
    return moved;
#endif
}
