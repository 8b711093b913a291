/* SPDX-License-Identifier: MIT
 *
 * Total-variation smoothing of normals against the slow reference, and what it is for: noise goes, edges stay, nothing
 * crosses a hole, the energy falls. And the normals of the hallway, noise and all, within 2 degrees. */
#include "reference/depth.h"
#include "private/asterism_hallway.h"
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 48, PIXELS = SIDE * SIDE };

/* Two walls that meet at column `edge`, with noise, and a hole here and there. */
static void make_walls(float *normals, size_t width, size_t height, size_t edge, double noise, double holes,
                       ast_random *random) {
    static const double walls[2][3] = {{0.6, 0, -0.8}, {-0.6, 0, -0.8}};
    for (size_t i = 0; i < width * height; i++) {
        double n[3], squared = 0;
        for (int c = 0; c < 3; c++) {
            n[c] = walls[i % width >= edge][c] + noise * ast_random_normal(random);
            squared += n[c] * n[c];
        }
        int hole = ast_random_uniform(random) < holes;
        for (int c = 0; c < 3; c++)
            normals[3 * i + (size_t)c] = hole ? NAN : (float)(n[c] / sqrt(squared));
    }
}

static void smooth(float *normals, size_t width, size_t height, double weight, int iterations) {
    ast_context *context = ref_context(REF_FAST, 2);
    assert_int_equal(ast_normals_smooth(context, normals, width, height, weight, iterations), AST_OK);
}

static void equals_the_reference(void **state) {
    (void)state;
    static float normals[3 * PIXELS];
    static double expected[3 * PIXELS];
    ast_random random;
    ast_random_seed(&random, 1, 91);
    for (int turn = 0; turn < 40 / REF_SLOWER + 4; turn++) {
        size_t width = 1 + (size_t)ast_random_below(&random, SIDE),
               height = 1 + (size_t)ast_random_below(&random, SIDE);
        double weight = exp(4 * ast_random_uniform(&random) - 3);
        int iterations = (int)ast_random_below(&random, 40);
        make_walls(normals, width, height, width / 2, 0.2, turn % 2 ? 0.1 : 0, &random);
        for (size_t i = 0; i < 3 * width * height; i++)
            expected[i] = (double)normals[i];
        smooth(normals, width, height, weight, iterations);
        ref_normals_smooth(expected, width, height, weight, iterations);
        for (size_t i = 0; i < 3 * width * height; i++)
            if (isnan(expected[i]) ? !isnan(normals[i]) : !(fabs((double)normals[i] - expected[i]) < 2e-5))
                fail_msg("turn %d, %zu x %zu: number %zu is %.8g, should be %.8g", turn, width, height, i,
                         (double)normals[i], expected[i]);
    }
}

/* Noise of 14 degrees falls below 2, and no pixel is nearer to the wall beyond the edge, 74 degrees away. */
static void noise_goes_and_edges_stay(void **state) {
    (void)state;
    static const double walls[2][3] = {{0.6, 0, -0.8}, {-0.6, 0, -0.8}};
    static float normals[3 * PIXELS];
    ast_random random;
    ast_random_seed(&random, 2, 92);
    make_walls(normals, SIDE, SIDE, 20, 0.2, 0.02, &random);
    double before = 0, after = 0, worst = 0;
    for (size_t i = 0; i < PIXELS; i++)
        before += isnan(normals[3 * i]) ? 0 : ref_degrees(normals + 3 * i, walls[i % SIDE >= 20]) / PIXELS;
    smooth(normals, SIDE, SIDE, 0.6, 200);
    for (size_t i = 0; i < PIXELS; i++) {
        double error = isnan(normals[3 * i]) ? 0 : ref_degrees(normals + 3 * i, walls[i % SIDE >= 20]);
        after += error / PIXELS;
        worst = error > worst ? error : worst;
    }
    assert_true(before > 10);
    if (!(after < 2 && worst < 37))
        fail_msg("mean error %g before, %g after, at most %g", before, after, worst);
}

/* For weights from next to nothing to far too much. */
static void the_energy_falls(void **state) {
    (void)state;
    static float given[3 * PIXELS], normals[3 * PIXELS];
    ast_random random;
    ast_random_seed(&random, 3, 93);
    for (int turn = 0; turn < 16; turn++) {
        double weight = pow(10, turn % 8 - 4), energy = INFINITY;
        make_walls(given, SIDE, SIDE, 30, turn < 8 ? 0.1 : 1, 0.05, &random);
        for (int iterations = 0; iterations <= 160; iterations = iterations ? 4 * iterations : 10) {
            memcpy(normals, given, sizeof given);
            smooth(normals, SIDE, SIDE, weight, iterations);
            double now = ref_normals_energy(normals, given, SIDE, SIDE, weight);
            if (!(now <= energy * (1 + 1e-6)))
                fail_msg("weight %g: energy %g after %d iterations, %g before", weight, now, iterations, energy);
            energy = now;
        }
    }
}

/* A column of holes: either half comes out as if it were alone, bit for bit. */
static void nothing_crosses_holes(void **state) {
    (void)state;
    enum { LEFT = 21 };
    static float both[3 * PIXELS], half[3 * PIXELS];
    ast_random random;
    ast_random_seed(&random, 4, 94);
    make_walls(both, SIDE, SIDE, 10, 0.3, 0.05, &random);
    for (size_t v = 0; v < SIDE; v++)
        both[3 * (v * SIDE + LEFT)] = NAN; /* one component is enough */
    for (size_t v = 0; v < SIDE; v++)
        memcpy(half + 3 * v * LEFT, both + 3 * v * SIDE, 3 * LEFT * sizeof *half);
    smooth(both, SIDE, SIDE, 0.5, 30);
    smooth(half, LEFT, SIDE, 0.5, 30);
    for (size_t v = 0; v < SIDE; v++) {
        assert_true(isnan(both[3 * (v * SIDE + LEFT)]));
        for (size_t k = 0; k < 3 * LEFT; k++) {
            float a = both[3 * v * SIDE + k], b = half[3 * v * LEFT + k];
            assert_true(a == b || (isnan(a) && isnan(b)));
        }
    }
}

static void odd_vectors_are_harmless(void **state) {
    (void)state;
    float normals[] = {0, 0, -1, 0, 0, 0, INFINITY, 0, 0, 0, 1, 0, -0.0f, 0, 0, 0, -1, 0, 0, NAN, 1, 0, 1, 0};
    float before[24];
    memcpy(before, normals, sizeof normals);
    smooth(normals, 4, 2, 0.5, 50);
    for (int i = 0; i < 8; i++) {
        const float *n = normals + 3 * i;
        int is_unit = fabs((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2] - 1) < 1e-6;
        assert_true(is_unit || memcmp(n, before + 3 * i, 3 * sizeof *n) == 0);
    }
}

/* ---- The hallway ----------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A direction of the world as the camera sees it: turned back by the pose. */
static void into_camera(const double *q, const double *direction, double *out) {
    const double x = -q[0], y = -q[1], z = -q[2], w = q[3], *d = direction;
    const double t[3] = {2 * (y * d[2] - z * d[1]), 2 * (z * d[0] - x * d[2]), 2 * (x * d[1] - y * d[0])};
    out[0] = d[0] + w * t[0] + y * t[2] - z * t[1];
    out[1] = d[1] + w * t[1] + z * t[0] - x * t[2];
    out[2] = d[2] + w * t[2] + x * t[1] - y * t[0];
}

static double median_error(const ast_hallway *hallway, size_t frame, ast_smooth kind) {
    size_t n = hallway->width * hallway->height, count = 0, directions;
    const double *truths = ast_hallway_directions(&directions);
    uint16_t *depth = ref_take(n, sizeof *depth);
    int32_t *truth = ref_take(n, sizeof *truth);
    float *normals = ref_take(3 * n, sizeof *normals);
    double *errors = ref_take(n, sizeof *errors), seen[3];
    ast_hallway_frame pose;
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.camera = hallway->camera;
    options.smooth = kind;
    ast_context *context = ref_context(REF_FAST, 2);
    assert_int_equal(ast_hallway_render(context, hallway, frame, depth, truth, &pose), AST_OK);
    ast_depth *handle;
    ast_depth_open(&handle, context, &options);
    ast_depth_image image = {sizeof image, depth, hallway->width, hallway->height, (ptrdiff_t)(2 * hallway->width)};
    assert_non_null(handle);
    assert_int_equal(ast_depth_compute(handle, &image, NULL, NULL, normals, NULL), AST_OK);
    ast_depth_close(handle);
    for (size_t i = 0; i < n; i++)
        if (truth[i] >= 0 && depth[i] > 0 && depth[i] < 4000 && !isnan(normals[3 * i])) {
            into_camera(pose.rotation, truths + 3 * truth[i], seen);
            errors[count++] = ref_degrees(normals + 3 * i, seen);
        }
    assert_true(count > n / 4);
    qsort(errors, count, sizeof *errors, by_size);
    double median = errors[count / 2];
    free(depth);
    free(truth);
    free(normals);
    free(errors);
    return median;
}

static void hallway_within_two_degrees(void **state) {
    (void)state;
#if defined(REF_TSAN)
    return; /* determinism/depth_hash has the threads */
#endif
    ast_hallway hallway;
    ast_hallway_init(&hallway);
    hallway.frames = 100;
    for (size_t frame = 5; frame<hallway.frames; frame += REF_SLOWER> 1 ? 45 : 10) {
        double guided = median_error(&hallway, frame, AST_SMOOTH_GUIDED);
        if (!(guided < 2))
            fail_msg("frame %zu: the median error is %g degrees", frame, guided);
    }
    double tv = median_error(&hallway, 50, AST_SMOOTH_TV);
    if (!(tv < 0.5 * median_error(&hallway, 50, AST_SMOOTH_GUIDED)))
        fail_msg("total variation leaves a median error of %g degrees", tv);
}

static int close_contexts(void **state) {
    (void)state;
    ref_contexts_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_reference),     cmocka_unit_test(noise_goes_and_edges_stay),
        cmocka_unit_test(the_energy_falls),         cmocka_unit_test(nothing_crosses_holes),
        cmocka_unit_test(odd_vectors_are_harmless), cmocka_unit_test(hallway_within_two_degrees),
    };
    return cmocka_run_group_tests_name("smoothing of normals", tests, NULL, close_contexts);
}
