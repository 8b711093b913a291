/* SPDX-License-Identifier: MIT
 *
 * Memory aligned for vectors. All functions return NULL (or false) if memory runs out or the size overflows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define AST_ALIGNMENT 64
#define AST_CACHE_LINE 64 /* bytes that move between cores together */

void *ast_allocate(size_t count, size_t size); /* not cleared; at least one byte; release with ast_free() */
void *ast_allocate_zero(size_t count, size_t size);
void ast_free(void *memory); /* NULL is allowed; memory of malloc() is not: some systems keep two heaps */

/* Frees every pointer of the list; NULL is allowed. */
#define ast_free_all(...) ast_free_list((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void ast_free_list(void *const *memory, size_t count);

/* An array to allocate: the address of the pointer to it, the number of elements, and the size of one. */
typedef struct ast_array_request {
    void *pointer;
    size_t count, size;
} ast_array_request;
#define AST_REQUEST(pointer, count)                                                                                    \
    (ast_array_request) {                                                                                              \
        &(pointer), count, sizeof *(pointer)                                                                           \
    }

/* Frees the arrays that the pointers of the list have, and allocates new ones. If memory runs out all are NULL. */
#define ast_replace_arrays(...)                                                                                        \
    ast_replace_list((const ast_array_request[]){__VA_ARGS__},                                                         \
                     sizeof((ast_array_request[]){__VA_ARGS__}) / sizeof(ast_array_request))
bool ast_replace_list(const ast_array_request *list, size_t count);

/* The same, only if *capacity is below `needed`; sets *capacity to `needed`, or to 0 if memory runs out. */
#define ast_ensure_arrays(capacity, needed, ...)                                                                       \
    ast_ensure_list(capacity, needed, (const ast_array_request[]){__VA_ARGS__},                                        \
                    sizeof((ast_array_request[]){__VA_ARGS__}) / sizeof(ast_array_request))
bool ast_ensure_list(size_t *capacity, size_t needed, const ast_array_request *list, size_t count);

/* Grows the array at address `array` and keeps its first `used` elements. On failure the old array stays valid. */
bool ast_grow_array(void *array, size_t used, size_t count, size_t size);

/* Ensures memory for `needed` elements: an array that is too short grows to twice as many. New elements are zero. */
bool ast_reserve(void *array, size_t *capacity, size_t used, size_t needed, size_t size);
