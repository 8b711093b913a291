/* SPDX-License-Identifier: MIT */
#include "late.h"

#include "rowset.h"

#include <math.h>

#define ROWS 8192 /* per task */

/* The index of the mean; -1 if none fits. */
static ptrdiff_t nearest(const ast_late *late, const float *row) {
    size_t dimension = late->points->dimension;
    ptrdiff_t found = -1;
    double best = late->limit;
    for (size_t k = 0; k < late->count; k++) {
        if (late->names && late->names[k] < 0)
            continue;
        double score = ast_exact_score(row, late->means + k * dimension, dimension);
        score = late->axial ? fabs(score) : score;
        if (score > best || (score == best && found < 0)) {
            best = score;
            found = (ptrdiff_t)k;
        }
    }
    return found;
}

/* Neighbouring rows mostly get the same label: those of a sequence are counted together. */
static void count_sequence(ast_late *late, ptrdiff_t mean, size_t length) {
    if (length > 0)
        atomic_fetch_add_explicit(mean < 0 ? &late->unlike : &late->counts[mean], length, memory_order_relaxed);
}

static void label_rows(void *data, size_t task, int worker) {
    ast_late *late = data;
    const ast_points *points = late->points;
    size_t first = task * ROWS, last = first + ROWS < points->count ? first + ROWS : points->count, length = 0;
    ptrdiff_t before = -1;
    float row[AST_MAX_DIMENSION];
    (void)worker;
    for (size_t i = first; i < last; i++) {
        if (!points->late[i] || ast_read_row(points, i, row) == AST_ROW_MISSING)
            continue;
        ptrdiff_t mean = nearest(late, row);
        late->labels[i] = mean < 0 ? -1 : late->names ? late->names[mean] : (int32_t)mean;
        if (mean != before) {
            count_sequence(late, before, length);
            before = mean;
            length = 0;
        }
        length++;
    }
    count_sequence(late, before, length);
}

void ast_label_late(ast_late *late, ast_pool *pool) {
    ast_pool_run(pool, (late->points->count + ROWS - 1) / ROWS, label_rows, late);
}
