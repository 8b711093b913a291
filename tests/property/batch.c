/* SPDX-License-Identifier: MIT
 *
 * DP-vMF-means against the reference, and properties that hold whatever the reference says. A failure prints
 * AST_TEST_SEED=...: with that in the environment the program runs the one case, in all 48 ways. */
#include "reference/harness.h"

#include "random.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPS 0x1p-20

static ast_options dp_options(double angle) {
    ast_options options;
    ast_options_init(&options);
    options.angle = angle;
    return options;
}

/* ---- Against the reference ------------------------------------------------------------------------------------- */

static void check_case(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ref_points points;
    ref_result expected;
    ast_random random;
    ref_case_make(&made, seed, size);
    ref_points_read(&points, &made.points);
    ast_options options = dp_options(made.angle);
    ast_random_seed(&random, seed, 99);
    if (ast_random_below(&random, 8) == 0)
        options.max_iterations = 1 + (int)ast_random_below(&random, 4);
    if (made.means) {
        options.start = AST_GIVEN;
        options.means = made.means;
        options.means_count = made.means_count;
    }
    ref_dp(&expected, &points, made.angle, options.max_iterations, made.means, made.means_count);
    for (size_t way = 0; way < ways; way++) {
        /* A few at random, so that all are met over the cases; all of them if asked for. */
        size_t number = ways == REF_SETUPS ? way : (size_t)ast_random_below(&random, REF_SETUPS);
        ref_setup setup = ref_setup_number(number);
        ref_check_run(&made, &points, &expected, &options, &setup);
    }
    ref_result_free(&expected);
    ref_points_free(&points);
    ref_case_free(&made);
}

static void small_cases_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_SMALL, 2500, 5);
}

static void large_cases_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_LARGE, 40, 6);
}

/* Noise that settles slowly: clusters are born in the thirtieth pass, when bounds skip nearly every point. */
static void check_late_births(uint64_t seed) {
    static const struct {
        size_t count, dimension;
        double angle, spread, noise;
    } shapes[] = {{8000, 8, 50, 0.2, 0.3}, {20000, 3, 25, 0.1, 0.1}, {8000, 5, 40, 0.15, 0.3}, {9000, 3, 12, 0.1, 0.3}};
    size_t shape = seed % 4, count = shapes[shape].count, dimension = shapes[shape].dimension;
    ref_case made = {.seed = seed, .angle = shapes[shape].angle};
    ref_points points;
    ref_result expected;
    float *x = made.data = ref_take(count * dimension, sizeof *x);
    snprintf(made.text, sizeof made.text, "late births, %zu x %zu; the seed of its own test", count, dimension);
    ref_fill_clustered(x, count, dimension, 20, shapes[shape].spread, shapes[shape].noise, seed);
    made.points = ast_points_f4(x, count, dimension);
    ref_points_read(&points, &made.points);
    ast_options options = dp_options(made.angle);
    ref_dp(&expected, &points, made.angle, options.max_iterations, NULL, 0);
    for (int threads = 1; threads <= 3; threads++) {
        ref_setup setup = {threads == 2 ? "base" : "avx2", threads, AST_ORDERED, 1};
        ref_check_run(&made, &points, &expected, &options, &setup);
    }
    ref_result_free(&expected);
    ref_points_free(&points);
    ref_case_free(&made);
}

static void late_births_equal_the_reference(void **state) {
    (void)state;
    for (uint64_t seed = 8; seed < 9 + 12 / REF_SLOWER && ref_case_only() == 0; seed++)
        check_late_births(seed);
}

/* ---- The reference itself, by hand ----------------------------------------------------------------------------- */

/* Clusters tight rows and compares reference and library with labels worked out on paper. */
static void check_by_hand(const float *x, size_t count, size_t dimension, double angle, const int32_t *labels,
                          double objective) {
    ast_points view = ast_points_f4(x, count, dimension);
    ast_options options = dp_options(angle);
    ast_report report;
    ref_points points;
    ref_result result;
    int32_t *got = ref_take(count, sizeof *got);
    ref_points_read(&points, &view);
    ref_dp(&result, &points, angle, 100, NULL, 0);
    assert_memory_equal(result.labels, labels, count * sizeof *labels);
    assert_true(fabs(result.objective - objective) < 1e-6);
    assert_int_equal(ast_cluster(ref_context("avx2", 2), &view, &options, got, &report), AST_OK);
    assert_memory_equal(got, labels, count * sizeof *labels);
    assert_true(fabs(report.objective - objective) < 1e-6);
    ref_result_free(&result);
    ref_points_free(&points);
    free(got);
}

static void hand_computed_cases(void **state) {
    (void)state;
    /* Two near one axis, one on the other: at 45 degrees the sums are (1.8, 0.6) and (0, 1); lambda = cos 45 - 1. */
    check_by_hand((float[]){1, 0, 0.8f, 0.6f, 0, 1}, 3, 2, 45, (int32_t[]){0, 0, 1},
                  sqrt(1.8 * 1.8 + 0.6 * 0.6) + 1 + 2 * (sqrt(0.5) - 1));
    /* Orthogonal points fit each other at 90 degrees exactly: one cluster, and (1, 1, 1) / sqrt 3 still fits all. */
    check_by_hand((float[]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3, 90, (int32_t[]){0, 0, 0}, sqrt(3) - 1);
    /* At 89 degrees they do not. */
    check_by_hand((float[]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, 3, 89, (int32_t[]){0, 1, 2},
                  3 + 3 * (cos(89 * M_PI / 180) - 1));
    /* Antipodes in one cluster at 180 degrees: the sum is zero, the first mean stays, the cluster counts nothing. */
    check_by_hand((float[]){1, 0, -1, 0}, 2, 2, 180, (int32_t[]){0, 0}, -2);
    /* Duplicates are one cluster at 0 degrees, whatever their length; a zero row and a NaN are missing. */
    check_by_hand((float[]){0.6f, 0.8f, 6, 8, 0, 0, NAN, 1, 0.8f, 0.6f, 3, 4}, 6, 2, 0, (int32_t[]){0, 0, -1, -1, 1, 0},
                  4);
    /* 50, 0 and 26 degrees at 30: the third joins the first. Their mean is 38; in the second pass nothing moves: 0 is
     * alone and 38 away. */
    check_by_hand((float[]){0.64278761f, 0.76604444f, 1, 0, 0.89879405f, 0.43837115f}, 3, 2, 30, (int32_t[]){0, 1, 0},
                  2 * cos(12 * M_PI / 180) + 1 + 2 * (cos(30 * M_PI / 180) - 1));
    /* 0, 40 and 20 degrees at 30: the third joins one of them, mean 10 or 30; then the other is alone and 30 away: it
     * fits, within eps, and its cluster dies. One cluster around 20 remains. */
    check_by_hand((float[]){1, 0, 0.76604444f, 0.64278761f, 0.93969262f, 0.34202014f}, 3, 2, 30, (int32_t[]){0, 0, 0},
                  1 + 2 * cos(20 * M_PI / 180) + cos(30 * M_PI / 180) - 1);
}

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
        ast_report report;
        ref_case_make(&made, 100000 + seed, REF_SMALL);
        ref_points_read(&points, &made.points);
        ast_options options = dp_options(made.angle);
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
    ast_report report, turned_report;
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
    ast_options options = dp_options(made.angle);
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
        ast_report report;
        int32_t next = 0;
        ref_case_make(&made, 400000 + seed, REF_SMALL);
        ref_points_read(&points, &made.points);
        ast_options options = dp_options(made.angle);
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
    assert_int_equal(ast_assign(context, &made->points, means, clusters, angle, got, similarity), AST_OK);
    for (size_t i = 0; i < count; i++) {
        int same_score = similarity[i] == scores[i] || (isnan(similarity[i]) && isnan(scores[i]));
        if (got[i] != expected[i] || !same_score)
            fail_msg("seed %llu (%s): ast_assign says %d (%.9g) of point %zu, should be %d (%.9g)",
                     (unsigned long long)made->seed, made->text, got[i], (double)similarity[i], i, expected[i],
                     (double)scores[i]);
        if (got[i] != labels[i] && (isnan(angle) || points->weight[i] > 0))
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
    ast_report report;
    ref_points_read(&points, &made->points);
    ast_options options = dp_options(made->angle);
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

/* ---- Shuffles and restarts ------------------------------------------------------------------------------------- */

static void a_shuffle_depends_on_its_seed_alone(void **state) {
    (void)state;
    enum { N = 500 };
    float x[N * 3];
    int32_t first[N], again[N], other[N];
    ast_report report;
    ref_fill_clustered(x, N, 3, 12, 0.3, 0.5, 7);
    ast_points points = ast_points_f4(x, N, 3);
    ast_options options = dp_options(30);
    options.shuffle = 1;
    options.seed = 42;
    assert_int_equal(ast_cluster(ref_context("avx2", 1), &points, &options, first, &report), AST_OK);
    assert_int_equal(ast_cluster(ref_context("base", 8), &points, &options, again, &report), AST_OK);
    assert_memory_equal(first, again, sizeof first);
    options.seed = 43;
    assert_int_equal(ast_cluster(ref_context("avx2", 1), &points, &options, other, &report), AST_OK);
    assert_memory_not_equal(first, other, sizeof first);
}

static void restarts_keep_the_best_objective(void **state) {
    (void)state;
    enum { N = 400, RESTARTS = 6 };
    float x[N * 3];
    int32_t labels[N], again[N];
    ref_fill_clustered(x, N, 3, 12, 0.3, 0.5, 11);
    ast_points points = ast_points_f4(x, N, 3);
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        ref_trace trace = {0};
        ast_report report;
        ast_options options = dp_options(30);
        options.shuffle = shuffle;
        options.restarts = RESTARTS;
        options.progress = ref_trace_record;
        options.progress_data = &trace;
        assert_int_equal(ast_cluster(ref_context("avx2", 2), &points, &options, labels, &report), AST_OK);
        double best = -INFINITY;
        int restarts = 0, iterations = 0;
        for (size_t t = 0; t < trace.count; t++) {
            if (t + 1 < trace.count && trace.passes[t + 1].restart == trace.passes[t].restart)
                continue;
            assert_int_equal(trace.passes[t].restart, restarts);
            restarts++;
            if (trace.passes[t].objective > best) {
                best = trace.passes[t].objective;
                iterations = trace.passes[t].iteration;
            }
        }
        assert_int_equal(restarts, RESTARTS);
        assert_true(fabs(report.objective - best) < 1e-9);
        assert_int_equal(report.iterations, iterations);
        assert_int_equal(ast_cluster(ref_context("base", 3), &points, &options, again, &report), AST_OK);
        assert_memory_equal(labels, again, sizeof labels);
        ref_trace_free(&trace);
    }
}

/* A limit on iterations that will never be met costs nothing. */
static void a_huge_iteration_limit_is_free(void **state) {
    (void)state;
    float x[] = {1, 0, 0.8f, 0.6f, 0, 1};
    int32_t labels[3];
    ast_report report;
    ast_points points = ast_points_f4(x, 3, 2);
    ast_options options = dp_options(45);
    options.max_iterations = INT_MAX;
    assert_int_equal(ast_cluster(ref_context("base", 1), &points, &options, labels, &report), AST_OK);
    assert_int_equal(report.converged, 1);
}

/* ---- Bad input ------------------------------------------------------------------------------------------------- */

static int cancel_at_second(const ast_progress *progress, void *data) {
    (void)data;
    return progress->iteration == 2;
}

static void cancelling_leaves_labels_untouched(void **state) {
    (void)state;
    enum { N = 300 };
    float x[N * 3];
    int32_t labels[N], before[N];
    ast_report report, report_before;
    ast_context *context = ref_context("avx2", 2);
    ref_fill_clustered(x, N, 3, 12, 0.3, 0.5, 3);
    memset(before, 0x5a, sizeof before);
    memcpy(labels, before, sizeof labels);
    memset(&report, 0x5a, sizeof report);
    memcpy(&report_before, &report, sizeof report);
    ast_points points = ast_points_f4(x, N, 3);
    ast_options options = dp_options(30);
    options.progress = cancel_at_second;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_CANCELLED);
    assert_memory_equal(labels, before, sizeof labels);
    assert_memory_equal(&report, &report_before, sizeof report);
    assert_true(strlen(ast_message(context)) > 0);
    options.progress = NULL;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_string_equal(ast_message(context), "");
}

/* Whether the message names the number, alone and not as part of another. */
static int names(const char *message, size_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%zu", number);
    for (const char *at = strstr(message, digits); at; at = strstr(at + 1, digits)) {
        int before = at > message && at[-1] >= '0' && at[-1] <= '9', after = at[length] >= '0' && at[length] <= '9';
        if (!before && !after)
            return 1;
    }
    return 0;
}

static void infinity_names_its_row(void **state) {
    (void)state;
    static const size_t rows[] = {0, 137, 1023, 4999};
    enum { N = 5000, D = 5 };
    float *x = ref_take(N * D, sizeof *x);
    int32_t *labels = ref_take(N, sizeof *labels);
    for (size_t r = 0; r < 4; r++) {
        ast_report report;
        ast_context *context = ref_context(r % 2 ? "base" : "avx2", r < 2 ? 1 : 3);
        ref_fill_clustered(x, N, D, 4, 0.1, 0, 3);
        x[rows[r] * D + 3] = r % 2 ? -INFINITY : INFINITY;
        x[(N - 1) * D] = INFINITY; /* the first one is named */
        ast_points points = ast_points_f4(x, N, D);
        ast_options options = dp_options(30);
        labels[0] = labels[N - 1] = -77;
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_DATA);
        if (!names(ast_message(context), rows[r]) && !names(ast_message(context), rows[r] + 1))
            fail_msg("an infinity in row %zu (from 0): %s", rows[r], ast_message(context));
        assert_int_equal(labels[0], -77);
        assert_int_equal(labels[N - 1], -77);
        assert_int_equal(ast_assign(context, &points, x + D, 1, NAN, labels, NULL), AST_BAD_DATA);
    }
    free(x);
    free(labels);
}

/* The options are a problem, the sentence mentions `word`, and a run says the same and writes nothing. */
static void check_problem(const ast_options *options, const char *word) {
    float x[] = {1, 0, 0, 1, 0.6f, 0.8f};
    int32_t labels[3] = {-77, -77, -77};
    ast_report report;
    ast_points points = ast_points_f4(x, 3, 2);
    ast_context *context = ref_context("base", 1);
    const char *problem = ast_options_problem(options);
    if (!problem)
        fail_msg("no problem with a bad %s", word);
    if (!strstr(problem, word) || strlen(problem) < 15)
        fail_msg("a bad %s is described as: %s", word, problem);
    assert_int_equal(ast_cluster(context, &points, options, labels, &report), AST_BAD_OPTION);
    assert_true(strlen(ast_message(context)) > 0);
    assert_int_equal(labels[0], -77);
    assert_int_equal(labels[2], -77);
}

static void every_bad_option_has_a_sentence(void **state) {
    (void)state;
    static const double angles[] = {NAN, -1, -1e-9, 180.0001, INFINITY, -INFINITY};
    ast_options good = dp_options(30), bad;
    float means[] = {1, 0};
    assert_null(ast_options_problem(&good));
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        bad = good;
        bad.angle = angles[i];
        check_problem(&bad, "angle");
    }
    bad = good, bad.max_iterations = 0;
    check_problem(&bad, "iterations");
    bad = good, bad.restarts = 0;
    check_problem(&bad, "restarts");
    bad = good, bad.method = (ast_method)9;
    check_problem(&bad, "method");
    bad = good, bad.parallel = (ast_parallel)9;
    check_problem(&bad, "parallel");
    bad = good, bad.start = (ast_start)9;
    check_problem(&bad, "start");
    bad = good, bad.start = AST_GIVEN;
    check_problem(&bad, "means");
    bad = good, bad.start = AST_GIVEN, bad.means = means;
    check_problem(&bad, "means");
    bad = good, bad.start = AST_GIVEN, bad.means_count = 1;
    check_problem(&bad, "means");
    bad = good, bad.means = means, bad.means_count = 1;
    check_problem(&bad, "means");
    bad = good, bad.method = AST_SPKM;
    check_problem(&bad, "clusters");
    bad = good, bad.method = AST_SPKM, bad.clusters = 2, bad.start = AST_GIVEN, bad.means = means, bad.means_count = 1;
    check_problem(&bad, "means");
}

static void check_bad_call(const ast_points *points, const ast_options *options, const char *what) {
    int32_t labels[4] = {-77, -77, -77, -77};
    ast_report report;
    ast_context *context = ref_context("avx2", 2);
    ast_status status = ast_cluster(context, points, options, labels, &report);
    if (status != AST_BAD_OPTION && status != AST_BAD_DATA)
        fail_msg("%s gives status %d", what, status);
    if (strlen(ast_message(context)) < 10 || labels[0] != -77)
        fail_msg("%s: message \"%s\", first label %d", what, ast_message(context), labels[0]);
}

static void bad_points_are_refused(void **state) {
    (void)state;
    float x[] = {1, 0, 0, 1, 0.6f, 0.8f, 0, -1};
    double weights[4] = {1, 1, 1, 1};
    float means[] = {NAN, 1}, zero[] = {0, 0}, infinite[] = {INFINITY, 0};
    ast_options options = dp_options(30);
    ast_points good = ast_points_f4(x, 4, 2), bad;
    bad = good, bad.dimension = 1;
    check_bad_call(&bad, &options, "dimension 1");
    bad = good, bad.dimension = 4097;
    check_bad_call(&bad, &options, "dimension 4097");
    bad = good, bad.count = (size_t)1 << 31;
    check_bad_call(&bad, &options, "2^31 points");
    bad = good, bad.data = NULL;
    check_bad_call(&bad, &options, "no data");
    bad = good, bad.type = (ast_type)5;
    check_bad_call(&bad, &options, "type 5");
    static const double strange[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        bad = good, bad.weights = weights;
        weights[2] = strange[i];
        check_bad_call(&bad, &options, "a weight below 0 or not finite");
    }
    const float *bad_means[] = {means, zero, infinite};
    for (size_t i = 0; i < 3; i++) {
        options.start = AST_GIVEN;
        options.means = bad_means[i];
        options.means_count = 1;
        check_bad_call(&good, &options, "a mean without direction");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_computed_cases),
        cmocka_unit_test(small_cases_equal_the_reference),
        cmocka_unit_test(large_cases_equal_the_reference),
        cmocka_unit_test(late_births_equal_the_reference),
        cmocka_unit_test(the_objective_never_falls),
        cmocka_unit_test(flipped_axes_give_the_same_labels),
        cmocka_unit_test(permuted_axes_give_the_same_labels),
        cmocka_unit_test(labels_are_in_order_of_creation),
        cmocka_unit_test(converged_labels_are_the_nearest_means),
        cmocka_unit_test(a_shuffle_depends_on_its_seed_alone),
        cmocka_unit_test(restarts_keep_the_best_objective),
        cmocka_unit_test(a_huge_iteration_limit_is_free),
        cmocka_unit_test(cancelling_leaves_labels_untouched),
        cmocka_unit_test(infinity_names_its_row),
        cmocka_unit_test(every_bad_option_has_a_sentence),
        cmocka_unit_test(bad_points_are_refused),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, ref_contexts_end);
}
