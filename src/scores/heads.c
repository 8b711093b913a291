/* SPDX-License-Identifier: MIT
 *
 * Heads and tails of points and means.
 *
 * Let V be the axes as they are in memory, with |V'V - 1| <= skew, Q an orthonormal basis of the same space and
 * h = V'x the exact head. Then |Q'x|^2 >= |h|^2 / (1 + skew), and two heads' product differs from that along Q by at
 * most skew. A head is computed in double and rounded once, so that each coordinate, and thus the length, is off by a
 * factor of 1 +- 2^-23 at most. Rows and means are unit vectors up to AST_UNIT_TOLERANCE. */
#include "heads.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

#define TRIO 3  /* rows that a kernel projects together */
#define SOME 24 /* rows that fit the cache, a multiple of it */

/* Some rows at a time, which stay in the cache while all axes go by. */
static void project_some(const ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n,
                         size_t width, float *to) {
    double out[TRIO * AST_PANEL];
    for (size_t p = 0; p < width / AST_PANEL; p++)
        for (size_t i = 0; i < n; i += TRIO) {
            const float *three[TRIO] = {rows[i], rows[i + 1 < n ? i + 1 : i], rows[i + 2 < n ? i + 2 : i]};
            kernels->heads.project(three, axes->panels + p * axes->dimension * AST_PANEL, axes->dimension, out);
            for (size_t r = 0; r < TRIO && i + r < n; r++)
                for (size_t j = 0; j < AST_PANEL; j++)
                    to[(i + r) * width + p * AST_PANEL + j] = (float)out[r * AST_PANEL + j];
        }
}

void ast_heads_project(const ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n,
                       size_t width, float *to) {
    for (size_t i = 0; i < n; i += SOME)
        project_some(axes, kernels, rows + i, n - i < SOME ? n - i : SOME, width, to + i * width);
}

float ast_tail_length(const ast_basis *axes, const float *head, size_t width) {
    double part[4] = {0};
    for (size_t j = 0; j < width; j += 4)
        for (size_t lane = 0; lane < 4; lane++)
            part[lane] += (double)head[j + lane] * (double)head[j + lane];
    double inside = (part[0] + part[1] + part[2] + part[3]) * (1 - 0x1p-21) / (1 + axes->skew);
    double outside = 1 + 2 * AST_UNIT_TOLERANCE - inside;
    return outside > 0 ? (float)(sqrt(outside) * (1 + 0x1p-22)) : 0;
}

void ast_mean_heads_free(struct ast_mean_heads *h) {
    if (!h)
        return;
    ast_table_free(&h->panels);
    ast_free_all(h->rows, h->means, h->tails[0], h->tails[1], h);
}

/* Room for the means of a table; those that are there stay. */
static bool reserve(struct ast_mean_heads *h, const ast_heads *heads, size_t needed) {
    size_t room = needed < 2 * h->capacity ? 2 * h->capacity : (needed + AST_PANEL) / AST_PANEL * AST_PANEL;
    if (needed <= h->capacity)
        return true;
    bool ready = ast_grow_array(&h->rows, h->count, room, heads->second * sizeof *h->rows) &&
                 ast_grow_array(&h->means, h->count, room, heads->axes.dimension * sizeof *h->means) &&
                 ast_grow_array(&h->tails[0], h->count, room, sizeof *h->tails[0]) &&
                 ast_grow_array(&h->tails[1], h->count, room, sizeof *h->tails[1]);
    h->capacity = ready ? room : h->capacity;
    return ready;
}

static void take_mean(const ast_table *table, size_t k, float *to) {
    const float *column = table->means + k / AST_PANEL * AST_PANEL * table->dimension + k % AST_PANEL;
    for (size_t d = 0; d < table->dimension; d++)
        to[d] = column[d * AST_PANEL];
}

/* Takes in the means from number h->count on, as many as are projected together. */
static bool take_some(struct ast_mean_heads *h, const ast_heads *heads, const ast_kernels *kernels,
                      const ast_table *table) {
    const float *rows[SOME];
    size_t first = h->count, n = table->count - first < SOME ? table->count - first : SOME, width = heads->second;
    for (size_t r = 0; r < n; r++) {
        rows[r] = h->means + (first + r) * table->dimension;
        take_mean(table, first + r, h->means + (first + r) * table->dimension);
    }
    ast_heads_project(&heads->axes, kernels, rows, n, width, h->rows + first * width);
    for (size_t k = first; k < first + n; k++) {
        const float *head = h->rows + k * width;
        if (!ast_table_append(&h->panels, head, (int32_t)k))
            return false;
        h->tails[0][k] = ast_tail_length(&heads->axes, head, h->width);
        h->tails[1][k] = ast_tail_length(&heads->axes, head, width);
        h->count++;
        if (table->ids[k] == AST_NOBODY)
            ast_mean_heads_vacate(h, k);
    }
    return true;
}

/* Heads for other axes begin anew, and so do those of a table that was cleared. */
static void renew(struct ast_mean_heads *h, const ast_heads *heads, bool axial) {
    if (h->version != heads->version) {
        ast_table_free(&h->panels);
        ast_free_all(h->rows, h->means, h->tails[0], h->tails[1]);
        *h = (struct ast_mean_heads){.version = heads->version};
    }
    if (h->count == 0)
        ast_table_clear(&h->panels, heads->second, axial);
    for (size_t k = 0; h->width != heads->first && k < h->count; k++)
        h->tails[0][k] = h->panels.ids[k] == AST_NOBODY
                             ? 0
                             : ast_tail_length(&heads->axes, h->rows + k * heads->second, heads->first);
    h->width = heads->first;
}

bool ast_mean_heads_sync(const ast_heads *heads, const ast_kernels *kernels, ast_table *table) {
    if (!table->heads)
        table->heads = ast_allocate_zero(1, sizeof *table->heads);
    struct ast_mean_heads *h = table->heads;
    if (!h)
        return false;
    if (h->version == heads->version && h->width == heads->first && h->count == table->count)
        return true; /* several threads ask at once, where the table is theirs together */
    renew(h, heads, table->axial);
    bool ready = reserve(h, heads, table->count);
    while (ready && h->count < table->count)
        ready = take_some(h, heads, kernels, table);
    for (size_t k = h->count; ready && k % AST_PANEL; k++) /* unused columns of the last panel */
        h->tails[0][k] = h->tails[1][k] = 0;
    if (!ready)
        h->count = 0;
    return ready;
}

void ast_mean_heads_forget(struct ast_mean_heads *h, size_t k) {
    if (k >= h->count)
        return;
    h->count = h->panels.count = k / AST_PANEL * AST_PANEL; /* panels are filled from their first column */
}

void ast_mean_heads_vacate(struct ast_mean_heads *h, size_t k) {
    if (k >= h->count)
        return;
    ast_table_vacate(&h->panels, k);
    h->tails[0][k] = h->tails[1][k] = 0;
}

void ast_heads_free(ast_heads *h) {
    ast_basis_free(&h->axes);
    ast_free_all(h->kept.rows, h->kept.versions);
    *h = (ast_heads){0};
}
