/* SPDX-License-Identifier: MIT
 *
 * Kernels of mixtures for processors with AVX2 and FMA. */
#define ISA avx2
#include "mixing.inc"
