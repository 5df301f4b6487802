/* half.c - floats to halves and back: every half, and what lies between two of them. */
#include "check.h"

#include <math.h>

static uint16_t bits(float value) { return mare_half_of(value).bits; }

static float value(uint32_t half) { return mare_half_value((mare_half){ (uint16_t)half }); }

/* Each half is its own nearest. */
static void keeps_every_half(void) {
    for (uint32_t h = 0; h < 65536; h++) {
        if (isnan(value(h))) CHECK(isnan(value(bits(value(h)))));
        else if (!CHECK(bits(value(h)) == h)) printf("half %04x\n", h);
    }
    CHECK_NUMBER(value(0x3c00), 1);
    CHECK_NUMBER(value(0xc000), -2);
    CHECK_NUMBER(value(0x7bff), 65504);
    CHECK_NUMBER(value(0x0001), 0x1p-24);
    CHECK_NUMBER(value(0x0400), 0x1p-14);
    CHECK(isinf(value(0x7c00)) && isinf(value(0xfc00)));
    CHECK(signbit(value(0x8000)));
}

/* The middle of two neighbours goes to the even one, and what is beside it to the nearer. */
static void rounds_to_nearest(void) {
    for (uint32_t h = 0; h < 0x7bff; h++) {
        const float middle = value(h) + (value(h + 1) - value(h)) / 2;
        bool good = bits(middle) == h + h % 2 && bits(nextafterf(middle, 0)) == h &&
                    bits(nextafterf(middle, 70000)) == h + 1;
        if (!CHECK(good)) printf("above half %04x\n", h);
    }
    CHECK_NUMBER(bits(65519), 0x7bff);
    CHECK_NUMBER(bits(65520), 0x7c00);
    CHECK_NUMBER(bits(-1e30f), 0xfc00);
    CHECK_NUMBER(bits(1e-30f), 0);
}

int main(void) {
    keeps_every_half();
    rounds_to_nearest();
    return check_result();
}
