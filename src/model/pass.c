/* SPDX-License-Identifier: MIT
 *
 * A pass over points in memory: ordered (chunks in parallel, committed in order), oir (the paper's optimistic iterated
 * restarts) or serial (one point after the other); and the beginning and the end of every pass. */
#include "inside.h"

#include "memory.h"

#include <stdlib.h>

#define HEAD 4 /* chunks at most that the first pass begins with on one thread */

typedef struct chunk_job {
    ast_labelling *l;
    ast_chunk_task *task;
    size_t first;
} chunk_job;

static void run_chunk(void *data, size_t block, int index) {
    const chunk_job *job = data;
    job->task(job->l, &job->l->workers[index], job->first + block);
}

void ast_each_chunk(ast_labelling *l, size_t first, size_t last, ast_chunk_task *task) {
    chunk_job job = {l, task, first};
    ast_pool_run(l->pool, last - first, run_chunk, &job);
}

/* ---- Ordered ----------------------------------------------------------------------------------------------------- */

static void wait_for_turn(ast_labelling *l, size_t chunk, int index) {
    for (unsigned spins = 0; atomic_load(&l->queue.turn) != chunk;) {
        ast_pool_pause(&spins);
        ast_labelling_stopped(l, index);
    }
}

/* In the first pass most chunks have no point for the commit to look at, unless clusters were born in the chunks
 * before. Such a chunk is parked: the thread goes on, and whoever has committed the chunk before it commits this one
 * too. */
enum { OPEN, PARKED, TAKEN };

#define AHEAD 6 /* chunks that a thread may be before the turn: what it does there is in vain if a cluster is born */

static bool take_parked(ast_labelling *l, size_t chunk) {
    uint8_t parked = PARKED;
    return l->queue.parks && chunk < l->rows.chunks &&
           atomic_compare_exchange_strong(&l->queue.parked[chunk], &parked, TAKEN);
}

/* Whether the thread is done with the chunk. If its turn came in between, it is for the one of two who takes it. */
static bool park(ast_labelling *l, const ast_worker *worker, size_t chunk) {
    size_t turn = atomic_load(&l->queue.turn);
    bool clean = worker->chunk.added_early && !worker->chunk.labels_saved;
    if (!l->queue.parks || !clean || turn == chunk || chunk - turn > AHEAD)
        return false;
    l->scorer.bounds.chunk_seen[chunk] = worker->pass == l->pass ? worker->seen : 0;
    atomic_store(&l->queue.parked[chunk], PARKED);
    return atomic_load(&l->queue.turn) != chunk || !take_parked(l, chunk);
}

/* The turn of a chunk that was parked: if nothing happened to the list of clusters, there is nothing to do. */
static void commit_parked(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t seen = l->scorer.bounds.chunk_seen[chunk];
    if (seen == l->events.count || atomic_load(&l->failed))
        return;
    ast_begin_chunk(l, worker, chunk);
    worker->chunk.added_early = true;
    ast_rescore_changed(l, worker, chunk, seen);
    ast_commit_rescored(l, worker, chunk, chunk * l->rows.chunk, false, seen);
    if (ast_worker_reserve(l, worker) && !atomic_load(&l->failed))
        ast_add_changes(l, worker, chunk);
}

static void commit_chunks_behind(ast_labelling *l, ast_worker *worker, size_t chunk) {
    while (take_parked(l, ++chunk)) {
        commit_parked(l, worker, chunk);
        atomic_store(&l->queue.turn, chunk + 1);
    }
}

void ast_ordered_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    int index = worker->chunk.worker;
    if (chunk >= atomic_load(&l->queue.stop))
        return;
    if (!ast_labelling_stopped(l, index))
        ast_propose_chunk(l, worker, chunk);
    if (park(l, worker, chunk))
        return;
    wait_for_turn(l, chunk, index);
    bool ready = !atomic_load(&l->failed);
    if (ready) {
        ast_commit(l, worker, chunk, chunk * l->rows.chunk, false);
        ready = ast_worker_reserve(l, worker) && !atomic_load(&l->failed);
    }
    if (l->first && atomic_load(&l->queue.stop) == SIZE_MAX && ast_cells_wanted(l))
        atomic_store(&l->queue.stop, chunk + (size_t)l->worker_count); /* no thread has begun that one */
    atomic_store(&l->queue.turn, chunk + 1);
    if (ready)
        ast_add_changes(l, worker, chunk);
    commit_chunks_behind(l, worker, chunk);
}

/* Most clusters are born in the first chunks. While they are, other threads would score in vain: they wait. */
size_t ast_run_first_chunks(ast_labelling *l, size_t most, bool *quiet) {
    size_t chunk = 0, events = SIZE_MAX;
    atomic_store(&l->queue.turn, 0);
    while (chunk < most && chunk < l->rows.chunks && l->events.count != events) {
        events = l->events.count;
        ast_ordered_chunk(l, &l->workers[0], chunk++);
    }
    for (int w = 0; w < l->worker_count && !atomic_load(&l->failed); w++)
        if (ast_sync_table(l, &l->workers[w]))
            ast_worker_reserve(l, &l->workers[w]);
    *quiet = l->events.count == events;
    return chunk;
}

/* Chunks that no thread has labelled are left to cells. */
static void finish_by_cells(ast_labelling *l, ast_fault *fault) {
    size_t chunk = atomic_load(&l->queue.stop);
    if (chunk >= l->rows.chunks || atomic_load(&l->failed))
        return;
    if (ast_labelling_finish_load(l, chunk, fault) == AST_OK)
        ast_cells_pass(l, chunk * l->rows.chunk);
    else
        ast_labelling_fail(l);
}

/* Chunks are parked only where no pass changes over to cells, which counts on how far threads are. */
static bool open_queue(ast_labelling *l) {
    ast_queue *q = &l->queue;
    atomic_store(&q->turn, 0);
    atomic_store(&q->stop, SIZE_MAX);
    q->parks = l->first && l->rule.unseen_bound && l->worker_count > 1;
    if (!q->parks)
        return true;
    if (q->capacity < l->rows.chunks) {
        free((void *)q->parked);
        q->parked = ast_allocate_zero(l->rows.chunks, sizeof *q->parked);
        q->capacity = q->parked ? l->rows.chunks : 0;
    }
    for (size_t c = 0; q->parked && c < l->rows.chunks; c++)
        atomic_store_explicit(&q->parked[c], OPEN, memory_order_relaxed);
    return q->parked != NULL;
}

static void ordered_pass(ast_labelling *l, ast_fault *fault) {
    bool quiet;
    if (ast_cells_wanted(l)) {
        ast_cells_pass(l, 0);
        return;
    }
    if (!open_queue(l)) {
        ast_labelling_fail(l);
        return;
    }
    ast_each_chunk(l, l->first ? ast_run_first_chunks(l, HEAD, &quiet) : 0, l->rows.chunks, ast_ordered_chunk);
    finish_by_cells(l, fault);
}

/* ---- Serial ------------------------------------------------------------------------------------------------------ */

static void flush_changes(ast_labelling *l, ast_worker *worker) {
    if (l->first || !ast_worker_reserve(l, worker))
        return;
    for (size_t c = 0; c < worker->change_count; c++)
        ast_add_change(l, worker, &worker->changes[c]);
    worker->change_count = 0;
}

/* Serial passes and passes with restarts add everything up at the end of the first pass. */
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
    for (size_t i = 0; i < l->rows.count && !ast_labelling_stopped(l, 0); i++) {
        if (i % l->rows.chunk == 0)
            ast_begin_chunk(l, worker, i / l->rows.chunk);
        if (l->labels[i] == AST_MISSING)
            continue;
        if (ast_visit(l, worker, i))
            ast_sync_table(l, worker);
        worker->chunk.scored++;
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

/* Commits from point `start` until something happens to the list of clusters; returns the next point to look at. */
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

/* Whenever a cluster is born or lost, all points that remain are scored again. */
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
            l->pass++; /* no worker's own table is right any more */
            if (!ast_prepare_pass(l))
                break;
        }
    }
    finish_sums(l);
    return restarts;
}

/* ---- Any pass ---------------------------------------------------------------------------------------------------- */

void ast_find_unseen_bound(ast_labelling *l) {
    ast_unseen_bound *safe = &l->events.unseen_bound;
    if (!l->rule.unseen_bound)
        return;
    safe->all = l->rule.unseen_bound(l->rule.data, &l->clusters);
    safe->each = l->rule.unseen_bound_of && l->clusters.slots <= AST_MASK_BITS;
    if (safe->each)
        l->rule.unseen_bound_of(l->rule.data, &l->clusters, safe->of);
}

bool ast_prepare_pass(ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    ast_mean_list means = ast_clusters_means(c);
    bool ready = ast_bounds_save_means(&l->scorer, &means) && ast_clusters_fill_table(c, &l->scorer.table);
    if (!ready)
        ast_labelling_fail(l);
    ast_clusters_find_singletons(&l->clusters);
    ready = ready && ast_workers_reserve(l);
    ast_find_unseen_bound(l);
    l->scorer.unseen_bound = l->events.unseen_bound;
    if (ready) {
        l->workers[0].chunk.unlabelled = l->first;
        ast_heads_begin_pass(&l->scorer, &l->workers[0].chunk,
                             l->rule.unfit == AST_UNFIT_START ? (float)l->scorer.fit_threshold : AST_NO_SCORE);
    }
    return ready;
}

void ast_gather_sums(ast_labelling *l) {
    ast_merge_sums(l, l->workers, l->worker_count);
    if (l->rows.sparse)
        ast_sparse_sum(l);
    ast_end_pass(l);
}

void ast_end_pass(ast_labelling *l) {
    if (l->first && !l->clusters.fixed) /* clusters that were given and got no points */
        ast_clusters_drop_empty(&l->clusters);
    l->first_done = l->first;
    l->first = l->scorer.bounds.invalid = false;
    ast_check_pass(l);
}

void ast_labelling_progress(const ast_labelling *l, ast_pass_result *result) {
    for (int w = 0; w < l->worker_count; w++) {
        result->changed += l->workers[w].changed;
        result->scored += l->workers[w].chunk.scored;
        result->products += l->workers[w].chunk.candidates.products;
    }
}

/* Rows that the pass was to load and did not: because of an infinity, which is looked for in all of them, since threads
 * skip chunks once one has failed. */
static ast_status end_loading(ast_labelling *l, ast_fault *fault) {
    bool infinite = l->rows.loading.due && !ast_rowset_is_finite(&l->rows);
    if (infinite)
        atomic_store(&l->failed, false);
    ast_status status = ast_labelling_finish_load(l, infinite ? 0 : l->rows.chunks, fault);
    return status == AST_OK ? ast_labelling_trouble(l, fault) : status;
}

static ast_status resident_pass(ast_labelling *l, ast_parallel how, ast_pass_result *result, ast_fault *fault) {
    bool loads = how == AST_ORDERED && !ast_cells_wanted(l);
    ast_status status = loads ? AST_OK : ast_labelling_finish_load(l, 0, fault);
    if (status != AST_OK)
        return status;
    l->scorer.keeps_scores = !l->rows.small || how == AST_OIR;
    if ((l->scorer.keeps_scores && !ast_scorer_keep(&l->scorer)) || (l->first_done && !ast_save_order(l)))
        return ast_fail_memory(fault);
    if (!atomic_load(&l->failed) && ast_prepare_pass(l)) {
        if (how == AST_SERIAL)
            serial_pass(l);
        else if (how == AST_OIR)
            result->restarts = oir_pass(l);
        else
            ordered_pass(l, fault);
    }
    status = end_loading(l, fault);
    if (status != AST_OK)
        return status;
    result->changed = l->first ? l->present : 0;
    ast_gather_sums(l);
    ast_labelling_progress(l, result);
    if (l->label_hash_base.due &&
        l->clusters.version != l->label_hash_base.version) /* most runs keep the clusters of the first pass */
        ast_gather_keys(l);
    return ast_labelling_trouble(l, fault);
}

ast_status ast_labelling_pass(ast_labelling *l, ast_parallel how, ast_pass_result *result, ast_fault *fault) {
    *result = (ast_pass_result){0};
    l->events.count = 0;
    l->pass++;
    for (int w = 0; w < l->worker_count; w++) {
        l->workers[w].changed = l->workers[w].chunk.scored = 0;
        l->workers[w].chunk.candidates.products = 0;
        l->workers[w].chunk.candidates.compared_fast = l->workers[w].chunk.candidates.undecided_fast = 0;
        l->workers[w].change_count = 0;
    }
    bool first = l->first;
    ast_status status = l->schedule->pass(l, how, result, fault);
    if (status == AST_OK && l->rule.emptied == AST_EMPTIED_FILLED)
        status = ast_labelling_fill_empty(l, fault);
    if (status == AST_OK && l->rule.emptied == AST_EMPTIED_DROPPED)
        ast_clusters_drop_empty(&l->clusters);
    result->label_hash = status == AST_OK && !first ? ast_label_hash(l) : 0;
    return status;
}

/* ---- Clusters of one point --------------------------------------------------------------------------------------- */

/* Finds the only members of all clusters that have one and do not know it. */
static void find_singleton_points(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    bool any = false;
    for (size_t k = 0; k < c->live && !any; k++) {
        int32_t slot = c->order[k];
        size_t i = c->singleton_point[slot];
        any = ast_clusters_is_new_singleton(c, slot) && (i >= l->rows.count || l->labels[i] != slot);
    }
    for (size_t i = 0; i < l->rows.count && any; i++)
        if (l->labels[i] >= 0 && c->members[l->labels[i]] == 1)
            c->singleton_point[l->labels[i]] = (uint32_t)i;
}

static ast_status update_resident_singletons(ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    (void)fault;
    find_singleton_points(l);
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (!ast_clusters_is_new_singleton(c, slot) || ast_clusters_is_tracked(c, slot))
            continue;
        ast_clusters_keep_mean(c, slot);
        ast_clusters_set_mean(c, slot,
                              ast_rows_canonical(&l->rows, &l->workers[0].chunk.rows, c->singleton_point[slot]));
        c->touched[slot] = 0;
    }
    return AST_OK;
}

static ast_status resident_fill(ast_labelling *l, ast_worst *worst, int32_t slot, ast_fault *fault) {
    double score;
    size_t chunk = ast_find_worst(l, worst, &score);
    if (atomic_load(&l->failed))
        return ast_labelling_trouble(l, fault);
    return ast_move_point(l, worst->point[chunk], slot) ? AST_OK : ast_fail_memory(fault);
}

const ast_schedule ast_resident_schedule = {resident_pass, update_resident_singletons, resident_fill, false, true};
