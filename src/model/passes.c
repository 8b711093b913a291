/* SPDX-License-Identifier: MIT
 *
 * The three ways to run a pass, and what opens and closes one. */
#include "labelling.h"

#include "cells.h"
#include "memory.h"
#include "sparse_labelling.h"
#include "table.h"
#include "windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 4 /* chunks at most that the first pass begins with on one thread */

typedef struct pass_job {
    ast_labelling *l;
    size_t first_chunk;
} pass_job;

static void ordered_chunk(void *data, size_t block, int index) {
    const pass_job *job = data;
    ast_labelling *l = job->l;
    ast_worker *worker = &l->workers[index];
    size_t chunk = job->first_chunk + block;
    if (chunk >= atomic_load(&l->stop))
        return;
    if (!atomic_load(&l->failed))
        ast_propose(l, worker, chunk);
    for (unsigned spins = 0; atomic_load(&l->turn) != chunk;)
        ast_pool_pause(&spins);
    bool ready = !atomic_load(&l->failed);
    if (ready) {
        ast_commit(l, worker, chunk, chunk * l->chunk, false);
        ready = ast_worker_reserve(l, worker) && !atomic_load(&l->failed);
    }
    if (l->first && atomic_load(&l->stop) == SIZE_MAX && ast_cells_wanted(l))
        atomic_store(&l->stop, chunk + (size_t)l->worker_count); /* nobody has begun that one */
    atomic_store(&l->turn, chunk + 1);
    if (ready)
        ast_settle(l, worker, chunk);
}

/* Most clusters are born in the first chunks. While they are, other threads would score in vain: better they wait. */
size_t ast_run_head(ast_labelling *l, size_t most, bool *quiet) {
    pass_job job = {l, 0};
    size_t chunk = 0, events = SIZE_MAX;
    atomic_store(&l->turn, 0);
    while (chunk < most && chunk < l->chunks && l->event_count != events) {
        events = l->event_count;
        ordered_chunk(&job, chunk++, 0);
    }
    for (int w = 0; w < l->worker_count && !atomic_load(&l->failed); w++)
        if (ast_sync_table(l, &l->workers[w]))
            ast_worker_reserve(l, &l->workers[w]);
    *quiet = l->event_count == events;
    return chunk;
}

void ast_run_chunks(ast_labelling *l, size_t first, size_t last) {
    pass_job job = {l, first};
    ast_pool_run(l->pool, last - first, ordered_chunk, &job);
}

void ast_run_rest(ast_labelling *l, size_t first_chunk) {
    ast_run_chunks(l, first_chunk, l->chunks);
}

static void ordered_pass(ast_labelling *l) {
    bool quiet;
    atomic_store(&l->turn, 0);
    atomic_store(&l->stop, SIZE_MAX);
    ast_run_rest(l, l->first ? ast_run_head(l, HEAD, &quiet) : 0);
    if (atomic_load(&l->stop) < l->chunks && !atomic_load(&l->failed))
        ast_cells_pass(l, atomic_load(&l->stop) * l->chunk);
}

static void add_chunk(void *data, size_t chunk, int index) {
    ast_labelling *l = data;
    ast_add_chunk(l, &l->workers[index], chunk);
}

/* Serial passes and passes with restarts add everything up at the end of the first pass. */
static void add_all(ast_labelling *l) {
    for (int w = 0; w < l->worker_count; w++) {
        l->workers[w].rows_loaded = false;
        ast_worker_reserve(l, &l->workers[w]);
    }
    if (l->first && !atomic_load(&l->failed))
        ast_pool_run(l->pool, l->chunks, add_chunk, l);
}

static void flush_changes(ast_labelling *l, ast_worker *worker) {
    if (l->first || !ast_worker_reserve(l, worker))
        return;
    for (size_t c = 0; c < worker->change_count; c++)
        ast_add_change(l, worker, &worker->changes[c]);
    worker->change_count = 0;
}

static void serial_pass(ast_labelling *l) {
    ast_worker *worker = &l->workers[0];
    for (size_t i = 0; i < l->cloud.count && !atomic_load(&l->failed); i++) {
        if (i % l->chunk == 0)
            ast_begin_chunk(l, worker, i / l->chunk);
        if (l->labels[i] == AST_MISSING)
            continue;
        if (ast_visit(l, worker, i))
            ast_sync_table(l, worker);
        worker->scored++;
        if (worker->change_count == l->chunk)
            flush_changes(l, worker);
    }
    flush_changes(l, worker);
    add_all(l);
}

static void oir_chunk(void *data, size_t chunk, int index) {
    pass_job *job = data;
    ast_propose_all(job->l, &job->l->workers[index], job->first_chunk + chunk);
}

/* Commits from point `start` until something happens to the list of clusters; returns the next point to look at. */
static size_t commit_until_event(ast_labelling *l, size_t start) {
    ast_worker *worker = &l->workers[0];
    for (size_t i = start / l->chunk * l->chunk; i < start; i++) /* those before it are decided */
        l->scores.id[i] = l->labels[i];
    for (size_t chunk = start / l->chunk; chunk < l->chunks && !atomic_load(&l->failed); chunk++) {
        size_t first = start > chunk * l->chunk ? start : chunk * l->chunk;
        ast_begin_chunk(l, worker, chunk);
        worker->full = true;
        size_t next = ast_commit(l, worker, chunk, first, true);
        for (size_t i = first; i < next; i++)
            l->labels[i] = l->labels[i] == AST_UNLABELLED ? l->scores.id[i] : l->labels[i];
        flush_changes(l, worker);
        if (l->event_count)
            return next;
    }
    return l->cloud.padded;
}

/* The paper's optimistic iterated restarts: whenever a cluster is born or lost, all points that remain are scored
 * again. */
static uint64_t oir_pass(ast_labelling *l) {
    uint64_t restarts = 0;
    for (size_t start = 0; start < l->cloud.count && !atomic_load(&l->failed);) {
        pass_job job = {l, start / l->chunk};
        ast_pool_run(l->pool, l->chunks - job.first_chunk, oir_chunk, &job);
        start = commit_until_event(l, start);
        if (start < l->cloud.count) {
            restarts++;
            l->event_count = 0;
            l->pass++; /* no worker's own table is right any more */
            if (!ast_prepare_pass(l))
                break;
        }
    }
    add_all(l);
    return restarts;
}

/* Before the second pass: the clusters' keys count from here, and the order is that of the labels there are. */
bool ast_save_order(ast_labelling *l) {
    for (int w = 0; w < l->worker_count; w++)
        if (!ast_worker_reserve(l, &l->workers[w])) {
            atomic_store(&l->failed, false);
            return false;
        }
    if (l->clusters.live > l->first_capacity) {
        free(l->first_order);
        l->first_capacity = 2 * l->clusters.live;
        l->first_order = ast_allocate(l->first_capacity, sizeof *l->first_order);
        if (!l->first_order) {
            l->first_capacity = 0;
            return false;
        }
    }
    l->first_live = l->clusters.live;
    l->first_version = l->clusters.version;
    l->first_print = 0;
    if (l->first_live)
        memcpy(l->first_order, l->clusters.order, l->first_live * sizeof *l->first_order);
    for (size_t slot = 0; slot < l->clusters.slots; slot++)
        l->clusters.keys[slot] = 0;
    l->keys_due = true;
    return true;
}

ast_status ast_labelling_pass(ast_labelling *l, ast_parallel how, ast_pass_result *result, ast_fault *fault) {
    *result = (ast_pass_result){0};
    l->event_count = 0;
    l->pass++;
    for (int w = 0; w < l->worker_count; w++) {
        l->workers[w].changed = l->workers[w].scored = 0;
        l->workers[w].change_count = 0;
    }
    if (l->windows)
        return ast_windows_pass(l, result, fault);
    if (ast_comm_many(l->comm))
        return ast_ranked_pass(l, result, fault);
    l->kept = !l->cloud.small || how == AST_OIR;
    if ((l->kept && !ast_labelling_keep_scores(l)) || (l->first_done && !ast_save_order(l)))
        return ast_fail_memory(fault);
    if (!atomic_load(&l->failed) && ast_prepare_pass(l)) {
        if (how == AST_ORDERED && ast_cells_wanted(l))
            ast_cells_pass(l, 0);
        else if (how == AST_SERIAL)
            serial_pass(l);
        else if (how == AST_OIR)
            result->restarts = oir_pass(l);
        else
            ordered_pass(l);
    }
    if (atomic_exchange(&l->failed, false))
        return ast_fail_memory(fault);
    result->changed = l->first ? l->present : 0;
    ast_gather_sums(l);
    for (int w = 0; w < l->worker_count; w++) {
        result->changed += l->workers[w].changed;
        result->scored += l->workers[w].scored;
    }
    if (l->keys_due && l->clusters.version != l->first_version) /* most runs keep the clusters of the first pass */
        ast_gather_keys(l);
    return atomic_exchange(&l->failed, false) ? ast_fail_memory(fault) : AST_OK;
}

uint64_t ast_labelling_print(const ast_labelling *l) {
    return ast_clusters_fingerprint(&l->clusters, l->clusters.order, l->clusters.live) - l->first_print;
}

static bool copy_by_slot(ast_labelling *l) {
    size_t slots = l->clusters.slots, dimension = l->cloud.dimension;
    if (l->cloud.small || (!l->bounds && !l->axial) || slots == 0)
        return true;
    if (slots > l->start_capacity) {
        free(l->start_means);
        free(l->move_of);
        l->start_capacity = 2 * slots;
        l->start_means = ast_allocate(l->start_capacity * dimension, sizeof *l->start_means);
        l->move_of = ast_allocate(l->start_capacity, sizeof *l->move_of);
        if (!l->start_means || !l->move_of) {
            l->start_capacity = 0;
            return false;
        }
    }
    memcpy(l->start_means, l->clusters.means, slots * dimension * sizeof *l->start_means);
    memcpy(l->move_of, l->clusters.moves, slots * sizeof *l->move_of);
    return true;
}

/* Gaps are measured from the score that is safe: if that has risen, they are too large. */
static void watch_unseen(ast_labelling *l) {
    float safe = l->tracks ? ast_tracks_safe(l->tracks, &l->clusters) : AST_NO_SCORE;
    l->rise = safe > l->safe ? safe - l->safe : 0;
    l->safe = l->safe_now = safe;
}

bool ast_prepare_pass(ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    bool ready = copy_by_slot(l);
    ast_table_clear(&l->table, l->cloud.dimension, l->axial);
    l->lone = 0;
    for (size_t k = 0; k < c->live && ready; k++) {
        int32_t slot = c->order[k];
        if (ast_is_unseen(l, slot))
            continue;
        ready = ast_table_append(&l->table, c->means + (size_t)slot * c->dimension, slot);
        if (c->members[slot] == 1)
            l->lone |= ast_bit_of(slot);
    }
    if (!ready)
        ast_labelling_fail(l);
    for (int w = 0; w < l->worker_count && ready; w++)
        ready = ast_worker_reserve(l, &l->workers[w]);
    watch_unseen(l);
    return ready;
}

/* Whether the point that was last known to be the only member of a cluster is not. */
static bool is_forgotten(const ast_labelling *l, int32_t slot) {
    size_t i = l->clusters.founder[slot];
    return i >= l->cloud.count || l->labels[i] != slot;
}

/* Finds the only members of all clusters that have one and do not know it. */
static void find_founders(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    bool any = false;
    for (size_t k = 0; k < c->live && !any; k++)
        any = c->touched[c->order[k]] && c->members[c->order[k]] == 1 && is_forgotten(l, c->order[k]);
    for (size_t i = 0; i < l->cloud.count && any; i++)
        if (l->labels[i] >= 0 && c->members[l->labels[i]] == 1)
            c->founder[l->labels[i]] = (uint32_t)i;
}

/* A tracked cluster's mean lies between its points and where it was. */
static void update_tracked(ast_labelling *l, int32_t slot) {
    float mean[AST_MAX_DIMENSION];
    if (!ast_tracks_mean(l->tracks, &l->clusters, (size_t)slot, mean))
        memcpy(mean, l->tracks->m + (size_t)slot * l->cloud.dimension, l->cloud.dimension * sizeof *mean);
    ast_clusters_set_mean(&l->clusters, slot, mean);
}

static void update_mean(ast_labelling *l, ast_worker *worker, int32_t slot) {
    ast_cluster_list *c = &l->clusters;
    bool touched = c->touched[slot];
    if (touched && c->members[slot] == 1 && (ast_comm_many(l->comm) || l->windows))
        return; /* ast_update_singles and ast_windows_singles do those */
    ast_clusters_rest(c, slot);
    c->touched[slot] = 0;
    if (ast_is_tracked(l, slot)) {
        if (touched && !ast_is_unseen(l, slot))
            update_tracked(l, slot);
        return;
    }
    if (touched && c->members[slot] == 1)
        ast_clusters_set_mean(c, slot, ast_upright_row(l, worker, c->founder[slot]));
    else if (touched)
        ast_clusters_update_mean(c, slot);
    if (touched && l->windows)
        c->founder[slot] = UINT32_MAX;
}

static void update_block(void *data, size_t block, int index) {
    ast_labelling *l = data;
    for (size_t k = block * AST_SLOTS; k < (block + 1) * AST_SLOTS && k < l->clusters.live; k++)
        update_mean(l, &l->workers[index], l->clusters.order[k]);
}

static void update_means(ast_labelling *l) {
    if (!ast_comm_many(l->comm) && !l->windows)
        find_founders(l);
    ast_pool_run(l->pool, (l->clusters.live + AST_SLOTS - 1) / AST_SLOTS, update_block, l);
}

/* Clusters that were given and got no points die with the first pass. */
static void drop_empty(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    for (size_t k = c->live; k-- > 0 && !l->fixed;)
        if (c->members[c->order[k]] == 0 && !ast_is_tracked(l, c->order[k]))
            ast_clusters_bury(c, c->order[k]);
    ast_clusters_sweep(c);
}

void ast_gather_sums(ast_labelling *l) {
    ast_merge_sums(l, l->workers, l->worker_count);
    if (l->cloud.sparse)
        ast_sparse_sum(l);
    ast_end_pass(l);
}

void ast_end_pass(ast_labelling *l) {
    if (l->first)
        drop_empty(l);
    l->first_done = l->first;
    l->first = l->blind = false;
}

ast_status ast_labelling_update(ast_labelling *l, ast_fault *fault) {
    update_means(l);
    if (ast_comm_many(l->comm))
        ast_update_singles(l);
    ast_status status = l->windows ? ast_windows_singles(l, fault) : AST_OK;
    if (status != AST_OK)
        return status;
    bool ready = ast_note_moves(l);
    ast_clusters_release(&l->clusters);
    if (!ready && ast_comm_many(l->comm)) { /* the others hear of it in the next pass */
        ast_labelling_fail(l);
        return AST_OK;
    }
    return ready ? AST_OK : ast_fail_memory(fault);
}

bool ast_labelling_move(ast_labelling *l, size_t point, int32_t slot) {
    ast_worker *worker = &l->workers[0];
    bool turned = l->axial && ast_upright_row(l, worker, point) == worker->upright;
    ast_change change = {(uint32_t)point, l->labels[point], slot, l->axial && ast_is_turned(l->signs, point), turned};
    if (!ast_worker_reserve(l, worker) || !ast_labelling_event(l, slot))
        return false;
    if (change.was_turned != turned)
        l->signs[point / AST_LANES] ^= (uint8_t)(1u << point % AST_LANES);
    ast_add_change(l, worker, &change);
    if (!ast_comm_many(l->comm)) /* ast_ranked_move tells all ranks */
        ast_merge_sums(l, worker, 1);
    l->clusters.members[change.from]--;
    l->clusters.members[slot]++;
    l->labels[point] = slot;
    if (l->cloud.sparse)
        ast_sparse_sum_point(l, point);
    if (l->kept) {
        l->scores.id[point] = slot;
        l->scores.best[point] = AST_NO_SCORE;
    }
    l->blocks[point / AST_BLOCK].mask = 0;
    ast_forget_gaps(l, point, point + 1);
    return true;
}
