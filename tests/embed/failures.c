/* failures.c - what a failed call leaves: no results of an older one, its own message, the code of
 * os.exit, and an engine that goes on, also after an exception out of a function of C. */
#include "check.h"
#include "mare_engine.h"

#include <unwind.h>

static mare_engine *engine;

static void leaves_nothing(mare_status status, mare_status expected, int code) {
    mare_value value;
    CHECK_NUMBER(status, expected);
    CHECK_NUMBER(mare_engine_exit_code(engine), code);
    CHECK_NUMBER(mare_engine_result_count(engine), 0);
    CHECK_FAILS(mare_engine_result(engine, 0, &value), MARE_ERROR_ARGUMENT, "has 0 results");
    CHECK_NUMBER(value.kind, MARE_VALUE_NIL);
    CHECK_OK(mare_engine_run(engine, "return 42", "t"));
    CHECK_NUMBER(mare_engine_result_count(engine), 1);
    CHECK_NUMBER(mare_engine_exit_code(engine), -1);
}

static mare_status run(const char *text) { return mare_engine_run(engine, text, "t"); }

static void old_results_are_gone(void) {
    mare_value value = { .kind = 77 };
    CHECK_OK(run("return 42"));
    leaves_nothing(run("error 'x'"), MARE_ERROR_SCRIPT, -1);
    leaves_nothing(run("return = 1"), MARE_ERROR_SCRIPT, -1);
    leaves_nothing(run(NULL), MARE_ERROR_ARGUMENT, -1);
    leaves_nothing(mare_engine_run_file(engine, "/nowhere.lua"), MARE_ERROR_IO, -1);
    leaves_nothing(mare_engine_call(engine, "nothing", NULL, 0), MARE_ERROR_ARGUMENT, -1);
    leaves_nothing(mare_engine_call(engine, "print", &value, 1), MARE_ERROR_ARGUMENT, -1);
    leaves_nothing(mare_engine_get(engine, "a.b", &value), MARE_ERROR_ARGUMENT, -1);
    mare_engine_interrupt(engine);
    leaves_nothing(run("return 1"), MARE_ERROR_INTERRUPTED, -1);
    CHECK_NUMBER(mare_engine_result_count(NULL), 0);
}

static void exits_tell_their_code(void) {
    leaves_nothing(run("os.exit() return 1"), MARE_OK, 0);
    leaves_nothing(run("os.exit(0)"), MARE_OK, 0);
    leaves_nothing(run("os.exit(true)"), MARE_OK, 0);
    leaves_nothing(run("os.exit(3)"), MARE_ERROR_SCRIPT, 3);
    leaves_nothing(run("os.exit(false)"), MARE_ERROR_SCRIPT, 1);
    leaves_nothing(run("os.exit(0/0)"), MARE_ERROR_SCRIPT, 1);
    leaves_nothing(run("coroutine.wrap(function() os.exit(4) end)()"), MARE_ERROR_SCRIPT, 4);
    CHECK_FAILS(run("os.exit(3)"), MARE_ERROR_SCRIPT, "os.exit(3)");
    CHECK_OK(run("return pcall(os.exit, 3)"));
    CHECK_NUMBER(mare_engine_exit_code(engine), -1);
    CHECK_NUMBER(mare_engine_exit_code(NULL), -1);
}

static mare_status fail(void *context, const mare_value *arguments, uint64_t argument_count,
                        mare_value *results, uint64_t room, uint64_t *count) {
    (void)arguments, (void)argument_count, (void)results, (void)room, (void)count;
    const char *message = context;
    return message ? mare_error_set(MARE_ERROR_IO, message) : MARE_ERROR_DEVICE;
}

static void functions_have_their_own_message(void) {
    static char words[] = "the disk is full";
    CHECK_OK(mare_engine_register(engine, "silent", fail, NULL));
    CHECK_OK(mare_engine_register(engine, "wordy", fail, words));
    CHECK_FAILS(run("wordy()"), MARE_ERROR_IO, "the disk is full");
    CHECK_FAILS(run("pcall(wordy) silent()"), MARE_ERROR_DEVICE,
                "silent returned MARE_ERROR_DEVICE without a message");
    CHECK(!strstr(mare_error_message(), "disk"));
}

static int cleaned;

static void clean(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception) {
    (void)reason, (void)exception;
    cleaned++;
}

/* What `throw` of C++ does. */
static mare_status throws(void *context, const mare_value *arguments, uint64_t argument_count,
                          mare_value *results, uint64_t room, uint64_t *count) {
    (void)context, (void)arguments, (void)argument_count, (void)results, (void)room, (void)count;
    static struct _Unwind_Exception exception;
    exception = (struct _Unwind_Exception){ .exception_class = 0x544553540000,
        .exception_cleanup = clean };
    _Unwind_RaiseException(&exception);
    fprintf(stderr, "nobody has caught the exception\n");
    exit(EXIT_FAILURE);
}

static void exceptions_are_failures(void) {
    CHECK_OK(mare_engine_register(engine, "throws", throws, NULL));
    leaves_nothing(run("throws() return 1"), MARE_ERROR_SCRIPT, -1);
    CHECK_FAILS(run("throws()"), MARE_ERROR_SCRIPT, "engine 'failures'", "C++ exception");
    CHECK_NUMBER(cleaned, 2);
    CHECK_OK(run("local ok, why = pcall(throws) return not ok and why"));
    mare_value value;
    CHECK_OK(mare_engine_result(engine, 0, &value));
    CHECK_TEXT(value.data, "C++ exception");
    leaves_nothing(mare_engine_call(engine, "throws", NULL, 0), MARE_ERROR_SCRIPT, -1);
}

/* A function of C stands in it without its address, and not at all at its end. */
static void tracebacks_can_be_read(void) {
    CHECK_OK(run("function deep() error 'x' end"));
    CHECK_OK(mare_engine_register(engine, "silent", fail, NULL));
    CHECK_FAILS(run("local f = silent; return (f())"), MARE_ERROR_DEVICE, "silent");
    CHECK(!strstr(mare_engine_traceback(engine), "0x"));
    CHECK_OK(run("t = setmetatable({}, { __index = function() deep() end })"));
    CHECK_FAILS(run("local r = ('a'):gsub('a', function() return t.x end)"), MARE_ERROR_SCRIPT,
                "x");
    CHECK_TEXT(mare_engine_traceback(engine), "stack traceback:\n\t[C]: in function 'error'\n"
               "\tt:1: in function 'deep'\n\tt:1: in function '__index'\n"
               "\tt:1: in function <t:1>\n\t[C]: in function 'gsub'\n\tt:1: in main chunk");
}

int main(void) {
    CHECK_OK(mare_engine_create(&(mare_engine_desc){ .label = "failures" }, &engine));
    old_results_are_gone();
    exits_tell_their_code();
    functions_have_their_own_message();
    exceptions_are_failures();
    tracebacks_can_be_read();
    CHECK_OK(mare_engine_destroy(engine));
    return check_result();
}
