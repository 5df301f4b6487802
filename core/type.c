/* type.c - element types. */
#include "internal.h"

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [MARE_TYPE_NONE] = { "bytes", 1 },    [MARE_TYPE_INT8] = { "int8", 1 },
    [MARE_TYPE_UINT8] = { "uint8", 1 },   [MARE_TYPE_INT16] = { "int16", 2 },
    [MARE_TYPE_UINT16] = { "uint16", 2 }, [MARE_TYPE_INT32] = { "int32", 4 },
    [MARE_TYPE_UINT32] = { "uint32", 4 }, [MARE_TYPE_INT64] = { "int64", 8 },
    [MARE_TYPE_UINT64] = { "uint64", 8 }, [MARE_TYPE_FLOAT] = { "float", 4 },
    [MARE_TYPE_DOUBLE] = { "double", 8 },
};

const char *mare_type_name(mare_type type) {
    return (unsigned)type < sizeof types / sizeof *types ? types[type].name : "unknown type";
}

size_t mare_type_size(mare_type type) {
    return (unsigned)type < sizeof types / sizeof *types ? types[type].size : 0;
}
