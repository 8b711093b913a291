/* SPDX-License-Identifier: MIT
 *
 * One iteration of spherical k-means in parts, for points that are distributed over Spark, Dask, Ray, a pool of
 * processes or a queue. A *tally* is the sum of points, given the means of the iteration.
 *
 *     ast_tally_start(context, given, clusters, dimension, means);
 *
 *     // for each block of points, wherever it is: the means of this iteration, NULL for the default options
 *     ast_tally_open(&part, context, means, clusters, dimension, NULL);
 *     ast_tally_add(part, &block, number_of_its_first_point, labels);
 *     const void *bytes = ast_tally_save(part, &size);           // send them
 *
 *     // where the parts come together: the same means
 *     ast_tally_merge(all, bytes, size);                         // each part once, in any order and grouping
 *     ast_tally_update(all, &step);                              // step.means: means of the next iteration
 *
 * Sums are exact integers, so that the result does not depend on how the points are split or in which order parts are
 * merged: the bytes of a tally depend only on its points. Iterations from the means that ast_cluster starts from with
 * AST_SPKM and AST_GIVEN give its labels, means and objective, bit for bit, including clusters that become empty. The
 * iteration has converged when step.fingerprint equals that of the iteration before. (examples/tally.c is such a loop,
 * examples/kmeans_processes.py one over processes.)
 *
 * ast_tally_draw draws starts in parts. The rules at the head of asterism.h apply. */
#ifndef ASTERISM_TALLY_H
#define ASTERISM_TALLY_H

#include "asterism.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ast_tally ast_tally;

/* Must be equal for all tallies that are merged. */
typedef struct ast_tally_options {
    size_t size;
    int axial;              /* 0. 1: x and -x are the same. Means then have either sign */
    double smallest_weight; /* 0: points have no weights. Otherwise all points have weights, and this is the smallest
                               positive weight of all points that are not missing, and ... */
    double total_weight; /* ... this is the sum of weight / smallest_weight over them, in the order of the points. A sum
                            that differs by rounding gives the same result, unless it crosses a power of two. If all
                            weights are equal, use no weights, as ast_cluster does */
} ast_tally_options;

/* Normalises the means `given` as ast_cluster does and writes them to `means`; both (clusters, dimension) row-major.
 * AST_BAD_DATA, and nothing is written, if a mean has no direction. */
AST_API ast_status ast_tally_start(ast_context *context, const float *given, size_t clusters, size_t dimension,
                                   float *means);

/* Draws up to `count` different rows, all equally likely, as unit vectors: `drawn` (count, D) receives them, *found how
 * many they are: fewer than `count` only if there are no more different rows. They are the starts of ast_cluster with
 * AST_SPKM, AST_RANDOM and this seed. To draw from points in parts, draw from each part, then from all rows so drawn:
 * the result equals a draw from all points, bit for bit. `points` has no weights. `axial` as in ast_tally_options. */
AST_API ast_status ast_tally_draw(ast_context *context, const ast_points *points, size_t count, uint64_t seed,
                                  int axial, float *drawn, size_t *found);

/* Opens an empty tally for these means, (clusters, dimension) row-major: from ast_tally_start or the last
 * ast_tally_step. They are used as they are (AST_BAD_DATA if one is not a unit vector). `options` may be NULL. It works
 * on the context's threads. Close it before the context. On failure *tally is NULL. */
AST_API ast_status ast_tally_open(ast_tally **tally, ast_context *context, const float *means, size_t clusters,
                                  size_t dimension, const ast_tally_options *options);
AST_API void ast_tally_close(ast_tally *tally); /* NULL is allowed */

/* Adds points, dense or (without axial) sparse. `first` is the number of the first of them among the points of all
 * parts: of points that fit equally badly the one with the lowest number comes first, and the fingerprint depends on
 * it. Add every point once; the library does not notice a repetition. Missing rows get the label -1 and do not count. A
 * point of weight 0 gets a label and does not count. All tallies together have fewer than 2^32 points.
 *
 * `labels` (N, or NULL) receives the nearest mean, the lowest index if several are equal. The labels that it holds
 * before the call are compared with the new ones to count the points that changed. After a failure (ast_message of the
 * context) tally and labels are as they were. */
AST_API ast_status ast_tally_add(ast_tally *tally, const ast_points *points, uint64_t first, int32_t *labels);

/* The tally as bytes, valid until the next call with it; NULL on failure (ast_message of the context). Their layout:
 *
 *     header     15 numbers of 8 bytes: magic, version (2), size of all, dimension D, clusters K, options, counts, ...
 *     sums       (K, D) int64      of the points, in units of 2^-30, or of weighted points in the unit that they need
 *     weights    (K) int64         total weight
 *     members    (K) int64         number of points
 *     worst      W records of 32 bytes and (W, D) floats: the points that fit worst, if a cluster is empty; W <= K
 *     nearest    B records and (B, D) floats: the nearest point of each cluster that may keep only one point; B <= K
 *     checksum   8 bytes
 *
 * in the machine's byte order, each part padded to 8 bytes. If no cluster is empty, which is the rule, W = B = 0.
 * ast_tally_merge detects another byte order, another version and damage. */
AST_API const void *ast_tally_save(ast_tally *tally, size_t *size);

/* Adds another tally, given as bytes. AST_BAD_DATA, and nothing changes, if they are damaged, have another version, or
 * come from a tally with other means or options; the sentence says which. */
AST_API ast_status ast_tally_merge(ast_tally *tally, const void *bytes, size_t size);

/* The content of a tally. */
typedef struct ast_tally_totals {
    size_t size;
    uint64_t points, missing; /* all rows, and rows without a direction */
    uint64_t changed;         /* points whose entry in `labels` was different; all points if that was NULL */
    double objective;       /* sum of the points' cosines to the given means, weighted if there are weights, in units of
                               the smallest weight */
    double unit;            /* sums are multiples of 1 / unit; weights too, if there are weights */
    const int64_t *sums;    /* (K, D) */
    const int64_t *weights; /* (K) */
    const int64_t *members; /* (K) */
} ast_tally_totals;

/* Reads the content, for update rules of your own. The pointers are valid until the next call with the tally. */
AST_API ast_status ast_tally_look(const ast_tally *tally, ast_tally_totals *totals);

/* A point that was moved to an empty cluster: its label is now `to`. */
typedef struct ast_tally_move {
    uint64_t point; /* its number among all points */
    int32_t from, to;
} ast_tally_move;

/* The result of an iteration. */
typedef struct ast_tally_step {
    size_t size;
    double objective;     /* sum of |sum of the members| over the clusters, as in ast_report */
    uint64_t fingerprint; /* of the labels, including moves: equal to that of the iteration before if no label (and
                             with axial no sign) changed */
    const float *means;   /* (K, D) means of the next iteration */
    const ast_tally_move *moves; /* (moved) changes to the labels */
    size_t moved;
} ast_tally_step;

/* Ends the iteration; call it when all parts are merged. Every empty cluster, in order of index, takes the point with
 * the smallest cosine to its mean (of equal ones that with the lowest number) from a cluster of two or more points.
 * Then every mean becomes the normalised sum of its points, in double, rounded once. The mean of a cluster of one point
 * has the bits of that point; a cluster whose points cancel out keeps its mean. AST_BAD_DATA, and nothing changes, if
 * there are fewer points than clusters.
 *
 * The tally is then empty and has the new means, for the next iteration. Pointers are valid until the next call with
 * the tally. */
AST_API ast_status ast_tally_update(ast_tally *tally, ast_tally_step *step);

#ifdef __cplusplus
}
#endif

#endif
