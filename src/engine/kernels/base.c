/* SPDX-License-Identifier: MIT
 *
 * Kernels for every processor. */
#define ISA base
#include "kernels.inc"
