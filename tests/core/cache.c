/* cache.c - the on-disk cache: what it keeps, and that whatever goes wrong with it costs only time.
 */
#include "check.h"
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* So large that no allocator has it left from before. */
enum { LARGE = 64 << 20 };

static char folder[64];

static void store(const char *key, const char *binary) {
    mr_blob blob = { (void *)(uintptr_t)binary, strlen(binary) };
    mr_cache_store(key, strlen(key), "test.krn", "a device", &blob);
}

static bool holds(const char *key, const char *binary) {
    mr_blob blob = { 0 };
    bool equal = mr_cache_load(key, strlen(key), &blob) && blob.size == strlen(binary) &&
                 !memcmp(blob.data, binary, blob.size);
    free(blob.data);
    return equal;
}

static bool misses(const char *key) {
    mr_blob blob = { 0 };
    bool found = mr_cache_load(key, strlen(key), &blob);
    free(blob.data);
    return !found;
}

static uint64_t count(void) {
    uint64_t entries = 0;
    CHECK_OK(mare_cache_count(&entries));
    return entries;
}

/* The path of the newest entry. */
static void newest(char path[256]) {
    mare_cache_info info = { 0 };
    CHECK(count() > 0);
    CHECK_OK(mare_cache_query(0, &info));
    snprintf(path, 256, "%s/%s", folder, info.file);
}

static int files_in_folder(void) {
    int files = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry = listing ? readdir(listing) : NULL; entry; entry = readdir(listing))
        files += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    if (listing) closedir(listing);
    return files;
}

/* The next line of the log holds both texts. */
static void expect_warning(const char *what, const char *why) {
    uint32_t level = MARE_LOG_OFF;
    char line[512] = "";
    CHECK(mare_log_next(&level, line, sizeof line));
    CHECK(level == MARE_LOG_WARN && strstr(line, what) && strstr(line, why));
}

static void keeps_and_lists(void) {
    CHECK(misses("key"));
    CHECK(count() == 0);
    store("key", "binary");
    store("key", "binary, newer");
    store("other key", "");
    CHECK(holds("key", "binary, newer"));
    CHECK(holds("other key", ""));
    CHECK(misses("key "));
    CHECK(count() == 2);
    mare_cache_info info = { 0 };
    CHECK_OK(mare_cache_query(1, &info));
    CHECK_TEXT(info.program, "test.krn");
    CHECK_TEXT(info.device, "a device");
    CHECK(info.size > 0 && info.used > 1600000000);
    CHECK_FAILS(mare_cache_query(2, &info), MARE_ERROR_ARGUMENT, "index 2", "2 entries");
    store("third key", "");     /* seen by the next count */
    CHECK_FAILS(mare_cache_query(2, &info), MARE_ERROR_ARGUMENT, "index 2", "2 entries");
    CHECK(count() == 3);
    CHECK_OK(mare_cache_query(2, &info));
    struct stat status;
    CHECK(stat(folder, &status) == 0 && (status.st_mode & 0777) == 0700);
}

static void clears(void) {
    uint64_t removed = 0;
    char stranger[128];
    snprintf(stranger, sizeof stranger, "%s/notes.txt", folder);
    close(open(stranger, O_CREAT | O_WRONLY, 0600));
    store("key", "binary");
    uint64_t before = count();
    CHECK_OK(mare_cache_clear(&removed));
    CHECK(removed == before && count() == 0);
    CHECK(unlink(stranger) == 0); /* what is not Mare's stays */
    CHECK(files_in_folder() == 0);
}

static void keeps_texts(void) {
    CHECK(!mare_cache_find("key"));
    CHECK_OK(mare_cache_keep("key", "fft", "first"));
    CHECK_OK(mare_cache_keep("key", "fft", "a text"));
    CHECK(misses("key"));       /* a program's */
    CHECK_TEXT(mare_cache_find("key"), "a text");
    CHECK(!mare_cache_find("other key") && !mare_cache_find(NULL));
    CHECK(count() == 1);
    mare_cache_info info = { 0 };
    CHECK_OK(mare_cache_query(0, &info));
    CHECK_TEXT(info.program, "fft");
    CHECK_TEXT(info.device, "text");
    CHECK_FAILS(mare_cache_keep("key", NULL, ""), MARE_ERROR_ARGUMENT, "name is NULL");
    CHECK_OK(mare_cache_clear(NULL));
}

/* Each byte flipped in turn, and each shorter length: never a wrong answer, and the file is gone.
 */
static void deletes_damage(void) {
    char path[256], bytes[1024];
    store("key", "binary");
    newest(path);
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL)) return;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(size > 9 && size < sizeof bytes);
    for (size_t i = 0; i < 2 * size; i++) {
        char changed[1024];
        memcpy(changed, bytes, size);
        if (i < size) changed[i] = (char)(changed[i] ^ 0x41);
        file = fopen(path, "wb");
        fwrite(changed, 1, i < size ? size : i - size, file);
        fclose(file);
        bool good =
            holds("key",
                  "binary"); /* the names are not covered by the checksum and do not matter */
        CHECK(good ? i >= 40 && i < 296 : misses("key") && access(path, F_OK) != 0);
        if (!good) expect_warning(path, "was damaged, removed");
    }
    CHECK_OK(mare_cache_clear(NULL));
}

/* Half as much memory as the entry needs, until `before` is put back. */
static void lack_memory(struct rlimit *before) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    if (file) fclose(file);
    CHECK(getrlimit(RLIMIT_AS, before) == 0);
    struct rlimit small = *before;
    small.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + LARGE / 2;
    CHECK(setrlimit(RLIMIT_AS, &small) == 0);
}

/* No memory, and a file that the system refuses to read, say nothing against an entry. */
static void keeps_what_it_cannot_read(void) {
    char path[256], aside[300], *binary = malloc(LARGE);
    struct rlimit before;
    if (!CHECK(binary != NULL)) return;
    memset(binary, 'b', LARGE - 1);
    binary[LARGE - 1] = '\0';
    store("key", binary);
    newest(path);
    lack_memory(&before);
    CHECK(misses("key"));
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    expect_warning(path, strerror(ENOMEM));
    CHECK(holds("key", binary));
    snprintf(aside, sizeof aside, "%s.aside", path);
    CHECK(rename(path, aside) == 0);
    CHECK(mkdir(path, 0700) == 0);
    CHECK(misses("key"));
    expect_warning(path, "it is no regular file");
    CHECK(rmdir(path) == 0);
    CHECK(rename(aside, path) == 0);
    CHECK(holds("key", binary));
    free(binary);
    CHECK_OK(mare_cache_clear(NULL));
}

/* What others may have planted under the name of an entry is not run, and nothing waits for it. */
static void trusts_only_its_own(void) {
    char path[256], aside[300];
    store("key", "binary");
    newest(path);
    snprintf(aside, sizeof aside, "%s.aside", path);
    CHECK(chmod(path, 0620) == 0);
    CHECK(misses("key"));
    expect_warning(path, "other users may write to it");
    CHECK(chmod(path, 0600) == 0);
    if (geteuid() == 0) {
        CHECK(chown(path, 65534, 65534) == 0);
        CHECK(misses("key"));
        expect_warning(path, "it belongs to another user");
        CHECK(chown(path, 0, 0) == 0);
    }
    CHECK(rename(path, aside) == 0);
    CHECK(symlink(aside, path) == 0);
    CHECK(misses("key"));
    expect_warning(path, "it is a link");
    CHECK(unlink(path) == 0);
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(misses("key"));
    expect_warning(path, "it is no regular file");
    CHECK(rename(aside, path) == 0);
    CHECK(holds("key", "binary"));
    CHECK_OK(mare_cache_clear(NULL));
}

/* What a killed process of this number left has the names that this one would take first. */
static void passes_leftovers(void) {
    char leftover[128];
    store("first key", "");
    for (int i = 0; i < 20; i++) {
        snprintf(leftover, sizeof leftover, "%s/.mare-%ld-%d", folder, (long)getpid(), i);
        close(open(leftover, O_CREAT | O_WRONLY, 0600));
    }
    store("key", "binary");
    CHECK(holds("key", "binary"));
    CHECK_OK(mare_cache_clear(NULL));
    CHECK(files_in_folder() == 0);
}

/* Another key's entry under this key's name, as after a collision of the hash. */
static void survives_collisions(void) {
    char mine[256], other[256];
    store("mine", "my binary");
    newest(mine);
    CHECK_OK(mare_cache_clear(NULL));
    store("others", "other binary");
    newest(other);
    CHECK(rename(other, mine) == 0);
    CHECK(misses("mine"));
    CHECK(access(mine, F_OK) == 0);
    store("mine", "my binary");
    CHECK(holds("mine", "my binary"));
    CHECK_OK(mare_cache_clear(NULL));
}

/* ---- size ---- */

static void set_used(const char *path, time_t seconds) {
    const struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* The longest unused goes; what was loaded counts as used; a limit too small for one keeps none. */
static void stays_small(void) {
    static char binary[100000];
    char path[256];
    memset(binary, 'b', sizeof binary - 1);
    setenv("MARE_CACHE_SIZE", "250K", 1);
    store("first", binary);
    newest(path);
    set_used(path, 1600000000);
    store("second", binary);
    newest(path);
    set_used(path, 1600000001);
    CHECK(holds("first", binary));
    store("third", binary);
    CHECK(misses("second"));
    CHECK(holds("first", binary) && holds("third", binary));
    setenv("MARE_CACHE_SIZE", "90000", 1);
    store("fourth", binary);
    CHECK(count() == 0);
    setenv("MARE_CACHE_SIZE", "much", 1);
    store("fifth", binary);
    CHECK(holds("fifth", binary));
    expect_warning("MARE_CACHE_SIZE='much' is no size", "512M holds");
    unsetenv("MARE_CACHE_SIZE");
    CHECK_OK(mare_cache_clear(NULL));
}

/* The folder is looked through whenever a 64th of the limit has been written. */
static void looks_now_and_then(void) {
    static char binary[120000];
    char leftover[128];
    snprintf(leftover, sizeof leftover, "%s/.mare-1-1", folder);
    memset(binary, 'b', sizeof binary - 1);
    setenv("MARE_CACHE_SIZE", "6400000", 1);
    store("first", binary);
    close(open(leftover, O_CREAT | O_WRONLY, 0600));
    set_used(leftover, 1600000000);
    store("second", "binary");
    CHECK(access(leftover, F_OK) == 0);
    store("third", binary);
    CHECK(access(leftover, F_OK) != 0);
    unsetenv("MARE_CACHE_SIZE");
    CHECK_OK(mare_cache_clear(NULL));
}

/* ---- locks ---- */

static bool is_busy(const char *key, int *lock) {
    return mr_cache_lock(key, strlen(key), lock);
}

static void locks_keys(void) {
    int first = -1, second = -1, other = -1;
    CHECK(!is_busy("key", &first) && first >= 0);
    CHECK(is_busy("key", &second) && second < 0);
    CHECK(!is_busy("other key", &other) && other >= 0);
    mr_cache_unlock(other);
    CHECK(is_busy("key", &second));
    mr_cache_unlock(first);
    CHECK(!is_busy("key", &second) && second >= 0);
    mr_cache_unlock(second);
    mr_cache_unlock(-1);
    char path[128];
    snprintf(path, sizeof path, "%s/.lock", folder);
    CHECK(unlink(path) == 0);
}

static void works_together(void) {
    enum { PROCESSES = 4, ROUNDS = 50 };
    static char binary[200000];
    memset(binary, 'b', sizeof binary - 1);
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        for (int k = 0; k < ROUNDS; k++) {
            store("shared", binary);
            CHECK(holds("shared", binary));
        }
        _exit(check_failures != 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        waitpid(children[i], &status, 0);
        CHECK(status == 0);
    }
    CHECK(count() == 1 && files_in_folder() == 1);
    CHECK_OK(mare_cache_clear(NULL));
}

static void is_off(void) {
    int lock = 0;
    CHECK(!is_busy("key", &lock) && lock < 0);
    CHECK(count() == 0);
    store("key", "binary");
    CHECK(misses("key"));
    CHECK(count() == 0);
    CHECK_OK(mare_cache_clear(NULL));
}

static void finds_its_place(void) {
    char expected[256];
    unsetenv("MARE_CACHE");
    setenv("XDG_CACHE_HOME", "/tmp/xdg", 1);
    CHECK_TEXT(mare_cache_path(), "/tmp/xdg/mare");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", folder, 1);
    snprintf(expected, sizeof expected, "%s/.cache/mare", folder);
    CHECK_TEXT(mare_cache_path(), expected);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK_TEXT(mare_cache_path(), "");
    is_off();
    setenv("HOME", "/proc/self", 1); /* cannot be written, not even by root */
    is_off();
    setenv("MARE_CACHE", "off", 1);
    CHECK_TEXT(mare_cache_path(), "");
    is_off();
    setenv("MARE_CACHE", "/dev/null", 1);
    is_off();
    setenv("MARE_CACHE", folder, 1);
}

static void bears_a_read_only_folder(void) {
    int lock = 0;
    store("key", "binary");
    CHECK(chmod(folder, 0500) == 0);
    store("key 2", "binary");
    expect_warning("'test.krn' is not kept", strerror(EACCES));
    CHECK(holds("key", "binary"));
    CHECK(misses("key 2"));
    CHECK(!is_busy("key 2", &lock) && lock < 0);
    CHECK_FAILS(mare_cache_clear(NULL), MARE_ERROR_IO, folder, "Permission denied");
    CHECK(chmod(folder, 0700) == 0);
    CHECK_OK(mare_cache_clear(NULL));
}

/* Root may write anywhere, so that it becomes somebody else for a while. */
static void as_nobody(const char *base, void (*test)(void)) {
    enum { NOBODY = 65534 };
    char command[128];
    bool root = geteuid() == 0;
    snprintf(command, sizeof command, "chown -R %d %s", NOBODY, base);
    if (root && !(CHECK(system(command) == 0) && CHECK(seteuid(NOBODY) == 0))) return;
    test();
    if (root) CHECK(seteuid(0) == 0);
}

/* A limit on the size of files stands for a full file system: the write stops half-way. */
static void bears_a_full_disk(void) {
    struct rlimit before, small = { 400, 400 };
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    static char binary[2000];
    memset(binary, 'b', sizeof binary - 1);
    store("key", binary);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    expect_warning("'test.krn' is not kept", strerror(EFBIG));
    CHECK(misses("key"));
    CHECK(files_in_folder() == 0);
}

static void says_once_that_there_is_no_folder(void) {
    uint32_t level = MARE_LOG_OFF;
    char line[256];
    setenv("MARE_CACHE", "/dev/full", 1);
    store("key", "binary");
    expect_warning("nothing is kept in /dev/full", strerror(ENOTDIR));
    store("key", "binary");
    CHECK(!mare_log_next(&level, line, sizeof line));
    CHECK(misses("key"));
    setenv("MARE_CACHE", folder, 1);
}

int main(void) {
    char base[] = "/tmp/mare-cache-XXXXXX";
    CHECK(mkdtemp(base) != NULL);
    snprintf(folder, sizeof folder, "%s/deep/er", base);
    setenv("MARE_CACHE", folder, 1);
    CHECK_TEXT(mare_cache_path(), folder);
    passes_leftovers();
    keeps_and_lists();
    clears();
    keeps_texts();
    deletes_damage();
    keeps_what_it_cannot_read();
    trusts_only_its_own();
    survives_collisions();
    stays_small();
    looks_now_and_then();
    locks_keys();
    works_together();
    as_nobody(base, bears_a_read_only_folder);
    bears_a_full_disk();
    says_once_that_there_is_no_folder();
    finds_its_place();
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", base);
    CHECK(system(command) == 0);
    return check_result();
}
