/* SPDX-License-Identifier: MIT
 *
 * The loops of silhouettes for processors with AVX2; compiled with -mavx2. */
#define TABLE ast_apart_avx2
#include "apart.inc"
