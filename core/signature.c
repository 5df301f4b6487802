/* signature.c - reads the parameters of a kernel from its source, so that every launch can be
 * checked.
 *
 * Vendors tell the arguments of a kernel unevenly or not at all; the text tells them everywhere
 * alike. Where a type is given a name, it is followed through the defines of the program, then
 * through typedef and #define in the text; a name that the text gives two meanings (the branches of
 * an #if) is refused rather than guessed.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 256, MAX_WORDS = 12, MAX_DEPTH = 16, MAX_RESOLVED = 8 };

/* Walks over the tokens that count: no blanks, comments or directives. */
typedef struct cursor {
    const char *at;
    bool line_start;
    bool saw_directive;
} cursor;

typedef struct word_list {
    mr_token words[MAX_WORDS];
    int count;
    bool overflow;
} word_list;

typedef struct parameter {
    word_list type;     /* qualifiers and name removed */
    mr_token name, odd; /* odd: the first piece that has no place in a parameter */
    const char *start, *end;
    int stars, words_behind; /* the stars */
    bool is_array, is_const, is_global, is_constant, is_local;
} parameter;

typedef struct fixed_group {
    uint32_t size[3]; /* 0 where it is not fixed, or cannot be read */
    const char *text; /* the sizes as they are written, to the closing bracket */
    int length;
} fixed_group;

typedef enum answer { TYPE_KNOWN, TYPE_UNKNOWN, TYPE_AMBIGUOUS } answer;

typedef struct named_type {
    mr_token name;
    answer answer;
    mare_type type;
} named_type;

typedef struct parser {
    const mr_source *source;
    const char *kernel;
    bool found, has_body;
    mr_text others;                     /* names of the kernels that were passed by */
    named_type resolved[MAX_RESOLVED];  /* a few names stand for most types */
    int resolved_count;
} parser;

/* ---- tokens ---- */

static void skip_line(cursor *c) {
    mr_token token = mr_lex(c->at);
    while (token.kind != MR_TOKEN_END && token.kind != MR_TOKEN_NEWLINE) {
        c->at = token.start + token.size;
        token = mr_lex(c->at);
    }
}

static mr_token next(cursor *c) {
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

static mr_token peek(const cursor *c) {
    cursor ahead = *c;
    return next(&ahead);
}

static bool same(mr_token a, mr_token b) {
    return a.size == b.size && !memcmp(a.start, b.start, a.size);
}

static bool is_one_of(mr_token token, const char *const *list) {
    for (; *list; list++)
        if (mr_token_is(token, *list)) return true;
    return false;
}

/* Past the bracket that closes the one just read. */
static void skip_brackets(cursor *c) {
    for (int depth = 1; depth > 0;) {
        mr_token token = next(c);
        if (token.kind == MR_TOKEN_END) return;
        if (token.kind != MR_TOKEN_MARK) continue;
        if (strchr("([{", *token.start)) depth++;
        else if (strchr(")]}", *token.start)) depth--;
    }
}

static void add_word(word_list *list, mr_token word) {
    if (list->count < MAX_WORDS) list->words[list->count++] = word;
    else list->overflow = true;
}

/* ---- types ---- */

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
};

static answer resolve(const mr_source *source, const word_list *list, int depth, mare_type *out);

static bool has_word(const word_list *list, const char *word) {
    for (int i = 0; i < list->count; i++)
        if (mr_token_is(list->words[i], word)) return true;
    return false;
}

/* The words of C's own arithmetic types, in any order; long has 64 bits on every platform that Mare
 * runs on. */
static bool builtin(const word_list *list, mare_type *out) {
    static const char *const words[] = { "signed", "unsigned", "char",   "short", "long",
                                         "int",    "float",    "double", NULL };
    for (int i = 0; i < list->count; i++)
        if (!is_one_of(list->words[i], words)) return false;
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
static bool words_of(const char *at, const char *end, word_list *out) {
    *out = (word_list){ 0 };
    for (mr_token token = mr_lex(at); token.kind != MR_TOKEN_END && token.start < end;
         token = mr_lex(at)) {
        at = token.start + token.size;
        if (token.kind == MR_TOKEN_WORD) add_word(out, token);
        else if (token.kind != MR_TOKEN_SPACE && token.kind != MR_TOKEN_NEWLINE) return false;
    }
    return !out->overflow && out->count > 0;
}

/* What a typedef or a #define that begins with `token` says about `name`; false if it is about
 * something else. */
static bool read_definition(cursor *c, mr_token token, mr_token name, word_list *out) {
    if (mr_token_is(token, "typedef")) {
        const char *end = c->at + strcspn(c->at, ";");
        if (!words_of(c->at, end, out) || out->count < 2) return false;
        return same(out->words[--out->count], name);
    }
    cursor ahead = *c;
    if (!mr_token_is(token, "#") || !mr_token_is(next(&ahead), "define")) return false;
    if (!same(next(&ahead), name)) return false;
    return words_of(ahead.at, ahead.at + strcspn(ahead.at, "\n"), out);
}

static answer resolve_in_text(const mr_source *source, mr_token name, int depth, mare_type *out) {
    answer so_far = TYPE_UNKNOWN;
    cursor c = { .at = source->text, .line_start = true };
    for (mr_token token = mr_lex(c.at); token.kind != MR_TOKEN_END; token = mr_lex(c.at)) {
        c.at = token.start + token.size;
        c.line_start = false;
        word_list list;
        mare_type type = MARE_TYPE_NONE;
        if (!read_definition(&c, token, name, &list) ||
            resolve(source, &list, depth + 1, &type) != TYPE_KNOWN)
            continue;
        if (so_far == TYPE_KNOWN && type != *out) return TYPE_AMBIGUOUS;
        so_far = TYPE_KNOWN;
        *out = type;
    }
    return so_far;
}

static const char *find_define(const mr_source *source, mr_token name) {
    for (uint64_t i = 0; i < source->define_count; i++)
        if (mr_token_is(name, source->defines[i].name)) return source->defines[i].value;
    return NULL;
}

/* ---- a name with a meaning that the text gives another one ---- */

/* Where a name stands in the #if around a place: `level` of the one about it, 0 for none. */
typedef struct guard {
    int depth, level;
    bool undefined, otherwise; /* whether the name is undefined here, and behind the #else */
} guard;

/* #ifndef NAME, #if !defined NAME, #if !defined(NAME); otherwise #ifdef. */
static bool asks_for(cursor c, mr_token verb, mr_token name, bool *undefined) {
    *undefined = !mr_token_is(verb, "ifdef");
    if (mr_token_is(verb, "if")) {
        if (!mr_token_is(next(&c), "!") || !mr_token_is(next(&c), "defined")) return false;
        if (mr_token_is(peek(&c), "(")) next(&c);
        if (!same(next(&c), name)) return false;
        return strspn(c.at, ") \t\r") == strcspn(c.at, "\n");
    }
    return same(next(&c), name);
}

static void follow(guard *g, cursor c, mr_token verb, mr_token name) {
    static const char *const ifs[] = { "if", "ifdef", "ifndef", NULL };
    static const char *const others[] = { "else", "elif", NULL };
    bool undefined = false;
    if (is_one_of(verb, ifs)) {
        g->depth++;
        if (!g->level && asks_for(c, verb, name, &undefined))
            *g = (guard){ g->depth, g->depth, undefined, !undefined };
    } else if (is_one_of(verb, others) && g->depth == g->level) g->undefined = g->otherwise;
    else if (mr_token_is(verb, "endif") && g->depth-- == g->level) g->level = 0;
}

/* Whether "define" and the name follow one another anywhere: it rarely does, and saves the rest. */
static bool mentions_define(const char *text, mr_token name) {
    while ((text = strstr(text, "define"))) {
        cursor c = { .at = text += strlen("define") };
        if (same(next(&c), name)) return true;
    }
    return false;
}

/* Whether a #define of the text may give the name another type. One where the name is undefined
 * is never taken where a define of the program gives it. */
static bool is_redefined(const mr_source *source, mr_token name, int depth, mare_type type) {
    if (!mentions_define(source->text, name)) return false;
    bool given = find_define(source, name) != NULL;
    guard g = { 0 };
    cursor c = { .at = source->text, .line_start = true };
    for (mr_token token = mr_lex(c.at); token.kind != MR_TOKEN_END; token = mr_lex(c.at)) {
        c.at = token.start + token.size;
        c.line_start = false;
        if (!mr_token_is(token, "#")) continue;
        cursor ahead = c;
        mr_token verb = next(&ahead);
        follow(&g, ahead, verb, name);
        if (mr_token_is(verb, "undef") && same(next(&ahead), name)) given = false;
        if (!mr_token_is(verb, "define") || !same(next(&ahead), name)) continue;
        if (given && g.level && g.undefined) continue;
        word_list list;
        mare_type other = MARE_TYPE_NONE;
        if (!read_definition(&c, token, name, &list) ||
            resolve(source, &list, depth + 1, &other) != TYPE_KNOWN || other != type)
            return true;
    }
    return false;
}

/* What a name means without the text: by the defines, the prelude or the language. */
static answer resolve_given(const mr_source *source, mr_token name, int depth, mare_type *out) {
    const char *value = find_define(source, name);
    if (!value && source->language == MARE_LANGUAGE_MARE && mr_token_is(name, "real")) {
        static const char fallback[] = "MARE_REAL";
        value = find_define(source, (mr_token){ MR_TOKEN_WORD, fallback, sizeof fallback - 1 });
        if (!value) value = "float"; /* as the prelude has it */
    }
    word_list list;
    if (value && words_of(value, value + strlen(value), &list))
        return resolve(source, &list, depth + 1, out);
    for (size_t i = 0; !value && i < sizeof aliases / sizeof *aliases; i++) {
        if (!mr_token_is(name, aliases[i].name)) continue;
        *out = aliases[i].type;
        return TYPE_KNOWN;
    }
    return TYPE_UNKNOWN;
}

static answer resolve_name(const mr_source *source, mr_token name, int depth, mare_type *out) {
    answer given = resolve_given(source, name, depth, out);
    if (given == TYPE_KNOWN)
        return is_redefined(source, name, depth, *out) ? TYPE_AMBIGUOUS : TYPE_KNOWN;
    if (given == TYPE_AMBIGUOUS || find_define(source, name)) return given;
    return resolve_in_text(source, name, depth, out);
}

static answer resolve(const mr_source *source, const word_list *list, int depth, mare_type *out) {
    if (builtin(list, out)) return TYPE_KNOWN;
    if (list->count != 1 || depth > MAX_DEPTH) return TYPE_UNKNOWN;
    return resolve_name(source, list->words[0], depth, out);
}

static answer type_of(parser *self, const word_list *words, mare_type *out) {
    if (words->count != 1) return resolve(self->source, words, 0, out);
    for (int i = 0; i < self->resolved_count; i++) {
        if (!same(self->resolved[i].name, words->words[0])) continue;
        *out = self->resolved[i].type;
        return self->resolved[i].answer;
    }
    answer answered = resolve(self->source, words, 0, out);
    if (self->resolved_count < MAX_RESOLVED)
        self->resolved[self->resolved_count++] = (named_type){ words->words[0], answered, *out };
    return answered;
}

/* ---- parameters ---- */

static const char *const idle_words[] = {
    "restrict", "__restrict__", "__restrict", "MR_RESTRICT", "volatile", "__volatile__", "register",
    "__grid_constant__", NULL,
};
static const char *const global_words[] = { "MR_GLOBAL", "__global", "global", NULL };
static const char *const constant_words[] = { "MR_CONSTANT", "__constant", "constant", NULL };
static const char *const local_words[] = { "MR_LOCAL", "__local", "local", "__shared__", NULL };
static const char *const attribute_words[] = {
    "__attribute__", "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "alignas", "__align__",
    "MR_GROUP_SIZE", NULL,
};

static void take_word(cursor *c, parameter *p, mr_token token) {
    if (mr_token_is(token, "const") || mr_token_is(token, "__const")) {
        if (p->stars == 0) p->is_const = true; /* behind the star it is about the pointer */
    } else if (is_one_of(token, global_words)) p->is_global = true;
    else if (is_one_of(token, constant_words)) p->is_constant = true;
    else if (is_one_of(token, local_words)) p->is_local = true;
    else if (is_one_of(token, attribute_words)) {
        if (mr_token_is(next(c), "(")) skip_brackets(c);
    } else if (!is_one_of(token, idle_words)) {
        /* only the name has its place there; more may be a macro that hides parameters */
        if ((p->is_array || (p->stars && p->words_behind++)) && !p->odd.size) p->odd = token;
        add_word(&p->type, token);
    }
}

/* Reads up to the comma or the closing bracket, which is returned. */
static mr_token read_parameter(cursor *c, parameter *p) {
    *p = (parameter){ .start = peek(c).start };
    for (;;) {
        mr_token token = next(c);
        if (token.kind == MR_TOKEN_END || mr_token_is(token, ",") || mr_token_is(token, ")")) {
            p->end = token.start;
            return token;
        }
        if (token.kind == MR_TOKEN_WORD) take_word(c, p, token);
        else if (mr_token_is(token, "*") || mr_token_is(token, "[")) {
            p->stars++;
            if (*token.start != '[') continue;
            p->is_array = true;
            skip_brackets(c);
        } else {
            if (!p->odd.size) p->odd = token;
            if (strchr("({", *token.start)) skip_brackets(c);
        }
    }
}

/* The last word names the parameter unless it is all there is or belongs to the type ("unsigned
 * int"). */
static void split_name(parameter *p) {
    if (p->type.count < 2) return;
    mr_token last = p->type.words[p->type.count - 1];
    mare_type ignored;
    word_list alone = { .words = { last }, .count = 1 };
    if (builtin(&alone, &ignored)) return;
    p->name = last;
    p->type.count--;
}

static mare_status refuse(const parser *self, const parameter *p, uint32_t index, const char *why) {
    size_t size = (size_t)(p->end - p->start);
    while (size && strchr(" \t\r\n", p->start[size - 1])) size--;
    return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s', argument %u '%.*s': %s", self->kernel, index,
                   (int)size, p->start, why);
}

static mare_status check_pointer(const parser *self, const parameter *p, uint32_t index) {
    if (p->stars > 1) return refuse(self, p, index, "a pointer to a pointer cannot be passed");
    if (p->is_local)
        return refuse(self, p, index,
                      "local memory cannot be an argument; declare it in the kernel");
    if (self->source->language == MARE_LANGUAGE_MARE && !p->is_global)
        return refuse(self, p, index, "a pointer needs MR_GLOBAL");
    return MARE_OK;
}

static mare_status check_scalar(const parser *self, const parameter *p, uint32_t index,
                                answer answered) {
    mr_token first = p->type.count ? p->type.words[0] : (mr_token){ .start = "" };
    if (self->source->language == MARE_LANGUAGE_MARE && mr_token_is(first, "size_t"))
        return refuse(self, p, index, "OpenCL passes no size_t; use mr_index");
    if (answered == TYPE_KNOWN) return MARE_OK;
    if (answered == TYPE_AMBIGUOUS)
        return refuse(self, p, index,
                      "the source gives this type more than one meaning; fix it by a define");
    if (mr_token_is(first, "half"))
        return refuse(self, p, index, "half cannot be passed by value; pass a float");
    if (mr_token_is(first, "struct"))
        return refuse(self, p, index, "a struct cannot be passed by value");
    if (mr_token_is(first, "bool"))
        return refuse(self, p, index, "bool cannot be passed; pass an int");
    return refuse(
        self, p, index,
        "this type is not known (allowed: char to unsigned long, int8_t to uint64_t, "
        "float, double, real, or a name that a define, typedef or #define gives one of them)");
}

static mare_status describe(parser *self, parameter *p, uint32_t index, mare_arg_info *out) {
    if (p->odd.size || p->type.overflow || !p->type.count)
        return refuse(self, p, index, "only plain scalars and pointers are understood here");
    split_name(p);
    mare_type type = MARE_TYPE_NONE;
    answer answered = type_of(self, &p->type, &type);
    MR_TRY(p->stars ? check_pointer(self, p, index) : check_scalar(self, p, index, answered));
    if (p->name.size >= sizeof out->name)
        return refuse(self, p, index, "the name is too long (at most 63 bytes)");
    *out = (mare_arg_info){ .type = answered == TYPE_KNOWN ? type : MARE_TYPE_NONE,
                            .is_buffer = p->stars > 0,
                            .is_const = p->stars && (p->is_const || p->is_constant) };
    if (p->name.size) memcpy(out->name, p->name.start, p->name.size);
    return MARE_OK;
}

static bool is_void(const parameter *p) {
    return !p->stars && !p->odd.size &&
           (!p->type.count || (p->type.count == 1 && mr_token_is(p->type.words[0], "void")));
}

/* The cursor stands behind the opening bracket. */
static mare_status parse_list(parser *self, cursor *c, mr_signature *out) {
    out->args = calloc(MAX_ARGS, sizeof *out->args);
    if (!out->args)
        return mr_fail(MARE_ERROR_MEMORY, "kernel '%s': out of host memory", self->kernel);
    c->saw_directive = false;
    for (;;) {
        parameter p;
        mr_token end = read_parameter(c, &p);
        if (c->saw_directive)
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "kernel '%s': a line with # within its parameters is not understood",
                           self->kernel);
        if (end.kind == MR_TOKEN_END)
            return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': its parameter list does not end",
                           self->kernel);
        if (out->arg_count == 0 && *end.start == ')' && is_void(&p)) return MARE_OK;
        if (out->arg_count == MAX_ARGS)
            return refuse(self, &p, out->arg_count, "too many arguments (at most 256)");
        MR_TRY(describe(self, &p, out->arg_count, &out->args[out->arg_count]));
        out->arg_count++;
        if (*end.start == ')') return MARE_OK;
    }
}

/* ---- kernels ---- */

static bool is_marker(const mr_source *source, mr_token token) {
    if (token.kind != MR_TOKEN_WORD) return false;
    if (source->language == MARE_LANGUAGE_MARE) return mr_token_is(token, "MR_KERNEL");
    if (source->language == MARE_LANGUAGE_CUDA) return mr_token_is(token, "__global__");
    return mr_token_is(token, "__kernel") || mr_token_is(token, "kernel");
}

static bool is_size(uint64_t value) { return value > 0 && value <= INT32_MAX; }

static bool read_sum(const mr_source *source, cursor *c, int depth, uint64_t *out);

static bool read_value(const mr_source *source, const char *text, int depth, uint64_t *out) {
    mr_text line = { 0 };               /* the value ends with its line */
    mr_text_append(&line, text, strcspn(text, "\n"));
    cursor c = { .at = mr_text_cstr(&line) };
    bool read = depth < MAX_DEPTH && !line.failed && read_sum(source, &c, depth + 1, out) &&
                next(&c).kind == MR_TOKEN_END;
    mr_text_free(&line);
    return read;
}

/* What every #define of the name in the text agrees on. */
static bool read_defined(const mr_source *source, mr_token name, int depth, uint64_t *out) {
    bool found = false;
    cursor c = { .at = source->text, .line_start = true };
    for (mr_token token = mr_lex(c.at); token.kind != MR_TOKEN_END; token = mr_lex(c.at)) {
        c.at = token.start + token.size;
        c.line_start = false;
        cursor ahead = c;
        if (!mr_token_is(token, "#") || !mr_token_is(next(&ahead), "define") ||
            !same(next(&ahead), name))
            continue;
        uint64_t value = 0;
        if (!read_value(source, ahead.at, depth, &value) || (found && value != *out)) return false;
        *out = value;
        found = true;
    }
    return found;
}

/* A plain integer, a bracket, or a name that the program or the text defines so. */
static bool read_factor(const mr_source *source, cursor *c, int depth, uint64_t *out) {
    mr_token token = next(c);
    if (mr_token_is(token, "("))
        return depth < MAX_DEPTH && read_sum(source, c, depth + 1, out) &&
               mr_token_is(next(c), ")");
    if (token.kind != MR_TOKEN_WORD) return false;
    char *end = NULL;
    *out = strtoul(token.start, &end, 0);
    end += strspn(end, "uUlL");
    if (end == token.start + token.size) return is_size(*out);
    const char *define = find_define(source, token);
    return define ? read_value(source, define, depth, out)
                  : read_defined(source, token, depth, out);
}

static bool read_product(const mr_source *source, cursor *c, int depth, uint64_t *out) {
    uint64_t factor = 0;
    if (!read_factor(source, c, depth, out)) return false;
    while (mr_token_is(peek(c), "*") || mr_token_is(peek(c), "/")) {
        mr_token sign = next(c);
        if (!read_factor(source, c, depth, &factor)) return false;
        *out = *sign.start == '*' ? *out * factor : *out / factor;
        if (!is_size(*out)) return false;
    }
    return true;
}

static bool read_sum(const mr_source *source, cursor *c, int depth, uint64_t *out) {
    uint64_t term = 0;
    if (!read_product(source, c, depth, out)) return false;
    while (mr_token_is(peek(c), "+") || mr_token_is(peek(c), "-")) {
        mr_token sign = next(c);
        if (!read_product(source, c, depth, &term)) return false;
        *out = *sign.start == '+' ? *out + term : *out - term;
        if (!is_size(*out)) return false;
    }
    return true;
}

/* "8, 2 * GROUP, 1)" */
static void read_group(const mr_source *source, cursor c, fixed_group *group) {
    uint64_t sizes[3];
    cursor end = c;
    skip_brackets(&end);
    group->text = c.at;
    group->length = (int)(end.at - c.at);
    for (int d = 0; d < 3; d++) {
        if (!read_sum(source, &c, 0, &sizes[d])) return;
        if (!mr_token_is(next(&c), d < 2 ? "," : ")")) return;
    }
    for (int d = 0; d < 3; d++) group->size[d] = (uint32_t)sizes[d];
}

/* Passes by an attribute, the cursor behind its word and bracket. */
static void read_attribute(const mr_source *source, cursor *c, mr_token word, fixed_group *group) {
    static const char *const group_words[] = { "MR_GROUP_SIZE", "reqd_work_group_size", NULL };
    cursor inside = *c;
    skip_brackets(c);
    if (is_one_of(word, group_words)) read_group(source, inside, group);
    while (inside.at < c->at) {
        word = next(&inside);
        if (!is_one_of(word, group_words) || !mr_token_is(peek(&inside), "(")) continue;
        next(&inside);
        read_group(source, inside, group);
    }
}

/* From behind the marker to behind the opening bracket; the kernel's name, of size 0 if there is
 * none. */
static mr_token read_head(const mr_source *source, cursor *c, fixed_group *group) {
    mr_token none = { 0 };
    for (mr_token token = next(c); token.kind == MR_TOKEN_WORD; token = next(c)) {
        if (!mr_token_is(peek(c), "(")) continue;
        next(c);
        if (!is_one_of(token, attribute_words)) return token;
        read_attribute(source, c, token, group);
    }
    return none;
}

static bool equal_types(const mr_signature *a, const mr_signature *b) {
    if (a->arg_count != b->arg_count) return false;
    for (uint32_t i = 0; i < a->arg_count; i++)
        if (a->args[i].type != b->args[i].type || a->args[i].is_buffer != b->args[i].is_buffer ||
            a->args[i].is_const != b->args[i].is_const)
            return false;
    return true;
}

/* A declaration may leave a name out. */
static bool equal_names(const mr_signature *a, const mr_signature *b) {
    for (uint32_t i = 0; i < a->arg_count; i++) {
        const char *one = a->args[i].name, *other = b->args[i].name;
        if (*one && *other && strcmp(one, other) != 0) return false;
    }
    return true;
}

/* Whether a body, rather than a semicolon, follows the parameters. */
static bool has_body(cursor c) {
    mr_token token = next(&c);
    while (token.kind != MR_TOKEN_END && !mr_token_is(token, "{") && !mr_token_is(token, ";"))
        token = next(&c);
    return !mr_token_is(token, ";");
}

/* In native text the vendor knows a group that cannot be read here, and refuses others. */
static mare_status take_group(const parser *self, const fixed_group *group, mr_signature *out) {
    const uint32_t *size = group->size;
    if (!size[0] && group->text && self->source->language == MARE_LANGUAGE_MARE)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s': its group 'MR_GROUP_SIZE(%.*s' cannot be read; three sizes "
                       "are wanted, of integers, names defined once, + - * / and brackets",
                       self->kernel, group->length, group->text);
    if (!size[0]) return MARE_OK;
    if (out->group[0] && memcmp(out->group, size, sizeof out->group) != 0)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s': the source fixes its group to %u x %u x %u and to "
                       "%u x %u x %u; use a define",
                       self->kernel, out->group[0], out->group[1], out->group[2], size[0], size[1],
                       size[2]);
    memcpy(out->group, size, sizeof out->group);
    return MARE_OK;
}

/* What keeps one declaration from standing for the other; NULL if nothing does. */
static const char *difference(const mr_signature *a, const mr_signature *b, bool alike) {
    if (!equal_types(a, b)) return "different parameters";
    return alike && !equal_names(a, b) ? "other names of its parameters" : NULL;
}

/* A kernel may be declared again, with the same types; its body gives the names. Two bodies stand
 * in the branches of an #if, and which one the compiler takes is not known here. */
static mare_status take_kernel(parser *self, cursor *c, mr_signature *out) {
    mr_signature now = { 0 };
    mare_status status = parse_list(self, c, &now);
    const bool body = has_body(*c), again = self->found;
    const char *differs =
        status == MARE_OK && again ? difference(out, &now, body == self->has_body) : NULL;
    if (differs)
        status = mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': the source declares it with %s",
                         self->kernel, differs);
    if (status == MARE_OK && (!again || (body && !self->has_body))) {
        free(out->args);
        out->args = now.args;
        out->arg_count = now.arg_count;
        now.args = NULL;
    }
    mr_signature_free(&now);
    self->found = true;
    self->has_body = self->has_body || body;
    return status;
}

static mare_status scan(parser *self, mr_signature *out) {
    cursor c = { .at = self->source->text, .line_start = true };
    for (mr_token token = next(&c); token.kind != MR_TOKEN_END; token = next(&c)) {
        if (!is_marker(self->source, token)) continue;
        fixed_group group = { 0 };
        mr_token head = read_head(self->source, &c, &group);
        if (mr_token_is(head, self->kernel)) {
            MR_TRY(take_kernel(self, &c, out));
            MR_TRY(take_group(self, &group, out));
        } else if (head.size)
            mr_text_format(&self->others, "%s%.*s", self->others.size ? ", " : "", (int)head.size,
                           head.start);
    }
    if (self->found) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': not in the source (kernels there: %s)",
                   self->kernel, self->others.size ? self->others.data : "none");
}

mare_status mr_signature_parse(const mr_source *source, const char *name, mr_signature *out) {
    *out = (mr_signature){ 0 };
    if (!*name || strlen(name) >= sizeof out->name)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': the name must have 1 to %zu bytes", name,
                       sizeof out->name - 1);
    parser self = { .source = source, .kernel = name };
    memcpy(out->name, name, strlen(name));
    mare_status status = scan(&self, out);
    mr_text_free(&self.others);
    if (status != MARE_OK) mr_signature_free(out);
    return status;
}

void mr_signature_free(mr_signature *signature) {
    free(signature->args);
    *signature = (mr_signature){ 0 };
}
