/* SPDX-License-Identifier: MIT
 *
 * options.outliers against its definition in plain loops: a share of every cluster, and the automatic threshold with
 * every mean of the other members computed anew; a model with the thresholds gives the same labels. */
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 900, DIMENSION = 24, MOST = 200 };

typedef struct data {
    float points[POINTS * DIMENSION];
    int32_t truth[POINTS], full[POINTS], labels[POINTS], again[POINTS];
    float means[MOST * DIMENSION];
    size_t clusters;
} data;

static double dot(const float *a, const float *b) {
    double sum = 0;
    for (size_t d = 0; d < DIMENSION; d++)
        sum += (double)a[d] * (double)b[d];
    return sum;
}

/* Labels with these outliers, and those without, whose means they refer to. Labels of clusters that are left. */
static size_t run(ast_context *context, data *d, double share, double noise) {
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = POINTS,
                           .dimension = DIMENSION,
                           .clusters = 6,
                           .kappa = 60,
                           .separation = 50,
                           .noise = noise,
                           .seed = 5};
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_model_info info = {.size = sizeof info};
    ast_model *model;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.clusters = 7;
    assert_int_equal(ast_sample_mixture(context, &mixture, d->points, d->truth, NULL), AST_OK);
    const ast_points points = ast_points_f4(d->points, POINTS, DIMENSION);
    assert_int_equal(ast_cluster(context, &points, &options, d->full, &report), AST_OK);
    d->clusters = report.clusters;
    memcpy(d->means, ast_means(context), d->clusters * DIMENSION * sizeof(float));
    options.outliers = share;
    assert_int_equal(ast_cluster(context, &points, &options, d->labels, &report), AST_OK);
    assert_int_equal(ast_model_of_result(context, &info), AST_OK);
    assert_int_equal(ast_model_open(&model, context, &info), AST_OK);
    assert_int_equal(ast_model_assign(model, &points, NAN, d->again, NULL), AST_OK);
    ast_model_close(model);
    size_t out = 0, same = 0;
    for (size_t i = 0; i < POINTS; i++) {
        out += d->labels[i] < 0;
        same += d->labels[i] == d->again[i];
    }
    assert_int_equal(out, report.outliers);
    if (report.clusters == d->clusters) /* none was dropped, whose rows would find another */
        assert_int_equal(same, POINTS);
    return out;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_share(void **state) {
    (void)state;
    data *d = calloc(1, sizeof *d);
    run(ref_context(REF_FAST, 2), d, 0.1, 0.05);
    for (size_t k = 0; k < d->clusters; k++) {
        size_t members = 0, out = 0;
        double best_out = -2, worst_in = 2;
        for (size_t i = 0; i < POINTS; i++) {
            double score = d->full[i] == (int32_t)k ? dot(d->points + i * DIMENSION, d->means + k * DIMENSION) : NAN;
            members += d->full[i] == (int32_t)k;
            out += d->full[i] == (int32_t)k && d->labels[i] < 0;
            if (isnan(score))
                continue;
            best_out = d->labels[i] < 0 ? fmax(best_out, score) : best_out;
            worst_in = d->labels[i] < 0 ? worst_in : fmin(worst_in, score);
        }
        assert_int_equal(out, (size_t)(0.1 * (double)members));
        assert_true(best_out <= worst_in + 1e-6);
    }
    free(d);
}

/* The similarity of a row to the mean of the other members. */
static double without(const data *d, size_t i) {
    double sum[DIMENSION] = {0}, length = 0, product = 0;
    for (size_t j = 0; j < POINTS; j++)
        for (size_t c = 0; c < DIMENSION && j != i && d->full[j] == d->full[i]; c++)
            sum[c] += (double)d->points[j * DIMENSION + c];
    for (size_t c = 0; c < DIMENSION; c++) {
        length += sum[c] * sum[c];
        product += sum[c] * (double)d->points[i * DIMENSION + c];
    }
    return product / sqrt(length);
}

/* The similarity that rows have to the best cluster that is not theirs. */
static double chance(const data *d) {
    double others[POINTS], own[POINTS], middle[MOST];
    size_t found = 0;
    for (size_t k = 0; k < d->clusters; k++) {
        size_t n = 0;
        for (size_t i = 0; i < POINTS; i++)
            if (d->full[i] == (int32_t)k)
                own[n++] = (double)(float)dot(d->points + i * DIMENSION, d->means + k * DIMENSION);
        qsort(own, n, sizeof *own, ascending);
        middle[k] = own[n / 2];
    }
    for (size_t i = 0; i < POINTS; i++) {
        double best = -2;
        for (size_t k = 0; k < d->clusters; k++)
            if ((int32_t)k != d->full[i] &&
                dot(d->means + (size_t)d->full[i] * DIMENSION, d->means + k * DIMENSION) < middle[d->full[i]])
                best = fmax(best, dot(d->points + i * DIMENSION, d->means + k * DIMENSION));
        if (best > -2)
            others[found++] = best;
    }
    qsort(others, found, sizeof *others, ascending);
    return others[(size_t)(0.9 * (double)found)];
}

static void test_automatic(void **state) {
    (void)state;
    data *d = calloc(1, sizeof *d);
    size_t out = run(ref_context(REF_FAST, 2), d, INFINITY, 0.15), noise = 0, hit = 0, wrong = 0;
    double least = chance(d);
    for (size_t i = 0; i < POINTS; i++) {
        double score = without(d, i);
        noise += d->truth[i] < 0;
        hit += d->truth[i] < 0 && d->labels[i] < 0;
        wrong += fabs(score - least) > 1e-5 && score < least && d->labels[i] >= 0; /* beyond a fence are more */
    }
    assert_int_equal(wrong, 0);
    print_message("%zu outliers, %zu of %zu planted\n", out, hit, noise);
    assert_true(hit > noise * 8 / 10 && hit > out * 8 / 10);
    int32_t first[POINTS];
    memcpy(first, d->labels, sizeof first);
    run(ref_context("base", 3), d, INFINITY, 0.15);
    assert_memory_equal(first, d->labels, sizeof first);
    assert_true(run(ref_context("base", 1), d, INFINITY, 0) < POINTS / 50);
    free(d);
}

static void test_refused(void **state) {
    (void)state;
    ast_options options;
    ast_options_init(&options);
    options.angle = 20;
    assert_null(ast_options_problem(&options));
    options.outliers = 1.5;
    assert_string_equal(ast_options_problem(&options), "outliers must be a share from 0 to 1, or infinity");
    options.outliers = -INFINITY;
    assert_non_null(ast_options_problem(&options));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_share), cmocka_unit_test(test_automatic),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
