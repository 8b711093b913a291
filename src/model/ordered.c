/* SPDX-License-Identifier: MIT
 *
 * The ordered schedule: threads score chunks in parallel and commit them in order. The result is that of one thread. */
#include "inside.h"

#include "memory.h"
#include "trace.h"

#include <stdlib.h>

#define FIRST_CHUNKS 4 /* at most so many chunks run on one thread at the start of the first pass */
#define AHEAD 6        /* a thread scores at most so many chunks before the turn: a birth would invalidate its scores */

/* In the first pass the commit of most chunks has nothing to do, unless a chunk before them brought an event. Such a
 * chunk is parked: its thread goes on, and the thread that commits the chunk before it commits this one too. */
enum { OPEN, PARKED, TAKEN };

static void wait_for_turn(ast_labelling *l, size_t chunk, int index) {
    for (unsigned spins = 0; atomic_load(&l->queue.turn) != chunk;) {
        ast_pool_pause(&spins);
        ast_labelling_stopped(l, index);
    }
}

static bool take_parked(ast_labelling *l, size_t chunk) {
    uint8_t parked = PARKED;
    return l->queue.parks && chunk < l->rows.chunks &&
           atomic_compare_exchange_strong(&l->queue.parked[chunk], &parked, TAKEN);
}

/* Returns whether the thread is done with the chunk. If the chunk's turn came meanwhile, the thread that wins the
 * exchange in take_parked commits it. */
static bool park(ast_labelling *l, const ast_worker *worker, size_t chunk) {
    size_t turn = atomic_load(&l->queue.turn);
    bool clean = worker->chunk.added_early && !worker->chunk.labels_saved;
    if (!l->queue.parks || !clean || turn == chunk || chunk - turn > AHEAD)
        return false;
    l->scorer.bounds.chunk_seen[chunk] = ast_events_seen(l, worker);
    atomic_store(&l->queue.parked[chunk], PARKED);
    return atomic_load(&l->queue.turn) != chunk || !take_parked(l, chunk);
}

/* Commits a parked chunk, if there were events since it was scored. */
static void commit_parked(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t seen = l->scorer.bounds.chunk_seen[chunk];
    if (seen == l->events.count || atomic_load(&l->failed))
        return;
    ast_begin_chunk(l, worker, chunk);
    worker->chunk.added_early = true;
    ast_rescore_changed(l, worker, chunk, seen);
    ast_visit_undecided(l, worker, chunk, chunk * l->rows.chunk, false);
    if (ast_worker_reserve(l, worker) && !atomic_load(&l->failed))
        ast_add_changes(l, worker, chunk);
}

void ast_ordered_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    int index = worker->chunk.worker;
    const ast_trace *trace = ast_pool_trace(l->pool);
    ast_trace_mark mark = ast_trace_now(trace);
    if (chunk >= atomic_load(&l->queue.stop))
        return;
    if (!ast_labelling_stopped(l, index))
        ast_score_needed_points(l, worker, chunk);
    mark = ast_trace_note(trace, index, AST_TRACE_SCORE, chunk, mark);
    if (park(l, worker, chunk))
        return;
    wait_for_turn(l, chunk, index);
    mark = ast_trace_note(trace, index, AST_TRACE_WAIT, chunk, mark);
    bool ready = !atomic_load(&l->failed);
    if (ready) {
        ast_commit(l, worker, chunk, chunk * l->rows.chunk, false);
        ready = ast_worker_reserve(l, worker) && !atomic_load(&l->failed);
    }
    if (l->first && atomic_load(&l->queue.stop) == SIZE_MAX && ast_cells_wanted(l))
        atomic_store(&l->queue.stop, chunk + (size_t)l->worker_count); /* no thread has begun that chunk */
    atomic_store(&l->queue.turn, chunk + 1);
    mark = ast_trace_note(trace, index, AST_TRACE_COMMIT, chunk, mark);
    if (ready)
        ast_add_changes(l, worker, chunk);
    ast_trace_note(trace, index, AST_TRACE_SUM, chunk, mark);
    while (take_parked(l, ++chunk)) {
        commit_parked(l, worker, chunk);
        atomic_store(&l->queue.turn, chunk + 1);
    }
}

/* Most clusters are born in the first chunks. Other threads would score in vain meanwhile, so they wait. */
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

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* No chunk is parked in a pass that may change over to cells: `stop` counts on how far the threads are. */
static bool open_queue(ast_labelling *l) {
    ast_queue *q = &l->queue;
    atomic_store(&q->stop, SIZE_MAX);
    q->parks = l->first && l->rule.unseen_bound && l->worker_count > 1 && !l->rows.reader;
    if (!q->parks)
        return true;
    if (q->capacity < l->rows.chunks) {
        ast_free((void *)q->parked);
        q->parked = ast_allocate_zero(l->rows.chunks, sizeof *q->parked);
        q->capacity = q->parked ? l->rows.chunks : 0;
    }
    for (size_t c = 0; q->parked && c < l->rows.chunks; c++)
        atomic_store_explicit(&q->parked[c], OPEN, memory_order_relaxed);
    return q->parked != NULL;
}

/* Labels the chunks from `stop` on, which no thread has labelled, by cells. */
static ast_status finish_by_cells(ast_labelling *l, ast_fault *fault) {
    size_t chunk = atomic_load(&l->queue.stop);
    if (chunk >= l->rows.chunks)
        return AST_OK;
    ast_status status = ast_labelling_finish_load(l, chunk, fault);
    if (status == AST_OK)
        ast_cells_pass(l, chunk * l->rows.chunk);
    return status;
}

static ast_status label_window(ast_labelling *l, size_t number, ast_fault *fault) {
    size_t first = 0;
    bool quiet;
    ast_status status = ast_labelling_open_window(l, number, fault);
    if (status != AST_OK)
        return status;
    atomic_store(&l->queue.turn, 0);
    if (l->first && number == 0)
        first = ast_run_first_chunks(l, FIRST_CHUNKS, &quiet);
    status = ast_each_chunk_by_segment(l, first, ast_ordered_chunk, fault);
    if (status == AST_OK)
        status = finish_by_cells(l, fault);
    if (status == AST_OK && l->first && l->windows.count > 1) /* while the labels of the window are in memory */
        ast_add_window_keys(l);
    return status == AST_OK ? ast_windows_save(l, fault) : status;
}

ast_status ast_ordered_pass(ast_labelling *l, ast_fault *fault) {
    ast_status status = open_queue(l) ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK && ast_cells_wanted(l)) {
        ast_cells_pass(l, 0);
        return AST_OK;
    }
    l->windows.eager |= l->first;
    for (size_t n = 0; n < l->windows.count && status == AST_OK; n++)
        status = label_window(l, n, fault);
    return status;
}
