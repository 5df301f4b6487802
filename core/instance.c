/* instance.c - reads "scale<float, 4>" beside "template <typename T, int N> ... scale(T *x)": what
 * stands for T and N in the parameters of that kernel. */
#include "parse.h"

#include <ctype.h>
#include <string.h>

enum { MAX_PARAMETERS = 16 };

typedef struct piece { const char *at; size_t size; } piece;

static piece trimmed(const char *at, const char *end) {
    while (at < end && isspace((unsigned char)*at)) at++;
    while (at < end && isspace((unsigned char)end[-1])) end--;
    return (piece){ at, (size_t)(end - at) };
}

/* The arguments between < and the > at the end; 0: they are not written so. */
static int split(const char *expression, piece pieces[MAX_PARAMETERS]) {
    const char *at = strchr(expression, '<'), *end = expression + strlen(expression);
    int depth = 0, count = 0;
    if (!at || end[-1] != '>') return 0;
    const char *begin = ++at;
    for (; at < end; at++) {
        const bool last = at == end - 1;
        if (last || (*at == ',' && depth == 0)) {
            if (count == MAX_PARAMETERS) return 0;
            pieces[count] = trimmed(begin, at);
            if (!pieces[count++].size) return 0;
            begin = at + 1;
        }
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
        if (depth < 0 && !last) return 0;
    }
    return count;
}

/* "<typename T, int N = 4>", from behind template: the last word of each that no = is before. */
static int read_names(mr_cursor *c, mr_token names[MAX_PARAMETERS]) {
    int count = 0, depth = 1;
    bool has_value = false;
    mr_token word = { 0 };
    if (!mr_token_is(mr_next(c), "<")) return 0;
    while (depth > 0) {
        mr_token token = mr_next(c);
        if (token.kind == MR_TOKEN_END) return 0;
        depth += mr_token_is(token, "<") - mr_token_is(token, ">");
        if (mr_token_is(token, "=")) has_value = true;
        if (token.kind == MR_TOKEN_WORD && !has_value) word = token;
        if (depth > 0 && !(depth == 1 && mr_token_is(token, ","))) continue;
        if (count == MAX_PARAMETERS || !word.size) return 0;
        names[count++] = word;
        word = (mr_token){ 0 };
        has_value = false;
    }
    return count;
}

/* Whether a kernel of the name is declared from here to the end of the declaration's head. */
static bool declares(mr_cursor c, const char *kernel) {
    bool is_kernel = false;
    for (mr_token token = mr_next(&c); token.kind != MR_TOKEN_END; token = mr_next(&c)) {
        if (mr_token_is(token, ";") || mr_token_is(token, "{")) return false;
        if (mr_token_is(token, "__global__")) is_kernel = true;
        if (mr_token_is(token, kernel) && mr_token_is(mr_peek(&c), "(")) return is_kernel;
    }
    return false;
}

static int find_names(const mr_source *source, const char *kernel,
                      mr_token names[MAX_PARAMETERS]) {
    mr_cursor c = { .at = source->text, .line_start = true };
    for (mr_token token = mr_next(&c); token.kind != MR_TOKEN_END; token = mr_next(&c)) {
        if (!mr_token_is(token, "template")) continue;
        const int count = read_names(&c, names);
        if (count && declares(c, kernel)) return count;
    }
    return 0;
}

mare_status mr_instance_read(const mr_source *source, const char *expression, char kernel[128],
                             mr_define_sink *give, void *context) {
    piece arguments[MAX_PARAMETERS];
    mr_token names[MAX_PARAMETERS];
    const piece base = trimmed(expression, strchr(expression, '<'));
    if (!base.size || base.size >= 128)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': the name must have 1 to 127 bytes",
                       expression);
    memcpy(kernel, base.at, base.size);
    kernel[base.size] = '\0';
    const int given = split(expression, arguments), wanted = find_names(source, kernel, names);
    if (!wanted)
        return mr_fail(MARE_ERROR_ARGUMENT,
                       "kernel '%s': the source has no template <...> __global__ ... %s(",
                       expression, kernel);
    if (!given)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': '%s<ARGUMENT, ...>' is wanted",
                       expression, kernel);
    if (given != wanted)
        return mr_fail(MARE_ERROR_ARGUMENT, "kernel '%s': %d arguments, its template has %d",
                       expression, given, wanted);
    for (int i = 0; i < given; i++)
        MR_TRY(give(context, names[i].start, names[i].size, arguments[i].at, arguments[i].size));
    return MARE_OK;
}

mare_status mr_instance_missing(const mr_source *source, const char *kernel) {
    mr_token names[MAX_PARAMETERS];
    const int wanted = find_names(source, kernel, names);
    if (!wanted) return MARE_OK;
    return mr_fail(MARE_ERROR_ARGUMENT,
                   "kernel '%s': it is a template of %d: '%s<ARGUMENT, ...>' is wanted", kernel,
                   wanted, kernel);
}
