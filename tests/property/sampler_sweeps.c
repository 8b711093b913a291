/* SPDX-License-Identifier: MIT
 *
 * A sweep of the samplers draws what the definition draws with the same random numbers: every density in double and
 * from scratch, one point after the other. */
#include "reference/mixture.h"
#include "sampler_chain.h"
#include "vmf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The labels of the last sweep by the definition, in double, and how far the number drawn is from a change of mind. */
static int32_t draw_by_definition(const ref_mixture *m, const float *x, double uniform, double *margin) {
    double row[64], running = 0;
    ref_mixture_posterior(m, x, row);
    *margin = 1;
    int32_t label = -1;
    for (size_t k = 0; k < m->count; k++) {
        running += row[k];
        *margin = fmin(*margin, fabs(running - uniform));
        label = label < 0 && running > uniform ? (int32_t)k : label;
    }
    return label;
}

static void fsd_draws_the_definition(void **state) {
    (void)state;
    size_t close = 0, drawn = 0;
    for (uint64_t seed = 1; seed <= ref_case_count(40); seed++) {
        size_t dimension = seed % 3 == 0 ? 20 : 2 + seed % 4, clusters = 2 + seed % 9, count = 100 + 97 * (seed % 7);
        sampler_chain c;
        size_t changed;
        ast_fault fault = {0};
        chain_open(&c, AST_FSD, count, dimension, clusters, 1 + (int)(seed % 3));
        int32_t *labels = ref_take(count, sizeof *labels);
        for (size_t i = 0; i < count; i++)
            labels[i] = (int32_t)(i % clusters);
        ref_fill_clustered(c.x, count, dimension, clusters, 0.3, 0.2, seed);
        c.options.seed = seed;
        chain_start(&c, labels);
        for (int sweep = 1; sweep <= 3; sweep++) {
            assert_int_equal(ast_fsd_sweep(&c.s, &changed, &fault), AST_OK);
            ref_mixture m = {clusters, dimension, c.c.means, c.c.kappas, c.c.weights};
            uint64_t key = ast_sweep_key(seed, 0, sweep, 3);
            for (size_t i = 0; i < count; i++, drawn++) {
                double margin, u = (double)(ast_mix64(key + i * 0x9e3779b97f4a7c15u) >> 40) * 0x1p-24;
                int32_t label = draw_by_definition(&m, c.x + i * dimension, u, &margin);
                close += margin <= 2e-6;
                if (margin > 2e-6 && c.l.labels[i] != label)
                    fail_msg("seed %d, sweep %d, point %zu: label %d, should be %d", (int)seed, sweep, i, c.l.labels[i],
                             label);
            }
        }
        free(labels);
        chain_close(&c);
    }
    assert_true(close < drawn / 100);
}

/* One sweep of the restaurant, one guest after the other, every density from scratch. */
typedef struct restaurant {
    double means[400][8], kappas[400];
    int64_t n[400];
    size_t tables;
} restaurant;

static double log_choice(const restaurant *r, size_t k, const float *x, size_t dimension) {
    double sum = 0;
    for (size_t d = 0; d < dimension; d++)
        sum += r->means[k][d] * (double)x[d];
    return r->n[k] > 0 ? log((double)r->n[k]) + ast_vmf_log_density(dimension, r->kappas[k], sum) : -INFINITY;
}

static void seat(restaurant *r, const sampler_chain *c, size_t i, uint64_t key, int32_t *label, double *margin) {
    double weight[401], total = 0, running = 0, most = -INFINITY, sum[8];
    const float *x = c->x + i * c->dimension;
    ast_random random;
    ast_random_seed(&random, key, i);
    int alone = --r->n[*label] == 0;
    double kappa = alone ? r->kappas[*label] : ast_draw_prior_kappa(&c->s.prior, &random);
    for (size_t k = 0; k < r->tables; k++)
        weight[k] = log_choice(r, k, x, c->dimension);
    weight[r->tables] = log(c->options.sampler.concentration) + ast_log_marginal(&c->s.prior, x, kappa);
    for (size_t k = 0; k <= r->tables; k++)
        most = fmax(most, weight[k]);
    for (size_t k = 0; k <= r->tables; k++)
        total += weight[k] = exp(weight[k] - most);
    double mark = ast_random_uniform(&random) * total;
    size_t chosen = SIZE_MAX;
    for (size_t k = 0; k <= r->tables; k++) {
        running += weight[k];
        *margin = fmin(*margin, fabs(running - mark) / total);
        chosen = chosen == SIZE_MAX && running > mark ? k : chosen;
    }
    if (chosen == r->tables) {
        for (size_t d = 0; d < c->dimension; d++)
            sum[d] = (double)x[d];
        ast_draw_mean(&c->s.prior, &random, sum, kappa, r->means[chosen]);
        r->kappas[chosen] = kappa;
        r->n[chosen] = 0;
        r->tables++;
    }
    r->n[chosen]++;
    *label = (int32_t)chosen;
}

static void check_seating(sampler_chain *c, restaurant *r, int32_t *labels, int sweep) {
    ast_fault fault = {0};
    size_t changed, rank[401], left = 0;
    double margin = 1;
    memset(r, 0, sizeof *r);
    r->tables = c->c.count;
    for (size_t k = 0; k < r->tables; k++) {
        r->kappas[k] = c->c.kappas[k];
        memcpy(r->means[k], c->c.means + k * c->dimension, c->dimension * sizeof(double));
    }
    for (size_t i = 0; i < c->count; i++)
        r->n[labels[i] = c->l.labels[i]]++;
    uint64_t key = ast_sweep_key(c->options.seed, 0, sweep, 4);
    for (size_t i = 0; i < c->count; i++)
        seat(r, c, i, key, &labels[i], &margin);
    for (size_t k = 0; k < r->tables; k++)
        rank[k] = r->n[k] > 0 ? left++ : SIZE_MAX;
    assert_int_equal(ast_crp_sweep(&c->s, &changed, &fault), AST_OK);
    if (margin < 1e-12)
        return; /* rounding may decide */
    assert_int_equal(c->c.count, left);
    for (size_t i = 0; i < c->count; i++)
        if ((size_t)c->l.labels[i] != rank[labels[i]])
            fail_msg("seed %d, sweep %d: point %zu has label %d, should have %zu", (int)c->options.seed, sweep, i,
                     c->l.labels[i], rank[labels[i]]);
}

static void crp_draws_the_definition(void **state) {
    (void)state;
    restaurant *r = ref_take(1, sizeof *r);
    for (uint64_t seed = 1; seed <= ref_case_count(40); seed++) {
        sampler_chain c;
        size_t count = seed % 4 == 0 ? 2100 : 150; /* several blocks, or one */
        float prior_mean[8] = {0.6f, 0.8f};
        chain_open(&c, AST_CRP, count, 2 + seed % 6, 2, 1 + (int)(seed % 3));
        int32_t *labels = ref_take(count, sizeof *labels);
        for (size_t i = 0; i < count; i++)
            labels[i] = (int32_t)(i % 2);
        ref_fill_clustered(c.x, count, c.dimension, 4, 0.2, 0.2, seed);
        c.options.seed = seed;
        c.options.sampler.concentration = 1 + (double)(seed % 3);
        c.options.mixture.kappa = seed % 3 == 0 ? 30 : NAN;
        c.options.sampler.prior_kappa = seed % 2 ? 1.5 : 0;
        c.options.sampler.prior_mean = seed % 2 ? prior_mean : NULL;
        chain_start(&c, labels);
        for (int sweep = 1; sweep <= 3; sweep++)
            check_seating(&c, r, labels, sweep);
        free(labels);
        chain_close(&c);
    }
    free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fsd_draws_the_definition),
        cmocka_unit_test(crp_draws_the_definition),
    };
    return cmocka_run_group_tests_name("sampler_sweeps", tests, NULL, ref_contexts_end);
}
