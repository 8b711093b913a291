/* SPDX-License-Identifier: MIT
 *
 * Memory aligned for vectors. All functions return NULL (or false) if memory runs out or the size overflows. */
#ifndef AST_MEMORY_H
#define AST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define AST_ALIGNMENT 64

void *ast_allocate(size_t count, size_t size); /* not cleared; at least one byte; release with free() */
void *ast_allocate_zero(size_t count, size_t size);

/* Grows an array and keeps its first `used` elements. On failure the old array stays valid. */
void *ast_grow(void *old, size_t used, size_t count, size_t size);

/* The same for the pointer at address `array`. */
bool ast_grow_array(void *array, size_t used, size_t count, size_t size);

/* Physical memory of this machine in bytes; 0 if unknown. */
double ast_machine_memory(void);

#endif
