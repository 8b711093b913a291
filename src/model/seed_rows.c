/* SPDX-License-Identifier: MIT */
#include "seed_rows.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

static int by_hash(const void *a, const void *b) {
    const ast_seed_row *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

void ast_seed_rows_sort(ast_seed_rows *c) {
    size_t left = 0;
    if (c->count > 1)
        qsort(c->list, c->count, sizeof *c->list, by_hash);
    for (size_t i = 0; i < c->count; i++) {
        ast_seed_row *last = left ? &c->list[left - 1] : NULL;
        if (!last || last->hash != c->list[i].hash) {
            c->list[left++] = c->list[i];
            continue;
        }
        last->part += c->list[i].part;
        last->point = c->list[i].point < last->point ? c->list[i].point : last->point;
    }
    c->full = left >= c->most;
    c->count = c->full ? c->most : left;
    c->limit = c->full ? c->list[c->most - 1].hash : 0;
}

/* Copies are put together before the list grows, so its memory does not grow with their number. */
static bool make_room(ast_seed_rows *c) {
    if (c->count < c->capacity)
        return true;
    ast_seed_rows_sort(c);
    if (c->capacity && c->count <= c->capacity / 2)
        return true;
    size_t capacity = c->capacity ? 2 * c->capacity : FIRST_CAPACITY;
    if (!ast_grow_array(&c->list, c->count, capacity, sizeof *c->list))
        return false;
    c->capacity = capacity;
    return true;
}

void ast_seed_rows_add(ast_seed_rows *c, ast_seed_row one) {
    if (c->full && one.hash > c->limit)
        return;
    if (make_room(c))
        c->list[c->count++] = one;
    else
        c->failed = true;
}

void ast_seed_rows_take(ast_seed_rows *to, ast_seed_rows *from) {
    for (size_t j = 0; j < from->count; j++)
        ast_seed_rows_add(to, from->list[j]);
    to->failed |= from->failed;
    from->count = 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

bool ast_seed_content_open(const ast_labelling *l, ast_content *content, uint64_t seed) {
    return ast_content_open(content, l->rows.dimension, !l->rows.sparse, l->rows.axial, seed);
}

uint64_t ast_seed_hash(const ast_labelling *l, const ast_content *content, size_t i, int worker) {
    if (l->rows.sparse)
        return ast_content_entries(content, ast_rowset_entries(&l->rows, i));
    return ast_content_row(content, ast_rows_walk_at(&l->rows, &l->workers[worker].chunk.rows, i));
}

ast_status ast_seed_share_row(ast_labelling *l, size_t point, float *row, ast_fault *fault) {
    const ast_comm *comm = l->ranks.comm;
    bool mine = ast_comm_lowest(comm, point != SIZE_MAX) == ast_comm_rank(comm);
    const float *own = NULL;
    if (mine)
        own = ast_rows_upright(&l->rows, &l->workers[0].chunk.rows, point - l->windows.first);
    if (!ast_comm_many(comm))
        memcpy(row, own, l->rows.dimension * sizeof *row);
    else if (!ast_ranked_rows(l, &own, 1, row))
        return ast_fail_memory(fault);
    for (size_t d = 0; d < l->rows.dimension; d++)
        row[d] += 0.0f;
    return AST_OK;
}
