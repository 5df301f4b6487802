/* system.c - a library for LD_PRELOAD that lets calls of the system fail: the n-th of a kind, or
 * all from the n-th on.
 *
 *     MARE_FAULT=write:17:28      the 17th write fails with error 28, ENOSPC
 *     MARE_FAULT=write:17:28:on   all from the 17th on do
 *     MARE_FAULT_COUNTS=FILE      writes how many calls of each kind there were
 *
 * Only calls of Mare, of LuaJIT and of the libraries that write files count: not those of OpenCL
 * drivers and compilers, which nobody taught to fail. Nor does memory for HDF5 and cairo: without
 * it HDF5 1.10.8 ends the process by exit(-1) in H5I_register and by a fault in H5E__get_stack,
 * and cairo 1.16 by one in cairo_stroke. Nor do the last steps of H5Fclose, its write of the
 * first 48 bytes and its close(): where they fail, NetCDF-C 4.9.0 lists what is open in a file
 * that is gone, and crashes in reportobject. Messages are let through: what goes to descriptors
 * up to 2 does not count.
 *
 * A process that faults or aborts first says in which libraries it was, the innermost first:
 * "fault in libc.so.6 libmare.so.1 mare"; what belongs to no file is "?".
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum kind { OPEN, WRITE, SHORT, FSYNC, CLOSE, RENAME, RESIZE, READ, MMAP, MALLOC, KINDS };

static const char *const names[KINDS] = { "open",   "write",  "short", "fsync", "close",
                                          "rename", "resize", "read",  "mmap",  "malloc" };
static atomic_long counts[KINDS];
static enum kind failing = KINDS;
static long first, last;        /* which calls of that kind fail */
static int number;              /* what they say */

/* Functions of glibc that `malloc` and the like are other names of. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* ---- faults ---- */

static const char *file_name(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) return "?";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

/* Where a call of a null pointer came from, which no unwinder finds; else NULL. */
static const void *caller_of_nothing(const ucontext_t *at) {
#if defined __x86_64__
    if (at->uc_mcontext.gregs[REG_RIP]) return NULL;
    return *(void *const *)at->uc_mcontext.gregs[REG_RSP];
#else
    return at->uc_mcontext.pc ? NULL : (const void *)at->uc_mcontext.regs[30];
#endif
}

/* This library's own frames and the signal's come first, and are left out. */
static void say_where(int signal_number, siginfo_t *info, void *at) {
    (void)info;
    void *frames[64];
    const char *own = file_name((void *)(uintptr_t)say_where), *before = own;
    int count = backtrace(frames, 64), at_fault = 0;
    const void *caller = caller_of_nothing(at);
    dprintf(STDERR_FILENO, "fault in%s%s", caller ? " " : "", caller ? file_name(caller) : "");
    while (at_fault < count && !strcmp(file_name(frames[at_fault]), own)) at_fault++;
    for (int k = at_fault + 1; k < count; k++) {
        const char *name = file_name(frames[k]);
        if (strcmp(name, before)) dprintf(STDERR_FILENO, " %s", name);
        before = name;
    }
    dprintf(STDERR_FILENO, "\n");
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void watch_faults(void) {
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
    void *frame;
    backtrace(&frame, 1);       /* loads what it needs, for which a fault is no time */
    struct sigaction action = { .sa_sigaction = say_where, .sa_flags = SA_SIGINFO };
    sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        sigaction(signals[k], &action, NULL);
}

__attribute__((constructor)) static void read_wishes(void) {
    const char *text = getenv("MARE_FAULT");
    char kind[16], on[4] = "";
    if (!text || sscanf(text, "%15[^:]:%ld:%d:%3s", kind, &first, &number, on) < 3) return;
    last = on[0] ? INT64_MAX : first;
    for (int k = 0; k < KINDS; k++)
        if (!strcmp(names[k], kind)) failing = (enum kind)k;
    watch_faults();
}

__attribute__((destructor)) static void write_counts(void) {
    const char *path = getenv("MARE_FAULT_COUNTS");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int k = 0; file && k < KINDS; k++)
        fprintf(file, "%s %ld\n", names[k], atomic_load(&counts[k]));
    if (file) fclose(file);
}

/* Whose calls count: 1, except those for memory and close(), 2, all. Compiled Lua belongs to no
 * file. */
static int weight_of(const void *caller) {
    static const char *const files_only[] = { "libnetcdf", "libhdf5", "libcairo" };
    static const char *const all[] = { "mare", "libmare", "libluajit",
                                       "libpng", "libgif", "libz." };
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname) return 2;
    const char *slash = strrchr(info.dli_fname, '/'), *base = slash ? slash + 1 : info.dli_fname;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!strncmp(base, all[k], strlen(all[k]))) return 2;
    for (size_t k = 0; k < sizeof files_only / sizeof *files_only; k++)
        if (!strncmp(base, files_only[k], strlen(files_only[k]))) return 1;
    return 0;
}

/* What weight_of() said of a caller is kept in the last bits: a compiler calls malloc() often. */
static int known_weight(const void *caller) {
    static _Atomic uintptr_t known[65536];
    uintptr_t key = (uintptr_t)caller << 2;
    _Atomic uintptr_t *place = &known[(uintptr_t)caller % 65536];
    uintptr_t found = atomic_load(place);
    if ((found & ~(uintptr_t)3) != key) {
        found = key | (uintptr_t)weight_of(caller);
        atomic_store(place, found);
    }
    return found & 3;
}

static int fails(enum kind kind, const void *caller) {
    if (known_weight(caller) < (kind >= MMAP || kind == CLOSE ? 2 : 1)) return 0;
    long n = atomic_fetch_add(&counts[kind], 1) + 1;
    if (kind != failing || n < first || n > last) return 0;
    errno = number;
    return 1;
}

#define CALLER __builtin_return_address(0)
#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) next = (__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name)

/* ---- memory ---- */

void *malloc(size_t size) { return fails(MALLOC, CALLER) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
    return fails(MALLOC, CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return fails(MALLOC, CALLER) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails(MALLOC, CALLER) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    if (fails(MALLOC, CALLER)) return ENOMEM;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}

void *mmap(void *wanted, size_t size, int protection, int flags, int fd, off_t offset) {
    NEXT(mmap);
    return fails(MMAP, CALLER) ? MAP_FAILED : next(wanted, size, protection, flags, fd, offset);
}

void *mmap64(void *wanted, size_t size, int protection, int flags, int fd, off_t offset) {
    NEXT(mmap64);
    return fails(MMAP, CALLER) ? MAP_FAILED : next(wanted, size, protection, flags, fd, offset);
}

/* ---- files ---- */

static int ends_in(const char *path, const char *ending) {
    size_t size = strlen(path), want = strlen(ending);
    return size > want && !strcmp(path + size - want, ending);
}

/* Modules of Lua are no files of a run. */
static int open_fails(const char *path, const void *caller) {
    if (ends_in(path, ".lua") || ends_in(path, ".so")) return 0;
    return fails(OPEN, caller);
}

#define DEFINE_OPEN(name) \
    int name(const char *path, int flags, ...) { \
        NEXT(name); \
        va_list list; \
        va_start(list, flags); \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, int) : 0; \
        va_end(list); \
        return open_fails(path, CALLER) ? -1 : next(path, flags, mode); \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_FOPEN(name) \
    FILE *name(const char *path, const char *mode) { \
        NEXT(name); \
        return open_fails(path, CALLER) ? NULL : next(path, mode); \
    }
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

/* A short write is no failure: the caller has to go on where it ended. */
static size_t cut(int fd, size_t size, const void *caller) {
    return fd > 2 && size > 1 && fails(SHORT, caller) ? size / 2 : size;
}

ssize_t write(int fd, const void *data, size_t size) {
    NEXT(write);
    size = cut(fd, size, CALLER);
    return fd > 2 && fails(WRITE, CALLER) ? -1 : next(fd, data, size);
}

/* The superblock, which H5Fclose writes at last. */
static int is_superblock(size_t size, off_t offset) { return size == 48 && !offset; }

#define DEFINE_PWRITE(name) \
    ssize_t name(int fd, const void *data, size_t size, off_t offset) { \
        NEXT(name); \
        if (is_superblock(size, offset)) return next(fd, data, size, offset); \
        size = cut(fd, size, CALLER); \
        return fails(WRITE, CALLER) ? -1 : next(fd, data, size, offset); \
    }
DEFINE_PWRITE(pwrite)
DEFINE_PWRITE(pwrite64)

/* stdio tells of a failure by a mark on the file too, without which cairo tries for ever. */
static int stdio_fails(enum kind kind, FILE *file, const void *caller) {
    if (file == stdin || file == stdout || file == stderr || !fails(kind, caller)) return 0;
    file->_flags |= 0x20;       /* _IO_ERR_SEEN of glibc */
    return 1;
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
    NEXT(fwrite);
    return stdio_fails(WRITE, file, CALLER) ? 0 : next(data, size, count, file);
}

ssize_t read(int fd, void *data, size_t size) {
    NEXT(read);
    return fd > 2 && fails(READ, CALLER) ? -1 : next(fd, data, size);
}

#define DEFINE_PREAD(name) \
    ssize_t name(int fd, void *data, size_t size, off_t offset) { \
        NEXT(name); \
        return fails(READ, CALLER) ? -1 : next(fd, data, size, offset); \
    }
DEFINE_PREAD(pread)
DEFINE_PREAD(pread64)

size_t fread(void *data, size_t size, size_t count, FILE *file) {
    NEXT(fread);
    return stdio_fails(READ, file, CALLER) ? 0 : next(data, size, count, file);
}

int fsync(int fd) {
    NEXT(fsync);
    return fails(FSYNC, CALLER) ? -1 : next(fd);
}

int fdatasync(int fd) {
    NEXT(fdatasync);
    return fails(FSYNC, CALLER) ? -1 : next(fd);
}

int sync_file_range(int fd, off64_t offset, off64_t size, unsigned flags) {
    NEXT(sync_file_range);
    return fails(FSYNC, CALLER) ? -1 : next(fd, offset, size, flags);
}

/* The descriptor is gone even where close() fails. */
int close(int fd) {
    NEXT(close);
    int is_failing = fd > 2 && fails(CLOSE, CALLER), result = next(fd);
    if (is_failing) errno = number;
    return is_failing ? -1 : result;
}

int fclose(FILE *file) {
    NEXT(fclose);
    int is_failing = fails(CLOSE, CALLER), result = next(file);
    if (is_failing) errno = number;
    return is_failing ? EOF : result;
}

int rename(const char *from, const char *to) {
    NEXT(rename);
    return fails(RENAME, CALLER) ? -1 : next(from, to);
}

int ftruncate(int fd, off_t size) {
    NEXT(ftruncate);
    return fails(RESIZE, CALLER) ? -1 : next(fd, size);
}

int ftruncate64(int fd, off64_t size) {
    NEXT(ftruncate64);
    return fails(RESIZE, CALLER) ? -1 : next(fd, size);
}

int truncate(const char *path, off_t size) {
    NEXT(truncate);
    return fails(RESIZE, CALLER) ? -1 : next(path, size);
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
    NEXT(fallocate);
    return fails(RESIZE, CALLER) ? -1 : next(fd, mode, offset, size);
}
