/* SPDX-License-Identifier: MIT
 *
 * The other processes that take part, if there are any. Everything here is a collective call: all ranks make it, in the
 * same order. NULL is one process alone, for which nothing happens. What only one rank knows travels as a sum to which
 * the others add zeros: exact, since it is integers that are added. */
#ifndef AST_COMM_H
#define AST_COMM_H

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

void ast_comm_sum(const ast_comm *comm, uint64_t *values, size_t count);
void ast_comm_broadcast(const ast_comm *comm, void *bytes, size_t size, int from);

/* The sum of `own` over the ranks before this one, and over all of them. */
uint64_t ast_comm_before(const ast_comm *comm, uint64_t own, uint64_t *total);

/* The lowest rank for which `mine` holds, or -1. */
int ast_comm_lowest(const ast_comm *comm, bool mine);

/* The rank whose number is least, the lowest of several: -1 if all are infinite. No number is a NaN. */
int ast_comm_least(const ast_comm *comm, double own);

/* What fails on one rank fails on all, with the message of the lowest. */
ast_status ast_comm_agree(const ast_comm *comm, ast_status status, ast_fault *fault);

#endif
