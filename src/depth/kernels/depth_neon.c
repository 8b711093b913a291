/* SPDX-License-Identifier: MIT
 *
 * Kernels for aarch64. */
#define ISA neon
#define AST_NEON
#include "image_kernels.inc"
#include "cloud_kernels.inc"
