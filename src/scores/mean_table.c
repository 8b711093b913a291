/* SPDX-License-Identifier: MIT */
#include "mean_table.h"

#include "heads.h"
#include "memory.h"

#include <assert.h>
#include <string.h>

void ast_mean_table_clear(ast_mean_table *table, size_t dimension, bool axial) {
    table->dimension = dimension;
    table->axial = axial;
    table->count = 0;
    if (table->heads)
        table->heads->packed.count = 0;
}

void ast_mean_table_free(ast_mean_table *table) {
    ast_free_all(table->ids, table->means, table->bias);
    ast_mean_heads_free(table->heads);
    *table = (ast_mean_table){0};
}

/* The pitch of a column is the capacity, so the columns of a small table move when it grows. */
static bool reserve(ast_mean_table *table) {
    if (table->count < table->capacity)
        return true;
    size_t capacity = table->capacity ? 2 * table->capacity : AST_PANEL, dimension = table->dimension;
    int32_t *ids = ast_allocate(capacity, sizeof *ids);
    float *means = ast_allocate(capacity * dimension, sizeof *means);
    float *bias = ast_allocate(capacity, sizeof *bias);
    if (!ids || !means || !bias) {
        ast_free_all(ids, means, bias);
        return false;
    }
    if (table->count) { /* the table is full: every column is in use */
        memcpy(ids, table->ids, table->count * sizeof *ids);
        memcpy(bias, table->bias, table->count * sizeof *bias);
    }
    if (dimension <= AST_SMALL)
        for (size_t d = 0; d < dimension && table->count; d++)
            memcpy(means + d * capacity, table->means + d * table->capacity, table->count * sizeof *means);
    else if (table->count)
        memcpy(means, table->means, table->capacity * dimension * sizeof *means);
    size_t count = table->count;
    ast_free_all(table->ids, table->means, table->bias);
    *table = (ast_mean_table){dimension, count, capacity, ids, means, bias, table->axial, table->heads};
    return true;
}

static void open_panel(ast_mean_table *table) {
    size_t k = table->count;
    memset(table->means + k * table->dimension, 0, AST_PANEL * table->dimension * sizeof *table->means);
    for (size_t j = 0; j < AST_PANEL; j++) {
        table->bias[k + j] = AST_NO_SCORE;
        table->ids[k + j] = AST_NOBODY;
    }
}

bool ast_mean_table_append(ast_mean_table *table, const float *mean, int32_t id) {
    if (!reserve(table))
        return false;
    size_t k = table->count, dimension = table->dimension;
    assert(k < table->capacity && table->capacity % AST_PANEL == 0);
    if (dimension <= AST_SMALL) {
        for (size_t d = 0; d < dimension; d++)
            table->means[d * table->capacity + k] = mean[d];
    } else {
        if (k % AST_PANEL == 0)
            open_panel(table);
        ast_mean_table_replace(table, k, mean);
        table->bias[k] = 0;
    }
    table->ids[k] = id;
    table->count = k + 1;
    return true;
}

static float *column_of(ast_mean_table *table, size_t k) {
    return table->means + k / AST_PANEL * AST_PANEL * table->dimension + k % AST_PANEL;
}

void ast_mean_table_replace(ast_mean_table *table, size_t k, const float *mean) {
    assert(table->dimension > AST_SMALL && k < table->capacity);
    float *column = column_of(table, k);
    for (size_t d = 0; d < table->dimension; d++)
        column[d * AST_PANEL] = mean[d];
    if (table->heads)
        ast_mean_heads_invalidate_from(table->heads, k);
}

void ast_mean_table_clear_entry(ast_mean_table *table, size_t k) {
    assert(table->dimension > AST_SMALL && k < table->count);
    float *column = column_of(table, k);
    for (size_t d = 0; d < table->dimension; d++)
        column[d * AST_PANEL] = 0;
    table->bias[k] = AST_NO_SCORE;
    table->ids[k] = AST_NOBODY;
    if (table->heads)
        ast_mean_heads_clear_entry(table->heads, k);
}

bool ast_mean_table_copy(ast_mean_table *table, const ast_mean_table *from) {
    assert(from->dimension > AST_SMALL && from->count <= from->capacity);
    size_t used = (from->count + AST_PANEL - 1) / AST_PANEL * AST_PANEL;
    ast_mean_table_clear(table, from->dimension, from->axial);
    if (table->capacity < used) {
        ast_mean_table_free(table);
        *table = (ast_mean_table){.dimension = from->dimension, .capacity = used, .axial = from->axial};
        table->ids = ast_allocate(used, sizeof *table->ids);
        table->means = ast_allocate(used * from->dimension, sizeof *table->means);
        table->bias = ast_allocate(used, sizeof *table->bias);
        if (!table->ids || !table->means || !table->bias) {
            ast_mean_table_free(table);
            return false;
        }
    }
    if (used) {
        memcpy(table->ids, from->ids, used * sizeof *table->ids);
        memcpy(table->bias, from->bias, used * sizeof *table->bias);
        memcpy(table->means, from->means, used * from->dimension * sizeof *table->means);
    }
    table->count = from->count;
    return true;
}
