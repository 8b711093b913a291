/* SPDX-License-Identifier: MIT
 *
 * What the tests of the kernels for images share: the tables, rows that end where nobody may read, and what to fill
 * them with. */
#ifndef KERNEL_IMAGE_ROWS_H
#define KERNEL_IMAGE_ROWS_H

#include "common.h"

#include "image_kernels.h"

#define MOST_RADIUS 7
#define ROWS (2 * MOST_RADIUS + 1)

/* The tables to test, base first; NULL ends them. */
extern const ast_image_kernels *image_tables[3];
int find_image_tables(void **state); /* a group's setup */

/* A row with `side` numbers to read on either side of n, filled by `make`. */
float *row_of(ast_random *random, size_t n, size_t side, float (*make)(ast_random *));

float any_s(ast_random *random); /* inverse depth, a quarter of it holes */
float any_number(ast_random *random);
float any_positive(ast_random *random);
float any_count(ast_random *random);

/* Fails unless the bits are the same; any NaN is as good as another. */
void same_floats(const float *got, const float *expected, size_t n, const char *what, const char *table);

#endif
