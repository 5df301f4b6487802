/* program.c PLUGIN [scenario] - a program with a Lua of its own, of any version, holds an engine:
 * the two have functions of the same names and know nothing of each other. PLUGIN is a C module for
 * that Lua, which embeds Mare, too. With a third word it also steps a scenario: that costs 1 s. */
#include "check.h"
#include "mare_engine.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static lua_State *own;

static double own_number(const char *text) {
    CHECK(luaL_loadstring(own, text) == 0);
    if (!CHECK(lua_pcall(own, 0, 1, 0) == 0))
        fprintf(stderr, "the program's Lua: %s\n", lua_tostring(own, -1));
    double number = lua_tonumber(own, -1);
    lua_pop(own, 1);
    return number;
}

/* Called by the engine's Lua: asks the program's. */
static mare_status ask_program(void *context, const mare_value *arguments, uint64_t argument_count,
                            mare_value *results, uint64_t room, uint64_t *count) {
    (void)context;
    CHECK_NUMBER(argument_count, 1);
    CHECK(room > 0);
    lua_pushnumber(own, arguments[0].number);
    lua_setglobal(own, "x");
    results[0] = mare_value_number(own_number("return x * factor"));
    *count = 1;
    return MARE_OK;
}

static double engine_number(mare_engine *engine, const char *text) {
    mare_value value;
    CHECK_OK(mare_engine_evaluate(engine, text, "guest", &value));
    return value.number;
}

/* An error flies through each of them while the other one waits. */
static void errors_stay_apart(mare_engine *engine) {
    CHECK_FAILS(mare_engine_run(engine, "error 'of the guest'", "guest"), MARE_ERROR_SCRIPT,
                "of the guest");
    CHECK(luaL_loadstring(own, "error('of the program')") == 0 && lua_pcall(own, 0, 0, 0) != 0);
    CHECK(strstr(lua_tostring(own, -1), "of the program") != NULL);
    lua_pop(own, 1);
}

static void steps_a_scenario(mare_engine *engine) {
    static const char *const options[] = { "--nx=32", "--ny=16", NULL };
    mare_scenario *scenario = NULL;
    mare_scenario_progress now = { 0 };
    mare_backend_info opencl, cuda;
    CHECK_OK(mare_backend_query(0, &cuda));
    CHECK_OK(mare_backend_query(1, &opencl));
    if (!cuda.device_count && !opencl.device_count) {
        printf("skipped: no device for a scenario\n");
        return;
    }
    CHECK_OK(mare_scenario_open(engine, "kelvin_helmholtz", options, &scenario));
    CHECK_OK(mare_scenario_step(scenario, 3));
    CHECK_OK(mare_scenario_read(scenario, &now));
    CHECK_NUMBER(now.steps, 3);
    CHECK_OK(mare_scenario_close(scenario));
}

/* The engine's own functions work on its state, and are not the program's. */
static void shows_its_own_calls(mare_engine *engine) {
    void (*push)(void *, double);
    double (*read)(void *, int);
    void (*settop)(void *, int);
    void *found[] = { mare_engine_lua_function("lua_pushnumber"),
        mare_engine_lua_function("lua_tonumber"), mare_engine_lua_function("lua_settop") };
    memcpy(&push, &found[0], sizeof push);
    memcpy(&read, &found[1], sizeof read);
    memcpy(&settop, &found[2], sizeof settop);
    CHECK(found[0] && found[0] != (void *)(uintptr_t)&lua_pushnumber);
    CHECK(!mare_engine_lua_function("lua_callk") && !mare_engine_lua_function(NULL));
    push(mare_engine_lua(engine), 6.5);
    CHECK_NUMBER(read(mare_engine_lua(engine), -1), 6.5);
    settop(mare_engine_lua(engine), -2);
}

int main(int argc, char **argv) {
    own = luaL_newstate();
    luaL_openlibs(own);
    mare_engine *engine = NULL;
    if (CHECK_OK(mare_engine_create(NULL, &engine))) {
        CHECK_NUMBER(own_number("factor = 2; return factor"), 2);
        CHECK_OK(mare_engine_register(engine, "ask_program", ask_program, NULL));
        CHECK_NUMBER(engine_number(engine, "return ask_program(21)"), 42);
        CHECK_NUMBER(engine_number(engine, "return factor == nil and jit.version_num"), 20199);
        errors_stay_apart(engine);
        shows_its_own_calls(engine);
        if (argc == 3) steps_a_scenario(engine);
        CHECK_NUMBER(own_number("local n = 0 for k = 1, 1e5 do n = n + k end return n"),
                     5000050000);
    }
    CHECK_OK(mare_engine_destroy(engine));
    if (argc >= 2) {
        lua_pushstring(own, argv[1]);
        lua_setglobal(own, "plugin");
        CHECK_NUMBER(own_number("local open = assert(package.loadlib(plugin, 'luaopen_plugin'))\n"
                                 "local run = open()\n"
                                 "local ok, message = pcall(run, 'error \"of the plugin\"')\n"
                                 "assert(not ok and message:find('of the plugin'), message)\n"
                                 "return run('return 6 * 7')"), 42);
    }
    lua_close(own);
    return check_result();
}
