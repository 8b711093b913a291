/* SPDX-License-Identifier: MIT
 *
 * Kernels for processors with AVX2 and FMA; compiled with -mavx2 -mfma. */
#define TABLE ast_kernels_avx2
#define TABLE_NAME "avx2"
#include "tables.h"
#include "kernels.inc"
