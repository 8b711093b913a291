/* SPDX-License-Identifier: MIT
 *
 * Single numbers of every .npy type. */
#ifndef ASTERISM_FORMATS_SCALAR_H
#define ASTERISM_FORMATS_SCALAR_H

#include "npy.h"

/* The number at `place`, which need not be aligned: kind and item as in ast_npy_header, in the machine's byte order.
 * Exact but for integers beyond 2^53, which are rounded. */
double ast_scalar_load(const void *place, char kind, size_t item);

/* Reverses the bytes of each of `count` numbers. */
void ast_scalar_swap(void *data, size_t count, size_t item);

/* All numbers of an array as doubles, in C order whatever the order in the file. */
void ast_scalar_flatten(double *numbers, const void *data, const ast_npy_header *header);

#endif
