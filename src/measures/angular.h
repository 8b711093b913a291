/* SPDX-License-Identifier: MIT */
#ifndef AST_ANGULAR_H
#define AST_ANGULAR_H

#include "measures.h"
#include "partition.h"

/* Cosine dissimilarities up to this, a thousandth of a degree, may be nothing but the rounding of sums. */
#define AST_NO_DISSIMILARITY 0x1p-32

/* The mean silhouette from the dissimilarities of pairs, of all points or of a seeded sample of them: the angle, the
 * angle between axes, or the squared sine of it. */
ast_status ast_pair_silhouette(ast_fault *fault, ast_pool *pool, const ast_rows *rows, const ast_partition *partition,
                               ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled);

/* (b - a) / max(a, b); 0 where both are `none` or less, that is, where all of it is rounding. */
static inline double ast_silhouette_value(double a, double b, double none) {
    a = a > 0 ? a : 0;
    b = b > 0 ? b : 0;
    double larger = a > b ? a : b;
    return larger > none ? (b - a) / larger : 0;
}

#endif
