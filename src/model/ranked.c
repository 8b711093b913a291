/* SPDX-License-Identifier: MIT
 *
 * A pass over the points of several ranks, with the result of one process that visits them all, rank 0 first.
 *
 * The main idea: most passes do not change the list of clusters, and then no rank has to wait for another. So all ranks
 * try the pass in parallel: a speculative pass. A sum over the ranks tells whether the order of the points could have
 * mattered: a point would have started a cluster or reset a mean, or a cluster had or got a single member. If not, the
 * pass is done. Otherwise every rank undoes its changes, and the ranks commit in turn. After each turn the later ranks
 * compare their points with the events of that turn, as the chunks of one process do. This requires the scores of all
 * points. Large points keep their scores in every pass; small points are scored again. */
#include "inside.h"

#include "memory.h"

#include <string.h>

#define FIRST_CHUNKS 8 /* at most, that rank 0 begins with */

/* The part of the first pass that rank 0 runs before the other ranks begin; zero in other passes. */
typedef struct head {
    size_t chunks; /* chunks of this rank that are labelled; 0 on the other ranks */
    size_t events; /* events that all ranks know */
} head;

/* ---- The state of a chunk between its proposal and its turn ------------------------------------------------------ */

static bool reserve_state(ast_labelling *l) {
    size_t blocks = l->rows.padded / AST_BLOCK;
    return ast_ensure_arrays(&l->ranks.state_capacity, blocks, AST_REQUEST(l->ranks.chunk_full, blocks),
                             AST_REQUEST(l->ranks.scored_groups, blocks));
}

static void save_chunk(ast_labelling *l, const ast_worker *worker, size_t chunk) {
    size_t blocks = l->rows.chunk / AST_BLOCK;
    l->ranks.chunk_full[chunk] = worker->chunk.full;
    memcpy(l->ranks.scored_groups + chunk * blocks, worker->chunk.scored_groups, blocks * sizeof(uint32_t));
}

static void reopen_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t blocks = l->rows.chunk / AST_BLOCK;
    ast_begin_chunk(l, worker, chunk);
    worker->chunk.full = l->ranks.chunk_full[chunk];
    memcpy(worker->chunk.scored_groups, l->ranks.scored_groups + chunk * blocks, blocks * sizeof(uint32_t));
}

/* ---- The speculative pass ---------------------------------------------------------------------------------------- */

static void log_changes(ast_labelling *l, ast_worker *worker) {
    size_t needed = worker->undo_count + worker->change_count;
    if (!ast_reserve(&worker->undo_log, &worker->undo_capacity, worker->undo_count, needed, sizeof *worker->undo_log)) {
        ast_labelling_fail(l);
        return;
    }
    if (worker->change_count > 0)
        memcpy(worker->undo_log + worker->undo_count, worker->changes, worker->change_count * sizeof *worker->undo_log);
    worker->undo_count = needed;
}

/* After a conflict, chunks without kept scores are skipped, since they are scored again. */
static void try_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (ast_labelling_stopped(l, worker->chunk.worker) || (!l->scorer.keeps_scores && atomic_load(&l->ranks.conflict)))
        return;
    if (l->first && l->scorer.keeps_scores)
        ast_score_every_point(l, worker, chunk);
    else
        ast_score_needed_points(l, worker, chunk);
    l->scorer.bounds.chunk_seen[chunk] = l->events.count;
    if (l->scorer.keeps_scores)
        save_chunk(l, worker, chunk);
    if (atomic_load(&l->ranks.conflict))
        return;
    ast_visit_undecided(l, worker, chunk, chunk * l->rows.chunk, false);
    log_changes(l, worker);
    ast_add_changes(l, worker, chunk);
}

/* Undoes the speculative pass of the chunks from `first_chunk` on. The first pass undoes all chunks of the rank, or
 * none (rank 0), so all sums can be dropped. */
static void undo_pass(ast_labelling *l, size_t first_chunk) {
    for (size_t i = first_chunk * l->rows.chunk; l->first && i < l->rows.padded; i++)
        l->labels[i] = l->labels[i] == AST_MISSING ? AST_MISSING : AST_UNLABELLED;
    if (l->first && first_chunk < l->rows.chunks)
        ast_drop_sums(l);
    for (int w = 0; w < l->worker_count; w++) {
        ast_worker *worker = &l->workers[w];
        for (size_t c = 0; c < worker->undo_count; c++) {
            const ast_change *done = &worker->undo_log[c];
            ast_change undo = {done->point, done->to, done->from, done->flipped, done->was_flipped};
            l->labels[done->point] = done->from;
            if (done->flipped != done->was_flipped) {
                ast_set_flipped(l->signs, done->point, done->was_flipped);
                if (l->scorer.keeps_scores) /* its float score must not decide, since a visit sets the sign */
                    l->scorer.bounds.scores.second[done->point] = l->scorer.bounds.scores.best[done->point];
            }
            ast_add_change(l, worker, &undo);
        }
        worker->undo_count = worker->changed = 0;
    }
}

/* ---- In turn ----------------------------------------------------------------------------------------------------- */

static void rescore_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (atomic_load(&l->failed) || l->scorer.bounds.chunk_seen[chunk] == l->events.count)
        return;
    reopen_chunk(l, worker, chunk);
    ast_rescore_changed(l, worker, chunk, l->scorer.bounds.chunk_seen[chunk]);
    save_chunk(l, worker, chunk);
}

/* Commits the chunks of this rank in order. The threads bring the next chunks up to date with new events. The visits
 * need the means after these events, even if another thread compared the points of the chunk with them. */
static void commit_slice(ast_labelling *l, size_t first) {
    ast_worker *worker = &l->workers[0];
    for (size_t chunk = first; chunk < l->rows.chunks && !atomic_load(&l->failed); chunk++) {
        size_t ahead = l->rows.chunks - chunk, threads = (size_t)l->worker_count;
        if (l->scorer.bounds.chunk_seen[chunk] < l->events.count)
            ast_each_chunk(l, chunk, chunk + (ahead < threads ? ahead : threads), rescore_chunk);
        bool ready = ast_sync_table(l, worker);
        reopen_chunk(l, worker, chunk);
        if (ready && !atomic_load(&l->failed))
            ast_visit_undecided(l, worker, chunk, chunk * l->rows.chunk, false);
        if (!ast_worker_reserve(l, worker) || atomic_load(&l->failed))
            return;
        if (!l->first)
            ast_add_changes(l, worker, chunk);
    }
}

/* `known`: events that all ranks know. false: a rank failed, and all ranks know. */
static bool commit_in_turn(ast_labelling *l, size_t first, size_t known) {
    for (int turn = 0; turn < l->ranks.comm->ranks; turn++) {
        size_t before = turn == 0 ? known : l->events.count;
        if (turn == l->ranks.comm->rank)
            commit_slice(l, first);
        if (!ast_share_events(l, turn, before))
            return false;
        if (turn < l->ranks.comm->rank && l->events.count > before)
            ast_each_chunk(l, first, l->rows.chunks, rescore_chunk);
    }
    return true;
}

static void score_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (atomic_load(&l->failed))
        return;
    ast_score_every_point(l, worker, chunk);
    save_chunk(l, worker, chunk);
    l->scorer.bounds.chunk_seen[chunk] = l->events.count;
}

/* First pass: adds the points of a chunk after its commit. */
static void add_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    reopen_chunk(l, worker, chunk);
    ast_add_changes(l, worker, chunk);
}

static void keep_scores(ast_labelling *l) {
    l->scorer.keeps_scores = true;
    if (!ast_scorer_reserve_scores(&l->scorer) || !reserve_state(l))
        ast_labelling_fail(l);
}

static bool start_over(ast_labelling *l, const head *done) {
    undo_pass(l, done->chunks);
    atomic_store(&l->ranks.conflict, false);
    l->ranks.speculative = false;
    if (!l->scorer.keeps_scores) {
        keep_scores(l);
        ast_each_chunk(l, done->chunks, l->rows.chunks, score_chunk);
    }
    if (!commit_in_turn(l, done->chunks, done->events))
        return false;
    ast_workers_reserve(l);
    if (l->first && !atomic_load(&l->failed))
        ast_each_chunk(l, done->chunks, l->rows.chunks, add_chunk);
    return true;
}

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* If the ranks committed in turn in the last pass, they may have to again: scores are kept. */
static void open_pass(ast_labelling *l) {
    l->scorer.keeps_scores = false;
    l->ranks.speculative = true;
    atomic_store(&l->ranks.conflict, false);
    if (!l->rows.small || (!l->first && l->ranks.in_turn))
        keep_scores(l);
    if ((l->last_was_first && !ast_save_hash_base(l)) || !ast_prepare_pass(l))
        ast_labelling_fail(l);
}

/* Most clusters are born in the first chunks of rank 0, so the other ranks wait for these. If the last of them still
 * brings events, a speculative pass would fail: the other ranks only score. */
static bool run_head(ast_labelling *l, head *done) {
    bool quiet = true;
    if (l->ranks.comm->rank == 0 && !atomic_load(&l->failed)) {
        l->ranks.speculative = false;
        atomic_store(&l->queue.stop, SIZE_MAX - 1); /* never by cells */
        done->chunks = ast_run_first_chunks(l, FIRST_CHUNKS, &quiet);
    }
    if (!ast_share_events(l, 0, l->ranks.comm->rank == 0 ? 0 : l->events.count))
        return false;
    ast_comm_broadcast(l->ranks.comm, &quiet, sizeof quiet, 0);
    done->events = l->events.count;
    if (!quiet && l->ranks.comm->rank > 0) {
        atomic_store(&l->ranks.conflict, true);
        keep_scores(l);
    }
    for (int w = 0; w < l->worker_count && !atomic_load(&l->failed); w++)
        ast_sync_table(l, &l->workers[w]);
    return true;
}

/* First pass: rank 0 commits at once, since no point comes before its own. */
static bool first_pass(ast_labelling *l, head *done) {
    if (!l->clusters.fixed && !run_head(l, done))
        return false;
    if (l->ranks.speculative) {
        ast_each_chunk(l, 0, l->rows.chunks, try_chunk);
    } else {
        ast_each_chunk(l, done->chunks, l->rows.chunks, ast_ordered_chunk);
        done->chunks = l->rows.chunks;
        atomic_store(&l->ranks.conflict, l->events.count > done->events);
    }
    uint64_t asked[2] = {atomic_load(&l->ranks.conflict), atomic_load(&l->failed)};
    ast_comm_allreduce(l->ranks.comm, asked, 2);
    l->ranks.in_turn = asked[0] > 0;
    return asked[1] == 0 && (!l->ranks.in_turn || start_over(l, done));
}

/* One pass; sums: added up over the ranks. false: a rank failed, and all ranks know. */
static bool run_pass(ast_labelling *l, uint64_t sums[AST_PACKET_HEAD]) {
    bool had_singletons, was_first = l->first;
    head done = {0, 0};
    open_pass(l);
    if (was_first && !first_pass(l, &done))
        return false;
    if (!was_first)
        ast_each_chunk(l, 0, l->rows.chunks, try_chunk);
    if (!ast_allreduce_sums(l, sums, &had_singletons) || sums[AST_FAILURES])
        return false;
    if (was_first)
        return true;
    l->ranks.in_turn = had_singletons || sums[AST_CONFLICTS];
    return !l->ranks.in_turn ||
           (start_over(l, &done) && ast_allreduce_sums(l, sums, &had_singletons) && sums[AST_FAILURES] == 0);
}

/* Reports the error of the lowest failing rank. If no rank has one, a rank had no memory. */
static ast_status failed_pass(ast_labelling *l, ast_fault *fault) {
    ast_status mine = ast_labelling_trouble(l, fault);
    mine = mine == AST_OK ? l->ranks.pending : mine;
    l->ranks.pending = AST_OK;
    ast_status all = ast_comm_agree(l->ranks.comm, mine, fault);
    return all == AST_OK ? ast_fail_memory(fault) : all;
}

static ast_status ranked_pass(ast_labelling *l, ast_parallel how, ast_pass_result *result, ast_fault *fault) {
    (void)how; /* always ordered */
    uint64_t sums[AST_PACKET_HEAD];
    bool was_first = l->first, done = run_pass(l, sums);
    l->ranks.speculative = false;
    atomic_store(&l->ranks.conflict, false);
    for (int w = 0; w < l->worker_count; w++)
        l->workers[w].undo_count = 0;
    if (!done)
        return failed_pass(l, fault);
    result->changed = was_first ? l->everyone : (size_t)sums[AST_CHANGED];
    result->scored = sums[AST_SCORED];
    ast_end_pass(l);
    return AST_OK;
}

/* Moves a point of rank `owner`; the other ranks ignore `point`. */
static bool move_point(ast_labelling *l, int owner, size_t point, int32_t slot) {
    uint64_t sums[AST_PACKET_HEAD];
    bool had_singletons, mine = l->ranks.comm->rank == owner && !atomic_load(&l->failed);
    int32_t from = mine ? l->labels[point] : 0;
    ast_comm_broadcast(l->ranks.comm, &from, sizeof from, owner);
    bool moved = mine ? ast_move_point(l, point, slot) : ast_push_event(l, slot);
    if (!moved)
        ast_labelling_fail(l);
    if (!mine) {
        l->clusters.members[from]--;
        l->clusters.members[slot]++;
    }
    return ast_allreduce_sums(l, sums, &had_singletons) && sums[AST_FAILURES] == 0;
}

static ast_status ranked_move_worst(ast_labelling *l, ast_worst *worst, int32_t slot, ast_fault *fault) {
    double score;
    size_t chunk = ast_find_worst_chunk(worst, &score);
    int owner = ast_comm_rank_of_least(l->ranks.comm, score);
    bool moved = move_point(l, owner, l->ranks.comm->rank == owner ? worst->point[chunk] : 0, slot);
    return moved ? AST_OK : ast_fail_memory(fault);
}

const ast_schedule ast_ranked_schedule = {ranked_pass, ast_update_ranked_singletons, ranked_move_worst};
