/* text.c - growable text, the lexer, and loading libraries. */
#include "check.h"
#include "parse.h"

static void grows(void) {
    mr_text text = { 0 };
    CHECK_TEXT(mr_text_cstr(&text), "");
    mr_text_append(&text, "ab\0cd", 5);
    mr_text_format(&text, "%s-%d", "x", 7);
    CHECK_NUMBER(text.size, 8);
    CHECK(!memcmp(text.data, "ab\0cdx-7", 9));
    mr_text_free(&text);
    CHECK(!text.data && !text.size);
}

static void remembers_failure(void) {
    mr_text text = { 0 };
    mr_text_append(&text, "kept", 4);
    mr_text_append(&text, "", SIZE_MAX - 8);
    CHECK(text.failed);
    mr_text_append(&text, "lost", 4);
    CHECK_TEXT(mr_text_cstr(&text), "kept");
    mr_text_free(&text);
}

static void cuts(const char *text, mr_token_kind kind, size_t size) {
    mr_token token = mr_lex(text);
    if (token.kind != kind || token.size != size)
        fprintf(stderr, "[%s]: kind %d, size %zu\n", text, (int)token.kind, token.size);
    CHECK(token.kind == kind && token.size == size);
}

static void lexes(void) {
    cuts("", MR_TOKEN_END, 0);
    cuts("\n ", MR_TOKEN_NEWLINE, 1);
    cuts(" \t/* a\n * b */ // c \\\n still\nx", MR_TOKEN_SPACE, 28);
    cuts("/* open", MR_TOKEN_SPACE, 7);
    cuts("\\\nx", MR_TOKEN_SPACE, 2);
    cuts("name_1(", MR_TOKEN_WORD, 6);
    cuts("1'000.5f+", MR_TOKEN_WORD, 8);
    cuts("\"a \\\" /* b\" c", MR_TOKEN_STRING, 11);
    cuts("'\"' c", MR_TOKEN_STRING, 3);
    cuts("\"open\nx", MR_TOKEN_STRING, 5);
    cuts("R\"x(a)\" \n)x\" y", MR_TOKEN_STRING, 12);
    cuts("R(0.5)", MR_TOKEN_WORD, 1);
    cuts("/ 2", MR_TOKEN_MARK, 1);
}

static void loads_libraries(void) {
    void *printf_address = NULL, *absent = &absent;
    char loaded[64] = "";
    const char *const names[] = { "libmare-absent.so.1", "libc.so.6", NULL };
    const mr_symbol symbols[] = { { "printf", &printf_address, true },
                                  { "mare_absent", &absent, false } };
    CHECK_OK(mr_dl_load(names, symbols, 2, loaded, sizeof loaded));
    CHECK_TEXT(loaded, "libc.so.6");
    CHECK(printf_address && !absent);
}

static void tells_what_is_missing(void) {
    void *first = NULL, *second = NULL;
    const char *const absent[] = { "libmare-absent.so.1", "libmare-absent.so", NULL };
    CHECK_FAILS(mr_dl_load(absent, NULL, 0, NULL, 0), MARE_ERROR_UNAVAILABLE, "libmare-absent.so.1",
                "libmare-absent.so:", "cannot open shared object file");
    const char *const libc[] = { "libc.so.6", NULL };
    const mr_symbol symbols[] = { { "printf", &first, true }, { "mare_one", &second, true } };
    CHECK_FAILS(mr_dl_load(libc, symbols, 2, NULL, 0), MARE_ERROR_UNAVAILABLE, "libc.so.6",
                "mare_one");
    CHECK(!first && !second);
}

static void parses_sizes(void) {
    static const struct { const char *text; uint64_t bytes; } good[] = {
        { "0", 0 }, { "4096", 4096 }, { "1K", 1024 }, { "1.5K", 1536 }, { "512M", 512ull << 20 },
        { "1G", 1ull << 30 }, { "2T", 2ull << 40 },
    };
    static const char *const bad[] = { "", "-1", "M", "1g", "1GB", "1 G", "9e30", "all" };
    uint64_t bytes = 7;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(mr_parse_bytes(good[i].text, &bytes) && bytes == good[i].bytes);
    bytes = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!mr_parse_bytes(bad[i], &bytes) && bytes == 7);
}

static void cuts_at_characters(void) {
    static const struct { const char *text, *cut; } cases[] = {     /* to 7 bytes */
        { "", "" }, { "1234567", "1234567" }, { "12345678", "1234567" },
        { "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", "\xc3\xa9\xc3\xa9\xc3\xa9" },
        { "12345\xc3\xa9", "12345\xc3\xa9" }, { "123456\xc3\xa9", "123456" },
        { "12345\xe2\x82\xac", "12345" }, { "1234\xf0\x9f\x8c\x8a", "1234" },
        { "\x80\x80\x80\x80\x80\x80\x80\x80", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[8] = "#######";
        mr_text_cut(out, sizeof out, cases[i].text);
        CHECK_TEXT(out, cases[i].cut);
    }
}

int main(void) {
    parses_sizes();
    cuts_at_characters();
    grows();
    remembers_failure();
    lexes();
    loads_libraries();
    tells_what_is_missing();
    return check_result();
}
