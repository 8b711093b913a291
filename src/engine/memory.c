/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include "system.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM HUGE_PAGE /* smaller arrays cannot use a huge page */
#define FEW 64              /* least number of elements of an array that has grown */

void *ast_allocate(size_t count, size_t size) {
    if (size && count > (SIZE_MAX - HUGE_PAGE) / size)
        return NULL;
    size_t bytes = (count * size + AST_ALIGNMENT) / AST_ALIGNMENT * AST_ALIGNMENT;
    if (bytes < HUGE_FROM)
        return ast_system_allocate(AST_ALIGNMENT, bytes);
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = ast_system_allocate(HUGE_PAGE, bytes);
    if (memory)
        ast_system_use_huge_pages(memory, bytes);
    return memory;
}

void *ast_allocate_zero(size_t count, size_t size) {
    void *memory = ast_allocate(count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void ast_free(void *memory) {
    ast_system_release(memory);
}

void ast_free_list(void *const *memory, size_t count) {
    for (size_t i = 0; i < count; i++)
        ast_free(memory[i]);
}

bool ast_replace_list(const ast_array_request *list, size_t count) {
    bool good = true;
    for (size_t i = 0; i < count; i++) { /* all arrays are freed before the first is allocated */
        ast_free(*(void **)list[i].pointer);
        *(void **)list[i].pointer = NULL;
    }
    for (size_t i = 0; i < count && good; i++)
        good = (*(void **)list[i].pointer = ast_allocate(list[i].count, list[i].size)) != NULL;
    for (size_t i = 0; i < count && !good; i++) {
        ast_free(*(void **)list[i].pointer);
        *(void **)list[i].pointer = NULL;
    }
    return good;
}

bool ast_ensure_list(size_t *capacity, size_t needed, const ast_array_request *list, size_t count) {
    if (needed <= *capacity)
        return true;
    *capacity = ast_replace_list(list, count) ? needed : 0;
    return *capacity > 0;
}

bool ast_grow_array(void *array, size_t used, size_t count, size_t size) {
    assert(used <= count);
    void **pointer = array, *memory = ast_allocate(count, size);
    if (!memory)
        return false;
    if (used)
        memcpy(memory, *pointer, used * size);
    ast_free(*pointer);
    *pointer = memory;
    return true;
}

bool ast_reserve(void *array, size_t *capacity, size_t used, size_t needed, size_t size) {
    assert(used <= *capacity);
    if (needed <= *capacity)
        return true;
    size_t wanted = 2 * needed + FEW;
    if (!ast_grow_array(array, used, wanted, size))
        return false;
    memset((char *)*(void **)array + used * size, 0, (wanted - used) * size);
    *capacity = wanted;
    return true;
}
