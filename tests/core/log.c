/* log.c - the ring of lines that the host takes. */
#include "check.h"
#include "internal.h"

static uint32_t level;
static char line[1024];

static bool next(void) { return mare_log_next(&level, line, sizeof line) != 0; }

static void obeys_its_setting(void) {
    mr_log(MARE_LOG_DEBUG, "detail");
    CHECK(next() && level == MARE_LOG_WARN);
    CHECK_TEXT(line, "MARE_LOG='loud' is no level (allowed: off, error, warn, info, debug)");
    CHECK(!next());
    mr_log(MARE_LOG_WARN, "%d of %s", 3, "them");
    CHECK(next() && level == MARE_LOG_WARN);
    CHECK_TEXT(line, "3 of them");
    mare_log_set(MARE_LOG_DEBUG + 7);
    mr_log(MARE_LOG_DEBUG, "detail");
    CHECK(next() && level == MARE_LOG_DEBUG);
    mare_log_set(MARE_LOG_OFF);
    mr_log(MARE_LOG_ERROR, "unheard");
    CHECK(!next());
    mare_log_set(MARE_LOG_INFO);
}

static void keeps_the_last_lines(void) {
    for (int i = 0; i < 200; i++) mr_log(MARE_LOG_INFO, "line %d", i);
    CHECK(next() && level == MARE_LOG_WARN);
    CHECK_TEXT(line, "72 lines of the log were dropped");
    for (int i = 72; i < 200; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "line %d", i);
        CHECK(next() && level == MARE_LOG_INFO);
        CHECK_TEXT(line, expected);
    }
    CHECK(!next());
}

static void cuts_lines(void) {
    static char text[2000];
    char small[5] = "";
    memset(text, 'x', sizeof text - 1);
    mr_log(MARE_LOG_INFO, "%s", text);
    CHECK(next());
    CHECK_NUMBER(strlen(line), 511);
    mr_log(MARE_LOG_INFO, "long enough");
    CHECK(mare_log_next(&level, small, sizeof small));
    CHECK_TEXT(small, "long");
    mr_log(MARE_LOG_INFO, "kept");
    CHECK(!mare_log_next(NULL, line, sizeof line) && !mare_log_next(&level, NULL, 1));
    CHECK(!mare_log_next(&level, line, 0));
    CHECK(next());
    CHECK_TEXT(line, "kept");
}

typedef struct heard { int lines; uint32_t level; char text[600]; } heard;

static void hear(void *context, uint32_t how, const char *text) {
    heard *h = context;
    h->lines++;
    h->level = how;
    snprintf(h->text, sizeof h->text, "%s", text);
}

static void hands_lines_over(void) {
    heard one = { 0 }, two = { 0 };
    mr_log(MARE_LOG_INFO, "before");
    mare_log_listen(hear, &one);
    mr_log(MARE_LOG_WARN, "%d lines", 2);
    mr_log(MARE_LOG_DEBUG, "too fine");
    CHECK(one.lines == 1 && one.level == MARE_LOG_WARN);
    CHECK_TEXT(one.text, "2 lines");
    mare_log_listen(hear, &two);
    mr_log(MARE_LOG_INFO, "%0599d", 0);
    CHECK(one.lines == 1 && two.lines == 1);
    CHECK_NUMBER(strlen(two.text), 511);
    mare_log_listen(NULL, NULL);
    mr_log(MARE_LOG_INFO, "after");
    CHECK(two.lines == 1 && next());
    CHECK_TEXT(line, "before");
    CHECK(next());
    CHECK_TEXT(line, "after");
    CHECK(!next());
}

int main(void) {
    setenv("MARE_LOG", "loud", 1);
    obeys_its_setting();
    keeps_the_last_lines();
    hands_lines_over();
    cuts_lines();
    return check_result();
}
