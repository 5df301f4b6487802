/* lex.c - cuts C, CUDA and OpenCL text into tokens, exactly enough to find directives and parameter
 * lists, and walks over them. */
#include "parse.h"

#include <ctype.h>
#include <string.h>

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* Past a backslash that continues the line; 0 if there is none. */
static size_t continuation(const char *at) {
    if (at[0] != '\\') return 0;
    if (at[1] == '\n') return 2;
    return at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

static size_t line_comment(const char *at) {
    size_t i = 2;
    while (at[i] && at[i] != '\n') {
        size_t skip = continuation(at + i);
        i += skip ? skip : 1;
    }
    return i;
}

static size_t block_comment(const char *at) {
    const char *end = strstr(at + 2, "*/");
    return end ? (size_t)(end - at) + 2 : strlen(at);
}

static size_t space(const char *at) {
    size_t i = 0;
    for (;;) {
        size_t skip = continuation(at + i);
        if (skip) i += skip;
        else if (at[i] == '/' && at[i + 1] == '/') i += line_comment(at + i);
        else if (at[i] == '/' && at[i + 1] == '*') i += block_comment(at + i);
        else if (at[i] != '\n' && isspace((unsigned char)at[i])) i++;
        else return i;
    }
}

/* An unclosed literal ends with its line. */
static size_t literal(const char *at) {
    size_t i = 1;
    while (at[i] && at[i] != '\n' && at[i] != at[0]) i += at[i] == '\\' && at[i + 1] ? 2 : 1;
    return at[i] == at[0] ? i + 1 : i;
}

static size_t word(const char *at) {
    size_t i = 0;
    bool number = isdigit((unsigned char)at[0]);
    while (is_word_char(at[i]) ||
           (number && (at[i] == '.' || (at[i] == '\'' && is_word_char(at[i + 1])))))
        i++;
    return i;
}

/* R"delimiter( ... )delimiter" after a word of `prefix` characters; 0 if it is none. */
static size_t raw_string(const char *at, size_t prefix) {
    if (at[prefix] != '"' || at[prefix - 1] != 'R' || prefix > 3) return 0;
    const char *delimiter = at + prefix + 1;
    size_t size = strcspn(delimiter, "() \\\n");
    if (delimiter[size] != '(') return 0;
    for (const char *end = strchr(delimiter, ')'); end; end = strchr(end + 1, ')'))
        if (!strncmp(end + 1, delimiter, size) && end[1 + size] == '"')
            return (size_t)(end - at) + size + 2;
    return 0;
}

mr_token mr_lex(const char *at) {
    size_t size = 0;
    if (*at == '\0') return (mr_token){ MR_TOKEN_END, at, 0 };
    if (*at == '\n') return (mr_token){ MR_TOKEN_NEWLINE, at, 1 };
    if ((size = space(at))) return (mr_token){ MR_TOKEN_SPACE, at, size };
    if (*at == '"' || *at == '\'') return (mr_token){ MR_TOKEN_STRING, at, literal(at) };
    if ((size = word(at))) {
        size_t raw = raw_string(at, size);
        return raw ? (mr_token){ MR_TOKEN_STRING, at, raw } : (mr_token){ MR_TOKEN_WORD, at, size };
    }
    return (mr_token){ MR_TOKEN_MARK, at, 1 };
}

bool mr_token_is(mr_token token, const char *text) {
    return token.size == strlen(text) && !memcmp(token.start, text, token.size);
}

bool mr_token_same(mr_token a, mr_token b) {
    return a.size == b.size && !memcmp(a.start, b.start, a.size);
}

bool mr_token_is_one_of(mr_token token, const char *const *list) {
    for (; *list; list++)
        if (mr_token_is(token, *list)) return true;
    return false;
}

/* ---- walking ---- */

static void skip_line(mr_cursor *c) {
    mr_token token = mr_lex(c->at);
    while (token.kind != MR_TOKEN_END && token.kind != MR_TOKEN_NEWLINE) {
        c->at = token.start + token.size;
        token = mr_lex(c->at);
    }
}

mr_token mr_next(mr_cursor *c) {
    for (;;) {
        mr_token token = mr_lex(c->at);
        c->at = token.start + token.size;
        if (token.kind == MR_TOKEN_NEWLINE) c->line_start = true;
        else if (c->line_start && mr_token_is(token, "#")) {
            skip_line(c);
            c->saw_directive = true;
        } else if (token.kind != MR_TOKEN_SPACE) {
            c->line_start = false;
            return token;
        }
    }
}

mr_token mr_peek(const mr_cursor *c) {
    mr_cursor ahead = *c;
    return mr_next(&ahead);
}

void mr_skip_brackets(mr_cursor *c) {
    for (int depth = 1; depth > 0;) {
        mr_token token = mr_next(c);
        if (token.kind == MR_TOKEN_END) return;
        if (token.kind != MR_TOKEN_MARK) continue;
        if (strchr("([{", *token.start)) depth++;
        else if (strchr(")]}", *token.start)) depth--;
    }
}
