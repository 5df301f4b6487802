/* cuda_nvrtc.c - a fake libnvrtc. Its "cubin" is the source text behind an ELF mark.
 *
 * Words in the source steer it: "#error" is a compile error, "warn" a line in the log, and
 * "expect(-OPTION)" fails unless -OPTION was given. FAKE_WITHOUT_REQUIRED leaves out a symbol.
 */
#include "../../core/backends/nvrtc_api.h"
#include "cuda_fail.h"

#define MR_NVRTC_CALL(result, symbol, arguments)                                                   \
    result symbol arguments __attribute__((visibility("default")));
#include "../../core/backends/nvrtc_syms.def"

enum { INVALID_PROGRAM = 4 };

struct _nvrtcProgram { char *source, *name, *expression; char log[512]; };

static int live;

#define FAIL_ON_DEMAND()                                                                           \
    do {                                                                                           \
        unsigned code_ = fake_failure(__func__);                                                   \
        if (code_) return code_;                                                                   \
    } while (0)

__attribute__((destructor)) static void report(void) {
    if (!live) return;
    fprintf(stderr, "fake libnvrtc: %d programs not released\n", live);
    _exit(FAKE_LEAK);
}

const char *nvrtcGetErrorString(unsigned code) {
    return code == MR_NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR unknown";
}

#ifndef FAKE_WITHOUT_REQUIRED
unsigned nvrtcVersion(int *major, int *minor) {
    FAIL_ON_DEMAND();
    *major = 13;
    *minor = 0;
    return 0;
}
#endif

unsigned nvrtcCreateProgram(struct _nvrtcProgram **program, const char *source, const char *name,
                            int header_count, const char *const *headers,
                            const char *const *header_names) {
    FAIL_ON_DEMAND();
    if (header_count || headers || header_names) return INVALID_PROGRAM;
    *program = calloc(1, sizeof **program);
    (*program)->source = strdup(source);
    (*program)->name = strdup(name);
    live++;
    return 0;
}

unsigned nvrtcDestroyProgram(struct _nvrtcProgram **program) {
    free((*program)->source);
    free((*program)->name);
    free((*program)->expression);
    free(*program);
    *program = NULL;
    live--;
    return fake_failure(__func__);
}

static bool was_given(const char *option, size_t size, int count, const char *const *options) {
    for (int i = 0; i < count; i++)
        if (strlen(options[i]) == size && !strncmp(options[i], option, size)) return true;
    return false;
}

unsigned nvrtcCompileProgram(struct _nvrtcProgram *program, int option_count,
                             const char *const *options) {
    FAIL_ON_DEMAND();
    for (int i = 0; i < option_count; i++) {
        if (options[i][0] == '-') continue;
        snprintf(program->log, sizeof program->log, "unrecognized option %s\n", options[i]);
        return MR_NVRTC_ERROR_INVALID_OPTION;
    }
    for (const char *at = program->source; (at = strstr(at, "expect(-")); at++) {
        const char *option = at + strlen("expect(");
        size_t size = strcspn(option, ")");
        if (was_given(option, size, option_count, options)) continue;
        snprintf(program->log, sizeof program->log, "not given: %.*s\n", (int)size, option);
        return MR_NVRTC_ERROR_COMPILATION;
    }
    bool error = strstr(program->source, "#error");
    if (error || strstr(program->source, "fake:warn"))
        snprintf(program->log, sizeof program->log, "%s(1): %s\n", program->name,
                 error ? "error: so you said" : "warning: so you said");
    return error ? MR_NVRTC_ERROR_COMPILATION : MR_NVRTC_SUCCESS;
}

unsigned nvrtcGetProgramLogSize(struct _nvrtcProgram *program, size_t *size) {
    FAIL_ON_DEMAND();
    *size = strlen(program->log) + 1;
    return 0;
}

unsigned nvrtcGetProgramLog(struct _nvrtcProgram *program, char *log) {
    FAIL_ON_DEMAND();
    memcpy(log, program->log, strlen(program->log) + 1);
    return 0;
}

unsigned nvrtcGetCUBINSize(struct _nvrtcProgram *program, size_t *size) {
    FAIL_ON_DEMAND();
    *size = strstr(program->source, "virtual target") ? 0 : strlen(program->source) + 5;
    return 0;
}

unsigned nvrtcGetCUBIN(struct _nvrtcProgram *program, char *cubin) {
    FAIL_ON_DEMAND();
    memcpy(cubin, "\177ELF", 4);
    memcpy(cubin + 4, program->source, strlen(program->source) + 1);
    return 0;
}

unsigned nvrtcGetPTXSize(struct _nvrtcProgram *program, size_t *size) {
    FAIL_ON_DEMAND();
    *size = strlen(program->source) + sizeof "// PTX\n";
    return 0;
}

unsigned nvrtcGetPTX(struct _nvrtcProgram *program, char *ptx) {
    FAIL_ON_DEMAND();
    sprintf(ptx, "// PTX\n%s", program->source);
    return 0;
}

unsigned nvrtcAddNameExpression(struct _nvrtcProgram *program, const char *expression) {
    FAIL_ON_DEMAND();
    program->expression = strdup(expression);
    return 0;
}

/* The lowered name is "axpy", which every source of the tests has. */
unsigned nvrtcGetLoweredName(struct _nvrtcProgram *program, const char *expression,
                             const char **lowered) {
    FAIL_ON_DEMAND();
    if (!program->expression || strcmp(program->expression, expression) != 0)
        return INVALID_PROGRAM;
    *lowered = "axpy";
    return 0;
}
