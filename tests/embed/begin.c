/* begin.c - what an engine does while its program goes on: scripts, functions and scenarios that
 * wake the program through a pipe, what is refused meanwhile, and interrupts. */
#include "check.h"
#include "mare_engine.h"

#include <math.h>
#include <poll.h>
#include <unistd.h>

static mare_engine *engine;
static int ends[2];

static void wake(void *context) { CHECK(write(ends[1], context, 1) == 1); }

/* The program's loop: it sleeps until there is something for it. */
static char next_event(void) {
    struct pollfd of_engine = { .fd = ends[0], .events = POLLIN };
    char byte = 0;
    CHECK(poll(&of_engine, 1, 60000) == 1);
    CHECK(read(ends[0], &byte, 1) == 1);
    return byte;
}

static mare_status wait_for_end(void) {
    int32_t done = 0;
    mare_status status = mare_engine_wait(engine, UINT64_MAX, &done);
    CHECK_NUMBER(done, 1);
    return status;
}

static mare_value result(uint64_t index) {
    mare_value value;
    CHECK_OK(mare_engine_result(engine, index, &value));
    return value;
}

static void runs_and_wakes(void) {
    char text[] = "function twice(t) return { 2 * t.x[1], t.name } end return 'begun'";
    CHECK_OK(mare_engine_begin(engine, text, "script", wake, "r"));
    memset(text, '?', sizeof text - 1);
    CHECK_NUMBER(next_event(), 'r');
    CHECK_OK(wait_for_end());
    CHECK_TEXT(result(0).data, "begun");
    double x = 21;
    mare_value_pair pairs[] = { mare_value_field("x", mare_value_array(MARE_TYPE_DOUBLE, &x, 1)),
                                mare_value_field("name", mare_value_string("sea")) };
    mare_value table = mare_value_table(pairs, 2);
    CHECK_OK(mare_engine_begin_call(engine, "twice", &table, 1, wake, "c"));
    CHECK_NUMBER(next_event(), 'c');
    CHECK_OK(wait_for_end());
    CHECK_NUMBER(result(0).kind, MARE_VALUE_LIST);
    CHECK_NUMBER(((const mare_value *)result(0).data)->number, 42);
}

static void tells_failures(void) {
    CHECK_OK(mare_engine_begin(engine, "local t = nil\nreturn t.x", "wrong", NULL, NULL));
    CHECK_FAILS(wait_for_end(), MARE_ERROR_SCRIPT, "wrong:2:");
    CHECK_NUMBER(mare_engine_result_count(engine), 0);
    CHECK(strstr(mare_engine_traceback(engine), "wrong:2:") != NULL);
    CHECK_OK(mare_engine_begin(engine, "os.exit(3)", "t", NULL, NULL));
    CHECK_FAILS(wait_for_end(), MARE_ERROR_SCRIPT, "os.exit(3)");
    CHECK_NUMBER(mare_engine_exit_code(engine), 3);
    CHECK_FAILS(mare_engine_begin(engine, NULL, "t", NULL, NULL), MARE_ERROR_ARGUMENT, "a text");
}

static void refuses_meanwhile(void) {
    int32_t done = 1;
    mare_value value;
    CHECK_FAILS(mare_engine_wait(engine, 0, &done), MARE_ERROR_ARGUMENT, "has begun nothing");
    CHECK_OK(mare_engine_begin(engine, "while true do end", "t", wake, "i"));
    CHECK_OK(mare_engine_wait(engine, 10, &done));
    CHECK_NUMBER(done, 0);
    CHECK_FAILS(mare_engine_run(engine, "return 1", "t"), MARE_ERROR_ARGUMENT, "mare_engine_wait");
    CHECK_FAILS(mare_engine_begin(engine, "return 1", "t", NULL, NULL), MARE_ERROR_ARGUMENT,
                "mare_engine_wait");
    CHECK_FAILS(mare_engine_destroy(engine), MARE_ERROR_ARGUMENT, "mare_engine_wait");
    CHECK_FAILS(mare_engine_result(engine, 0, &value), MARE_ERROR_ARGUMENT, "0 results");
    CHECK(!mare_engine_lua(engine));
    mare_engine_interrupt(engine);
    CHECK_NUMBER(next_event(), 'i');
    CHECK_FAILS(wait_for_end(), MARE_ERROR_INTERRUPTED, "interrupted");
    CHECK_OK(mare_engine_run(engine, "return 1", "t"));
}

static void runs_a_scenario(void) {
    static const char *const options[] = { "--nx=32", "--ny=16", "--t-end=0.05", NULL };
    mare_scenario *scenario = NULL;
    mare_scenario_progress progress;
    CHECK_OK(mare_scenario_open(engine, "kelvin_helmholtz", options, &scenario));
    CHECK_OK(mare_scenario_begin(scenario, INFINITY, wake, "s"));
    CHECK_FAILS(mare_scenario_read(scenario, &progress), MARE_ERROR_ARGUMENT, "mare_engine_wait");
    CHECK_NUMBER(next_event(), 's');
    CHECK_OK(wait_for_end());
    CHECK_OK(mare_scenario_read(scenario, &progress));
    CHECK_NUMBER(progress.t, 0.05);
    CHECK_OK(mare_scenario_begin(scenario, 0.01, NULL, NULL));
    CHECK_FAILS(wait_for_end(), MARE_ERROR_ARGUMENT, "0.01");
    CHECK_OK(mare_scenario_close(scenario));
}

int main(void) {
    mare_device *device = NULL;
    CHECK(pipe(ends) == 0);
    CHECK_OK(mare_engine_create(NULL, &engine));
    runs_and_wakes();
    tells_failures();
    refuses_meanwhile();
    if (mare_device_open("auto", &device) == MARE_OK) {
        mare_device_release(device);
        runs_a_scenario();
    } else {
        printf("no device for a scenario: %s\n", mare_error_message());
    }
    CHECK_OK(mare_engine_destroy(engine));
    return check_result();
}
