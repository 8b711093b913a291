/* SPDX-License-Identifier: MIT
 *
 * The tables that were compiled; dispatch.c chooses. */
#ifndef AST_TABLES_H
#define AST_TABLES_H

#include "apart.h"
#include "kernels.h"
#include "mixing.h"

extern const ast_kernels ast_kernels_base;
extern const ast_mixing ast_mixing_base;
extern const ast_apart ast_apart_base;
#if defined(__x86_64__)
extern const ast_kernels ast_kernels_avx2;
extern const ast_mixing ast_mixing_avx2;
extern const ast_apart ast_apart_avx2;
#endif

#endif
