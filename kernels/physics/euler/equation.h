/* equation.h - the Euler equations as traverse/sweep.h wants to see them. Needs LIMITER and
 * FLUX. */

#include "physics/euler/euler.h"
#include LIMITER
#include "physics/euler/hancock.h"
#include "traverse/faces.h"
#include FLUX

/* Gravity towards -y for a time: momentum changes by rho g dt, energy by the work done on the
 * way. */
MR_FN cell source(cell q, real dt, parameters k) {
    real change = k.gravity * dt, impulse = q.rho * change;
    q.energy = q.energy - change * (q.mn - R(0.5) * impulse);
    q.mn = q.mn - impulse;
    return q;
}
