/* SPDX-License-Identifier: MIT
 *
 * From arbitrary labels to clusters 0..K-1: a counting hash table, and what silhouettes need of a labelling. */
#pragma once

#include "comm.h"
#include "fault.h"

#include <stdbool.h>

/* Counts keys. Entries are in order of first appearance; memory grows with their number, not with the counts. */
typedef struct ast_counter_entry {
    uint64_t key, count;
} ast_counter_entry;

typedef struct ast_counter {
    ast_counter_entry *entries;
    size_t used;
    uint32_t *slots; /* index of an entry + 1, or 0 */
    size_t capacity; /* slots, a power of two; entries has room for half as many */
} ast_counter;

/* Start with {0}. *index (may be NULL) becomes the position of the key among the entries. False if memory runs out. */
bool ast_counter_add(ast_counter *counter, uint64_t key, uint64_t amount, uint32_t *index);
void ast_counter_free(ast_counter *counter);

/* Adds the counts of all ranks, in order of rank, on all ranks. False on all ranks if memory runs out on one. */
bool ast_counter_share(ast_counter *counter, const ast_comm *comm);

/* The points with labels >= 0, and the cluster of each. */
typedef struct ast_partition {
    const int32_t *cluster;  /* (N) 0..clusters-1, all in use, or negative; may be the caller's labels */
    int32_t *renumbered;     /* owned memory, if the labels had gaps */
    size_t clusters, points; /* over all ranks */
} ast_partition;

/* Start with {0}; also free it after a failure. */
ast_status ast_partition_make(ast_fault *fault, const ast_comm *comm, const int32_t *labels, size_t count,
                              ast_partition *partition);
void ast_partition_free(ast_partition *partition);
