/* SPDX-License-Identifier: MIT
 *
 * Several ranks in one process: a thread each, which talk through shared memory. What MPI does, for tests that count
 * and for sanitizers that look. */
#ifndef REF_RANKS_H
#define REF_RANKS_H

#include "asterism_ranks.h"

typedef struct ref_ranks ref_ranks;

/* Runs `work` once for each of `size` ranks, at the same time. */
void ref_ranks_run(int size, void (*work)(const ast_comm *comm, void *data), void *data);

/* How often this rank has been asked to add up and to broadcast so far. */
size_t ref_ranks_sums(const ast_comm *comm);
size_t ref_ranks_broadcasts(const ast_comm *comm);

#endif
