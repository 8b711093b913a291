/* SPDX-License-Identifier: MIT
 *
 * The samplers are right, not only running: they find the clusters that are there, the chain without data is the prior,
 * and a chain that draws the data too (Geweke 2004) is the joint distribution. */
#include "sampler_chain.h"
#include "vmf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    ast_report report = {.size = sizeof report};
    ast_agreement agreement = {.size = sizeof agreement};
    size_t clusters, large = 0;
    ast_options options = sampler_options(method, method == AST_FSD ? 12 : 0);
    options.sampler.concentration = 0.5;
    options.mixture.kappa = kappa;
    options.max_iterations = 2000;
    ast_context *context = ref_context(REF_FAST, 2);
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    const ast_cluster_info *info = ast_clusters(context, &clusters);
    for (size_t k = 0; k < clusters; k++) {
        double best = -1;
        if (info[k].count < count / 20)
            continue;
        large++;
        for (size_t t = 0; t < 3; t++)
            best = fmax(best, ref_score(info[k].mean, means + t * 3, 3));
        if (best < cos(2 * M_PI / 180) || fabs(info[k].kappa / 100 - 1) > 0.25)
            fail_msg("%s: a cluster of %zu, cosine %g to the nearest truth, kappa %g, not 100", name_of(method),
                     info[k].count, best, info[k].kappa);
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
    ast_mixture mixture = {
        .size = sizeof mixture, .points = N, .dimension = 3, .clusters = 3, .kappa = 100, .separation = 60, .seed = 5};
    assert_int_equal(ast_sample_mixture(ref_context(REF_FAST, 2), &mixture, x, truth, means), AST_OK);
    for (int method = AST_FSD; method <= AST_CRP; method++) {
        check_three((ast_method)method, 100, x, truth, means, N);
        check_three((ast_method)method, NAN, x, truth, means, N);
    }
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
    ast_report report = {.size = sizeof report};
    ref_fill_clustered(x, count, 3, 5, 0.1, 0.3, 9);
    ast_points points = ast_points_f4(x, count, 3);
    ast_options options = sampler_options(method, clusters);
    options.mixture.kappa = 0;
    options.sampler.concentration = alpha;
    options.max_iterations = (int)s.length;
    options.progress = note_clusters;
    options.progress_data = &s;
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 1), &points, &options, labels, &report), AST_OK);
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

static void from_the_prior(sampler_chain *c, size_t draws, series *out) {
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
        draw_labels(&random, method, c->options.sampler.concentration, labels);
        draw_points(&random, labels, means, kappas, x);
        measure(x, labels, means, kappas, value);
        for (int j = 0; j < STATISTICS; j++)
            add(&out[j], value[j]);
    }
}

static void from_the_chain(sampler_chain *c, size_t draws, series *out) {
    ast_fault fault = {0};
    double value[STATISTICS];
    int32_t labels[FEW];
    size_t changed;
    ast_random random;
    ast_random_seed(&random, 78, c->options.method);
    for (size_t t = 0; t < draws; t++) {
        memcpy(labels, c->l.labels, sizeof labels);
        draw_points(&random, labels, c->c.means, c->c.kappas, c->x);
        chain_load(c, labels);
        ast_status status = c->options.method == AST_FSD ? ast_fsd_sweep(&c->s, &changed, &fault)
                                                         : ast_crp_sweep(&c->s, &changed, &fault);
        assert_int_equal(status, AST_OK);
        measure(c->x, c->l.labels, c->c.means, c->c.kappas, value);
        for (int j = 0; j < STATISTICS; j++)
            add(&out[j], value[j]);
    }
}

static void check_joint(ast_method method, double kappa, double prior_kappa) {
    sampler_chain c;
    series prior[STATISTICS] = {{{0}, 0, 0}}, successive[STATISTICS] = {{{0}, 0, 0}};
    size_t draws = 24000 / REF_SLOWER;
    float prior_mean[3] = {1, 0, 0};
    int32_t labels[FEW] = {0};
    chain_open(&c, method, FEW, 3, method == AST_FSD ? ROOMS : 1, 1);
    ref_fill_clustered(c.x, FEW, 3, 2, 0.3, 0, 3);
    c.options.mixture.kappa = kappa;
    c.options.sampler.kappa_median = 5;
    c.options.sampler.concentration = 1.5;
    c.options.sampler.prior_kappa = prior_kappa;
    c.options.sampler.prior_mean = prior_kappa > 0 ? prior_mean : NULL;
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
    for (int method = AST_FSD; method <= AST_CRP; method++) {
        check_joint((ast_method)method, 8, 1.5);
        check_joint((ast_method)method, NAN, 1.5);
        check_joint((ast_method)method, NAN, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_clusters_are_recovered),
        cmocka_unit_test(without_data_the_number_of_clusters_is_the_priors),
        cmocka_unit_test(joint_distribution_by_two_ways),
    };
    return cmocka_run_group_tests_name("samplers", tests, NULL, ref_contexts_end);
}
