/* SPDX-License-Identifier: MIT
 *
 * A pass over points that are sorted into cells: the nearest mean of every point in any order, the visits in theirs,
 * and then the sums. */
#include "labelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ast_cells_wanted(const ast_labelling *l) {
    return l->rows.small && l->rows.dimension == 3 && !l->rows.axial && !l->rule.safe && l->scorer.bounds.on &&
           l->clusters.live >= l->crowd.from;
}

static void settle_first(ast_labelling *l, ast_worker *worker, size_t chunk) {
    for (size_t i = chunk * l->rows.chunk; i < (chunk + 1) * l->rows.chunk; i++)
        if (l->labels[i] != AST_MISSING)
            l->labels[i] = l->crowd.cells->label[i];
    ast_add_chunk(l, worker, chunk);
}

static void settle_change(ast_labelling *l, ast_worker *worker, size_t i, int32_t to) {
    ast_change change = {(uint32_t)i, l->labels[i], to, false, false};
    ast_add_change(l, worker, &change);
    l->labels[i] = to;
    worker->changed++;
    if (l->clusters.fixed) {
        worker->joined[change.from]--;
        worker->joined[to]++;
    }
}

static void settle_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t last = (chunk + 1) * l->rows.chunk;
    worker->chunk.rows.is_loaded = false;
    if (l->first) {
        settle_first(l, worker, chunk);
        return;
    }
    for (size_t i = chunk * l->rows.chunk; i < last && i < l->rows.count; i++)
        if (l->labels[i] != AST_MISSING && l->labels[i] != l->crowd.cells->label[i])
            settle_change(l, worker, i, l->crowd.cells->label[i]);
}

static void count_members(ast_labelling *l) {
    for (int w = 0; w < l->worker_count && l->clusters.fixed && !l->first; w++) {
        ast_worker *worker = &l->workers[w];
        for (size_t slot = 0; slot < l->clusters.slots; slot++) {
            l->clusters.members[slot] += worker->joined[slot];
            worker->joined[slot] = 0;
        }
    }
}

static void count_scored(ast_labelling *l) {
    for (int w = 0; w < l->worker_count; w++) {
        l->workers[w].chunk.scored += l->crowd.cells->scratch[w].scored;
        l->crowd.cells->scratch[w].scored = 0;
    }
}

/* Invalidates the bounds that the other schedules keep per point. */
static void forget(ast_labelling *l) {
    ast_forget_gaps(&l->scorer, 0, l->rows.padded);
    for (size_t b = 0; b < l->rows.padded / AST_BLOCK; b++)
        l->scorer.bounds.blocks[b].mask = 0;
    for (size_t chunk = 0; chunk < l->rows.chunks; chunk++)
        l->scorer.bounds.chunk_seen[chunk] = 0;
    l->events.count = 0;
}

void ast_cells_pass(ast_labelling *l, size_t from) {
    ast_mean_list means = ast_clusters_means(&l->clusters);
    bool ready = ast_cells_load(&l->crowd.cells, &l->scorer, l->pool) && ast_near_begin(l->crowd.cells, &means) &&
                 ast_cells_label(l->crowd.cells, from, !l->clusters.fixed);
    if (ready && !l->clusters.fixed)
        ast_cells_visit(l, from);
    ast_clusters_sweep(&l->clusters);
    ready = ready && !atomic_load(&l->failed) && !l->crowd.cells->near.failed && ast_workers_reserve(l);
    if (!ready) {
        ast_labelling_fail(l);
        return;
    }
    count_scored(l);
    ast_each_chunk(l, from / l->rows.chunk, l->rows.chunks, settle_chunk);
    count_members(l);
    forget(l);
}
