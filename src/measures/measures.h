/* SPDX-License-Identifier: MIT
 *
 * Quality of a labelling: against another labelling (agreement.c) and against the points (silhouette.c,
 * pair_silhouette.c). */
#pragma once

#include "comm.h"
#include "fault.h"
#include "pool.h"
#include "rowset.h"

/* NMI and ARI of two labellings (N) with arbitrary int32 labels; points with a negative label in either are ignored.
 * Two labellings with one cluster each agree fully, as do two labellings without points; if only one of them has a
 * single cluster, both measures are 0. Each rank passes its own points; the result is that of all points. */
ast_status ast_agreement_of(ast_fault *fault, const ast_comm *comm, const int32_t *labels, const int32_t *truth,
                            size_t count, ast_agreement *agreement);

/* The rows to measure: loaded, all of one rank. Rows with negative labels may have any value. */
typedef struct ast_measured {
    const ast_rowset *rows;
    const ast_comm *comm; /* NULL for a single process */
    size_t before, all;   /* rows of the ranks before this one, and of all ranks */
} ast_measured;

/* The mean silhouette of the rows with labels >= 0: the same bits for any number of threads and ranks and any kernels.
 * *sampled (may be NULL) becomes the number of points used. */
ast_status ast_silhouette_of(ast_fault *fault, ast_pool *pool, const ast_measured *given, const int32_t *labels,
                             ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled);

/* Cosine dissimilarities up to this, a thousandth of a degree, may be the rounding of sums only. */
#define AST_NO_DISSIMILARITY 0x1p-32

struct ast_partition;

/* The same from the dissimilarities of pairs, of all labelled points or of a seeded sample; at least two clusters. */
ast_status ast_pair_silhouette(ast_fault *fault, ast_pool *pool, const ast_measured *given,
                               const struct ast_partition *partition, ast_dissimilarity dissimilarity, uint64_t seed,
                               double *silhouette, size_t *sampled);
