/* nvrtc_api.h - NVRTC as Mare declares it, and the compiler built on it, which needs neither driver
 * nor GPU. */
#ifndef MARE_NVRTC_API_H
#define MARE_NVRTC_API_H

#include "../backend.h"

struct _nvrtcProgram;

enum {
#define MR_NVRTC_CONSTANT(name, value) MR_##name = value,
#include "nvrtc_syms.def"
};

/* "NVRTC 13.0", or "no NVRTC" when it cannot be loaded; loads it only if it was not seen before. */
void mr_nvrtc_version(char *out, size_t size);
/* Where a program of that language finds the toolkit's headers, and what changes with them. */
void mr_nvrtc_headers(uint32_t language, mr_text *out);
/* What a compilation gives beside a failure. */
typedef struct mr_nvrtc_result {
    bool wants_ptx;                 /* set before: PTX in `code`, not a cubin */
    mr_blob code;
    mr_blob log;                    /* the compiler's text, also of a failure; NULL: none */
    mr_text lowered;                /* name of source->instance in the code */
} mr_nvrtc_result;
/* Compiles for `arch`, "sm_90". The caller frees what is in the result. */
mare_status mr_nvrtc_compile(const char *arch, const mr_source *source, mr_nvrtc_result *out);

#endif
