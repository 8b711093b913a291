/* SPDX-License-Identifier: MIT
 *
 * Kernels of mixtures for every processor. */
#define ISA base
#include "mixing.inc"
