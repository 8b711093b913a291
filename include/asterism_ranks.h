/* SPDX-License-Identifier: MIT
 *
 * Several processes, one clustering. Each of them, a *rank*, holds its own points; together they get the labels that one
 * process would give to all of the points, those of rank 0 first, bit for bit.
 *
 *     ast_context *context = ast_open(0);
 *     ast_join(context, &comm);                                  // on every rank
 *     ast_cluster(context, &mine, &options, labels, &report);    // on every rank, each with its own points
 *
 * asterism knows no network: the two functions below are all it needs of one. mpi/ supplies them over MPI. */
#ifndef ASTERISM_RANKS_H
#define ASTERISM_RANKS_H

#include "asterism.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the ranks talk. All ranks call the same functions in the same order with the same counts. Neither function can
 * fail: where the others cannot be reached any more, end the process. */
typedef struct ast_comm {
    int rank, size; /* 0..size-1 */
    /* Replaces `count` numbers by their sums over all ranks, modulo 2^64. */
    void (*sum)(void *data, uint64_t *values, size_t count);
    /* Gives every rank the bytes of rank `from`. */
    void (*broadcast)(void *data, void *bytes, size_t size, int from);
    void *data;
} ast_comm;

/* Makes the context one rank of several; NULL: it works alone again. `comm` is kept, and must outlive the context.
 * ast_cluster with AST_DP or AST_SPKM, AST_ORDERED and no shuffle then works on all ranks together: every rank passes
 * equal options and its own points, `labels` receives those of its own points, and the report, the clusters and the
 * means are those of all. What fails on one rank fails on all, with the message of the lowest. The points of all ranks
 * together are less than 2^31. A cancellation shows one pass later. ast_silhouette and ast_compare measure the points of
 * all ranks, with the bits of one process. Other calls are this rank's alone. */
AST_API ast_status ast_join(ast_context *context, const ast_comm *comm);

#ifdef __cplusplus
}
#endif

#endif
