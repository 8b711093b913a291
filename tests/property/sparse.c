/* SPDX-License-Identifier: MIT
 *
 * Sparse rows against the reference, which reads the same points densely: labels, means, objectives and traces bit for
 * bit, in every way to run. A failure prints AST_TEST_SEED=...: with that in the environment the program runs the one
 * case in all ways. */
#include "reference/harness.h"
#include "reference/sparse.h"

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case of which the library gets the sparse view. */
typedef struct sparse_case {
    ref_case made; /* its points are the sparse ones */
    ref_points points;
    ref_sparse sparse;
    ast_random random;
} sparse_case;

static void open_made(sparse_case *c, uint64_t seed) {
    static const double shares[] = {0.05, 0.2, 0.5, 1};
    ast_random_seed(&c->random, seed, 41);
    ref_thin_out(&c->made.points, shares[ast_random_below(&c->random, 4)], &c->random);
    ref_points_read(&c->points, &c->made.points);
    ref_compress(&c->sparse, &c->made.points, &c->random);
    c->made.points = c->sparse.view;
}

static void open_case(sparse_case *c, uint64_t seed, ref_size size) {
    ref_case_make(&c->made, seed, size);
    open_made(c, seed);
}

/* Clustered points of a dimension that is large to the library: several blocks, births in late passes. */
static void open_clustered(sparse_case *c, uint64_t seed) {
    static const size_t dimensions[] = {5, 9, 16, 40};
    static const double angles[] = {40, 55, 65, 75};
    size_t dimension = dimensions[seed % 4], count = 600 + 300 * (seed % 4);
    memset(c, 0, sizeof *c);
    c->made.seed = seed;
    c->made.angle = angles[seed / 4 % 4];
    snprintf(c->made.text, sizeof c->made.text, "clustered, %zu x %zu; the seed of its own test", count, dimension);
    float *x = c->made.data = ref_take(count * dimension, sizeof *x);
    ref_fill_clustered(x, count, dimension, 12, 0.2, 0.1, seed);
    c->made.points = ast_points_f4(x, count, dimension);
    open_made(c, seed);
}

static void close_case(sparse_case *c) {
    ref_points_free(&c->points);
    ref_sparse_free(&c->sparse);
    ref_case_free(&c->made);
}

/* ---- DP-vMF-means ---------------------------------------------------------------------------------------------- */

static void check_dp(sparse_case *c, size_t ways) {
    ref_result expected;
    ast_options options = ref_dp_options(c->made.angle);
    if (c->made.means) {
        options.start.by = AST_GIVEN;
        options.start.means = c->made.means;
        options.start.means_count = c->made.means_count;
    }
    ref_dp(&expected, &c->points, c->made.angle, options.max_iterations, c->made.means, c->made.means_count);
    for (size_t way = 0; way < ways; way++) {
        ref_setup setup = ref_setup_of_way(&c->random, way, ways);
        ref_check_run(&c->made, &c->points, &expected, &options, &setup);
    }
    ref_result_free(&expected);
}

static void check_dp_case(uint64_t seed, ref_size size, size_t ways) {
    sparse_case c;
    open_case(&c, seed, size);
    check_dp(&c, ways);
    close_case(&c);
}

static void dp_equals_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_dp_case, REF_SMALL, 600, 3);
    ref_check_seeds(check_dp_case, REF_LARGE, 2, 2);
}

static void check_dp_clustered(uint64_t seed, ref_size size, size_t ways) {
    sparse_case c;
    (void)size;
    open_clustered(&c, seed);
    check_dp(&c, ways);
    close_case(&c);
}

static void clustered_dp_equals_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_dp_clustered, REF_SMALL, 5, 4);
}

/* ---- Spherical k-means ----------------------------------------------------------------------------------------- */

static ast_options spkm_options(size_t clusters) {
    ast_options options;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.clusters = clusters;
    return options;
}

static float *draw_means(sparse_case *c, size_t clusters) {
    size_t dimension = c->points.dimension;
    float *means = ref_take(clusters * dimension, sizeof *means);
    for (size_t k = 0; k < clusters; k++) {
        size_t i = (size_t)ast_random_below(&c->random, c->points.count);
        int copy = !c->points.missing[i] && ast_random_below(&c->random, 4) > 0;
        for (size_t d = 0; d < dimension; d++)
            means[k * dimension + d] = copy ? c->points.x[i * dimension + d] : (float)ast_random_normal(&c->random);
    }
    return means;
}

static void check_spkm(sparse_case *c, size_t ways) {
    if (c->points.used == 0)
        return;
    ref_result expected;
    size_t most = c->points.used < 30 ? c->points.used : 30, clusters = 1 + (size_t)ast_random_below(&c->random, most);
    float *means = draw_means(c, clusters);
    ast_options options = spkm_options(clusters);
    options.start.by = AST_GIVEN;
    options.start.means = means;
    options.start.means_count = clusters;
    options.max_iterations = 40;
    ref_spkm(&expected, &c->points, means, clusters, 40);
    for (size_t way = 0; way < ways; way++) {
        ref_setup setup = ref_setup_of_way(&c->random, way, ways);
        ref_check_run(&c->made, &c->points, &expected, &options, &setup);
    }
    ref_result_free(&expected);
    free(means);
}

static void check_spkm_case(uint64_t seed, ref_size size, size_t ways) {
    sparse_case c;
    open_case(&c, seed, size);
    check_spkm(&c, ways);
    close_case(&c);
}

static void check_spkm_clustered(uint64_t seed, ref_size size, size_t ways) {
    sparse_case c;
    (void)size;
    open_clustered(&c, seed);
    check_spkm(&c, ways);
    close_case(&c);
}

static void spkm_equals_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_spkm_case, REF_SMALL, 600, 3);
    ref_check_seeds(check_spkm_clustered, REF_SMALL, 12, 4);
}

/* ---- Assignment, and what has no reference: against the dense run ------------------------------------------------ */

static void check_assign_case(uint64_t seed, ref_size size, size_t ways) {
    sparse_case c;
    open_case(&c, seed, size);
    size_t count = c.points.count;
    if (count > 0) {
        size_t clusters = 1 + (size_t)ast_random_below(&c.random, 20);
        float *means = draw_means(&c, clusters);
        double angle = ast_random_below(&c.random, 2) ? c.made.angle : NAN;
        int32_t *labels = ref_take(count, sizeof *labels), *expected = ref_take(count, sizeof *expected);
        float *cosines = ref_take(count, sizeof *cosines), *cosines_expected = ref_take(count, sizeof *cosines);
        ref_assign(&c.points, means, clusters, angle, expected, cosines_expected);
        for (size_t way = 0; way < ways; way++) {
            ref_setup setup = ref_setup_of_way(&c.random, way, ways);
            ast_context *context = ref_context(setup.isa, setup.threads);
            ast_assign_options known = ast_assign_to(means, clusters);
            known.angle = angle;
            assert_int_equal(ast_assign(context, &c.made.points, &known, labels, cosines), AST_OK);
            for (size_t i = 0; i < count; i++)
                if (labels[i] != expected[i] || (cosines[i] != cosines_expected[i] && !isnan(cosines_expected[i])))
                    fail_msg("AST_TEST_SEED=%llu (%s): point %zu is assigned to %d, should be %d",
                             (unsigned long long)seed, c.made.text, i, labels[i], expected[i]);
        }
        free(means);
        free(labels);
        free(expected);
        free(cosines);
        free(cosines_expected);
    }
    close_case(&c);
}

static void assignment_equals_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_assign_case, REF_SMALL, 1000, 2);
}

/* Labels, report and silhouette of the dense view and of the sparse one. */
static void compare_views(const ast_points *dense, const ast_points *sparse, const ast_options *options,
                          const ref_setup *setup, uint64_t seed) {
    size_t count = dense->count, used;
    ast_context *context = ref_context(setup->isa, setup->threads);
    int32_t *labels = ref_take(count, sizeof *labels), *expected = ref_take(count, sizeof *expected);
    ast_report report = {.size = sizeof report}, report_expected = {.size = sizeof report_expected};
    double width = -9, width_expected = -9;
    assert_int_equal(ast_cluster(context, dense, options, expected, &report_expected), AST_OK);
    ast_status measured = ast_silhouette(context, dense, expected, AST_COSINE, 1, &width_expected, &used);
    ast_options other = *options;
    other.parallel = setup->parallel;
    other.bounds = setup->bounds;
    assert_int_equal(ast_cluster(context, sparse, &other, labels, &report), AST_OK);
    if (memcmp(labels, expected, count * sizeof *labels) != 0 || report.objective != report_expected.objective ||
        report.iterations != report_expected.iterations || report.missing != report_expected.missing)
        fail_msg("seed %llu: sparse rows have another result (%s)", (unsigned long long)seed, ref_setup_text(setup));
    assert_int_equal(ast_silhouette(context, sparse, labels, AST_COSINE, 1, &width, &used), measured);
    if (width != width_expected)
        fail_msg("seed %llu: silhouette %.17g, densely %.17g", (unsigned long long)seed, width, width_expected);
    free(labels);
    free(expected);
}

/* Starts that are drawn, restarts and orders: the same random numbers fall on the same points. */
static void drawn_starts_equal_the_dense_run(void **state) {
    (void)state;
    static const size_t dimensions[] = {3, 6, 23, 64, 90};
    for (uint64_t seed = 1; seed <= ref_case_count(80); seed++) {
        size_t dimension = dimensions[seed % 5], count = 200 + 60 * (seed % 7);
        float *x = ref_take(count * dimension, sizeof *x);
        ast_random random;
        ref_sparse sparse;
        ref_fill_clustered(x, count, dimension, 8, 0.2, 0.2, seed);
        ast_points dense = ast_points_f4(x, count, dimension);
        ast_random_seed(&random, seed, 42);
        ref_thin_out(&dense, seed % 3 ? 0.3 : 1, &random);
        ref_compress(&sparse, &dense, &random);
        ast_options options = spkm_options(1 + seed % 12);
        options.start.by = seed % 2 ? AST_PLUSPLUS : AST_RANDOM;
        options.seed = seed;
        options.restarts = 1 + (int)(seed % 3);
        if (seed % 4 == 0) {
            options.method = AST_DP;
            options.start.by = AST_PLUSPLUS;
            options.angle = 30 + (double)(seed % 50);
            options.dp.order = seed % 8 ? AST_ORDER_RANDOM : AST_ORDER_CONTENT;
        }
        ref_setup setup = ref_setup_number(seed * 7 % REF_SETUPS);
        compare_views(&dense, &sparse.view, &options, &setup, seed);
        ref_sparse_free(&sparse);
        free(x);
    }
}

/* Columns that nobody has change nothing: the same entries spread over a hundred thousand columns. */
static void empty_columns_change_nothing(void **state) {
    (void)state;
    enum { COUNT = 400, DIMENSION = 30, WIDE = 100000 };
    for (uint64_t seed = 1; seed <= ref_case_count(3); seed++) {
        float *x = ref_take((size_t)COUNT * DIMENSION, sizeof *x);
        ast_random random;
        ref_sparse sparse;
        ref_fill_clustered(x, COUNT, DIMENSION, 6, 0.3, 0.1, seed);
        ast_points dense = ast_points_f4(x, COUNT, DIMENSION);
        ast_random_seed(&random, seed, 43);
        ref_thin_out(&dense, 0.3, &random);
        ref_compress(&sparse, &dense, &random);
        ast_options options = ref_dp_options(75);
        int32_t expected[COUNT], labels[COUNT];
        ast_report narrow = {.size = sizeof narrow}, wide = {.size = sizeof wide};
        ast_context *context = ref_context(seed % 2 ? REF_FAST : "base", 1 + (int)(seed % 3));
        assert_int_equal(ast_cluster(context, &sparse.view, &options, expected, &narrow), AST_OK);
        for (size_t e = 0; e < (size_t)COUNT * DIMENSION + 8; e++) { /* column d becomes 3000 d + 11 */
            if (sparse.view.index == AST_I8)
                ((int64_t *)sparse.columns)[e] = 3000 * ((int64_t *)sparse.columns)[e] + 11;
            else
                ((int32_t *)sparse.columns)[e] = 3000 * ((int32_t *)sparse.columns)[e] + 11;
        }
        sparse.view.dimension = WIDE;
        assert_int_equal(ast_cluster(context, &sparse.view, &options, labels, &wide), AST_OK);
        assert_memory_equal(labels, expected, sizeof labels);
        assert_true(wide.objective == narrow.objective && wide.dimension == WIDE);
        ref_sparse_free(&sparse);
        free(x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dp_equals_the_reference),          cmocka_unit_test(clustered_dp_equals_the_reference),
        cmocka_unit_test(spkm_equals_the_reference),        cmocka_unit_test(assignment_equals_the_reference),
        cmocka_unit_test(drawn_starts_equal_the_dense_run), cmocka_unit_test(empty_columns_change_nothing),
    };
    return cmocka_run_group_tests_name("sparse", tests, NULL, ref_contexts_end);
}
