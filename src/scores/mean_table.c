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

/* Replaces the arrays by new ones. */
static bool allocate(ast_mean_table *table, size_t capacity) {
    table->capacity = 0;
    return ast_ensure_arrays(&table->capacity, capacity, AST_REQUEST(table->ids, capacity),
                             AST_REQUEST(table->means, capacity * table->dimension),
                             AST_REQUEST(table->bias, capacity));
}

/* The pitch of a column is the capacity, so the columns of a small table move when it grows. */
static bool reserve(ast_mean_table *table) {
    if (table->count < table->capacity)
        return true;
    size_t capacity = table->capacity ? 2 * table->capacity : AST_PANEL, dimension = table->dimension;
    ast_mean_table old = *table;
    table->ids = NULL;
    table->means = table->bias = NULL;
    if (!allocate(table, capacity)) {
        *table = old;
        return false;
    }
    if (old.count) { /* the table is full: every column is in use */
        size_t columns = dimension <= AST_SMALL ? dimension : 1, length = old.capacity * dimension / columns;
        memcpy(table->ids, old.ids, old.count * sizeof *old.ids);
        memcpy(table->bias, old.bias, old.count * sizeof *old.bias);
        for (size_t d = 0; d < columns; d++)
            memcpy(table->means + d * capacity, old.means + d * length, length * sizeof *old.means);
    }
    ast_free_all(old.ids, old.means, old.bias);
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

static float *column_of(const ast_mean_table *table, size_t k) {
    return table->means + k / AST_PANEL * AST_PANEL * table->dimension + k % AST_PANEL;
}

void ast_mean_table_read(const ast_mean_table *table, size_t k, float *mean) {
    assert(table->dimension > AST_SMALL && k < table->count);
    const float *column = column_of(table, k);
    for (size_t d = 0; d < table->dimension; d++)
        mean[d] = column[d * AST_PANEL];
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
    if (table->capacity < used && !allocate(table, used))
        return false;
    if (used) {
        memcpy(table->ids, from->ids, used * sizeof *table->ids);
        memcpy(table->bias, from->bias, used * sizeof *table->bias);
        memcpy(table->means, from->means, used * from->dimension * sizeof *table->means);
    }
    table->count = from->count;
    return true;
}
