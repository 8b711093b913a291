/* SPDX-License-Identifier: MIT
 *
 * Kernels of silhouettes for every processor. */
#define ISA base
#include "silhouette.inc"
