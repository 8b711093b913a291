/* SPDX-License-Identifier: MIT
 *
 * The hallway's rays against a slow reference: a point of the world is free or not, and a pixel sees the first point
 * that is not. Then the truth, the poses and the options. */
#include "degree.h"
#include "reference/hallway.h"
#include "reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CLOSE 1e-6 /* metres */

static size_t walk_frame(size_t i) {
    static const size_t frames[] = {0, 13, 27, 40, 52, 58, 64, 71, 88, 119};
    return frames[i];
}
enum { LOOKED_AT = 10 };

/* ---- Rays ------------------------------------------------------------------------------------------------------- */

static void check_first(const ast_hallway *hallway, const ast_hallway_frame *frame, size_t index, size_t column,
                        size_t row, double depth) {
    double point[3];
    ref_hallway_point(hallway, frame, column, row, depth + CLOSE, point);
    if (ref_hallway_free(point))
        fail_msg("frame %zu, pixel %zu %zu: there is nothing at a depth of %.9g", index, column, row, depth);
    for (double before = depth - CLOSE; before > 0; before -= 0.01) {
        ref_hallway_point(hallway, frame, column, row, before, point);
        if (!ref_hallway_free(point))
            fail_msg("frame %zu, pixel %zu %zu: depth %.9g, but %.9g is not free", index, column, row, depth, before);
    }
}

static void rays_meet_what_is_first(void **state) {
    (void)state;
    ast_hallway hallway = ref_hallway_smaller(8);
    for (size_t i = 0; i < LOOKED_AT; i++) {
        ast_hallway_frame frame;
        ast_hit *hits = ref_hallway_hits(&hallway, walk_frame(i), &frame);
        for (size_t p = 0; p < hallway.width * hallway.height; p++)
            check_first(&hallway, &frame, walk_frame(i), p % hallway.width, p / hallway.width, hits[p].depth);
        free(hits);
    }
}

/* Frame 0 looks 1.1756 degrees to the left and 10.4294 degrees down from (3.4, 0, 1.55): over 7.2 m the ray falls to
 * 0.22 m and hits the wall at x = 10.6. */
static void a_known_depth(void **state) {
    (void)state;
    ast_hallway hallway;
    ast_hallway_init(&hallway);
    hallway.width = hallway.height = 1;
    hallway.camera.cx = hallway.camera.cy = 0;
    hallway.noise = 0;
    uint16_t depth;
    int32_t truth;
    ast_hallway_frame frame;
    ast_context *context;
    ast_open(&context, 1);
    assert_int_equal(ast_hallway_render(context, &hallway, 0, &depth, &truth, &frame), AST_OK);
    double yaw = 2 * sin(36 * AST_DEGREE), pitch = 11 - 0.6 * sin(108 * AST_DEGREE);
    assert_int_equal(depth, lround(7200 / (cos(yaw * AST_DEGREE) * cos(pitch * AST_DEGREE))));
    assert_int_equal(truth, 1);
    assert_true(fabs(frame.position[0] - 3.4) < 1e-12 && fabs(frame.position[1]) < 1e-12);
    assert_true(fabs(frame.position[2] - 1.55) < 1e-12 && frame.seconds == 0);
    ast_close(context);
}

/* ---- Truth ------------------------------------------------------------------------------------------------------ */

/* The normal, in the world, of the triangle that a pixel makes with its right and lower neighbours. */
static void triangle_normal(const ast_hallway *hallway, const ast_hallway_frame *frame, const ast_hit *hits,
                            size_t column, size_t row, double *normal) {
    double corner[3][3], camera_normal[3], length = 0;
    for (int i = 0; i < 3; i++) {
        size_t u = column + (i == 1), v = row + (i == 2);
        ref_hallway_ray(&hallway->camera, u, v, corner[i]);
        for (int a = 0; a < 3; a++)
            corner[i][a] *= hits[v * hallway->width + u].depth;
    }
    for (int a = 0; a < 3; a++) { /* down x right points to the camera */
        int b = (a + 1) % 3, c = (a + 2) % 3;
        camera_normal[a] = (corner[2][b] - corner[0][b]) * (corner[1][c] - corner[0][c]) -
                           (corner[2][c] - corner[0][c]) * (corner[1][b] - corner[0][b]);
        length += camera_normal[a] * camera_normal[a];
    }
    for (int a = 0; a < 3; a++)
        camera_normal[a] /= sqrt(length);
    ref_hallway_turn(frame->rotation, camera_normal, normal);
}

static void truth_is_the_normal_in_the_world(void **state) {
    (void)state;
    ast_hallway hallway = ref_hallway_smaller(4);
    size_t count, flat = 0, agree = 0;
    const double *directions = ast_hallway_directions(&count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < LOOKED_AT; i++) {
        ast_hallway_frame frame;
        ast_hit *hits = ref_hallway_hits(&hallway, walk_frame(i), &frame);
        for (size_t v = 0; v + 1 < hallway.height; v++)
            for (size_t u = 0; u + 1 < hallway.width; u++) {
                const ast_hit *hit = &hits[v * hallway.width + u];
                if (hit->direction < 0 || hit[1].direction != hit->direction ||
                    hit[hallway.width].direction != hit->direction)
                    continue;
                double normal[3], cosine = 0;
                triangle_normal(&hallway, &frame, hits, u, v, normal);
                for (int a = 0; a < 3; a++)
                    cosine += normal[a] * directions[hit->direction * 3 + a];
                flat++;
                agree += cosine > 1 - 1e-9;
            }
        free(hits);
    }
    /* the rest are triangles across the edge of a box in front of a parallel wall */
    assert_true(flat > 100000);
    assert_true((double)agree > 0.98 * (double)flat);
}

/* Without noise the public call gives the hits in millimetres. */
static void exact_depth_is_rounded(void **state) {
    (void)state;
    ast_hallway hallway = ref_hallway_smaller(4);
    hallway.noise = 0;
    ast_hallway_frame frame, same;
    ast_hit *hits = ref_hallway_hits(&hallway, 66, &frame);
    size_t pixels = hallway.width * hallway.height, curved = 0;
    uint16_t *depth = ref_take(pixels, sizeof *depth);
    int32_t *truth = ref_take(pixels, sizeof *truth);
    ast_context *context;
    ast_open(&context, 2);
    assert_int_equal(ast_hallway_render(context, &hallway, 66, depth, truth, &same), AST_OK);
    assert_memory_equal(&frame, &same, sizeof frame);
    for (size_t p = 0; p < pixels; p++) {
        assert_int_equal(depth[p], lround(1000 * hits[p].depth));
        assert_int_equal(truth[p], hits[p].direction);
        curved += truth[p] < 0;
    }
    assert_true(curved > pixels / 50); /* the column is in sight */
    ast_close(context);
    free(hits);
    free(depth);
    free(truth);
}

/* ---- Options ---------------------------------------------------------------------------------------------------- */

typedef void damage(ast_hallway *hallway);
static void no_frames(ast_hallway *hallway) {
    hallway->frames = 0;
}
static void no_width(ast_hallway *hallway) {
    hallway->width = 0;
}
static void no_height(ast_hallway *hallway) {
    hallway->height = 0;
}
static void too_large(ast_hallway *hallway) {
    hallway->height = ((size_t)1 << 27) / hallway->width + 1;
}
static void overflowing(ast_hallway *hallway) {
    hallway->width = hallway->height = SIZE_MAX / 2;
}
static void no_focus(ast_hallway *hallway) {
    hallway->camera.fx = 0;
}
static void wild_focus(ast_hallway *hallway) {
    hallway->camera.fy = NAN;
}
static void endless_focus(ast_hallway *hallway) {
    hallway->camera.fy = INFINITY;
}
static void wild_centre(ast_hallway *hallway) {
    hallway->camera.cy = INFINITY;
}

static void bad_options_are_refused(void **state) {
    (void)state;
    damage *const damages[] = {no_frames, no_width,   no_height,     too_large,  overflowing,
                               no_focus,  wild_focus, endless_focus, wild_centre};
    uint16_t depth = 77;
    ast_hallway_frame frame = {.seconds = 77};
    ast_context *context;
    ast_open(&context, 1);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        ast_hallway hallway;
        ast_hallway_init(&hallway);
        assert_null(ast_hallway_problem(&hallway));
        damages[i](&hallway);
        assert_non_null(ast_hallway_problem(&hallway));
        assert_int_equal(ast_hallway_render(context, &hallway, 0, &depth, NULL, &frame), AST_BAD_OPTION);
        assert_string_equal(ast_message(context), ast_hallway_problem(&hallway));
    }
    ast_hallway hallway;
    ast_hallway_init(&hallway);
    assert_int_equal(ast_hallway_render(context, &hallway, 120, &depth, NULL, &frame), AST_BAD_OPTION);
    assert_non_null(strstr(ast_message(context), "no frame 120"));
    assert_int_equal(ast_hallway_render(context, &hallway, 0, NULL, NULL, &frame), AST_BAD_OPTION);
    assert_true(depth == 77 && frame.seconds == 77);
    ast_close(context);
}

/* Cameras that make no sense as such, but are no reason to crash: all holes, or the one pixel that is there. */
static void strange_cameras_are_harmless(void **state) {
    (void)state;
    ast_context *context;
    ast_open(&context, 2);
    static const double focus[] = {1e-300, 1e-3, 1e300};
    for (int i = 0; i < 3; i++)
        for (int noise = 0; noise <= 1; noise++) {
            ast_hallway hallway = ref_hallway_smaller(40);
            hallway.camera.fx = hallway.camera.fy = focus[i];
            hallway.noise = noise;
            hallway.frames = 1;
            uint16_t depth[16 * 12];
            int32_t truth[16 * 12];
            assert_int_equal(ast_hallway_render(context, &hallway, 0, depth, truth, NULL), AST_OK);
            for (int p = 0; p < 16 * 12; p++)
                assert_true(truth[p] >= -1 && truth[p] < 6 && (depth[p] > 0 || truth[p] == -1));
        }
    ast_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_what_is_first),          cmocka_unit_test(a_known_depth),
        cmocka_unit_test(truth_is_the_normal_in_the_world), cmocka_unit_test(exact_depth_is_rounded),
        cmocka_unit_test(bad_options_are_refused),          cmocka_unit_test(strange_cameras_are_harmless),
    };
    return cmocka_run_group_tests_name("the hallway", tests, NULL, NULL);
}
