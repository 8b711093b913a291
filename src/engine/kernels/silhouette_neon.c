/* SPDX-License-Identifier: MIT
 *
 * Kernels of silhouettes for aarch64. */
#define ISA neon
#define AST_NEON
#include "silhouette.inc"
