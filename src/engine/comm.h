/* SPDX-License-Identifier: MIT
 *
 * Communication with the other processes (ranks), if there are any. Every function is collective: all ranks call it, in
 * the same order. NULL stands for a single process; the functions then do nothing. A number that only one rank knows is
 * sent as a sum to which the others add 0; with integers this is exact. */
#pragma once

#include "asterism_ranks.h"
#include "fault.h"

#include <stdbool.h>

static inline bool ast_comm_many(const ast_comm *comm) {
    return comm && comm->ranks > 1;
}

static inline int ast_comm_rank(const ast_comm *comm) {
    return comm ? comm->rank : 0;
}

static inline int ast_comm_size(const ast_comm *comm) {
    return comm ? comm->ranks : 1;
}

void ast_comm_allreduce(const ast_comm *comm, uint64_t *values, size_t count);
void ast_comm_broadcast(const ast_comm *comm, void *bytes, size_t size, int from);

/* The sum of `own` over the ranks before this one; *total becomes the sum over all ranks. */
uint64_t ast_comm_before(const ast_comm *comm, uint64_t own, uint64_t *total);

/* The lowest rank for which `mine` holds, or -1. */
int ast_comm_first_rank(const ast_comm *comm, bool mine);

/* The rank with the smallest number, the lowest rank among equals; -1 if all are infinite. No number is a NaN. */
int ast_comm_rank_of_least(const ast_comm *comm, double own);

/* Makes a failure on one rank a failure on all ranks; reports the error of the lowest failing rank. */
ast_status ast_comm_agree(const ast_comm *comm, ast_status status, ast_fault *fault);
