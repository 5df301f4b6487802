/* scripts.c - an engine runs texts and files, calls functions, and tells every failure as a status
 * and a message, after which it goes on. */
#include "check.h"
#include "mare_engine.h"

#include <pthread.h>
#include <unistd.h>

static mare_engine *engine;

static mare_value result(uint64_t index) {
    mare_value value;
    CHECK_OK(mare_engine_result(engine, index, &value));
    return value;
}

static void returns_results(void) {
    CHECK_OK(mare_engine_run(engine, "return 1.5, 'a\\0b', true, nil, {3, 4, 5}, print", "t"));
    CHECK_NUMBER(mare_engine_result_count(engine), 6);
    CHECK_NUMBER(result(0).number, 1.5);
    CHECK_NUMBER(result(1).count, 3);
    CHECK(!memcmp(result(1).data, "a\0b", 4));
    CHECK_NUMBER(result(2).kind, MARE_VALUE_BOOLEAN);
    CHECK_NUMBER(result(2).number, 1);
    CHECK_NUMBER(result(3).kind, MARE_VALUE_NIL);
    CHECK_NUMBER(result(4).kind, MARE_VALUE_ARRAY);
    CHECK_NUMBER(result(4).type, MARE_TYPE_DOUBLE);
    CHECK_NUMBER(result(4).count, 3);
    CHECK_NUMBER(((const double *)result(4).data)[2], 5);
    CHECK_NUMBER(result(5).kind, MARE_VALUE_OTHER);
    CHECK(strstr(result(5).data, "function") != NULL);
    mare_value value;
    CHECK_FAILS(mare_engine_result(engine, 6, &value), MARE_ERROR_ARGUMENT, "6 results", "6");
    CHECK_OK(mare_engine_run(engine, "return setmetatable({}, { __tostring = function() end })",
                             "t"));
    CHECK_NUMBER(result(0).kind, MARE_VALUE_OTHER);
    CHECK(!strcmp(result(0).data, ""));
}

static void evaluates(void) {
    mare_value value;
    CHECK_OK(mare_engine_evaluate(engine, "return 7, 8", "t", &value));
    CHECK_NUMBER(value.number, 7);
    CHECK_OK(mare_engine_evaluate(engine, "", "t", &value));
    CHECK_NUMBER(value.kind, MARE_VALUE_NIL);
    value.kind = MARE_VALUE_NUMBER;
    CHECK_FAILS(mare_engine_evaluate(engine, "error 'sunk'", "t", &value), MARE_ERROR_SCRIPT,
                "sunk");
    CHECK_NUMBER(value.kind, MARE_VALUE_NIL);
}

static void returns_memory_of_lua(void) {
    CHECK_OK(mare_engine_run(engine, "local a = require('ffi').new('float[4]', {1, 2, 3, 4})\n"
                                     "return a, require('ffi').new('int64_t', 7)", "t"));
    CHECK_NUMBER(result(0).type, MARE_TYPE_FLOAT);
    CHECK_NUMBER(result(0).count, 4);
    CHECK_NUMBER(((const float *)result(0).data)[3], 4);
    CHECK_NUMBER(result(1).number, 7);
    CHECK_OK(mare_engine_run(engine, "local d = require('mare').device.open 'null'\n"
                                     "local b = d:buffer { type = 'float', count = 3 }\n"
                                     "b:fill(5)\n"
                                     "return b:download()", "t"));
    CHECK_NUMBER(result(0).type, MARE_TYPE_FLOAT);
    CHECK_NUMBER(result(0).count, 3);
    CHECK_NUMBER(((const float *)result(0).data)[2], 5);
}

static const mare_value *at(const mare_value *list, uint64_t index) {
    CHECK_NUMBER(list->kind, MARE_VALUE_LIST);
    CHECK(index < list->count);
    return (const mare_value *)list->data + index;
}

static void returns_tables(void) {
    CHECK_OK(mare_engine_run(engine, "return { n = 3, [2] = 'two', [true] = {},\n"
        "sea = { 'a', { 1.5, 2.5 }, { deep = { 'b', print } } } }", "t"));
    mare_value table = result(0);
    const mare_value_pair *pairs = table.data;
    CHECK_NUMBER(table.kind, MARE_VALUE_TABLE);
    CHECK_NUMBER(table.count, 4);
    CHECK_NUMBER(pairs[0].key.kind, MARE_VALUE_BOOLEAN);
    CHECK_NUMBER(pairs[0].value.kind, MARE_VALUE_TABLE);
    CHECK_NUMBER(pairs[0].value.count, 0);
    CHECK_NUMBER(pairs[1].key.number, 2);
    CHECK_TEXT(pairs[2].key.data, "n");
    CHECK_NUMBER(mare_value_at(&table, "n")->number, 3);
    CHECK(!mare_value_at(&table, "none"));
    const mare_value *sea = mare_value_at(&table, "sea");
    CHECK_TEXT(at(sea, 0)->data, "a");
    CHECK_NUMBER(at(sea, 1)->kind, MARE_VALUE_ARRAY);
    CHECK_NUMBER(((const double *)at(sea, 1)->data)[1], 2.5);
    CHECK_TEXT(at(mare_value_at(at(sea, 2), "deep"), 0)->data, "b");
    CHECK_NUMBER(at(mare_value_at(at(sea, 2), "deep"), 1)->kind, MARE_VALUE_OTHER);
    static const char *const others[] = { "local t = {} t.t = t return t", "return _G",
        "return { [{}] = 1 }", "local t = {} for k = 1, 40 do t = { t, t } end return t" };
    for (int i = 0; i < 4; i++) {
        CHECK_OK(mare_engine_run(engine, others[i], "t"));
        CHECK_NUMBER(result(0).kind, MARE_VALUE_OTHER);
    }
}

static void takes_tables(void) {
    int32_t depths[] = { 3, 4 };
    mare_value names[] = { mare_value_string("rho"), mare_value_array(MARE_TYPE_INT32, depths, 2) };
    mare_value_pair inner[] = { mare_value_field("names", mare_value_list(names, 2)) };
    mare_value_pair pairs[] = { mare_value_field("nx", mare_value_number(64)),
                                mare_value_field("output", mare_value_table(inner, 1)),
                                { mare_value_number(7), mare_value_string("seven") } };
    mare_value table = mare_value_table(pairs, 3), empty = mare_value_list(NULL, 0);
    CHECK_OK(mare_engine_set(engine, "options", &table));
    CHECK_OK(mare_engine_set(engine, "nothing", &empty));
    CHECK_OK(mare_engine_run(engine, "local o = options\n"
        "return o.nx + o.output.names[2][1] + o.output.names[2][2], o.output.names[1] .. o[7],\n"
        "#nothing", "t"));
    CHECK_NUMBER(result(0).number, 71);
    CHECK_TEXT(result(1).data, "rhoseven");
    CHECK_NUMBER(result(2).number, 0);
    mare_value itself = { .kind = MARE_VALUE_LIST, .count = 1 };
    itself.data = &itself;
    CHECK_FAILS(mare_engine_set(engine, "t", &itself), MARE_ERROR_ARGUMENT, "32 deep");
    itself.count = 1 << 21;
    CHECK_FAILS(mare_engine_set(engine, "t", &itself), MARE_ERROR_ARGUMENT, "1048576");
    pairs[0].key = (mare_value){ 0 };
    CHECK_FAILS(mare_engine_set(engine, "t", &table), MARE_ERROR_ARGUMENT, "a key");
}

static void calls_functions(void) {
    CHECK_OK(mare_engine_run(engine, "flow = { inlet = { speed = function(x, unit)\n"
                                     "    return unit .. ':' .. 2 * x end } }", "t"));
    mare_value arguments[] = { mare_value_number(21), mare_value_string("m/s") };
    CHECK_OK(mare_engine_call(engine, "flow.inlet.speed", arguments, 2));
    CHECK_TEXT(result(0).data, "m/s:42");
    CHECK_FAILS(mare_engine_call(engine, "flow.outlet.speed", NULL, 0), MARE_ERROR_ARGUMENT,
                "'outlet' is a nil, not a table");
    CHECK_FAILS(mare_engine_call(engine, "flow.inlet", NULL, 0), MARE_ERROR_ARGUMENT,
                "'flow.inlet' is a table, not a function");
}

static void keeps_globals(void) {
    mare_value value = mare_value_string("deep");
    CHECK_OK(mare_engine_run(engine, "sea = {}", "t"));
    CHECK_OK(mare_engine_set(engine, "sea.bed", &value));
    CHECK_OK(mare_engine_get(engine, "sea.bed", &value));
    CHECK_TEXT(value.data, "deep");
    CHECK_OK(mare_engine_get(engine, "nowhere", &value));
    CHECK_NUMBER(value.kind, MARE_VALUE_NIL);
}

static void lends_arrays(void) {
    float data[] = { 1, 2, 3 };
    mare_value array = mare_value_array(MARE_TYPE_FLOAT, data, 3);
    CHECK_OK(mare_engine_run(engine, "function add(a) kept = a\n"
        "    for i = 0, #a - 1 do a[i] = a[i] + 10 end return a[2], a end\n"
        "function again() return kept[0] end function grab(a, i) return a[i] end\n"
        "function put(a, v) a[0] = v end", "t"));
    CHECK_OK(mare_engine_call(engine, "add", &array, 1));
    CHECK_NUMBER(data[0], 11);
    CHECK_NUMBER(result(0).number, 13);
    CHECK_FAILS(mare_engine_call(engine, "again", NULL, 0), MARE_ERROR_SCRIPT, "taken this array");
    for (int i = 0; i < 4; i++) {
        static const double bad[] = { -1, 3, 0.5, 1e300 };
        mare_value arguments[] = { array, mare_value_number(bad[i]) };
        CHECK_FAILS(mare_engine_call(engine, "grab", arguments, 2), MARE_ERROR_SCRIPT, "index");
    }
    CHECK_OK(mare_engine_set(engine, "mine", &array));
    CHECK_OK(mare_engine_run(engine, "kept = mine; mine[1] = 7", "t"));
    CHECK_NUMBER(data[1], 7);
    CHECK_OK(mare_engine_set(engine, "mine", &(mare_value){ 0 }));
    CHECK_FAILS(mare_engine_call(engine, "again", NULL, 0), MARE_ERROR_SCRIPT, "taken this array");
    uint8_t byte = 0;
    mare_value arguments[] = { mare_value_array(MARE_TYPE_UINT8, &byte, 1),
                               mare_value_number(256) };
    CHECK_FAILS(mare_engine_call(engine, "put", arguments, 2), MARE_ERROR_SCRIPT, "fit uint8");
}

static mare_status half(void *context, const mare_value *arguments, uint64_t count,
                        mare_value *results, uint64_t room, uint64_t *given) {
    CHECK(room >= 2);
    if (count != 1 || arguments[0].kind != MARE_VALUE_NUMBER)
        return mare_error_set(MARE_ERROR_ARGUMENT, "half: one number is wanted");
    if (arguments[0].number < 0) return mare_engine_run(context, "return 1", "within");
    results[0] = mare_value_number(arguments[0].number / 2);
    results[1] = mare_value_string("half");
    *given = 2;
    return MARE_OK;
}

static void calls_the_host(void) {
    CHECK_OK(mare_engine_register(engine, "half", half, engine));
    CHECK_OK(mare_engine_run(engine, "local a, b = half(7) return b .. a", "t"));
    CHECK_TEXT(result(0).data, "half3.5");
    CHECK_FAILS(mare_engine_run(engine, "half 'x'", "t"), MARE_ERROR_ARGUMENT, "one number");
    CHECK_FAILS(mare_engine_run(engine, "half(-1)", "t"), MARE_ERROR_ARGUMENT, "is running");
    CHECK_OK(mare_engine_run(engine, "return pcall(half, 'x')", "t"));
    CHECK_NUMBER(result(0).number, 0);
}

static void tells_failures(void) {
    CHECK_FAILS(mare_engine_run(engine, "x = = 1", "bad"), MARE_ERROR_SCRIPT, "bad:1:");
    CHECK_FAILS(mare_engine_run(engine, "\n\nerror 'broken'", "script"), MARE_ERROR_SCRIPT,
                "engine 'scripts'", "script:3: broken");
    CHECK(strstr(mare_engine_traceback(engine), "script:3:") != NULL);
    CHECK_FAILS(mare_engine_run(engine, "error {}", "t"), MARE_ERROR_SCRIPT, "a table");
    CHECK_FAILS(mare_engine_run(engine, "error(nil)", "t"), MARE_ERROR_SCRIPT, "a nil");
    CHECK_FAILS(mare_engine_run(engine, "error(setmetatable({}, { __tostring = function() "
        "return {} end }))", "t"), MARE_ERROR_SCRIPT, "without words");
    CHECK_FAILS(mare_engine_run(engine, "error(setmetatable({}, { __tostring = function() "
        "error 'x' end }))", "t"), MARE_ERROR_SCRIPT, "error");
    /* A finaliser that the collector calls at the end of the stack has no room, and LuaJIT drops
     * what it was for. */
    CHECK_OK(mare_engine_run(engine, "collectgarbage() collectgarbage()", "t"));
    CHECK_FAILS(mare_engine_run(engine, "local function f() return 1 + f() end f()", "t"),
                MARE_ERROR_SCRIPT, "stack overflow");
    CHECK_FAILS(mare_engine_run(engine, "require('mare').device.open 'cuda:99'", "t"),
                MARE_ERROR_UNAVAILABLE, "cuda:99");
    CHECK_FAILS(mare_engine_run(engine, "require('mare').device.open 'null':buffer {}", "t"),
                MARE_ERROR_ARGUMENT, "t:1:", "count");
    CHECK_FAILS(mare_engine_run_file(engine, "/nowhere.lua"), MARE_ERROR_IO, "/nowhere.lua");
    CHECK_FAILS(mare_engine_run(engine, "\033LJ\002", "t"), MARE_ERROR_SCRIPT, "");
    CHECK_OK(mare_engine_run(engine, "return 1", "t"));
    CHECK_TEXT(mare_engine_traceback(engine), "");
}

static void refuses_nonsense(void) {
    mare_value value = { .kind = 77 };
    mare_engine *none;
    CHECK_FAILS(mare_engine_create(NULL, NULL), MARE_ERROR_ARGUMENT, "out");
    CHECK_FAILS(mare_engine_create(&(mare_engine_desc){ .flags = 64 }, &none), MARE_ERROR_ARGUMENT,
                "flags");
    CHECK_FAILS(mare_engine_create(&(mare_engine_desc){ .reserved = { [5] = 1 } }, &none),
                MARE_ERROR_ARGUMENT, "reserved");
    CHECK_NUMBER(mare_engine_api_version(), MARE_ENGINE_API_VERSION);
    CHECK_FAILS(mare_engine_create(&(mare_engine_desc){ .root = "/nowhere" }, &none),
                MARE_ERROR_UNAVAILABLE, "/nowhere");
    CHECK(none == NULL);
    CHECK_FAILS(mare_engine_run(NULL, "", ""), MARE_ERROR_ARGUMENT, "NULL");
    CHECK_FAILS(mare_engine_run(engine, NULL, ""), MARE_ERROR_ARGUMENT, "text");
    CHECK_FAILS(mare_engine_run_file(engine, NULL), MARE_ERROR_ARGUMENT, "path");
    CHECK_FAILS(mare_engine_call(engine, NULL, NULL, 0), MARE_ERROR_ARGUMENT, "name");
    CHECK_FAILS(mare_engine_call(engine, "print", NULL, 3), MARE_ERROR_ARGUMENT, "NULL");
    CHECK_FAILS(mare_engine_call(engine, "print", &value, 1), MARE_ERROR_ARGUMENT, "kind");
    value = mare_value_array(99, &value, 1);
    CHECK_FAILS(mare_engine_call(engine, "print", &value, 1), MARE_ERROR_ARGUMENT, "type");
    value = mare_value_array(MARE_TYPE_FLOAT, NULL, 1);
    CHECK_FAILS(mare_engine_set(engine, "x", &value), MARE_ERROR_ARGUMENT, "without data");
    value = mare_value_buffer(NULL);
    CHECK_FAILS(mare_engine_set(engine, "x", &value), MARE_ERROR_ARGUMENT, "NULL");
    CHECK_FAILS(mare_engine_get(engine, "x", NULL), MARE_ERROR_ARGUMENT, "out");
    CHECK_FAILS(mare_engine_register(engine, "x", NULL, NULL), MARE_ERROR_ARGUMENT, "function");
    CHECK_FAILS(mare_scenario_step(NULL, 1), MARE_ERROR_ARGUMENT, "NULL");
    CHECK_OK(mare_scenario_close(NULL));
    CHECK_OK(mare_engine_destroy(NULL));
    CHECK(mare_engine_lua(NULL) == NULL);
    mare_engine_interrupt(NULL);
}

static void *from_elsewhere(void *out) {
    CHECK_FAILS(mare_engine_run(engine, "x = 1", "t"), MARE_ERROR_ARGUMENT, "thread");
    CHECK_FAILS(mare_engine_destroy(engine), MARE_ERROR_ARGUMENT, "thread");
    CHECK(mare_engine_lua(engine) == NULL);
    return out;
}

static void belongs_to_its_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, from_elsewhere, NULL);
    pthread_join(thread, NULL);
    CHECK(mare_engine_lua(engine) != NULL);
}

static void shares_buffers(void) {
    mare_device *device;
    mare_buffer *buffer;
    float data[4] = { 0 };
    CHECK_OK(mare_device_open("null", &device));
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = 16, .label = "shared",
        .type = MARE_TYPE_FLOAT }, &buffer));
    mare_value values[] = { mare_value_buffer(buffer), mare_value_array(MARE_TYPE_FLOAT, data, 4) };
    CHECK_OK(mare_engine_run(engine, "function f(b, a) b:fill(2.5) b:download { into = a }\n"
        "    own = b.device:buffer { type = 'int32', count = 2 } own:upload { 8, 9 }\n"
        "    return own, b, b.label end", "t"));
    CHECK_OK(mare_engine_call(engine, "f", values, 2));
    CHECK_NUMBER(data[3], 2.5);
    CHECK_NUMBER(result(0).kind, MARE_VALUE_BUFFER);
    CHECK(result(1).buffer == buffer);
    CHECK_TEXT(result(2).data, "shared");
    int32_t numbers[2];
    CHECK_OK(mare_buffer_download(result(0).buffer, 0, numbers, sizeof numbers, NULL));
    CHECK_NUMBER(numbers[1], 9);
    values[1] = mare_value_array(MARE_TYPE_DOUBLE, data, 2);
    CHECK_FAILS(mare_engine_call(engine, "f", values, 2), MARE_ERROR_ARGUMENT, "double");
    values[1] = mare_value_array(MARE_TYPE_FLOAT, data, 3);
    CHECK_FAILS(mare_engine_call(engine, "f", values, 2), MARE_ERROR_ARGUMENT, "16 bytes");
    mare_buffer_release(buffer);
    mare_device_release(device);
}

/* What is queued with memory of C is over when the call returns, and nothing repeats it. */
static void ends_transfers_with_loans(void) {
    mare_device *device;
    mare_buffer *buffer;
    float data[4] = { 1, 2, 3, 4 };
    CHECK_OK(mare_device_open("null", &device));
    CHECK_OK(mare_buffer_create(device, &(mare_buffer_desc){ .size = 16, .label = "shared",
        .type = MARE_TYPE_FLOAT }, &buffer));
    mare_value values[] = { mare_value_buffer(buffer), mare_value_array(MARE_TYPE_FLOAT, data, 4) };
    CHECK_OK(mare_engine_run(engine, "function put(b, a)\n"
        "    b:upload(a, { stream = b.device.stream })\n"
        "    b:download { into = a, stream = b.device:stream() } end\n"
        "function again(b, a) return b:downloader { into = a, stream = b.device.stream } end\n"
        "function record(b, a) local s = b.device.stream b:fill(9)\n"
        "    local refusals = {} s:record(function() for k, f in ipairs {\n"
        "        function() b:upload(a, { stream = s }) end,\n"
        "        function() b:download { into = a, stream = s } end,\n"
        "        function() b:download_region(a, { width = 16 }, s) end,\n"
        "        function() b:upload_region(a, { width = 16 }, s) end,\n"
        "    } do refusals[k] = select(2, pcall(f)).message end end):run()\n"
        "    return #refusals, refusals[4] end", "t"));
    CHECK_OK(mare_engine_call(engine, "put", values, 2));
    CHECK_NUMBER(data[3], 4);
    CHECK_FAILS(mare_engine_call(engine, "again", values, 2), MARE_ERROR_ARGUMENT, "lent");
    CHECK_OK(mare_engine_call(engine, "record", values, 2));
    CHECK_NUMBER(result(0).number, 4);
    CHECK_TEXT(result(1).data, "buffer:upload_region: stream 'default' is recording a plan, for "
        "which cdata or host memory is wanted");
    CHECK_NUMBER(data[0], 1);
    CHECK_OK(mare_plan_begin(mare_device_stream(device)));
    CHECK_FAILS(mare_engine_call(engine, "put", values, 2), MARE_ERROR_ARGUMENT, "recording");
    CHECK_OK(mare_plan_end(mare_device_stream(device), NULL, NULL));
    mare_buffer_release(buffer);
    mare_device_release(device);
}

int main(void) {
    CHECK_OK(mare_engine_create(&(mare_engine_desc){ .label = "scripts" }, &engine));
    returns_results();
    evaluates();
    returns_memory_of_lua();
    returns_tables();
    takes_tables();
    calls_functions();
    keeps_globals();
    lends_arrays();
    calls_the_host();
    tells_failures();
    refuses_nonsense();
    belongs_to_its_thread();
    shares_buffers();
    ends_transfers_with_loans();
    CHECK_OK(mare_engine_destroy(engine));
    CHECK_NUMBER(mare_live_objects(), 0);
    return check_result();
}
