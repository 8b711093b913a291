/* SPDX-License-Identifier: MIT
 *
 * The compiled tables, one per instruction set; dispatch.c chooses. A wrapper file defines ISA (base, avx2 or
 * neon), is compiled with the flags of its instruction set, and includes one .inc source. */
#pragma once

#include "directions.h"
#include "kernels.h"
#include "mixing.h"
#include "silhouette_kernels.h"

#define TABLE_OF(stem, isa) stem##_##isa
#define TABLE_FOR(stem, isa) TABLE_OF(stem, isa)
#define TABLE(stem) TABLE_FOR(stem, ISA) /* ast_kernels_base, ... */
#define QUOTE(isa) #isa
#define QUOTED(isa) QUOTE(isa)

extern const ast_kernels ast_kernels_base, ast_kernels_avx2, ast_kernels_neon;
