/* SPDX-License-Identifier: MIT
 *
 * Sums of sparse points. They are not gathered by every thread for itself, which would take K x D numbers each: after
 * the pass the points whose label has changed take their entries from one sum and add them to another, all threads in
 * the same sums, by atomic additions. Integers: the order does not matter. Counts, weights and keys are a number a
 * cluster and stay with the workers (sums.c). */
#include "inside.h"

#include <math.h>

/* The point's part of a sum, as a whole number of units: what sum_row and add_weighted make of a component. */
static int64_t part_of(const ast_labelling *l, size_t i, float value) {
    return l->rows.weights ? llrint((double)value * (l->rows.weights[i] * l->clusters.unit)) : lrintf(value * 0x1p30f);
}

static void add_entries(const ast_labelling *l, size_t i, int32_t slot, int64_t sign) {
    ast_sparse_row row = ast_rowset_entries(&l->rows, i);
    int64_t *sum = l->clusters.sums + (size_t)slot * l->rows.dimension;
    bool alone = l->worker_count == 1;
    for (size_t e = 0; e < row.count; e++) {
        int64_t part = sign * part_of(l, i, row.values[e]);
        if (alone)
            sum[row.columns[e]] += part;
        else
            __atomic_fetch_add(&sum[row.columns[e]], part, __ATOMIC_RELAXED);
    }
}

void ast_sparse_sum_point(ast_labelling *l, size_t i) {
    int32_t from = l->summed.slots[i], to = l->labels[i];
    if (from == to || to < 0)
        return;
    if (from >= 0)
        add_entries(l, i, from, -1);
    add_entries(l, i, to, 1);
    l->summed.slots[i] = to;
}

static void sum_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    (void)worker;
    for (size_t i = chunk * l->rows.chunk; i < (chunk + 1) * l->rows.chunk; i++)
        ast_sparse_sum_point(l, i);
}

void ast_sparse_sum(ast_labelling *l) {
    ast_each_chunk(l, 0, l->rows.chunks, sum_chunk);
}
