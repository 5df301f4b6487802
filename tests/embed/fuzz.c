/* fuzz.c - random scripts, values, names and options for an engine: each call may fail, none may
 * crash, hang or leak, and the engine must answer afterwards. As a program it makes inputs from
 * words that mean something, for FUZZ_SECONDS (2) with the seed FUZZ_SEED (1). For libFuzzer:
 *     clang -g -fsanitize=fuzzer,address -DFUZZ_ENTRY_ONLY tests/embed/fuzz.c ... -lmare_engine
 */
#include "mare_engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static mare_engine *engines[2];     /* plain and sandboxed */
static atomic_uint running;         /* which call, and 0 between calls: for the watch */
static uint64_t findings;

enum { PATIENCE_MS = 100 };

/* ---- what runs too long is interrupted ---- */

static void *watch(void *unused) {
    unsigned seen = 0;
    for (;;) {
        nanosleep(&(struct timespec){ .tv_nsec = PATIENCE_MS * 1000000L }, NULL);
        unsigned now = atomic_load(&running);
        if (now && now == seen) mare_engine_interrupt(engines[now & 1]);
        seen = now;
    }
    return unused;
}

static void begin(unsigned which) {
    static unsigned number;
    atomic_store(&running, (++number << 1 | which) + 2);
}

static void find(const char *what, const char *input) {
    findings++;
    fprintf(stderr, "%s: %s\n    after: %s\n", what, mare_error_message(), input);
}

/* An interrupt that came late ends the first question. */
static void must_answer(mare_engine *engine, const char *input) {
    mare_value value;
    atomic_store(&running, 0);
    if (mare_engine_run(engine, "return 41 + 1", "t") != MARE_OK &&
        mare_engine_run(engine, "return 41 + 1", "t") != MARE_OK) find("no answer", input);
    else if (mare_engine_result(engine, 0, &value) || value.number != 42) find("wrong", input);
}

/* ---- one input: what to do with it is in its first byte ---- */

static void try_options(const char *text) {
    static char words[4096];
    const char *list[64];
    size_t count = 0;
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok(words, "\n"); word && count < 60; word = strtok(NULL, "\n"))
        list[count++] = word;
    list[count++] = "--device=none";        /* nothing is set up */
    list[count] = NULL;
    mare_scenario *scenario = NULL;
    begin(0);
    if (mare_scenario_open(engines[0], "sod", list, &scenario) == MARE_OK || scenario)
        find("a scenario without a device", text);
    must_answer(engines[0], text);
}

static void try_script(unsigned which, const char *text) {
    begin(which);
    (void)mare_engine_run(engines[which], text, "fuzz");
    must_answer(engines[which], text);
    (void)mare_engine_run(engines[which], "kept = nil collectgarbage()", "t");
}

static void try_values(const uint8_t *data, size_t size, const char *text) {
    float floats[4] = { 1, 2, 3, 4 };
    mare_value values[4];
    for (size_t i = 0; i < 4; i++) {
        uint8_t byte = i < size ? data[i] : 0;
        values[i] = mare_value_string(text);
        values[i].kind = byte % 8;
        values[i].type = byte / 8 % 16;
        values[i].number = byte * 1e300 * byte;
        if (values[i].kind == MARE_VALUE_BUFFER) values[i].buffer = NULL;
        if (values[i].kind == MARE_VALUE_ARRAY)
            values[i].data = byte & 128 ? NULL : floats, values[i].count = byte % 3;
    }
    begin(0);
    (void)mare_engine_set(engines[0], text, &values[0]);
    (void)mare_engine_get(engines[0], text, &values[3]);
    (void)mare_engine_call(engines[0], "use", values, size % 4);
    must_answer(engines[0], text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!engines[0]) {
        pthread_t thread;
        mare_engine_desc desc = { .memory = 64 << 20 };
        if (mare_engine_create(&desc, &engines[0])) abort();
        desc.flags = MARE_ENGINE_SANDBOX;
        if (mare_engine_create(&desc, &engines[1])) abort();
        (void)mare_engine_run(engines[0], "function use(...) kept = {...} return ... end", "t");
        if (pthread_create(&thread, NULL, watch, NULL)) abort();
        pthread_detach(thread);
    }
    char text[2048];
    if (size < 1) return 0;
    size_t length = size - 1 < sizeof text - 1 ? size - 1 : sizeof text - 1;
    memcpy(text, data + 1, length);
    text[length] = '\0';
    switch (data[0] % 4) {
    case 0: try_options(text); break;
    case 1: try_values(data + 1, size - 1, text); break;
    default: try_script(1, text);           /* only the sandbox takes what anyone writes */
    }
    return 0;
}

#ifndef FUZZ_ENTRY_ONLY

static uint64_t state;

static uint32_t draw(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static const char *const script_words[] = {
    "local a = ", "x", "y", " = ", "function f(...) ", "return ", "end ", "while true do ",
    "for i = 1, 1e9 do ", "if x then ", "pcall(", "xpcall(f, f) ", "error(",
    "setmetatable({}, { __index = ",
    "__tostring = f, __call = f", "{", "}", "(", ")", "'%s%5d'", "('x'):rep(1e6)", "..", " + ", "#",
    "nil", "1e308", "-1", "0x7fffffff", "string.format(", "table.concat(", "table.sort(t, f) ",
    "t = {} ", "t[#t + 1] = t ", "coroutine.wrap(f)(", "select('#', ", "unpack(t, 1, 1e7) ", "f()",
    "load('return ' .. x)", "tostring(", "getmetatable(''", "string.gsub(x, '.', f) ", ", ", "\n",
    "print(x) ", "math.random(0)", "bit.lshift(1, x) ", "string.find(x, '%b()', 1) ", "goto l ",
    "::l:: ", "--[[", "]]", "\"", "\\", "next(t, x) ", "rawset(t, nil, 1) ", "rawset(_G, x, f) ",
};
static const char *const option_words[] = {
    "--nx", "--nx=64", "=", "--ny=", "-1", "1e400", "nan", "inf", "0x10", "--t-end=", "--flux=hllc",
    "--flux=", "--help", "-h", "--quiet", "--no-quiet", "--decompose=", "2x2", "x", "\n", "--", "-",
    "--out=/nowhere/x.nc", "--times=1,2", ",", "--precision=double", "--cfl=0.3", " ", "%s%n", "'",
    "--region=", "0,1,0,1", "--wall-limit=1h", "--gauges=", "a:1,2;3", "--seed=4294967296",
};

static size_t make_input(uint8_t *out, size_t room) {
    size_t used = 1;
    out[0] = (uint8_t)draw(4);
    for (uint32_t k = 1 + draw(24); k && used + 64 < room; k--) {
        const char *word = out[0] ? script_words[draw(sizeof script_words / sizeof *script_words)]
                                  : option_words[draw(sizeof option_words / sizeof *option_words)];
        size_t size = strlen(word);
        memcpy(out + used, word, size);
        used += size;
        if (draw(20) == 0) out[used - 1 - draw((uint32_t)size)] = (uint8_t)draw(256);
    }
    return used;
}

static double setting(const char *name, double usual) {
    const char *text = getenv(name);
    return text ? atof(text) : usual;
}

int main(void) {
    uint8_t input[2048];
    uint64_t count = 0;
    time_t end = time(NULL) + (time_t)setting("FUZZ_SECONDS", 2);
    state = (uint64_t)setting("FUZZ_SEED", 1);
    for (; time(NULL) < end; count++)
        LLVMFuzzerTestOneInput(input, make_input(input, sizeof input));
    printf("%llu inputs, %llu findings\n", (unsigned long long)count, (unsigned long long)findings);
    return findings != 0;
}

#endif
