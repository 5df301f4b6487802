/* begin.c - a program with a loop of its own: a script runs on a thread of the engine's, takes a
 * table and returns one, and its end comes to the loop as an event.
 *
 *   cc begin.c $(pkg-config --cflags --libs mare_engine) -o begin && ./begin
 */
#include <mare_engine.h>

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static const char script[] =
    "function mean(t)\n"
    "    local sum = 0\n"
    "    for _, depth in ipairs(t.depths) do sum = sum + depth end\n"
    "    return { name = t.name, mean = sum / #t.depths }\n"
    "end";

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, mare_error_message());
    return 1;
}

/* Called on the engine's thread, when all has ended. */
static void wake(void *context) {
    const int *ends = context;
    if (write(ends[1], "", 1) != 1) perror("write");
}

/* What else the program waits for, its sockets and timers, would be in the list, too. */
static void wait_for_events(const int *ends) {
    struct pollfd events[1] = { { ends[0], POLLIN, 0 } };
    char byte;
    while (poll(events, 1, -1) < 1 || read(ends[0], &byte, 1) != 1) {}
}

int main(void) {
    mare_engine *engine;
    int ends[2];
    int32_t done;
    double depths[] = { 20, 30, 70 };
    mare_value_pair fields[2];
    mare_value table, mean;
    if (pipe(ends) != 0 || mare_engine_create(NULL, &engine) != MARE_OK) return fail("create");
    if (mare_engine_run(engine, script, "script") != MARE_OK) return fail("run");

    fields[0] = mare_value_field("name", mare_value_string("North Sea"));
    fields[1] = mare_value_field("depths", mare_value_array(MARE_TYPE_DOUBLE, depths, 3));
    table = mare_value_table(fields, 2);
    if (mare_engine_begin_call(engine, "mean", &table, 1, wake, ends) != MARE_OK)
        return fail("begin");
    wait_for_events(ends);
    if (mare_engine_wait(engine, UINT64_MAX, &done) != MARE_OK) return fail("mean");

    mare_engine_result(engine, 0, &mean);
    printf("%s: %g m\n", (const char *)mare_value_at(&mean, "name")->data,
           mare_value_at(&mean, "mean")->number);
    mare_engine_destroy(engine);
    return 0;
}
