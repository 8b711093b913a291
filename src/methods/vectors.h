/* SPDX-License-Identifier: MIT
 *
 * Products and lengths of vectors in double, components in order: the same bits everywhere. */
#pragma once

#include <math.h>
#include <stddef.h>

static inline double ast_dot(const double *a, const double *b, size_t dimension) {
    double sum = 0;
    for (size_t d = 0; d < dimension; d++)
        sum += a[d] * b[d];
    return sum;
}

static inline double ast_dot_row(const float *row, const double *x, size_t dimension) {
    double sum = 0;
    for (size_t d = 0; d < dimension; d++)
        sum += (double)row[d] * x[d];
    return sum;
}

/* Makes it a unit vector, unless it is zero. Returns its length before. */
static inline double ast_normalise(double *x, size_t dimension) {
    double length = sqrt(ast_dot(x, x, dimension));
    for (size_t d = 0; d < dimension && length > 0; d++)
        x[d] /= length;
    return length;
}
