/* SPDX-License-Identifier: MIT
 *
 * Kernels for processors with AVX2 and FMA. */
#define ISA avx2
#include "kernels.inc"
