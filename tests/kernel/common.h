/* SPDX-License-Identifier: MIT
 *
 * What the kernel tests share: the tables that this processor can run, memory that ends at a page nobody may touch, and
 * random unit vectors. */
#ifndef KERNEL_COMMON_H
#define KERNEL_COMMON_H

#include "random.h"
#include "tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MOST_POINTS 130

/* The tables to test, base first; NULL ends them. */
extern const ast_kernels *const *const all_tables;

/* The points up to n with their padding. */
size_t padded(size_t n);

/* `bytes` of memory, filled with 0xff (NaN; -1), that end where a forbidden page begins: a read or write behind them
 * crashes. What is written just before their start is noticed by release_all, which ends all of them. */
void *guarded(size_t bytes);
void release_all(void);

/* A guarded copy of n floats, or none of them but the room. */
float *guarded_floats(const float *from, size_t n);
int32_t *guarded_ints(const int32_t *from, size_t n);

/* Guarded columns, padded; the padding holds what is not a number. */
void guarded_columns(const float *rows, size_t n, size_t dimension, const float **x);

/* Guarded scores for n points, with the padding if `pad`. */
ast_scores guarded_scores(size_t n, bool pad);

void random_unit(ast_random *random, float *x, size_t dimension);

#endif
