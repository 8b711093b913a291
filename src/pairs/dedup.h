/* SPDX-License-Identifier: MIT
 *
 * Near-duplicates: the groups of near rows, and the row of each group that is kept. `near.h` finds the pairs.
 *
 *     dedup.c        the passes over all pairs, and the groups
 *     dedup_star.c   groups around kept rows, without memory for pairs
 *     dedup_keep.c   numbers of groups, and the row that is kept
 *     dedup_pairs.c  the pairs, where they are asked for */
#pragma once

#include "near.h"

#include <stdatomic.h>

/* A pair of near rows, neither of which is a copy of an earlier row. */
typedef struct ast_row_pair {
    uint32_t a, b;
    double score;
} ast_row_pair;

/* The pairs that one thread has found. */
typedef struct ast_pair_list {
    ast_row_pair *pairs;
    size_t used, capacity;
    uint64_t count; /* near pairs, equal rows included */
    char apart[64];
} ast_pair_list;

typedef struct ast_dedup_call {
    const ast_kernels *kernels;
    ast_pool *pool;
    const ast_dedup_options *options;
    int32_t *labels[2]; /* of ast_rowset_load; those of the first set become the groups */
    uint8_t *kept;      /* (rows) */
    ast_dedup_report *report;
    ast_near_rows rows;
    ast_near_index index;
    ast_near_search search;
    _Atomic uint32_t
        *group; /* (rows) for rows that are no copies of earlier rows. AST_CONNECTED: the parent in a forest whose roots
                   are the first rows of the groups; AST_STAR: the kept row; AST_NO_ROW: none yet */
    _Atomic uint32_t *degree; /* AST_STAR: (rows) near rows */
    uint8_t *matched;         /* (rows) near a row of `against`; NULL without */
    uint32_t *nearest;        /* (rows) that row */
    double *similarity;       /* (rows) its score */
    ast_pair_list *lists;     /* (threads) */
    double from, to;          /* of the progress, for the present pass */
    double told;              /* when progress was last called */
    /* blocks that a tile is compared with; first_block SIZE_MAX: from its own block on */
    size_t first_block, end_block;
    _Atomic bool failed, stopped;
} ast_dedup_call;

/* rows.sets, labels, kernels, pool, options and kept are set. Fills in labels, kept and the report. */
ast_status ast_dedup_run(ast_dedup_call *call, ast_fault *fault);
void ast_dedup_free(ast_dedup_call *call);

/* Calls options.progress on the caller's thread, if it is time to; done: 0..1 of the present pass. */
void ast_dedup_progress(ast_dedup_call *call, double done);

/* Whether a pass was cancelled, or memory ran out. */
ast_status ast_dedup_status(const ast_dedup_call *call, ast_fault *fault);

ast_status ast_dedup_star(ast_dedup_call *call, ast_fault *fault);
ast_status ast_dedup_finish(ast_dedup_call *call, ast_fault *fault);

/* The first of two rows in the order of `keep`: by rank, then by number. */
bool ast_dedup_comes_before(const ast_dedup_call *call, uint32_t a, uint32_t b);

void ast_dedup_store(ast_dedup_call *call, int worker, uint32_t a, uint32_t b, double score);
ast_status ast_dedup_report_pairs(ast_dedup_call *call, ast_fault *fault);
