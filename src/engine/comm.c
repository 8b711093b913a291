/* SPDX-License-Identifier: MIT */
#include "comm.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define RANKS_AT_ONCE 256 /* ranks that exchange numbers in one sum */

void ast_comm_allreduce(const ast_comm *comm, uint64_t *values, size_t count) {
    if (ast_comm_many(comm) && count > 0)
        comm->sum(comm->data, values, count);
}

void ast_comm_broadcast(const ast_comm *comm, void *bytes, size_t size, int from) {
    assert(from >= 0 && from < ast_comm_size(comm));
    if (ast_comm_many(comm) && size > 0)
        comm->broadcast(comm->data, bytes, size, from);
}

/* Exchanges the numbers of ranks first..first+RANKS_AT_ONCE-1; returns how many ranks there are. */
static int exchange(const ast_comm *comm, int first, uint64_t own, uint64_t values[RANKS_AT_ONCE]) {
    int count = ast_comm_size(comm) - first, at = ast_comm_rank(comm) - first;
    count = count < RANKS_AT_ONCE ? count : RANKS_AT_ONCE;
    memset(values, 0, RANKS_AT_ONCE * sizeof *values);
    if (at >= 0 && at < count)
        values[at] = own;
    ast_comm_allreduce(comm, values, (size_t)count);
    return count;
}

uint64_t ast_comm_before(const ast_comm *comm, uint64_t own, uint64_t *total) {
    uint64_t values[RANKS_AT_ONCE], before = 0;
    *total = 0;
    for (int first = 0; first < ast_comm_size(comm); first += RANKS_AT_ONCE) {
        int count = exchange(comm, first, own, values);
        for (int i = 0; i < count; i++) {
            before += first + i < ast_comm_rank(comm) ? values[i] : 0;
            *total += values[i];
        }
    }
    return before;
}

int ast_comm_first_rank(const ast_comm *comm, bool mine) {
    return ast_comm_rank_of_least(comm, mine ? 0 : INFINITY);
}

int ast_comm_rank_of_least(const ast_comm *comm, double own) {
    assert(!isnan(own));
    uint64_t values[RANKS_AT_ONCE], bits;
    double least = INFINITY;
    int who = -1;
    memcpy(&bits, &own, sizeof bits);
    for (int first = 0; first < ast_comm_size(comm); first += RANKS_AT_ONCE) {
        int count = exchange(comm, first, bits, values);
        for (int i = 0; i < count; i++) {
            double number;
            memcpy(&number, &values[i], sizeof number);
            if (number < least) {
                least = number;
                who = first + i;
            }
        }
    }
    return who;
}

ast_status ast_comm_agree(const ast_comm *comm, ast_status status, ast_fault *fault) {
    int who = ast_comm_first_rank(comm, status != AST_OK);
    if (who < 0 || !ast_comm_many(comm))
        return status;
    ast_fault values = *fault;
    values.status = status;
    ast_comm_broadcast(comm, &values, sizeof values, who);
    *fault = values;
    return values.status;
}
