/* SPDX-License-Identifier: MIT
 *
 * What family.c and family_posterior.c share. */
#pragma once

#include "family.h"

/* Eigenvalues (D) of the mean of x x', from large to small, and its eigenvectors (D, D), one per row. */
void ast_family_axes(const ast_family *family, double mass, const double *sum, double *values, double *vectors);

/* The symmetric matrix (n, n) of such entries. */
void ast_family_unpack(size_t n, const double *entries, double *matrix);

/* The largest kappa that is estimated. */
double ast_family_most_kappa(const ast_family *family);

/* Mean and axes of a Kent component; y: 1 - the mean length; d: the difference of the second moments along the axes. */
void ast_kent_frame(double mass, const double *sum, ast_family_shape *shape, double *y, double *d);
