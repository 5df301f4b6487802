/* faces.h - for equations whose fluxes look at the primitive variables on both sides of a face and
 * at nothing else. Their reconstruction is in two steps: slope_of(w, difference to the lower
 * neighbour, to the higher one) and faces_of(w, slope, lambda, k, &low, &high). */

#define FACES_ARE_PRIMITIVE 1

#include "traverse/primitive_faces.h"

MR_FN void reconstruct(primitive w, primitive below, primitive above, real lambda, parameters k,
    face *low, face *high) {
    faces_of(w, slope_of(w, below, above), lambda, k, low, high);
}
