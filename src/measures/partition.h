/* SPDX-License-Identifier: MIT
 *
 * From arbitrary labels to clusters 0..K-1: a counting hash table, and what silhouettes need to know of a labelling. */
#ifndef AST_PARTITION_H
#define AST_PARTITION_H

#include "comm.h"
#include "fault.h"

#include <stdbool.h>

/* Counts keys. Entries stand in order of first appearance; memory grows with their number, not with the counts. */
typedef struct ast_counter_entry {
    uint64_t key, count;
} ast_counter_entry;

typedef struct ast_counter {
    ast_counter_entry *entries;
    size_t used;
    uint32_t *slots; /* index of an entry + 1, or 0 */
    size_t capacity; /* slots, a power of two; entries has room for half as many */
} ast_counter;

/* Start with {0}. `index` (or NULL) becomes the key's position among the entries. False if there is no memory. */
bool ast_counter_add(ast_counter *counter, uint64_t key, uint64_t amount, uint32_t *index);
void ast_counter_free(ast_counter *counter);

/* Several ranks: what each of them counted becomes what all did, in the order of the ranks. False if there is no
 * memory, on all of them. */
bool ast_counter_share(ast_counter *counter, const ast_comm *comm);

/* The points with a label of 0 or more, and the cluster of each. */
typedef struct ast_partition {
    const int32_t *cluster;  /* (N) 0..clusters-1, every one in use, or negative; may be the caller's labels */
    int32_t *renumbered;     /* owned, if the labels had gaps */
    size_t clusters, points; /* several ranks: of all */
} ast_partition;

/* Start with {0}; free it also after a failure. */
ast_status ast_partition_make(ast_fault *fault, const ast_comm *comm, const int32_t *labels, size_t count,
                              ast_partition *partition);
void ast_partition_free(ast_partition *partition);

#endif
