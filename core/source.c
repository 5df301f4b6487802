/* source.c - resolves #include "..." into one text that any compiler takes without touching the
 * file system.
 *
 * Which branch of an #if is taken is the compiler's business: every include is expanded where it
 * stands, and #pragma once becomes a guard of its own around each expansion. A file that is being
 * expanded already is not expanded again if it says #pragma once; without that, the nesting is
 * limited.
 */
#include "parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NESTING_LIMIT = 64 };

typedef struct identity {
    dev_t device;
    ino_t inode;
} identity;

typedef struct file {
    const struct file *includer;
    const char *name; /* as #line shows it */
    identity id;
    bool once;
    int depth;
} file;

typedef struct flattener {
    const mare_program_desc *desc;
    mr_text *out;
    identity *once; /* files that said #pragma once; the index names the guard */
    size_t once_count;
    bool complete;
} flattener;

static mare_status expand(flattener *f, file *self, const char *text);

static bool same(identity a, identity b) { return a.device == b.device && a.inode == b.inode; }

static void emit_line(mr_text *out, size_t line, const char *name) {
    mr_text_format(out, "#line %zu \"", line);
    for (; *name; name++) {
        if (*name == '"' || *name == '\\') mr_text_append(out, "\\", 1);
        mr_text_append(out, name, 1);
    }
    mr_text_append(out, "\"\n", 2);
}

/* ---- files ---- */

/* A missing file is found = false; one that is there and cannot be read is a failure. */
static mare_status read_file(const char *path, mr_text *out, identity *id, bool *found) {
    struct stat status;
    *found = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    if (!*found) return MARE_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mr_fail(MARE_ERROR_IO, "%s: %s", path, strerror(errno));
    *id = (identity){ status.st_dev, status.st_ino };
    char block[16384];
    ssize_t size = 0;
    while ((size = read(fd, block, sizeof block)) > 0) mr_text_append(out, block, (size_t)size);
    int code = errno;
    close(fd);
    if (size < 0) return mr_fail(MARE_ERROR_IO, "%s: %s", path, strerror(code));
    return out->failed ? mr_fail(MARE_ERROR_MEMORY, "out of host memory") : MARE_OK;
}

static mare_status try_path(mr_text *path, mr_text *text, identity *id, bool *found) {
    if (path->failed) return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    return read_file(mr_text_cstr(path), text, id, found);
}

/* Looks in the folder of the including file, then in the include paths. */
static mare_status find_file(const flattener *f, const file *self, mr_token name, mr_text *path,
                             mr_text *text, identity *id, bool *found) {
    const char *slash = name.start[0] == '/' ? NULL : strrchr(self->name, '/');
    if (slash) mr_text_append(path, self->name, (size_t)(slash - self->name) + 1);
    mr_text_append(path, name.start, name.size);
    MR_TRY(try_path(path, text, id, found));
    for (uint64_t i = 0; i < f->desc->include_path_count && !*found && name.start[0] != '/'; i++) {
        mr_text_free(path);
        mr_text_format(path, "%s/%.*s", f->desc->include_paths[i], (int)name.size, name.start);
        MR_TRY(try_path(path, text, id, found));
    }
    return MARE_OK;
}

/* ---- directives ---- */

static mare_status too_deep(const file *self, const char *path) {
    mr_text chain = { 0 };
    int shown = 0;
    for (const file *at = self; at && shown < 4; at = at->includer, shown++)
        mr_text_format(&chain, ", included from %s", at->name);
    mare_status status =
        mr_fail(MARE_ERROR_BUILD, "#include is nested more than %d deep: %s%s (a cycle?)",
                NESTING_LIMIT, path, mr_text_cstr(&chain));
    mr_text_free(&chain);
    return status;
}

static bool is_open_once(const file *self, identity id) {
    for (const file *at = self; at; at = at->includer)
        if (at->once && same(at->id, id)) return true;
    return false;
}

static mare_status include(flattener *f, file *self, mr_token name, bool *found) {
    mr_text path = { 0 }, text = { 0 };
    file child = { .includer = self, .depth = self->depth + 1 };
    mare_status status = find_file(f, self, name, &path, &text, &child.id, found);
    if (status != MARE_OK || !*found || is_open_once(self, child.id)) goto done;
    child.name = mr_text_cstr(&path);
    status = child.depth > NESTING_LIMIT ? too_deep(self, child.name)
                                         : expand(f, &child, mr_text_cstr(&text));
done:
    mr_text_free(&path);
    mr_text_free(&text);
    return status;
}

/* Follows #include NAME through the defines to a "file"; anything else has size 0. */
static mr_token included_name(const flattener *f, mr_token token) {
    for (int i = 0; i < 16 && token.kind == MR_TOKEN_WORD; i++) {
        const char *value = NULL;
        for (uint64_t k = 0; k < f->desc->define_count && !value; k++)
            if (mr_token_is(token, f->desc->defines[k].name)) value = f->desc->defines[k].value;
        if (!value) break;
        token = mr_lex(value);
    }
    if (token.kind != MR_TOKEN_STRING || token.start[0] != '"' || token.size < 3)
        return (mr_token){ 0 };
    return (mr_token){ MR_TOKEN_STRING, token.start + 1, token.size - 2 };
}

static mr_token next_on_line(const char **at) {
    mr_token token = mr_lex(*at);
    if (token.kind == MR_TOKEN_SPACE) token = mr_lex(token.start + token.size);
    *at = token.start + token.size;
    return token;
}

/* The guard's number; the file's identity is remembered. False if out of memory. */
static bool remember_once(flattener *f, identity id, size_t *number) {
    for (*number = 0; *number < f->once_count; ++*number)
        if (same(f->once[*number], id)) return true;
    identity *grown = realloc(f->once, (f->once_count + 1) * sizeof *grown);
    if (!grown) return false;
    f->once = grown;
    f->once[f->once_count++] = id;
    return true;
}

static mare_status guard(flattener *f, file *self, size_t line) {
    size_t number = 0;
    if (!remember_once(f, self->id, &number))
        return mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    mr_text_format(f->out, "#ifndef MR_ONCE_%zu\n#define MR_ONCE_%zu\n", number, number);
    emit_line(f->out, line, self->name);
    self->once = true;
    return MARE_OK;
}

/* NVRTC finds <file> in the toolkit alone, which is in the key of the cache; OpenCL anywhere. */
static bool is_of_toolkit(const flattener *f, mr_token operand) {
    return operand.start[0] == '<' && f->desc->language == MARE_LANGUAGE_CUDA;
}

/* `*at` stands behind a '#' that begins a line, the '#' not yet written. Handles the directive and
 * moves on, or leaves everything as it is. */
static mare_status directive(flattener *f, file *self, const char **at, size_t line,
                             bool *handled) {
    const char *end = *at;
    mr_token verb = next_on_line(&end), operand = next_on_line(&end);
    *handled = false;
    if (mr_token_is(verb, "pragma") && mr_token_is(operand, "once") && self->includer) {
        *handled = true;
        *at = end;
        return self->once ? MARE_OK : guard(f, self, line);
    }
    if (mr_token_is(verb, "include_next") || mr_token_is(verb, "import")) f->complete = false;
    if (!mr_token_is(verb, "include")) return MARE_OK;
    mr_token name = included_name(f, operand);
    if (name.size) MR_TRY(include(f, self, name, handled));
    if (!*handled && !is_of_toolkit(f, operand)) f->complete = false;
    if (!*handled) return MARE_OK;
    emit_line(f->out, line, self->name);
    *at = end;
    return MARE_OK;
}

static size_t count_lines(mr_token token) {
    size_t count = 0;
    for (size_t i = 0; i < token.size; i++) count += token.start[i] == '\n';
    return count;
}

static mare_status expand(flattener *f, file *self, const char *text) {
    size_t line = 1;
    bool line_start = true;
    emit_line(f->out, 1, self->name);
    for (mr_token token = mr_lex(text); token.kind != MR_TOKEN_END; token = mr_lex(text)) {
        text = token.start + token.size;
        if (line_start && mr_token_is(token, "#")) {
            bool handled = false;
            MR_TRY(directive(f, self, &text, line, &handled));
            if (handled) continue;
        }
        mr_text_append(f->out, token.start, token.size);
        line += count_lines(token);
        if (token.kind != MR_TOKEN_SPACE) line_start = token.kind == MR_TOKEN_NEWLINE;
    }
    if (!line_start) mr_text_append(f->out, "\n", 1);
    if (self->once) mr_text_format(f->out, "#endif\n");
    return MARE_OK;
}

mare_status mr_source_flatten(const mare_program_desc *desc, mr_text *out, bool *complete) {
    flattener f = { .desc = desc, .out = out, .complete = true };
    file self = { .name = desc->name ? desc->name : "source" };
    mare_status status = expand(&f, &self, desc->source);
    if (status == MARE_OK && out->failed) status = mr_fail(MARE_ERROR_MEMORY, "out of host memory");
    *complete = f.complete;
    free(f.once);
    return status;
}
