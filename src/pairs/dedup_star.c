/* SPDX-License-Identifier: MIT
 *
 * Groups around kept rows: rows are visited in the order of `keep`; a row near a kept row joins the first such one, and
 * another row is kept.
 *
 * The pairs are not in memory. So rows that are near others are taken a tile at a time: one search of all blocks tells
 * which rows are near which rows of the tile, one bit each, and then the tile is visited in order. */
#include "dedup.h"

#include "memory.h"

#include <stdlib.h>

enum { TILE = AST_NEAR_BLOCK, RANGE = 64 }; /* RANGE: blocks per task */

/* Rows that a thread found near the tile, each once over all threads. */
typedef struct touched_rows {
    uint32_t *rows;
    size_t used, capacity;
    char apart[64];
} touched_rows;

typedef struct star {
    ast_dedup_call *call;
    uint32_t tile[TILE];
    size_t n;
    _Atomic uint64_t *near; /* (rows) bit r: near row r of the tile */
    touched_rows *touched;  /* (threads) */
} star;

bool ast_dedup_comes_before(const ast_dedup_call *call, uint32_t a, uint32_t b) {
    const double *rank = call->options->keep == AST_KEEP_RANKED ? call->options->rank : NULL;
    if (rank && (rank[a] > rank[b] || rank[a] < rank[b]))
        return rank[a] > rank[b];
    return a < b;
}

/* What a row is visited by: a larger value first, then the smaller row. */
typedef struct visit {
    double rank;
    uint32_t row;
} visit;

static int compare_visits(const void *a, const void *b) {
    const visit *x = a, *y = b;
    if (x->rank > y->rank || x->rank < y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The rows that are near others, in the order of `keep`. Equal rows are visited with the first of them in that order.
 */
static visit *order_visits(const ast_dedup_call *call, size_t *count) {
    const ast_near_rows *rows = &call->rows;
    visit *list = ast_allocate(rows->first, sizeof *list);
    uint32_t *at = ast_allocate(rows->first, sizeof *at); /* of a row without an equal before it: its visit */
    *count = 0;
    for (uint32_t i = 0; i < rows->first && list && at; i++) {
        uint32_t own = rows->same_as[i];
        if (own == AST_NO_ROW || call->degree[own] == 0)
            continue;
        double rank = 0;
        if (call->options->keep == AST_KEEP_CENTRAL)
            rank = (double)call->degree[own] + (double)rows->equal[own];
        else if (call->options->keep == AST_KEEP_RANKED)
            rank = call->options->rank[i];
        if (own == i)
            list[at[i] = (uint32_t)(*count)++] = (visit){rank, i};
        else if (rank > list[at[own]].rank)
            list[at[own]].rank = rank;
    }
    ast_free(at);
    if (!list || *count == 0)
        return list;
    qsort(list, *count, sizeof *list, compare_visits);
    return list;
}

static void touch(void *data, int worker, size_t r, uint32_t row, double score) {
    star *s = data;
    touched_rows *own = &s->touched[worker];
    (void)score;
    if (atomic_fetch_or_explicit(&s->near[row], (uint64_t)1 << r, memory_order_relaxed) != 0)
        return;
    if (!ast_reserve(&own->rows, &own->capacity, own->used, own->used + 1, sizeof *own->rows))
        s->call->failed = true;
    else
        own->rows[own->used++] = row;
}

static void search_range(void *data, size_t task, int worker) {
    star *s = data;
    size_t first = task * RANGE, own = s->call->index.own, last = own - first < RANGE ? own : first + RANGE;
    if (s->call->failed)
        return;
    ast_near_begin_tile_of_rows(&s->call->search, worker, s->tile, s->n);
    ast_near_search_tile(&s->call->search, worker, first, last);
}

/* Visits the rows of the tile in order, then gives the other touched rows to the first kept row near them. */
static void visit_tile(star *s) {
    _Atomic uint32_t *group = s->call->group;
    uint64_t kept = 0;
    for (size_t r = 0; r < s->n; r++) {
        uint64_t before = s->near[s->tile[r]] & kept;
        kept |= before ? 0 : (uint64_t)1 << r;
        group[s->tile[r]] = s->tile[before ? (size_t)__builtin_ctzll(before) : r];
    }
    for (int t = 0; t < ast_pool_threads(s->call->pool); t++) {
        touched_rows *own = &s->touched[t];
        for (size_t i = 0; i < own->used; i++) {
            uint32_t row = own->rows[i];
            uint64_t near = s->near[row] & kept;
            s->near[row] = 0;
            if (near && group[row] == AST_NO_ROW)
                group[row] = s->tile[__builtin_ctzll(near)];
        }
        own->used = 0;
    }
}

static void visit_all(star *s, const visit *list, size_t count) {
    ast_dedup_call *call = s->call;
    for (size_t i = 0; i < count; i++)
        call->group[list[i].row] = AST_NO_ROW;
    for (size_t i = 0; i < count && !call->failed && !call->stopped && !ast_pool_cancelled(call->pool);) {
        for (s->n = 0; i < count && s->n < TILE; i++)
            if (call->group[list[i].row] == AST_NO_ROW)
                s->tile[s->n++] = list[i].row;
        ast_pool_run_cancellable(call->pool, (call->index.own + RANGE - 1) / RANGE, search_range, s);
        visit_tile(s);
        ast_dedup_progress(call, (double)i / (double)count);
    }
}

ast_status ast_dedup_star(ast_dedup_call *call, ast_fault *fault) {
    size_t threads = (size_t)ast_pool_threads(call->pool), count;
    star s = {.call = call};
    visit *list = order_visits(call, &count);
    s.near = ast_allocate_zero(call->rows.count, sizeof *s.near);
    s.touched = ast_allocate_zero(threads, sizeof *s.touched);
    call->from = call->to;
    call->to = 0.95;
    call->search.exact = false;
    call->search.found = touch;
    call->search.data = &s;
    if (list && s.near && s.touched)
        visit_all(&s, list, count);
    else
        call->failed = true;
    call->search.data = call;
    for (size_t t = 0; t < threads && s.touched; t++)
        ast_free(s.touched[t].rows);
    ast_free_all(list, (void *)s.near, s.touched);
    return ast_dedup_status(call, fault);
}
