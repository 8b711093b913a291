/* SPDX-License-Identifier: MIT
 *
 * The interface for depth cameras: names, options, views of images, and what a call refuses. */
#include "asterism_depth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static ast_context *context;

static ast_depth_options kinect(void) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.smooth = AST_SMOOTH_GUIDED;
    assert_int_equal(ast_camera_named("kinect", &options.camera, &options.units_per_metre), 1);
    return options;
}

static void cameras_have_names(void **state) {
    (void)state;
    size_t count = 0;
    for (const char *name; (name = ast_camera_name(count)); count++) {
        ast_camera camera = {0};
        double units = 0;
        assert_int_equal(ast_camera_named(name, &camera, &units), 1);
        assert_true(camera.fx > 350 && camera.fy > 350 && camera.cx > 300 && camera.cy > 200 && units >= 1000);
        assert_true(count == 0 || strcmp(ast_camera_name(count - 1), name) < 0);
        assert_int_equal(ast_camera_named(name, NULL, NULL), 1);
    }
    assert_true(count >= 6);
    assert_null(ast_camera_name(count + 1));
    assert_null(ast_camera_name(SIZE_MAX));
}

static void unknown_cameras_change_nothing(void **state) {
    (void)state;
    ast_camera camera = {1, 2, 3, 4};
    double units = 5;
    assert_int_equal(ast_camera_named("Kinect", &camera, &units), 0);
    assert_int_equal(ast_camera_named("", &camera, &units), 0);
    assert_int_equal(ast_camera_named(NULL, &camera, &units), 0);
    assert_true(camera.fx == 1 && camera.cy == 4 && units == 5);
}

/* Every option, with values that are just right and just wrong. */
static void assert_refused(const ast_depth_options *options) {
    ast_depth *depth = (ast_depth *)context;
    assert_int_equal(ast_depth_open(&depth, context, options), AST_BAD_OPTION);
    assert_null(depth);
}

static void options_are_checked(void **state) {
    (void)state;
    static const struct {
        size_t offset;
        double right[4], wrong[4];
    } doubles[] = {
        {offsetof(ast_depth_options, camera.fx), {1, 525, 1e6, 1}, {0, -1, NAN, INFINITY}},
        {offsetof(ast_depth_options, camera.fy), {1, 525, 1e6, 1}, {0.5, 2e6, NAN, -INFINITY}},
        {offsetof(ast_depth_options, camera.cx), {0, -1e6, 1e6, 3}, {1.1e6, -INFINITY, NAN, INFINITY}},
        {offsetof(ast_depth_options, camera.cy), {0, -1e6, 1e6, 3}, {-1.1e6, -INFINITY, NAN, INFINITY}},
        {offsetof(ast_depth_options, units_per_metre), {1e-3, 1, 5000, 1e6}, {0, -1, NAN, INFINITY}},
        {offsetof(ast_depth_options, nearest), {0, 1, 1e9, INFINITY}, {-1, NAN, -INFINITY, -1e-9}},
        {offsetof(ast_depth_options, farthest), {0, 1, 1e9, INFINITY}, {-1, NAN, -INFINITY, -1e-9}},
        {offsetof(ast_depth_options, filter_epsilon), {1e-6, 0.1, 1, 1e3}, {0, -1, NAN, INFINITY}},
        {offsetof(ast_depth_options, jump), {1e-9, 0.1, 1, INFINITY}, {0, -1, NAN, -INFINITY}},
        {offsetof(ast_depth_options, tv_weight), {1e-6, 0.1, 1, 1e6}, {0, -1, NAN, INFINITY}},
        {offsetof(ast_depth_options, distortion), {-1000, -0.1, 0, 1000}, {-1001, 1001, NAN, INFINITY}},
    };
    static const struct {
        size_t offset;
        int least, most;
    } ints[] = {
        {offsetof(ast_depth_options, filter_radius), 0, 64},
        {offsetof(ast_depth_options, window), 1, 64},
        {offsetof(ast_depth_options, tv_iterations), 0, 1000000},
        {offsetof(ast_depth_options, smooth), AST_SMOOTH_GUIDED, AST_SMOOTH_PLANES_ONLY},
    };
    for (size_t d = 0; d < sizeof doubles / sizeof *doubles; d++)
        for (int i = 0; i < 4; i++) {
            ast_depth_options options = kinect();
            memcpy((char *)&options + doubles[d].offset, &doubles[d].right[i], sizeof(double));
            assert_null(ast_depth_options_problem(&options));
            memcpy((char *)&options + doubles[d].offset, &doubles[d].wrong[i], sizeof(double));
            assert_non_null(ast_depth_options_problem(&options));
            assert_refused(&options);
            assert_string_equal(ast_message(context), ast_depth_options_problem(&options));
        }
    for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
        const int values[] = {ints[k].least - 1, ints[k].least, ints[k].most, ints[k].most + 1};
        for (int i = 0; i < 4; i++) {
            ast_depth_options options = kinect();
            memcpy((char *)&options + ints[k].offset, &values[i], sizeof(int));
            assert_true((ast_depth_options_problem(&options) != NULL) == (i == 0 || i == 3));
        }
    }
    ast_depth_options options;
    ast_depth_options_init(&options);
    assert_non_null(strstr(ast_depth_options_problem(&options), "camera is not set"));
    assert_refused(NULL);
}

static void bad_images_are_refused(void **state) {
    (void)state;
    static const uint16_t values[12] = {1000};
    static const struct {
        ast_depth_image image;
        ast_status status;
    } bad[] = {
        {{sizeof(ast_depth_image), NULL, 4, 3, 8}, AST_BAD_OPTION},
        {{sizeof(ast_depth_image), values, 0, 3, 8}, AST_BAD_DATA},
        {{sizeof(ast_depth_image), values, 4, 0, 8}, AST_BAD_DATA},
        {{sizeof(ast_depth_image), values, 4, 3, 7}, AST_BAD_OPTION},
        {{sizeof(ast_depth_image), values, 4, 3, 9}, AST_BAD_OPTION},
        {{sizeof(ast_depth_image), values, 4, 3, 6}, AST_BAD_OPTION},
        {{sizeof(ast_depth_image), values, 4, 3, -6}, AST_BAD_OPTION},
        {{sizeof(ast_depth_image), values, 4, 3, 0}, AST_BAD_OPTION},
        {{sizeof(ast_depth_image), values, 1 << 14, (1 << 13) + 1, 1 << 15}, AST_BAD_DATA},
        {{sizeof(ast_depth_image), values, SIZE_MAX, 2, 8}, AST_BAD_DATA},
        {{sizeof(ast_depth_image), values, (size_t)1 << 32, (size_t)1 << 32, 8}, AST_BAD_DATA},
        {{sizeof(ast_depth_image), values, SIZE_MAX / 2 + 2, 2, 8}, AST_BAD_DATA},
    };
    ast_depth_options options = kinect();
    ast_depth *depth;
    ast_depth_open(&depth, context, &options);
    assert_non_null(depth);
    float out[36] = {77};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ast_depth_compute(depth, &bad[i].image, out, NULL, NULL, NULL), bad[i].status);
        assert_int_equal(ast_depth_compute(depth, &bad[i].image, NULL, out, NULL, NULL), bad[i].status);
        assert_int_equal(ast_depth_compute(depth, &bad[i].image, NULL, NULL, out, NULL), bad[i].status);
        assert_true(strlen(ast_message(context)) > 10 && out[0] == 77);
    }
    ast_depth_image good = {sizeof good, values, 4, 3, 8};
    assert_int_equal(ast_depth_compute(depth, NULL, NULL, NULL, out, NULL), AST_BAD_OPTION);
    assert_int_equal(ast_depth_compute(depth, &good, NULL, NULL, NULL, NULL), AST_BAD_OPTION);
    assert_int_equal(ast_depth_compute(depth, &good, NULL, NULL, out, NULL), AST_OK);
    assert_string_equal(ast_message(context), "");
    ast_depth_close(depth);
    ast_depth_close(NULL);
}

static void metres_and_points_are_exact(void **state) {
    (void)state;
    const uint16_t values[6] = {1000, 0, 1501, 65535, 1, 3000};
    ast_depth_options options = kinect();
    options.smooth = AST_SMOOTH_NONE;
    options.farthest = 60;
    options.nearest = 0.0015;
    options.camera = (ast_camera){100, 50, 1, 0.5};
    ast_depth *depth;
    ast_depth_open(&depth, context, &options);
    assert_non_null(depth);
    ast_depth_image image = {sizeof image, values, 3, 2, 6};
    float metres[6], points[18];
    assert_int_equal(ast_depth_compute(depth, &image, metres, NULL, NULL, NULL), AST_OK);
    assert_int_equal(ast_depth_compute(depth, &image, NULL, points, NULL, NULL), AST_OK);
    assert_true(metres[0] == 1 && isnan(metres[1]) && metres[2] == 1.501f);
    assert_true(isnan(metres[3]) && isnan(metres[4]) && metres[5] == 3);
    assert_true(points[0] == -0.01f && points[1] == -0.01f && points[2] == 1);
    assert_true(points[15] == 0.03f && points[16] == 0.03f && points[17] == 3);
    for (int i = 3; i < 6; i++)
        assert_true(isnan(points[i]) && isnan(points[i + 6]) && isnan(points[i + 9]));
    image = (ast_depth_image){.size = sizeof(ast_depth_image), values + 3, 3, 2, -6}; /* bottom up */
    assert_int_equal(ast_depth_compute(depth, &image, metres, NULL, NULL, NULL), AST_OK);
    assert_true(metres[2] == 3 && metres[3] == 1 && metres[5] == 1.501f);
    ast_depth_close(depth);
}

static void smoothing_checks_its_arguments(void **state) {
    (void)state;
    float one[3] = {0, 0, -1};
    assert_int_equal(ast_normals_smooth(context, NULL, 1, 1, 0.2, 5), AST_BAD_OPTION);
    assert_int_equal(ast_normals_smooth(context, one, 1, 1, NAN, 5), AST_BAD_OPTION);
    assert_int_equal(ast_normals_smooth(context, one, 1, 1, 0, 5), AST_BAD_OPTION);
    assert_int_equal(ast_normals_smooth(context, one, 1, 1, 0.2, -1), AST_BAD_OPTION);
    assert_int_equal(ast_normals_smooth(context, one, 0, 1, 0.2, 5), AST_BAD_DATA);
    assert_int_equal(ast_normals_smooth(context, one, SIZE_MAX, SIZE_MAX, 0.2, 5), AST_BAD_DATA);
    assert_int_equal(ast_normals_smooth(context, one, 1, 1, 0.2, 5), AST_OK);
    assert_true(one[0] == 0 && one[1] == 0 && one[2] == -1);
}

static int open_context(void **state) {
    (void)state;
    ast_open(&context, 2);
    return context == NULL;
}

static int close_context(void **state) {
    (void)state;
    ast_close(context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cameras_have_names),          cmocka_unit_test(unknown_cameras_change_nothing),
        cmocka_unit_test(options_are_checked),         cmocka_unit_test(bad_images_are_refused),
        cmocka_unit_test(metres_and_points_are_exact), cmocka_unit_test(smoothing_checks_its_arguments),
    };
    return cmocka_run_group_tests_name("depth", tests, open_context, close_context);
}
