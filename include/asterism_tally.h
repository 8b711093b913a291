/* SPDX-License-Identifier: MIT
 *
 * One iteration of spherical k-means in parts, for whoever has the points in many places and a way to send bytes:
 * Spark, Dask, Ray, a pool of processes, a queue. A *tally* is what points add up to, given the means of the iteration.
 *
 *     ast_tally_start(context, given, clusters, dimension, means);
 *
 *     // wherever there is a block of points: the means of this iteration, NULL for the usual options
 *     ast_tally *part = ast_tally_open(context, means, clusters, dimension, NULL);
 *     ast_tally_add(part, &block, number_of_its_first_point, labels);
 *     const void *bytes = ast_tally_save(part, &size);           // send them
 *
 *     // wherever the parts come together: the same means
 *     ast_tally_merge(all, bytes, size);                         // each part once, in any order and grouping
 *     ast_tally_update(all, &step);                              // step.means: those of the next iteration
 *
 * Sums are exact integers, so that nothing depends on how the points are split, on who is merged with whom, or on the
 * order: the bytes of a tally depend on its points alone. Iterations from the means that ast_cluster starts from with
 * AST_SPKM and AST_GIVEN give its labels, means and objective, bit for bit, clusters that become empty included; it has
 * converged when step.fingerprint equals that of the iteration before. (examples/tally.c is such a loop,
 * examples/kmeans_processes.py one over processes.)
 *
 * The rules of asterism.h hold. A tally belongs to its context, and so to one thread at a time. */
#ifndef ASTERISM_TALLY_H
#define ASTERISM_TALLY_H

#include "asterism.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ast_tally ast_tally;

/* Equal for all tallies that are to be merged. All zeros: directions that count 1 each. */
typedef struct ast_tally_options {
    int axial;              /* 1: x and -x are the same. Means are then returned on either side */
    double smallest_weight; /* 0: points have no weights. Otherwise all have: the smallest positive weight of all points
                               that are not missing, and ... */
    double total_weight;    /* ... the sum of weight / smallest_weight over them. ast_cluster adds them up in the order
                               of the points; a sum that is off by rounding alone gives its result too, unless it is so
                               close to a power of two that it crosses it. Where all weights are equal it takes them for
                               1: give none */
} ast_tally_options;

/* The means that a run begins with when it is given these, both (clusters, dimension) row-major: normalised as
 * ast_cluster does it. AST_BAD_DATA, and nothing is written, if one has no direction. */
AST_API ast_status ast_tally_start(ast_context *context, const float *given, size_t clusters, size_t dimension,
                                   float *means);

/* An empty tally against these means, (clusters, dimension) row-major: those of ast_tally_start or of the last
 * ast_tally_step, which are taken as they are (AST_BAD_DATA if one is no unit vector). `options` may be NULL. It works
 * on the context's threads; the context must be closed after it. NULL if something is wrong: ast_message. */
AST_API ast_tally *ast_tally_open(ast_context *context, const float *means, size_t clusters, size_t dimension,
                                  const ast_tally_options *options);
AST_API void ast_tally_close(ast_tally *tally); /* NULL is fine */

/* Adds points, dense or (not axial) sparse. `first` is the number of the first of them among the points of all parts:
 * where points fit equally badly, the lowest number comes first, and the fingerprint needs it. No point may be added
 * twice, which nothing notices. Rows may be missing: label -1, no part in anything. A point of weight 0 gets a label
 * and counts nothing. All tallies together: less than 2^32 points.
 *
 * `labels` (N, or NULL) receives the nearest mean, equal ones to the lowest index. What is in it before says which
 * points changed: give the labels of the iteration before to have them counted. After a failure (ast_message of the
 * context) tally and labels are as they were. */
AST_API ast_status ast_tally_add(ast_tally *tally, const ast_points *points, uint64_t first, int32_t *labels);

/* The tally as bytes, valid until the next call with it; NULL if there is no memory. They hold
 *
 *     header     15 numbers of 8 bytes: magic, version (2), size of all, dimension D, clusters K, options, counts, ...
 *     sums       (K, D) int64      of the points, in units of 2^-30, or of weighted points in the unit that they need
 *     weights    (K) int64         of the points together
 *     members    (K) int64         points
 *     worst      W records of 32 bytes and (W, D) floats: the points that fit worst, if a cluster is empty; W <= K
 *     nearest    B records and (B, D) floats: the nearest point of each cluster that may be left with it alone; B <= K
 *     checksum   8 bytes
 *
 * in the machine's byte order, each part filled up to 8 bytes. As a rule no cluster is empty, and W = B = 0. Another
 * byte order, another version, and damage are noticed by ast_tally_merge. */
AST_API const void *ast_tally_save(ast_tally *tally, size_t *size);

/* Adds what another tally, given as bytes, has. AST_BAD_DATA, and nothing changes, if they are damaged, of another
 * version, or of a tally with other means or options: the sentence says which. */
AST_API ast_status ast_tally_merge(ast_tally *tally, const void *bytes, size_t size);

/* What there is so far. */
typedef struct ast_tally_totals {
    uint64_t points, missing; /* rows; those of them without a direction */
    uint64_t changed;         /* points whose entry in `labels` was another: all where that was NULL */
    double objective;         /* the sum of the points' cosines to the given means, weighted where there are weights; in
                                 units of the smallest weight */
    double unit;              /* sums are whole numbers of 1 / unit; so are weights, where there are some */
    const int64_t *sums;      /* (K, D) */
    const int64_t *weights;   /* (K) */
    const int64_t *members;   /* (K) */
} ast_tally_totals;

/* Looks at it, for rules of one's own; the pointers are valid until the next call with the tally. */
AST_API void ast_tally_look(const ast_tally *tally, ast_tally_totals *totals);

/* A point that an empty cluster took: its label is `to` now. */
typedef struct ast_tally_move {
    uint64_t point; /* its number among all */
    int32_t from, to;
} ast_tally_move;

/* What an iteration came to. */
typedef struct ast_tally_step {
    double objective;            /* the sum of |sum of the members| over clusters, as in ast_report */
    uint64_t fingerprint;        /* of the labels, moves included: equal to that of the iteration before if no label
                                    (and of axial data no side) changed */
    const float *means;          /* (K, D) the next ones */
    const ast_tally_move *moves; /* (moved) what to change in labels that were kept */
    size_t moved;
} ast_tally_step;

/* Ends the iteration, once all parts are merged. Every empty cluster, in order of index, takes the point with the
 * smallest cosine to its mean (the lowest number of equal ones) from a cluster of two or more; then every mean becomes
 * the normalised sum of its points, in double, rounded once. A cluster of one point has that point's own bits; one
 * whose points cancel out keeps its mean. AST_BAD_DATA, and nothing changes, if there are fewer points than clusters.
 *
 * The tally is empty then, and stands against the new means: for the next iteration. Pointers are valid until the next
 * call with the tally. */
AST_API ast_status ast_tally_update(ast_tally *tally, ast_tally_step *step);

#ifdef __cplusplus
}
#endif

#endif
