/* SPDX-License-Identifier: MIT
 *
 * The map of rows that makes clusters round. The reference is the definition in long double: all pairs for the
 * neighbours, W by three loops, and the matrix A tested by what defines it, A (W + ridge) A being a multiple of 1.
 * Threads, instruction sets and the order of the rows must not change a bit. */
#include "metric.h"
#include "reference/harness.h"
#include "symmetric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 360, DIMENSION = 19, CLUSTERS = 9, NEAREST = 5 };

/* Rows of long, parallel clusters in a cone; some are missing, late, copies, or have weight 0. */
typedef struct table {
    float x[COUNT * DIMENSION];
    double weights[COUNT];
    uint8_t late[COUNT];
    int32_t labels[COUNT];
    ast_points points;
} table;

static table *make_table(uint64_t seed, bool awkward) {
    table *t = calloc(1, sizeof *t);
    double centres[CLUSTERS][DIMENSION];
    ast_random random;
    ast_random_seed(&random, seed, 11);
    for (size_t k = 0; k < CLUSTERS; k++)
        for (size_t d = 0; d < DIMENSION; d++)
            centres[k][d] = ast_random_normal(&random);
    for (size_t i = 0; i < COUNT; i++) {
        t->labels[i] = (int32_t)(i % CLUSTERS);
        for (size_t d = 0; d < DIMENSION; d++) {
            double noise = ast_random_normal(&random) * (d < 3 ? 2 : 0.3);
            t->x[i * DIMENSION + d] = (float)(2 + centres[i % CLUSTERS][d] + noise);
        }
        t->weights[i] = (double)(1 + ast_random_below(&random, 3));
    }
    t->points = ast_points_f4(t->x, COUNT, DIMENSION);
    if (!awkward)
        return t;
    memcpy(t->x + 50 * DIMENSION, t->x + 20 * DIMENSION, DIMENSION * sizeof *t->x);
    t->x[5 * DIMENSION + 1] = NAN;
    t->labels[5] = t->labels[9] = -1;
    t->late[30] = 1;
    t->weights[31] = 0;
    t->points.weights = t->weights;
    t->points.late = t->late;
    return t;
}

static ast_fitted_metric fit(ast_context *context, const table *t, bool within, double shrinkage) {
    ast_fitted_metric fitted = {0};
    ast_status status = ast_metric_fit_local(context, &t->points, shrinkage, &fitted);
    if (status == AST_OK && within)
        status = ast_metric_fit_within(context, &t->points, t->labels, shrinkage, &fitted);
    if (status != AST_OK)
        fail_msg("%s", ast_message(context));
    return fitted;
}

/* ---- The reference ----------------------------------------------------------------------------------------------- */

static void normalise(long double *v) {
    long double squared = 0;
    for (size_t d = 0; d < DIMENSION; d++)
        squared += v[d] * v[d];
    for (size_t d = 0; d < DIMENSION; d++)
        v[d] /= sqrtl(squared);
}

typedef struct reference {
    long double center[DIMENSION], u[COUNT][DIMENSION], w[DIMENSION][DIMENSION];
} reference;

static void centre(reference *r, const table *t) {
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t d = 0; d < DIMENSION; d++)
            r->u[i][d] = (long double)t->x[i * DIMENSION + d];
        normalise(r->u[i]);
        for (size_t d = 0; d < DIMENSION; d++)
            r->center[d] += r->u[i][d] / COUNT;
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t d = 0; d < DIMENSION; d++)
            r->u[i][d] -= r->center[d];
        normalise(r->u[i]);
    }
}

static void add_product(reference *r, const long double *v, long double factor) {
    for (size_t a = 0; a < DIMENSION; a++)
        for (size_t b = 0; b < DIMENSION; b++)
            r->w[a][b] += factor * v[a] * v[b];
}

static void local_scatter(reference *r) {
    for (size_t i = 0; i < COUNT; i++) {
        bool taken[COUNT] = {0};
        taken[i] = true;
        for (size_t n = 0; n < NEAREST; n++) {
            size_t nearest = COUNT;
            long double most = -2, difference[DIMENSION];
            for (size_t j = 0; j < COUNT; j++) {
                long double product = 0;
                for (size_t d = 0; d < DIMENSION; d++)
                    product += r->u[i][d] * r->u[j][d];
                if (!taken[j] && product > most) {
                    most = product;
                    nearest = j;
                }
            }
            taken[nearest] = true;
            for (size_t d = 0; d < DIMENSION; d++)
                difference[d] = r->u[i][d] - r->u[nearest][d];
            add_product(r, difference, 1.0L / (COUNT * NEAREST));
        }
    }
}

static void cluster_scatter(reference *r, const int32_t *labels) {
    for (size_t i = 0; i < COUNT; i++) {
        long double difference[DIMENSION] = {0}, size = 0;
        for (size_t j = 0; j < COUNT; j++)
            for (size_t d = 0; labels[j] == labels[i] && d < DIMENSION; d++) {
                difference[d] += r->u[j][d];
                size += d == 0;
            }
        for (size_t d = 0; d < DIMENSION; d++)
            difference[d] = r->u[i][d] - difference[d] / size;
        add_product(r, difference, size / (size - 1) / COUNT);
    }
}

/* A (W + ridge) A, divided by its first element, is 1. */
static void check_matrix(const reference *r, const ast_metric *map, double shrinkage) {
    long double ridge = 0, first = 0;
    for (size_t d = 0; d < DIMENSION; d++)
        ridge += (long double)shrinkage * r->w[d][d] / DIMENSION;
    for (size_t a = 0; a < DIMENSION; a++)
        for (size_t b = 0; b < DIMENSION; b++) {
            long double sum = 0;
            for (size_t c = 0; c < DIMENSION; c++)
                for (size_t d = 0; d < DIMENSION; d++)
                    sum += (long double)map->matrix[a * DIMENSION + c] * (r->w[c][d] + (c == d ? ridge : 0)) *
                           (long double)map->matrix[d * DIMENSION + b];
            first = a + b == 0 ? sum : first;
            if (fabsl(sum / first - (a == b)) > 2e-6L)
                fail_msg("element %zu, %zu of A W A is %Lg, relative to the first one", a, b, sum / first);
            assert_true(map->matrix[a * DIMENSION + b] == map->matrix[b * DIMENSION + a]);
        }
}

/* The rows by their definition, with the matrix that was found. */
static void check_rows(const reference *r, const ast_metric *map, const float *rows) {
    static long double v[COUNT][DIMENSION];
    long double mean[DIMENSION] = {0};
    for (size_t i = 0; i < COUNT; i++)
        for (size_t d = 0; d < DIMENSION; d++) {
            v[i][d] = 0;
            for (size_t e = 0; e < DIMENSION; e++)
                v[i][d] += (long double)map->matrix[d * DIMENSION + e] * r->u[i][e];
            mean[d] += v[i][d] / COUNT;
        }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t d = 0; d < DIMENSION; d++)
            v[i][d] -= mean[d];
        normalise(v[i]);
        for (size_t d = 0; d < DIMENSION; d++)
            if (fabsl((long double)rows[i * DIMENSION + d] - v[i][d]) > 2e-6L)
                fail_msg("component %zu of row %zu is %.9g, not %.9Lg", d, i, (double)rows[i * DIMENSION + d], v[i][d]);
    }
}

static void check_reference(bool within) {
    ast_context *context = ref_context(REF_FAST, 2);
    table *t = make_table(1, false);
    reference *r = malloc(sizeof *r);
    float *rows = malloc(sizeof t->x);
    centre(r, t);
    ast_fitted_metric fitted = fit(context, t, within, 0.1);
    if (within)
        cluster_scatter(r, t->labels);
    else
        local_scatter(r);
    for (size_t d = 0; d < DIMENSION; d++)
        assert_true(fabsl((long double)fitted.center[d] - r->center[d]) < 1e-7L);
    check_matrix(r, &fitted.map, 0.1);
    assert_int_equal(ast_metric_apply(context, &t->points, &fitted.map, rows), AST_OK);
    check_rows(r, &fitted.map, rows);
    ast_fitted_metric_free(&fitted);
    free(rows);
    free(r);
    free(t);
}

static void test_local(void **state) {
    (void)state;
    check_reference(false);
}

static void test_within(void **state) {
    (void)state;
    check_reference(true);
}

/* ---- The same bits ----------------------------------------------------------------------------------------------- */

static void check_equal(const ast_fitted_metric *a, const ast_fitted_metric *b, const char *what) {
    if (memcmp(a->center, b->center, DIMENSION * sizeof(float)) ||
        memcmp(a->matrix, b->matrix, sizeof(float) * DIMENSION * DIMENSION) ||
        memcmp(a->mapped_center, b->mapped_center, DIMENSION * sizeof(float)) || a->shrinkage != b->shrinkage)
        fail_msg("the map differs: %s", what);
}

/* The same rows, last first. */
static table *reversed(const table *t) {
    table *r = calloc(1, sizeof *r);
    r->points = t->points;
    r->points.data = r->x;
    r->points.weights = t->points.weights ? r->weights : NULL;
    r->points.late = t->points.late ? r->late : NULL;
    for (size_t i = 0; i < COUNT; i++) {
        size_t j = COUNT - 1 - i;
        memcpy(r->x + i * DIMENSION, t->x + j * DIMENSION, DIMENSION * sizeof *t->x);
        r->weights[i] = t->weights[j];
        r->late[i] = t->late[j];
        r->labels[i] = t->labels[j];
    }
    return r;
}

static void test_same_bits(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        bool within = seed % 2;
        table *t = make_table(seed, seed > 2), *back = reversed(t);
        ast_fitted_metric one = fit(ref_context("base", 1), t, within, NAN), other;
        float *rows = malloc(sizeof t->x), *others = malloc(sizeof t->x);
        assert_int_equal(ast_metric_apply(ref_context("base", 1), &t->points, &one.map, rows), AST_OK);
        assert_int_equal(ast_metric_apply(ref_context(REF_FAST, 3), &back->points, &one.map, others), AST_OK);
        for (size_t i = 0; i < COUNT; i++)
            for (size_t d = 0; d < DIMENSION; d++) {
                float a = rows[i * DIMENSION + d], b = others[(COUNT - 1 - i) * DIMENSION + d];
                assert_true(a == b || (isnan(a) && isnan(b)));
                assert_true(isnan(a) == (seed > 2 && i == 5));
            }
        other = fit(ref_context(REF_FAST, 3), t, within, NAN);
        check_equal(&one, &other, "three threads");
        ast_fitted_metric_free(&other);
        other = fit(ref_context(REF_FAST, 2), back, within, NAN);
        check_equal(&one, &other, "rows in another order");
        ast_fitted_metric_free(&other);
        ast_fitted_metric_free(&one);
        free(rows);
        free(others);
        free(t);
        free(back);
    }
}

/* ---- Eigenvectors ------------------------------------------------------------------------------------------------ */

static void check_eigen(size_t n, int kind) {
    double *a = calloc(n * n, sizeof *a), *v = malloc(n * n * sizeof *v), *values = malloc(n * sizeof *values);
    ast_random random;
    ast_random_seed(&random, n, (uint64_t)kind);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i && kind > 0; j++)
            a[i * n + j] = a[j * n + i] = kind == 1 ? ast_random_normal(&random) : kind == 2 ? i == j : 1;
    memcpy(v, a, n * n * sizeof *v);
    ast_fault fault;
    ast_pool *pool;
    assert_int_equal(ast_pool_open(&pool, 2), AST_OK);
    assert_int_equal(ast_symmetric_eigen(pool, n, v, values, &fault), AST_OK);
    ast_pool_close(pool);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            double product = 0, image = 0;
            for (size_t j = 0; j < n; j++) {
                product += v[k * n + j] * v[i * n + j];
                image += a[i * n + j] * v[k * n + j];
            }
            if (fabs(product - (i == k)) > 1e-12)
                fail_msg("%zu, kind %d: vectors %zu and %zu have the product %g", n, kind, i, k, product);
            assert_true(fabs(image - values[k] * v[k * n + i]) < 1e-12 * (double)n * 4);
        }
    free(a);
    free(v);
    free(values);
}

static void test_eigen(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 17, 64, 101};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < 4; kind++) /* zero, random, the identity, all ones */
            check_eigen(sizes[s], kind);
}

/* ---- Little to learn from ---------------------------------------------------------------------------------------- */

/* One row, equal rows, rows fewer than neighbours: some map, unit rows or NaN, no failure. */
static void test_little(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 2);
    for (size_t count = 0; count < 9; count++)
        for (int equal = 0; equal < 2; equal++) {
            float x[9 * DIMENSION], rows[9 * DIMENSION];
            ast_random random;
            ast_random_seed(&random, count, 2);
            for (size_t i = 0; i < sizeof x / sizeof *x; i++)
                x[i] = equal ? 1 : (float)ast_random_normal(&random);
            ast_points points = ast_points_f4(x, count, DIMENSION);
            ast_fitted_metric fitted = {0};
            assert_int_equal(ast_metric_fit_local(context, &points, NAN, &fitted), AST_OK);
            assert_int_equal(ast_metric_apply(context, &points, &fitted.map, rows), AST_OK);
            for (size_t i = 0; i < count; i++) {
                double squared = 0;
                for (size_t d = 0; d < DIMENSION; d++)
                    squared += (double)rows[i * DIMENSION + d] * (double)rows[i * DIMENSION + d];
                assert_true(isnan(squared) || fabs(squared - 1) < 1e-6);
            }
            ast_fitted_metric_free(&fitted);
        }
}

static void test_refused(void **state) {
    (void)state;
    ast_context *context = ref_context("base", 1);
    table *t = make_table(1, false);
    float *rows = malloc(sizeof t->x);
    ast_fitted_metric fitted = fit(context, t, false, NAN);
    ast_metric map = fitted.map;
    ast_points narrow = ast_points_f4(t->x, 10, 4);
    assert_int_equal(ast_metric_apply(context, &narrow, &map, rows), AST_BAD_DATA);
    map.matrix = NULL;
    assert_int_equal(ast_metric_apply(context, &t->points, &map, rows), AST_BAD_OPTION);
    map = fitted.map;
    map.size = 1;
    assert_int_equal(ast_metric_apply(context, &t->points, &map, rows), AST_BAD_OPTION);
    t->x[8 * DIMENSION] = INFINITY;
    assert_int_equal(ast_metric_apply(context, &t->points, &fitted.map, rows), AST_BAD_DATA);
    assert_int_equal(ast_fault_row(context), 9);
    ast_fitted_metric_free(&fitted);
    assert_int_equal(ast_metric_fit_local(context, &t->points, NAN, &fitted), AST_BAD_DATA);
    ast_fitted_metric_free(&fitted);
    free(rows);
    free(t);
}

/* ---- Clusters of mapped rows ------------------------------------------------------------------------------------- */

static ast_options mapped_options(ast_method method) {
    ast_options options = ref_dp_options(80);
    options.method = method;
    options.clusters = method == AST_DP ? 0 : CLUSTERS;
    options.dp.order = method == AST_DP ? AST_ORDER_CONTENT : AST_ORDER_GIVEN;
    options.metric = AST_METRIC_LOCAL;
    return options;
}

static ast_report cluster(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels) {
    ast_report report = {.size = sizeof report};
    if (ast_cluster(context, points, options, labels, &report) != AST_OK)
        fail_msg("%s", ast_message(context));
    return report;
}

static bool same_clusters(const int32_t *a, const int32_t *b) {
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < i; j++)
            if ((a[i] == a[j]) != (b[i] == b[j]))
                return false;
    return true;
}

/* The rounds by hand: map, cluster, learn within the clusters, until they stay the same. */
static void cluster_by_hand(const table *t, ast_options options, int32_t *labels) {
    ast_context *context = ref_context("base", 1);
    ast_fitted_metric fitted = fit(context, t, false, NAN);
    float *rows = malloc(sizeof t->x);
    int32_t before[COUNT];
    options.metric = AST_METRIC_PLAIN;
    for (int round = 0; round <= 2; round++) {
        ast_points mapped = ast_points_f4(rows, COUNT, DIMENSION);
        mapped.weights = t->points.weights;
        assert_int_equal(ast_metric_apply(context, &t->points, &fitted.map, rows), AST_OK);
        cluster(context, &mapped, &options, labels);
        if (round > 0 && same_clusters(before, labels))
            break;
        memcpy(before, labels, sizeof before);
        assert_int_equal(ast_metric_fit_within(context, &t->points, labels, NAN, &fitted), AST_OK);
    }
    ast_fitted_metric_free(&fitted);
    free(rows);
}

static void check_clusters(const table *t, const ast_options *options) {
    ast_context *context = ref_context(REF_FAST, 2);
    int32_t labels[COUNT], other[COUNT];
    cluster_by_hand(t, *options, other);
    ast_report report = cluster(context, &t->points, options, labels);
    assert_memory_equal(labels, other, sizeof labels);
    assert_true(report.metric && !report.center && report.points == COUNT && report.clusters > 1);
    float means[COUNT * DIMENSION], center[DIMENSION], matrix[DIMENSION * DIMENSION], mapped_center[DIMENSION];
    memcpy(means, ast_means(context), report.clusters * DIMENSION * sizeof *means);
    memcpy(center, report.metric->center, sizeof center);
    memcpy(matrix, report.metric->matrix, sizeof matrix);
    memcpy(mapped_center, report.metric->mapped_center, sizeof mapped_center);
    ast_metric map = {sizeof map, DIMENSION, center, matrix, mapped_center};
    ast_assign_options known = ast_assign_to(means, report.clusters);
    known.metric = &map;
    assert_int_equal(ast_assign(context, &t->points, &known, other, NULL), AST_OK);
    if (options->method == AST_SPKM)
        assert_memory_equal(labels, other, sizeof labels);
    ast_options given = *options; /* the map of the result, instead of learning one */
    given.map = &map;
    cluster(context, &t->points, &given, other);
    assert_memory_equal(labels, other, sizeof labels);
    table *back = reversed(t);
    cluster(context, &back->points, options, other);
    for (size_t i = 0; i < COUNT / 2; i++) {
        int32_t label = other[i];
        other[i] = other[COUNT - 1 - i];
        other[COUNT - 1 - i] = label;
    }
    assert_true(same_clusters(labels, other));
    free(back);
}

static void test_clusters(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        table *t = make_table(seed, seed == 3);
        t->points.late = NULL;
        ast_options options = mapped_options(AST_DP);
        check_clusters(t, &options);
        options.merge.by = AST_MERGE_EVIDENCE;
        check_clusters(t, &options);
        options = mapped_options(AST_SPKM);
        check_clusters(t, &options);
        free(t);
    }
}

/* Memberships are those of mapped rows. */
static void test_memberships(void **state) {
    (void)state;
    ast_context *context = ref_context("base", 2);
    table *t = make_table(1, false);
    int32_t labels[COUNT];
    ast_options options = mapped_options(AST_MOVMF);
    ast_report report = cluster(context, &t->points, &options, labels);
    float *memberships = malloc(COUNT * CLUSTERS * sizeof *memberships);
    assert_int_equal(report.clusters, CLUSTERS);
    assert_int_equal(ast_memberships(context, &t->points, memberships, NULL), AST_OK);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < CLUSTERS; k++)
            assert_true(memberships[i * CLUSTERS + k] <= memberships[i * CLUSTERS + (size_t)labels[i]]);
    free(memberships);
    free(t);
}

static int stop_later(const ast_progress *state, void *data) {
    int *calls = data;
    return state->iteration == 1 && ++*calls == 2; /* the second run */
}

/* What fails leaves labels and the last result as they were. */
static void test_cancelled(void **state) {
    (void)state;
    ast_context *context = ref_context("base", 2);
    table *t = make_table(1, false);
    int32_t labels[COUNT], untouched[COUNT];
    ast_options options = mapped_options(AST_DP);
    ast_report report = cluster(context, &t->points, &options, labels);
    float mean = ast_means(context)[0];
    memset(untouched, 0x55, sizeof untouched);
    memcpy(labels, untouched, sizeof labels);
    int calls = 0;
    options.progress = stop_later;
    options.progress_data = &calls;
    assert_int_equal(ast_cluster(context, &t->points, &options, labels, &report), AST_CANCELLED);
    assert_memory_equal(labels, untouched, sizeof labels);
    assert_true(ast_means(context)[0] == mean);
    free(t);
}

static void check_refused(ast_options options, const ast_points *points) {
    ast_report report = {.size = sizeof report};
    int32_t labels[COUNT];
    assert_int_equal(ast_cluster(ref_context("base", 1), points, &options, labels, &report), AST_BAD_OPTION);
}

static void test_refused_options(void **state) {
    (void)state;
    table *t = make_table(1, false);
    const ast_options good = mapped_options(AST_DP);
    ast_options bad = good;
    bad.axial = 1;
    check_refused(bad, &t->points);
    bad = good;
    bad.method = AST_DPMEANS;
    check_refused(bad, &t->points);
    bad = good;
    bad.start.by = AST_GIVEN;
    bad.start.means = t->x;
    bad.start.means_count = 2;
    check_refused(bad, &t->points);
    bad = good;
    bad.metric = AST_METRIC_PLAIN;
    ast_metric map = {.size = sizeof map};
    bad.map = &map;
    check_refused(bad, &t->points);
    bad.metric = AST_METRIC_LOCAL;
    check_refused(bad, &t->points);
    t->points.late = t->late;
    check_refused(good, &t->points);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_local),           cmocka_unit_test(test_within),
                                       cmocka_unit_test(test_same_bits),       cmocka_unit_test(test_eigen),
                                       cmocka_unit_test(test_little),          cmocka_unit_test(test_clusters),
                                       cmocka_unit_test(test_memberships),     cmocka_unit_test(test_cancelled),
                                       cmocka_unit_test(test_refused_options), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
