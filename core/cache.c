/* cache.c - compiled programs on disk, and texts, shared by every process of the user.
 *
 * A file is named by a hash of its key and holds the whole key, which is compared: two keys with
 * one hash cost a compilation, never a wrong binary. Files are written under a unique name, synced
 * and renamed, so that a reader sees all or nothing; one that is damaged is deleted, one that could
 * not be read stays. Only regular files of the user or of root that nobody else may write are used:
 * what they hold is run. Whatever goes wrong here is a miss. A hit sets the file's time, and when
 * the folder is seen to outgrow its limit the longest unused go. Who compiles holds a lock on one
 * byte of the file .lock, chosen by the key.
 */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FORMAT = 2, HASH_DIGITS = 32 };
enum { LOCK_FLAGS = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };
static const int64_t NS_PER_SECOND = 1000000000;
enum { LEFTOVER_SECONDS = 3600 };   /* no process takes so long to write one file */
static const uint64_t default_limit = 512ull << 20;
static const char suffix[] = ".mare";

typedef struct header {
    char magic[8];
    uint64_t format, key_size, binary_size, checksum; /* of what follows the header */
    char program[128], device[128];
} header;

static const char magic[8] = { 'm', 'a', 'r', 'e', 'b', 'i', 'n', '\n' };

/* ---- names ---- */

/* In the manner of FNV-1a, eight bytes at a time: each step is a bijection, so that one changed
 * word never goes unseen. */
uint64_t mr_hash(const void *data, size_t size, uint64_t value) {
    const unsigned char *bytes = data;
    value ^= size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        value = (value ^ word) * 0x9fb21c651e98df25u;
        value ^= value >> 32;
    }
    return value;
}

static void entry_name(const char *key, size_t size, char out[64]) {
    snprintf(out, 64, "%016llx%016llx%s",
             (unsigned long long)mr_hash(key, size, 0xcbf29ce484222325u),
             (unsigned long long)mr_hash(key, size, 0x9e3779b97f4a7c15u), suffix);
}

static bool is_entry(const char *name) {
    return strspn(name, "0123456789abcdef") == HASH_DIGITS && !strcmp(name + HASH_DIGITS, suffix);
}

static bool is_leftover(const char *name) { return !strncmp(name, ".mare-", 6); }

/* Empty when the cache is off or there is no place for it. */
static void find_folder(char *out, size_t size) {
    const char *own = getenv("MARE_CACHE"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int length = 0;
    out[0] = '\0';
    if (own && *own) length = strcmp(own, "off") ? snprintf(out, size, "%s", own) : 0;
    else if (cache && *cache == '/') length = snprintf(out, size, "%s/mare", cache);
    else if (home && *home) length = snprintf(out, size, "%s/.cache/mare", home);
    if (length < 0 || (size_t)length >= size) out[0] = '\0';
}

const char *mare_cache_path(void) {
    static _Thread_local char path[4096];
    find_folder(path, sizeof path);
    return path;
}

/* Opening the last one tells whether it worked. */
static void make_folders(const char *path) {
    char prefix[4096];
    snprintf(prefix, sizeof prefix, "%s", path);
    for (char *slash = strchr(prefix + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(prefix, 0700);
        *slash = '/';
    }
    (void)mkdir(prefix, 0700);
}

static int open_folder(bool create) {
    const char *path = mare_cache_path();
    if (!*path) return -1;
    if (create) make_folders(path);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ---- reading ---- */

/* Why an open entry is not to be trusted: native code of another user would run. NULL if it is. */
static const char *distrust(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0) return strerror(errno);
    if (!S_ISREG(status.st_mode)) return "it is no regular file";
    if (status.st_uid != geteuid() && status.st_uid != 0) return "it belongs to another user";
    if (status.st_mode & (S_IWGRP | S_IWOTH)) return "other users may write to it";
    return NULL;
}

/* -1 where there is none, or none that can be trusted. Follows no link, waits for no FIFO. */
static int open_entry(int folder, const char *name) {
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const char *reason = fd >= 0 ? distrust(fd) : errno == ELOOP ? "it is a link" : NULL;
    if (!reason) return fd;
    mr_log(MARE_LOG_WARN, "cache: %s/%s is not used: %s", mare_cache_path(), name, reason);
    if (fd >= 0) close(fd);
    return -1;
}

/* FAILED tells nothing of the file: no memory, or the system did not read. */
typedef enum outcome { GOOD, DAMAGED, FAILED } outcome;

static outcome read_all(int fd, void *out, size_t size) {
    char *at = out;
    while (size) {
        ssize_t got = read(fd, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? FAILED : DAMAGED;
        at += got;
        size -= (size_t)got;
    }
    return GOOD;
}

static outcome read_header(int fd, header *out) {
    struct stat status;
    if (fstat(fd, &status) != 0) return FAILED;
    outcome result = read_all(fd, out, sizeof *out);
    if (result != GOOD) return result;
    uint64_t size = (uint64_t)status.st_size, total = 0;
    if (memcmp(out->magic, magic, sizeof magic) != 0 || out->format != FORMAT) return DAMAGED;
    out->program[sizeof out->program - 1] = out->device[sizeof out->device - 1] = '\0';
    bool fits = !__builtin_add_overflow(out->key_size, out->binary_size, &total) &&
                size - sizeof *out == total;
    return fits ? GOOD : DAMAGED;
}

/* The key and the binary in one block, for the caller to free. */
static outcome read_entry(int fd, header *head, char **out) {
    outcome result = read_header(fd, head);
    if (result != GOOD) return result;
    size_t size = (size_t)(head->key_size + head->binary_size);
    char *block = malloc(size ? size : 1);
    if (!block) return FAILED;
    result = read_all(fd, block, size);
    if (result == GOOD && mr_hash(block, size, 0) != head->checksum) result = DAMAGED;
    if (result == GOOD) *out = block;
    else free(block);
    return result;
}

static bool take_binary(const header *head, const char *block, const char *key, size_t key_size,
                        mr_blob *out) {
    if (head->key_size != key_size || memcmp(block, key, key_size) != 0) return false;
    size_t size = (size_t)head->binary_size;
    void *data = malloc(size ? size : 1);
    if (!data) return false;
    memcpy(data, block + key_size, size);
    *out = (mr_blob){ data, size };
    return true;
}

bool mr_cache_load(const char *key, size_t key_size, mr_blob *out) {
    char name[64];
    header head;
    bool found = false;
    int folder = open_folder(false), fd = -1;
    entry_name(key, key_size, name);
    if (folder >= 0) fd = open_entry(folder, name);
    if (fd < 0) goto done;
    char *block = NULL;
    outcome result = read_entry(fd, &head, &block);
    if (result == GOOD) found = take_binary(&head, block, key, key_size, out);
    else if (result == FAILED)
        mr_log(MARE_LOG_WARN, "cache: %s/%s could not be read: %s", mare_cache_path(), name,
               strerror(errno));
    else {
        (void)unlinkat(folder, name, 0);
        mr_log(MARE_LOG_WARN, "cache: %s/%s was damaged, removed", mare_cache_path(), name);
    }
    if (found) (void)futimens(fd, NULL);
    free(block);
done:
    if (fd >= 0) close(fd);
    if (folder >= 0) close(folder);
    return found;
}

/* ---- writing ---- */

static bool write_all(int fd, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        ssize_t done = write(fd, at, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

static bool write_entry(int fd, const header *head, const char *block, size_t size) {
    return write_all(fd, head, sizeof *head) && write_all(fd, block, size) && fsync(fd) == 0;
}

/* A file under a name that nobody has; the leftover of a killed process may have any. */
static int open_temporary(int folder, char name[64]) {
    enum { TRIES = 100 };
    static atomic_uint counter;
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        snprintf(name, 64, ".mare-%ld-%u", (long)getpid(), atomic_fetch_add(&counter, 1));
        fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    return fd;
}

static void store(int folder, const char *name, const header *head, const char *block,
                  size_t size) {
    char temporary[64];
    int fd = open_temporary(folder, temporary);
    bool written = fd >= 0 && write_entry(fd, head, block, size);
    if (fd >= 0 && close(fd) != 0) written = false;
    if (written && renameat(folder, temporary, folder, name) == 0) return;
    mr_log(MARE_LOG_WARN, "cache: '%s' is not kept in %s: %s", head->program, mare_cache_path(),
           strerror(errno));
    if (fd >= 0) (void)unlinkat(folder, temporary, 0);
}

/* That the folder cannot be used is said once for all programs. */
static void warn_of_folder(int code) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!*mare_cache_path() || atomic_flag_test_and_set(&said)) return;
    mr_log(MARE_LOG_WARN, "cache: nothing is kept in %s: %s", mare_cache_path(), strerror(code));
}

/* ---- listing ---- */

static DIR *open_listing(void) {
    int folder = open_folder(false);
    DIR *listing = folder < 0 ? NULL : fdopendir(folder);
    if (!listing && folder >= 0) close(folder);
    return listing;
}

static int latest_first(const void *a, const void *b) {
    const mare_cache_info *left = a, *right = b;
    if (left->used != right->used) return left->used < right->used ? 1 : -1;
    return strcmp(left->file, right->file);
}

/* All entries, the last used first, `used` in nanoseconds; NULL if there are none or no memory. */
static mare_cache_info *list_entries(DIR *listing, uint64_t *count) {
    mare_cache_info *list = NULL;
    *count = 0;
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        struct stat status;
        if (!is_entry(entry->d_name) || fstatat(dirfd(listing), entry->d_name, &status, 0) != 0)
            continue;
        mare_cache_info *grown = realloc(list, (*count + 1) * sizeof *grown);
        if (!grown) break;
        list = grown;
        mare_cache_info *info = &list[(*count)++];
        int64_t ns = status.st_mtim.tv_sec * NS_PER_SECOND + status.st_mtim.tv_nsec;
        *info = (mare_cache_info){ .size = (uint64_t)status.st_size, .used = ns };
        snprintf(info->file, sizeof info->file, "%.*s", (int)sizeof info->file - 1, entry->d_name);
    }
    if (list) qsort(list, (size_t)*count, sizeof *list, latest_first);
    return list;
}

static void read_names(int folder, mare_cache_info *info) {
    header head;
    int fd = open_entry(folder, info->file);
    if (fd < 0) return;
    const outcome result = read_header(fd, &head);
    if (result == GOOD) {
        memcpy(info->program, head.program, sizeof info->program);
        memcpy(info->device, head.device, sizeof info->device);
    } else strcpy(info->program, result == DAMAGED ? "(damaged)" : "(not read)");
    close(fd);
}

/* What this thread saw when it last listed, and the text that it found last. */
static _Thread_local struct snapshot {
    mare_cache_info *list;
    uint64_t count;
    char *text;
} seen;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void forget(void *snapshot) {
    struct snapshot *mine = snapshot;
    free(mine->list);
    free(mine->text);
    *mine = (struct snapshot){ 0 };
}

static void make_key(void) { (void)pthread_key_create(&thread_end, forget); }

/* What this thread has seen is freed when it ends. */
static void free_at_end(void) {
    pthread_once(&thread_end_once, make_key);
    (void)pthread_setspecific(thread_end, &seen);
}

mare_status mare_cache_count(uint64_t *out) {
    if (!out) return mr_fail(MARE_ERROR_ARGUMENT, "mare_cache_count: out is NULL");
    free_at_end();
    free(seen.list);
    seen.list = NULL, seen.count = 0;
    DIR *listing = open_listing();
    if (listing) seen.list = list_entries(listing, &seen.count);
    if (listing) closedir(listing);
    *out = seen.count;
    return MARE_OK;
}

mare_status mare_cache_query(uint64_t index, mare_cache_info *out) {
    if (!out) return mr_fail(MARE_ERROR_ARGUMENT, "mare_cache_query: out is NULL");
    if (index >= seen.count)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "mare_cache_query: index %llu, mare_cache_count saw %llu entries",
                       (unsigned long long)index, (unsigned long long)seen.count);
    int folder = open_folder(false);
    *out = seen.list[index];
    out->used /= NS_PER_SECOND;
    if (folder >= 0) {
        read_names(folder, out);
        close(folder);
    }
    return MARE_OK;
}

/* ---- keeping ---- */

static uint64_t size_limit(void) {
    const char *wish = getenv("MARE_CACHE_SIZE");
    uint64_t limit = default_limit;
    if (wish && *wish && !mr_parse_bytes(wish, &limit))
        mr_log(MARE_LOG_WARN, "MARE_CACHE_SIZE='%s' is no size (such as 512M); %lluM holds", wish,
               (unsigned long long)(default_limit >> 20));
    return limit;
}

/* Removes what processes have left behind that were killed while they wrote. */
static void sweep(DIR *listing) {
    const time_t oldest = time(NULL) - LEFTOVER_SECONDS;
    rewinddir(listing);
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        struct stat status;
        if (is_leftover(entry->d_name) && fstatat(dirfd(listing), entry->d_name, &status, 0) == 0 &&
            status.st_mtime < oldest)
            (void)unlinkat(dirfd(listing), entry->d_name, 0);
    }
}

/* To look at many entries takes long: a process does so when it writes its first, and whenever it
 * has written another 64th of the limit. */
static bool is_due(uint64_t size, uint64_t limit) {
    static _Atomic uint64_t written = UINT64_MAX / 2;
    if (atomic_fetch_add(&written, size) + size < limit / 64) return false;
    atomic_store(&written, 0);
    return true;
}

static void evict(uint64_t size) {
    const uint64_t limit = size_limit();
    DIR *listing = is_due(size, limit) ? open_listing() : NULL;
    if (!listing) return;
    uint64_t count = 0, total = 0;
    mare_cache_info *list = list_entries(listing, &count);
    for (uint64_t i = 0; i < count; i++) {
        total += list[i].size;
        if (total <= limit || unlinkat(dirfd(listing), list[i].file, 0) != 0) continue;
        mr_log(MARE_LOG_INFO, "cache: removed %s, the limit is %llu bytes", list[i].file,
               (unsigned long long)limit);
    }
    free(list);
    sweep(listing);
    closedir(listing);
}

void mr_cache_store(const char *key, size_t key_size, const char *program, const char *device,
                    const mr_blob *binary) {
    char name[64];
    mr_text block = { 0 };
    header head = { .format = FORMAT, .key_size = key_size, .binary_size = binary->size };
    int folder = open_folder(true);
    if (folder < 0) {
        warn_of_folder(errno);
        return;
    }
    memcpy(head.magic, magic, sizeof magic);
    snprintf(head.program, sizeof head.program, "%s", program);
    snprintf(head.device, sizeof head.device, "%s", device);
    mr_text_append(&block, key, key_size);
    mr_text_append(&block, binary->data, binary->size);
    if (!block.failed) {
        head.checksum = mr_hash(block.data, block.size, 0);
        entry_name(key, key_size, name);
        store(folder, name, &head, block.data, block.size);
    }
    close(folder);
    evict(sizeof head + block.size);
    mr_text_free(&block);
}

/* ---- texts ---- */

/* Returns the key in the folder, where those of programs begin otherwise; it may have failed. */
static mr_text key_of_text(const char *key) {
    static const char prefix[] = "text\n";
    mr_text made = { 0 };
    mr_text_append(&made, prefix, sizeof prefix - 1);
    mr_text_append(&made, key, strlen(key));
    return made;
}

mare_status mare_cache_keep(const char *key, const char *name, const char *text) {
    if (!key || !name || !text)
        return mr_fail(MARE_ERROR_ARGUMENT, "mare_cache_keep: %s is NULL",
                       !key ? "key" : !name ? "name" : "text");
    mr_text whole = key_of_text(key);
    const mr_blob blob = { (void *)(uintptr_t)text, strlen(text) + 1 };
    if (!whole.failed && *mare_cache_path())
        mr_cache_store(whole.data, whole.size, name, "text", &blob);
    mr_text_free(&whole);
    return MARE_OK;
}

const char *mare_cache_find(const char *key) {
    mr_text whole = key_of_text(key ? key : "");
    mr_blob found = { 0 };
    free_at_end();
    free(seen.text);
    seen.text = NULL;
    if (!whole.failed && mr_cache_load(whole.data, whole.size, &found)) seen.text = found.data;
    mr_text_free(&whole);
    return seen.text;
}

mare_status mare_cache_clear(uint64_t *removed) {
    uint64_t count = 0;
    mare_status status = MARE_OK;
    DIR *listing = open_listing();
    for (struct dirent *entry = listing ? readdir(listing) : NULL; entry;
         entry = readdir(listing)) {
        if (!is_entry(entry->d_name) && !is_leftover(entry->d_name)) continue;
        if (unlinkat(dirfd(listing), entry->d_name, 0) == 0) count += is_entry(entry->d_name);
        else if (errno != ENOENT)
            status = mr_fail(MARE_ERROR_IO, "%s/%s: %s", mare_cache_path(), entry->d_name,
                             strerror(errno));
    }
    if (listing) closedir(listing);
    if (removed) *removed = count;
    return status;
}

/* ---- one compilation for all ---- */

/* Locks of the open file description: they hold between threads too, and no close of the same file
 * elsewhere in the process drops them, as it would with POSIX locks. */
bool mr_cache_lock(const char *key, size_t key_size, int *lock) {
    uint64_t byte = mr_hash(key, key_size, 0) >> 2;
    struct flock range = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
    range.l_start = (off_t)byte;
    int folder = open_folder(true);
    *lock = folder < 0 ? -1 : openat(folder, ".lock", LOCK_FLAGS, 0600);
    if (folder >= 0) close(folder);
    if (*lock < 0 || fcntl(*lock, F_OFD_SETLK, &range) == 0) return false;
    bool busy = errno == EAGAIN || errno == EACCES;
    close(*lock);
    *lock = -1;
    return busy;
}

void mr_cache_unlock(int lock) {
    if (lock >= 0) close(lock);
}
