/* SPDX-License-Identifier: MIT
 *
 * Points among which a start is chosen, by the hash of their content (points/content.h). Copies of one row have one
 * hash and are one candidate, so a choice depends neither on the order of the rows nor on how copies are spread over
 * windows, threads and ranks. */
#ifndef AST_SEED_ROWS_H
#define AST_SEED_ROWS_H

#include "content.h"
#include "labelling.h"

typedef struct ast_seed_row {
    uint64_t hash;
    uint64_t part; /* its share of the draw; copies add up */
    size_t point;  /* the first one of this rank, of all windows; SIZE_MAX: another rank has it */
} ast_seed_row;

/* Zeroed memory, with `most` set, is an empty list. */
typedef struct ast_seed_rows {
    ast_seed_row *list;
    size_t count, capacity;
    size_t most;    /* that are kept: those with the smallest hashes */
    uint64_t limit; /* larger hashes are not kept, where `full` */
    bool full;
    bool failed; /* no memory */
} ast_seed_rows;

/* Adds one. Copies may be listed twice until ast_seed_rows_sort, which leaves each hash once, in increasing order. */
void ast_seed_rows_add(ast_seed_rows *rows, ast_seed_row one);
void ast_seed_rows_sort(ast_seed_rows *rows);

/* Moves all of `from` to another list. */
void ast_seed_rows_take(ast_seed_rows *to, ast_seed_rows *from);

/* The hash of point i of the window at hand, for one worker; points are visited in order. */
uint64_t ast_seed_hash(const ast_labelling *labelling, const ast_content *content, size_t i, int worker);
bool ast_seed_content_open(const ast_labelling *labelling, ast_content *content, uint64_t seed);

/* Calls the task for every point that takes part, window by window on all threads; `save`: it changes what stands where
 * labels are. AST_OK, or why rows could not be read. */
typedef void ast_seed_task(void *data, size_t i, int worker);
ast_status ast_seed_visit(ast_labelling *labelling, ast_seed_task *task, void *data, bool save, ast_fault *fault);

/* The row (D) of a candidate, upright and without -0; `point` as in ast_seed_row. Its window is open. Collective. */
ast_status ast_seed_share_row(ast_labelling *labelling, size_t point, float *row, ast_fault *fault);

#endif
