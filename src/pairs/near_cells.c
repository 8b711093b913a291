/* SPDX-License-Identifier: MIT
 *
 * Similar rows next to each other: a few rounds of spherical k-means on a sample give cells, and the rows of a cell are
 * split at medians along the widest axis. Blocks decide the time only, never which pairs are found. */
#include "near.h"

#include "mean_table.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_ROWS = 512, MOST_CELLS = 4096, SAMPLE = 16, ROUNDS = 3, TASK = AST_TILE_ROWS };

typedef struct grouping {
    const ast_near_rows *rows;
    const ast_kernels *kernels;
    const uint32_t *list; /* (count) rows to assign */
    size_t count;
    int32_t *cell; /* (count) */
    ast_mean_table table;
    float *buffers; /* (threads, TASK, D) */
    float *scratch; /* (threads, AST_ROW_SCRATCH) */
} grouping;

/* Labels TASK rows with their nearest means. */
static void assign_rows(void *data, size_t task, int worker) {
    grouping *g = data;
    size_t first = task * TASK, n = g->count - first < TASK ? g->count - first : TASK, d = g->rows->dimension;
    const float *rows[TASK] = {NULL};
    float best[TASK], second[TASK], *buffer = g->buffers + (size_t)worker * TASK * d;
    for (size_t i = 0; i < n; i++)
        rows[i] = ast_near_row(g->rows, g->list[first + i], buffer + i * d);
    g->kernels->score_rows(rows, n, &g->table, (ast_scores){best, second, g->cell + first},
                           g->scratch + (size_t)worker * AST_ROW_SCRATCH);
    for (size_t i = 0; i < n; i++)
        g->cell[first + i] = g->cell[first + i] < 0 ? 0 : g->cell[first + i];
}

static void assign_all(grouping *g, ast_pool *pool, const uint32_t *list, size_t count) {
    g->list = list;
    g->count = count;
    ast_pool_run_cancellable(pool, (count + TASK - 1) / TASK, assign_rows, g);
}

/* means (cells, D): the normalised sums of their rows of the sample; a mean without rows stays. */
static bool move_means(grouping *g, float *means, size_t cells) {
    size_t dimension = g->rows->dimension;
    double *sums = ast_allocate_zero(cells * dimension, sizeof *sums);
    for (size_t i = 0; sums && i < g->count; i++) {
        const float *row = ast_near_row(g->rows, g->list[i], g->buffers);
        double *sum = sums + (size_t)g->cell[i] * dimension;
        for (size_t d = 0; d < dimension; d++)
            sum[d] += (double)row[d];
    }
    ast_mean_table_clear(&g->table, dimension, false);
    bool ready = sums != NULL;
    for (size_t k = 0; k < cells && ready; k++) {
        double square = 0;
        for (size_t d = 0; d < dimension; d++)
            square += sums[k * dimension + d] * sums[k * dimension + d];
        for (size_t d = 0; d < dimension && square > 0x1p-40; d++)
            means[k * dimension + d] = (float)(sums[k * dimension + d] / sqrt(square));
        ready = ast_mean_table_append(&g->table, means + k * dimension, (int32_t)k);
    }
    ast_free(sums);
    return ready;
}

static bool find_means(grouping *g, ast_pool *pool, const uint32_t *list, size_t count, size_t cells) {
    size_t dimension = g->rows->dimension, some = count < cells * SAMPLE ? count : cells * SAMPLE;
    uint32_t *sample = ast_allocate(some, sizeof *sample);
    float *means = ast_allocate(cells * dimension, sizeof *means);
    bool ready = sample && means;
    for (size_t i = 0; i < some && ready; i++)
        sample[i] = list[i * count / some];
    for (size_t k = 0; k < cells && ready; k++) {
        const float *row = ast_near_row(g->rows, list[(2 * k + 1) * count / (2 * cells)], means + k * dimension);
        if (row != means + k * dimension)
            memcpy(means + k * dimension, row, dimension * sizeof *means);
        ready = ast_mean_table_append(&g->table, means + k * dimension, (int32_t)k);
    }
    for (int round = 0; round < ROUNDS && ready && !ast_pool_cancelled(pool); round++) {
        assign_all(g, pool, sample, some);
        ready = move_means(g, means, cells);
    }
    ast_free_all(sample, means);
    return ready;
}

/* Counting sort by cell. */
static void sort_by_cell(ast_near_order *order, const grouping *g, const uint32_t *list) {
    memset(order->starts, 0, (order->cells + 1) * sizeof *order->starts);
    for (size_t i = 0; i < order->count; i++)
        order->starts[g->cell[i] + 1]++;
    for (size_t k = 0; k < order->cells; k++)
        order->starts[k + 1] += order->starts[k];
    for (size_t i = 0; i < order->count; i++)
        order->rows[order->starts[g->cell[i]]++] = list[i];
    for (size_t k = order->cells; k > 0; k--)
        order->starts[k] = order->starts[k - 1];
    order->starts[0] = 0;
}

/* Tables of four and fewer dimensions have another layout, and few cells are not worth it. */
static bool find_cells(ast_near_order *order, grouping *g, ast_pool *pool, const uint32_t *list) {
    size_t threads = (size_t)ast_pool_threads(pool), dimension = g->rows->dimension, cells = order->cells;
    if (!ast_replace_arrays(AST_REQUEST(g->cell, order->count), AST_REQUEST(order->rows, order->count),
                            AST_REQUEST(order->starts, cells + 1), AST_REQUEST(g->buffers, threads * TASK * dimension),
                            AST_REQUEST(g->scratch, threads * AST_ROW_SCRATCH)))
        return false;
    memset(g->cell, 0, order->count * sizeof *g->cell);
    if (cells > 1) {
        ast_mean_table_clear(&g->table, dimension, false);
        if (!find_means(g, pool, list, order->count, cells))
            return false;
        memset(g->cell, 0, order->count * sizeof *g->cell);
        assign_all(g, pool, list, order->count);
    }
    sort_by_cell(order, g, list);
    return true;
}

bool ast_near_order_find(ast_near_order *order, const ast_near_rows *rows, size_t set, const ast_kernels *kernels,
                         ast_pool *pool) {
    size_t first = set ? rows->first : 0, end = set ? rows->count : rows->first;
    uint32_t *list = ast_allocate(end - first, sizeof *list);
    grouping g = {.rows = rows, .kernels = kernels};
    for (size_t i = first; i < end && list; i++)
        if (rows->same_as[i] == i)
            list[order->count++] = (uint32_t)i;
    order->cells = order->count / CELL_ROWS < MOST_CELLS ? order->count / CELL_ROWS : MOST_CELLS;
    order->cells = order->cells > 0 && rows->dimension > AST_SMALL ? order->cells : 1;
    bool ready = list && find_cells(order, &g, pool, list);
    ast_mean_table_free(&g.table);
    ast_free_all(list, g.cell, g.buffers, g.scratch);
    return ready;
}

void ast_near_order_free(ast_near_order *order) {
    ast_free_all(order->rows, order->starts);
    *order = (ast_near_order){0};
}

/* ---- Blocks of a cell -------------------------------------------------------------------------------------------- */

static size_t widest_axis(const float *heads, size_t width, const uint32_t *order, size_t n) {
    float sums[AST_MOST_AXES] = {0}, squares[AST_MOST_AXES] = {0}, most = -1;
    size_t widest = 0;
    for (size_t i = 0; i < n; i++) {
        const float *head = heads + order[i] * width;
        for (size_t d = 0; d < width; d++) {
            sums[d] += head[d];
            squares[d] += head[d] * head[d];
        }
    }
    for (size_t d = 0; d < width; d++) {
        float spread = squares[d] - sums[d] * sums[d] / (float)n;
        widest = spread > most ? d : widest;
        most = spread > most ? spread : most;
    }
    return widest;
}

static void swap(uint32_t *a, uint32_t *b) {
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* The k rows with the smallest keys come first (quickselect, three parts). */
static void select_smallest(const float *keys, size_t width, uint32_t *order, size_t n, size_t k) {
    size_t low = 0, high = n;
    while (high - low > 1) {
        float pivot = keys[order[low + (high - low) / 2] * width];
        size_t less = low, at = low, more = high;
        while (at < more) {
            float key = keys[order[at] * width];
            if (key < pivot)
                swap(order + less++, order + at++);
            else if (key > pivot)
                swap(order + at, order + --more);
            else
                at++;
        }
        if (k >= less && k <= more)
            return;
        if (k < less)
            high = less;
        else
            low = more;
    }
}

void ast_near_split(const float *heads, size_t width, uint32_t *order, size_t n) {
    while (n > AST_NEAR_BLOCK) {
        size_t half = (n + AST_NEAR_BLOCK - 1) / AST_NEAR_BLOCK / 2 * AST_NEAR_BLOCK;
        size_t axis = widest_axis(heads, width, order, n);
        select_smallest(heads + axis, width, order, n, half);
        ast_near_split(heads, width, order, half);
        order += half;
        n -= half;
    }
}
