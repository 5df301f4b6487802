/* opencl_load.c - finds libOpenCL, keeps it off the process's signals, and turns its error codes
 * into Mare's. */
#include "opencl.h"

#include <stdio.h>
#include <string.h>

struct mr_cl_api mr_cl;

mare_status mr_opencl_load(char *loaded, size_t loaded_size) {
    static const char *const names[] = { "libOpenCL.so.1", "libOpenCL.so", NULL };
    static const mr_symbol symbols[] = {
#define MR_CL_REQUIRED(result, name, arguments) { #name, (void **)(void *)&mr_cl.name, true },
#define MR_CL_OPTIONAL(result, name, arguments) { #name, (void **)(void *)&mr_cl.name, false },
#include "opencl_syms.def"
    };
    return mr_dl_load(names, symbols, sizeof symbols / sizeof *symbols, loaded, loaded_size);
}

/* ---- signals ---- */

/* Signals that LLVM takes. SIGFPE stays PoCL's, for kernels that divide whole numbers by zero. */
static const int taken[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, /* held, too */
                             SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGSEGV, SIGSYS, SIGXCPU, SIGXFSZ };
enum { HELD = 6, TAKEN = sizeof taken / sizeof *taken };
static struct sigaction handlers[TAKEN];
static int savers;
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;

void mr_opencl_hold_signals(sigset_t *mask) {
    sigset_t held;
    sigemptyset(&held);
    for (int k = 0; k < HELD; k++) sigaddset(&held, taken[k]);
    pthread_sigmask(SIG_BLOCK, &held, mask);
    pthread_mutex_lock(&handlers_lock);
    for (int k = 0; k < TAKEN && savers == 0; k++) sigaction(taken[k], NULL, &handlers[k]);
    savers++;
    pthread_mutex_unlock(&handlers_lock);
}

void mr_opencl_release_signals(const sigset_t *mask) {
    pthread_mutex_lock(&handlers_lock);
    savers--;
    for (int k = 0; k < TAKEN && savers == 0; k++) sigaction(taken[k], &handlers[k], NULL);
    pthread_mutex_unlock(&handlers_lock);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* ---- errors ---- */

typedef struct error_code {
    int32_t code;
    mare_status status;
    const char *name, *meaning;
} error_code;

static const error_code unknown_code = { 0, MARE_ERROR_DEVICE, "unknown error",
                                         "not in OpenCL 1.2" };

static const error_code *find_code(int32_t code) {
    static const error_code codes[] = {
#define MR_CL_ERROR(name, value, status, meaning) { value, MARE_ERROR_##status, #name, meaning },
#include "opencl_syms.def"
        { -9999, MARE_ERROR_LOST, "NVIDIA error", "a kernel read or wrote outside its buffers" },
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code) return &codes[i];
    return &unknown_code;
}

/* Calls that wait for earlier work and report its failure. */
static bool waits(const char *call) {
    static const char *const names[] = { "clFinish", "clWaitForEvents", "clEnqueueReadBuffer",
                                         "clEnqueueReadBufferRect" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], call)) return true;
    return false;
}

mare_status mr_opencl_fail(int32_t code, const char *call, const char *format, ...) {
    const error_code *found = find_code(code);
    mare_status status = found->status;
    const char *meaning = found->meaning;
    if (code == MR_CL_OUT_OF_RESOURCES && waits(call)) { /* NVIDIA's words for a fault */
        status = MARE_ERROR_LOST;
        meaning = "most often a kernel that read or wrote outside its buffers";
    }
    if (status == MARE_ERROR_LOST && !strcmp(call, "clCreateContext"))
        status = MARE_ERROR_UNAVAILABLE;
    if (code == -9999 && !strcmp(call, "clBuildProgram")) { /* as for newer PTX */
        status = MARE_ERROR_BUILD;
        meaning = "the driver refuses the program";
    }
    char argument[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(argument, sizeof argument, format, arguments);
    va_end(arguments);
    return mr_fail(status, "%s(%s): %s (%d): %s", call, argument, found->name, code, meaning);
}
