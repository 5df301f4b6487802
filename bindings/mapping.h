/* mapping.h - what is mapped at an address of this process. */
#ifndef MARE_BINDINGS_MAPPING_H
#define MARE_BINDINGS_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Puts into `line` what /proc/self/maps says behind the address: rights, offset, device and inode
 * of the file that is mapped, and its path, which is missing where memory is of no file. False if
 * nothing is mapped or the list cannot be read. Calls only what a handler of signals may call. */
bool mapping_find(uintptr_t address, char *line, size_t size);

#endif
