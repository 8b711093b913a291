/* SPDX-License-Identifier: MIT
 *
 * What all starts of k-means share: candidates, which are points identified by the hash of their content
 * (points/content.h). Copies of a row have one hash and are one candidate. So a choice depends neither on the order of
 * the rows nor on how copies are spread over windows, threads and ranks. */
#pragma once

#include "content.h"
#include "labelling.h"
#include "random.h"

typedef struct ast_seed_row {
    uint64_t hash;
    uint64_t part; /* its share of the draw; the shares of copies add up */
    size_t point;  /* the first copy on this rank, of all windows; SIZE_MAX: only other ranks have one */
} ast_seed_row;

/* A list of candidates. Zeroed memory with `most` set is an empty list. */
typedef struct ast_seed_rows {
    ast_seed_row *list;
    size_t count, capacity;
    size_t most;    /* the list keeps so many candidates: those with the smallest hashes */
    uint64_t limit; /* the largest hash that the list keeps, if it is full */
    bool full;
    bool failed; /* no memory */
} ast_seed_rows;

/* Adds a candidate. Copies may be listed several times until ast_seed_rows_sort, which joins them and sorts by hash. */
void ast_seed_rows_add(ast_seed_rows *rows, ast_seed_row candidate);
void ast_seed_rows_sort(ast_seed_rows *rows);

/* The search for candidates on all threads. Zeroed memory, with labelling and fault set, can be closed. */
typedef struct ast_seed_search {
    ast_labelling *l;
    ast_fault *fault;
    ast_content content;
    ast_seed_rows *found;     /* (threads) candidates of each thread */
    ast_seed_rows candidates; /* of this rank, or of all ranks */
} ast_seed_search;

ast_status ast_seed_search_open(ast_seed_search *search, size_t most, ast_random *random);
void ast_seed_search_close(ast_seed_search *search);

/* The hash of point i of the open window; `worker` visits points in order. */
uint64_t ast_seed_hash(const ast_seed_search *search, size_t i, int worker);

/* Lists point i of the open window as a candidate of `worker`. */
void ast_seed_found(ast_seed_search *search, size_t i, uint64_t hash, uint64_t part, int worker);

/* Moves the candidates of all threads to `candidates`. `status`: of the search. Returns the status of all ranks. */
ast_status ast_seed_merge_found(ast_seed_search *search, ast_status status);

/* Calls the task for every point that takes part, window by window, on all threads. `save`: the task changes the label
 * array. AST_OK, or why rows could not be read. */
typedef void ast_seed_task(void *data, size_t i, int worker);
ast_status ast_seed_visit(ast_labelling *labelling, ast_seed_task *task, void *data, bool save, ast_fault *fault);

/* The row (D) of a candidate, canonical and without -0, on all ranks; `point` as in ast_seed_row. The window of the
 * point is open. */
ast_status ast_seed_share_row(ast_labelling *labelling, size_t point, float *row, ast_fault *fault);
