/* SPDX-License-Identifier: MIT
 *
 * Scores for a chunk of points, out of turn: nothing here looks at what other threads change.
 *
 * Which points need scores? In the first pass all of them. Later, a mean that moved by m changes a score by at most m
 * (x is a unit vector). So for each point we keep its best score and an upper bound of all others, and let the first
 * sink by the move of the point's own cluster and the second rise by the largest move of the others. As long as they do
 * not meet, and the first stays above the fit, the point stays where it is, without a look at its coordinates.
 *
 * small.c and large.c do this, each for its dimensions. */
#include "propose.h"

#include <string.h>

const ast_table *ast_current_table(const ast_labelling *l, const ast_worker *worker) {
    return worker->pass == l->pass && worker->seen > 0 ? &worker->table : &l->table;
}

float ast_deciding_score(const ast_labelling *l, const ast_worker *worker) {
    float safe = worker->pass == l->pass && worker->seen > 0 ? worker->safe : l->safe;
    return safe > l->fit ? safe : l->fit;
}

const float *ast_upright_row(ast_labelling *l, ast_worker *worker, size_t i) {
    size_t dimension = l->cloud.dimension;
    const float *row = ast_point_row(l, worker, i);
    if (!l->axial || !ast_faces_down(row, dimension))
        return row;
    memcpy(worker->upright, row, dimension * sizeof *row);
    ast_negate(worker->upright, dimension);
    return worker->upright;
}

void ast_score_others(ast_labelling *l, ast_worker *worker, const ast_table *table, size_t first, size_t n) {
    if (l->cloud.small)
        ast_small_others(l, worker, table, first, n);
    else
        ast_large_others(l, worker, table, first, n);
}

void ast_begin_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t base = chunk * l->chunk;
    worker->base = base;
    worker->scores = worker->own;
    if (l->kept)
        worker->scores = (ast_scores){l->scores.best + base, l->scores.second + base, l->scores.id + base};
    worker->third = l->kept && !l->cloud.small ? l->third + base : NULL;
    worker->full = worker->added = worker->noted = worker->rows_loaded = false;
    if (l->windows)
        ast_fetch_begin(l, worker);
}

void ast_score_chunk(ast_labelling *l, ast_worker *worker) {
    worker->full = true;
    if (l->cloud.small)
        ast_small_all(l, worker, worker->base / l->chunk);
    else
        ast_large_all(l, worker, worker->base / l->chunk);
}

void ast_propose_all(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    ast_score_chunk(l, worker);
}

/* Which clusters have points in a block tells whether one of them may be alone: known before its turn, if possible. */
static void propose_unbounded(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t blocks = l->chunk / AST_BLOCK;
    ast_propose_all(l, worker, chunk);
    for (size_t b = chunk * blocks; !l->first && b < (chunk + 1) * blocks; b++)
        if (l->blocks[b].mask == 0)
            l->blocks[b].mask = l->kernels->label_mask(l->labels + b * AST_BLOCK, AST_BLOCK);
}

void ast_propose(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    bool hasty = l->first && l->cloud.small && !l->weights && ast_current_table(l, worker)->count > 0;
    if (hasty)
        ast_small_first(l, worker, chunk);
    else if (l->first || l->blind || !l->bounds)
        propose_unbounded(l, worker, chunk);
    else if (l->cloud.small)
        ast_small_bounded(l, worker, chunk);
    else
        ast_large_bounded(l, worker, chunk);
}
