/* SPDX-License-Identifier: MIT
 *
 * Plain C: gathering at random positions gains nothing from vectors over the entries. The kernel that dominates, all
 * means at once, is in sparse.inc. */
#include "sparse.h"

#include <string.h>

double ast_sparse_exact_score(const ast_sparse_row *row, const float *mean) {
    double sum = 0;
    for (size_t e = 0; e < row->count; e++)
        sum += (double)row->values[e] * (double)mean[row->columns[e]];
    return sum;
}

void ast_sparse_exact_scores(const ast_sparse_row *row, const ast_mean_table *table, double *scores) {
    for (size_t k = 0; k < table->count; k += AST_PANEL) {
        const float *panel = table->means + k * table->dimension;
        double sum[AST_PANEL] = {0};
        for (size_t e = 0; e < row->count; e++) {
            const float *means = panel + (size_t)row->columns[e] * AST_PANEL;
            for (size_t j = 0; j < AST_PANEL; j++)
                sum[j] += (double)row->values[e] * (double)means[j];
        }
        memcpy(scores + k, sum, sizeof sum);
    }
}

double ast_sparse_reproducible_dot(const ast_sparse_row *row, const float *mean) {
    double part[8] = {0}, sum = 0;
    for (size_t e = 0; e < row->count; e++)
        part[row->columns[e] % 8] += (double)row->values[e] * (double)mean[row->columns[e]];
    for (size_t j = 0; j < 8; j++)
        sum += part[j];
    return sum;
}

float ast_sparse_dot(const ast_sparse_row *row, const float *mean) {
    float even = 0, odd = 0;
    size_t e = 0;
    for (; e + 2 <= row->count; e += 2) {
        even += row->values[e] * mean[row->columns[e]];
        odd += row->values[e + 1] * mean[row->columns[e + 1]];
    }
    if (e < row->count)
        even += row->values[e] * mean[row->columns[e]];
    return even + odd;
}
