/* events.c - a program that hears of progress and warnings as events, not as lines: what
 * they hold, when they come, and that it can interrupt from within, but not call the engine. */
#include "check.h"
#include "mare_engine.h"

#include <string.h>

static mare_engine *engine;

/* What the program has heard of. */
typedef struct heard {
    int total, progress, warnings, unsorted, wrong_threads;
    double percent, step;
    char warning[256];
    bool interrupts;
    mare_status inner;              /* of a call of the engine from within */
} heard;

static double number_of(const mare_engine_event *event, const char *name) {
    const mare_value *value = mare_event_value(event, name);
    return value && value->kind == MARE_VALUE_NUMBER ? value->number : -1;
}

static void hear(void *context, const mare_engine_event *event) {
    heard *h = context;
    h->total++;
    h->wrong_threads += mare_engine_lua(engine) == NULL;
    for (uint64_t k = 1; k < event->field_count; k++)
        h->unsorted += strcmp(event->fields[k - 1].name, event->fields[k].name) >= 0;
    if (!strcmp(event->kind, "progress")) {
        h->progress++;
        h->percent = number_of(event, "percent");
        h->step = number_of(event, "step");
        CHECK(event->message && number_of(event, "cells_per_second") > 0);
        CHECK(mare_event_value(event, "quiet")->kind == MARE_VALUE_BOOLEAN);
        if (h->interrupts) mare_engine_interrupt(engine);
    } else if (!strcmp(event->kind, "warning")) {
        h->warnings++;
        snprintf(h->warning, sizeof h->warning, "%s", event->message);
        h->inner = mare_engine_run(engine, "x = 1", "within");
    }
}

static void tells_warnings(void) {
    heard h = { 0 };
    static const char warn[] = "require('mare.base.events').warn('%s is odd', 'this')";
    CHECK_OK(mare_engine_listen(engine, hear, &h, 10));
    CHECK_OK(mare_engine_run(engine, warn, "script"));
    CHECK(h.total == 1 && h.warnings == 1 && !strcmp(h.warning, "this is odd"));
    CHECK(h.inner == MARE_ERROR_ARGUMENT);
    uint32_t level;
    char line[128];
    CHECK(mare_engine_log_next(engine, &level, line, sizeof line) && level == MARE_LOG_WARN);
    CHECK_TEXT(line, "mare: warning: this is odd");
    CHECK_OK(mare_engine_listen(engine, NULL, NULL, 0));
    CHECK_OK(mare_engine_run(engine, warn, "script"));
    CHECK_NUMBER(h.total, 1);
}

/* Writes "name=value " of each field into a text. */
static void list_fields(void *context, const mare_engine_event *event) {
    char *text = context;
    for (uint64_t k = 0; k < event->field_count; k++) {
        const mare_value *value = &event->fields[k].value;
        text += sprintf(text, "%s=", event->fields[k].name);
        if (value->kind == MARE_VALUE_NUMBER) text += sprintf(text, "%g ", value->number);
        else if (value->kind == MARE_VALUE_BOOLEAN)
            text += sprintf(text, "%s ", value->number != 0 ? "true" : "false");
        else text += sprintf(text, "'%s'%d ", (const char *)value->data, (int)value->count);
    }
    strcpy(text, event->message ? event->message : "no message");
}

static void tells_every_kind_of_value(void) {
    static const char tell[] =
        "require('mare.base.events').tell('files', { paths = { 'a', 'bc' }, n = 2.5, ok = true,\n"
        "    deep = { er = { x = 7 } }, text = 'a\\0b', long = 5LL, no = false })";
    char text[512] = "";
    CHECK_OK(mare_engine_listen(engine, list_fields, text, 0));
    CHECK_OK(mare_engine_run(engine, tell, "script"));
    CHECK_OK(mare_engine_listen(engine, NULL, NULL, 0));
    CHECK_TEXT(text, "deep.er.x=7 long='5LL'3 n=2.5 no=false ok=true paths.1='a'1 paths.2='bc'2 "
                     "text='a'3 no message");
}

static void refuses(void) {
    CHECK_FAILS(mare_engine_listen(NULL, hear, NULL, 0), MARE_ERROR_ARGUMENT, "engine is NULL");
    CHECK_FAILS(mare_engine_listen(engine, hear, NULL, -1), MARE_ERROR_ARGUMENT, "pause");
}

static mare_scenario *open(void) {
    static const char *const options[] = { "--nx=32", "--ny=16", "--t-end=0.05", NULL };
    mare_scenario *scenario = NULL;
    CHECK_OK(mare_scenario_open(engine, "kelvin_helmholtz", options, &scenario));
    return scenario;
}

static void tells_of_runs(void) {
    heard h = { 0 };
    mare_scenario_progress now = { 0 };
    CHECK_OK(mare_engine_listen(engine, hear, &h, 0));
    mare_scenario *scenario = open();
    CHECK_OK(mare_scenario_run(scenario, 0.05));
    CHECK_OK(mare_scenario_read(scenario, &now));
    CHECK(h.progress > 0 && h.percent > 0 && h.percent <= 100 && h.step > 0);
    CHECK(h.step <= (double)now.steps && h.unsorted == 0 && h.wrong_threads == 0);
    CHECK_OK(mare_scenario_close(scenario));
    h = (heard){ .interrupts = true };
    scenario = open();
    CHECK_FAILS(mare_scenario_run(scenario, 0.05), MARE_ERROR_INTERRUPTED, "interrupted");
    CHECK(h.progress == 1);
    CHECK_OK(mare_scenario_close(scenario));
    CHECK_OK(mare_engine_listen(engine, NULL, NULL, 0));
}

int main(void) {
    mare_backend_info opencl, cuda;
    CHECK_OK(mare_backend_query(0, &cuda));
    CHECK_OK(mare_backend_query(1, &opencl));
    CHECK_OK(mare_engine_create(NULL, &engine));
    tells_warnings();
    tells_every_kind_of_value();
    refuses();
    if (cuda.device_count || opencl.device_count) tells_of_runs();
    CHECK_OK(mare_engine_destroy(engine));
    CHECK_NUMBER(mare_live_objects(), 0);
    return check_result();
}
