/* loader.c LIBRARY COPY - a program that knows Mare only by dlopen: the engine is loaded with
 * RTLD_LOCAL, as plugins and Python are, and a copy of its file beside it. */
#include "mare_engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct api {
    mare_status (*create)(const mare_engine_desc *, mare_engine **);
    mare_status (*run)(mare_engine *, const char *, const char *);
    mare_status (*result)(const mare_engine *, uint64_t, mare_value *);
    mare_status (*open)(mare_engine *, const char *, const char *const *, mare_scenario **);
    mare_status (*step)(mare_scenario *, uint64_t);
    mare_status (*close)(mare_scenario *);
    mare_status (*destroy)(mare_engine *);
    const char *(*message)(void);
} api;

static void find(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    *(void **)out = symbol;
}

static api load(const char *path) {
    api a;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    find(library, "mare_engine_create", &a.create);
    find(library, "mare_engine_run", &a.run);
    find(library, "mare_engine_result", &a.result);
    find(library, "mare_engine_destroy", &a.destroy);
    find(library, "mare_scenario_open", &a.open);
    find(library, "mare_scenario_step", &a.step);
    find(library, "mare_scenario_close", &a.close);
    find(library, "mare_error_message", &a.message);
    return a;
}

static void check(const api *a, mare_status status, const char *what) {
    if (status == MARE_OK) return;
    fprintf(stderr, "%s: %s\n", what, a->message());
    exit(EXIT_FAILURE);
}

static mare_engine *begin(const api *a, mare_scenario **scenario) {
    static const char *const options[] = { "--nx=32", "--ny=16", NULL };
    mare_engine *engine;
    check(a, a->create(NULL, &engine), "create");
    check(a, a->run(engine, "mine = (mine or 0) + 1; return mine", "script"), "run");
    check(a, a->open(engine, "kelvin_helmholtz", options, scenario), "open");
    return engine;
}

static int end(const api *a, mare_engine *engine, mare_scenario *scenario) {
    mare_value value;
    check(a, a->step(scenario, 2), "step");
    check(a, a->close(scenario), "close");
    check(a, a->run(engine, "return mine", "script"), "run");
    check(a, a->result(engine, 0, &value), "result");
    check(a, a->destroy(engine), "destroy");
    return value.number == 1;
}

int main(int argc, char **argv) {
    if (argc != 3) return EXIT_FAILURE;
    if (dlsym(RTLD_DEFAULT, "mare_engine_create")) return EXIT_FAILURE;
    api one = load(argv[1]), other = load(argv[2]);
    if (one.create == other.create) {
        fprintf(stderr, "both are one library\n");
        return EXIT_FAILURE;
    }
    mare_scenario *first, *second;
    mare_engine *a = begin(&one, &first), *b = begin(&other, &second);
    return end(&one, a, first) && end(&other, b, second) ? EXIT_SUCCESS : EXIT_FAILURE;
}
