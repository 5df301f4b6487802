/* mapping.c - what is mapped at an address, for a handler of signals: stdio and dladdr may not be
 * called there, since the thread may have been stopped while it held their locks.
 */
#include "mapping.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct reader {
    int file;
    ssize_t at, end;        /* in bytes; end < 0: the file could not be read */
    char bytes[1024];
} reader;

/* The next byte, -1 at the end of the file. */
static int next_byte(reader *from) {
    if (from->at >= from->end) {
        from->at = 0;
        from->end = read(from->file, from->bytes, sizeof from->bytes);
    }
    return from->end > 0 ? (unsigned char)from->bytes[from->at++] : -1;
}

/* A hexadecimal number and the byte behind it. */
static uintptr_t read_address(reader *from) {
    uintptr_t address = 0;
    for (int c = next_byte(from); c > ' ' && c != '-'; c = next_byte(from))
        address = address * 16 + (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    return address;
}

/* The rest of a line, whose end is dropped if it is too long; false at the end of the file. */
static bool read_rest(reader *from, char *line, size_t size) {
    size_t length = 0;
    int c = next_byte(from);
    for (; c >= 0 && c != '\n'; c = next_byte(from))
        if (length + 1 < size) line[length++] = (char)c;
    line[length] = '\0';
    return c >= 0;
}

bool mapping_find(uintptr_t address, char *line, size_t size) {
    reader maps = { .file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
    if (maps.file < 0) return false;
    bool is_found = false, is_more = true;
    while (is_more && !is_found) {
        uintptr_t start = read_address(&maps), end = read_address(&maps);
        is_more = read_rest(&maps, line, size);
        is_found = is_more && start <= address && address < end;
    }
    close(maps.file);
    return is_found;
}
