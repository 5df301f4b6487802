/* parameter.c - the parameters of a kernel: their words, and what they mean. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 256, MAX_RESOLVED = 8 };

typedef struct parameter {
    mr_words type;      /* qualifiers and name removed */
    mr_token name, odd; /* odd: the first token that has no place in a parameter */
    const char *start, *end;
    int stars, words_behind; /* the stars */
    bool is_array, is_const, is_global, is_constant, is_local;
} parameter;

typedef struct named_type {
    mr_token name;
    mr_answer answer;
    mare_type type;
} named_type;

/* Of one kernel, whose parameters mostly have the same few types. */
typedef struct reader {
    const mr_source *source;
    const char *kernel;
    named_type resolved[MAX_RESOLVED];
    int resolved_count;
} reader;

/* ---- words ---- */

static const char *const idle_words[] = {
    "restrict", "__restrict__", "__restrict", "MR_RESTRICT", "volatile", "__volatile__", "register",
    "__grid_constant__", NULL,
};
static const char *const global_words[] = { "MR_GLOBAL", "__global", "global", NULL };
static const char *const constant_words[] = { "MR_CONSTANT", "__constant", "constant", NULL };
static const char *const local_words[] = { "MR_LOCAL", "__local", "local", "__shared__", NULL };
const char *const mr_attribute_words[] = {
    "__attribute__", "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "alignas", "__align__",
    "MR_GROUP_SIZE", NULL,
};

static void take_word(mr_cursor *c, parameter *p, mr_token token) {
    if (mr_token_is(token, "const") || mr_token_is(token, "__const")) {
        if (p->stars == 0) p->is_const = true; /* behind the star it is about the pointer */
    } else if (mr_token_is_one_of(token, global_words)) p->is_global = true;
    else if (mr_token_is_one_of(token, constant_words)) p->is_constant = true;
    else if (mr_token_is_one_of(token, local_words)) p->is_local = true;
    else if (mr_token_is_one_of(token, mr_attribute_words)) {
        if (mr_token_is(mr_next(c), "(")) mr_skip_brackets(c);
    } else if (!mr_token_is_one_of(token, idle_words)) {
        /* only the name has its place there; more may be a macro that hides parameters */
        if ((p->is_array || (p->stars && p->words_behind++)) && !p->odd.size) p->odd = token;
        mr_words_add(&p->type, token);
    }
}

/* Reads up to the comma or the closing bracket, which is returned. */
static mr_token read_parameter(mr_cursor *c, parameter *p) {
    *p = (parameter){ .start = mr_peek(c).start };
    for (;;) {
        mr_token token = mr_next(c);
        if (token.kind == MR_TOKEN_END || mr_token_is(token, ",") || mr_token_is(token, ")")) {
            p->end = token.start;
            return token;
        }
        if (token.kind == MR_TOKEN_WORD) take_word(c, p, token);
        else if (mr_token_is(token, "*") || mr_token_is(token, "[")) {
            p->stars++;
            if (*token.start != '[') continue;
            p->is_array = true;
            mr_skip_brackets(c);
        } else {
            if (!p->odd.size) p->odd = token;
            if (strchr("({", *token.start)) mr_skip_brackets(c);
        }
    }
}

/* The last word names the parameter unless it is all there is or belongs to the type ("unsigned
 * int", "struct cell"). */
static void split_name(parameter *p) {
    if (p->type.count < 2) return;
    mr_token last = p->type.words[p->type.count - 1];
    mare_type ignored;
    mr_words alone = { .words = { last }, .count = 1 };
    if (mr_type_is_builtin(&alone, &ignored)) return;
    if (p->type.count == 2 && mr_token_is(p->type.words[0], "struct")) return;
    p->name = last;
    p->type.count--;
}

/* ---- meaning ---- */

static mr_answer type_of(reader *self, const mr_words *words, mare_type *out) {
    if (words->count != 1) return mr_type_resolve(self->source, words, out);
    for (int i = 0; i < self->resolved_count; i++) {
        if (!mr_token_same(self->resolved[i].name, words->words[0])) continue;
        *out = self->resolved[i].type;
        return self->resolved[i].answer;
    }
    mr_answer answered = mr_type_resolve(self->source, words, out);
    if (self->resolved_count < MAX_RESOLVED)
        self->resolved[self->resolved_count++] = (named_type){ words->words[0], answered, *out };
    return answered;
}

static mare_status refuse(const reader *self, const parameter *p, uint32_t index,
                          const char *why) {
    size_t size = (size_t)(p->end - p->start);
    while (size && strchr(" \t\r\n", p->start[size - 1])) size--;
    return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s', argument %u '%.*s': %s", self->kernel, index,
                   (int)size, p->start, why);
}

static mare_status check_pointer(const reader *self, const parameter *p, uint32_t index) {
    if (p->stars > 1) return refuse(self, p, index, "a pointer to a pointer cannot be passed");
    if (p->is_local)
        return refuse(self, p, index,
                      "local memory cannot be an argument; declare it in the kernel");
    if (self->source->language == MARE_LANGUAGE_MARE && !p->is_global)
        return refuse(self, p, index, "a pointer needs MR_GLOBAL");
    if (self->source->language == MARE_LANGUAGE_MARE && mr_token_is(p->type.words[0], "bool"))
        return refuse(self, p, index, "OpenCL passes no bool; use mr_bool");
    return MARE_OK;
}

const char *mr_unpassable(const mr_source *source, const mr_words *words, mare_type type) {
    if (source->language == MARE_LANGUAGE_MARE && mr_token_is(words->words[0], "size_t"))
        return "OpenCL passes no size_t; use mr_index";
    switch (type) {
    case MARE_TYPE_HALF: return "half cannot be passed by value; pass a float";
    case MARE_TYPE_BOOL: return "bool cannot be passed by value; pass an int";
    case MARE_TYPE_COMPLEX_FLOAT:
    case MARE_TYPE_COMPLEX_DOUBLE:
        return "a complex number cannot be passed by value; pass its two parts";
    default: return NULL;
    }
}

static mare_status check_scalar(const reader *self, const parameter *p, uint32_t index,
                                mr_answer answered, mare_type type) {
    const char *why = mr_unpassable(self->source, &p->type, type);
    if (why) return refuse(self, p, index, why);
    if (answered == MR_TYPE_KNOWN) return MARE_OK;
    if (answered == MR_TYPE_AMBIGUOUS)
        return refuse(self, p, index,
                      "the source gives this type more than one meaning; fix it by a define");
    return refuse(
        self, p, index,
        "this type is not known (allowed: char to unsigned long, int8_t to uint64_t, "
        "float, double, real, a name that a define, typedef or #define gives one of them, or a "
        "struct that the source declares)");
}

/* A struct that the text declares is a parameter block; anything else stays for check_scalar. */
static mare_status describe_block(const reader *self, const parameter *p, uint32_t index,
                                  mr_signature *out) {
    mare_status status = mr_read_block(self->source, &p->type, out, &out->args[index]);
    if (status == MARE_OK) return MARE_OK;
    return mr_annotate(status, "kernel '%s', argument %u '%.*s'", self->kernel, index,
                       (int)p->name.size, p->name.start ? p->name.start : "");
}

static mare_status describe(reader *self, parameter *p, uint32_t index, mr_signature *out) {
    mare_arg_info *arg = &out->args[index];
    if (p->odd.size || p->type.overflow || !p->type.count)
        return refuse(self, p, index,
                      "only plain scalars, structs and pointers are understood here");
    split_name(p);
    mare_type type = MARE_TYPE_NONE;
    mr_answer answered = type_of(self, &p->type, &type);
    if (answered == MR_TYPE_UNKNOWN && !p->stars) MR_TRY(describe_block(self, p, index, out));
    if (p->stars) MR_TRY(check_pointer(self, p, index));
    else if (!arg->field_count) MR_TRY(check_scalar(self, p, index, answered, type));
    if (p->name.size >= sizeof arg->name)
        return refuse(self, p, index, "the name is too long (at most 63 bytes)");
    if (answered == MR_TYPE_KNOWN) arg->type = type;
    if (answered == MR_TYPE_KNOWN && !p->stars) arg->size = mare_type_size(type);
    arg->is_buffer = p->stars > 0;
    arg->is_const = p->stars && (p->is_const || p->is_constant);
    if (p->name.size) memcpy(arg->name, p->name.start, p->name.size);
    return MARE_OK;
}

static bool is_void(const parameter *p) {
    return !p->stars && !p->odd.size &&
           (!p->type.count || (p->type.count == 1 && mr_token_is(p->type.words[0], "void")));
}

mare_status mr_read_parameters(const mr_source *source, const char *kernel, mr_cursor *c,
                               mr_signature *out) {
    reader made = { .source = source, .kernel = kernel }, *self = &made;
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
        MR_TRY(describe(self, &p, out->arg_count, out));
        out->arg_count++;
        if (*end.start == ')') return MARE_OK;
    }
}
