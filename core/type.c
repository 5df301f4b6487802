/* type.c - element types, and halves, which no C type holds. */
#include "internal.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [MARE_TYPE_NONE] = { "bytes", 1 },
    [MARE_TYPE_INT8] = { "int8", 1 },
    [MARE_TYPE_UINT8] = { "uint8", 1 },
    [MARE_TYPE_INT16] = { "int16", 2 },
    [MARE_TYPE_UINT16] = { "uint16", 2 },
    [MARE_TYPE_INT32] = { "int32", 4 },
    [MARE_TYPE_UINT32] = { "uint32", 4 },
    [MARE_TYPE_INT64] = { "int64", 8 },
    [MARE_TYPE_UINT64] = { "uint64", 8 },
    [MARE_TYPE_FLOAT] = { "float", 4 },
    [MARE_TYPE_DOUBLE] = { "double", 8 },
    [MARE_TYPE_HALF] = { "half", 2 },
    [MARE_TYPE_BOOL] = { "bool", 1 },
    [MARE_TYPE_COMPLEX_FLOAT] = { "complex_float", 8 },
    [MARE_TYPE_COMPLEX_DOUBLE] = { "complex_double", 16 },
};

const char *mare_type_name(mare_type type) {
    return (unsigned)type < sizeof types / sizeof *types ? types[type].name : "unknown type";
}

size_t mare_type_size(mare_type type) {
    return (unsigned)type < sizeof types / sizeof *types ? types[type].size : 0;
}

/* A half has a sign, 5 bits of exponent (less 15) and 10 of fraction; a float 8 (less 127) and 23.
 * Halves below 2^-14 are multiples of 2^-24, which is the last place of floats from 0.5 to 1: added
 * to 0.5 a float is rounded to them. */

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t size_bits(uint32_t size) {
    if (size > 0x7f800000) return 0x7e00;                   /* no number */
    if (size >= 0x477ff000) return 0x7c00;                  /* from 65520 on */
    if (size < 0x38800000) return bits_of(float_of(size) + 0.5f) - 0x3f000000;
    return (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;    /* to even */
}

mare_half mare_half_of(float value) {
    const uint32_t bits = bits_of(value);
    return (mare_half){ (uint16_t)((bits >> 16 & 0x8000) | size_bits(bits & 0x7fffffff)) };
}

float mare_half_value(mare_half half) {
    const uint32_t exponent = half.bits >> 10 & 31, fraction = half.bits & 1023;
    const float size = exponent == 0    ? (float)fraction * 0x1p-24f
                       : exponent == 31 ? float_of(0x7f800000 | fraction << 13)
                                        : float_of((exponent + 112) << 23 | fraction << 13);
    return half.bits & 0x8000 ? -size : size;
}
