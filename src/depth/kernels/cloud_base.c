/* SPDX-License-Identifier: MIT
 *
 * Kernels for every processor. */
#define TABLE ast_cloud_kernels_base
#define TABLE_NAME "base"
#include "cloud_kernels.inc"
