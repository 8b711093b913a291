/* SPDX-License-Identifier: MIT
 *
 * Kernels of mixtures for aarch64. */
#define ISA neon
#define AST_NEON
#include "mixing.inc"
