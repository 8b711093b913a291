/* SPDX-License-Identifier: MIT
 *
 * Depth to normals against the slow reference, and what must hold for any image: planes come out right, holes stay
 * holes, edges separate, everything faces the camera, and nothing but NaN and unit vectors comes out. */
#include "reference/depth.h"
#include "reference/harness.h"

#include "context.h"
#include "depth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 240 / REF_SLOWER + 20, SIDE = 44 };

static ast_depth_options small_camera(void) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.smooth = AST_SMOOTH_GUIDED;
    options.camera = (ast_camera){60, 55, 20.3, 18.7};
    return options;
}

static ast_depth *open_depth(const ast_depth_options *options) {
    ast_context *context = ref_context(REF_FAST, 2);
    ast_depth *depth;
    ast_depth_open(&depth, context, options);
    if (!depth)
        fail_msg("%s", ast_message(context));
    return depth;
}

static void normals_of(const ast_depth_options *options, const uint16_t *values, size_t width, size_t height,
                       float *normals) {
    ast_depth *depth = open_depth(options);
    ast_depth_image image = {sizeof image, values, width, height, (ptrdiff_t)(width * sizeof *values)};
    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, normals, NULL), AST_OK);
    ast_depth_close(depth);
}

/* Whether the pixel has a unit vector, which has to face the camera, or else nothing but NaN. */
static int check_normal(const float *n, const ast_camera *camera, size_t u, size_t v) {
    if (isnan(n[0]) && isnan(n[1]) && isnan(n[2]))
        return 0;
    double squared = 0, ray[3] = {((double)u - camera->cx) / camera->fx, ((double)v - camera->cy) / camera->fy, 1};
    double towards = 0, length = 0;
    for (int c = 0; c < 3; c++) {
        squared += (double)n[c] * n[c];
        towards += n[c] * ray[c];
        length += ray[c] * ray[c];
    }
    if (!(fabs(squared - 1) < 1e-6 && towards < 1e-6 * sqrt(length)))
        fail_msg("pixel %zu, %zu: normal %g %g %g", u, v, n[0], n[1], n[2]);
    return 1;
}

/* ---- Against the reference ------------------------------------------------------------------------------------- */

typedef struct one_case {
    uint64_t seed;
    size_t width, height;
    ast_depth_options options;
    uint16_t values[SIDE * SIDE];
    float s[SIDE * SIDE];
} one_case;

static void make_case(one_case *c, uint64_t seed) {
    ast_random random;
    ast_random_seed(&random, seed, 71);
    c->seed = seed;
    c->width = 1 + (size_t)ast_random_below(&random, SIDE);
    c->height = 1 + (size_t)ast_random_below(&random, SIDE);
    c->options = small_camera();
    c->options.filter_radius = (int)ast_random_below(&random, 5);
    c->options.filter_epsilon = exp(-2 - 6 * ast_random_uniform(&random));
    c->options.window = 1 + (int)ast_random_below(&random, 8);
    c->options.jump = exp(-1 - 5 * ast_random_uniform(&random));
    c->options.units_per_metre = ast_random_below(&random, 2) ? 5000 : 1000;
    if (ast_random_below(&random, 3) == 0) {
        c->options.nearest = 0.4;
        c->options.farthest = 4.35;
    }
    ref_depth_image(c->values, c->width, c->height, &c->options, &random);
    ast_depth_image image = {sizeof image, c->values, c->width, c->height, (ptrdiff_t)(c->width * sizeof *c->values)};
    ref_depth_invert(&image, &c->options, c->s);
}

static void check_filter(const one_case *c, const float *inverse) {
    static double expected[SIDE * SIDE], scale[SIDE * SIDE];
    ref_depth_guided(c->s, c->width, c->height, c->options.filter_radius, c->options.filter_epsilon, expected, scale);
    for (size_t i = 0; i < c->width * c->height; i++)
        if (!(fabs(inverse[i] - expected[i]) <= 0x1p-20 * scale[i]) || (inverse[i] > 0) != (c->s[i] > 0))
            fail_msg("seed %llu, pixel %zu of %zu x %zu: filtered %.9g, should be %.9g", (unsigned long long)c->seed, i,
                     c->width, c->height, inverse[i], expected[i]);
}

static void check_normals(const one_case *c, const float *inverse, const float *normals) {
    static double expected[3 * SIDE * SIDE], condition[SIDE * SIDE];
    ref_depth_normals(inverse, c->width, c->height, &c->options, expected, condition);
    for (size_t i = 0; i < c->width * c->height; i++) {
        int there = check_normal(normals + 3 * i, &c->options.camera, i % c->width, i / c->width);
        double error = there ? ref_degrees(normals + 3 * i, expected + 3 * i) * M_PI / 180 : 0;
        if (there != !isnan(expected[3 * i]) || (there && !(error <= 0x1p-19 * condition[i])))
            fail_msg("seed %llu, pixel %zu of %zu x %zu: normal %g %g %g, should be %g %g %g, off by %g",
                     (unsigned long long)c->seed, i, c->width, c->height, normals[3 * i], normals[3 * i + 1],
                     normals[3 * i + 2], expected[3 * i], expected[3 * i + 1], expected[3 * i + 2], error);
    }
}

static void equals_the_reference(void **state) {
    (void)state;
    static one_case c;
    static float normals[3 * SIDE * SIDE], metres[SIDE * SIDE];
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        make_case(&c, seed);
        ast_depth *depth = open_depth(&c.options);
        ast_depth_image image = {sizeof image, c.values, c.width, c.height, (ptrdiff_t)(c.width * sizeof *c.values)};
        assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, normals, NULL), AST_OK);
        check_filter(&c, depth->inverse);
        check_normals(&c, depth->inverse, normals);
        assert_int_equal(ast_depth_compute(depth, &image, metres, NULL, NULL, NULL), AST_OK);
        for (size_t i = 0; i < c.width * c.height; i++)
            assert_true(c.s[i] > 0 ? metres[i] == 1 / depth->inverse[i] : isnan(metres[i]));
        ast_depth_close(depth);
    }
}

/* ---- Surfaces that are known ----------------------------------------------------------------------------------- */

enum { WIDE = 96, HIGH = 72 };

static ast_depth_options wide_camera(void) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.smooth = AST_SMOOTH_GUIDED;
    options.camera = (ast_camera){525, 525, 47.5, 35.5};
    options.units_per_metre = 5000;
    return options;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Exact depth, rounded to 0.2 mm: a plane is found within half a degree in every pixel. */
static void planes_are_found(void **state) {
    (void)state;
    static uint16_t values[WIDE * HIGH];
    static float normals[3 * WIDE * HIGH];
    ast_random random;
    ast_random_seed(&random, 3, 72);
    for (int turn = 0; turn < 60 / REF_SLOWER + 6; turn++) {
        ast_depth_options options = wide_camera();
        options.smooth = (ast_smooth)(turn % 3);
        double n[3], distance = 0.4 + 3 * ast_random_uniform(&random);
        ref_facing(n, 70, &random);
        for (size_t i = 0; i < WIDE * HIGH; i++)
            values[i] = ref_plane_value(n, distance, &options, i % WIDE, i / WIDE, 0, NULL);
        normals_of(&options, values, WIDE, HIGH, normals);
        for (size_t i = 0; i < WIDE * HIGH; i++)
            if (check_normal(normals + 3 * i, &options.camera, i % WIDE, i / WIDE))
                assert_true(ref_degrees(normals + 3 * i, n) < 0.5);
            else
                assert_true(values[i] == 0 || i % WIDE == 0 || i % WIDE == WIDE - 1);
    }
}

/* With the noise of a structured-light sensor, nearer than 4 m: half the normals within 2 degrees. */
static void noisy_planes_are_found(void **state) {
    (void)state;
    static uint16_t values[WIDE * HIGH];
    static float normals[3 * WIDE * HIGH];
    static double errors[WIDE * HIGH];
    ast_random random;
    ast_random_seed(&random, 4, 73);
    for (int turn = 0; turn < 20 / REF_SLOWER + 4; turn++) {
        ast_depth_options options = wide_camera();
        double n[3], distance = 0.6 + 2.4 * ast_random_uniform(&random);
        size_t count = 0;
        ref_facing(n, 60, &random);
        for (size_t i = 0; i < WIDE * HIGH; i++)
            values[i] = ref_plane_value(n, distance, &options, i % WIDE, i / WIDE, 1, &random);
        normals_of(&options, values, WIDE, HIGH, normals);
        for (size_t i = 0; i < WIDE * HIGH; i++)
            if (values[i] < 4 * 5000 && !isnan(normals[3 * i]))
                errors[count++] = ref_degrees(normals + 3 * i, n);
        qsort(errors, count, sizeof *errors, by_size);
        if (count > 1000 && !(errors[count / 2] < 2))
            fail_msg("turn %d, %zu pixels: median %g degrees", turn, count, errors[count / 2]);
    }
}

/* A box before a wall, both turned, all that is seen of either wider than the window: on both sides of the edge the
 * normals are those of the surface, up to the last pixel. */
static void edges_separate(void **state) {
    (void)state;
    static uint16_t values[WIDE * HIGH];
    static float normals[3 * WIDE * HIGH];
    ast_random random;
    ast_random_seed(&random, 5, 74);
    for (int turn = 0; turn < 30 / REF_SLOWER + 4; turn++) {
        ast_depth_options options = wide_camera();
        double wall[3], box[3];
        size_t left = 18 + (size_t)ast_random_below(&random, 12), top = 18 + (size_t)ast_random_below(&random, 6);
        ref_facing(wall, 45, &random);
        ref_facing(box, 45, &random);
        for (size_t i = 0; i < WIDE * HIGH; i++) {
            size_t u = i % WIDE, v = i / WIDE;
            int inside = u >= left && u < left + 45 && v >= top && v < top + 30;
            values[i] = ref_plane_value(inside ? box : wall, inside ? 0.8 : 2.5, &options, u, v, 0, NULL);
        }
        normals_of(&options, values, WIDE, HIGH, normals);
        for (size_t i = 0; i < WIDE * HIGH; i++) {
            size_t u = i % WIDE, v = i / WIDE;
            int inside = u >= left && u < left + 45 && v >= top && v < top + 30;
            double error = ref_degrees(normals + 3 * i, inside ? box : wall);
            if (!(error < 1))
                fail_msg("turn %d: pixel %zu, %zu of the %s is %g degrees off", turn, u, v, inside ? "box" : "wall",
                         error);
        }
    }
}

/* The image turned by 90 degrees about the optical axis, of a smooth surface: the normals turn with it. */
static void turns_with_the_camera(void **state) {
    (void)state;
    enum { N = 64 };
    static uint16_t values[N * N], turned[N * N];
    static float normals[3 * N * N], turned_normals[3 * N * N];
    ast_depth_options options = wide_camera();
    options.camera = (ast_camera){300, 300, (N - 1) / 2.0, (N - 1) / 2.0};
    for (size_t v = 0; v < N; v++)
        for (size_t u = 0; u < N; u++) {
            double z = 1.5 + 0.002 * (double)u - 0.001 * (double)v + 0.05 * sin((double)u / 9) * cos((double)v / 7);
            values[v * N + u] = turned[u * N + (N - 1 - v)] = (uint16_t)lrint(z * 5000); /* (u, v) to (N-1-v, u) */
        }
    normals_of(&options, values, N, N, normals);
    normals_of(&options, turned, N, N, turned_normals);
    for (size_t v = 0; v < N; v++)
        for (size_t u = 0; u < N; u++) {
            const float *a = normals + 3 * (v * N + u), *b = turned_normals + 3 * (u * N + (N - 1 - v));
            if (!(fabsf(b[0] + a[1]) < 1e-4f && fabsf(b[1] - a[0]) < 1e-4f && fabsf(b[2] - a[2]) < 1e-4f))
                if (u > 12 && v > 12 && u < N - 13 && v < N - 13) /* at the border, which window is chosen may differ */
                    fail_msg("pixel %zu, %zu: %g %g %g and %g %g %g", u, v, a[0], a[1], a[2], b[0], b[1], b[2]);
        }
}

/* ---- Images that nobody expects -------------------------------------------------------------------------------- */

static void fill_odd(uint16_t *values, size_t n, int kind, ast_random *random) {
    for (size_t i = 0; i < n; i++)
        switch (kind) {
        case 0:
            values[i] = 0;
            break;
        case 1:
            values[i] = 1;
            break;
        case 2:
            values[i] = 65535;
            break;
        case 3:
            values[i] = i % 2 ? 65535 : 1;
            break;
        case 4:
            values[i] = i % 2 ? 1500 : 0;
            break;
        default:
            values[i] = (uint16_t)ast_random_below(random, 65536);
        }
}

static void odd_options(ast_depth_options *o, int kind) {
    switch (kind) {
    case 1:
        o->units_per_metre = 1e-3;
        o->camera = (ast_camera){1, 1, -1e6, 1e6};
        o->jump = INFINITY;
        break;
    case 2:
        o->units_per_metre = 1e6;
        o->camera = (ast_camera){1e6, 1e6, 1e6, -1e6};
        o->filter_epsilon = 1e-6;
        o->jump = 1e300;
        break;
    case 3:
        o->filter_radius = 64;
        o->window = 64;
        o->filter_epsilon = 1e3;
        break;
    case 4:
        o->filter_radius = 0;
        o->window = 1;
        o->jump = 1e-300;
        break;
    case 5:
        o->nearest = 70;
        break;
    default:;
    }
}

/* Whether a value other than 65535 is that large. */
static int reaches(const uint16_t *values, size_t count, uint16_t least) {
    int found = 0;
    for (size_t i = 0; i < count; i++)
        found |= values[i] >= least && values[i] < UINT16_MAX;
    return found;
}

static void nothing_but_unit_vectors(void **state) {
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {1, 40}, {40, 1}, {2, 2}, {3, 2}, {9, 7}, {40, 31}};
    static uint16_t values[40 * 40];
    static float normals[3 * 40 * 40], metres[40 * 40], points[3 * 40 * 40];
    ast_random random;
    ast_random_seed(&random, 6, 75);
    for (int odd = 0; odd < 6; odd++)
        for (int smooth = 0; smooth <= AST_SMOOTH_PLANES_ONLY; smooth++)
            for (int kind = 0; kind < 6; kind++)
                for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                    size_t width = sizes[k][0], height = sizes[k][1];
                    ast_depth_options options = small_camera();
                    options.smooth = (ast_smooth)smooth;
                    options.tv_iterations = 5;
                    odd_options(&options, odd);
                    fill_odd(values, width * height, kind, &random);
                    ast_depth *depth = open_depth(&options);
                    ast_depth_image image = {sizeof image, values, width, height, (ptrdiff_t)(width * sizeof *values)};
                    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, normals, NULL), AST_OK);
                    assert_int_equal(ast_depth_compute(depth, &image, metres, NULL, NULL, NULL), AST_OK);
                    assert_int_equal(ast_depth_compute(depth, &image, NULL, points, NULL, NULL), AST_OK);
                    ast_depth_close(depth);
                    for (size_t i = 0; i < width * height; i++) {
                        int hole = values[i] == 0 || values[i] / options.units_per_metre < options.nearest ||
                                   (values[i] == UINT16_MAX && !reaches(values, width * height, 57344));
                        int there = !isnan(normals[3 * i]);
                        assert_true(hole ? isnan(metres[i]) && isnan(points[3 * i]) && !there
                                         : isfinite(metres[i]) && metres[i] > 0 && isfinite(points[3 * i]));
                        if (options.smooth != AST_SMOOTH_TV)
                            check_normal(normals + 3 * i, &options.camera, i % width, i / width);
                        if (width == 1 || height == 1)
                            assert_false(there);
                    }
                }
}

static int close_contexts(void **state) {
    (void)state;
    ref_contexts_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_reference),   cmocka_unit_test(planes_are_found),
        cmocka_unit_test(noisy_planes_are_found), cmocka_unit_test(edges_separate),
        cmocka_unit_test(turns_with_the_camera),  cmocka_unit_test(nothing_but_unit_vectors),
    };
    return cmocka_run_group_tests_name("depth to normals", tests, NULL, close_contexts);
}
