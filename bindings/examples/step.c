/* step.c - the Kelvin-Helmholtz scenario, stepped from the program's own loop; a field is read
 * where it lies.
 *     cc -std=c99 step.c $(pkg-config --cflags --libs mare_engine) -o step */
#include <mare_engine.h>
#include <stdio.h>

static mare_status show(mare_scenario *scenario) {
    mare_scenario_progress now;
    mare_scenario_values rho;
    mare_status status = mare_scenario_read(scenario, &now);
    if (status == MARE_OK) status = mare_scenario_field(scenario, "rho", &rho);
    if (status != MARE_OK) return status;
    const float *values = rho.data;
    double mass = 0;
    for (uint32_t k = 0; k < rho.nx * rho.ny; k++) mass += (double)values[k];
    printf("step %3llu, %3.0f %% of the run: mean density %.6f\n", (unsigned long long)now.steps,
           100 * now.fraction, mass / ((double)rho.nx * rho.ny));
    return MARE_OK;
}

int main(void) {
    static const char *const options[] = { "--nx=64", "--ny=32", "--t-end=0.1", NULL };
    mare_engine *engine;
    mare_scenario *scenario = NULL;
    mare_status status = mare_engine_create(NULL, &engine);
    if (status == MARE_OK)
        status = mare_scenario_open(engine, "kelvin_helmholtz", options, &scenario);
    for (int k = 0; k < 3 && status == MARE_OK; k++) {
        status = mare_scenario_step(scenario, 4);
        if (status == MARE_OK) status = show(scenario);
    }
    if (status != MARE_OK) fprintf(stderr, "%s\n", mare_error_message());
    mare_scenario_close(scenario);
    mare_engine_destroy(engine);
    return status != MARE_OK;
}
