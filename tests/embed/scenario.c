/* scenario.c - a scenario stepped from a program's loop: its progress, its fields on the host and
 * its unknowns on the device, interrupts, and what is refused. */
#include "check.h"
#include "mare_engine.h"

#include <math.h>

static mare_engine *engine;
static mare_scenario *scenario;

static mare_scenario_progress now(void) {
    mare_scenario_progress progress;
    CHECK_OK(mare_scenario_read(scenario, &progress));
    return progress;
}

static void steps_and_runs(void) {
    CHECK_NUMBER(now().steps, 0);
    CHECK_NUMBER(now().nx, 32);
    CHECK_NUMBER(now().ny, 16);
    CHECK_NUMBER(now().t_end, 0.05);
    CHECK_OK(mare_scenario_step(scenario, 3));
    CHECK_NUMBER(now().steps, 3);
    CHECK(now().t > 0 && now().dt > 0 && now().fraction < 1 && now().cells_per_second > 0);
    CHECK_OK(mare_scenario_run(scenario, 0.04));
    CHECK(now().t == 0.04);
    CHECK_FAILS(mare_scenario_run(scenario, 0.01), MARE_ERROR_ARGUMENT, "0.01", "0.04");
    CHECK_FAILS(mare_scenario_run(scenario, NAN), MARE_ERROR_ARGUMENT, "nan");
    CHECK_FAILS(mare_scenario_step(scenario, 0), MARE_ERROR_ARGUMENT, "step(0)");
    CHECK_OK(mare_scenario_run(scenario, INFINITY));
    CHECK(now().t == 0.05 && now().fraction == 1);
}

static void shows_fields(void) {
    mare_scenario_values rho, bad;
    CHECK_OK(mare_scenario_field(scenario, "rho", &rho));
    CHECK(rho.nx == 32 && rho.ny == 16 && rho.type == MARE_TYPE_FLOAT);
    const float *values = rho.data;
    double mass = 0;
    for (int k = 0; k < 32 * 16; k++) mass += (double)values[k];
    CHECK(fabs(mass / (32 * 16) - 1.5) < 0.05);
    CHECK_FAILS(mare_scenario_field(scenario, "salt", &bad), MARE_ERROR_ARGUMENT, "salt", "rho");
    CHECK(!bad.data);
    mare_scenario_part part;
    CHECK_OK(mare_scenario_state(scenario, 0, &part));
    CHECK(part.nx == 32 && part.ny == 16 && part.unknowns == 4 && part.type == MARE_TYPE_FLOAT);
    float cell;
    for (uint64_t j = 0; j < 16; j += 5) {
        uint64_t at = (part.offset + j * part.stride + 7) * sizeof cell;
        CHECK_OK(mare_buffer_download(part.buffer, at, &cell, sizeof cell, NULL));
        CHECK(cell == values[j * 32 + 7]);
    }
    CHECK_FAILS(mare_scenario_state(scenario, 1, &part), MARE_ERROR_ARGUMENT, "part 1");
}

static void stops_when_asked(void) {
    mare_engine_interrupt(engine);
    CHECK_FAILS(mare_scenario_run(scenario, 1), MARE_ERROR_INTERRUPTED, "interrupted");
    CHECK_OK(mare_scenario_step(scenario, 1));
    CHECK(now().t > now().t_end && now().fraction == 1);
    CHECK_FAILS(mare_engine_destroy(engine), MARE_ERROR_ARGUMENT, "open scenarios");
}

static void refuses_set_ups(void) {
    mare_scenario *none;
    CHECK_FAILS(mare_scenario_open(engine, "moonquake", NULL, &none), MARE_ERROR_ARGUMENT,
                "moonquake", "kelvin_helmholtz");
    CHECK(!none);
    CHECK_FAILS(mare_scenario_open(engine, "sod", (const char *[]){ "--nx=1", NULL }, &none),
                MARE_ERROR_ARGUMENT, "--nx", "4");
    CHECK_FAILS(mare_scenario_open(engine, "sod", (const char *[]){ "--salt=1", NULL }, &none),
                MARE_ERROR_ARGUMENT, "salt");
    CHECK_FAILS(mare_scenario_open(engine, "sod", (const char *[]){ "--device=none", NULL }, &none),
                MARE_ERROR_ARGUMENT, "none");
    CHECK_FAILS(mare_scenario_open(engine, "sod", (const char *[]){ "--help", NULL }, &none),
                MARE_ERROR_ARGUMENT, "without a simulation");
    CHECK_FAILS(mare_scenario_open(engine, NULL, NULL, &none), MARE_ERROR_ARGUMENT, "name");
}

int main(void) {
    mare_backend_info opencl, cuda;
    CHECK_OK(mare_backend_query(0, &cuda));
    CHECK_OK(mare_backend_query(1, &opencl));
    if (!cuda.device_count && !opencl.device_count) return check_skip("no device");
    static const char *const options[] = { "--nx=32", "--ny=16", "--t-end=0.05", NULL };
    CHECK_OK(mare_engine_create(NULL, &engine));
    if (check_ok(mare_scenario_open(engine, "kelvin_helmholtz", options, &scenario), __FILE__,
                 __LINE__, "open")) {
        steps_and_runs();
        shows_fields();
        stops_when_asked();
    }
    CHECK_OK(mare_scenario_close(scenario));
    refuses_set_ups();
    CHECK_OK(mare_engine_destroy(engine));
    CHECK_NUMBER(mare_live_objects(), 0);
    return check_result();
}
