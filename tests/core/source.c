/* source.c - resolution of #include: places, guards, positions, and what must not be touched. */
#include "check.h"
#include "internal.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/mare-source-XXXXXX";

static void put(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!CHECK(file != NULL)) return;
    fputs(text, file);
    fclose(file);
}

static mare_status flatten(const char *source, const mare_define *defines, uint64_t count,
                           mr_text *out, bool *complete) {
    char name[256], paths[2][256];
    snprintf(name, sizeof name, "%s/main.krn", folder);
    snprintf(paths[0], sizeof paths[0], "%s/sub", folder);
    snprintf(paths[1], sizeof paths[1], "%s/other", folder);
    const char *const list[] = { paths[0], paths[1] };
    mare_program_desc desc = { .source = source,
                               .name = name,
                               .defines = defines,
                               .define_count = count,
                               .include_paths = list,
                               .include_path_count = 2 };
    return mr_source_flatten(&desc, out, complete);
}

/* Removes the folder from the #line directives, so that the expected text is constant. */
static void strip_folder(mr_text *text) {
    size_t size = strlen(folder) + 1;
    char *from = text->data, *to = text->data;
    while (*from) {
        if (!strncmp(from, folder, size - 1) && from[size - 1] == '/') from += size;
        else *to++ = *from++;
    }
    *to = '\0';
}

static void expect(const char *source, const mare_define *defines, uint64_t count, bool complete,
                   const char *flat) {
    mr_text out = { 0 };
    bool all = !complete;
    if (CHECK_OK(flatten(source, defines, count, &out, &all))) {
        strip_folder(&out);
        CHECK_TEXT(mr_text_cstr(&out), flat);
        CHECK(all == complete);
    }
    mr_text_free(&out);
}

static void finds_files(void) {
    expect("a\n#include \"one.h\"\nb", NULL, 0, true,
           "#line 1 \"main.krn\"\na\n#line 1 \"one.h\"\n1\n#line 2 \"main.krn\"\n\nb\n");
    expect("  #  include \"two.h\" // why\nb\n", NULL, 0, true,
           "#line 1 \"main.krn\"\n  #line 1 \"sub/two.h\"\n2 \n#line 1 \"sub/three.h\"\n3\n#line 2 "
           "\"sub/two.h\"\n\n"
           "#line 1 \"main.krn\"\n // why\nb\n");
    expect("#include \"sub/two.h\"\n", NULL, 0, true,
           "#line 1 \"main.krn\"\n#line 1 \"sub/two.h\"\n2 \n#line 1 \"sub/three.h\"\n3\n#line 2 "
           "\"sub/two.h\"\n\n"
           "#line 1 \"main.krn\"\n\n");
    expect("#include \"four.h\"\n", NULL, 0, true,
           "#line 1 \"main.krn\"\n#line 1 \"other/four.h\"\n4\n#line 1 \"main.krn\"\n\n");
}

static void leaves_the_rest(void) {
    expect("#import \"one.h\"\n", NULL, 0, false, "#line 1 \"main.krn\"\n#import \"one.h\"\n");
    expect("#include <math.h>\n", NULL, 0, false, "#line 1 \"main.krn\"\n#include <math.h>\n");
    expect("#include \"absent.h\"\n", NULL, 0, false,
           "#line 1 \"main.krn\"\n#include \"absent.h\"\n");
    expect("#include \"sub\"\n", NULL, 0, false, "#line 1 \"main.krn\"\n#include \"sub\"\n");
    expect("/*\n#include \"one.h\"\n*/ x\n// \\\n#include \"one.h\"\n", NULL, 0, true,
           "#line 1 \"main.krn\"\n/*\n#include \"one.h\"\n*/ x\n// \\\n#include \"one.h\"\n");
    expect("s = \"\\\n#include \\\"one.h\\\"\\\n\";\nx #include \"one.h\"\n", NULL, 0, true,
           "#line 1 \"main.krn\"\ns = \"\\\n#include \\\"one.h\\\"\\\n\";\nx #include \"one.h\"\n");
    expect("#pragma unroll\n#pragma once\n", NULL, 0, true,
           "#line 1 \"main.krn\"\n#pragma unroll\n#pragma once\n");
}

static void computes_names(void) {
    const mare_define defines[] = { { "FLUX", "CHOSEN" },
                                    { "CHOSEN", "\"one.h\"" },
                                    { "PLAIN", "1" } };
    expect("#include FLUX\n", defines, 3, true,
           "#line 1 \"main.krn\"\n#line 1 \"one.h\"\n1\n#line 1 \"main.krn\"\n\n");
    expect("#include PLAIN\n", defines, 3, false, "#line 1 \"main.krn\"\n#include PLAIN\n");
    expect("#include UNKNOWN\n", defines, 3, false, "#line 1 \"main.krn\"\n#include UNKNOWN\n");
}

static void guards_once(void) {
    expect("#include \"once.h\"\n#include \"other/../once.h\"\n", NULL, 0, true,
           "#line 1 \"main.krn\"\n"
           "#line 1 \"once.h\"\n#ifndef MR_ONCE_0\n#define MR_ONCE_0\n#line 1 "
           "\"once.h\"\n\nonce\n#endif\n"
           "#line 1 \"main.krn\"\n\n"
           "#line 1 \"other/../once.h\"\n#ifndef MR_ONCE_0\n#define MR_ONCE_0\n#line 1 "
           "\"other/../once.h\"\n\nonce\n#endif\n"
           "#line 2 \"main.krn\"\n\n");
}

static void survives_cycles(void) {
    mr_text out = { 0 };
    bool complete = false;
    CHECK_OK(flatten("#include \"self_once.h\"\n", NULL, 0, &out, &complete));
    mr_text_free(&out);
    CHECK_FAILS(flatten("#include \"self.h\"\n", NULL, 0, &out, &complete), MARE_ERROR_BUILD,
                "self.h", "64 deep", "included from");
    mr_text_free(&out);
}

static void quotes_names(void) {
    mr_text out = { 0 };
    bool complete = false;
    CHECK_OK(mr_source_flatten(&(mare_program_desc){ .source = "x\n", .name = "a\"b\\c" }, &out,
                               &complete));
    CHECK_TEXT(mr_text_cstr(&out), "#line 1 \"a\\\"b\\\\c\"\nx\n");
    mr_text_free(&out);
    CHECK_OK(mr_source_flatten(&(mare_program_desc){ .source = "" }, &out, &complete));
    CHECK_TEXT(mr_text_cstr(&out), "#line 1 \"source\"\n");
    mr_text_free(&out);
}

/* A header that memory is too short for must not be taken for a shorter one. */
static void tells_short_memory(void) {
#ifndef __SANITIZE_ADDRESS__
    char path[256];
    struct rlimit old, few = { 1 << 27, RLIM_INFINITY };
    mr_text out = { 0 };
    bool all;
    put("large.h", "");
    snprintf(path, sizeof path, "%s/large.h", folder);
    CHECK(truncate(path, 1 << 28) == 0 && getrlimit(RLIMIT_AS, &old) == 0);
    few.rlim_max = old.rlim_max;
    CHECK(setrlimit(RLIMIT_AS, &few) == 0);
    mare_status status = flatten("#include \"large.h\"\n", NULL, 0, &out, &all);
    CHECK(setrlimit(RLIMIT_AS, &old) == 0);
    CHECK(status == MARE_ERROR_MEMORY);
    mr_text_free(&out);
#endif
}

static void make_files(void) {
    static const char *const folders[] = { "sub", "other" };
    CHECK(mkdtemp(folder) != NULL);
    for (int i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        CHECK(mkdir(path, 0700) == 0);
    }
    put("one.h", "1");
    put("sub/two.h", "2 \n#include \"three.h\"\n");
    put("sub/three.h", "3\n");
    put("other/three.h", "wrong\n");
    put("other/four.h", "4\n");
    put("once.h", "#pragma once\nonce\n");
    put("self_once.h", "#pragma once\n#include \"self_once.h\"\n");
    put("self.h", "#include \"self.h\"\n");
}

int main(void) {
    char command[64];
    make_files();
    finds_files();
    leaves_the_rest();
    computes_names();
    guards_once();
    survives_cycles();
    quotes_names();
    tells_short_memory();
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return check_result();
}
