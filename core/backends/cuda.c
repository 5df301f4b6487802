/* cuda.c - the CUDA back end; skeleton: reports itself unavailable. */
#include "../internal.h"

#include <stdio.h>
#include <string.h>

static mare_status probe(mare_backend_info *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "cuda");
    snprintf(out->reason, sizeof out->reason, "not implemented yet");
    return MARE_OK;
}

const mr_backend mr_backend_cuda = { .name = "cuda", .probe = probe };
