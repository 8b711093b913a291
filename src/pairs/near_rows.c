/* SPDX-License-Identifier: MIT
 *
 * The rows of one or two sets. Rows in place are used as they are; others are copied if there is memory, otherwise they
 * are normalised whenever they are read. Equal rows are found by a hash table. */
#include "near.h"

#include "memory.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 64 }; /* rows per task */

typedef struct loading {
    ast_near_rows *rows;
    ast_pool *pool;
    const int32_t *labels; /* of the set */
    size_t set, base;      /* base: the number of its first row */
    uint64_t *hashes;      /* (rows of the set) */
    float *buffers;        /* (threads, 2, D) */
} loading;

const float *ast_near_row(const ast_near_rows *rows, uint32_t row, float *buffer) {
    size_t set = row >= rows->first, i = row - (set ? rows->first : 0);
    if (rows->copies[set])
        return rows->copies[set] + i * rows->dimension;
    return ast_rowset_row(rows->sets[set], i, buffer);
}

static uint64_t hash_row(const float *row, size_t dimension) {
    uint64_t hash = dimension;
    for (size_t d = 0; d < dimension; d++) {
        uint32_t bits;
        memcpy(&bits, row + d, sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void load_row(loading *work, size_t i, int worker) {
    ast_near_rows *rows = work->rows;
    size_t dimension = rows->dimension;
    if (work->labels[i] == AST_MISSING)
        return;
    float *buffer = work->buffers + (size_t)worker * 2 * dimension;
    const float *row = ast_rowset_row(work->rows->sets[work->set], i, buffer);
    if (rows->copies[work->set])
        memcpy(rows->copies[work->set] + i * dimension, row, dimension * sizeof *row);
    work->hashes[i] = hash_row(row, dimension);
}

static void load_rows(void *data, size_t block, int worker) {
    loading *work = data;
    size_t first = block * STEP, count = work->rows->sets[work->set]->count;
    for (size_t i = first; i < first + STEP && i < count; i++)
        load_row(work, i, worker);
}

/* Linear probing over the first rows of their kind; a slot holds a row + 1. */
static bool find_equal(const loading *work, size_t count) {
    ast_near_rows *rows = work->rows;
    size_t capacity = 64, width = rows->dimension * sizeof(float);
    while (capacity < 2 * count)
        capacity *= 2;
    uint32_t *slots = ast_allocate_zero(capacity, sizeof *slots);
    for (size_t i = 0; slots && i < count && !ast_pool_poll(work->pool); i++) {
        uint32_t row = (uint32_t)(work->base + i);
        if (work->labels[i] == AST_MISSING)
            continue;
        size_t slot = ast_mix64(work->hashes[i]) & (capacity - 1);
        for (; slots[slot]; slot = (slot + 1) & (capacity - 1)) {
            uint32_t other = slots[slot] - 1;
            if (work->hashes[other - work->base] == work->hashes[i] &&
                memcmp(ast_near_row(rows, other, work->buffers),
                       ast_near_row(rows, row, work->buffers + rows->dimension), width) == 0)
                break;
        }
        slots[slot] = slots[slot] ? slots[slot] : row + 1;
        rows->same_as[row] = slots[slot] - 1;
        rows->equal[slots[slot] - 1]++;
    }
    ast_free(slots);
    return slots != NULL;
}

static ast_status load_set(loading *work, size_t memory, ast_fault *fault) {
    ast_near_rows *rows = work->rows;
    const ast_rowset *set = rows->sets[work->set];
    size_t count = set->count, bytes = count * rows->dimension * sizeof(float);
    bool copy = (set->small || !set->in_place) && (memory == 0 || bytes <= memory);
    rows->copies[work->set] = copy ? ast_allocate(count, rows->dimension * sizeof(float)) : NULL;
    if ((copy && !rows->copies[work->set]) || !ast_replace_arrays(AST_REQUEST(work->hashes, count)))
        return ast_fail_memory(fault);
    ast_pool_run_cancellable(work->pool, (count + STEP - 1) / STEP, load_rows, work);
    return find_equal(work, count) ? AST_OK : ast_fail_memory(fault);
}

ast_status ast_near_rows_open(ast_near_rows *rows, ast_pool *pool, int32_t *const labels[2], size_t memory,
                              ast_fault *fault) {
    rows->dimension = rows->sets[0]->dimension;
    rows->first = rows->sets[0]->count;
    rows->count = rows->first + (rows->sets[1] ? rows->sets[1]->count : 0);
    rows->equal = ast_allocate_zero(rows->count, sizeof *rows->equal);
    loading work = {.rows = rows, .pool = pool};
    ast_status status = AST_OK;
    if (!rows->equal ||
        !ast_replace_arrays(AST_REQUEST(rows->same_as, rows->count),
                            AST_REQUEST(work.buffers, (size_t)ast_pool_threads(pool) * 2 * rows->dimension)))
        status = ast_fail_memory(fault);
    if (status == AST_OK)
        memset(rows->same_as, 0xff, rows->count * sizeof *rows->same_as);
    for (size_t s = 0; s < 2 && rows->sets[s] && status == AST_OK; s++) {
        work.set = s;
        work.base = s ? rows->first : 0;
        work.labels = labels[s];
        status = load_set(&work, memory, fault);
    }
    ast_free_all(work.hashes, work.buffers);
    return status;
}

void ast_near_rows_free(ast_near_rows *rows) {
    ast_free_all(rows->copies[0], rows->copies[1], rows->same_as, rows->equal);
    *rows = (ast_near_rows){0};
}
