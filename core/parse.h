/* parse.h - what reads the text of programs: tokens, and what the names in it stand for.
 * Prefix mr_/MR_. */
#ifndef MARE_PARSE_H
#define MARE_PARSE_H

#include "internal.h"

/* ---- lex.c: C text in tokens, so that comments and strings fool nobody ----
 * The text ends with NUL. */

typedef enum mr_token_kind {
    MR_TOKEN_END,
    MR_TOKEN_SPACE,                 /* blanks, continued lines, comments */
    MR_TOKEN_NEWLINE,
    MR_TOKEN_WORD,                  /* identifiers and numbers */
    MR_TOKEN_STRING,                /* string and character literals, raw ones too */
    MR_TOKEN_MARK                   /* any other single character */
} mr_token_kind;
typedef struct mr_token { mr_token_kind kind; const char *start; size_t size; } mr_token;
mr_token mr_lex(const char *at);
bool mr_token_is(mr_token token, const char *text);
bool mr_token_same(mr_token a, mr_token b);
bool mr_token_is_one_of(mr_token token, const char *const *list);   /* which ends with NULL */

/* Walks over the tokens that count: no blanks, comments or directives. */
typedef struct mr_cursor {
    const char *at;
    bool line_start;
    bool saw_directive;
} mr_cursor;
mr_token mr_next(mr_cursor *c);
mr_token mr_peek(const mr_cursor *c);
void mr_skip_brackets(mr_cursor *c);    /* past the bracket that closes the one just read */

/* ---- constant.c: names of integers ---- */

/* The value of a define of the program; NULL if there is none of the name. */
const char *mr_find_define(const mr_source *source, mr_token name);
/* Reads a sum of products of integers from 1 to 2^31 - 1, brackets and names that the program or
 * the text defines as such; false if it is anything else. */
bool mr_read_size(const mr_source *source, mr_cursor *c, uint64_t *out);

/* ---- typename.c: names of types ---- */

enum { MR_MAX_WORDS = 12 };
typedef struct mr_words {
    mr_token words[MR_MAX_WORDS];
    int count;
    bool overflow;
} mr_words;
void mr_words_add(mr_words *list, mr_token word);

typedef enum mr_answer { MR_TYPE_KNOWN, MR_TYPE_UNKNOWN, MR_TYPE_AMBIGUOUS } mr_answer;
/* Whether the words are C's own for an arithmetic type, in any order. */
bool mr_type_is_builtin(const mr_words *list, mare_type *out);
mr_answer mr_type_resolve(const mr_source *source, const mr_words *list, mare_type *out);

/* ---- block.c: structs that are passed by value ---- */

/* Looks for the struct of that name in the text and adds its fields to those of `out`; `block` gets
 * their number and the size, or stays as it is where the text has no such struct. The failure tells
 * what in the struct cannot be passed. */
mare_status mr_read_block(const mr_source *source, const mr_words *name, mr_signature *out,
                          mare_arg_info *block);

/* ---- instance.c: instances of templates ---- */

/* Takes NAME = VALUE, neither of which a NUL ends. */
typedef mare_status mr_define_sink(void *context, const char *name, size_t name_size,
                                   const char *value, size_t value_size);
/* Reads "scale<float, 4>": the name of the template into `kernel`, what stands for each of its
 * parameters goes to `give`. */
mare_status mr_instance_read(const mr_source *source, const char *expression, char kernel[128],
                             mr_define_sink *give, void *context);
/* Fails where the kernel is a template, of which an instance is wanted. */
mare_status mr_instance_missing(const mr_source *source, const char *kernel);

/* ---- parameter.c: the parameters of one kernel ---- */

/* Why a type that is known cannot be passed by value; NULL if it can. */
const char *mr_unpassable(const mr_source *source, const mr_words *words, mare_type type);

extern const char *const mr_attribute_words[];      /* which a bracket follows; ends with NULL */
/* Reads them from behind the opening bracket to behind the closing one. */
mare_status mr_read_parameters(const mr_source *source, const char *kernel, mr_cursor *c,
                               mr_signature *out);

#endif
