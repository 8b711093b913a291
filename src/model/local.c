/* SPDX-License-Identifier: MIT
 *
 * The schedule of one process. Its points are in memory or behind a source. A pass is ordered (ordered.c), serial (one
 * point after the other) or oir (the paper's optimistic iterated restarts). A pass over a source is always ordered. */
#include "inside.h"

#include <math.h>

/* ---- Serial ------------------------------------------------------------------------------------------------------ */

static void flush_changes(ast_labelling *l, ast_worker *worker) {
    if (l->first || !ast_worker_reserve(l, worker))
        return;
    for (size_t c = 0; c < worker->change_count; c++)
        ast_add_change(l, worker, &worker->changes[c]);
    worker->change_count = 0;
}

/* In the first pass, serial and oir passes add up all points at their end. */
static void finish_sums(ast_labelling *l) {
    if (atomic_load(&l->failed))
        return;
    if (l->first)
        ast_add_all(l);
    else
        ast_workers_reserve(l);
}

static void serial_pass(ast_labelling *l) {
    ast_worker *worker = &l->workers[0];
    ast_chunk *c = &worker->chunk;
    for (size_t i = 0; i < l->rows.count && !ast_labelling_stopped(l, 0); i++) {
        if (i % l->rows.chunk == 0)
            ast_begin_chunk(l, worker, i / l->rows.chunk);
        if (l->labels[i] == AST_MISSING)
            continue;
        c->scores.best[i - c->base] = AST_NO_SCORE; /* so that the rule decides */
        c->full = true;
        if (ast_visit(l, worker, i) == AST_EVENT)
            ast_sync_table(l, worker);
        c->scored++;
        if (worker->change_count == l->rows.chunk)
            flush_changes(l, worker);
    }
    flush_changes(l, worker);
    finish_sums(l);
}

/* ---- Optimistic iterated restarts -------------------------------------------------------------------------------- */

static void oir_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (!ast_labelling_stopped(l, worker->chunk.worker))
        ast_score_every_point(l, worker, chunk);
}

/* Commits from point `start` up to the first event. Returns the point after it. */
static size_t commit_until_event(ast_labelling *l, size_t start) {
    ast_worker *worker = &l->workers[0];
    int32_t *proposals = l->scorer.bounds.scores.id;
    size_t size = l->rows.chunk;
    for (size_t i = start / size * size; i < start; i++) /* these points were decided before the restart */
        proposals[i] = l->labels[i];
    for (size_t chunk = start / size; chunk < l->rows.chunks && !atomic_load(&l->failed); chunk++) {
        size_t first = start > chunk * size ? start : chunk * size;
        ast_begin_chunk(l, worker, chunk);
        worker->chunk.full = true;
        size_t next = ast_commit(l, worker, chunk, first, true);
        for (size_t i = first; i < next; i++)
            l->labels[i] = l->labels[i] == AST_UNLABELLED ? proposals[i] : l->labels[i];
        flush_changes(l, worker);
        if (l->events.count)
            return next;
    }
    return l->rows.padded;
}

/* After every event all remaining points are scored again. Returns the number of restarts. */
static uint64_t oir_pass(ast_labelling *l) {
    uint64_t restarts = 0;
    for (size_t start = 0; start < l->rows.count && !atomic_load(&l->failed);) {
        ast_each_chunk(l, start / l->rows.chunk, l->rows.chunks, oir_chunk);
        if (atomic_load(&l->failed))
            break;
        start = commit_until_event(l, start);
        if (start < l->rows.count) {
            restarts++;
            l->events.count = 0;
            l->pass++; /* invalidates the tables of the workers */
            if (!ast_prepare_pass(l))
                break;
        }
    }
    finish_sums(l);
    return restarts;
}

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* Ends loading: the first pass has read all rows, or has failed with `status`. If a row has an infinity, all rows are
 * searched for the first such row, since threads skip chunks after a failure. */
static ast_status end_loading(ast_labelling *l, ast_status status, ast_fault *fault) {
    bool infinite = l->rows.loading.due && !ast_rowset_is_finite(&l->rows);
    if (infinite)
        atomic_store(&l->failed, false);
    ast_status loaded = ast_labelling_finish_load(l, infinite ? 0 : l->rows.chunks, fault);
    if (l->first && l->rows.reader && !l->rows.weights) /* with weights, a survey has counted them before */
        l->present = l->everyone = l->windows.points - atomic_load(&l->windows.reader.missing);
    if (loaded != AST_OK || status != AST_OK)
        return loaded == AST_OK ? status : loaded;
    return ast_labelling_trouble(l, fault);
}

static ast_status local_pass(ast_labelling *l, ast_parallel how, ast_pass_result *result, ast_fault *fault) {
    how = l->rows.reader ? AST_ORDERED : how;
    bool loads = how == AST_ORDERED && !ast_cells_wanted(l); /* such a pass loads the rows of a chunk that it scores */
    ast_status status = loads ? AST_OK : ast_labelling_finish_load(l, 0, fault);
    if (status != AST_OK)
        return status;
    l->scorer.keeps_scores = how == AST_OIR || (!l->rows.small && (!l->rows.reader || l->scorer.bounds.on));
    if ((l->scorer.keeps_scores && !ast_scorer_reserve_scores(&l->scorer)) ||
        (l->last_was_first && !ast_save_hash_base(l)))
        return ast_fail_memory(fault);
    if (!atomic_load(&l->failed) && ast_prepare_pass(l)) {
        if (how == AST_SERIAL)
            serial_pass(l);
        else if (how == AST_OIR)
            result->restarts = oir_pass(l);
        else
            status = ast_ordered_pass(l, fault);
    }
    status = end_loading(l, status, fault);
    if (status != AST_OK)
        return status;
    result->changed = l->first ? l->present : 0;
    ast_gather_sums(l);
    ast_end_pass(l);
    ast_count_work(l, result);
    ast_windows_plan_announcing(l);
    return ast_labelling_trouble(l, fault);
}

/* ---- Clusters of one point --------------------------------------------------------------------------------------- */

/* Whether the point that is the mean of the cluster is its only member. If labels are not in memory, its key tells. */
static bool is_mean_the_member(const ast_labelling *l, int32_t slot) {
    const ast_cluster_list *c = &l->clusters;
    uint32_t point = c->singleton_point[slot];
    if (l->windows.count == 1)
        return point < l->rows.count && l->labels[point] == slot;
    return point != UINT32_MAX &&
           (c->keys[slot] == ast_key_of(point, false) || c->keys[slot] == ast_key_of(point, true));
}

/* Finds the only members of clusters that came to have one point, in the open window: they become the means. Returns
 * their number. */
static size_t find_singletons(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    size_t found = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        int32_t slot = l->labels[i];
        if (slot < 0 || !ast_clusters_is_new_singleton(c, slot))
            continue;
        ast_clusters_set_mean(c, slot, ast_rows_canonical(&l->rows, &l->workers[0].chunk.rows, i));
        c->singleton_point[slot] = (uint32_t)(l->rows.offset + i);
        c->touched[slot] = 0;
        found++;
    }
    return found;
}

static ast_status update_singletons(ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    size_t left = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (ast_clusters_is_new_singleton(c, slot) && is_mean_the_member(l, slot)) {
            ast_clusters_note_mean_stays(c, slot);
            c->touched[slot] = 0;
        }
        left += ast_clusters_is_new_singleton(c, slot);
    }
    ast_status status = AST_OK;
    for (size_t n = 0; n < l->windows.count && left > 0 && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        if (status == AST_OK)
            left -= find_singletons(l);
    }
    return status == AST_OK && l->rows.reader ? ast_labelling_trouble(l, fault) : status;
}

/* ---- Empty clusters ---------------------------------------------------------------------------------------------- */

static ast_status move_worst(ast_labelling *l, ast_worst *worst, int32_t slot, ast_fault *fault) {
    ast_windows *w = &l->windows;
    ast_status status = AST_OK;
    double least = INFINITY, score;
    size_t point = 0;
    for (size_t n = 0; n < w->count && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        worst->looked = worst->looked && w->count == 1;
        size_t chunk = ast_find_worst_chunk(worst, &score);
        if (score < least) {
            least = score;
            point = l->rows.offset + worst->point[chunk];
        }
        status = status == AST_OK ? ast_labelling_trouble(l, fault) : status;
    }
    if (status == AST_OK)
        status = ast_labelling_open_window(l, point / w->rows, fault);
    if (status == AST_OK && !ast_move_point(l, point - l->rows.offset, slot))
        status = ast_fail_memory(fault);
    return status == AST_OK ? ast_windows_save(l, fault) : status;
}

const ast_schedule ast_local_schedule = {local_pass, update_singletons, move_worst};
