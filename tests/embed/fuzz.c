/* fuzz.c - random scripts, values, names and options for an engine: each call may fail, none may
 * crash, hang or leak, and the engine must answer afterwards. Inputs are made from words that mean
 * something. As a program it does so for FUZZ_SECONDS (2) with the seed FUZZ_SEED (1); for
 * libFuzzer (MARE_SANITIZE=fuzzer) words are one half of its mutations, because no coverage leads
 * through an interpreter. A finding ends it there, which keeps the input.
 */
#include "mare_engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static mare_engine *engines[2];     /* plain and sandboxed */
static atomic_uint running;         /* which call, and 0 between calls: for the watch */
static uint64_t findings;

static const char uses[] = "function use(...) kept = {...} return ... end";

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
#ifdef FUZZ_ENTRY_ONLY
    abort();
#endif
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

static void try_options(unsigned which, const char *text) {
    static const char *const scenarios[] = { "sod", "kelvin_helmholtz", "dam_break", "thacker_bowl",
                                             "north_sea", "saxpy" };
    const char *name = scenarios[which % (sizeof scenarios / sizeof *scenarios)];
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
    if (mare_scenario_open(engines[0], name, list, &scenario) == MARE_OK || scenario)
        find("a scenario without a device", text);
    must_answer(engines[0], text);
}

static void try_script(unsigned which, const char *text) {
    begin(which);
    (void)mare_engine_run(engines[which], text, "fuzz");
    must_answer(engines[which], text);
    (void)mare_engine_run(engines[which], "kept = nil collectgarbage()", "t");
}

/* Gives back what it was given. */
static mare_status answer(void *context, const mare_value *arguments, uint64_t argument_count,
                          mare_value *results, uint64_t room, uint64_t *count) {
    (void)context;
    *count = argument_count < room ? argument_count : room;
    for (uint64_t i = 0; i < *count; i++) results[i] = arguments[i];
    return argument_count % 3 == 2 ? mare_error_set(MARE_ERROR_ARGUMENT, "two") : MARE_OK;
}

static void look_at_results(uint64_t index) {
    mare_value value;
    uint32_t level;
    char line[64];
    (void)mare_engine_result(engines[0], index, &value);
    for (uint64_t i = 0; i < mare_engine_result_count(engines[0]); i++)
        if (mare_engine_result(engines[0], i, &value)) find("no result", "look_at_results");
    while (mare_engine_log_next(engines[0], &level, line, index % sizeof line + 1)) continue;
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
    look_at_results(size);
    (void)mare_engine_register(engines[0], text, answer, NULL);
    (void)mare_engine_call(engines[0], text, values, size % 4);
    (void)mare_engine_run_file(engines[0], text);
    must_answer(engines[0], text);
    (void)mare_engine_run(engines[0], uses, "t");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!engines[0]) {
        pthread_t thread;
        mare_engine_desc desc = { .memory = 64 << 20 };
        if (mare_engine_create(&desc, &engines[0])) abort();
        desc.flags = MARE_ENGINE_SANDBOX;
        if (mare_engine_create(&desc, &engines[1])) abort();
        (void)mare_engine_run(engines[0], uses, "t");
        if (pthread_create(&thread, NULL, watch, NULL)) abort();
        pthread_detach(thread);
    }
    char text[2048];
    if (size < 1) return 0;
    size_t length = size - 1 < sizeof text - 1 ? size - 1 : sizeof text - 1;
    memcpy(text, data + 1, length);
    text[length] = '\0';
    switch (data[0] % 4) {
    case 0: try_options(data[0] / 4, text); break;
    case 1: try_values(data + 1, size - 1, text); break;
    default: try_script(1, text);           /* only the sandbox takes what anyone writes */
    }
    return 0;
}

/* ---- inputs of words ---- */

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

/* Words for what the first byte says, behind the first `used` bytes. */
static size_t add_words(uint8_t *out, size_t used, size_t room) {
    bool is_script = out[0] % 4 != 0;
    const char *const *list = is_script ? script_words : option_words;
    size_t length = (is_script ? sizeof script_words : sizeof option_words) / sizeof *list;
    for (uint32_t k = 1 + draw(24); k && used + 64 < room; k--) {
        const char *word = list[draw((uint32_t)length)];
        size_t size = strlen(word);
        memcpy(out + used, word, size);
        used += size;
        if (draw(20) == 0) out[used - 1 - draw((uint32_t)size)] = (uint8_t)draw(256);
    }
    return used;
}

#ifdef FUZZ_ENTRY_ONLY

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* Every other time words behind some of what was there. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    state = seed;
    if (size < 1 || draw(2)) return LLVMFuzzerMutate(data, size, max);
    return add_words(data, 1 + draw((uint32_t)size), max);
}

#else

static double setting(const char *name, double usual) {
    const char *text = getenv(name);
    return text ? atof(text) : usual;
}

int main(void) {
    uint8_t input[2048];
    uint64_t count = 0;
    time_t end = time(NULL) + (time_t)setting("FUZZ_SECONDS", 2);
    state = (uint64_t)setting("FUZZ_SEED", 1);
    for (; time(NULL) < end; count++) {
        input[0] = (uint8_t)draw(256);
        LLVMFuzzerTestOneInput(input, add_words(input, 1, sizeof input));
    }
    printf("%llu inputs, %llu findings\n", (unsigned long long)count, (unsigned long long)findings);
    return findings != 0;
}

#endif
