/* SPDX-License-Identifier: MIT
 *
 * The pairs for the caller, in order. Pairs of rows without equals before them are in memory; those of their equals are
 * made when they are told. */
#include "dedup.h"

#include "memory.h"

#include <stdlib.h>

/* A neighbour of a row, and the score. */
typedef struct neighbour {
    uint32_t row;
    double score;
} neighbour;

typedef struct telling {
    ast_dedup_call *call;
    size_t *starts;        /* (rows + 2) neighbours of a row without an equal before it */
    neighbour *neighbours; /* (2 pairs) */
    uint32_t *next;        /* (rows) the next row that equals this one; AST_NO_ROW: none */
    neighbour *list;       /* of one row */
    size_t capacity;
} telling;

void ast_dedup_store(ast_dedup_call *call, int worker, uint32_t a, uint32_t b, double score) {
    ast_pair_list *list = &call->lists[worker];
    if (ast_reserve(&list->pairs, &list->capacity, list->used, list->used + 1, sizeof *list->pairs))
        list->pairs[list->used++] = (ast_row_pair){a, b, score};
    else
        call->failed = true;
}

/* Both rows of a pair get the other as a neighbour. */
static bool list_neighbours(telling *t) {
    ast_dedup_call *call = t->call;
    size_t pairs = 0, count = call->rows.count;
    int threads = ast_pool_threads(call->pool);
    for (int w = 0; w < threads; w++)
        pairs += call->lists[w].used;
    t->starts = ast_allocate_zero(count + 2, sizeof *t->starts);
    if (!t->starts || !ast_replace_arrays(AST_REQUEST(t->neighbours, 2 * pairs), AST_REQUEST(t->next, count)))
        return false;
    size_t *ends = t->starts + 1;
    for (int w = 0; w < threads; w++)
        for (size_t i = 0; i < call->lists[w].used; i++) {
            ends[call->lists[w].pairs[i].a + 1]++;
            ends[call->lists[w].pairs[i].b + 1]++;
        }
    for (size_t i = 0; i < count; i++)
        ends[i + 1] += ends[i];
    for (int w = 0; w < threads; w++)
        for (size_t i = 0; i < call->lists[w].used; i++) {
            ast_row_pair pair = call->lists[w].pairs[i];
            t->neighbours[ends[pair.a]++] = (neighbour){pair.b, pair.score};
            t->neighbours[ends[pair.b]++] = (neighbour){pair.a, pair.score};
        }
    return true;
}

static bool list_equals(telling *t) {
    const ast_near_rows *rows = &t->call->rows;
    uint32_t *last = ast_allocate(rows->count, sizeof *last);
    for (uint32_t i = 0; i < rows->count && last; i++) {
        uint32_t own = rows->same_as[i];
        t->next[i] = AST_NO_ROW;
        if (own == AST_NO_ROW)
            continue;
        if (own != i)
            t->next[last[own]] = i;
        last[own] = i;
    }
    ast_free(last);
    return last != NULL;
}

/* Adds the rows from `row` on in its list of equal rows that come after row i. */
static bool add_equals(telling *t, size_t *used, uint32_t row, uint32_t i, double score) {
    for (; row != AST_NO_ROW; row = t->next[row]) {
        if (row <= i)
            continue;
        if (!ast_reserve(&t->list, &t->capacity, *used, *used + 1, sizeof *t->list))
            return false;
        t->list[(*used)++] = (neighbour){row, score};
    }
    return true;
}

static int compare_neighbours(const void *a, const void *b) {
    const neighbour *x = a, *y = b;
    return x->row < y->row ? -1 : x->row > y->row;
}

static ast_status tell_row(telling *t, uint32_t i, double own_score, ast_fault *fault) {
    const ast_dedup_call *call = t->call;
    uint32_t own = call->rows.same_as[i];
    size_t used = 0;
    bool ready = call->matched[own] || add_equals(t, &used, t->next[i], i, own_score);
    for (size_t e = t->starts[own]; e < t->starts[own + 1] && ready; e++)
        ready = add_equals(t, &used, t->neighbours[e].row, i, t->neighbours[e].score);
    if (!ready)
        return ast_fail_memory(fault);
    if (used > 1)
        qsort(t->list, used, sizeof *t->list, compare_neighbours);
    for (size_t j = 0; j < used; j++)
        if (call->options->pair(i, t->list[j].row, t->list[j].score, call->options->pair_data) != 0)
            return ast_fail_cancelled(fault);
    return AST_OK;
}

static ast_status tell_all(telling *t, float *buffer, ast_fault *fault) {
    const ast_near_rows *rows = &t->call->rows;
    ast_status status = AST_OK;
    for (uint32_t i = 0; i < rows->first && status == AST_OK; i++) {
        uint32_t own = rows->same_as[i];
        if (own == AST_NO_ROW)
            continue;
        double score = 0;
        if (rows->equal[own] > 1) {
            const float *row = ast_near_row(rows, own, buffer);
            score = ast_exact_score(row, row, rows->dimension);
        }
        status = ast_pool_poll(t->call->pool) ? ast_fail_cancelled(fault) : tell_row(t, i, score, fault);
    }
    return status;
}

ast_status ast_dedup_report_pairs(ast_dedup_call *call, ast_fault *fault) {
    telling t = {.call = call};
    float *buffer = ast_allocate(call->rows.dimension, sizeof *buffer);
    bool ready = buffer && list_neighbours(&t) && list_equals(&t);
    ast_status status = ready ? tell_all(&t, buffer, fault) : ast_fail_memory(fault);
    ast_free_all(buffer, t.starts, t.neighbours, t.next, t.list);
    return status;
}
