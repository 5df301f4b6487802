/* opencl.c - the OpenCL back end. */
#include "../internal.h"

#include <stdio.h>

static mare_status probe(mare_backend_info *out)
{
    snprintf(out->reason, sizeof out->reason, "not implemented yet");
    return MARE_OK;
}

const mr_backend mr_backend_opencl = {
    .name = "opencl",
    .probe = probe,
};
