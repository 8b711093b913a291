/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *ast_allocate(size_t count, size_t size) {
    if (size && count > (SIZE_MAX - AST_ALIGNMENT) / size)
        return NULL;
    size_t bytes = (count * size + AST_ALIGNMENT) / AST_ALIGNMENT * AST_ALIGNMENT;
    return aligned_alloc(AST_ALIGNMENT, bytes);
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
