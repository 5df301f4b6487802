/* cell.h - the unknowns of a cell, and what is done to all of them alike; see lists.h.
 *
 * A sweep hands its own direction in as "normal" and the other as "transverse", so that x and y run
 * the same operations in the same order: a transposed problem gives the transposed bits. */

#ifndef TRAVERSE_CELL
#define TRAVERSE_CELL

#include "traverse/lists.h"

#define MEMBER_(name, k) real name;

typedef struct cell { EACH_FIELD(MEMBER_) } cell;

/* The plane that holds field k where the sweep is along y: there the components of vectors change
 * places. */
#define SWAP_PLANES_(n, t, x, y) if (k == x) return y; if (k == y) return x;
MR_FN int plane_along_y(int k) {
    EACH_VECTOR(SWAP_PLANES_)
    return k;
}

/* Vectors seen from the other axis or, in three dimensions, from the next one: of a cell seen along
 * x, y and z are its transverse and its binormal component, so that the three are right-handed. */
#define TURN_(n, t, x, y) to.n = q.t; to.t = q.n;
#define TURN_ON_(n, t, b) to.n = q.t; to.t = q.b; to.b = q.n;
MR_FN cell turned(cell q) {
    cell to = q;
    EACH_VECTOR(TURN_)
    EACH_TRIPLE(TURN_ON_)
    return to;
}

/* As in a mirror where sign is -1: vectors lose their sign along the sweep. 1 changes nothing. */
#define MIRROR_(n, t, x, y) q.n = sign * q.n;
MR_FN cell mirrored(cell q, real sign) {
    EACH_VECTOR(MIRROR_)
    return q;
}

/* keep * old + (1 - keep) * q */
#define BLEND_(name, k) q.name = mr_fma(keep, old.name - q.name, q.name);
MR_FN cell blend(cell old, cell q, real keep) {
    EACH_FIELD(BLEND_)
    return q;
}

#endif
