/* dl.c - loads a vendor's library and its symbols: the only dlopen in the tree.
 *
 * A library that lacks a required symbol is refused as a whole and by name, so that an old driver
 * is told apart from a missing one. Libraries are never unloaded: drivers keep threads of their
 * own.
 */
#include "internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *open_first(const char *const *names, const char **name, mr_text *tried) {
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) {
            *name = *names;
            return library;
        }
        const char *words = dlerror();
        mr_text_format(tried, "%s%s", tried->size ? "; " : "", words ? words : *names);
    }
    return NULL;
}

static void load_symbols(void *library, const mr_symbol *symbols, size_t count, mr_text *missing) {
    for (size_t i = 0; i < count; i++) {
        *symbols[i].address = dlsym(library, symbols[i].name);
        if (!*symbols[i].address && symbols[i].required)
            mr_text_format(missing, "%s%s", missing->size ? ", " : "", symbols[i].name);
    }
}

mare_status mr_dl_load(const char *const *names, const mr_symbol *symbols, size_t symbol_count,
                       char *loaded, size_t loaded_size) {
    mare_status status = MARE_OK;
    mr_text notes = { 0 };
    const char *name = "";
    void *library = open_first(names, &name, &notes);
    if (!library) {
        status =
            mr_fail(MARE_ERROR_UNAVAILABLE, "cannot load %s: %s", names[0], mr_text_cstr(&notes));
        goto done;
    }
    mr_text_free(&notes);
    load_symbols(library, symbols, symbol_count, &notes);
    if (notes.size) {
        status = mr_fail(MARE_ERROR_UNAVAILABLE, "%s lacks %s (it is too old for Mare)", name,
                         mr_text_cstr(&notes));
        for (size_t i = 0; i < symbol_count; i++) *symbols[i].address = NULL;
        dlclose(library);
        goto done;
    }
    if (loaded) snprintf(loaded, loaded_size, "%s", name);
done:
    mr_text_free(&notes);
    return status;
}

void mr_dl_path(void *function, char *out, size_t size) {
    Dl_info info;
    bool known = dladdr(function, &info) != 0 && info.dli_fname;
    snprintf(out, size, "%s", known ? info.dli_fname : "");
}
