/* SPDX-License-Identifier: MIT
 *
 * Kernels for every processor. */
#define ISA base
#include "image_kernels.inc"
#include "cloud_kernels.inc"
