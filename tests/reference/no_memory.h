/* SPDX-License-Identifier: MIT
 *
 * Allocations that fail when a test says so. The linker's --wrap puts them between the code and the C library: in
 * CMake, ast_test_without_memory(TEST). */
#ifndef AST_TESTS_NO_MEMORY_H
#define AST_TESTS_NO_MEMORY_H

extern long ast_test_allowed; /* allocations until the failure; negative: all */

#endif
