/* SPDX-License-Identifier: MIT
 *
 * The passes over all pairs. Equal rows count as one row with a number, so that many of them cost nothing. With
 * `against`, a first pass finds the rows that are near one of those, which take no part in the second. The groups do
 * not depend on the order in which threads find the pairs. */
#include "dedup.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ast_dedup_free(ast_dedup_call *call) {
    ast_near_search_free(&call->search);
    ast_near_index_free(&call->index);
    ast_near_rows_free(&call->rows);
    for (int t = 0; call->lists && t < ast_pool_threads(call->pool); t++)
        ast_free(call->lists[t].pairs);
    ast_free_all((void *)call->group, (void *)call->degree, call->matched, call->nearest, call->similarity,
                 call->lists);
}

void ast_dedup_progress(ast_dedup_call *call, double done) {
    double now = ast_seconds();
    if (!call->options->progress || now < call->told + 0.05)
        return;
    call->told = now;
    if (call->options->progress(call->from + (call->to - call->from) * done, call->options->progress_data) != 0)
        call->stopped = true;
}

ast_status ast_dedup_status(const ast_dedup_call *call, ast_fault *fault) {
    if (call->stopped || ast_pool_cancelled(call->pool))
        return ast_fail_cancelled(fault);
    return call->failed ? ast_fail_memory(fault) : AST_OK;
}

/* ---- Connected rows ---------------------------------------------------------------------------------------------- */

/* The first row of the group; halves the way. */
static uint32_t root_of(_Atomic uint32_t *parent, uint32_t row) {
    for (;;) {
        uint32_t up = atomic_load_explicit(&parent[row], memory_order_relaxed);
        if (up == row)
            return row;
        uint32_t next = atomic_load_explicit(&parent[up], memory_order_relaxed);
        if (next != up)
            atomic_compare_exchange_weak_explicit(&parent[row], &up, next, memory_order_relaxed, memory_order_relaxed);
        row = next;
    }
}

/* The later root points to the earlier one: the roots do not depend on the order of the calls. */
static void connect(_Atomic uint32_t *parent, uint32_t a, uint32_t b) {
    for (;;) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        uint32_t later = a > b ? a : b, earlier = a > b ? b : a;
        if (a == b || atomic_compare_exchange_strong_explicit(&parent[later], &later, earlier, memory_order_relaxed,
                                                              memory_order_relaxed))
            return;
    }
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

static void count_pair(ast_dedup_call *call, int worker, uint32_t a, uint32_t b, double score) {
    call->lists[worker].count += (uint64_t)call->rows.equal[a] * call->rows.equal[b];
    if (call->options->pair)
        ast_dedup_store(call, worker, a, b, score);
}

static void found_pair(void *data, int worker, size_t r, uint32_t row, double score) {
    ast_dedup_call *call = data;
    uint32_t a = ast_near_tile_row(&call->search, worker, r);
    count_pair(call, worker, a, row, score);
    if (call->options->mode == AST_CONNECTED) {
        connect(call->group, a, row);
        return;
    }
    atomic_fetch_add_explicit(&call->degree[a], call->rows.equal[row], memory_order_relaxed);
    atomic_fetch_add_explicit(&call->degree[row], call->rows.equal[a], memory_order_relaxed);
}

/* Only the task of its tile sees a row of the first set: no other thread writes its match. */
static void found_match(void *data, int worker, size_t r, uint32_t row, double score) {
    ast_dedup_call *call = data;
    uint32_t a = ast_near_tile_row(&call->search, worker, r);
    bool better =
        !call->matched[a] || score > call->similarity[a] || (score >= call->similarity[a] && row < call->nearest[a]);
    count_pair(call, worker, a, row, score);
    call->matched[a] = 1;
    call->similarity[a] = better ? score : call->similarity[a];
    call->nearest[a] = better ? row : call->nearest[a];
}

static void search_tile(void *data, size_t block, int worker) {
    ast_dedup_call *call = data;
    bool within = call->first_block == SIZE_MAX;
    if (call->stopped || call->failed)
        return;
    ast_near_begin_tile_of_block(&call->search, worker, block);
    ast_near_search_tile(&call->search, worker, within ? block : call->first_block, call->end_block);
    if (worker == 0) {
        double left = 1 - (double)(block + 1) / (double)call->index.own;
        ast_dedup_progress(call, within ? 1 - left * left : 1 - left);
    }
}

/* Compares the rows with those of `against`, or else with each other. */
static ast_status run_pass(ast_dedup_call *call, bool against, double to, ast_fault *fault) {
    call->from = call->to;
    call->to = to;
    call->first_block = against ? call->index.own : SIZE_MAX;
    call->end_block = against ? call->index.blocks : call->index.own;
    call->search.exact = against || call->options->pair;
    call->search.found = against ? found_match : found_pair;
    call->search.skip = against ? NULL : call->matched;
    ast_pool_run_cancellable(call->pool, call->index.own, search_tile, call);
    return ast_dedup_status(call, fault);
}

static bool open_arrays(ast_dedup_call *call) {
    size_t n = call->rows.count;
    bool against = call->rows.sets[1] != NULL;
    call->lists = ast_allocate_zero((size_t)ast_pool_threads(call->pool), sizeof *call->lists);
    call->group = ast_allocate(n, sizeof *call->group);
    call->degree = ast_allocate_zero(call->options->mode == AST_STAR ? n : 0, sizeof *call->degree);
    call->matched = ast_allocate_zero(n, 1);
    if (!call->lists || !call->group || !call->degree || !call->matched ||
        !ast_replace_arrays(AST_REQUEST(call->nearest, against ? n : 0),
                            AST_REQUEST(call->similarity, against ? n : 0)))
        return false;
    for (size_t i = 0; i < n; i++)
        call->group[i] = (uint32_t)i;
    return true;
}

static ast_status open(ast_dedup_call *call, ast_fault *fault) {
    ast_status status = ast_near_rows_open(&call->rows, call->pool, call->labels, call->options->memory, fault);
    if (status != AST_OK)
        return status;
    call->index = (ast_near_index){
        .kernels = call->kernels, .pool = call->pool, .rows = &call->rows, .limit = call->options->cosine - 0x1p-20};
    call->search = (ast_near_search){.index = &call->index, .data = call};
    status = open_arrays(call) ? ast_near_index_open(&call->index, fault) : ast_fail_memory(fault);
    if (status == AST_OK && !ast_near_search_open(&call->search))
        status = ast_fail_memory(fault);
    return status == AST_OK ? ast_dedup_status(call, fault) : status;
}

ast_status ast_dedup_run(ast_dedup_call *call, ast_fault *fault) {
    bool star = call->options->mode == AST_STAR;
    ast_status status = open(call, fault);
    call->to = 0.05;
    if (status == AST_OK && call->rows.sets[1])
        status = run_pass(call, true, 0.4, fault);
    if (status == AST_OK)
        status = run_pass(call, false, star ? 0.8 : 0.95, fault);
    if (status == AST_OK && star)
        status = ast_dedup_star(call, fault);
    if (status == AST_OK)
        status = ast_dedup_finish(call, fault);
    if (status == AST_OK && call->options->pair)
        status = ast_dedup_report_pairs(call, fault);
    return status == AST_OK ? ast_dedup_status(call, fault) : status;
}
