/* SPDX-License-Identifier: MIT
 *
 * Kernels for aarch64. */
#define ISA neon
#define AST_NEON
#include "kernels.inc"
