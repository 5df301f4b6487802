/* typename.c - what the name of a type stands for.
 *
 * It is followed through the defines of the program, then through typedef and #define in the text.
 * A name that the text gives two meanings, as the branches of an #if do, is refused rather than
 * guessed: a launch would then take a buffer of the wrong type. What costs the most lines is the
 * exception that programs need: a #define where the name is known to be undefined (#ifndef NAME)
 * gives way to a define of the program.
 */
#include "parse.h"

#include <string.h>

enum { MAX_DEPTH = 16 };            /* of names that stand for names */

void mr_words_add(mr_words *list, mr_token word) {
    if (list->count < MR_MAX_WORDS) list->words[list->count++] = word;
    else list->overflow = true;
}

/* ---- names that the language or the prelude gives ---- */

static const struct {
    const char *name;
    mare_type type;
} aliases[] = {
    { "int8_t", MARE_TYPE_INT8 },    { "uint8_t", MARE_TYPE_UINT8 },
    { "int16_t", MARE_TYPE_INT16 },  { "uint16_t", MARE_TYPE_UINT16 },
    { "int32_t", MARE_TYPE_INT32 },  { "uint32_t", MARE_TYPE_UINT32 },
    { "int64_t", MARE_TYPE_INT64 },  { "uint64_t", MARE_TYPE_UINT64 },
    { "uchar", MARE_TYPE_UINT8 },    { "ushort", MARE_TYPE_UINT16 },
    { "uint", MARE_TYPE_UINT32 },    { "ulong", MARE_TYPE_UINT64 },
    { "size_t", MARE_TYPE_UINT64 },  { "ptrdiff_t", MARE_TYPE_INT64 },
    { "mr_index", MARE_TYPE_INT64 },
    { "half", MARE_TYPE_HALF },      { "__half", MARE_TYPE_HALF },
    { "mr_half", MARE_TYPE_HALF },   { "bool", MARE_TYPE_BOOL },
    { "_Bool", MARE_TYPE_BOOL },     { "mr_bool", MARE_TYPE_BOOL },
    { "mr_complex_float", MARE_TYPE_COMPLEX_FLOAT },
    { "mr_complex_double", MARE_TYPE_COMPLEX_DOUBLE },
    { "cuComplex", MARE_TYPE_COMPLEX_FLOAT },
    { "cuFloatComplex", MARE_TYPE_COMPLEX_FLOAT },
    { "cuDoubleComplex", MARE_TYPE_COMPLEX_DOUBLE },
};

static mr_answer resolve(const mr_source *source, const mr_words *list, int depth, mare_type *out);

static bool has_word(const mr_words *list, const char *word) {
    for (int i = 0; i < list->count; i++)
        if (mr_token_is(list->words[i], word)) return true;
    return false;
}

/* The words of C's own arithmetic types, in any order; long has 64 bits on every platform that Mare
 * runs on. */
bool mr_type_is_builtin(const mr_words *list, mare_type *out) {
    static const char *const words[] = { "signed", "unsigned", "char",   "short", "long",
                                         "int",    "float",    "double", NULL };
    for (int i = 0; i < list->count; i++)
        if (!mr_token_is_one_of(list->words[i], words)) return false;
    if (has_word(list, "float") || has_word(list, "double")) {
        *out = has_word(list, "float") ? MARE_TYPE_FLOAT : MARE_TYPE_DOUBLE;
        return list->count == 1;
    }
    mare_type type = has_word(list, "char")    ? MARE_TYPE_INT8
                     : has_word(list, "short") ? MARE_TYPE_INT16
                     : has_word(list, "long")  ? MARE_TYPE_INT64
                                               : MARE_TYPE_INT32;
    *out = (mare_type)(type + has_word(list, "unsigned"));  /* it follows the signed one */
    return list->count > 0;
}

/* Cuts the text up to `end` into words; false if there is anything else. */
static bool words_of(const char *at, const char *end, mr_words *out) {
    *out = (mr_words){ 0 };
    for (mr_token token = mr_lex(at); token.kind != MR_TOKEN_END && token.start < end;
         token = mr_lex(at)) {
        at = token.start + token.size;
        if (token.kind == MR_TOKEN_WORD) mr_words_add(out, token);
        else if (token.kind != MR_TOKEN_SPACE && token.kind != MR_TOKEN_NEWLINE) return false;
    }
    return !out->overflow && out->count > 0;
}

/* What a typedef or a #define that begins with `token` says about `name`; false if it is about
 * something else. */
static bool read_definition(mr_cursor *c, mr_token token, mr_token name, mr_words *out) {
    if (mr_token_is(token, "typedef")) {
        const char *end = c->at + strcspn(c->at, ";");
        if (!words_of(c->at, end, out) || out->count < 2) return false;
        return mr_token_same(out->words[--out->count], name);
    }
    mr_cursor ahead = *c;
    if (!mr_token_is(token, "#") || !mr_token_is(mr_next(&ahead), "define")) return false;
    if (!mr_token_same(mr_next(&ahead), name)) return false;
    return words_of(ahead.at, ahead.at + strcspn(ahead.at, "\n"), out);
}

static mr_answer resolve_in_text(const mr_source *source, mr_token name, int depth,
                                 mare_type *out) {
    mr_answer so_far = MR_TYPE_UNKNOWN;
    mr_cursor c = { .at = source->text, .line_start = true };
    for (mr_token token = mr_lex(c.at); token.kind != MR_TOKEN_END; token = mr_lex(c.at)) {
        c.at = token.start + token.size;
        c.line_start = false;
        mr_words list;
        mare_type type = MARE_TYPE_NONE;
        if (!read_definition(&c, token, name, &list) ||
            resolve(source, &list, depth + 1, &type) != MR_TYPE_KNOWN)
            continue;
        if (so_far == MR_TYPE_KNOWN && type != *out) return MR_TYPE_AMBIGUOUS;
        so_far = MR_TYPE_KNOWN;
        *out = type;
    }
    return so_far;
}

/* ---- a name with a meaning that the text gives another one ---- */

/* Where a name stands in the #if around a place: `level` of the one about it, 0 for none. */
typedef struct guard {
    int depth, level;
    bool undefined, otherwise; /* whether the name is undefined here, and behind the #else */
} guard;

/* #ifndef NAME, #if !defined NAME, #if !defined(NAME); otherwise #ifdef. */
static bool asks_for(mr_cursor c, mr_token verb, mr_token name, bool *undefined) {
    *undefined = !mr_token_is(verb, "ifdef");
    if (mr_token_is(verb, "if")) {
        if (!mr_token_is(mr_next(&c), "!") || !mr_token_is(mr_next(&c), "defined")) return false;
        if (mr_token_is(mr_peek(&c), "(")) mr_next(&c);
        if (!mr_token_same(mr_next(&c), name)) return false;
        return strspn(c.at, ") \t\r") == strcspn(c.at, "\n");
    }
    return mr_token_same(mr_next(&c), name);
}

static void follow(guard *g, mr_cursor c, mr_token verb, mr_token name) {
    static const char *const ifs[] = { "if", "ifdef", "ifndef", NULL };
    static const char *const others[] = { "else", "elif", NULL };
    bool undefined = false;
    if (mr_token_is_one_of(verb, ifs)) {
        g->depth++;
        if (!g->level && asks_for(c, verb, name, &undefined))
            *g = (guard){ g->depth, g->depth, undefined, !undefined };
    } else if (mr_token_is_one_of(verb, others) && g->depth == g->level)
        g->undefined = g->otherwise;
    else if (mr_token_is(verb, "endif") && g->depth-- == g->level) g->level = 0;
}

/* Whether "define" and the name follow one another anywhere: it rarely does, and saves the rest. */
static bool mentions_define(const char *text, mr_token name) {
    while ((text = strstr(text, "define"))) {
        mr_cursor c = { .at = text += strlen("define") };
        if (mr_token_same(mr_next(&c), name)) return true;
    }
    return false;
}

/* Whether a #define of the text may give the name another type. One where the name is undefined
 * is never taken where a define of the program gives it. */
static bool is_redefined(const mr_source *source, mr_token name, int depth, mare_type type) {
    if (!mentions_define(source->text, name)) return false;
    bool given = mr_find_define(source, name) != NULL;
    guard g = { 0 };
    mr_cursor c = { .at = source->text, .line_start = true };
    for (mr_token token = mr_lex(c.at); token.kind != MR_TOKEN_END; token = mr_lex(c.at)) {
        c.at = token.start + token.size;
        c.line_start = false;
        if (!mr_token_is(token, "#")) continue;
        mr_cursor ahead = c;
        mr_token verb = mr_next(&ahead);
        follow(&g, ahead, verb, name);
        if (mr_token_is(verb, "undef") && mr_token_same(mr_next(&ahead), name)) given = false;
        if (!mr_token_is(verb, "define") || !mr_token_same(mr_next(&ahead), name)) continue;
        if (given && g.level && g.undefined) continue;
        mr_words list;
        mare_type other = MARE_TYPE_NONE;
        if (!read_definition(&c, token, name, &list) ||
            resolve(source, &list, depth + 1, &other) != MR_TYPE_KNOWN || other != type)
            return true;
    }
    return false;
}

/* What `real` is, as the prelude has it. */
static const char *find_real(const mr_source *source) {
    static const char name[] = "MARE_REAL";
    const char *value = mr_find_define(source, (mr_token){ MR_TOKEN_WORD, name, sizeof name - 1 });
    return value ? value : "float";
}

static mr_answer resolve_value(const mr_source *source, const char *value, int depth,
                               mare_type *out) {
    mr_words list;
    if (!words_of(value, value + strlen(value), &list)) return MR_TYPE_UNKNOWN;
    return resolve(source, &list, depth + 1, out);
}

/* What a name means without the text: by the defines, the prelude or the language. */
static mr_answer resolve_given(const mr_source *source, mr_token name, int depth, mare_type *out) {
    const bool is_dialect = source->language == MARE_LANGUAGE_MARE;
    const char *value = mr_find_define(source, name);
    if (value) return resolve_value(source, value, depth, out);
    if (is_dialect && mr_token_is(name, "real"))
        return resolve_value(source, find_real(source), depth, out);
    if (is_dialect && mr_token_is(name, "mr_complex")) {
        mr_answer answered = resolve_value(source, find_real(source), depth, out);
        *out = *out == MARE_TYPE_DOUBLE ? MARE_TYPE_COMPLEX_DOUBLE : MARE_TYPE_COMPLEX_FLOAT;
        return answered;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (!mr_token_is(name, aliases[i].name)) continue;
        *out = aliases[i].type;
        return MR_TYPE_KNOWN;
    }
    return MR_TYPE_UNKNOWN;
}

static mr_answer resolve_name(const mr_source *source, mr_token name, int depth, mare_type *out) {
    mr_answer given = resolve_given(source, name, depth, out);
    if (given == MR_TYPE_KNOWN)
        return is_redefined(source, name, depth, *out) ? MR_TYPE_AMBIGUOUS : MR_TYPE_KNOWN;
    if (given == MR_TYPE_AMBIGUOUS || mr_find_define(source, name)) return given;
    return resolve_in_text(source, name, depth, out);
}

static mr_answer resolve(const mr_source *source, const mr_words *list, int depth, mare_type *out) {
    if (mr_type_is_builtin(list, out)) return MR_TYPE_KNOWN;
    if (list->count != 1 || depth > MAX_DEPTH) return MR_TYPE_UNKNOWN;
    return resolve_name(source, list->words[0], depth, out);
}

mr_answer mr_type_resolve(const mr_source *source, const mr_words *list, mare_type *out) {
    return resolve(source, list, 0, out);
}
