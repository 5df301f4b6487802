/* error.c - the message of a failure: per thread, chained, as long as it has to be. */
#include "check.h"
#include "internal.h"

#include <pthread.h>

static void chains_contexts(void) {
    CHECK(mr_fail(MARE_ERROR_DEVICE, "cuMemAlloc(%d bytes): %s", 16, "OUT_OF_MEMORY") ==
          MARE_ERROR_DEVICE);
    CHECK(mr_annotate(MARE_ERROR_DEVICE, "buffer '%s'", "rho") == MARE_ERROR_DEVICE);
    CHECK_TEXT(mare_error_message(), "buffer 'rho': cuMemAlloc(16 bytes): OUT_OF_MEMORY");
}

static void quotes_itself(void) {
    mr_fail(MARE_ERROR_IO, "first");
    mr_fail(MARE_ERROR_IO, "second after %s", mare_error_message());
    CHECK_TEXT(mare_error_message(), "second after first");
}

static void holds_long_logs(void) {
    mr_text log = { 0 };
    for (int i = 0; i < 100000; i++) mr_text_append(&log, "0123456789", 10);
    mr_fail(MARE_ERROR_BUILD, "%s", mr_text_cstr(&log));
    CHECK_NUMBER(strlen(mare_error_message()), 1000000);
    mr_text_free(&log);
    mr_clear_error();
    CHECK_TEXT(mare_error_message(), "");
}

static void *fail_elsewhere(void *unused) {
    CHECK_TEXT(mare_error_message(), "");
    mr_fail(MARE_ERROR_IO, "in the other thread");
    CHECK_TEXT(mare_error_message(), "in the other thread");
    return unused;
}

static void belongs_to_its_thread(void) {
    pthread_t thread;
    mr_fail(MARE_ERROR_IO, "in the main thread");
    CHECK(pthread_create(&thread, NULL, fail_elsewhere, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK_TEXT(mare_error_message(), "in the main thread");
}

static void names_codes(void) {
    CHECK_TEXT(mare_status_name(MARE_OK), "MARE_OK");
    CHECK_TEXT(mare_status_name(MARE_ERROR_IO), "MARE_ERROR_IO");
    CHECK_TEXT(mare_status_name((mare_status)99), "unknown status");
    CHECK_TEXT(mare_type_name(MARE_TYPE_FLOAT), "float");
    CHECK_TEXT(mare_type_name(MARE_TYPE_NONE), "bytes");
    CHECK_TEXT(mare_type_name((mare_type)99), "unknown type");
    CHECK_NUMBER(mare_type_size(MARE_TYPE_UINT64), 8);
    CHECK_TEXT(mare_type_name(MARE_TYPE_COMPLEX_DOUBLE), "complex_double");
    CHECK_NUMBER(mare_type_size(MARE_TYPE_COMPLEX_DOUBLE), 16);
    CHECK_NUMBER(mare_type_size((mare_type)99), 0);
    CHECK_NUMBER(mare_api_version(), MARE_API_VERSION);
    int a, b, c;
    CHECK(sscanf(MARE_VERSION, "%d.%d.%d", &a, &b, &c) == 3);
    CHECK_NUMBER(MARE_VERSION_NUMBER, 10000 * a + 100 * b + c);
#if MARE_VERSION_NUMBER < 100 || MARE_API_VERSION < 7
#error "the versions are no numbers of the preprocessor"
#endif
    CHECK_TEXT(mare_version(), MARE_VERSION);
}

int main(void) {
    chains_contexts();
    quotes_itself();
    holds_long_logs();
    belongs_to_its_thread();
    names_codes();
    return check_result();
}
