/* limits.c - what a script cannot do to the embedding program: run for ever, take all memory,
 * reach files or processes from the sandbox, print, exit, or change the process. */
#include "check.h"
#include "mare_engine.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static void *interrupt_soon(void *engine) {
    nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
    mare_engine_interrupt(engine);
    return NULL;
}

static mare_status run_interrupted(mare_engine *engine, const char *text) {
    pthread_t thread;
    pthread_create(&thread, NULL, interrupt_soon, engine);
    mare_status status = mare_engine_run(engine, text, "endless");
    pthread_join(thread, NULL);
    return status;
}

static void stops_endless_scripts(uint32_t flags) {
    static const char *const scripts[] = {
        "while true do end",
        "for i = 1, math.huge do x = i end",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(error) end",
        "local function f() while true do end end while true do xpcall(f, f) end",
        "coroutine.wrap(function() while true do end end)()",
        ("local t = setmetatable({}, { __index = function(t, k) return t[k + 1] end })\n"
         "while true do pcall(function() return t[1] end) end"),
        "while true do local s = tostring({}) .. 'x' end",
    };
    mare_engine *engine;
    CHECK_OK(mare_engine_create(&(mare_engine_desc){ .flags = flags }, &engine));
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        CHECK_FAILS(run_interrupted(engine, scripts[i]), MARE_ERROR_INTERRUPTED, "interrupted");
        CHECK_OK(mare_engine_run(engine, "return 1", "after"));
    }
    if (!(flags & MARE_ENGINE_SANDBOX)) {
        CHECK_FAILS(run_interrupted(engine, "loadstring 'while true do end' ()"),
                    MARE_ERROR_INTERRUPTED, "interrupted");
        CHECK_FAILS(run_interrupted(engine, "local home = require 'bindings.home'\n"
            "while not home.interrupted() do end error 'tidy'"), MARE_ERROR_INTERRUPTED, "tidy");
    }
    mare_engine_interrupt(engine);
    CHECK_FAILS(mare_engine_run(engine, "x = 1", "t"), MARE_ERROR_INTERRUPTED, "interrupted");
    CHECK_OK(mare_engine_run(engine, "x = 1", "t"));
    CHECK_OK(mare_engine_destroy(engine));
}

static void limits_memory(void) {
    static const char *const scripts[] = {
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
        "return ('x'):rep(2^30)",
        "local s = 'x' while true do s = s .. s end",
        "return table.concat { ('x'):rep(2^25), ('x'):rep(2^25), ('x'):rep(2^25) }",
        "local t = {} while true do t = { t, t } u = { u, t } end",
    };
    mare_engine *engine;
    CHECK_OK(mare_engine_create(&(mare_engine_desc){ .memory = 32 << 20 }, &engine));
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        CHECK_FAILS(mare_engine_run(engine, scripts[i], "greedy"), MARE_ERROR_MEMORY, "memory",
                    "33554432");
        CHECK_OK(mare_engine_run(engine, "u = nil collectgarbage() return 1", "after"));
        CHECK(mare_engine_memory(engine) < 4 << 20);
    }
    CHECK_OK(mare_engine_run(engine, "for i = 1, 1000 do local s = ('x'):rep(2^20) .. i end", "t"));
    CHECK_OK(mare_engine_destroy(engine));
    mare_engine *small = NULL;
    CHECK_OK(mare_engine_create(&(mare_engine_desc){ .memory = 1 }, &small));
    CHECK_FAILS(mare_engine_run(small, scripts[0], "greedy"), MARE_ERROR_MEMORY, "limit is 1");
    CHECK_OK(mare_engine_destroy(small));
}

/* Wherever memory ends: in the making of an object, in that of room for more of them. */
static void gives_back_what_it_made(const char *make) {
    uint64_t before = mare_live_objects();
    char text[128];
    snprintf(text, sizeof text, "for i = 1, 1e9 do keep[i] = %s end", make);
    for (uint64_t limit = 4300 << 10; limit < 9000 << 10; limit += 300 << 10) {
        mare_engine *engine;
        CHECK_OK(mare_engine_create(&(mare_engine_desc){ .memory = limit }, &engine));
        CHECK_OK(mare_engine_run(engine, "mare = require 'mare' keep = {}\n"
                                 "d = mare.device.open 'null' d:event()", "t"));
        uint64_t few = mare_live_objects();
        CHECK_FAILS(mare_engine_run(engine, text, "greedy"), MARE_ERROR_MEMORY, "memory");
        CHECK_OK(mare_engine_run(engine, "keep = nil collectgarbage() collectgarbage()", "after"));
        CHECK(mare_live_objects() <= few);
        CHECK_OK(mare_engine_destroy(engine));
        CHECK_NUMBER(mare_live_objects(), before);
    }
}

static void keeps_the_sandbox_shut(void) {
    static const char *const names[] = { "io", "require", "package", "debug", "ffi", "jit",
        "dofile", "loadfile", "getfenv", "setfenv", "newproxy", "module", "collectgarbage",
        "os.execute", "os.remove", "os.exit", "os.getenv", "os.setlocale", "os.rename",
        "os.tmpname", "string.dump", "coroutine.nothing" };
    mare_engine *engine;
    CHECK_OK(mare_engine_create(&(mare_engine_desc){ .flags = MARE_ENGINE_SANDBOX }, &engine));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mare_value value = mare_value_string("x");
        CHECK_OK(mare_engine_get(engine, names[i], &value));
        CHECK_NUMBER(value.kind, MARE_VALUE_NIL);
    }
    static const char *const refused[] = {
        "getmetatable('').__index.rep = nil", "load(('\\27LJ'))()",
        "load(function() return '\\27LJ\\2' end)()", "getmetatable(print)()",
        "setmetatable('', {})", "return load('return io', 'x')().open",
        "return (function() return _G.io.open end)()",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK_FAILS(mare_engine_run(engine, refused[i], "t"), MARE_ERROR_SCRIPT, "");
    CHECK_OK(mare_engine_run(engine, "assert(('abc'):upper() == 'ABC') y = math.max(1, 2)", "t"));
    CHECK_OK(mare_engine_run(engine, "assert(_G.y == 2 and load('return y')() == 2)", "t"));
    CHECK_OK(mare_engine_destroy(engine));
}

static void log_to(void *context, uint32_t level, const char *text) {
    char *all = context;
    snprintf(all + strlen(all), 200 - strlen(all), "%u:%s|", level, text);
}

static void takes_what_is_printed(void) {
    static const char script[] = "print('a', 1) io.write('b', 2) io.stdout:write('\\nc')\n"
        "io.stderr:write('d\\n') io.output():write('e')";
    char text[200] = "";
    uint32_t level;
    mare_engine *engine;
    CHECK_OK(mare_engine_create(&(mare_engine_desc){ .log = log_to, .log_context = text },
                                &engine));
    CHECK_OK(mare_engine_run(engine, script, "t"));
    CHECK_TEXT(text, "3:a\t1|3:b2|2:d|3:ce|");
    CHECK_OK(mare_engine_destroy(engine));
    CHECK_OK(mare_engine_create(NULL, &engine));
    CHECK_OK(mare_engine_run(engine, script, "t"));
    CHECK(mare_engine_log_next(engine, &level, text, sizeof text));
    CHECK_TEXT(text, "a\t1");
    CHECK_NUMBER(level, MARE_LOG_INFO);
    CHECK(mare_engine_log_next(engine, &level, text, 2));
    CHECK_TEXT(text, "b");
    CHECK_OK(mare_engine_run(engine, "for i = 1, 1000 do print(i) end", "t"));
    int lines = 0;
    while (mare_engine_log_next(engine, &level, text, sizeof text)) lines++;
    CHECK_NUMBER(lines, 256);
    CHECK_TEXT(text, "1000");
    CHECK_OK(mare_engine_destroy(engine));
}

/* Standard output and error are a pipe meanwhile, in which nothing may arrive. */
static void leaves_the_process_alone(void) {
    int out = dup(1), err = dup(2), ends[2];
    struct sigaction before[NSIG], after;
    for (int s = 1; s < NSIG; s++) sigaction(s, NULL, &before[s]);
    CHECK(pipe(ends) == 0);
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    mare_engine *engine;
    CHECK_OK(mare_engine_create(NULL, &engine));
    mare_status printed = mare_engine_run(engine,
        "print 'x' io.stderr:write 'y' os.setlocale 'C.UTF-8'\n"
        "require('mare').device.open 'null'", "t");
    mare_status left = mare_engine_run(engine, "os.exit(3) never = 1", "t");
    mare_status failed = mare_engine_run(engine, "error 'z'", "t");
    CHECK_OK(mare_engine_destroy(engine));
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(ends[1]);
    char byte;
    CHECK(read(ends[0], &byte, 1) == 0);
    CHECK(printed == MARE_OK && left == MARE_ERROR_SCRIPT && failed == MARE_ERROR_SCRIPT);
    CHECK_TEXT(setlocale(LC_ALL, NULL), "C");
    for (int s = 1; s < NSIG; s++) {
        if (sigaction(s, NULL, &after)) continue;
        CHECK(after.sa_handler == before[s].sa_handler);
    }
    CHECK(getenv("HDF5_USE_FILE_LOCKING") == NULL);
}

typedef struct heap { size_t used, most, calls; } heap;

static void *allocate(void *context, void *block, size_t old_size, size_t new_size) {
    heap *h = context;
    h->calls++;
    h->used += new_size - (block ? old_size : 0);
    if (h->used > h->most) h->most = h->used;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

static void takes_memory_from_the_program(void) {
    heap h = { 0 };
    mare_engine *engine;
    CHECK_OK(mare_engine_create(&(mare_engine_desc){ .allocate = allocate, .allocate_context = &h,
        .memory = 8 << 20, .flags = MARE_ENGINE_COMPILED }, &engine));
    CHECK_NUMBER(mare_engine_memory(engine), h.used);
    CHECK_OK(mare_engine_run(engine, "t = {} for k = 1, 1e5 do t[k] = k end", "t"));
    CHECK(h.used > 800000 && h.calls > 1000);
    CHECK_NUMBER(mare_engine_memory(engine), h.used);
    CHECK_FAILS(mare_engine_run(engine, "for k = 1, 1e7 do t[k] = k .. '' end", "t"),
                MARE_ERROR_MEMORY, "the limit is 8388608");
    CHECK(h.most < 12 << 20);
    CHECK_OK(mare_engine_destroy(engine));
    CHECK_NUMBER(h.used, 0);
}

int main(void) {
    leaves_the_process_alone();
    stops_endless_scripts(0);
    stops_endless_scripts(MARE_ENGINE_SANDBOX);
    limits_memory();
    takes_memory_from_the_program();
    gives_back_what_it_made("d:event()");
    gives_back_what_it_made("d:stream()");
    keeps_the_sandbox_shut();
    takes_what_is_printed();
    return check_result();
}
