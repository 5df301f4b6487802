/* cuda_shared.h - memory of the fake libcuda that other processes open: with FAKE_CUDA_SHARED set
 * each allocation is a file without a name, behind a page that says how long it is. Included by
 * cuda_driver.c. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHARED_PAGE = 4096 };
struct shared { size_t size; int file; };           /* what the page holds */
struct shared_name { unsigned long long address; int process, file; };

static bool is_sharing(void) { return getenv("FAKE_CUDA_SHARED") != NULL; }

static struct shared *shared_page(unsigned long long address) {
    return (struct shared *)((char *)(uintptr_t)address - SHARED_PAGE);
}

static void *shared_map(int file, size_t size) {
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return page == MAP_FAILED ? NULL : page + SHARED_PAGE;
}

static void *shared_allocate(size_t size) {
    const int file = memfd_create("fake libcuda", MFD_CLOEXEC);
    size += SHARED_PAGE;
    void *memory = file >= 0 && !ftruncate(file, (off_t)size) ? shared_map(file, size) : NULL;
    if (memory) *shared_page((uintptr_t)memory) = (struct shared){ size, file };
    else if (file >= 0) close(file);
    return memory;
}

static void shared_free(unsigned long long address) {
    struct shared *page = shared_page(address);
    close(page->file);
    munmap(page, page->size);
}

static void *shared_open(const struct shared_name *name) {
    char path[64];
    struct shared page;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", name->process, name->file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return NULL;
    void *memory = pread(file, &page, sizeof page, 0) == sizeof page ? shared_map(file, page.size)
                                                                     : NULL;
    close(file);
    return memory;
}

static void shared_close(unsigned long long address) {
    struct shared *page = shared_page(address);
    munmap(page, page->size);
}
