/* equation.h - the shallow-water equations as traverse/sweep.h wants to see them. Needs LIMITER,
 * RECONSTRUCTION and FLUX. */

#include "physics/shallow_water/shallow_water.h"
#include LIMITER
#include RECONSTRUCTION
#include FLUX
