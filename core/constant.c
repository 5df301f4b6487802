/* constant.c - reads sizes from the text of a program: integers, names of integers, + - * / and
 * brackets.
 *
 * A name is looked up in the defines of the program, then in the text, where all its #defines have
 * to agree: which of the branches of an #if the compiler takes is not known here.
 */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16 };            /* of brackets and of names that stand for names */

const char *mr_find_define(const mr_source *source, mr_token name) {
    for (uint64_t i = 0; i < source->define_count; i++)
        if (mr_token_is(name, source->defines[i].name)) return source->defines[i].value;
    return NULL;
}

static bool is_size(uint64_t value) { return value > 0 && value <= INT32_MAX; }

static bool read_sum(const mr_source *source, mr_cursor *c, int depth, uint64_t *out);

static bool read_value(const mr_source *source, const char *text, int depth, uint64_t *out) {
    mr_text line = { 0 };               /* the value ends with its line */
    mr_text_append(&line, text, strcspn(text, "\n"));
    mr_cursor c = { .at = mr_text_cstr(&line) };
    bool read = depth < MAX_DEPTH && !line.failed && read_sum(source, &c, depth + 1, out) &&
                mr_next(&c).kind == MR_TOKEN_END;
    mr_text_free(&line);
    return read;
}

/* What every #define of the name in the text agrees on. */
static bool read_defined(const mr_source *source, mr_token name, int depth, uint64_t *out) {
    bool found = false;
    mr_cursor c = { .at = source->text, .line_start = true };
    for (mr_token token = mr_lex(c.at); token.kind != MR_TOKEN_END; token = mr_lex(c.at)) {
        c.at = token.start + token.size;
        c.line_start = false;
        mr_cursor ahead = c;
        if (!mr_token_is(token, "#") || !mr_token_is(mr_next(&ahead), "define") ||
            !mr_token_same(mr_next(&ahead), name))
            continue;
        uint64_t value = 0;
        if (!read_value(source, ahead.at, depth, &value) || (found && value != *out)) return false;
        *out = value;
        found = true;
    }
    return found;
}

/* A plain integer, a bracket, or a name that the program or the text defines so. */
static bool read_factor(const mr_source *source, mr_cursor *c, int depth, uint64_t *out) {
    mr_token token = mr_next(c);
    if (mr_token_is(token, "("))
        return depth < MAX_DEPTH && read_sum(source, c, depth + 1, out) &&
               mr_token_is(mr_next(c), ")");
    if (token.kind != MR_TOKEN_WORD) return false;
    if (*token.start >= '0' && *token.start <= '9') {
        char *end = NULL;
        *out = strtoul(token.start, &end, 0);
        end += strspn(end, "uUlL");
        return end == token.start + token.size && is_size(*out);
    }
    const char *define = mr_find_define(source, token);
    return define ? read_value(source, define, depth, out)
                  : read_defined(source, token, depth, out);
}

static bool read_product(const mr_source *source, mr_cursor *c, int depth, uint64_t *out) {
    uint64_t factor = 0;
    if (!read_factor(source, c, depth, out)) return false;
    while (mr_token_is(mr_peek(c), "*") || mr_token_is(mr_peek(c), "/")) {
        mr_token sign = mr_next(c);
        if (!read_factor(source, c, depth, &factor)) return false;
        *out = *sign.start == '*' ? *out * factor : *out / factor;
        if (!is_size(*out)) return false;
    }
    return true;
}

static bool read_sum(const mr_source *source, mr_cursor *c, int depth, uint64_t *out) {
    uint64_t term = 0;
    if (!read_product(source, c, depth, out)) return false;
    while (mr_token_is(mr_peek(c), "+") || mr_token_is(mr_peek(c), "-")) {
        mr_token sign = mr_next(c);
        if (!read_product(source, c, depth, &term)) return false;
        *out = *sign.start == '+' ? *out + term : *out - term;
        if (!is_size(*out)) return false;
    }
    return true;
}

bool mr_read_size(const mr_source *source, mr_cursor *c, uint64_t *out) {
    return read_sum(source, c, 0, out);
}
