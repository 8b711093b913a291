/* SPDX-License-Identifier: MIT
 *
 * DP-means and online spherical k-means against slow code that says what they are, one point after the other. */
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLUSTERS = 2000 };

static ast_options options_of(ast_method method) {
    ast_options options;
    ast_options_init(&options);
    options.method = method;
    return options;
}

static void expect_labels(const char *what, uint64_t seed, const int32_t *got, const int32_t *expected, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (got[i] != expected[i])
            fail_msg("%s, seed %d: label %zu is %d, should be %d", what, (int)seed, i, got[i], expected[i]);
}

/* ---- DP-means ---- */

typedef struct euclid {
    double *means; /* (MOST_CLUSTERS, D) */
    size_t count;
} euclid;

static double squared_distance(const float *x, const double *mean, size_t dimension) {
    double sum = 0;
    for (size_t d = 0; d < dimension; d++)
        sum += ((double)x[d] - mean[d]) * ((double)x[d] - mean[d]);
    return sum;
}

/* One pass; returns whether a label changed. `narrow` becomes the smallest margin of a decision. */
static int euclid_pass(euclid *e, const float *x, size_t count, size_t dimension, double lambda, int32_t *labels,
                       double *narrow) {
    int changed = 0;
    for (size_t i = 0; i < count; i++) {
        double best = INFINITY, second = INFINITY;
        int32_t label = -1;
        for (size_t k = 0; k < e->count; k++) {
            double away = squared_distance(x + i * dimension, e->means + k * dimension, dimension);
            second = away < best ? best : fmin(second, away);
            label = away < best ? (int32_t)k : label;
            best = fmin(best, away);
        }
        *narrow = fmin(*narrow, fmin(second - best, fabs(best - lambda)));
        if (!(best <= lambda)) {
            label = (int32_t)e->count++;
            assert_true(e->count < MOST_CLUSTERS);
            for (size_t d = 0; d < dimension; d++)
                e->means[(size_t)label * dimension + d] = (double)x[i * dimension + d];
        }
        changed |= labels[i] != label;
        labels[i] = label;
    }
    return changed;
}

/* Means of the members; those without any are dropped. Returns the objective. */
static double euclid_means(euclid *e, const float *x, size_t count, size_t dimension, double lambda, int32_t *labels) {
    size_t left = 0, *rank = ref_take(e->count, sizeof *rank), *members = ref_take(e->count, sizeof *members);
    double loss = 0;
    memset(e->means, 0, MOST_CLUSTERS * dimension * sizeof *e->means);
    for (size_t i = 0; i < count; i++)
        members[labels[i]]++;
    for (size_t k = 0; k < e->count; k++)
        rank[k] = members[k] ? left++ : 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t d = 0; d < dimension; d++)
            e->means[rank[labels[i]] * dimension + d] += (double)x[i * dimension + d] / (double)members[labels[i]];
        labels[i] = (int32_t)rank[labels[i]];
    }
    for (size_t i = 0; i < count; i++)
        loss += squared_distance(x + i * dimension, e->means + (size_t)labels[i] * dimension, dimension);
    e->count = left;
    free(rank);
    free(members);
    return -(loss + lambda * (double)left);
}

static void dpmeans_equals_the_reference(void **state) {
    (void)state;
    size_t compared = 0;
    for (uint64_t seed = 1; seed <= ref_case_count(40); seed++) {
        size_t dimension = seed % 4 == 0 ? 25 : 2 + seed % 4, count = seed % 5 == 0 ? 9000 : 50 + 31 * seed;
        double angle = (dimension > 10 ? 45 : 15) + 5 * (double)(seed % 9), lambda = 2 - 2 * cos(angle * M_PI / 180),
               narrow = 1;
        float *x = ref_take(count * dimension, sizeof *x);
        int32_t *labels = ref_take(count, sizeof *labels), *expected = ref_take(count, sizeof *expected);
        euclid e = {ref_take(MOST_CLUSTERS * dimension, sizeof *e.means), 0};
        ref_trace trace = {0};
        ast_report report = {.size = sizeof report};
        ref_fill_clustered(x, count, dimension, 6, 0.1, dimension < 10 ? 0.1 : 0, seed);
        ast_points points = ast_points_f4(x, count, dimension);
        ast_options options = options_of(AST_DPMEANS);
        options.angle = angle;
        options.max_iterations = 30;
        options.progress = ref_trace_record;
        options.progress_data = &trace;
        ast_context *context = ref_context(seed % 2 ? "base" : REF_FAST, 1 + (int)(seed % 3));
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        memset(expected, 0xff, count * sizeof *expected);
        double objective = -INFINITY;
        for (int pass = 0; pass < report.iterations; pass++) {
            int changed = euclid_pass(&e, x, count, dimension, lambda, expected, &narrow);
            double next = euclid_means(&e, x, count, dimension, lambda, expected);
            assert_true(next >= objective - 1e-6 * (double)count);
            assert_true(fabs(trace.passes[pass].objective - next) < 1e-5 * (double)count || narrow < 1e-5);
            assert_true((pass + 1 == report.iterations && report.converged) == !changed || narrow < 1e-5);
            objective = next;
        }
        if (narrow > 1e-5) { /* the library has a tolerance of 2e-6, and unit vectors of floats are nearly so */
            expect_labels("dpmeans", seed, labels, expected, count);
            compared++;
        }
        ref_trace_free(&trace);
        free(x);
        free(labels);
        free(expected);
        free(e.means);
    }
    assert_true(compared > 0);
}

/* Kulis and Jordan's means are no directions: in the middle of a wide cluster they shrink, and the angle that keeps it
 * whole on the sphere splits it in space, or the other way round; but one angle of 180 keeps everything. */
static void dpmeans_at_the_ends(void **state) {
    (void)state;
    enum { N = 300 };
    float x[N * 3];
    int32_t labels[N];
    ast_report report = {.size = sizeof report};
    ref_fill_clustered(x, N, 3, 5, 0.1, 0.5, 3);
    memcpy(x + (N - 100) * 3, x, 300 * sizeof *x); /* duplicates */
    ast_points points = ast_points_f4(x, N, 3);
    ast_options options = options_of(AST_DPMEANS);
    options.angle = 180;
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
    assert_int_equal(report.clusters, 1);
    options.angle = 0;
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
    for (int i = 0; i < 100; i++)
        assert_int_equal(labels[i], labels[N - 100 + i]);
}

/* ---- online k-means ---- */

static void zhong(const float *x, size_t count, size_t dimension, size_t clusters, int rounds, uint64_t seed,
                  double *means) {
    uint32_t *order = ref_take(count, sizeof *order);
    double t = 0, length = (double)count * rounds;
    for (int round = 0; round < rounds; round++) {
        ast_random random;
        ast_random_seed(&random, seed, (uint64_t)round + 2);
        ast_random_permutation(&random, order, count);
        for (size_t j = 0; j < count; j++, t++) {
            const float *row = x + (size_t)order[j] * dimension;
            double best = -INFINITY, eta = pow(0.01, t / length), squared = 0;
            double *mean = NULL;
            for (size_t k = 0; k < clusters; k++) {
                double score = 0;
                for (size_t d = 0; d < dimension; d++)
                    score += (double)row[d] * means[k * dimension + d];
                mean = score > best ? means + k * dimension : mean;
                best = fmax(best, score);
            }
            for (size_t d = 0; d < dimension; d++) {
                mean[d] += eta * (double)row[d];
                squared += mean[d] * mean[d];
            }
            for (size_t d = 0; d < dimension; d++)
                mean[d] /= sqrt(squared);
        }
    }
    free(order);
}

static void online_equals_the_reference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(30); seed++) {
        size_t dimension = seed % 4 == 0 ? 30 : 2 + seed % 4, clusters = 2 + seed % 5, count = 200 + 17 * seed;
        int rounds = 1 + (int)(seed % 4);
        float *x = ref_take(count * dimension, sizeof *x), *final = ref_take(clusters * dimension, sizeof *final);
        double *means = ref_take(clusters * dimension, sizeof *means);
        int32_t *labels = ref_take(count, sizeof *labels), *expected = ref_take(count, sizeof *expected);
        ast_report report = {.size = sizeof report};
        ref_points read;
        ref_fill_clustered(x, count, dimension, clusters, 0.2, 0.1, seed);
        ast_points points = ast_points_f4(x, count, dimension);
        ref_points_read(&read, &points);
        ast_options options = options_of(AST_OSPKM);
        options.start.by = AST_GIVEN;
        options.start.means = x;
        options.start.means_count = clusters;
        options.max_iterations = rounds;
        options.seed = seed;
        assert_int_equal(ast_cluster(ref_context(seed % 2 ? "base" : REF_FAST, 2), &points, &options, labels, &report),
                         AST_OK);
        for (size_t j = 0; j < clusters * dimension; j++)
            means[j] = (double)read.x[j];
        zhong(read.x, count, dimension, clusters, rounds, seed, means);
        for (size_t j = 0; j < clusters * dimension; j++)
            final[j] = (float)means[j];
        ref_assign(&read, final, clusters, NAN, expected, NULL);
        size_t different = 0, sizes[8] = {0};
        for (size_t i = 0; i < count; i++) {
            different += labels[i] != expected[i];
            sizes[expected[i]]++;
        }
        size_t empty = 0; /* those take a point each */
        for (size_t k = 0; k < clusters; k++)
            empty += sizes[k] == 0;
        assert_true(different <= empty);
        assert_int_equal(report.iterations, rounds);
        ref_points_free(&read);
        free(x);
        free(final);
        free(means);
        free(labels);
        free(expected);
    }
}

/* ---- what only the samplers have ---- */

typedef struct samples {
    int count, sweeps;
    size_t points;
} samples;

static int note_sample(const ast_progress *state, void *data) {
    samples *s = data;
    s->sweeps += state->iteration > 0;
    if (state->labels) {
        s->count++;
        assert_int_equal(state->labels[3], -1);
        for (size_t i = 0; i < s->points; i++)
            assert_true(i == 3 || state->labels[i] >= 0);
    }
    return 0;
}

static void samples_come_when_asked_for(void **state) {
    (void)state;
    enum { N = 200 };
    float x[N * 3];
    int32_t labels[N];
    ref_fill_clustered(x, N, 3, 3, 0.1, 0, 3);
    x[9] = NAN;
    ast_points points = ast_points_f4(x, N, 3);
    for (int method = AST_FSD; method <= AST_CRP; method++)
        for (int every = 0; every <= 7; every += 7) {
            samples s = {0, 0, N};
            ast_report report = {.size = sizeof report};
            ast_options options = options_of((ast_method)method);
            options.clusters = 5;
            options.max_iterations = 50;
            options.sampler.burn_in = 20;
            options.sampler.sample_every = every;
            options.progress = note_sample;
            options.progress_data = &s;
            assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
            assert_int_equal(s.sweeps, 50);
            assert_int_equal(s.count, every ? 30 / 7 : 0);
        }
}

static void bad_options_are_refused(void **state) {
    (void)state;
    float x[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double weights[3] = {1, 2, 3};
    int32_t labels[3];
    ast_report report = {.size = sizeof report};
    ast_options good = options_of(AST_CRP), bad[9];
    for (int i = 0; i < 9; i++)
        bad[i] = good;
    bad[0].sampler.concentration = 0;
    bad[1].sampler.kappa_median = -1;
    bad[2].sampler.prior_kappa = 3; /* without a mean */
    bad[3].sampler.prior_mean = x;
    bad[4].sampler.burn_in = -1;
    bad[5].online.learning_rate = 0;
    bad[6].method = (ast_method)7;
    bad[7].axial = 1;
    bad[8].dp.order = AST_ORDER_RANDOM;
    assert_null(ast_options_problem(&good));
    for (int i = 0; i < 9; i++)
        assert_non_null(ast_options_problem(&bad[i]));
    ast_points points = ast_points_f4(x, 3, 3);
    points.weights = weights;
    ast_context *context = ref_context(REF_FAST, 1);
    assert_int_equal(ast_cluster(context, &points, &good, labels, &report), AST_BAD_OPTION);
    points.weights = NULL;
    points.count = 0; /* nothing there: no cluster */
    assert_int_equal(ast_cluster(context, &points, &good, labels, &report), AST_OK);
    assert_int_equal(report.clusters, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dpmeans_equals_the_reference), cmocka_unit_test(dpmeans_at_the_ends),
        cmocka_unit_test(online_equals_the_reference),  cmocka_unit_test(samples_come_when_asked_for),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests_name("baselines", tests, NULL, ref_contexts_end);
}
