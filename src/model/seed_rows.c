/* SPDX-License-Identifier: MIT */
#include "seed_rows.h"

#include "inside.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

static int by_hash(const void *a, const void *b) {
    const ast_seed_row *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

void ast_seed_rows_sort(ast_seed_rows *r) {
    size_t left = 0;
    if (r->count > 1)
        qsort(r->list, r->count, sizeof *r->list, by_hash);
    for (size_t i = 0; i < r->count; i++) {
        ast_seed_row *last = left ? &r->list[left - 1] : NULL;
        if (!last || last->hash != r->list[i].hash) {
            r->list[left++] = r->list[i];
            continue;
        }
        last->part += r->list[i].part;
        last->point = r->list[i].point < last->point ? r->list[i].point : last->point;
    }
    r->full = left >= r->most;
    r->count = r->full ? r->most : left;
    r->limit = r->full ? r->list[r->most - 1].hash : 0;
}

/* Joins copies before the list grows, so that its memory does not grow with their number. */
static bool make_room(ast_seed_rows *r) {
    if (r->count < r->capacity)
        return true;
    ast_seed_rows_sort(r);
    if (r->capacity && r->count <= r->capacity / 2)
        return true;
    return ast_reserve(&r->list, &r->capacity, r->count, r->capacity + 1, sizeof *r->list);
}

void ast_seed_rows_add(ast_seed_rows *r, ast_seed_row candidate) {
    if (r->full && candidate.hash > r->limit)
        return;
    if (make_room(r))
        r->list[r->count++] = candidate;
    else
        r->failed = true;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

ast_status ast_seed_search_open(ast_seed_search *s, size_t most, ast_random *random) {
    const ast_labelling *l = s->l;
    s->candidates.most = most;
    s->found = ast_allocate_zero((size_t)l->worker_count, sizeof *s->found);
    for (int w = 0; s->found && w < l->worker_count; w++)
        s->found[w].most = most;
    bool ready =
        ast_content_open(&s->content, l->rows.dimension, !l->rows.sparse, l->rows.axial, ast_random_u64(random)) &&
        s->found;
    return ready ? AST_OK : ast_fail_memory(s->fault);
}

void ast_seed_search_close(ast_seed_search *s) {
    for (int w = 0; s->found && w < s->l->worker_count; w++)
        ast_free(s->found[w].list);
    ast_free_all(s->found, s->candidates.list);
    ast_content_close(&s->content);
}

uint64_t ast_seed_hash(const ast_seed_search *s, size_t i, int worker) {
    const ast_rowset *rows = &s->l->rows;
    if (rows->sparse)
        return ast_content_entries(&s->content, ast_rowset_entries(rows, i));
    return ast_content_row(&s->content, ast_rows_in_order_at(rows, &s->l->workers[worker].chunk.rows, i));
}

void ast_seed_found(ast_seed_search *s, size_t i, uint64_t hash, uint64_t part, int worker) {
    ast_seed_rows_add(&s->found[worker], (ast_seed_row){hash, part, s->l->windows.first + i});
}

ast_status ast_seed_merge_found(ast_seed_search *s, ast_status status) {
    s->candidates.count = 0;
    for (int w = 0; w < s->l->worker_count; w++) {
        ast_seed_rows *found = &s->found[w];
        for (size_t j = 0; j < found->count; j++)
            ast_seed_rows_add(&s->candidates, found->list[j]);
        s->candidates.failed |= found->failed;
        found->count = 0;
    }
    if (status == AST_OK && s->candidates.failed)
        status = ast_fail_memory(s->fault);
    return ast_comm_agree(s->l->ranks.comm, status, s->fault);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

typedef struct visit {
    const ast_labelling *l;
    ast_seed_task *task;
    void *data;
} visit;

/* Unlike ast_labelling_each_chunk this keeps the chunk that a thread has read, if it is the same as before. */
static void visit_chunk(void *data, size_t chunk, int worker) {
    const visit *v = data;
    const ast_rowset *rows = &v->l->rows;
    for (size_t i = chunk * rows->chunk; i < (chunk + 1) * rows->chunk && i < rows->count; i++)
        if (v->l->labels[i] != AST_MISSING)
            v->task(v->data, i, worker);
}

ast_status ast_seed_visit(ast_labelling *l, ast_seed_task *task, void *data, bool save, ast_fault *fault) {
    visit v = {l, task, data};
    ast_status status = AST_OK;
    for (size_t number = 0; number < l->windows.count && status == AST_OK; number++) {
        status = ast_labelling_open_window(l, number, fault);
        ast_pool_run_cancellable(l->pool, l->rows.chunks, visit_chunk, &v);
        if (status == AST_OK)
            status = ast_labelling_trouble(l, fault);
        if (status == AST_OK && save)
            status = ast_windows_save(l, fault);
    }
    return status;
}

ast_status ast_seed_share_row(ast_labelling *l, size_t point, float *row, ast_fault *fault) {
    const ast_comm *comm = l->ranks.comm;
    bool mine = ast_comm_first_rank(comm, point != SIZE_MAX) == ast_comm_rank(comm);
    const float *own = mine ? ast_rows_canonical(&l->rows, &l->workers[0].chunk.rows, point - l->windows.first) : NULL;
    if (!ast_comm_many(comm)) {
        memcpy(row, own, l->rows.dimension * sizeof *row);
    } else {
        if (!ast_reserve_rows(l, 1))
            return ast_fail_memory(fault);
        if (own)
            ast_put_row(l, 0, own);
        ast_share_rows(l, 1);
        ast_get_row(l, 0, row);
    }
    for (size_t d = 0; d < l->rows.dimension; d++)
        row[d] += 0.0f; /* -0 becomes 0 */
    return AST_OK;
}
