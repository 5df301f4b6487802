/* signature.c - finds a kernel in the text of a program and reads what launches are checked by: its
 * parameters, the group that it fixes, its large local array.
 *
 * Vendors tell the arguments of a kernel unevenly or not at all; the text tells them everywhere
 * alike. parameter.c reads the parameters, block.c the structs among them, typename.c and
 * constant.c what names stand for, lex.c the tokens.
 */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

typedef struct fixed_group {
    uint32_t size[3]; /* 0 where it is not fixed, or cannot be read */
    const char *text; /* the sizes as they are written, to the closing bracket */
    int length;
} fixed_group;

typedef struct finder {
    const mr_source *source;
    const char *kernel;
    bool found, has_body;
    mr_text others;                     /* names of the kernels that were passed by */
} finder;

static bool is_marker(const mr_source *source, mr_token token) {
    if (token.kind != MR_TOKEN_WORD) return false;
    if (source->language == MARE_LANGUAGE_MARE) return mr_token_is(token, "MR_KERNEL");
    if (source->language == MARE_LANGUAGE_CUDA) return mr_token_is(token, "__global__");
    return mr_token_is(token, "__kernel") || mr_token_is(token, "kernel");
}

/* ---- groups ---- */

/* "8, 2 * GROUP, 1)" */
static void read_group(const mr_source *source, mr_cursor c, fixed_group *group) {
    uint64_t sizes[3];
    mr_cursor end = c;
    mr_skip_brackets(&end);
    group->text = c.at;
    group->length = (int)(end.at - c.at);
    for (int d = 0; d < 3; d++) {
        if (!mr_read_size(source, &c, &sizes[d])) return;
        if (!mr_token_is(mr_next(&c), d < 2 ? "," : ")")) return;
    }
    for (int d = 0; d < 3; d++) group->size[d] = (uint32_t)sizes[d];
}

/* Passes by an attribute, from behind its word and bracket. */
static void read_attribute(const mr_source *source, mr_cursor *c, mr_token word,
                           fixed_group *group) {
    static const char *const group_words[] = { "MR_GROUP_SIZE", "reqd_work_group_size", NULL };
    mr_cursor inside = *c;
    mr_skip_brackets(c);
    if (mr_token_is_one_of(word, group_words)) read_group(source, inside, group);
    while (inside.at < c->at) {
        word = mr_next(&inside);
        if (!mr_token_is_one_of(word, group_words)) continue;
        if (!mr_token_is(mr_peek(&inside), "(")) continue;
        mr_next(&inside);
        read_group(source, inside, group);
    }
}

/* From behind the marker to behind the opening bracket; the kernel's name, of size 0 if there is
 * none. */
static mr_token read_head(const mr_source *source, mr_cursor *c, fixed_group *group) {
    mr_token none = { 0 };
    for (mr_token token = mr_next(c); token.kind == MR_TOKEN_WORD; token = mr_next(c)) {
        if (!mr_token_is(mr_peek(c), "(")) continue;
        mr_next(c);
        if (!mr_token_is_one_of(token, mr_attribute_words)) return token;
        read_attribute(source, c, token, group);
    }
    return none;
}

/* ---- large local arrays ---- */

static const char large_word[] = "MR_LOCAL_LARGE";

/* "(real, name, ROWS * 128)" */
static bool read_large(const mr_source *source, mr_cursor c, uint64_t *bytes) {
    mr_words type = { 0 };
    mare_type element = MARE_TYPE_NONE;
    if (!mr_token_is(mr_next(&c), "(")) return false;
    mr_token token = mr_next(&c);
    for (; token.kind == MR_TOKEN_WORD; token = mr_next(&c)) mr_words_add(&type, token);
    if (!mr_token_is(token, ",") || type.overflow) return false;
    if (mr_type_resolve(source, &type, &element) != MR_TYPE_KNOWN) return false;
    if (mr_next(&c).kind != MR_TOKEN_WORD || !mr_token_is(mr_next(&c), ",")) return false;
    if (!mr_read_size(source, &c, bytes) || !mr_token_is(mr_next(&c), ")")) return false;
    *bytes *= mare_type_size(element);
    return *bytes <= INT32_MAX;
}

/* In the body that follows the parameters. */
static mare_status read_body(const finder *self, mr_cursor c, mr_signature *out) {
    int count = 0, depth = 0;
    do {
        mr_token token = mr_next(&c);
        if (token.kind == MR_TOKEN_END) return MARE_OK;
        depth += mr_token_is(token, "{") - mr_token_is(token, "}");
        if (!mr_token_is(token, large_word)) continue;
        if (++count > 1)
            return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': more than one MR_LOCAL_LARGE",
                           self->kernel);
        if (!read_large(self->source, c, &out->local_bytes))
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "kernel '%s': its MR_LOCAL_LARGE cannot be read; a type of buffers, a "
                           "name and a number of elements are wanted, of integers, names defined "
                           "once, + - * / and brackets, and at most 2^31 - 1 bytes in all",
                           self->kernel);
    } while (depth > 0);
    return MARE_OK;
}

/* Behind a #define the size would be read by nobody, and the array have no memory. */
static mare_status check_hidden(const finder *self) {
    const char *at = self->source->text;
    bool in_directive = false, line_start = true;
    if (self->source->language != MARE_LANGUAGE_MARE || !strstr(at, large_word)) return MARE_OK;
    for (mr_token token = mr_lex(at); token.kind != MR_TOKEN_END; token = mr_lex(at)) {
        at = token.start + token.size;
        if (line_start && mr_token_is(token, "#")) in_directive = true;
        if (token.kind == MR_TOKEN_NEWLINE) in_directive = false;
        if (token.kind != MR_TOKEN_SPACE) line_start = token.kind == MR_TOKEN_NEWLINE;
        if (in_directive && mr_token_is(token, large_word))
            return mr_fail(MARE_ERROR_ARGUMENT,
                           "kernel '%s': MR_LOCAL_LARGE in a line with #; it belongs into the "
                           "body of a kernel",
                           self->kernel);
    }
    return MARE_OK;
}

/* ---- declarations ---- */

static bool equal_types(const mr_signature *a, const mr_signature *b) {
    if (a->arg_count != b->arg_count) return false;
    for (uint32_t i = 0; i < a->arg_count; i++)
        if (a->args[i].type != b->args[i].type || a->args[i].is_buffer != b->args[i].is_buffer ||
            a->args[i].is_const != b->args[i].is_const || a->args[i].size != b->args[i].size)
            return false;
    return a->field_count == b->field_count &&
           (!a->field_count || !memcmp(a->fields, b->fields, a->field_count * sizeof *a->fields));
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
static bool has_body(mr_cursor c) {
    mr_token token = mr_next(&c);
    while (token.kind != MR_TOKEN_END && !mr_token_is(token, "{") && !mr_token_is(token, ";"))
        token = mr_next(&c);
    return !mr_token_is(token, ";");
}

/* In native text the vendor knows a group that cannot be read here, and refuses others. */
static mare_status take_group(const finder *self, const fixed_group *group, mr_signature *out) {
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
    if (alike && a->local_bytes != b->local_bytes) return "other large local arrays";
    return alike && !equal_names(a, b) ? "other names of its parameters" : NULL;
}

/* A kernel may be declared again, with the same types; its body gives the names. Two bodies stand
 * in the branches of an #if, and which one the compiler takes is not known here. */
static mare_status take_kernel(finder *self, mr_cursor *c, mr_signature *out) {
    mr_signature now = { 0 };
    mare_status status = mr_read_parameters(self->source, self->kernel, c, &now);
    const bool body = has_body(*c), again = self->found;
    if (status == MARE_OK && body) status = read_body(self, *c, &now);
    const char *differs =
        status == MARE_OK && again ? difference(out, &now, body == self->has_body) : NULL;
    if (differs)
        status = mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': the source declares it with %s",
                         self->kernel, differs);
    if (status == MARE_OK && (!again || (body && !self->has_body))) {
        mr_signature taken = *out;
        out->args = now.args;
        out->arg_count = now.arg_count;
        out->fields = now.fields;
        out->field_count = now.field_count;
        out->local_bytes = now.local_bytes;
        now = taken;
    }
    mr_signature_free(&now);
    self->found = true;
    self->has_body = self->has_body || body;
    return status;
}

/* Follows the braces from the marker of a kernel to the end of its body. */
typedef struct place {
    int depth;
    bool in_kernel;
} place;

static mare_status follow(const finder *self, place *at, mr_token token) {
    if (mr_token_is(token, large_word) && !at->in_kernel &&
        self->source->language == MARE_LANGUAGE_MARE)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s': the source has MR_LOCAL_LARGE outside of a kernel's body",
                       self->kernel);
    at->depth += mr_token_is(token, "{") - mr_token_is(token, "}");
    const bool ends = mr_token_is(token, "}") || mr_token_is(token, ";");
    if (ends && at->depth == 0) at->in_kernel = false;
    return MARE_OK;
}

static mare_status scan(finder *self, mr_signature *out) {
    mr_cursor c = { .at = self->source->text, .line_start = true };
    place at = { 0 };
    for (mr_token token = mr_next(&c); token.kind != MR_TOKEN_END; token = mr_next(&c)) {
        MR_TRY(follow(self, &at, token));
        if (!is_marker(self->source, token)) continue;
        at.in_kernel = true;
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
    finder self = { .source = source, .kernel = name };
    memcpy(out->name, name, strlen(name));
    mare_status status = check_hidden(&self);
    if (status == MARE_OK) status = scan(&self, out);
    mr_text_free(&self.others);
    if (status != MARE_OK) mr_signature_free(out);
    return status;
}

uint32_t mr_signature_first_field(const mr_signature *signature, uint32_t index) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < index; i++) first += signature->args[i].field_count;
    return first;
}

void mr_signature_free(mr_signature *signature) {
    free(signature->args);
    free(signature->fields);
    *signature = (mr_signature){ 0 };
}
