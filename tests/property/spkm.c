/* SPDX-License-Identifier: MIT
 *
 * Spherical k-means: from given means bit for bit against the reference; from drawn ones the properties that any draw
 * has. A failure prints AST_TEST_SEED=...: with that in the environment the program runs the one case in all ways. */
#include "reference/harness.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ast_options spkm_options(size_t clusters) {
    ast_options options;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.clusters = clusters;
    return options;
}

/* ---- Against the reference ------------------------------------------------------------------------------------- */

/* Means to start from: points of the set, some of them twice (which leaves clusters empty), and random directions. */
static float *draw_means(const ref_points *points, size_t clusters, ast_random *random) {
    size_t dimension = points->dimension;
    float *means = ref_take(clusters * dimension, sizeof *means);
    for (size_t k = 0; k < clusters; k++) {
        size_t i = (size_t)ast_random_below(random, points->count);
        int copy = !points->missing[i] && ast_random_below(random, 4) > 0;
        for (size_t d = 0; d < dimension; d++)
            means[k * dimension + d] = copy ? points->x[i * dimension + d] : (float)ast_random_normal(random);
    }
    return means;
}

static void check_either(uint64_t seed, ref_size size, size_t ways, int axial) {
    ref_case made;
    ref_points points;
    ast_random random;
    ref_case_make(&made, seed, size);
    ref_points_read(&points, &made.points);
    if (axial)
        ref_points_turn(&points);
    ast_random_seed(&random, seed, 98);
    if (points.used > 0) {
        ref_result expected;
        size_t most = points.used < 30 ? points.used : 30, clusters = 1 + (size_t)ast_random_below(&random, most);
        float *means = draw_means(&points, clusters, &random);
        ast_options options = spkm_options(ast_random_below(&random, 2) ? clusters : 0);
        options.axial = axial;
        options.start.by = AST_GIVEN;
        options.start.means = means;
        options.start.means_count = clusters;
        options.max_iterations = ast_random_below(&random, 6) ? 40 : 1 + (int)ast_random_below(&random, 3);
        ref_spkm(&expected, &points, means, clusters, options.max_iterations);
        for (size_t way = 0; way < ways; way++) {
            ref_setup setup = ref_setup_of_way(&random, way, ways);
            ref_check_run(&made, &points, &expected, &options, &setup);
        }
        ref_result_free(&expected);
        free(means);
    }
    ref_points_free(&points);
    ref_case_free(&made);
}

static void check_case(uint64_t seed, ref_size size, size_t ways) {
    check_either(seed, size, ways, 0);
}

static void check_axial_case(uint64_t seed, ref_size size, size_t ways) {
    check_either(seed, size, ways, 1);
}

static void small_cases_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_SMALL, 700, 5);
}

static void large_cases_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_LARGE, 12, 6);
}

static void axial_cases_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_axial_case, REF_SMALL, 400, 5);
    ref_check_seeds(check_axial_case, REF_LARGE, 8, 5);
}

static void hand_computed_cases(void **state) {
    (void)state;
    /* Both means are the x axis, so the second is empty: it takes the point that fits worst, (-1, 0). From then on the
     * clusters are right and left. */
    float x[] = {1, 0, 0.8f, 0.6f, -1, 0, -0.8f, 0.6f}, means[] = {1, 0, 1, 0};
    ast_points view = ast_points_f4(x, 4, 2);
    ast_options options = spkm_options(2);
    ast_report report = {.size = sizeof report};
    int32_t labels[4];
    ref_points points;
    ref_result result;
    options.start.by = AST_GIVEN;
    options.start.means = means;
    options.start.means_count = 2;
    ref_points_read(&points, &view);
    ref_spkm(&result, &points, means, 2, 100);
    assert_memory_equal(result.labels, ((int32_t[]){0, 0, 1, 1}), sizeof labels);
    assert_true(fabs(result.objective - 2 * sqrt(1.8 * 1.8 + 0.6 * 0.6)) < 1e-6);
    assert_int_equal(ast_cluster(ref_context("base", 2), &view, &options, labels, &report), AST_OK);
    assert_memory_equal(labels, result.labels, sizeof labels);
    ref_result_free(&result);
    ref_points_free(&points);
}

/* ---- Drawn starts ---------------------------------------------------------------------------------------------- */

enum { N = 700, RESTARTS = 5 };

static void fill(float *x, size_t dimension, uint64_t seed) {
    ref_fill_clustered(x, N, dimension, 9, 0.2, 0.2, seed);
}

static void check_partition(const ast_points *points, const ast_context *context, const int32_t *labels,
                            const ast_report *report, size_t clusters, uint64_t seed, int axial) {
    ref_points read;
    int32_t expected[N];
    size_t *sizes = ref_take(clusters, sizeof *sizes);
    ref_points_read(&read, points);
    if (axial)
        ref_points_turn(&read);
    assert_int_equal(report->clusters, clusters);
    ref_assign(&read, ast_means(context), clusters, NAN, expected, NULL);
    for (size_t i = 0; i < N; i++) {
        if (labels[i] < 0 || (size_t)labels[i] >= clusters)
            fail_msg("seed %llu: label %d of %zu clusters", (unsigned long long)seed, labels[i], clusters);
        sizes[labels[i]]++;
        if (report->converged && labels[i] != expected[i])
            fail_msg("seed %llu: point %zu is labelled %d, mean %d is nearer", (unsigned long long)seed, i, labels[i],
                     expected[i]);
    }
    for (size_t k = 0; k < clusters; k++)
        if (sizes[k] == 0)
            fail_msg("seed %llu: cluster %zu of %zu is empty", (unsigned long long)seed, k, clusters);
    free(sizes);
    ref_points_free(&read);
}

static void check_drawn(ast_start start, size_t dimension, size_t clusters, uint64_t seed, int axial) {
    float *x = ref_take(N * dimension, sizeof *x);
    int32_t labels[N], again[N];
    ast_report report = {.size = sizeof report}, report_again = {.size = sizeof report_again};
    fill(x, dimension, seed);
    ast_points points = ast_points_f4(x, N, dimension);
    ast_options options = spkm_options(clusters);
    options.start.by = start;
    options.seed = seed;
    options.axial = axial;
    for (size_t way = 0; way < 3; way++) {
        ref_setup setup = ref_setup_number((seed * 5 + way * 19) % REF_SETUPS);
        ast_context *context = ref_context(setup.isa, setup.threads);
        options.parallel = setup.parallel;
        options.bounds = setup.bounds;
        assert_int_equal(ast_cluster(context, &points, &options, way ? again : labels, way ? &report_again : &report),
                         AST_OK);
        if (way > 0 && (memcmp(labels, again, sizeof labels) != 0 || report.objective != report_again.objective))
            fail_msg("start %d, %zu clusters, seed %llu: another result with %s", start, clusters,
                     (unsigned long long)seed, ref_setup_text(&setup));
        check_partition(&points, context, labels, &report, clusters, seed, axial);
    }
    free(x);
}

static void drawn_starts_depend_on_the_seed_alone(void **state) {
    (void)state;
    static const size_t dimensions[] = {2, 3, 8, 40}, counts[] = {1, 2, 9, 25};
    for (uint64_t seed = 1; seed <= ref_case_count(48); seed++)
        check_drawn(seed % 2 ? AST_PLUSPLUS : AST_RANDOM, dimensions[seed / 2 % 4], counts[seed / 8 % 4], seed,
                    seed % 3 == 0);
}

static void another_seed_is_another_start(void **state) {
    (void)state;
    float x[N * 3];
    int32_t first[N], other[N];
    ast_report report = {.size = sizeof report};
    ast_context *context = ref_context(REF_FAST, 2);
    fill(x, 3, 1);
    ast_points points = ast_points_f4(x, N, 3);
    for (int start = AST_PLUSPLUS; start <= AST_RANDOM; start++) {
        ast_options options = spkm_options(20);
        options.start.by = (ast_start)start;
        options.max_iterations = 1;
        assert_int_equal(ast_cluster(context, &points, &options, first, &report), AST_OK);
        options.seed = 2;
        assert_int_equal(ast_cluster(context, &points, &options, other, &report), AST_OK);
        assert_memory_not_equal(first, other, sizeof first);
    }
}

/* k-means++ spreads its means: with nine tight, far clusters it must find all of them nearly always; random points
 * almost never do (9! / 9^9 = 0.1 %). */
static void plusplus_finds_separate_clusters(void **state) {
    (void)state;
    float x[N * 3];
    int32_t labels[N];
    ast_report report = {.size = sizeof report};
    ref_fill_clustered(x, N, 3, 9, 0.005, 0, 4);
    ast_points points = ast_points_f4(x, N, 3);
    int found = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        ast_options options = spkm_options(9);
        options.seed = seed;
        assert_int_equal(ast_cluster(ref_context(REF_FAST, 1), &points, &options, labels, &report), AST_OK);
        found += report.objective > 0.999 * N;
    }
    if (found < 30)
        fail_msg("k-means++ found nine far clusters with %d of 40 seeds", found);
}

static void restarts_keep_the_best_objective(void **state) {
    (void)state;
    float x[N * 3];
    int32_t labels[N];
    fill(x, 3, 6);
    ast_points points = ast_points_f4(x, N, 3);
    for (int start = AST_PLUSPLUS; start <= AST_RANDOM; start++) {
        ref_trace trace = {0};
        ast_report report = {.size = sizeof report};
        ast_options options = spkm_options(14);
        options.start.by = (ast_start)start;
        options.restarts = RESTARTS;
        options.progress = ref_trace_record;
        options.progress_data = &trace;
        assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
        double best = -INFINITY, worst = INFINITY;
        int restarts = 0;
        for (size_t t = 0; t < trace.count; t++) {
            if (t + 1 < trace.count && trace.passes[t + 1].restart == trace.passes[t].restart)
                continue;
            assert_int_equal(trace.passes[t].restart, restarts++);
            best = fmax(best, trace.passes[t].objective);
            worst = fmin(worst, trace.passes[t].objective);
        }
        assert_int_equal(restarts, RESTARTS);
        assert_true(worst < best); /* otherwise nothing was chosen */
        assert_true(fabs(report.objective - best) < 1e-9);
        check_partition(&points, ref_context(REF_FAST, 2), labels, &report, 14, 6, 0);
        ref_trace_free(&trace);
    }
}

/* What k-means++ tells while it draws, and after how many starts it is to stop. */
typedef struct drawing {
    int starts, passes, stop;
} drawing;

static int note_start(const ast_progress *state, void *data) {
    drawing *d = data;
    if (state->iteration > 0) {
        d->passes++;
        return 0;
    }
    assert_int_equal(d->passes, 0);
    d->starts++;
    assert_int_equal(state->clusters, d->starts);
    assert_int_equal(state->scored, N);
    assert_int_equal(state->changed, 0);
    assert_true(state->objective == 0 && state->restart == 0);
    return d->starts == d->stop;
}

/* Every start but the last makes a call, and any call can end it. */
static void drawing_starts_can_be_cancelled(void **state) {
    (void)state;
    float x[N * 3];
    fill(x, 3, 6);
    ast_points points = ast_points_f4(x, N, 3);
    for (int stop = 0; stop < 14; stop++) {
        drawing d = {.stop = stop};
        int32_t labels[N] = {-77};
        ast_report report = {.size = sizeof report};
        ast_options options = spkm_options(14);
        ast_context *context = ref_context(REF_FAST, 2);
        options.start.by = AST_PLUSPLUS;
        options.progress = note_start;
        options.progress_data = &d;
        ast_status status = ast_cluster(context, &points, &options, labels, &report);
        assert_int_equal(status, stop ? AST_CANCELLED : AST_OK);
        assert_int_equal(d.starts, stop ? stop : 13);
        assert_int_equal(d.passes, stop ? 0 : report.iterations);
        if (stop)
            assert_int_equal(labels[0], -77);
    }
}

/* ---- Corners --------------------------------------------------------------------------------------------------- */

/* K = N is valid: every point its own cluster. K > N is not, and rows that are missing do not count. */
static void as_many_clusters_as_points(void **state) {
    (void)state;
    float x[] = {1, 0, 0, 1, NAN, 0, -1, 0, 0.6f, 0.8f};
    ast_points points = ast_points_f4(x, 5, 2);
    ast_report report = {.size = sizeof report};
    for (int start = AST_PLUSPLUS; start <= AST_RANDOM; start++) {
        int32_t labels[5] = {-77, -77, -77, -77, -77};
        ast_options options = spkm_options(5);
        options.start.by = (ast_start)start;
        assert_int_equal(ast_cluster(ref_context(REF_FAST, 1), &points, &options, labels, &report), AST_BAD_DATA);
        assert_int_equal(labels[0], -77);
        options.clusters = 4;
        assert_int_equal(ast_cluster(ref_context(REF_FAST, 1), &points, &options, labels, &report), AST_OK);
        assert_int_equal(labels[2], -1);
        unsigned used = 0;
        for (int i = 0; i < 5; i++)
            used |= i == 2 ? 0 : 1u << labels[i];
        assert_int_equal(used, 15);
    }
}

/* Equal points in more clusters than one: every cluster still gets one. */
static void equal_points_fill_every_cluster(void **state) {
    (void)state;
    float x[10 * 3];
    ast_report report = {.size = sizeof report};
    for (int i = 0; i < 30; i++)
        x[i] = i % 3 == 0 ? 0.6f : i % 3 == 1 ? 0.8f : 0;
    ast_points points = ast_points_f4(x, 10, 3);
    for (int start = AST_PLUSPLUS; start <= AST_RANDOM; start++) {
        int32_t labels[10];
        size_t sizes[3] = {0};
        ast_options options = spkm_options(3);
        options.start.by = (ast_start)start;
        assert_int_equal(ast_cluster(ref_context("base", 2), &points, &options, labels, &report), AST_OK);
        for (int i = 0; i < 10; i++)
            sizes[labels[i]]++;
        assert_true(sizes[0] > 0 && sizes[1] > 0 && sizes[2] > 0);
        assert_true(fabs(report.objective - 10) < 1e-5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_computed_cases),
        cmocka_unit_test(small_cases_equal_the_reference),
        cmocka_unit_test(large_cases_equal_the_reference),
        cmocka_unit_test(axial_cases_equal_the_reference),
        cmocka_unit_test(drawn_starts_depend_on_the_seed_alone),
        cmocka_unit_test(another_seed_is_another_start),
        cmocka_unit_test(plusplus_finds_separate_clusters),
        cmocka_unit_test(restarts_keep_the_best_objective),
        cmocka_unit_test(drawing_starts_can_be_cancelled),
        cmocka_unit_test(as_many_clusters_as_points),
        cmocka_unit_test(equal_points_fill_every_cluster),
    };
    return cmocka_run_group_tests_name("spkm", tests, NULL, ref_contexts_end);
}
