/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM HUGE_PAGE /* smaller arrays cannot use one */

void *ast_allocate(size_t count, size_t size) {
    if (size && count > (SIZE_MAX - HUGE_PAGE) / size)
        return NULL;
    size_t bytes = (count * size + AST_ALIGNMENT) / AST_ALIGNMENT * AST_ALIGNMENT;
    if (bytes < HUGE_FROM)
        return aligned_alloc(AST_ALIGNMENT, bytes);
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (memory)
        madvise(memory, bytes, MADV_HUGEPAGE); /* fewer page faults; a refusal does no harm */
#endif
    return memory;
}

void *ast_allocate_zero(size_t count, size_t size) {
    void *memory = ast_allocate(count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void *ast_grow(void *old, size_t used, size_t count, size_t size) {
    void *memory = ast_allocate(count, size);
    if (!memory)
        return NULL;
    if (used)
        memcpy(memory, old, used * size);
    free(old);
    return memory;
}

bool ast_grow_array(void *array, size_t used, size_t count, size_t size) {
    void **pointer = array, *memory = ast_grow(*pointer, used, count, size);
    if (memory)
        *pointer = memory;
    return memory != NULL;
}

double ast_machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size : 0;
}
