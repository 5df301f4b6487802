/* Monotonised central (van Leer 1977): generalised minmod with theta 2. */

#define THETA R(2.0)
#include "minmod.h"
