/* plain.h - z^2 + c in the numbers of the device; see escape.krn. */

#define BLOCK 16

typedef real number;

MR_FN number coordinate(real centre, real low, real offset) {
    (void)low;
    return centre + offset;
}

MR_FN real leading(number a) { return a; }
MR_FN int same(number a, number b) { return a == b; }

/* Four operations, of which three are fused. */
MR_FN void advance(number *x, number *y, number cx, number cy) {
    real t = mr_fma(*x, *x, mr_fma(-*y, *y, cx));
    *y = mr_fma(*x + *x, *y, cy);
    *x = t;
}

/* Also where it has become infinite or no number. */
MR_FN int is_outside(number x, number y) { return !(mr_fma(x, x, y * y) <= R(4.0)); }
