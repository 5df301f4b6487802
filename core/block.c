/* block.c - parameter blocks: a struct that a kernel takes by value, as the text declares it.
 *
 * Its fields are laid out by the rules of C, which the vendors' compilers follow for what is
 * understood here: each begins at a multiple of its own size. CUDA tells its size of a block when a
 * launch is made, OpenCL when the block is set, so that another layout is never taken for this one.
 */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 256, MAX_BYTES = 4096, MAX_ALIASES = 8 };

typedef struct reader {
    const mr_source *source;
    mr_token name;                  /* of the struct, for messages */
    mare_field_info *fields;        /* room for MAX_FIELDS */
    uint32_t count;
    uint64_t size, alignment;
} reader;

static mare_status refuse(const reader *self, mr_token field, const char *why) {
    return mr_fail(MARE_ERROR_ARGUMENT, "struct '%.*s', field '%.*s': %s", (int)self->name.size,
                   self->name.start, (int)field.size, field.start ? field.start : "", why);
}

/* ---- types of fields ---- */

/* "int4": vectors that all vendors lay out alike; those of three and of four doubles they do not.
 */
static bool find_vector(mr_token word, mare_type *type, uint32_t *count) {
    static const struct { const char *name; mare_type type; } elements[] = {
        { "char", MARE_TYPE_INT8 },    { "uchar", MARE_TYPE_UINT8 }, { "short", MARE_TYPE_INT16 },
        { "ushort", MARE_TYPE_UINT16 }, { "int", MARE_TYPE_INT32 },  { "uint", MARE_TYPE_UINT32 },
        { "float", MARE_TYPE_FLOAT },  { "double", MARE_TYPE_DOUBLE },
    };
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const size_t size = strlen(elements[i].name);
        if (word.size != size + 1 || memcmp(word.start, elements[i].name, size) != 0) continue;
        *type = elements[i].type;
        *count = (uint32_t)(word.start[size] - '0');
        return *count == 2 || (*count == 4 && mare_type_size(*type) < 8);
    }
    return false;
}

typedef struct field_type {
    mare_type element;
    uint32_t count;                 /* 1, or of a vector */
} field_type;

static mare_status read_type(const reader *self, const mr_words *words, mr_token field,
                             field_type *out) {
    out->count = 1;
    mr_answer answered = mr_type_resolve(self->source, words, &out->element);
    const char *why = mr_unpassable(self->source, words,
                                    answered == MR_TYPE_KNOWN ? out->element : MARE_TYPE_NONE);
    if (why) return refuse(self, field, why);
    if (answered == MR_TYPE_KNOWN) return MARE_OK;
    if (answered == MR_TYPE_AMBIGUOUS)
        return refuse(self, field,
                      "the source gives its type more than one meaning; fix it by a define");
    if (words->count == 1 && find_vector(words->words[0], &out->element, &out->count))
        return MARE_OK;
    return refuse(self, field,
                  "its type is not known (allowed: those of scalar arguments, arrays of one "
                  "dimension of them, vectors of two and four)");
}

/* ---- fields ---- */

static mare_status add_field(reader *self, mr_token name, field_type type, uint64_t elements) {
    const uint64_t alignment = mare_type_size(type.element) * type.count;
    mare_field_info *field = &self->fields[self->count];
    if (self->count == MAX_FIELDS) return refuse(self, name, "too many fields (at most 256)");
    if (name.size >= sizeof field->name)
        return refuse(self, name, "the name is too long (at most 63 bytes)");
    if (type.count > 1 && elements > 1)
        return refuse(self, name, "an array of vectors is not understood");
    *field = (mare_field_info){ .type = type.element, .count = type.count };
    memcpy(field->name, name.start, name.size);
    field->offset = (self->size + alignment - 1) / alignment * alignment;
    if (elements > (MAX_BYTES - field->offset) / alignment)
        return refuse(self, name, "the struct is too large (at most 4096 bytes)");
    field->count *= (uint32_t)elements;
    self->size = field->offset + elements * alignment;
    if (alignment > self->alignment) self->alignment = alignment;
    self->count++;
    return MARE_OK;
}

/* From behind the name of a field, "[4]" if it is an array, to the comma or semicolon. */
static mare_status read_declarator(reader *self, mr_cursor *c, mr_token name, field_type type,
                                   mr_token *end) {
    uint64_t elements = 1;
    *end = mr_next(c);
    if (mr_token_is(*end, "[")) {
        if (!mr_read_size(self->source, c, &elements) || !mr_token_is(mr_next(c), "]"))
            return refuse(self, name, "the length of the array cannot be read; integers, names "
                                      "defined once, + - * / and brackets are understood");
        *end = mr_next(c);
    }
    if (mr_token_is(*end, ",") || mr_token_is(*end, ";"))
        return add_field(self, name, type, elements);
    return refuse(self, name, "only scalars, arrays of one dimension and vectors are understood");
}

/* "real a, b[2];", of which `token` is the first. */
static mare_status read_declaration(reader *self, mr_cursor *c, mr_token token) {
    static const char *const idle_words[] = { "const", "volatile", NULL };
    mr_words words = { 0 };
    field_type type;
    for (;; token = mr_next(c)) {
        if (token.kind != MR_TOKEN_WORD) break;
        if (!mr_token_is_one_of(token, idle_words)) mr_words_add(&words, token);
        if (!mr_token_is_one_of(token, idle_words) && mr_peek(c).kind != MR_TOKEN_WORD) break;
    }
    mr_token name = words.count ? words.words[words.count - 1] : token;
    const bool is_odd = !strchr(";,[", *mr_peek(c).start);
    if (words.count < 2 || words.overflow || is_odd)
        return refuse(self, name, "only scalars, arrays of one dimension and vectors are "
                                  "understood, no pointers, no macros");
    if (mr_token_is(words.words[0], "struct") || mr_token_is(words.words[0], "union"))
        return refuse(self, name, "a struct within a struct is not understood");
    words.count--;
    MR_TRY(read_type(self, &words, name, &type));
    MR_TRY(read_declarator(self, c, name, type, &token));
    while (mr_token_is(token, ",")) {
        name = mr_next(c);
        if (name.kind != MR_TOKEN_WORD) return refuse(self, name, "a name is wanted");
        MR_TRY(read_declarator(self, c, name, type, &token));
    }
    return MARE_OK;
}

/* From behind the brace. */
static mare_status read_body(reader *self, mr_cursor c) {
    c.saw_directive = false;
    for (mr_token token = mr_next(&c); !mr_token_is(token, "}"); token = mr_next(&c)) {
        if (token.kind == MR_TOKEN_END) return refuse(self, token, "its braces do not close");
        MR_TRY(read_declaration(self, &c, token));
    }
    if (c.saw_directive)
        return refuse(self, self->name, "a line with # within it is not understood");
    if (!self->count) return refuse(self, self->name, "it has no fields");
    self->size = (self->size + self->alignment - 1) / self->alignment * self->alignment;
    return MARE_OK;
}

/* ---- the struct in the text ---- */

/* "struct tag { ... } name;", with a typedef before it or not. */
typedef struct declaration {
    mr_token tag, name;             /* of size 0 if there is none */
    mr_cursor body;
    bool has_body, is_plain;        /* no attributes, one name at most */
} declaration;

static declaration read_struct(mr_cursor *c, bool is_typedef) {
    declaration d = { .is_plain = true };
    if (mr_peek(c).kind == MR_TOKEN_WORD) d.tag = mr_next(c);
    for (; mr_peek(c).kind == MR_TOKEN_WORD && !is_typedef; mr_next(c)) d.is_plain = false;
    if (mr_token_is(mr_peek(c), "{")) {
        mr_next(c);
        d.has_body = true;
        d.body = *c;
        mr_skip_brackets(c);
    }
    mr_cursor behind = *c;
    mr_token token = mr_next(&behind);
    if (is_typedef && token.kind == MR_TOKEN_WORD) {
        d.name = token;
        token = mr_next(&behind);
    }
    if (!mr_token_is(token, ";")) d.is_plain = false;
    return d;
}

typedef struct wanted {
    mr_token tags[MAX_ALIASES], names[MAX_ALIASES]; /* any of these */
    int tag_count, name_count;
} wanted;

static bool is_among(const mr_token *list, int count, mr_token token) {
    for (int i = 0; i < count; i++)
        if (token.size && mr_token_same(list[i], token)) return true;
    return false;
}

static bool is_wanted(const wanted *w, const declaration *d) {
    return is_among(w->tags, w->tag_count, d->tag) || is_among(w->names, w->name_count, d->name);
}

/* Of two in the branches of an #if nobody here knows which the compiler takes. */
static mare_status take(reader *self, const declaration *d) {
    reader again = { .source = self->source, .name = self->name };
    if (!d->is_plain)
        return refuse(self, self->name, "attributes and several names are not understood");
    if (!self->count) return read_body(self, d->body);
    again.fields = calloc(MAX_FIELDS, sizeof *again.fields);
    if (!again.fields) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    mare_status status = read_body(&again, d->body);
    const bool same = again.count == self->count &&
                      !memcmp(again.fields, self->fields, self->count * sizeof *self->fields);
    free(again.fields);
    if (status != MARE_OK || same) return status;
    return refuse(self, self->name, "the source declares it in two ways; fix it by a define");
}

/* Goes over all structs of the text: notes the tag of a typedef without a body, takes the body of
 * what is wanted. */
static mare_status scan(reader *self, wanted *w) {
    mr_cursor c = { .at = self->source->text, .line_start = true };
    bool is_typedef = false;
    for (mr_token token = mr_next(&c); token.kind != MR_TOKEN_END; token = mr_next(&c)) {
        if (!mr_token_is(token, "struct")) {
            is_typedef = mr_token_is(token, "typedef");
            continue;
        }
        declaration d = read_struct(&c, is_typedef);
        is_typedef = false;
        if (!is_wanted(w, &d)) continue;
        if (d.has_body) MR_TRY(take(self, &d));
        else if (d.name.size && d.tag.size && w->tag_count < MAX_ALIASES &&
                 !is_among(w->tags, w->tag_count, d.tag))
            w->tags[w->tag_count++] = d.tag;
    }
    return MARE_OK;
}

static mare_status find(reader *self, const mr_words *words) {
    wanted w = { 0 };
    const bool is_tag = words->count == 2 && mr_token_is(words->words[0], "struct");
    if (!is_tag && words->count != 1) return MARE_OK;
    self->name = words->words[words->count - 1];
    if (is_tag || self->source->language == MARE_LANGUAGE_CUDA) w.tags[w.tag_count++] = self->name;
    if (!is_tag) w.names[w.name_count++] = self->name;
    MR_TRY(scan(self, &w));
    return self->count || w.tag_count == 0 ? MARE_OK : scan(self, &w);
}

mare_status mr_read_block(const mr_source *source, const mr_words *name, mr_signature *out,
                          mare_arg_info *block) {
    reader self = { .source = source };
    const size_t before = out->field_count, room = (before + MAX_FIELDS) * sizeof *out->fields;
    mare_field_info *fields = realloc(out->fields, room);
    if (!fields) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    out->fields = fields;
    memset(fields + before, 0, MAX_FIELDS * sizeof *fields);
    self.fields = fields + before;
    MR_TRY(find(&self, name));
    block->field_count = self.count;
    block->size = self.size;
    out->field_count += self.count;
    return MARE_OK;
}
