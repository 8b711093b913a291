/* SPDX-License-Identifier: MIT
 *
 * Allocations and thread starts that are counted, and one of which fails. The linker's --wrap puts them between the
 * library and the C library. */
#ifndef AST_TESTS_WRAPPERS_H
#define AST_TESTS_WRAPPERS_H

#include <stdatomic.h>

extern atomic_long ast_test_countdown; /* the call that brings it from 1 to 0 fails; 0 and below: none does */
extern atomic_long ast_test_blocks;    /* allocated and not yet freed, the tests' own included */

#endif
