/* SPDX-License-Identifier: MIT
 *
 * DP-vMF-means against the reference. A failure prints AST_TEST_SEED=...: with that in the environment the program runs
 * the one case, in all 48 ways. */
#include "reference/harness.h"

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Against the reference ------------------------------------------------------------------------------------- */

static void check_either(uint64_t seed, ref_size size, size_t ways, int axial) {
    ref_case made;
    ref_points points;
    ref_result expected;
    ast_random random;
    ref_case_make(&made, seed, size);
    ref_points_read(&points, &made.points);
    if (axial)
        ref_points_turn(&points);
    ast_options options = ref_dp_options(made.angle);
    options.axial = axial;
    ast_random_seed(&random, seed, 99);
    if (ast_random_below(&random, 8) == 0)
        options.max_iterations = 1 + (int)ast_random_below(&random, 4);
    if (made.means) {
        options.start.by = AST_GIVEN;
        options.start.means = made.means;
        options.start.means_count = made.means_count;
    }
    ref_dp(&expected, &points, made.angle, options.max_iterations, made.means, made.means_count);
    for (size_t way = 0; way < ways; way++) {
        ref_setup setup = ref_setup_of_way(&random, way, ways);
        ref_check_run(&made, &points, &expected, &options, &setup);
    }
    ref_result_free(&expected);
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
    ref_check_seeds(check_case, REF_SMALL, 800, 5);
}

static void large_cases_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_LARGE, 24, 6);
}

static void axial_cases_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_axial_case, REF_SMALL, 500, 5);
    ref_check_seeds(check_axial_case, REF_LARGE, 12, 5);
}

/* Noise that settles slowly: clusters are born in the thirtieth pass, when bounds skip nearly every point. */
static void check_late_births(uint64_t seed, int axial) {
    static const struct {
        size_t count, dimension;
        double angle, spread, noise;
    } shapes[] = {{8000, 8, 50, 0.2, 0.3}, {9000, 3, 12, 0.1, 0.3}, {8000, 5, 40, 0.15, 0.3}, {20000, 3, 25, 0.1, 0.1}};
    size_t shape = seed % 4, dimension = shapes[shape].dimension;
    size_t count = shapes[shape].count / (REF_SLOWER > 10 ? 4 : 1); /* for time */
    ref_case made = {.seed = seed, .angle = shapes[shape].angle};
    ref_points points;
    ref_result expected;
    float *x = made.data = ref_take(count * dimension, sizeof *x);
    snprintf(made.text, sizeof made.text, "late births, %zu x %zu%s; the seed of its own test", count, dimension,
             axial ? ", axial" : "");
    ref_fill_clustered(x, count, dimension, 20, shapes[shape].spread, shapes[shape].noise, seed);
    made.points = ast_points_f4(x, count, dimension);
    ref_points_read(&points, &made.points);
    if (axial)
        ref_points_turn(&points);
    ast_options options = ref_dp_options(made.angle);
    options.axial = axial;
    ref_dp(&expected, &points, made.angle, options.max_iterations, NULL, 0);
    for (int threads = 1; threads <= 3; threads++) {
        ref_setup setup = {threads == 2 ? "base" : REF_FAST, threads, AST_ORDERED, 1};
        ref_check_run(&made, &points, &expected, &options, &setup);
    }
    ref_result_free(&expected);
    ref_points_free(&points);
    ref_case_free(&made);
}

static void late_births_equal_the_reference(void **state) {
    (void)state;
    uint64_t last = 8 + (REF_SLOWER > 1 ? 0 : ref_case_count(6));
    for (uint64_t seed = 8; seed <= last && ref_case_only() == 0; seed++)
        check_late_births(seed, seed == 11 || seed == 12);
}

/* ---- The reference itself, by hand ----------------------------------------------------------------------------- */

/* Clusters tight rows and compares reference and library with labels worked out on paper. */
static void check_by_hand(const float *x, size_t count, size_t dimension, double angle, const int32_t *labels,
                          double objective) {
    ast_points view = ast_points_f4(x, count, dimension);
    ast_options options = ref_dp_options(angle);
    ast_report report = {.size = sizeof report};
    ref_points points;
    ref_result result;
    int32_t *got = ref_take(count, sizeof *got);
    ref_points_read(&points, &view);
    ref_dp(&result, &points, angle, 100, NULL, 0);
    assert_memory_equal(result.labels, labels, count * sizeof *labels);
    assert_true(fabs(result.objective - objective) < 1e-6);
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &view, &options, got, &report), AST_OK);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_cases_equal_the_reference),
        cmocka_unit_test(large_cases_equal_the_reference),
        cmocka_unit_test(axial_cases_equal_the_reference),
        cmocka_unit_test(late_births_equal_the_reference),
        cmocka_unit_test(hand_computed_cases),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, ref_contexts_end);
}
