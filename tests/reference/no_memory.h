/* SPDX-License-Identifier: MIT
 *
 * Allocations and thread starts that are counted, and one of which fails when a test says so. The linker's --wrap puts
 * them between the code and the C library: in CMake, ast_test_without_memory(TEST). */
#ifndef AST_TESTS_NO_MEMORY_H
#define AST_TESTS_NO_MEMORY_H

#include <stdatomic.h>

extern atomic_long ast_test_countdown;   /* the call that brings it from 1 to 0 fails; 0 and below: none does */
extern atomic_long ast_test_allocations; /* so far, thread starts included */
extern atomic_long ast_test_blocks;      /* allocated and not yet freed, the tests' own included */

#endif
