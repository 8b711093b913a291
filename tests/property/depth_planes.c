/* SPDX-License-Identifier: MIT
 *
 * The normals of planes: equal to the reference bit for bit, right on walls however the sensor's steps lie, apart at
 * edges, and none where nobody can be sure. */
#include "reference/depth.h"
#include "reference/hallway.h"
#include "reference/harness.h"
#include "reference/planes.h"
#include "reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 160, HEIGHT = 120, PIXELS = WIDTH * HEIGHT };

/* An Xtion at a quarter of its resolution. */
static ast_depth_options small_camera(void) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.camera = (ast_camera){134, 134, 79.5, 59.5};
    options.smooth = AST_SMOOTH_PLANES_ONLY;
    return options;
}

static void make_normals(const ast_depth_options *options, const uint16_t *values, size_t width, size_t height,
                         int threads, float *normals) {
    ast_context *context = ref_context(threads % 2 ? "base" : REF_FAST, threads);
    ast_depth *depth;
    ast_depth_open(&depth, context, options);
    assert_non_null(depth);
    ast_depth_image image = {sizeof image, values, width, height, (ptrdiff_t)(width * sizeof *values)};
    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, normals, NULL), AST_OK);
    ast_depth_close(depth);
}

static void compare(int round, size_t width, size_t height, const float *normals, const float *expected) {
    for (size_t i = 0; i < 3 * width * height; i++)
        if (memcmp(&normals[i], &expected[i], sizeof *normals) != 0 && !(isnan(normals[i]) && isnan(expected[i])))
            fail_msg("image %d of %zu x %zu: pixel %zu has %g instead of %g", round, width, height, i / 3,
                     (double)normals[i], (double)expected[i]);
}

static void equals_the_reference(void **state) {
    (void)state;
    static uint16_t values[PIXELS];
    static float s[PIXELS], normals[3 * PIXELS], expected[3 * PIXELS];
    ast_random random;
    ast_random_seed(&random, 1, 80);
    for (int round = 0; round < 120 / REF_SLOWER; round++) {
        size_t width = 1 + (size_t)ast_random_below(&random, round % 3 ? 40 : WIDTH);
        size_t height = 1 + (size_t)ast_random_below(&random, round % 3 ? 40 : HEIGHT);
        ast_depth_options options = small_camera();
        if (round % 5 == 4)
            options.filter_epsilon = pow(10, -4 + 3 * ast_random_uniform(&random));
        ref_depth_image(values, width, height, &options, &random);
        ast_depth_image image = {sizeof image, values, width, height, (ptrdiff_t)(width * sizeof *values)};
        ref_depth_invert(&image, &options, s);
        ref_planes_normals(s, values, width, height, &options, 0.15, expected, NULL);
        make_normals(&options, values, width, height, 1 + round % 3, normals);
        compare(round, width, height, normals, expected);
    }
}

/* Images of thousands of cells, whose patches join in several tasks. */
static void large_images_equal_it_too(void **state) {
    enum { LARGE = 640 * 480 };
    static uint16_t values[LARGE];
    static int32_t labels[LARGE];
    static float s[LARGE], normals[3 * LARGE], expected[3 * LARGE];
    ast_hallway hallway;
    ast_depth_options options = small_camera();
    (void)state;
    ast_hallway_init(&hallway);
    options.camera = hallway.camera;
    for (int frame = 0; frame < 2 / REF_SLOWER + 1; frame++) {
        ast_depth_image image = {sizeof image, values, 640, 480, 640 * sizeof *values};
        assert_int_equal(
            ast_hallway_render(ref_context(REF_FAST, 2), &hallway, (size_t)frame * 40, values, labels, NULL), AST_OK);
        ref_depth_invert(&image, &options, s);
        ref_planes_normals(s, values, 640, 480, &options, 0.15, expected, NULL);
        make_normals(&options, values, 640, 480, 1 + frame % 3, normals);
        compare(frame, 640, 480, normals, expected);
    }
}

/* Depth in steps of 1/8 pixel of disparity, as a structured-light sensor of 7.5 cm has them. */
static uint16_t stepped(uint16_t value, const ast_depth_options *options) {
    double step = 8 * 0.075 * options->camera.fx;
    return value ? (uint16_t)rint(1000 * step / rint(step / (value / 1000.0))) : 0;
}

/* A wall 4 m away, where a step is 5 cm: nearly every pixel is within a few degrees. Windows are not. */
static void steps_make_no_waves(void **state) {
    (void)state;
    static uint16_t values[PIXELS];
    static float normals[3 * PIXELS];
    ast_random random;
    ast_random_seed(&random, 2, 80);
    for (int round = 0; round < 30 / REF_SLOWER + 1; round++) {
        ast_depth_options options = small_camera();
        options.camera = (ast_camera){537, 537, 79.5, 59.5}; /* a part of an image of 640 x 480 */
        double n[3], share[2] = {0};
        ref_facing(n, 50, &random);
        for (size_t i = 0; i < PIXELS; i++)
            values[i] =
                stepped(ref_plane_value(n, 4 * -n[2], &options, (double)(i % WIDTH), (double)(i / WIDTH), 0.1, &random),
                        &options);
        for (int guided = 0; guided < 2; guided++) {
            options.smooth = guided ? AST_SMOOTH_GUIDED : AST_SMOOTH_PLANES_ONLY;
            make_normals(&options, values, WIDTH, HEIGHT, 2, normals);
            for (size_t i = 0; i < PIXELS; i++)
                share[guided] += !isnan(normals[3 * i]) && ref_degrees(normals + 3 * i, n) < 3;
        }
        if (!(share[0] > 0.99 * PIXELS && share[0] >= share[1]))
            fail_msg("wall %d: %.3f of the pixels, guided %.3f", round, share[0] / PIXELS, share[1] / PIXELS);
    }
}

/* Two walls that meet in a column, and the floor: every pixel but a few at the edges has the normal of its own one. */
static void edges_separate(void **state) {
    (void)state;
    static const double walls[3][3] = {{0.8, 0, -0.6}, {-0.6, 0, -0.8}, {0, -1, 0}};
    static const double apart[3] = {1.5, 1.8, 1.1};
    static uint16_t values[PIXELS];
    static int own[PIXELS];
    static float normals[3 * PIXELS];
    ast_depth_options options = small_camera();
    ast_random random;
    ast_random_seed(&random, 3, 80);
    for (size_t i = 0; i < PIXELS; i++) {
        values[i] = UINT16_MAX;
        for (int w = 0; w < 3; w++) { /* seen from inside the corner: the nearest one */
            uint16_t value =
                ref_plane_value(walls[w], apart[w], &options, (double)(i % WIDTH), (double)(i / WIDTH), 1, &random);
            own[i] = value && value < values[i] ? w : own[i];
            values[i] = value && value < values[i] ? value : values[i];
        }
    }
    make_normals(&options, values, WIDTH, HEIGHT, 2, normals);
    size_t right = 0, wrong = 0;
    for (size_t i = 0; i < PIXELS; i++) {
        right += !isnan(normals[3 * i]) && ref_degrees(normals + 3 * i, walls[own[i]]) < 2;
        wrong += !isnan(normals[3 * i]) && ref_degrees(normals + 3 * i, walls[own[i]]) > 10;
    }
    if (right < 0.95 * PIXELS || wrong > 0.02 * PIXELS)
        fail_msg("%zu of %d pixels are right, %zu wrong", right, PIXELS, wrong);
}

/* What is small for its distance has no normal: a box of a few pixels, 3 m away in front of a wall; nor has noise. */
static void the_uncertain_is_missing(void **state) {
    (void)state;
    static const double wall[3] = {0, 0, -1}, side[3] = {0.6, 0, -0.8};
    static uint16_t values[PIXELS];
    static float normals[3 * PIXELS];
    ast_depth_options options = small_camera();
    ast_random random;
    ast_random_seed(&random, 4, 80);
    for (size_t i = 0; i < PIXELS; i++) {
        size_t u = i % WIDTH, v = i / WIDTH;
        int box = u >= 80 && u < 88 && v >= 48 && v < 80;
        values[i] = ref_plane_value(box ? side : wall, box ? 2.4 : 3.6, &options, (double)u, (double)v, 0, &random);
        if (u < 40)
            values[i] = (uint16_t)(1000 + ast_random_below(&random, 3000));
    }
    make_normals(&options, values, WIDTH, HEIGHT, 2, normals);
    for (size_t i = 0; i < PIXELS; i++) {
        size_t u = i % WIDTH, v = i / WIDTH;
        if ((u < 32) || (u >= 81 && u < 87 && v >= 50 && v < 78))
            assert_true(isnan(normals[3 * i]));
        else if (u >= 48 && (u < 72 || u >= 104))
            assert_true(ref_degrees(normals + 3 * i, wall) < 0.1);
    }
}

static int close_contexts(void **state) {
    (void)state;
    ref_contexts_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_reference),     cmocka_unit_test(large_images_equal_it_too),
        cmocka_unit_test(steps_make_no_waves),      cmocka_unit_test(edges_separate),
        cmocka_unit_test(the_uncertain_is_missing),
    };
    return cmocka_run_group_tests_name("depth to planes", tests, NULL, close_contexts);
}
