/* types.h - the types of an equation and what is done to all its fields alike, from its lists (see
 * lists.h). The struct `parameters` stands before all texts: kernels take it by value.
 *
 * A sweep hands its own direction in as "normal" and the other as "transverse", so that x and y run
 * the same operations in the same order: a transposed problem gives the transposed bits. */

#ifndef TRAVERSE_TYPES
#define TRAVERSE_TYPES

#include "traverse/lists.h"

#define MEMBER_(name, k) real name;

typedef struct cell { EACH_FIELD(MEMBER_) } cell;               /* the unknowns of a cell */
typedef struct flux { EACH_FIELD(MEMBER_) } flux;               /* what a face lets through */
typedef struct primitive { EACH_PRIMITIVE(MEMBER_) } primitive; /* what is interpolated */
typedef struct signals { real n, t; } signals;      /* speeds along the sweep, across it */
typedef struct waves { real slowest, fastest; } waves;      /* velocities of signals along it */

/* The plane that holds field k where the sweep is along y: there the components of vectors change
 * places. */
#define SWAP_PLANES_(n, t, x, y) if (k == x) return y; if (k == y) return x;
MR_FN int plane_along_y(int k) {
    EACH_VECTOR(SWAP_PLANES_)
    return k;
}

/* Vectors seen from the other axis. */
#define TURN_(n, t, x, y) to.n = q.t; to.t = q.n;
MR_FN cell turned(cell q) {
    cell to = q;
    EACH_VECTOR(TURN_)
    return to;
}

/* As in a mirror where sign is -1: vectors lose their sign along the sweep. 1 changes nothing. */
#define MIRROR_(n, t, x, y) q.n = sign * q.n;
MR_FN cell mirrored(cell q, real sign) {
    EACH_VECTOR(MIRROR_)
    return q;
}

#define DIFFERENCE_(name, k) d.name = b.name - a.name;
MR_FN primitive difference(primitive a, primitive b) {
    primitive d;
    EACH_PRIMITIVE(DIFFERENCE_)
    return d;
}

/* w + s h */
#define SHIFT_(name, k) w.name = mr_fma(s, h.name, w.name);
MR_FN primitive shifted(primitive w, real s, primitive h) {
    EACH_PRIMITIVE(SHIFT_)
    return w;
}

/* keep * old + (1 - keep) * q */
#define BLEND_(name, k) q.name = mr_fma(keep, old.name - q.name, q.name);
MR_FN cell blend(cell old, cell q, real keep) {
    EACH_FIELD(BLEND_)
    return q;
}

#endif
