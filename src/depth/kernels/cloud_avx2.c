/* SPDX-License-Identifier: MIT
 *
 * Kernels for processors with AVX2; compiled with -mavx2. */
#define TABLE ast_cloud_kernels_avx2
#define TABLE_NAME "avx2"
#include "cloud_kernels.inc"
