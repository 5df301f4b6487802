/* text.c - text that grows. A failed allocation sets a flag that sticks, so that a caller may
 * append many times and look once; what was there before stays readable.
 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(mr_text *text, size_t extra) {
    if (text->failed) return false;
    size_t needed = 0;
    if (__builtin_add_overflow(text->size, extra, &needed) || needed > SIZE_MAX / 2 - 1) {
        text->failed = true;
        return false;
    }
    if (needed < text->capacity) return true;
    size_t capacity = needed + needed / 2 + 64;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void mr_text_append(mr_text *text, const char *bytes, size_t size) {
    if (!reserve(text, size)) return;
    if (size) memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void mr_text_vformat(mr_text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    if (size < 0) text->failed = true;
    else if (reserve(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void mr_text_format(mr_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mr_text_vformat(text, format, arguments);
    va_end(arguments);
}

const char *mr_text_cstr(const mr_text *text) { return text->data ? text->data : ""; }

void mr_text_free(mr_text *text) {
    free(text->data);
    *text = (mr_text){ 0 };
}

void mr_text_cut(char *out, size_t size, const char *text) {
    size_t length = strnlen(text, size - 1);
    if (text[length])
        while (length && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
    memcpy(out, text, length);
    out[length] = '\0';
}

bool mr_parse_bytes(const char *text, uint64_t *out) {
    static const char units[] = "KMGT";
    char *end = NULL;
    if (*text < '0' || *text > '9') return false;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (*end && (!unit || end[1])) return false;
    for (ptrdiff_t steps = unit ? unit - units + 1 : 0; steps > 0; steps--) value *= 1024;
    if (!(value < 0x1p63)) return false;
    *out = (uint64_t)value;
    return true;
}

bool mr_wants_debug(void) {
    const char *wish = getenv("MARE_DEBUG");
    return wish && !strcmp(wish, "1");
}
