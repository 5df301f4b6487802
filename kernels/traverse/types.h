/* types.h - the types of an equation and what is done to all its fields alike, from its lists (see
 * lists.h). The struct `parameters` stands before all texts: kernels take it by value. */

#ifndef TRAVERSE_TYPES
#define TRAVERSE_TYPES

#include "traverse/cell.h"

typedef struct flux { EACH_FIELD(MEMBER_) } flux;               /* what a face lets through */
typedef struct primitive { EACH_PRIMITIVE(MEMBER_) } primitive; /* what is interpolated */
typedef struct signals { real n, t; } signals;      /* speeds along the sweep, across it */
typedef struct spot { real x, y, t, z; } spot;      /* the middle of a cell, a time */
typedef struct waves { real slowest, fastest; } waves;      /* velocities of signals along it */
typedef struct outward { real west, east; } outward;        /* how fast they go to either side */

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

#endif
