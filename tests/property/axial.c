/* SPDX-License-Identifier: MIT
 *
 * What holds of axial data (docs/axial.md) whatever the reference says: the signs of the rows change nothing, the
 * objective never falls, both ends of an axis are one, right angles. (That the library equals the reference is shown in
 * batch.c, spkm.c and stream.c.) A failure prints AST_TEST_SEED=... */
#include "reference/harness.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPS 0x1p-20

/* Negates random rows where they are: the sign is the top bit of every type. */
static void flip_rows(ref_case *made) {
    const ast_points *view = &made->points;
    size_t size = view->type == AST_F8 ? 8 : view->type == AST_F4 ? 4 : 2;
    ast_random random;
    ast_random_seed(&random, made->seed, 73);
    for (size_t i = 0; i < view->count; i++) {
        unsigned char *at = (unsigned char *)view->data + (ptrdiff_t)i * view->row_stride;
        for (size_t d = 0, flip = ast_random_below(&random, 2); flip && d < view->dimension; d++)
            at[(ptrdiff_t)d * view->column_stride + (ptrdiff_t)size - 1] ^= 0x80;
    }
}

/* One run, kept: what the next run of the context does not overwrite. */
typedef struct outcome {
    ast_status status;
    ast_report report;
    int32_t *labels;
    float *means;
} outcome;

static outcome run(const ref_case *made, const ast_options *options) {
    outcome got = {.report.size = sizeof got.report, .labels = ref_take(made->points.count, sizeof(int32_t))};
    ref_setup setup = ref_setup_number(made->seed * 11 % REF_SETUPS);
    ast_context *context = ref_context(setup.isa, setup.threads);
    ast_options way = *options;
    way.axial = 1;
    way.parallel = setup.parallel;
    way.bounds = setup.bounds;
    got.status = ast_cluster(context, &made->points, &way, got.labels, &got.report);
    size_t numbers = got.status == AST_OK ? got.report.clusters * made->points.dimension : 0;
    got.means = ref_take(numbers, sizeof *got.means);
    if (numbers > 0)
        memcpy(got.means, ast_means(context), numbers * sizeof *got.means);
    return got;
}

static void outcome_free(outcome *got) {
    free(got->labels);
    free(got->means);
}

static void check_same(const ref_case *made, const outcome *a, const outcome *b) {
    size_t numbers = a->report.clusters * made->points.dimension;
    if (a->status != b->status)
        fail_msg("AST_TEST_SEED=%llu (%s): status %d, and %d with other signs", (unsigned long long)made->seed,
                 made->text, a->status, b->status);
    if (a->status != AST_OK)
        return;
    if (memcmp(a->labels, b->labels, made->points.count * sizeof *a->labels) != 0 ||
        a->report.objective != b->report.objective || a->report.iterations != b->report.iterations ||
        memcmp(a->means, b->means, numbers * sizeof *a->means) != 0)
        fail_msg("AST_TEST_SEED=%llu (%s): other signs give another result, objective %.17g and %.17g",
                 (unsigned long long)made->seed, made->text, a->report.objective, b->report.objective);
}

static void check_signs(uint64_t seed, const ast_options *given, int use_angle) {
    ref_case made;
    ast_options options = *given;
    ref_case_make(&made, seed, REF_SMALL);
    if (use_angle)
        options.angle = made.angle;
    outcome first = run(&made, &options);
    flip_rows(&made);
    outcome second = run(&made, &options);
    check_same(&made, &first, &second);
    outcome_free(&first);
    outcome_free(&second);
    ref_case_free(&made);
}

static void signs_of_rows_change_nothing(void **state) {
    (void)state;
    ast_options dp = ref_dp_options(0), spkm = ref_dp_options(NAN);
    spkm.method = AST_SPKM;
    for (uint64_t seed = 600001; seed <= 600000 + ref_case_count(800); seed++) {
        dp.dp.order = seed % 5 == 0 ? AST_ORDER_RANDOM : AST_ORDER_GIVEN;
        check_signs(seed, &dp, 1);
        spkm.clusters = 1 + seed % 7;
        spkm.start.by = seed % 2 ? AST_PLUSPLUS : AST_RANDOM;
        spkm.restarts = 1 + seed % 3 / 2;
        check_signs(seed, &spkm, 0);
    }
}

static void the_objective_never_falls(void **state) {
    (void)state;
    for (uint64_t seed = 700001; seed <= 700000 + ref_case_count(800); seed++) {
        ref_case made;
        ref_points points;
        ref_trace trace = {0};
        ref_case_make(&made, seed, REF_SMALL);
        ref_points_read(&points, &made.points);
        ast_options options = ref_dp_options(made.angle);
        options.progress = ref_trace_record;
        options.progress_data = &trace;
        outcome got = run(&made, &options);
        for (size_t t = 1; t < trace.count && points.equal; t++)
            if (trace.passes[t].objective < trace.passes[t - 1].objective - points.total * EPS)
                fail_msg("AST_TEST_SEED=%llu (%s): from %.17g to %.17g in pass %zu", (unsigned long long)seed,
                         made.text, trace.passes[t - 1].objective, trace.passes[t].objective, t + 1);
        if (got.status == AST_OK && points.used > 0 && made.angle >= 90 && got.report.clusters != 1)
            fail_msg("AST_TEST_SEED=%llu (%s): %zu clusters at a right angle or more", (unsigned long long)seed,
                     made.text, got.report.clusters);
        outcome_free(&got);
        ref_trace_free(&trace);
        ref_points_free(&points);
        ref_case_free(&made);
    }
}

/* ---- Assigning and predicting ---------------------------------------------------------------------------------- */

static void check_assign(uint64_t seed, double angle) {
    ref_case made;
    ref_points points;
    ref_case_make(&made, seed, REF_SMALL);
    size_t count = made.points.count;
    ref_points_read(&points, &made.points);
    ref_points_turn(&points);
    int32_t *got = ref_take(count, sizeof *got), *expected = ref_take(count, sizeof *expected);
    float *similarity = ref_take(count, sizeof *similarity), *scores = ref_take(count, sizeof *scores);
    ref_setup setup = ref_setup_number(seed * 7 % REF_SETUPS);
    ast_context *context = ref_context(setup.isa, setup.threads);
    if (made.means) {
        ref_assign(&points, made.means, made.means_count, angle, expected, scores);
        ast_assign_options known = ast_assign_to(made.means, made.means_count);
        known.angle = angle;
        known.axial = 1;
        assert_int_equal(ast_assign(context, &made.points, &known, got, similarity), AST_OK);
    }
    for (size_t i = 0; i < count; i++) {
        int same_score = similarity[i] == scores[i] || (isnan(similarity[i]) && isnan(scores[i]));
        if (got[i] != expected[i] || !same_score || similarity[i] < 0)
            fail_msg("AST_TEST_SEED=%llu (%s): point %zu is assigned to %d (%.9g), should be %d (%.9g)",
                     (unsigned long long)seed, made.text, i, got[i], (double)similarity[i], expected[i],
                     (double)scores[i]);
    }
    free(got);
    free(expected);
    free(similarity);
    free(scores);
    ref_points_free(&points);
    ref_case_free(&made);
}

static void assigning_has_no_sign(void **state) {
    (void)state;
    for (uint64_t seed = 800001; seed <= 800000 + ref_case_count(1500); seed++)
        check_assign(seed, seed % 3 ? (double)(seed % 100) : NAN);
}

/* ---- Both ends of an axis, right angles ------------------------------------------------------------------------ */

static const size_t dimensions[] = {2, 3, 4, 5, 17, 64, 300, 1025};

#define DIMENSIONS (sizeof dimensions / sizeof *dimensions)

/* Rows of a few random axes, at random ends: as many clusters as axes, at no more than the rounding of an angle. */
static void both_ends_are_one_cluster(void **state) {
    (void)state;
    enum { N = 150, AXES = 4 };
    for (uint64_t seed = 1; seed <= 3 * DIMENSIONS; seed++) {
        size_t dimension = dimensions[seed % DIMENSIONS];
        double *axes = ref_take(AXES * dimension, sizeof *axes);
        float *x = ref_take(N * dimension, sizeof *x);
        int32_t labels[N], kinds[N], of_kind[AXES] = {-1, -1, -1, -1};
        ast_random random;
        ast_report report = {.size = sizeof report};
        ast_random_seed(&random, seed, 74);
        for (size_t k = 0; k < AXES; k++)
            ref_random_direction(&random, axes + k * dimension, dimension);
        for (size_t i = 0; i < N; i++) {
            kinds[i] = i < AXES ? (int32_t)i : (int32_t)ast_random_below(&random, AXES);
            double end = ast_random_below(&random, 2) ? 1 : -1;
            for (size_t d = 0; d < dimension; d++)
                x[i * dimension + d] = (float)(end * axes[(size_t)kinds[i] * dimension + d]);
        }
        ast_points points = ast_points_f4(x, N, dimension);
        ast_options options = ref_dp_options(0.2);
        options.axial = 1;
        assert_int_equal(ast_cluster(ref_context(seed % 2 ? "base" : REF_FAST, 2), &points, &options, labels, &report),
                         AST_OK);
        assert_int_equal(report.clusters, AXES);
        for (size_t i = 0; i < N; i++) {
            int32_t *label = &of_kind[kinds[i]];
            *label = *label < 0 ? labels[i] : *label;
            assert_int_equal(labels[i], *label);
        }
        assert_true(fabs(report.objective - N - AXES * (cos(0.2 * M_PI / 180) - 1)) < 1e-4);
        free(axes);
        free(x);
    }
}

/* The coordinate axes at random ends: products of exactly 0. */
static void right_angles(void **state) {
    (void)state;
    for (size_t c = 0; c < 2 * DIMENSIONS; c++) {
        size_t dimension = dimensions[c / 2];
        if (REF_SLOWER > 1 && dimension > 400) /* for time */
            continue;
        float *x = ref_take(dimension * dimension, sizeof *x);
        int32_t *labels = ref_take(dimension, sizeof *labels);
        ast_report report = {.size = sizeof report};
        for (size_t i = 0; i < dimension; i++)
            x[i * dimension + i] = i % 3 == 1 ? -1 : 1;
        ast_points points = ast_points_f4(x, dimension, dimension);
        ast_options options = ref_dp_options(c % 2 ? 90 : 89);
        options.axial = 1;
        ast_context *context = ref_context(c % 3 ? "base" : REF_FAST, 3);
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        assert_int_equal(report.clusters, c % 2 ? 1 : dimension);
        if (c % 2) /* every sign is +, so that the sum is (1, 1, ...) */
            for (size_t d = 0; d < dimension; d++)
                assert_true(fabs((double)ast_means(context)[d] - 1 / sqrt((double)dimension)) < 1e-6);
        free(x);
        free(labels);
    }
}

/* ---- Large dimensions against the reference -------------------------------------------------------------------- */

static void check_large(uint64_t seed) {
    static const size_t wide[] = {100, 257, 300, 1025};
    size_t dimension = wide[seed % 4], count = 260;
    ref_case made = {.seed = seed, .angle = 20 + (double)(seed * 7 % 60), .text = "large dimension, its own test"};
    ref_points points;
    ref_result expected;
    float *x = made.data = ref_take(count * dimension, sizeof *x);
    ref_fill_clustered(x, count, dimension, 9, 0.7 / sqrt((double)dimension), 0.1, seed);
    made.points = ast_points_f4(x, count, dimension);
    flip_rows(&made);
    ref_points_read(&points, &made.points);
    ref_points_turn(&points);
    ast_options options = ref_dp_options(made.angle);
    options.axial = 1;
    ref_dp(&expected, &points, made.angle, 100, NULL, 0);
    for (size_t way = 0; way < 3; way++) {
        ref_setup setup = ref_setup_number((seed * 5 + way * 17) % REF_SETUPS);
        ref_check_run(&made, &points, &expected, &options, &setup);
    }
    ref_result_free(&expected);
    ref_points_free(&points);
    ref_case_free(&made);
}

static void large_dimensions_equal_the_reference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(24); seed++)
        check_large(seed);
}

/* ---- Streams --------------------------------------------------------------------------------------------------- */

static void check_one_frame(uint64_t seed) {
    ref_case made;
    ref_case_make(&made, seed, REF_SMALL);
    made.points.weights = NULL;
    ast_options options = ref_dp_options(made.angle);
    outcome batch = run(&made, &options);
    ast_stream_options stream_options;
    ast_stream_options_init(&stream_options);
    stream_options.dimension = made.points.dimension;
    stream_options.angle = made.angle;
    stream_options.axial = 1;
    stream_options.method = (ast_stream_method)(seed % 3);
    ref_setup setup = ref_setup_number(seed % REF_SETUPS);
    ast_stream *stream;
    ast_stream_open(&stream, ref_context(setup.isa, setup.threads), &stream_options);
    int32_t *labels = ref_take(made.points.count, sizeof *labels);
    ast_frame frame = {.size = sizeof frame};
    assert_non_null(stream);
    assert_int_equal(ast_stream_step(stream, &made.points, labels, &frame), AST_OK);
    if (memcmp(labels, batch.labels, made.points.count * sizeof *labels) != 0 ||
        fabs(frame.objective - batch.report.objective) > 1e-9 * (double)(1 + made.points.count))
        fail_msg("AST_TEST_SEED=%llu (%s): a stream of one frame is no batch", (unsigned long long)seed, made.text);
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    assert_int_equal(count, batch.report.clusters);
    for (size_t k = 0; k < count; k++)
        assert_memory_equal(clusters[k].mean, batch.means + k * made.points.dimension,
                            made.points.dimension * sizeof(float));
    ast_stream_close(stream);
    free(labels);
    outcome_free(&batch);
    ref_case_free(&made);
}

static void a_stream_of_one_frame_is_a_batch(void **state) {
    (void)state;
    for (uint64_t seed = 900001; seed <= 900000 + ref_case_count(600); seed++)
        check_one_frame(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_angles),
        cmocka_unit_test(both_ends_are_one_cluster),
        cmocka_unit_test(signs_of_rows_change_nothing),
        cmocka_unit_test(the_objective_never_falls),
        cmocka_unit_test(assigning_has_no_sign),
        cmocka_unit_test(large_dimensions_equal_the_reference),
        cmocka_unit_test(a_stream_of_one_frame_is_a_batch),
    };
    return cmocka_run_group_tests_name("axial data", tests, NULL, ref_contexts_end);
}
