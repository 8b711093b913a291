/* SPDX-License-Identifier: MIT
 *
 * The loops of mixtures for processors with AVX2; compiled with -mavx2. */
#define TABLE ast_mixing_avx2
#include "mixing.inc"
