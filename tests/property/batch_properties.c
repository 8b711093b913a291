/* SPDX-License-Identifier: MIT
 *
 * What holds for DP-vMF-means whatever the reference says: the objective, rotations, fixed points, orders, restarts.
 */
#include "reference/harness.h"

#include "random.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPS 0x1p-20

/* ---- Properties ------------------------------------------------------------------------------------------------ */

/* Clusters a case and returns its labels, for the caller to free. NULL where there is nothing to cluster. */
static int32_t *run(const ref_case *made, ast_options *options, ref_trace *trace, ast_report *report) {
    int32_t *labels = ref_take(made->points.count, sizeof *labels);
    ref_setup setup = ref_setup_number(made->seed % REF_SETUPS);
    options->progress = trace ? ref_trace_record : NULL;
    options->progress_data = trace;
    options->parallel = setup.parallel;
    options->bounds = setup.bounds;
    ast_status status = ast_cluster(ref_context(setup.isa, setup.threads), &made->points, options, labels, report);
    if (status == AST_OK)
        return labels;
    free(labels);
    if (status != AST_BAD_DATA)
        fail_msg("AST_TEST_SEED=%llu (%s): status %d", (unsigned long long)made->seed, made->text, status);
    return NULL;
}

/* J never falls by more than N eps from one pass to the next. (With unequal weights it may: the angle is the same for
 * light and heavy points, so a heavy one may join a cluster at a cost above lambda.) */
static void the_objective_never_falls(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(1500); seed++) {
        ref_case made;
        ref_points points;
        ref_trace trace = {0};
        ast_report report = {.size = sizeof report};
        ref_case_make(&made, 100000 + seed, REF_SMALL);
        ref_points_read(&points, &made.points);
        ast_options options = ref_dp_options(made.angle);
        int32_t *labels = run(&made, &options, &trace, &report);
        for (size_t t = 1; t < trace.count && points.equal; t++)
            if (trace.passes[t].objective < trace.passes[t - 1].objective - points.total * EPS)
                fail_msg("seed %llu (%s): from %.17g to %.17g in pass %zu", (unsigned long long)made.seed, made.text,
                         trace.passes[t - 1].objective, trace.passes[t].objective, t + 1);
        free(labels);
        ref_trace_free(&trace);
        ref_points_free(&points);
        ref_case_free(&made);
    }
}

/* The rows of a case as tight floats, axes permuted and flipped; NaN rows stay NaN. */
static float *turned(const ref_points *points, const uint32_t *axes, const int *flips) {
    size_t dimension = points->dimension;
    float *x = ref_take(points->count * dimension, sizeof *x);
    for (size_t i = 0; i < points->count; i++)
        for (size_t d = 0; d < dimension; d++)
            x[i * dimension + d] = points->x[i * dimension + axes[d]] * (flips[d] ? -1.0f : 1.0f);
    return x;
}

static void check_turned(uint64_t seed, int permute) {
    ref_case made;
    ref_points points;
    ast_random random;
    ast_report report = {.size = sizeof report}, turned_report = {.size = sizeof turned_report};
    uint32_t axes[128];
    int flips[128];
    ref_case_make(&made, seed, REF_SMALL);
    ref_points_read(&points, &made.points);
    ast_random_seed(&random, seed, 5);
    ast_random_permutation(&random, axes, points.dimension);
    for (size_t d = 0; d < points.dimension; d++) {
        axes[d] = permute ? axes[d] : (uint32_t)d;
        flips[d] = (int)ast_random_below(&random, 2);
    }
    float *x = turned(&points, axes, flips);
    ref_case other = made;
    other.points = ast_points_f4(x, points.count, points.dimension);
    other.points.weights = made.points.weights;
    ast_options options = ref_dp_options(made.angle);
    int32_t *labels = run(&made, &options, NULL, &report);
    int32_t *turned_labels = run(&other, &options, NULL, &turned_report);
    if (!labels != !turned_labels || (labels && memcmp(labels, turned_labels, points.count * sizeof *labels) != 0))
        fail_msg("seed %llu (%s): %s axes give other labels", (unsigned long long)seed, made.text,
                 permute ? "permuted" : "flipped");
    free(labels);
    free(turned_labels);
    free(x);
    ref_points_free(&points);
    ref_case_free(&made);
}

/* Flipping the sign of axes changes no rounding: the same labels on any data. */
static void flipped_axes_give_the_same_labels(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(800); seed++)
        check_turned(200000 + seed, 0);
}

/* Permuting axes changes the last bit of scores, so it is asked only of data without exact ties. */
static void permuted_axes_give_the_same_labels(void **state) {
    (void)state;
    for (uint64_t seed = 1, done = 0; done < ref_case_count(400); seed++) {
        ref_case made;
        ref_case_make(&made, 300000 + seed, REF_SMALL);
        int continuous = made.continuous && made.points.count > 0;
        ref_case_free(&made);
        if (!continuous)
            continue;
        check_turned(300000 + seed, 1);
        done++;
    }
}

/* After one pass nobody has died, so label k appears first after label k - 1 did. */
static void labels_are_in_order_of_creation(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(800); seed++) {
        ref_case made;
        ref_points points;
        ast_report report = {.size = sizeof report};
        int32_t next = 0;
        ref_case_make(&made, 400000 + seed, REF_SMALL);
        ref_points_read(&points, &made.points);
        ast_options options = ref_dp_options(made.angle);
        options.max_iterations = 1;
        int32_t *labels = run(&made, &options, NULL, &report);
        for (size_t i = 0; labels && i < points.count; i++) {
            if (points.missing[i] || points.weight[i] == 0)
                continue;
            if (labels[i] < 0 || labels[i] > next)
                fail_msg("seed %llu (%s): point %zu has label %d, %d are in use", (unsigned long long)made.seed,
                         made.text, i, labels[i], next);
            next += labels[i] == next;
        }
        if (labels)
            assert_int_equal(report.clusters, next);
        free(labels);
        ref_points_free(&points);
        ref_case_free(&made);
    }
}

/* ast_assign says what the reference says, and what a run that ended on these means says. */
static void check_assign(const ref_case *made, const ref_points *points, const float *means, size_t clusters,
                         double angle, const int32_t *labels) {
    size_t count = points->count;
    int32_t *got = ref_take(count, sizeof *got), *expected = ref_take(count, sizeof *expected);
    float *similarity = ref_take(count, sizeof *similarity), *scores = ref_take(count, sizeof *scores);
    ref_setup setup = ref_setup_number(made->seed * 7 % REF_SETUPS);
    ast_context *context = ref_context(setup.isa, setup.threads);
    ref_assign(points, means, clusters, angle, expected, scores);
    ast_assign_options known = ast_assign_to(means, clusters);
    known.angle = angle;
    assert_int_equal(ast_assign(context, &made->points, &known, got, similarity), AST_OK);
    for (size_t i = 0; i < count; i++) {
        int same_score = similarity[i] == scores[i] || (isnan(similarity[i]) && isnan(scores[i]));
        if (got[i] != expected[i] || !same_score)
            fail_msg("seed %llu (%s): ast_assign says %d (%.9g) of point %zu, should be %d (%.9g)",
                     (unsigned long long)made->seed, made->text, got[i], (double)similarity[i], i, expected[i],
                     (double)scores[i]);
        if (got[i] != labels[i] && (!isnan(angle) || points->weight[i] > 0))
            fail_msg("seed %llu (%s): point %zu is labelled %d and assigned to %d", (unsigned long long)made->seed,
                     made->text, i, labels[i], got[i]);
    }
    free(got);
    free(expected);
    free(similarity);
    free(scores);
}

/* A run that stopped because nothing changed is a fixed point: every point is with the nearest of the final means. */
static void check_fixed_point(const ref_case *made) {
    ref_points points;
    ref_trace trace = {0};
    ast_report report = {.size = sizeof report};
    ref_points_read(&points, &made->points);
    ast_options options = ref_dp_options(made->angle);
    int32_t *labels = run(made, &options, &trace, &report);
    if (labels && points.count > 0 && report.converged && trace.passes[trace.count - 1].changed == 0) {
        ref_setup setup = ref_setup_number(made->seed % REF_SETUPS);
        size_t numbers = report.clusters * points.dimension;
        float *means = ref_take(numbers, sizeof *means);
        memcpy(means, ast_means(ref_context(setup.isa, setup.threads)), numbers * sizeof *means);
        check_assign(made, &points, means, report.clusters, NAN, labels);
        check_assign(made, &points, means, report.clusters, made->angle, labels);
        free(means);
    }
    free(labels);
    ref_trace_free(&trace);
    ref_points_free(&points);
}

static void converged_labels_are_the_nearest_means(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(800); seed++) {
        ref_case made;
        ref_case_make(&made, 500000 + seed, REF_SMALL);
        check_fixed_point(&made);
        ref_case_free(&made);
    }
}

/* ---- Orders and restarts ------------------------------------------------------------------------------------- */

static void a_shuffle_depends_on_its_seed_alone(void **state) {
    (void)state;
    enum { N = 500 };
    float x[N * 3];
    int32_t first[N], again[N], other[N];
    ast_report report = {.size = sizeof report};
    ref_fill_clustered(x, N, 3, 12, 0.3, 0.5, 7);
    ast_points points = ast_points_f4(x, N, 3);
    ast_options options = ref_dp_options(30);
    options.dp.order = AST_ORDER_RANDOM;
    options.seed = 42;
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 1), &points, &options, first, &report), AST_OK);
    assert_int_equal(ast_cluster(ref_context("base", 8), &points, &options, again, &report), AST_OK);
    assert_memory_equal(first, again, sizeof first);
    options.seed = 43;
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 1), &points, &options, other, &report), AST_OK);
    assert_memory_not_equal(first, other, sizeof first);
}

/* Restart r is the run that visits the points by content with seed + r; the one with the best silhouette is kept, or
 * that with the best evidence if a run found one cluster; stability is the mean agreement with the others. */
static void check_restarts(const ast_points *points, double angle, ast_order order, const int32_t *labels,
                           const ast_report *report, const ast_cluster_info *clusters, int restarts) {
    enum { MOST = 400 };
    int32_t runs[8][MOST];
    double best = -INFINITY, silhouette = NAN, ari = 0;
    int kept = -1;
    for (int r = 0; r < restarts; r++) {
        ast_report one = {.size = sizeof one};
        ast_options options = ref_dp_options(angle);
        options.dp.order = r == 0 ? order : AST_ORDER_CONTENT;
        options.seed = 5 + (uint64_t)r;
        assert_int_equal(ast_cluster(ref_context("base", 2), points, &options, runs[r], &one), AST_OK);
        assert_true(one.clusters > 1 && isnan(one.stability) && isnan(one.silhouette));
        assert_int_equal(ast_silhouette(ref_context("base", 2), points, runs[r], AST_COSINE, 1, &silhouette, NULL),
                         AST_OK);
        if (silhouette > best) {
            best = silhouette;
            kept = r;
        }
    }
    assert_memory_equal(labels, runs[kept], points->count * sizeof *labels);
    assert_true(fabs(report->silhouette - best) < 1e-12); /* added up in another order */
    for (int r = 0; r < restarts; r++) {
        ast_agreement agreement = {.size = sizeof agreement};
        assert_int_equal(ast_compare(ref_context("base", 2), labels, runs[r], points->count, &agreement), AST_OK);
        ari += r == kept ? 0 : agreement.ari / (restarts - 1);
    }
    assert_true(fabs(report->stability - ari) < 1e-12);
    for (size_t k = 0; k < report->clusters; k++)
        assert_true(clusters[k].stability > 0 && clusters[k].stability <= 1);
}

static void restarts_keep_the_best_silhouette(void **state) {
    (void)state;
    enum { N = 400, RESTARTS = 6 };
    float x[N * 3];
    int32_t labels[N], again[N];
    size_t count;
    ref_fill_clustered(x, N, 3, 12, 0.3, 0.5, 11);
    ast_points points = ast_points_f4(x, N, 3);
    for (int order = AST_ORDER_GIVEN; order <= AST_ORDER_RANDOM; order++) {
        ast_report report = {.size = sizeof report};
        ast_options options = ref_dp_options(30);
        options.dp.order = (ast_order)order;
        options.seed = 5;
        options.restarts = RESTARTS;
        assert_int_equal(ast_cluster(ref_context("base", 3), &points, &options, again, &report), AST_OK);
        assert_int_equal(ast_cluster(ref_context(REF_FAST, 1), &points, &options, labels, &report), AST_OK);
        assert_memory_equal(labels, again, sizeof labels);
        check_restarts(&points, 30, (ast_order)order, labels, &report, ast_clusters(ref_context(REF_FAST, 1), &count),
                       RESTARTS);
    }
}

/* One cluster has no silhouette. */
static void restarts_without_silhouette_compare_the_evidence(void **state) {
    (void)state;
    enum { N = 300 };
    float x[N * 3];
    int32_t labels[N];
    ref_fill_clustered(x, N, 3, 1, 0.2, 0, 3);
    ast_points points = ast_points_f4(x, N, 3);
    ast_report report = {.size = sizeof report};
    ast_options options = ref_dp_options(170);
    options.restarts = 3;
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
    assert_int_equal(report.clusters, 1);
    assert_true(isnan(report.silhouette) && report.stability == 1);
}

/* Permuted rows have permuted labels, bit for bit. */
static void content_order_ignores_the_order_of_rows(void **state) {
    (void)state;
    enum { N = 600 };
    static float x[N * 12], y[N * 12];
    static double weights[N], permuted[N];
    int32_t labels[N], other[N];
    uint32_t order[N];
    for (uint64_t seed = 1; seed <= ref_case_count(60); seed++) {
        ast_random random;
        size_t dimension = seed % 3 == 0 ? 3 : 12;
        ast_random_seed(&random, seed, 3);
        ref_fill_clustered(x, N, dimension, 9, 0.4, 0.3, seed);
        ast_random_permutation(&random, order, N);
        for (size_t i = 0; i < N; i++) {
            if (i % 50 == 7)
                x[i * dimension] = NAN;
            weights[i] = (double)ast_random_below(&random, 4);
        }
        for (size_t i = 0; i < N; i++) {
            memcpy(y + i * dimension, x + order[i] * dimension, dimension * sizeof *y);
            permuted[i] = weights[order[i]];
        }
        ast_points points = ast_points_f4(x, N, dimension), again = ast_points_f4(y, N, dimension);
        points.weights = seed % 2 ? weights : NULL;
        again.weights = seed % 2 ? permuted : NULL;
        ast_report report = {.size = sizeof report}, second = {.size = sizeof second};
        ast_options options = ref_dp_options(20 + (double)(seed % 5) * 10);
        options.dp.order = AST_ORDER_CONTENT;
        options.axial = seed % 4 == 0;
        options.seed = seed;
        options.restarts = seed % 5 == 0 ? 3 : 1;
        assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
        assert_int_equal(ast_cluster(ref_context("base", 3), &again, &options, other, &second), AST_OK);
        assert_true(report.clusters == second.clusters && report.objective == second.objective);
        for (size_t i = 0; i < N; i++)
            if (other[i] != labels[order[i]])
                fail_msg("seed %llu: row %u", (unsigned long long)seed, order[i]);
    }
}

/* A limit on iterations that will never be met costs nothing. */
static void a_huge_iteration_limit_is_free(void **state) {
    (void)state;
    float x[] = {1, 0, 0.8f, 0.6f, 0, 1};
    int32_t labels[3];
    ast_report report = {.size = sizeof report};
    ast_points points = ast_points_f4(x, 3, 2);
    ast_options options = ref_dp_options(45);
    options.max_iterations = INT_MAX;
    assert_int_equal(ast_cluster(ref_context("base", 1), &points, &options, labels, &report), AST_OK);
    assert_int_equal(report.converged, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_objective_never_falls),
        cmocka_unit_test(flipped_axes_give_the_same_labels),
        cmocka_unit_test(permuted_axes_give_the_same_labels),
        cmocka_unit_test(labels_are_in_order_of_creation),
        cmocka_unit_test(converged_labels_are_the_nearest_means),
        cmocka_unit_test(a_shuffle_depends_on_its_seed_alone),
        cmocka_unit_test(restarts_keep_the_best_silhouette),
        cmocka_unit_test(restarts_without_silhouette_compare_the_evidence),
        cmocka_unit_test(content_order_ignores_the_order_of_rows),
        cmocka_unit_test(a_huge_iteration_limit_is_free),
    };
    return cmocka_run_group_tests_name("properties of the batch", tests, NULL, ref_contexts_end);
}
