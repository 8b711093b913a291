/* SPDX-License-Identifier: MIT */
#ifndef AST_ANGULAR_H
#define AST_ANGULAR_H

#include "measures.h"
#include "partition.h"
#include "random.h"

/* Cosine dissimilarities up to this, a thousandth of a degree, may be nothing but the rounding of sums. */
#define AST_NO_DISSIMILARITY 0x1p-32

/* The mean silhouette from the dissimilarities of pairs, of all points or of a seeded sample of them: the angle, the
 * angle between axes, or the squared sine of it. */
ast_status ast_pair_silhouette(ast_fault *fault, ast_pool *pool, const ast_rows *rows, const ast_partition *partition,
                               ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled);

/* Selection sampling (Knuth 3.4.2, algorithm S): every subset of AST_SILHOUETTE_SAMPLE labelled rows is equally
 * probable. It can stop anywhere and go on. */
typedef struct ast_selection {
    ast_random random;
    size_t left, wanted; /* labelled rows that are to come, and how many of them */
} ast_selection;

void ast_selection_open(ast_selection *selection, const ast_partition *partition, uint64_t seed);

/* Takes some of the next rows; `chosen` has room for all that are wanted. Returns how many. */
size_t ast_select_rows(ast_selection *selection, const int32_t *cluster, size_t rows, uint32_t *chosen);

/* gathered.c: the rows that one process would select, from all ranks on each of them. Free it also after a failure. */
typedef struct ast_gathered {
    ast_rows rows;
    ast_partition partition;
    float *values;    /* (count, D) */
    int32_t *cluster; /* (count) */
} ast_gathered;

ast_status ast_gather_sample(ast_fault *fault, const ast_rows *rows, const ast_partition *partition, uint64_t seed,
                             ast_gathered *sample);
void ast_gathered_free(ast_gathered *sample);

/* (b - a) / max(a, b); 0 where both are `none` or less, that is, where all of it is rounding. */
static inline double ast_silhouette_value(double a, double b, double none) {
    a = a > 0 ? a : 0;
    b = b > 0 ? b : 0;
    double larger = a > b ? a : b;
    return larger > none ? (b - a) / larger : 0;
}

#endif
