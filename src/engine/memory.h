/* SPDX-License-Identifier: MIT
 *
 * Memory aligned for vectors. NULL when there is none; sizes that overflow are refused the same way. */
#ifndef AST_MEMORY_H
#define AST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#define AST_ALIGNMENT 64

void *ast_allocate(size_t count, size_t size); /* not cleared; at least one byte; release with free() */
void *ast_allocate_zero(size_t count, size_t size);

/* Grows an array, keeping `used` elements. NULL leaves the old one as it was. */
void *ast_grow(void *old, size_t used, size_t count, size_t size);

/* The same where `array` is the address of the pointer. false: it stays as it was. */
bool ast_grow_array(void *array, size_t used, size_t count, size_t size);

/* The bytes that this machine has, used or not; 0 where it does not tell. */
double ast_machine_memory(void);

#endif
