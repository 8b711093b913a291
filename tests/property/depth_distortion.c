/* SPDX-License-Identifier: MIT
 *
 * Lenses with distortion: walls seen through one have the normals and points that they have. The reference finds the
 * ray of a pixel by going from a guess to a better one many times, with the formulas of OpenCV's manual. */
#include "reference/harness.h"
#include "reference/reference.h"

#include <asterism_depth.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 160, HEIGHT = 120, PIXELS = WIDTH * HEIGHT };

static const double lenses[][5] = {
    {0.2624, -0.9531, -0.0054, 0.0026, 1.1633}, /* the colour camera of TUM fr1 */
    {-0.28, 0.09, 0.002, -0.003, -0.012},       /* a wide angle */
    {0.1, 0, 0, 0, 0},
};

static ast_depth_options camera_with(const double lens[5], ast_smooth smooth) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.camera = (ast_camera){131, 129, 80.5, 58.5};
    options.units_per_metre = 10000;
    options.smooth = smooth;
    memcpy(options.distortion, lens, sizeof options.distortion);
    return options;
}

static void ray_of(const ast_depth_options *o, double u, double v, double ray[2]) {
    const double *k = o->distortion;
    double wanted[2] = {(u - o->camera.cx) / o->camera.fx, (v - o->camera.cy) / o->camera.fy};
    double x = wanted[0], y = wanted[1];
    for (int i = 0; i < 400; i++) {
        double r2 = x * x + y * y, g = 1 + k[0] * r2 + k[1] * r2 * r2 + k[4] * r2 * r2 * r2;
        double bent_x = x * g + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x);
        double bent_y = y * g + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y;
        x += 0.3 * (wanted[0] - bent_x);
        y += 0.3 * (wanted[1] - bent_y);
    }
    ray[0] = x;
    ray[1] = y;
}

/* The wall n . p = offset, with a hole in it. */
static void see_wall(const ast_depth_options *o, const double n[3], double offset, uint16_t *values) {
    for (size_t i = 0; i < PIXELS; i++) {
        double ray[2];
        ray_of(o, (double)(i % WIDTH), (double)(i / WIDTH), ray);
        double z = offset / (n[0] * ray[0] + n[1] * ray[1] + n[2]);
        values[i] = i % WIDTH / 4 == 20 && i / WIDTH / 4 == 15 ? 0 : (uint16_t)(z * o->units_per_metre + 0.5);
    }
}

static void compute(const ast_depth_options *o, const uint16_t *values, int threads, float *metres, float *points,
                    float *normals) {
    ast_context *context = ref_context(threads % 2 ? "base" : REF_FAST, threads);
    ast_depth *depth;
    ast_depth_open(&depth, context, o);
    assert_non_null(depth);
    ast_depth_image image = {sizeof image, values, WIDTH, HEIGHT, WIDTH * sizeof *values};
    assert_int_equal(ast_depth_compute(depth, &image, metres, points, normals, NULL), AST_OK);
    ast_depth_close(depth);
}

static double angle_between(const double a[3], const float b[3]) {
    double cosine = -(a[0] * (double)b[0] + a[1] * (double)b[1] + a[2] * (double)b[2]);
    return acos((cosine > 1 ? 1 : cosine < -1 ? -1 : cosine)) * 180 / M_PI;
}

/* How many normals there are; and how many are more than a degree away from -n, which is towards the camera. */
static size_t count_wrong(const double n[3], const float *normals, size_t *count) {
    size_t wrong = 0;
    *count = 0;
    for (size_t i = 0; i < PIXELS; i++) {
        *count += !isnan(normals[3 * i]);
        wrong += angle_between(n, normals + 3 * i) > 1;
    }
    return wrong;
}

static const double walls[][4] = {{0, 0, 1, 2}, {0.6, 0, 0.8, 1.5}, {-0.3, 0.5, 0.812403840463596, 2}};

static void walls_are_flat(void **state) {
    (void)state;
    static uint16_t values[PIXELS];
    static float metres[PIXELS], points[3 * PIXELS], normals[3 * PIXELS], others[3 * PIXELS];
    static const ast_smooth ways[] = {AST_SMOOTH_PLANES, AST_SMOOTH_GUIDED, AST_SMOOTH_NONE};
    for (size_t k = 0; k < 27; k++) {
        const double *wall = walls[k / 3 % 3];
        ast_depth_options o = camera_with(lenses[k / 9], ways[k % 3]);
        size_t count;
        see_wall(&o, wall, wall[3], values);
        compute(&o, values, 1, metres, points, normals);
        size_t bad = count_wrong(wall, normals, &count); /* some beside the hole */
        if (bad > PIXELS / 200 || count < PIXELS * 95 / 100)
            fail_msg("lens %zu, wall %zu, way %zu: %zu wrong of %zu normals of %d pixels", k / 9, k / 3 % 3, k % 3, bad,
                     count, PIXELS);
        size_t beside = 0;
        for (size_t i = 0; i < PIXELS; i++) {
            const float *p = points + 3 * i;
            assert_true(isnan(p[2]) == isnan(metres[i]) && (values[i] > 0 || isnan(p[2])));
            double off = wall[0] * (double)p[0] + wall[1] * (double)p[1] + wall[2] * (double)p[2] - wall[3];
            beside += fabs(off) > (ways[k % 3] == AST_SMOOTH_GUIDED ? 5e-3 : 5e-4);
        }
        /* The filter has little to go by in the corners, which the lens has pulled out of the rectangle. */
        assert_true(beside <= (ways[k % 3] == AST_SMOOTH_GUIDED ? PIXELS / 1000 : 0));
        compute(&o, values, 2, NULL, NULL, others);
        assert_memory_equal(normals, others, sizeof normals);
    }
}

/* The test would see a lens that is not taken into account. */
static void a_lens_matters(void **state) {
    (void)state;
    static uint16_t values[PIXELS];
    static float normals[3 * PIXELS];
    size_t count;
    for (size_t k = 0; k < 3; k++) {
        ast_depth_options o = camera_with(lenses[k], AST_SMOOTH_GUIDED);
        see_wall(&o, walls[1], walls[1][3], values);
        memset(o.distortion, 0, sizeof o.distortion);
        compute(&o, values, 1, NULL, NULL, normals);
        assert_true(count_wrong(walls[1], normals, &count) > PIXELS / 8);
    }
}

/* Another size, a lens that no image fits, and coefficients that are no numbers. */
static void sizes_and_refusals(void **state) {
    (void)state;
    static uint16_t values[PIXELS];
    static float first[3 * PIXELS], again[3 * PIXELS];
    ast_context *context = ref_context("base", 1);
    ast_depth_options o = camera_with(lenses[1], AST_SMOOTH_PLANES);
    ast_depth *depth;
    see_wall(&o, walls[2], walls[2][3], values);
    assert_int_equal(ast_depth_open(&depth, context, &o), AST_OK);
    ast_depth_image image = {sizeof image, values, WIDTH, HEIGHT, WIDTH * sizeof *values}, half = image;
    half.height = HEIGHT / 2;
    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, first, NULL), AST_OK);
    assert_int_equal(ast_depth_compute(depth, &half, NULL, NULL, again, NULL), AST_OK);
    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, again, NULL), AST_OK);
    assert_memory_equal(first, again, sizeof first);
    ast_depth_close(depth);
    o.distortion[0] = -900;
    assert_int_equal(ast_depth_open(&depth, context, &o), AST_OK);
    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, again, NULL), AST_BAD_OPTION);
    assert_non_null(strstr(ast_message(context), "have no ray; the coefficients are k1, k2, p1, p2, k3"));
    ast_depth_close(depth);
    o.distortion[0] = (double)NAN;
    assert_int_equal(ast_depth_open(&depth, context, &o), AST_BAD_OPTION);
}

static int close_contexts(void **state) {
    (void)state;
    ref_contexts_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walls_are_flat),
        cmocka_unit_test(a_lens_matters),
        cmocka_unit_test(sizes_and_refusals),
    };
    return cmocka_run_group_tests_name("depth through a lens", tests, NULL, close_contexts);
}
