/* SPDX-License-Identifier: MIT
 *
 * The points that tune looks at: rows of the caller at equal distances in the order by content, so that copies of a row
 * are in the sample as often as among all rows and permuted rows give the same sample. */
#include "tune_call.h"

#include "content.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the sample: fewer where they are long, since the time goes with the numbers in it. */
#define SAMPLE 4000
#define LEAST_SAMPLE 500
#define MOST_NUMBERS ((size_t)1 << 20)
#define LARGER_NUMBERS ((size_t)1 << 23) /* of the larger sample: some 20,000 embeddings */
#define MOST_MEMORY ((size_t)1 << 25)    /* numbers that even LEAST_SAMPLE rows may not exceed */

void ast_tune_set_free(ast_tune_set *set) {
    ast_free_all(set->rows, set->weights, set->leaves, set->joins);
    *set = (ast_tune_set){0};
}

bool ast_tune_set_open(ast_tune_set *set, size_t count, size_t dimension, bool weighted) {
    set->rows = ast_allocate(count * dimension, sizeof *set->rows);
    set->weights = weighted ? ast_allocate(count, sizeof *set->weights) : NULL;
    set->points = ast_points_f4(set->rows, count, dimension);
    set->points.weights = set->weights;
    return set->rows && (set->weights || !weighted);
}

/* ---- The sample -------------------------------------------------------------------------------------------------- */

/* The rows that take part come first in the order by content. Of the others the missing ones are counted. */
static ast_status count_present(ast_tuning *t, const uint32_t *order, float *row) {
    const ast_points *p = t->points;
    size_t present = p->count;
    for (; present > 0; present--) {
        size_t r = order[present - 1];
        ast_row_kind kind = ast_read_row(p, r, row);
        if (kind == AST_ROW_INFINITE)
            return ast_fail_infinite(t->fault, r + 1);
        if (kind == AST_ROW_MISSING)
            t->report->missing++;
        else if ((!p->weights || p->weights[r] > 0) && !(p->late && p->late[r]))
            break;
        if (ast_pool_poll(t->context->pool))
            return ast_fail_cancelled(t->fault);
    }
    t->present = present;
    return present ? AST_OK
                   : ast_fail(t->fault, AST_BAD_DATA, "there is no usable row: every one is zero or holds a NaN");
}

static size_t sample_size(size_t present, size_t dimension) {
    size_t least = MOST_MEMORY / dimension, most = MOST_NUMBERS / dimension;
    least = least < LEAST_SAMPLE ? least : LEAST_SAMPLE;
    most = most > SAMPLE ? SAMPLE : most < least ? least : most;
    return present < most ? present : most;
}

static ast_status gather(ast_tuning *t, const uint32_t *order, size_t count, ast_tune_set *set) {
    const ast_points *p = t->points;
    size_t d = p->dimension;
    if (!ast_tune_set_open(set, count, d, p->weights != NULL))
        return ast_fail_memory(t->fault);
    for (size_t i = 0; i < count; i++) {
        size_t r = order[i * t->present / count];
        ast_read_row(p, r, set->rows + i * d);
        if (t->options->axial && ast_is_noncanonical(set->rows + i * d, d))
            ast_negate(set->rows + i * d, d);
        if (set->weights)
            set->weights[i] = p->weights[r];
    }
    return AST_OK;
}

/* Allocates the order; free it in any case. */
static ast_status sort_rows(ast_tuning *t, uint32_t **order) {
    const ast_points *p = t->points;
    *order = ast_allocate(p->count, sizeof **order);
    return *order ? ast_order_by_content(p, p->weights, t->options->axial != 0, AST_TUNE_SEED, t->context->pool, *order,
                                         t->fault)
                  : ast_fail_memory(t->fault);
}

ast_status ast_tune_open_sample(ast_tuning *t) {
    uint32_t *order = NULL;
    float *row = ast_allocate(t->points->dimension, sizeof *row);
    ast_status status = row ? sort_rows(t, &order) : ast_fail_memory(t->fault);
    if (status == AST_OK)
        status = count_present(t, order, row);
    if (status == AST_OK)
        status = gather(t, order, sample_size(t->present, t->points->dimension), &t->sample);
    if (status == AST_OK)
        t->report->points = t->sample.points.count;
    if (status == AST_OK)
        status = ast_tune_keep_sparse_rows(t);
    if (status == AST_OK)
        status = ast_tune_reduce_dimension(t, &t->sample);
    ast_free(order);
    ast_free(row);
    return status;
}

ast_status ast_tune_open_larger(ast_tuning *t, ast_tune_set *set) {
    uint32_t *order = NULL;
    size_t most = LARGER_NUMBERS / t->points->dimension;
    ast_status status = sort_rows(t, &order);
    if (status == AST_OK)
        status = gather(t, order, t->present < most ? t->present : most, set);
    ast_free(order);
    return status;
}
