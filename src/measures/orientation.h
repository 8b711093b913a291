/* SPDX-License-Identifier: MIT
 *
 * Statistics of directions in three dimensions: the orientation tensor and uniformity (orientation.c), common means
 * (common_mean.c). */
#pragma once

#include "asterism_field.h"
#include "fault.h"
#include "pool.h"

typedef struct ast_directions {
    double (*at)[3];       /* (count) unit vectors, none missing */
    const double *weights; /* (count), or NULL */
    size_t count;
} ast_directions;

/* Fills in everything but `size`. */
void ast_orientation_find(const ast_directions *directions, int axial, ast_orientation *orientation);

/* The same for the sets; axial sets are turned in place. */
ast_status ast_common_mean_find(ast_pool *pool, ast_directions *sets, size_t count,
                                const ast_common_mean_options *options, ast_set_mean *each, ast_common_mean *result,
                                ast_fault *fault);

/* Eigenvalues, largest first, and their unit vectors of a symmetric matrix. */
void ast_eigen3(const double matrix[3][3], double values[3], double vectors[3][3]);
