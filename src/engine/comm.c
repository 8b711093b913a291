/* SPDX-License-Identifier: MIT */
#include "comm.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define PARTY 256 /* ranks that exchange a number in one sum */

void ast_comm_allreduce(const ast_comm *comm, uint64_t *values, size_t count) {
    if (ast_comm_many(comm) && count > 0)
        comm->sum(comm->data, values, count);
}

void ast_comm_broadcast(const ast_comm *comm, void *bytes, size_t size, int from) {
    assert(from >= 0 && from < ast_comm_size(comm));
    if (ast_comm_many(comm) && size > 0)
        comm->broadcast(comm->data, bytes, size, from);
}

/* Exchanges the numbers of ranks first..first+PARTY-1; returns how many there are. */
static int tell(const ast_comm *comm, int first, uint64_t own, uint64_t told[PARTY]) {
    int count = ast_comm_size(comm) - first, at = ast_comm_rank(comm) - first;
    count = count < PARTY ? count : PARTY;
    memset(told, 0, PARTY * sizeof *told);
    if (at >= 0 && at < count)
        told[at] = own;
    ast_comm_allreduce(comm, told, (size_t)count);
    return count;
}

uint64_t ast_comm_before(const ast_comm *comm, uint64_t own, uint64_t *total) {
    uint64_t told[PARTY], before = 0;
    *total = 0;
    for (int first = 0; first < ast_comm_size(comm); first += PARTY) {
        int count = tell(comm, first, own, told);
        for (int i = 0; i < count; i++) {
            before += first + i < ast_comm_rank(comm) ? told[i] : 0;
            *total += told[i];
        }
    }
    return before;
}

int ast_comm_first_rank(const ast_comm *comm, bool mine) {
    return ast_comm_rank_of_least(comm, mine ? 0 : INFINITY);
}

int ast_comm_rank_of_least(const ast_comm *comm, double own) {
    assert(!isnan(own));
    uint64_t told[PARTY], bits;
    double least = INFINITY;
    int who = -1;
    memcpy(&bits, &own, sizeof bits);
    for (int first = 0; first < ast_comm_size(comm); first += PARTY) {
        int count = tell(comm, first, bits, told);
        for (int i = 0; i < count; i++) {
            double number;
            memcpy(&number, &told[i], sizeof number);
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
    ast_fault told = *fault;
    told.status = status;
    ast_comm_broadcast(comm, &told, sizeof told, who);
    *fault = told;
    return told.status;
}
