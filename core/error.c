/* error.c - the calling thread's message of its last failure.
 *
 * The text grows with what it has to say (compiler logs are long) and is freed when the thread
 * ends. A message is always composed before the old one goes, so that it may quote the old one.
 */
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>

static _Thread_local mr_text message;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void free_message(void *text) { mr_text_free(text); }

static void make_key(void) { (void)pthread_key_create(&thread_end, free_message); }

static void set_message(mr_text text) {
    pthread_once(&thread_end_once, make_key);
    mr_text_free(&message);
    message = text;
    (void)pthread_setspecific(thread_end, &message);
}

mare_status mr_fail(mare_status status, const char *format, ...) {
    mr_text text = { 0 };
    va_list arguments;
    va_start(arguments, format);
    mr_text_vformat(&text, format, arguments);
    va_end(arguments);
    set_message(text);
    return status;
}

mare_status mare_error_set(mare_status status, const char *text) {
    return mr_fail(status, "%s", text ? text : "");
}

mare_status mr_annotate(mare_status status, const char *format, ...) {
    mr_text text = { 0 };
    va_list arguments;
    va_start(arguments, format);
    mr_text_vformat(&text, format, arguments);
    va_end(arguments);
    mr_text_format(&text, ": %s", mare_error_message());
    set_message(text);
    return status;
}

mare_status mr_check_reserved(const uint64_t reserved[4], const char *kind, const char *label) {
    if (!(reserved[0] | reserved[1] | reserved[2] | reserved[3])) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT, "%s '%s': reserved must be 0: the descriptor is of a newer "
                   "version than " MARE_VERSION ", or was not set to zero", kind, label);
}

void mr_clear_error(void) { mr_text_free(&message); }

const char *mare_error_message(void) {
    return message.failed ? "out of memory (and none left to tell more)" : mr_text_cstr(&message);
}

const char *mare_status_name(mare_status status) {
    switch (status) {
    case MARE_OK: return "MARE_OK";
    case MARE_ERROR_ARGUMENT: return "MARE_ERROR_ARGUMENT";
    case MARE_ERROR_MEMORY: return "MARE_ERROR_MEMORY";
    case MARE_ERROR_UNAVAILABLE: return "MARE_ERROR_UNAVAILABLE";
    case MARE_ERROR_BUILD: return "MARE_ERROR_BUILD";
    case MARE_ERROR_DEVICE: return "MARE_ERROR_DEVICE";
    case MARE_ERROR_LOST: return "MARE_ERROR_LOST";
    case MARE_ERROR_IO: return "MARE_ERROR_IO";
    case MARE_ERROR_SCRIPT: return "MARE_ERROR_SCRIPT";
    case MARE_ERROR_STATE: return "MARE_ERROR_STATE";
    case MARE_ERROR_INTERRUPTED: return "MARE_ERROR_INTERRUPTED";
    }
    return "unknown status";
}

int mare_api_version(void) { return MARE_API_VERSION; }

const char *mare_version(void) { return MARE_VERSION; }
