/* SPDX-License-Identifier: MIT
 *
 * One clustering on several processes. Each process, a *rank*, holds its own points. Together they compute, bit for
 * bit, the labels that one process would give to all of the points, with the points of rank 0 first.
 *
 *     ast_open(&context, 0);
 *     ast_join(context, &comm);                                  // on every rank
 *     ast_cluster(context, &mine, &options, labels, &report);    // on every rank, each with its own points
 *
 * asterism contains no network code: it needs only the two functions below. app/mpi implements them over MPI. */
#ifndef ASTERISM_RANKS_H
#define ASTERISM_RANKS_H

#include "asterism.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Communication between the ranks. All ranks call the same functions in the same order with the same counts. Neither
 * function can fail: if the other ranks cannot be reached, end the process. */
typedef struct ast_comm {
    size_t size;
    int rank, ranks; /* this rank, 0..ranks-1, and the number of ranks */
    /* Replaces `count` numbers by their sums over all ranks, modulo 2^64. */
    void (*sum)(void *data, uint64_t *values, size_t count);
    /* Gives every rank the bytes of rank `from`. */
    void (*broadcast)(void *data, void *bytes, size_t size, int from);
    void *data;
} ast_comm;

/* Makes the context one of several ranks; NULL: it works alone again. `comm` is kept and must outlive the context.
 * ast_cluster then works on all ranks together: every rank passes equal options and its own points, `labels` receives
 * the labels of its own points, and report, clusters and means are those of all points. The method must be AST_DP, with
 * restarts 1 and AST_ORDER_GIVEN, or AST_SPKM; both with AST_ORDERED, without dp.sample and start.points.
 * AST_METRIC_LOCAL learns one map from the points of all ranks. Merging by the evidence or to a count compares hashes
 * of the rows of all ranks, and needs `rounding` as a number in up to three dimensions. If one rank fails, all fail
 * with the message of the lowest failing rank. The points of all ranks together are fewer than 2^31. A cancellation
 * takes effect one pass later. ast_silhouette and ast_compare measure the points of all ranks, with the bits of one
 * process. Other calls concern only this rank. */
AST_API ast_status ast_join(ast_context *context, const ast_comm *comm);

#ifdef __cplusplus
}
#endif

#endif
