/* SPDX-License-Identifier: MIT
 *
 * Kernels for every processor. */
#define TABLE ast_image_kernels_base
#define TABLE_NAME "base"
#include "image_kernels.inc"
