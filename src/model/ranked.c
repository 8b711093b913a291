/* SPDX-License-Identifier: MIT
 *
 * A pass over the points of several ranks, exactly as if one process visited them all, those of rank 0 first.
 *
 * The one idea: most passes do nothing to the list of clusters. Then nobody has to wait for anybody. So all ranks try
 * the pass at once, each as if it were the only one; what they add up at its end tells whether the order of the points
 * could have mattered: somebody wants to found a cluster, to reset a mean, or was or became the only member of one. If
 * not, which is the rule, the pass is done, for one sum over the ranks. Otherwise every rank takes back what it
 * changed, and they commit in turn: after each of them all that follow meet what it did to the clusters, at the same
 * time, as the chunks of one process do. For that the scores of all points must be at hand. Large points keep theirs
 * anyway; small ones do not, since that costs more than to score them again in the few passes that need it. */
#include "labelling.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define HEAD 8 /* chunks at most that rank 0 begins with */

typedef struct slice {
    ast_labelling *l;
    size_t first; /* chunk */
} slice;

/* What rank 0 did of the first pass before the others began; elsewhere and later `chunks` is 0. */
typedef struct head {
    size_t chunks; /* of this rank, that have their labels */
    size_t events; /* that all ranks know of */
} head;

/* ---- The state of a chunk between its proposal and its turn ------------------------------------------------------ */

static bool reserve_state(ast_labelling *l) {
    if (l->cloud.padded <= l->state_capacity)
        return true;
    free(l->chunk_full);
    free(l->block_fresh);
    l->chunk_full = ast_allocate(l->cloud.padded / AST_BLOCK, sizeof *l->chunk_full);
    l->block_fresh = ast_allocate(l->cloud.padded / AST_BLOCK, sizeof *l->block_fresh);
    bool ready = l->chunk_full && l->block_fresh;
    l->state_capacity = ready ? l->cloud.padded : 0;
    return ready;
}

static uint32_t *fresh_of(const ast_labelling *l, size_t chunk) {
    return l->block_fresh + chunk * l->chunk / AST_BLOCK;
}

static void put_down(ast_labelling *l, const ast_worker *worker, size_t chunk) {
    l->chunk_full[chunk] = worker->full;
    memcpy(fresh_of(l, chunk), worker->fresh, l->chunk / AST_BLOCK * sizeof *worker->fresh);
}

static void pick_up(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    worker->full = l->chunk_full[chunk];
    memcpy(worker->fresh, fresh_of(l, chunk), l->chunk / AST_BLOCK * sizeof *worker->fresh);
}

/* ---- The trial --------------------------------------------------------------------------------------------------- */

static void note_changes(ast_labelling *l, ast_worker *worker) {
    size_t needed = worker->log_count + worker->change_count;
    if (needed > worker->log_capacity) {
        if (!ast_grow_array(&worker->log, worker->log_count, 2 * needed, sizeof *worker->log)) {
            ast_labelling_fail(l);
            return;
        }
        worker->log_capacity = 2 * needed;
    }
    if (worker->change_count > 0)
        memcpy(worker->log + worker->log_count, worker->changes, worker->change_count * sizeof *worker->log);
    worker->log_count = needed;
}

/* Small points whose scores are not kept are scored again where something happens: there is no use in going on. In the
 * first pass most points of such a rank are with the right cluster all the same: they are added, and corrected later.
 */
static void try_chunk(void *data, size_t block, int index) {
    const slice *s = data;
    ast_labelling *l = s->l;
    ast_worker *worker = &l->workers[index];
    size_t chunk = s->first + block;
    if (atomic_load(&l->failed) || (!l->kept && atomic_load(&l->trouble)))
        return;
    if (l->first && l->kept)
        ast_propose_all(l, worker, chunk);
    else
        ast_propose(l, worker, chunk);
    l->chunk_seen[chunk] = l->event_count;
    if (l->kept)
        put_down(l, worker, chunk);
    bool trouble = atomic_load(&l->trouble);
    if (!trouble)
        ast_commit_met(l, worker, chunk, chunk * l->chunk, false, l->event_count);
    if (trouble && !l->first)
        return;
    note_changes(l, worker);
    ast_settle(l, worker, chunk);
}

/* The first pass: notes in whose sums the points are, and takes their labels off. */
static void unlabel(ast_labelling *l, size_t first_chunk) {
    size_t first = first_chunk * l->chunk;
    if (!l->summed)
        l->summed = ast_allocate(l->capacity, sizeof *l->summed);
    if (!l->summed_signs)
        l->summed_signs = ast_allocate(l->capacity / AST_LANES, sizeof *l->summed_signs);
    if (!l->summed || !l->summed_signs) {
        ast_labelling_fail(l);
        return;
    }
    memcpy(l->summed_signs, l->signs, l->cloud.padded / AST_LANES);
    for (size_t i = first; i < l->cloud.padded; i++) {
        l->summed[i] = l->labels[i];
        l->labels[i] = l->labels[i] == AST_MISSING ? AST_MISSING : AST_UNLABELLED;
    }
}

/* What was changed is changed back. */
static void take_back(ast_labelling *l, size_t first_chunk) {
    if (l->first)
        unlabel(l, first_chunk);
    for (int w = 0; w < l->worker_count; w++) {
        ast_worker *worker = &l->workers[w];
        for (size_t c = 0; c < worker->log_count; c++) {
            const ast_change *done = &worker->log[c];
            ast_change undo = {done->point, done->to, done->from, done->turned, done->was_turned};
            l->labels[done->point] = done->from;
            if (done->turned != done->was_turned) { /* and its score must not say that all is well */
                l->signs[done->point / AST_LANES] ^= (uint8_t)(1u << done->point % AST_LANES);
                if (l->kept)
                    l->scores.second[done->point] = l->scores.best[done->point];
            }
            ast_add_change(l, worker, &undo);
        }
        worker->log_count = worker->changed = 0;
    }
}

/* ---- In turn ----------------------------------------------------------------------------------------------------- */

static void meet_chunk(void *data, size_t block, int index) {
    const slice *s = data;
    ast_labelling *l = s->l;
    ast_worker *worker = &l->workers[index];
    size_t chunk = s->first + block;
    if (atomic_load(&l->failed) || l->chunk_seen[chunk] == l->event_count)
        return;
    pick_up(l, worker, chunk);
    ast_meet(l, worker, chunk, l->chunk_seen[chunk]);
    put_down(l, worker, chunk);
}

/* This rank's points, one chunk after the other; what one of them brings is met by as many as there are threads. */
static void commit_slice(ast_labelling *l, size_t first) {
    ast_worker *worker = &l->workers[0];
    for (size_t chunk = first; chunk < l->chunks && !atomic_load(&l->failed); chunk++) {
        size_t ahead = l->chunks - chunk, threads = (size_t)l->worker_count;
        slice s = {l, chunk};
        if (l->chunk_seen[chunk] < l->event_count)
            ast_pool_run(l->pool, ahead < threads ? ahead : threads, meet_chunk, &s);
        pick_up(l, worker, chunk);
        if (!atomic_load(&l->failed))
            ast_commit_met(l, worker, chunk, chunk * l->chunk, false, l->event_count);
        if (!ast_worker_reserve(l, worker) || atomic_load(&l->failed))
            return;
        if (!l->first)
            ast_settle(l, worker, chunk);
    }
}

/* `known`: the events that all ranks know of. false: one of them failed, and all know. */
static bool commit_in_turn(ast_labelling *l, size_t first, size_t known) {
    for (int turn = 0; turn < l->comm->ranks; turn++) {
        size_t before = turn == 0 ? known : l->event_count;
        if (turn == l->comm->rank)
            commit_slice(l, first);
        if (!ast_share_events(l, turn, before))
            return false;
        slice s = {l, first};
        if (turn < l->comm->rank && l->event_count > before)
            ast_pool_run(l->pool, l->chunks - first, meet_chunk, &s);
    }
    return true;
}

static void score_chunk(void *data, size_t block, int index) {
    const slice *s = data;
    ast_labelling *l = s->l;
    size_t chunk = s->first + block;
    if (atomic_load(&l->failed))
        return;
    ast_propose_all(l, &l->workers[index], chunk);
    put_down(l, &l->workers[index], chunk);
    l->chunk_seen[chunk] = l->event_count;
}

/* The first pass: what its points were added to in the trial is not always what they joined. */
static void correct_chunk(void *data, size_t block, int index) {
    const slice *s = data;
    ast_labelling *l = s->l;
    ast_worker *worker = &l->workers[index];
    size_t base = (s->first + block) * l->chunk;
    l->kernels->adopt(l->labels + base, l->scores.id + base, l->chunk);
    for (size_t i = base; i < base + l->chunk; i++) {
        ast_change change = {(uint32_t)i, l->summed[i], l->labels[i], ast_is_turned(l->summed_signs, i),
                             ast_is_turned(l->signs, i)};
        if (change.to < 0 || (change.from == change.to && change.was_turned == change.turned))
            continue;
        ast_add_change(l, worker, &change);
        worker->joined[change.to]++;
        if (change.from >= 0)
            worker->joined[change.from]--;
    }
}

static void keep_scores(ast_labelling *l) {
    l->kept = true;
    if (!ast_labelling_keep_scores(l) || !reserve_state(l))
        ast_labelling_fail(l);
}

static bool start_over(ast_labelling *l, const head *done) {
    slice s = {l, done->chunks};
    size_t left = l->chunks - done->chunks;
    take_back(l, done->chunks);
    atomic_store(&l->trouble, false);
    l->trial = false;
    if (!l->kept) {
        keep_scores(l);
        ast_pool_run(l->pool, left, score_chunk, &s);
    }
    if (!commit_in_turn(l, done->chunks, done->events))
        return false;
    for (int w = 0; w < l->worker_count; w++)
        ast_worker_reserve(l, &l->workers[w]);
    if (l->first && !atomic_load(&l->failed))
        ast_pool_run(l->pool, left, correct_chunk, &s);
    return true;
}

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* Where the pass before could not be done at once this one may not be either. */
static void open_pass(ast_labelling *l) {
    l->kept = false;
    l->trial = true;
    atomic_store(&l->trouble, false);
    for (int w = 0; w < l->worker_count; w++)
        l->workers[w].log_count = 0;
    if (!l->cloud.small || (!l->first && l->in_turn))
        keep_scores(l);
    if ((l->first_done && !ast_save_order(l)) || !ast_prepare_pass(l))
        ast_labelling_fail(l);
}

/* Most clusters are born in the first chunks of rank 0: the others begin when it has seen some of them. Where births do
 * not come to an end there, there will be more. */
static bool run_head(ast_labelling *l, head *done) {
    bool quiet = true;
    if (l->comm->rank == 0 && !atomic_load(&l->failed)) {
        l->trial = false;
        atomic_store(&l->stop, SIZE_MAX - 1); /* never by cells */
        done->chunks = ast_run_head(l, HEAD, &quiet);
    }
    if (!ast_share_events(l, 0, l->comm->rank == 0 ? 0 : l->event_count))
        return false;
    ast_comm_broadcast(l->comm, &quiet, sizeof quiet, 0);
    done->events = l->event_count;
    if (!quiet && l->comm->rank > 0) {
        atomic_store(&l->trouble, true);
        keep_scores(l);
    }
    for (int w = 0; w < l->worker_count && !atomic_load(&l->failed); w++)
        ast_sync_table(l, &l->workers[w]);
    return true;
}

/* The first pass: nothing can happen before the points of rank 0, so that it need not try. */
static bool first_pass(ast_labelling *l, head *done) {
    slice s = {l, 0};
    if (!l->fixed && !run_head(l, done))
        return false;
    if (l->trial) {
        ast_pool_run(l->pool, l->chunks, try_chunk, &s);
    } else {
        ast_run_rest(l, done->chunks);
        done->chunks = l->chunks;
        atomic_store(&l->trouble, l->event_count > done->events);
    }
    uint64_t asked[2] = {atomic_load(&l->trouble), atomic_load(&l->failed)};
    ast_comm_sum(l->comm, asked, 2);
    l->in_turn = asked[0] > 0;
    return asked[1] == 0 && (!l->in_turn || start_over(l, done));
}

/* One pass, with what the ranks added up. false: one of them failed, and all know. */
static bool run_pass(ast_labelling *l, uint64_t sums[AST_PACKET_HEAD]) {
    bool lonely, was_first = l->first;
    head done = {0, 0};
    slice s = {l, 0};
    open_pass(l);
    if (was_first && !first_pass(l, &done))
        return false;
    if (!was_first)
        ast_pool_run(l->pool, l->chunks, try_chunk, &s);
    if (!ast_exchange(l, sums, &lonely) || sums[AST_FAILURES])
        return false;
    if (was_first)
        return true;
    l->in_turn = lonely || sums[AST_TROUBLES];
    return !l->in_turn || (start_over(l, &done) && ast_exchange(l, sums, &lonely) && sums[AST_FAILURES] == 0);
}

/* Who did not fail itself takes the word of the lowest that did; where no rank can tell, there was no memory. */
static ast_status failed_pass(ast_labelling *l, ast_fault *fault) {
    ast_status mine = atomic_exchange(&l->failed, false) ? ast_fail_memory(fault) : l->pending;
    l->pending = AST_OK;
    ast_status all = ast_comm_agree(l->comm, mine, fault);
    return all == AST_OK ? ast_fail_memory(fault) : all;
}

ast_status ast_ranked_pass(ast_labelling *l, ast_pass_result *result, ast_fault *fault) {
    uint64_t sums[AST_PACKET_HEAD];
    bool was_first = l->first, done = run_pass(l, sums);
    l->trial = false;
    atomic_store(&l->trouble, false);
    if (!done)
        return failed_pass(l, fault);
    result->changed = was_first ? l->everyone : (size_t)sums[AST_CHANGED];
    result->scored = sums[AST_SCORED];
    ast_end_pass(l);
    if (l->keys_due && l->clusters.version != l->first_version) /* most runs keep the clusters of the first pass */
        ast_gather_keys(l);
    return AST_OK;
}

bool ast_ranked_move(ast_labelling *l, int owner, size_t point, int32_t slot) {
    uint64_t sums[AST_PACKET_HEAD];
    bool lonely, mine = l->comm->rank == owner;
    int32_t from = mine ? l->labels[point] : 0;
    for (int w = 0; w < l->worker_count; w++)
        l->workers[w].log_count = 0;
    ast_comm_broadcast(l->comm, &from, sizeof from, owner);
    bool moved = mine ? ast_labelling_move(l, point, slot) : ast_labelling_event(l, slot);
    if (!moved)
        ast_labelling_fail(l);
    if (!mine) {
        l->clusters.members[from]--;
        l->clusters.members[slot]++;
    }
    return ast_exchange(l, sums, &lonely) && sums[AST_FAILURES] == 0;
}
