/* SPDX-License-Identifier: MIT
 *
 * What small.c and large.c supply, each for its dimensions. */
#ifndef AST_PROPOSE_H
#define AST_PROPOSE_H

#include "labelling.h"

/* A score that decides: it fits, and no tracked cluster without points can beat it. */
float ast_deciding_score(const ast_labelling *labelling, const ast_worker *worker);

/* Points that met every event of the last pass know all clusters: bounds say everything. */
static inline bool ast_is_informed(const ast_labelling *l, size_t chunk) {
    return l->chunk_seen[chunk] == l->last_events;
}

void ast_small_first(ast_labelling *labelling, ast_worker *worker, size_t chunk); /* and adds to the sums */
void ast_small_all(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_small_bounded(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_small_others(ast_labelling *labelling, ast_worker *worker, const ast_table *table, size_t first, size_t n);

void ast_large_all(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_large_bounded(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_large_others(ast_labelling *labelling, ast_worker *worker, const ast_table *table, size_t first, size_t n);

#endif
