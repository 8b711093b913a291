/* SPDX-License-Identifier: MIT
 *
 * Kernels of silhouettes for processors with AVX2 and FMA. */
#define ISA avx2
#include "silhouette.inc"
