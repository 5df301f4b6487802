/* vendor.c - a library that faults, as drivers do that nobody taught to lack memory: in itself, in
 * a function of libc that it calls, by calling what is nowhere, or by giving up.
 */
#include <stdlib.h>
#include <string.h>

void vendor_fault(const char *how);

void vendor_fault(const char *how) {
    char *volatile nowhere = NULL;
    void (*volatile missing)(void) = NULL;
    size_t volatile size = strlen(how);
    if (!strcmp(how, "itself")) *nowhere = 1;
    if (!strcmp(how, "libc")) memmove(nowhere, how, size);
    if (!strcmp(how, "nowhere")) missing();
    abort();
}
