/* support.h - what all files of core use, back ends too: errors, logs, text, libraries, boxes of
 * bytes. Prefix mr_/MR_. */
#ifndef MARE_SUPPORT_H
#define MARE_SUPPORT_H

#include "mare.h"

#include <stdarg.h>
#include <stdbool.h>

/* ---- error.c: the calling thread's message ---- */

/* Refuses words of a descriptor that this version knows nothing of: `kind` 'label'. */
mare_status mr_check_reserved(const uint64_t reserved[4], const char *kind, const char *label);
/* Sets the message and returns `status`, so that `return mr_fail(...)` is the usual form. */
mare_status mr_fail(mare_status status, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));
/* Puts "context: " in front of the message of a failure on its way up; returns `status`. */
mare_status mr_annotate(mare_status status, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));
void mr_clear_error(void);

#define MR_TRY(expression)                                                     \
    do {                                                                       \
        mare_status mr_status_ = (expression);                                 \
        if (mr_status_ != MARE_OK) return mr_status_;                          \
    } while (0)
#define MR_TRY_WITH(expression, ...)                                           \
    do {                                                                       \
        mare_status mr_status_ = (expression);                                 \
        if (mr_status_ != MARE_OK) return mr_annotate(mr_status_, __VA_ARGS__); \
    } while (0)

/* ---- log.c: lines that the program takes with mare_log_next ---- */
void mr_log(uint32_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- text.c: growable text with a sticky failure flag ---- */

/* zero-initialise; data is NUL-terminated */
typedef struct mr_text { char *data; size_t size, capacity; bool failed; } mr_text;

void mr_text_append(mr_text *text, const char *bytes, size_t size);
void mr_text_format(mr_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mr_text_vformat(mr_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
const char *mr_text_cstr(const mr_text *text);      /* never NULL */
void mr_text_free(mr_text *text);
/* Copies what fits with its NUL, of UTF-8 whole characters. */
void mr_text_cut(char *out, size_t size, const char *text);
/* "4096", "512M", "1.5G": K, M, G, T are powers of 1024. False if the text is nothing like it. */
bool mr_parse_bytes(const char *text, uint64_t *out);
/* Whether MARE_DEBUG=1 asks for programs that a debugger understands. */
bool mr_wants_debug(void);

/* ---- dl.c: the only dlopen in the tree ---- */

typedef struct mr_symbol { const char *name; void **address; bool required; } mr_symbol;

/* Tries the names in order and then every symbol. `loaded` (may be NULL) receives the name that
 * worked. MARE_ERROR_UNAVAILABLE names the libraries tried with the loader's words, or the
 * missing required symbols. The library stays loaded. */
mare_status mr_dl_load(const char *const *names, const mr_symbol *symbols, size_t symbol_count,
                       char *loaded, size_t loaded_size);

/* The file of a function that was loaded; "" if unknown. */
void mr_dl_path(void *function, char *out, size_t size);

/* ---- lines of the caches ----
 * Drivers leave little of Mare in the caches, so what each launch reads of a handle, or of what is
 * behind it, shares one of their lines. */

enum { MR_LINE_BYTES = 64 };
#define MR_LINE _Alignas(MR_LINE_BYTES)

/* zeroed, at the start of a line, to be freed by free(); NULL if out of memory */
void *mr_line_alloc(size_t size);
/* Code likewise: what each launch and each queued download runs lies together in the library, and
 * without what runs only now and then, which is a function of its own. */
#define MR_HOT __attribute__((hot, aligned(MR_LINE_BYTES)))
#define MR_RARE __attribute__((cold, noinline))

/* ---- region.c ---- */

static inline mare_region mr_region_linear(uint64_t dst_offset, uint64_t src_offset,
                                           uint64_t size) {
    return (mare_region){ .width = size,
                          .height = 1,
                          .depth = 1,
                          .dst_offset = dst_offset,
                          .dst_pitch = size,
                          .dst_slice = size,
                          .src_offset = src_offset,
                          .src_pitch = size,
                          .src_slice = size };
}
/* Fills in the defaults of mare_region and checks pitches and slices. */
mare_status mr_region_normalise(const mare_region *region, mare_region *out);
/* One past the last byte that the box touches; false if that is beyond 64 bits. */
bool mr_region_dst_end(const mare_region *r, uint64_t *end);
bool mr_region_src_end(const mare_region *r, uint64_t *end);
bool mr_region_overlaps(const mare_region *r);      /* both sides in the same memory */
uint64_t mr_region_volume(const mare_region *r);    /* bytes */
bool mr_region_split(const mare_region *r, mare_region *first, mare_region *second);

/* ---- cache.c: compiled programs on disk ---- */

/* malloc'ed; who receives it frees it */
typedef struct mr_blob { void *data; size_t size; } mr_blob;

/* `key` is everything that makes the binary valid. False: a miss, for whatever reason. */
bool mr_cache_load(const char *key, size_t key_size, mr_blob *out);
void mr_cache_store(const char *key, size_t key_size, const char *program, const char *device,
                    const mr_blob *binary);
uint64_t mr_hash(const void *data, size_t size, uint64_t value);    /* value: to begin with */

/* ---- kernels/prelude, embedded at build time ---- */

extern const char mr_prelude_cuda[];
extern const char mr_prelude_opencl[];
extern const char mr_prelude_cpu[];

#endif
