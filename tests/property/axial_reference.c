/* SPDX-License-Identifier: MIT
 *
 * The references for axial points (docs/axial.md) among themselves and by hand, so that what the library is compared
 * with can be believed: signs of rows change nothing, the objective never falls, a stream of one frame is a batch,
 * points in one half space far from its edge are directed points. */
#include "reference/harness.h"
#include "reference/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPS 0x1p-20

/* Negates random rows as a reader would see them: before they are turned. */
static void flip_rows(ref_points *points, uint64_t seed) {
    ast_random random;
    ast_random_seed(&random, seed, 71);
    for (size_t i = 0; i < points->count; i++)
        if (ast_random_below(&random, 2))
            ref_negate(points->x + i * points->dimension, points->dimension);
}

static void read_axial(ref_points *points, const ref_case *made, int flip) {
    ref_points_read(points, &made->points);
    if (flip)
        flip_rows(points, made->seed);
    ref_points_turn(points);
}

static void check_same(const ref_case *made, const ref_result *a, const ref_result *b, size_t count, size_t dimension) {
    if (memcmp(a->labels, b->labels, count * sizeof *a->labels) != 0 || a->objective != b->objective ||
        a->iterations != b->iterations || a->clusters != b->clusters ||
        memcmp(a->means, b->means, a->clusters * dimension * sizeof(float)) != 0)
        fail_msg("AST_TEST_SEED=%llu (%s): depends on the signs of the rows", (unsigned long long)made->seed,
                 made->text);
}

static void check_rising(const ref_case *made, const ref_points *points, const ref_result *result) {
    for (int t = 1; t < result->iterations && points->equal; t++)
        if (result->passes[t].objective < result->passes[t - 1].objective - points->total * EPS)
            fail_msg("AST_TEST_SEED=%llu (%s): from %.17g to %.17g in pass %d", (unsigned long long)made->seed,
                     made->text, result->passes[t - 1].objective, result->passes[t].objective, t + 1);
}

static void check_batch(uint64_t seed, ref_size size, size_t ways) {
    (void)ways;
    ref_case made;
    ref_points points, flipped;
    ref_result first, second;
    ref_case_make(&made, seed, size);
    read_axial(&points, &made, 0);
    read_axial(&flipped, &made, 1);
    ref_dp(&first, &points, made.angle, 100, made.means, made.means_count);
    ref_dp(&second, &flipped, made.angle, 100, made.means, made.means_count);
    check_same(&made, &first, &second, points.count, points.dimension);
    if (!made.means)
        check_rising(&made, &points, &first);
    if (!made.means && made.angle >= 90 && points.used > 0)
        assert_int_equal(first.clusters, 1);
    ref_result_free(&first);
    ref_result_free(&second);
    ref_points_free(&points);
    ref_points_free(&flipped);
    ref_case_free(&made);
}

static void batches_do_not_see_signs(void **state) {
    (void)state;
    ref_check_seeds(check_batch, REF_SMALL, 1500, 1);
}

static void check_kmeans(uint64_t seed, ref_size size, size_t ways) {
    (void)ways;
    ref_case made;
    ref_points points, flipped;
    ref_case_make(&made, seed, size);
    read_axial(&points, &made, 0);
    read_axial(&flipped, &made, 1);
    if (made.means && made.means_count <= points.used) {
        ref_result first, second;
        ref_spkm(&first, &points, made.means, made.means_count, 40);
        ref_spkm(&second, &flipped, made.means, made.means_count, 40);
        check_same(&made, &first, &second, points.count, points.dimension);
        check_rising(&made, &points, &first);
        ref_result_free(&first);
        ref_result_free(&second);
    }
    ref_points_free(&points);
    ref_points_free(&flipped);
    ref_case_free(&made);
}

static void kmeans_does_not_see_signs(void **state) {
    (void)state;
    ref_check_seeds(check_kmeans, REF_SMALL, 1500, 1);
}

/* ---- Streams --------------------------------------------------------------------------------------------------- */

static ast_stream_options stream_options(const ref_case *made, ast_stream_method method) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = made->points.dimension;
    options.angle = made->angle;
    options.method = method;
    return options;
}

/* Of ids in order of birth: the same partition, and numbered alike where nobody died in between. */
static void check_one_frame(const ref_case *made, const ref_points *points, ast_stream_method method) {
    ref_stream stream;
    ref_frame frame;
    ref_result batch;
    ast_stream_options options = stream_options(made, method);
    ref_stream_open(&stream, &options);
    ref_stream_step(&stream, points, &frame);
    ref_dp(&batch, points, made->angle, options.max_iterations, NULL, 0);
    if (memcmp(frame.labels, batch.labels, points->count * sizeof *batch.labels) != 0 ||
        frame.iterations != batch.iterations || fabs(frame.objective - batch.objective) > 1e-9 * fmax(1, points->total))
        fail_msg("AST_TEST_SEED=%llu (%s): a stream of one frame is no batch", (unsigned long long)made->seed,
                 made->text);
    for (size_t k = 0; k < batch.clusters; k++)
        assert_memory_equal(frame.records[k].mean, batch.means + k * points->dimension,
                            points->dimension * sizeof(float));
    ref_result_free(&batch);
    ref_frame_free(&frame);
    ref_stream_close(&stream);
}

static void check_frames(uint64_t seed, ref_size size, size_t ways) {
    (void)ways;
    ref_case made;
    ref_points points;
    ref_case_make(&made, seed, size);
    made.points.weights = NULL;
    read_axial(&points, &made, 0);
    if (points.used > 0)
        check_one_frame(&made, &points, (ast_stream_method)(seed % 3));
    ref_points_free(&points);
    ref_case_free(&made);
}

static void a_stream_of_one_frame_is_a_batch(void **state) {
    (void)state;
    ref_check_seeds(check_frames, REF_SMALL, 1000, 1);
}

/* Points within 40 degrees of the first axis are never turned, and products are positive: what is directed is axial. */
static void one_half_space_is_directed(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(300); seed++) {
        enum { N = 120 };
        size_t dimension = 2 + seed % 5;
        float *x = ref_take(N * dimension, sizeof *x);
        ref_points points, axial;
        ref_result first, second;
        ast_random random;
        ast_random_seed(&random, seed, 72);
        for (size_t i = 0; i < N * dimension; i++)
            x[i] =
                i % dimension == 0 ? 1 : (float)(0.8 / sqrt((double)dimension) * (2 * ast_random_uniform(&random) - 1));
        ast_points view = ast_points_f4(x, N, dimension);
        ref_points_read(&points, &view);
        ref_points_read(&axial, &view);
        ref_points_turn(&axial);
        double angle = 5 + 40 * ast_random_uniform(&random);
        ref_dp(&first, &points, angle, 100, NULL, 0);
        ref_dp(&second, &axial, angle, 100, NULL, 0);
        assert_memory_equal(first.labels, second.labels, N * sizeof *first.labels);
        assert_true(first.objective == second.objective && first.iterations == second.iterations);
        ref_result_free(&first);
        ref_result_free(&second);
        ref_points_free(&points);
        ref_points_free(&axial);
        free(x);
    }
}

/* ---- By hand --------------------------------------------------------------------------------------------------- */

static void check_by_hand(const float *x, size_t count, size_t dimension, double angle, const int32_t *labels,
                          const float *mean, double objective) {
    ast_points view = ast_points_f4(x, count, dimension);
    ref_points points;
    ref_result result;
    ref_points_read(&points, &view);
    ref_points_turn(&points);
    ref_dp(&result, &points, angle, 100, NULL, 0);
    assert_memory_equal(result.labels, labels, count * sizeof *labels);
    assert_true(fabs(result.objective - objective) < 1e-6);
    for (size_t d = 0; d < dimension; d++)
        assert_true(fabs((double)result.means[d] - (double)mean[d]) < 1e-6);
    ref_result_free(&result);
    ref_points_free(&points);
}

static void hand_computed_cases(void **state) {
    (void)state;
    /* Two ends of one axis: one cluster at 0 degrees, its sum of length 2. */
    check_by_hand((float[]){-0.6f, 0.8f, 0.6f, -0.8f}, 2, 2, 0, (int32_t[]){0, 0}, (float[]){-0.6f, 0.8f}, 2);
    /* Orthogonal axes at 90 degrees: products of exactly 0 have the sign +, the sum of turned rows is (1, 1, 1). */
    check_by_hand((float[]){-1, 0, 0, 0, 1, 0, 0, 0, -1}, 3, 3, 90, (int32_t[]){0, 0, 0},
                  (float[]){(float)sqrt(1 / 3.), (float)sqrt(1 / 3.), (float)sqrt(1 / 3.)}, sqrt(3) - 1);
    /* At 89 degrees each for itself. */
    check_by_hand((float[]){1, 0, 0, 0, -1, 0, 0, 0, 1}, 3, 3, 89, (int32_t[]){0, 1, 2}, (float[]){1, 0, 0},
                  3 + 3 * (cos(89 * M_PI / 180) - 1));
    /* Around the second axis, where turning by the first component puts neighbours on opposite sides. */
    check_by_hand((float[]){0.1f, 1, -0.1f, 1, 0.1f, -1}, 3, 2, 30, (int32_t[]){0, 0, 0},
                  (float[]){(float)(-0.1 / sqrt(9.01)), (float)(3 / sqrt(9.01))},
                  sqrt(9.01) / sqrt(1.01) + cos(30 * M_PI / 180) - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_computed_cases),        cmocka_unit_test(batches_do_not_see_signs),
        cmocka_unit_test(kmeans_does_not_see_signs),  cmocka_unit_test(a_stream_of_one_frame_is_a_batch),
        cmocka_unit_test(one_half_space_is_directed),
    };
    return cmocka_run_group_tests_name("axial references", tests, NULL, NULL);
}
