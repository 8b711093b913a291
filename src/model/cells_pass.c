/* SPDX-License-Identifier: MIT
 *
 * A pass over points that are sorted into cells: the nearest mean of every point in any order, the visits in theirs,
 * and then the sums. */
#include "cells.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ast_cells_wanted(const ast_labelling *l) {
    return l->cloud.small && l->cloud.dimension == 3 && !l->axial && !l->tracks && l->bounds &&
           l->clusters.live >= l->crowd;
}

typedef struct settle_job {
    ast_labelling *l;
    size_t first_chunk;
} settle_job;

static void settle_first(ast_labelling *l, ast_worker *worker, size_t chunk) {
    for (size_t i = chunk * l->chunk; i < (chunk + 1) * l->chunk; i++)
        if (l->labels[i] != AST_MISSING)
            l->labels[i] = l->cells->label[i];
    ast_add_chunk(l, worker, chunk);
}

static void settle_change(ast_labelling *l, ast_worker *worker, size_t i, int32_t to) {
    ast_change change = {(uint32_t)i, l->labels[i], to, false, false};
    ast_add_change(l, worker, &change);
    l->labels[i] = to;
    worker->changed++;
    if (l->fixed) {
        worker->joined[change.from]--;
        worker->joined[to]++;
    }
}

static void settle_chunk(void *data, size_t block, int index) {
    settle_job *job = data;
    ast_labelling *l = job->l;
    ast_worker *worker = &l->workers[index];
    size_t chunk = job->first_chunk + block, last = (chunk + 1) * l->chunk;
    worker->rows_loaded = false;
    if (l->first) {
        settle_first(l, worker, chunk);
        return;
    }
    for (size_t i = chunk * l->chunk; i < last && i < l->cloud.count; i++)
        if (l->labels[i] != AST_MISSING && l->labels[i] != l->cells->label[i])
            settle_change(l, worker, i, l->cells->label[i]);
}

static void count_members(ast_labelling *l) {
    for (int w = 0; w < l->worker_count && l->fixed && !l->first; w++) {
        ast_worker *worker = &l->workers[w];
        for (size_t slot = 0; slot < l->clusters.slots; slot++) {
            l->clusters.members[slot] += worker->joined[slot];
            worker->joined[slot] = 0;
        }
    }
}

/* What other ways to run a pass know of the points does not hold any more. */
static void forget(ast_labelling *l) {
    ast_forget_gaps(l, 0, l->cloud.padded);
    for (size_t b = 0; b < l->cloud.padded / AST_BLOCK; b++)
        l->blocks[b].mask = 0;
    for (size_t chunk = 0; chunk < l->chunks; chunk++)
        l->chunk_seen[chunk] = 0;
    l->event_count = 0;
}

void ast_cells_pass(ast_labelling *l, size_t from) {
    bool ready = ast_cells_load(l) && ast_near_begin(l) && ast_cells_label(l, from);
    if (ready && !l->fixed)
        ast_cells_visit(l, from);
    ast_clusters_sweep(&l->clusters);
    for (int w = 0; w < l->worker_count && ready; w++)
        ready = ast_worker_reserve(l, &l->workers[w]);
    if (!ready || atomic_load(&l->failed)) {
        ast_labelling_fail(l);
        return;
    }
    settle_job job = {l, from / l->chunk};
    ast_pool_run(l->pool, l->chunks - job.first_chunk, settle_chunk, &job);
    count_members(l);
    forget(l);
}
