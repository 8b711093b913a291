/* SPDX-License-Identifier: MIT
 *
 * The mixture by EM: every pass equals the slow reference, the likelihood never falls, known concentrations are found
 * again, and memberships say what the reference says. */
#include "reference/harness.h"
#include "reference/mixture.h"
#include "vmf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ast_options movmf_options(size_t clusters) {
    ast_options options;
    ast_options_init(&options);
    options.method = AST_MOVMF;
    options.clusters = clusters;
    return options;
}

static void expect_ok(ast_context *context, ast_status status) {
    if (status != AST_OK)
        fail_msg("status %d: %s", status, ast_message(context));
}

static void expect_close(const char *what, double got, double expected, double relative) {
    if (!(fabs(got - expected) <= relative * (1 + fabs(expected))))
        fail_msg("%s is %.17g, should be %.17g", what, got, expected);
}

/* ---- Against the reference ------------------------------------------------------------------------------------- */

/* A set with missing rows, and weights of which some are zero. */
typedef struct set {
    size_t count, dimension, clusters;
    float *x, *means;
    double *weights;
    ast_points points;
} set;

static void set_open(set *s, uint64_t seed) {
    ast_random random;
    ast_random_seed(&random, seed, 99);
    memset(s, 0, sizeof *s);
    s->dimension = 2 + (size_t)ast_random_below(&random, seed % 3 == 0 ? 60 : 4);
    s->clusters = 1 + (size_t)ast_random_below(&random, 9);
    s->count = 20 + (size_t)ast_random_below(&random, seed % 5 == 0 ? 3000 : 200);
    s->x = ref_take(s->count * s->dimension, sizeof *s->x);
    s->means = ref_take(s->clusters * s->dimension, sizeof *s->means);
    ref_fill_clustered(s->x, s->count, s->dimension, s->clusters, 0.2, 0.2, seed);
    memcpy(s->means, s->x, s->clusters * s->dimension * sizeof *s->means);
    for (size_t i = s->clusters; i < s->count; i += 7)
        s->x[i * s->dimension] = seed % 2 ? NAN : s->x[i * s->dimension];
    s->points = ast_points_f4(s->x, s->count, s->dimension);
    if (seed % 4 == 1) {
        s->weights = ref_take(s->count, sizeof *s->weights);
        for (size_t i = 0; i < s->count; i++)
            s->weights[i] = i < s->clusters ? 1 : (double)ast_random_below(&random, 5) / 2;
        s->points.weights = s->weights;
    }
}

static void set_close(set *s) {
    free(s->x);
    free(s->means);
    free(s->weights);
}

static void check_components(ast_context *context, const ref_mixture *m, uint64_t seed) {
    size_t count;
    const ast_cluster_info *info = ast_clusters(context, &count);
    assert_int_equal(count, m->count);
    for (size_t k = 0; k < count; k++) {
        double product = 0;
        for (size_t d = 0; d < m->dimension; d++)
            product += (double)info[k].mean[d] * m->means[k * m->dimension + d];
        if (fabs(info[k].share - m->weights[k]) > 1e-9 || fabs(info[k].kappa / m->kappas[k] - 1) > 1e-6 ||
            product < 1 - 1e-6)
            fail_msg("seed %d, component %zu: share %.15g kappa %.15g cosine %.9f, should be share %.15g kappa %.15g",
                     (int)seed, k, info[k].share, info[k].kappa, product, m->weights[k], m->kappas[k]);
    }
}

/* Two passes: start, E, M, E. */
static void check_two_passes(uint64_t seed, int hard, double kappa) {
    set s;
    set_open(&s, seed);
    ref_points points;
    ref_mixture m;
    ref_trace trace = {0};
    ast_report report = {.size = sizeof report};
    int32_t *labels = ref_take(s.count, sizeof *labels);
    double *memberships = ref_take(s.count * s.clusters, sizeof *memberships), likelihood[2];
    ref_points_read(&points, &s.points);
    ref_mixture_open(&m, s.clusters, s.dimension);
    ref_mixture_start(&m, &points, s.means, kappa);
    likelihood[0] = ref_mixture_expect(&m, &points, hard, memberships);
    ref_mixture_maximise(&m, &points, memberships, kappa);
    likelihood[1] = ref_mixture_expect(&m, &points, hard, memberships);
    ast_options options = movmf_options(0);
    options.start.by = AST_GIVEN;
    options.start.means = s.means;
    options.start.means_count = s.clusters;
    options.mixture.hard = hard;
    options.mixture.kappa = kappa;
    options.mixture.tolerance = 0;
    options.max_iterations = 2;
    options.progress = ref_trace_record;
    options.progress_data = &trace;
    ast_context *context = ref_context(seed % 2 ? REF_FAST : "base", 1 + (int)(seed % 3));
    expect_ok(context, ast_cluster(context, &s.points, &options, labels, &report));
    assert_int_equal(trace.count, 2);
    expect_close("the first likelihood", trace.passes[0].objective, likelihood[0], 1e-9);
    expect_close("the second likelihood", trace.passes[1].objective, likelihood[1], 1e-9);
    check_components(context, &m, seed);
    for (size_t i = 0; i < s.count && !hard; i++) /* a label is the best membership, or one as good */
        for (size_t k = 0; k < s.clusters && labels[i] >= 0 && points.weight[i] > 0; k++)
            assert_true(memberships[i * s.clusters + (size_t)labels[i]] > memberships[i * s.clusters + k] - 1e-6);
    ref_trace_free(&trace);
    ref_mixture_free(&m);
    ref_points_free(&points);
    free(memberships);
    free(labels);
    set_close(&s);
}

static void passes_equal_the_reference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(120); seed++)
        check_two_passes(seed, seed % 3 == 1, seed % 7 == 0 ? 20 : NAN);
}

/* ---- What must hold -------------------------------------------------------------------------------------------- */

static void likelihood_never_falls(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(60); seed++) {
        set s;
        ref_trace trace = {0};
        ast_report report = {.size = sizeof report};
        set_open(&s, seed);
        ast_options options = movmf_options(s.clusters + (size_t)(seed % 4)); /* also more than there are */
        options.mixture.hard = seed % 3 == 0;
        options.mixture.tolerance = 0;
        options.seed = seed;
        options.progress = ref_trace_record;
        options.progress_data = &trace;
        int32_t *labels = ref_take(s.count, sizeof *labels);
        ast_context *context = ref_context(REF_FAST, 2);
        expect_ok(context, ast_cluster(context, &s.points, &options, labels, &report));
        for (size_t t = 1; t < trace.count; t++)
            if (trace.passes[t].objective < trace.passes[t - 1].objective - 1e-9 * (double)s.count)
                fail_msg("seed %d: pass %zu brings the objective from %.15g to %.15g", (int)seed, t,
                         trace.passes[t - 1].objective, trace.passes[t].objective);
        assert_true(report.objective == trace.passes[trace.count - 1].objective);
        assert_true(options.mixture.hard || report.objective == report.log_likelihood);
        assert_true(!options.mixture.hard || report.objective <= report.log_likelihood + 1e-9);
        free(labels);
        ref_trace_free(&trace);
        set_close(&s);
    }
}

/* `each` points of every kappa, about directions that are 60 degrees apart or more. */
static void fill_known(float *x, size_t each, size_t dimension, const double *kappas, size_t clusters) {
    ast_random random;
    double mean[300], row[300];
    ast_random_seed(&random, dimension, 7);
    for (size_t i = 0; i < each * clusters; i++) {
        size_t k = i % clusters;
        memset(mean, 0, sizeof mean);
        mean[k % dimension] = k < dimension ? 1 : -1;
        ast_vmf_sample(&random, dimension, mean, kappas[k], row);
        for (size_t d = 0; d < dimension; d++)
            x[i * dimension + d] = (float)row[d];
    }
}

static void known_kappas_are_recovered(void **state) {
    (void)state;
    static const struct {
        size_t dimension, each;
        double kappas[4];
    } sets[] = {{3, 8000, {30, 100, 300, 1000}}, {30, 3000, {60, 150, 400, 1000}}, {300, 1000, {400, 600, 1000, 3000}}};
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
        for (int hard = 0; hard <= 1; hard++) {
            size_t dimension = sets[s].dimension, count = 4 * sets[s].each, clusters;
            float *x = ref_take(count * dimension, sizeof *x);
            int32_t *labels = ref_take(count, sizeof *labels);
            fill_known(x, sets[s].each, dimension, sets[s].kappas, 4);
            ast_points points = ast_points_f4(x, count, dimension);
            ast_report report = {.size = sizeof report};
            ast_options options = movmf_options(4);
            options.restarts = 3;
            options.mixture.hard = hard;
            ast_context *context = ref_context(REF_FAST, 2);
            expect_ok(context, ast_cluster(context, &points, &options, labels, &report));
            assert_true(report.converged);
            const ast_cluster_info *info = ast_clusters(context, &clusters);
            for (size_t truth = 0; truth < 4; truth++) {
                const ast_cluster_info *found = &info[labels[truth]];
                if (fabs(found->kappa / sets[s].kappas[truth] - 1) > 0.05 || fabs(found->share - 0.25) > 0.01)
                    fail_msg("D = %zu, hard %d: kappa %g with share %g, should be %g with 0.25", dimension, hard,
                             found->kappa, found->share, sets[s].kappas[truth]);
            }
            free(x);
            free(labels);
        }
}

static void criterion_finds_the_number(void **state) {
    (void)state;
    static const double kappas[] = {50, 100, 200};
    enum { EACH = 300, N = 3 * EACH };
    float x[N * 3];
    int32_t labels[N];
    double best = INFINITY;
    size_t chosen = 0;
    fill_known(x, EACH, 3, kappas, 3);
    ast_points points = ast_points_f4(x, N, 3);
    for (size_t clusters = 1; clusters <= 6; clusters++) {
        ast_report report = {.size = sizeof report};
        ast_options options = movmf_options(clusters);
        options.restarts = 5;
        ast_context *context = ref_context(REF_FAST, 2);
        expect_ok(context, ast_cluster(context, &points, &options, labels, &report));
        double numbers = 4 * (double)clusters - 1;
        expect_close("the criterion", report.bic, -2 * report.log_likelihood + numbers * log(N), 1e-12);
        chosen = report.bic < best ? clusters : chosen;
        best = fmin(best, report.bic);
    }
    assert_int_equal(chosen, 3);
}

/* A weight of 3 is three points, and weights matter only relative to each other. */
static void weights_are_repetitions(void **state) {
    (void)state;
    enum { N = 400, D = 5 };
    float x[3 * N * D];
    double weights[N], kappas[2][3];
    int32_t labels[3 * N];
    size_t copies = 0, clusters;
    ref_fill_clustered(x, N, D, 3, 0.2, 0.1, 5);
    for (size_t i = 0; i < N; i++)
        weights[i] = 0.5 * (double)(1 + i % 3);
    for (int repeated = 0; repeated <= 1; repeated++) {
        ast_points points = ast_points_f4(x, repeated ? copies + N : N, D);
        points.weights = repeated ? NULL : weights;
        ast_report report = {.size = sizeof report};
        ast_options options = movmf_options(0);
        options.start.by = AST_GIVEN;
        options.start.means = x;
        options.start.means_count = 3;
        ast_context *context = ref_context(REF_FAST, 2);
        expect_ok(context, ast_cluster(context, &points, &options, labels, &report));
        for (size_t k = 0; k < 3; k++)
            kappas[repeated][k] = ast_clusters(context, &clusters)[k].kappa;
        for (size_t i = 0; !repeated && i < N; i++)
            for (size_t copy = 1; copy < 1 + i % 3; copy++)
                memcpy(x + (N + copies++) * D, x + i * D, D * sizeof *x);
    }
    for (size_t k = 0; k < 3; k++)
        expect_close("kappa", kappas[0][k], kappas[1][k], 1e-5);
}

/* ---- Memberships ----------------------------------------------------------------------------------------------- */

static void memberships_equal_the_reference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(30); seed++) {
        set s;
        size_t clusters;
        ref_points points;
        ref_mixture m;
        ast_report report = {.size = sizeof report};
        double row[16], sum = 0, most_kappa = 0;
        set_open(&s, seed);
        s.points.weights = NULL;
        int32_t *labels = ref_take(s.count, sizeof *labels);
        float *memberships = ref_take(s.count * s.clusters, sizeof *memberships);
        double *density = ref_take(s.count, sizeof *density);
        ast_options options = movmf_options(s.clusters);
        ast_context *context = ref_context(seed % 2 ? REF_FAST : "base", 2);
        expect_ok(context, ast_cluster(context, &s.points, &options, labels, &report));
        expect_ok(context, ast_memberships(context, &s.points, memberships, density));
        const ast_cluster_info *info = ast_clusters(context, &clusters);
        ref_points_read(&points, &s.points);
        ref_mixture_open(&m, s.clusters, s.dimension);
        for (size_t k = 0; k < clusters; k++) {
            m.kappas[k] = info[k].kappa;
            most_kappa = fmax(most_kappa, info[k].kappa);
            m.weights[k] = info[k].share;
            for (size_t d = 0; d < s.dimension; d++)
                m.means[k * s.dimension + d] = (double)info[k].mean[d];
        }
        for (size_t i = 0; i < s.count; i++) {
            assert_int_equal(labels[i] < 0, points.missing[i]);
            assert_int_equal(isnan(density[i]) != 0, points.missing[i]);
            if (points.missing[i]) {
                assert_true(isnan(memberships[i * clusters]));
                continue;
            }
            double expected = ref_mixture_posterior(&m, points.x + i * s.dimension, row);
            double error = 1e-6 + 4e-7 * most_kappa; /* the means of the result are floats */
            for (size_t k = 0; k < clusters; k++)
                expect_close("a membership", (double)memberships[i * clusters + k], row[k], error);
            expect_close("a density", density[i], expected, error);
            sum += density[i];
        }
        expect_close("the sum of the densities", sum, report.log_likelihood, 1e-9);
        ref_mixture_free(&m);
        ref_points_free(&points);
        free(labels);
        free(memberships);
        free(density);
        set_close(&s);
    }
}

static void memberships_need_a_mixture(void **state) {
    (void)state;
    float x[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, memberships[9];
    int32_t labels[3];
    ast_report report = {.size = sizeof report};
    ast_points points = ast_points_f4(x, 3, 3), flat = ast_points_f4(x, 3, 2);
    ast_context *context;
    ast_open(&context, 1);
    assert_int_equal(ast_memberships(context, &points, memberships, NULL), AST_BAD_OPTION);
    ast_options options = movmf_options(2);
    expect_ok(context, ast_cluster(context, &points, &options, labels, &report));
    expect_ok(context, ast_memberships(context, &points, memberships, NULL));
    assert_int_equal(ast_memberships(context, &flat, memberships, NULL), AST_BAD_DATA);
    options.method = AST_SPKM;
    expect_ok(context, ast_cluster(context, &points, &options, labels, &report));
    assert_true(isnan(report.log_likelihood) && isnan(report.bic));
    assert_int_equal(ast_memberships(context, &points, memberships, NULL), AST_BAD_OPTION);
    ast_close(context);
}

/* ---- Corners --------------------------------------------------------------------------------------------------- */

/* One point, equal points, as many components as points: finite numbers, whatever they are. */
static void corners_are_finite(void **state) {
    (void)state;
    float x[] = {1, 0, 0, 1, 0, 0, 0.6f, 0.8f, 0, 0, 0, -1};
    for (size_t count = 1; count <= 4; count++)
        for (size_t clusters = 1; clusters <= count; clusters++)
            for (int hard = 0; hard <= 1; hard++) {
                int32_t labels[4];
                size_t found;
                ast_report report = {.size = sizeof report};
                ast_points points = ast_points_f4(x, count, 3);
                ast_options options = movmf_options(clusters);
                options.mixture.hard = hard;
                ast_context *context = ref_context(REF_FAST, 1);
                expect_ok(context, ast_cluster(context, &points, &options, labels, &report));
                const ast_cluster_info *info = ast_clusters(context, &found);
                assert_int_equal(found, clusters);
                assert_true(isfinite(report.objective) && isfinite(report.log_likelihood) && isfinite(report.bic));
                for (size_t k = 0; k < found; k++)
                    assert_true(isfinite(info[k].kappa) && info[k].kappa >= 0 && info[k].share >= 0);
                for (size_t i = 0; i < count; i++)
                    assert_true(labels[i] >= 0 && (size_t)labels[i] < clusters);
            }
}

static void bad_options_are_refused(void **state) {
    (void)state;
    ast_options options = movmf_options(0);
    assert_non_null(ast_options_problem(&options));
    options = movmf_options(3);
    assert_null(ast_options_problem(&options));
    options.mixture.kappa = -1;
    assert_non_null(ast_options_problem(&options));
    options.mixture.kappa = INFINITY;
    assert_non_null(ast_options_problem(&options));
    options = movmf_options(3);
    options.mixture.tolerance = NAN;
    assert_non_null(ast_options_problem(&options));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_equal_the_reference), cmocka_unit_test(likelihood_never_falls),
        cmocka_unit_test(known_kappas_are_recovered), cmocka_unit_test(criterion_finds_the_number),
        cmocka_unit_test(weights_are_repetitions),    cmocka_unit_test(memberships_equal_the_reference),
        cmocka_unit_test(memberships_need_a_mixture), cmocka_unit_test(corners_are_finite),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests_name("movmf", tests, NULL, ref_contexts_end);
}
