#include "pow.h"

#undef pow

double mare_lua_pow(double x, double y)
{
    return y == 2 ? x * x : pow(x, y);
}
