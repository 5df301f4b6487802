/* double_double.h - z^2 + c in unevaluated sums of two numbers, the second at most half a unit in
 * the last place of the first: with double 106 bits (T. Dekker, 1971; D. Knuth, TAOCP 2, 4.2.2).
 * See escape.krn. */

#define BLOCK 4

typedef struct number { real hi, lo; } number;

/* a + b, where |a| >= |b| */
MR_FN number quick_sum(real a, real b) {
    number s;
    s.hi = a + b;
    s.lo = b - (s.hi - a);
    return s;
}

MR_FN number two_sum(real a, real b) {
    number s;
    s.hi = a + b;
    real of_b = s.hi - a;
    s.lo = (a - (s.hi - of_b)) + (b - of_b);
    return s;
}

/* The error is relative to |a| + |b|, which does for z^2 + c. */
MR_FN number add(number a, number b) {
    number s = two_sum(a.hi, b.hi);
    return quick_sum(s.hi, s.lo + (a.lo + b.lo));
}

MR_FN number multiply(number a, number b) {
    real high = a.hi * b.hi;
    real low = mr_fma(a.hi, b.hi, -high);
    return quick_sum(high, mr_fma(a.hi, b.lo, mr_fma(a.lo, b.hi, low)));
}

MR_FN number negative(number a) {
    number r = { -a.hi, -a.lo };
    return r;
}

MR_FN number coordinate(real centre, real low, real offset) {
    number s = two_sum(centre, offset);
    return quick_sum(s.hi, s.lo + low);
}

MR_FN real leading(number a) { return a.hi; }
MR_FN int same(number a, number b) { return a.hi == b.hi && a.lo == b.lo; }

MR_FN void advance(number *x, number *y, number cx, number cy) {
    number xy = multiply(*x, *y), twice = { xy.hi + xy.hi, xy.lo + xy.lo };
    *x = add(add(multiply(*x, *x), negative(multiply(*y, *y))), cx);
    *y = add(twice, cy);
}

/* Also where it has become infinite or no number. */
MR_FN int is_outside(number x, number y) {
    number norm = add(multiply(x, x), multiply(y, y));
    return !(norm.hi < R(4.0) || (norm.hi == R(4.0) && norm.lo <= R(0.0)));
}
