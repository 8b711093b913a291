/* SPDX-License-Identifier: MIT
 *
 * Kernels for processors with AVX2. */
#define ISA avx2
#include "image_kernels.inc"
#include "cloud_kernels.inc"
