/* SPDX-License-Identifier: MIT
 *
 * Chooses the table of kernels for this processor. Also plain C in double: exact scores, which define the results of
 * all tables, and the cosines of half angles between means. */
#include "tables.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The table of vector kernels that this processor can run, or NULL. */
static const ast_kernels *fastest(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &ast_kernels_avx2 : NULL;
#elif defined(__aarch64__)
    return &ast_kernels_neon;
#else
    return NULL;
#endif
}

const ast_kernels *ast_kernels_choose(const char *name) {
    const ast_kernels *fast = fastest();
    bool wanted = fast && (!name || !*name || strcmp(name, fast->name) == 0);
    return wanted ? fast : &ast_kernels_base;
}

double ast_exact_score(const float *x, const float *mu, size_t dimension) {
    double sum = 0;
    for (size_t d = 0; d < dimension; d++)
        sum += (double)x[d] * (double)mu[d];
    return sum;
}

/* Sixteen means at a time; the components of each are added in order. */
void ast_exact_scores(const float *x, const ast_mean_table *table, double *scores) {
    bool small = table->dimension <= AST_SMALL;
    size_t pitch = small ? table->capacity : AST_PANEL;
    for (size_t k = 0; k < table->count; k += AST_PANEL) {
        const float *means = table->means + (small ? k : k * table->dimension);
        double sum[AST_PANEL] = {0};
        for (size_t d = 0; d < table->dimension; d++)
            for (size_t j = 0; j < AST_PANEL; j++)
                sum[j] += (double)x[d] * (double)means[d * pitch + j];
        memcpy(scores + k, sum, sizeof sum);
    }
    for (size_t k = 0; k < table->count && table->axial; k++)
        scores[k] = fabs(scores[k]);
}

#define LOOSE 0x1p-18 /* means and points are unit vectors to 2^-22, float scores are right to 2^-21 */

void ast_half_angle_cosines(const ast_mean_table *table, uint32_t others, float *cosines) {
    assert(table->dimension <= AST_SMALL && table->count <= AST_HALF_ANGLE_MEANS);
    float mean[AST_SMALL];
    for (size_t k = 0; k < table->count; k++) {
        double nearest = -1, scores[AST_HALF_ANGLE_MEANS];
        for (size_t d = 0; d < table->dimension; d++)
            mean[d] = table->means[d * table->capacity + k];
        ast_exact_scores(mean, table, scores);
        for (size_t j = 0; j < table->count; j++)
            nearest = j != k && others >> (table->ids[j] & 31) & 1 && scores[j] > nearest ? scores[j] : nearest;
        double sum = 1 + nearest + LOOSE;
        cosines[k] = (float)((sum > 0 ? sqrt(sum / 2) : 0) + LOOSE) + 0x1p-23f;
    }
}
