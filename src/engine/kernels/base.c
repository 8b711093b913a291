/* SPDX-License-Identifier: MIT
 *
 * Kernels for every processor. */
#define TABLE ast_kernels_base
#define TABLE_NAME "base"
#include "tables.h"
#include "kernels.inc"
