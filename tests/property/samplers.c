/* SPDX-License-Identifier: MIT
 *
 * The samplers are right, not only running: a sweep draws what the definition draws with the same random numbers, the
 * chain without data is the prior, and a chain that draws the data too (Geweke 2004) is the joint distribution. */
#include "gibbs.h"
#include "reference/harness.h"
#include "reference/mixture.h"
#include "vmf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ast_options sampler_options(ast_method method, size_t clusters) {
    ast_options options;
    ast_options_init(&options);
    options.method = method;
    options.clusters = clusters;
    return options;
}

static const char *name_of(ast_method method) {
    return method == AST_FSD ? "fsd" : "crp";
}

/* ---- Averages of a chain --------------------------------------------------------------------------------------- */

enum { BATCHES = 40 };

/* The mean of a series and its standard error, from the means of batches, which depend little on each other. */
typedef struct series {
    double batch[BATCHES];
    size_t length, count;
} series;

static void add(series *s, double value) {
    s->batch[s->count++ * BATCHES / s->length] += value * BATCHES / (double)s->length;
}

static double mean_of(const series *s, double *error) {
    double mean = 0, squares = 0;
    for (int b = 0; b < BATCHES; b++)
        mean += s->batch[b] / BATCHES;
    for (int b = 0; b < BATCHES; b++)
        squares += (s->batch[b] - mean) * (s->batch[b] - mean);
    *error = sqrt(squares / BATCHES / (BATCHES - 1));
    return mean;
}

/* ---- Clusters that are there ----------------------------------------------------------------------------------- */

static void check_three(ast_method method, double kappa, const float *x, const int32_t *truth, const float *means,
                        size_t count) {
    int32_t *labels = ref_take(count, sizeof *labels);
    ast_points points = ast_points_f4(x, count, 3);
    ast_report report;
    ast_agreement agreement;
    size_t clusters, large = 0;
    ast_options options = sampler_options(method, method == AST_FSD ? 12 : 0);
    options.concentration = 0.5;
    options.kappa = kappa;
    options.max_iterations = 2000;
    ast_context *context = ref_context("avx2", 2);
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    const ast_cluster_info *info = ast_clusters(context, &clusters);
    for (size_t k = 0; k < clusters; k++) {
        double best = -1;
        if (info[k].size < count / 20)
            continue;
        large++;
        for (size_t t = 0; t < 3; t++)
            best = fmax(best, ref_score(info[k].mean, means + t * 3, 3));
        if (best < cos(2 * M_PI / 180) || fabs(info[k].kappa / 100 - 1) > 0.25)
            fail_msg("%s: a cluster of %zu, cosine %g to the nearest truth, kappa %g, not 100", name_of(method),
                     info[k].size, best, info[k].kappa);
    }
    assert_int_equal(ast_compare(context, labels, truth, count, &agreement), AST_OK);
    if (large != 3 || agreement.nmi < 0.97)
        fail_msg("%s, kappa %g: %zu clusters, %zu of them large, NMI %g", name_of(method), kappa, clusters, large,
                 agreement.nmi);
    free(labels);
}

static void three_clusters_are_recovered(void **state) {
    (void)state;
    enum { N = 900 };
    float x[N * 3], means[9];
    int32_t truth[N];
    ast_mixture mixture = {.points = N, .dimension = 3, .clusters = 3, .kappa = 100, .separation = 60, .seed = 5};
    assert_int_equal(ast_sample_mixture(ref_context("avx2", 2), &mixture, x, truth, means), AST_OK);
    for (int method = AST_FSD; method <= AST_CRP; method++) {
        check_three((ast_method)method, 100, x, truth, means, N);
        check_three((ast_method)method, NAN, x, truth, means, N);
    }
}

/* ---- A sweep against the definition ---------------------------------------------------------------------------- */

/* A labelling with points and labels, as a sampler has it. */
typedef struct chain {
    ast_labelling l;
    ast_pool *pool;
    ast_components c;
    ast_sampler s;
    ast_options options;
    float *x;
    size_t count, dimension;
} chain;

/* Takes the points as they are now, and these labels of the components (or, before there are any, of their means). */
static void load(chain *c, const int32_t *labels) {
    ast_fault fault = {0};
    size_t missing;
    ast_points points = ast_points_f4(c->x, c->count, c->dimension);
    const ast_kernels *kernels = ast_kernels_choose("avx2");
    assert_int_equal(ast_labelling_load(&c->l, kernels, c->pool, &points, NULL, NULL, &missing, &fault), AST_OK);
    for (size_t i = 0; i < c->count; i++)
        if (c->l.labels[i] != AST_MISSING)
            c->l.labels[i] = labels[i];
    assert_int_equal(ast_components_finish(&c->c, &c->l, &fault), AST_OK);
}

static void chain_open(chain *c, ast_method method, size_t count, size_t dimension, size_t clusters, int threads) {
    memset(c, 0, sizeof *c);
    c->count = count;
    c->dimension = dimension;
    c->options = sampler_options(method, clusters);
    c->pool = ast_pool_open(threads);
    c->x = ref_take(count * dimension, sizeof *c->x);
    assert_true(ast_components_open(&c->c, clusters, dimension));
    for (size_t k = 0; k < clusters; k++) {
        c->c.kappas[k] = c->c.weights[k] = c->c.offsets[k] = 1;
        for (size_t d = 0; d < dimension; d++)
            c->c.means[k * dimension + d] = d == k % dimension;
    }
}

static void chain_start(chain *c, const int32_t *labels) {
    ast_fault fault = {0};
    load(c, labels);
    assert_int_equal(ast_sampler_open(&c->s, &c->l, &c->options, 0, &c->c, &fault), AST_OK);
}

static void chain_close(chain *c) {
    ast_sampler_close(&c->s);
    ast_components_free(&c->c);
    ast_labelling_free(&c->l);
    ast_pool_close(c->pool);
    free(c->x);
}

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
        chain c;
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

static void seat(restaurant *r, const chain *c, size_t i, uint64_t key, int32_t *label, double *margin) {
    double weight[401], total = 0, running = 0, most = -INFINITY, sum[8];
    const float *x = c->x + i * c->dimension;
    ast_random random;
    ast_random_seed(&random, key, i);
    int alone = --r->n[*label] == 0;
    double kappa = alone ? r->kappas[*label] : ast_draw_prior_kappa(&c->s.prior, &random);
    for (size_t k = 0; k < r->tables; k++)
        weight[k] = log_choice(r, k, x, c->dimension);
    weight[r->tables] = log(c->options.concentration) + ast_log_marginal(&c->s.prior, x, kappa);
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

static void check_seating(chain *c, restaurant *r, int32_t *labels, int sweep) {
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
        chain c;
        size_t count = seed % 4 == 0 ? 2100 : 150; /* several blocks, or one */
        float prior_mean[8] = {0.6f, 0.8f};
        chain_open(&c, AST_CRP, count, 2 + seed % 6, 2, 1 + (int)(seed % 3));
        int32_t *labels = ref_take(count, sizeof *labels);
        for (size_t i = 0; i < count; i++)
            labels[i] = (int32_t)(i % 2);
        ref_fill_clustered(c.x, count, c.dimension, 4, 0.2, 0.2, seed);
        c.options.seed = seed;
        c.options.concentration = 1 + (double)(seed % 3);
        c.options.kappa = seed % 3 == 0 ? 30 : NAN;
        c.options.prior_kappa = seed % 2 ? 1.5 : 0;
        c.options.prior_mean = seed % 2 ? prior_mean : NULL;
        chain_start(&c, labels);
        for (int sweep = 1; sweep <= 3; sweep++)
            check_seating(&c, r, labels, sweep);
        free(labels);
        chain_close(&c);
    }
    free(r);
}

/* ---- Without data, the prior ----------------------------------------------------------------------------------- */

static int note_clusters(const ast_progress *state, void *data) {
    if (state->iteration > 0)
        add(data, (double)state->clusters);
    return 0;
}

/* kappa = 0: the points say nothing. */
static void check_prior(ast_method method, size_t count, size_t clusters, double alpha, double expected) {
    const bool brief = REF_SLOWER > 4; /* a quarter of the draws, twice the error */
    series s = {.length = brief ? 2000 : 8000};
    float *x = ref_take(count * 3, sizeof *x);
    int32_t *labels = ref_take(count, sizeof *labels);
    ast_report report;
    ref_fill_clustered(x, count, 3, 5, 0.1, 0.3, 9);
    ast_points points = ast_points_f4(x, count, 3);
    ast_options options = sampler_options(method, clusters);
    options.kappa = 0;
    options.concentration = alpha;
    options.max_iterations = (int)s.length;
    options.progress = note_clusters;
    options.progress_data = &s;
    assert_int_equal(ast_cluster(ref_context("avx2", 1), &points, &options, labels, &report), AST_OK);
    double error, mean = mean_of(&s, &error);
    if (fabs(mean - expected) > 4.5 * error || error > (brief ? 0.06 : 0.03) * expected)
        fail_msg("%s, alpha %g: %g +- %g clusters, should be %g", name_of(method), alpha, mean, error, expected);
    free(x);
    free(labels);
}

static void without_data_the_number_of_clusters_is_the_priors(void **state) {
    (void)state;
    enum { N = 60, K = 10 };
    for (double alpha = 0.5; alpha <= 4.5; alpha += 2) {
        double seated = 0;
        for (int i = 0; i < N; i++)
            seated += alpha / (alpha + i);
        check_prior(AST_CRP, N, 0, alpha, seated);
        double share = alpha / K;
        double empty = exp(lgamma(alpha) + lgamma(alpha + N - share) - lgamma(alpha - share) - lgamma(alpha + N));
        check_prior(AST_FSD, N, K, alpha, K * (1 - empty));
    }
}

/* ---- Geweke ---------------------------------------------------------------------------------------------------- */

enum { FEW = 10, ROOMS = 4, STATISTICS = 7 };

static const char *const statistic_names[STATISTICS] = {"clusters",
                                                        "cosine of a mean",
                                                        "its square",
                                                        "log kappa of a cluster",
                                                        "a component of a point",
                                                        "resultant",
                                                        "cosine of points in one cluster"};

/* What two simulators of the same joint distribution must agree on. */
static void measure(const float *x, const int32_t *labels, const double *means, const double *kappas,
                    double out[STATISTICS]) {
    double sum[3] = {0}, pairs = 0;
    int clusters = 0;
    for (int i = 0; i < FEW; i++) {
        int first = 1;
        for (int j = 0; j < i; j++)
            first = first && labels[j] != labels[i];
        clusters += first;
        for (int d = 0; d < 3; d++)
            sum[d] += (double)x[i * 3 + d];
    }
    for (int i = 1; i < FEW; i++)
        pairs += labels[i] == labels[0] ? ref_score(x, x + i * 3, 3) : 0;
    const double *mean = means + labels[0] * 3;
    out[0] = clusters;
    out[1] = mean[0];
    out[2] = mean[0] * mean[0];
    out[3] = log(kappas[labels[0]]);
    out[4] = (double)x[3];
    out[5] = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    out[6] = pairs;
}

static void draw_points(ast_random *random, const int32_t *labels, const double *means, const double *kappas,
                        float *x) {
    double row[3];
    for (int i = 0; i < FEW; i++) {
        ast_vmf_sample(random, 3, means + labels[i] * 3, kappas[labels[i]], row);
        for (int d = 0; d < 3; d++)
            x[i * 3 + d] = (float)row[d];
    }
}

static int32_t draw_share(ast_random *random, const double *weight, int count) {
    double total = 0, at = 0;
    for (int k = 0; k < count; k++)
        total += weight[k];
    double mark = ast_random_uniform(random) * total;
    for (int k = 0; k < count; k++)
        if ((at += weight[k]) > mark)
            return k;
    return count - 1;
}

/* Labels from the prior: Polya's urn, of K colours or of as many as come. */
static void draw_labels(ast_random *random, ast_method method, double alpha, int32_t *labels) {
    double weight[FEW + 1];
    int tables = method == AST_FSD ? ROOMS : 0;
    for (int k = 0; k < tables; k++)
        weight[k] = alpha / ROOMS;
    for (int i = 0; i < FEW; i++) {
        int choices = method == AST_FSD ? ROOMS : tables + 1;
        if (method == AST_CRP)
            weight[tables] = alpha;
        labels[i] = draw_share(random, weight, choices);
        if (method == AST_CRP && labels[i] == tables)
            weight[tables++] = 0;
        weight[labels[i]]++;
    }
}

static void from_the_prior(chain *c, size_t draws, series *out) {
    ast_method method = c->options.method;
    double means[(FEW + 1) * 3], kappas[FEW + 1], value[STATISTICS], nothing[3] = {0};
    int32_t labels[FEW];
    float x[FEW * 3];
    ast_random random;
    ast_random_seed(&random, 77, method);
    for (size_t t = 0; t < draws; t++) {
        for (int k = 0; k <= FEW; k++) {
            kappas[k] = ast_draw_prior_kappa(&c->s.prior, &random);
            ast_draw_mean(&c->s.prior, &random, nothing, kappas[k], means + k * 3);
        }
        draw_labels(&random, method, c->options.concentration, labels);
        draw_points(&random, labels, means, kappas, x);
        measure(x, labels, means, kappas, value);
        for (int j = 0; j < STATISTICS; j++)
            add(&out[j], value[j]);
    }
}

static void from_the_chain(chain *c, size_t draws, series *out) {
    ast_fault fault = {0};
    double value[STATISTICS];
    int32_t labels[FEW];
    size_t changed;
    ast_random random;
    ast_random_seed(&random, 78, c->options.method);
    for (size_t t = 0; t < draws; t++) {
        memcpy(labels, c->l.labels, sizeof labels);
        draw_points(&random, labels, c->c.means, c->c.kappas, c->x);
        load(c, labels);
        ast_status status = c->options.method == AST_FSD ? ast_fsd_sweep(&c->s, &changed, &fault)
                                                         : ast_crp_sweep(&c->s, &changed, &fault);
        assert_int_equal(status, AST_OK);
        measure(c->x, c->l.labels, c->c.means, c->c.kappas, value);
        for (int j = 0; j < STATISTICS; j++)
            add(&out[j], value[j]);
    }
}

static void check_joint(ast_method method, double kappa, double prior_kappa) {
    chain c;
    series prior[STATISTICS] = {{{0}, 0, 0}}, successive[STATISTICS] = {{{0}, 0, 0}};
    size_t draws = 24000 / REF_SLOWER;
    float prior_mean[3] = {1, 0, 0};
    int32_t labels[FEW] = {0};
    chain_open(&c, method, FEW, 3, method == AST_FSD ? ROOMS : 1, 1);
    ref_fill_clustered(c.x, FEW, 3, 2, 0.3, 0, 3);
    c.options.kappa = kappa;
    c.options.kappa_median = 5;
    c.options.concentration = 1.5;
    c.options.prior_kappa = prior_kappa;
    c.options.prior_mean = prior_kappa > 0 ? prior_mean : NULL;
    chain_start(&c, labels);
    for (int j = 0; j < STATISTICS; j++)
        prior[j].length = successive[j].length = draws;
    from_the_prior(&c, draws, prior);
    from_the_chain(&c, draws, successive);
    for (int j = 0; j < STATISTICS; j++) {
        double error[2], mean[2] = {mean_of(&prior[j], &error[0]), mean_of(&successive[j], &error[1])};
        double away = (mean[1] - mean[0]) / (hypot(error[0], error[1]) + 1e-12);
        if (fabs(away) > 4.5)
            fail_msg("%s, kappa %g, tau_0 %g: %s is %g +- %g in the chain, %g +- %g under the prior", name_of(method),
                     kappa, prior_kappa, statistic_names[j], mean[1], error[1], mean[0], error[0]);
    }
    chain_close(&c);
}

static void joint_distribution_by_two_ways(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* too slow there for draws enough to tell; it has one thread */
#endif
    for (int method = AST_FSD; method <= AST_CRP; method++) {
        check_joint((ast_method)method, 8, 1.5);
        check_joint((ast_method)method, NAN, 1.5);
        check_joint((ast_method)method, NAN, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_clusters_are_recovered),
        cmocka_unit_test(fsd_draws_the_definition),
        cmocka_unit_test(crp_draws_the_definition),
        cmocka_unit_test(without_data_the_number_of_clusters_is_the_priors),
        cmocka_unit_test(joint_distribution_by_two_ways),
    };
    return cmocka_run_group_tests_name("samplers", tests, NULL, ref_contexts_end);
}
