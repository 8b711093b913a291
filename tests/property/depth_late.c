/* SPDX-License-Identifier: MIT
 *
 * Pixels on no plane: they have the guided normal, bit for bit, and are late; and planes of sensors of every kind,
 * whose noise is not known beforehand. */
#include "reference/depth.h"
#include "reference/harness.h"
#include "reference/planes.h"
#include "reference/reference.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 240, PIXELS = WIDTH * HEIGHT };

static ast_depth_options camera_of(double focal, size_t width, size_t height) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.camera = (ast_camera){focal, focal, (double)(width - 1) / 2, (double)(height - 1) / 2};
    options.smooth = AST_SMOOTH_PLANES;
    return options;
}

static void find_normals(const ast_depth_options *options, const uint16_t *values, size_t width, size_t height,
                         int threads, float *normals, uint8_t *late, ast_depth_report *report) {
    ast_context *context = ref_context(threads % 2 ? "base" : REF_FAST, threads);
    ast_depth *depth;
    ast_depth_frame *frame;
    ast_depth_report found = {.size = sizeof found};
    assert_int_equal(ast_depth_open(&depth, context, options), AST_OK);
    assert_int_equal(ast_depth_frame_open(&frame, context), AST_OK);
    assert_int_equal(ast_depth_describe(frame, &found), AST_BAD_OPTION);
    ast_depth_image image = {sizeof image, values, width, height, (ptrdiff_t)(width * sizeof *values)};
    assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, normals, frame), AST_OK);
    assert_int_equal(ast_depth_describe(frame, &found), AST_OK);
    assert_true((found.late != NULL) == (options->smooth == AST_SMOOTH_PLANES));
    if (late)
        memcpy(late, found.late, width * height);
    if (report)
        *report = found;
    ast_depth_frame_close(frame);
    ast_depth_close(depth);
}

/* AST_SMOOTH_PLANES is AST_SMOOTH_PLANES_ONLY where that has a normal; elsewhere it has the normal of an uncertain
 * plane, or that of AST_SMOOTH_GUIDED. */
static void others_are_guided(void **state) {
    (void)state;
    static uint16_t values[PIXELS];
    static float normals[3][3 * PIXELS], uncertain[3 * PIXELS], s[PIXELS];
    static uint8_t late[PIXELS], edge[PIXELS];
    static const ast_smooth modes[3] = {AST_SMOOTH_PLANES, AST_SMOOTH_PLANES_ONLY, AST_SMOOTH_GUIDED};
    ast_random random;
    ast_random_seed(&random, 1, 81);
    size_t lates = 0, unsure = 0;
    for (int round = 0; round < 60 / REF_SLOWER; round++) {
        size_t width = 1 + (size_t)ast_random_below(&random, round % 4 ? 90 : WIDTH);
        size_t height = 1 + (size_t)ast_random_below(&random, round % 4 ? 90 : HEIGHT);
        ast_depth_options options = camera_of(270, width, height);
        if (round % 3 == 2) {
            options.filter_radius = (int)ast_random_below(&random, 9);
            options.window = 1 + (int)ast_random_below(&random, 12);
        }
        ref_depth_image(values, width, height, &options, &random);
        for (int k = 0; k < 3; k++) {
            options.smooth = modes[k];
            find_normals(&options, values, width, height, 1 + round % 3, normals[k], k ? NULL : late, NULL);
        }
        ast_depth_image image = {sizeof image, values, width, height, (ptrdiff_t)(width * sizeof *values)};
        ref_depth_invert(&image, &options, s);
        ref_planes_normals(s, values, width, height, &options, 1, uncertain, edge);
        for (size_t i = 0; i < width * height; i++) {
            bool own = !isnan(normals[1][3 * i]), plane = !isnan(uncertain[3 * i]);
            bool guided = !plane && !edge[i] && !isnan(normals[2][3 * i]);
            const float *expected = plane ? uncertain + 3 * i : normals[2] + 3 * i;
            assert_int_equal(late[i], guided || (plane && !own));
            assert_int_equal(isnan(normals[0][3 * i]) != 0, !plane && !guided);
            if ((plane || guided) && memcmp(normals[0] + 3 * i, expected, 3 * sizeof *expected) != 0)
                fail_msg("image %d of %zu x %zu: pixel %zu has another normal", round, width, height, i);
            lates += guided;
            unsure += plane && !own;
        }
    }
    assert_true(lates > 1000 / REF_SLOWER && unsure > 1000 / REF_SLOWER);
}

/* ---- Sensors ----------------------------------------------------------------------------------------------------- */

typedef struct sensor {
    const char *name;
    double focal, units;
    double noise;    /* metres, at any distance */
    double relative; /* of the distance */
    double square;   /* metres at 1 m, growing with the square of the distance */
    double sideways; /* pixels: a pixel looks beside its ray */
    double step;     /* of inverse depth */
} sensor;

static double gaussian(ast_random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += ast_random_uniform(random);
    return sum;
}

/* A corner of three walls, 0.9 to 4 m away, as the sensor sees it. own: the wall of each pixel. */
static const double walls[3][3] = {{0.8, 0, -0.6}, {-0.6, 0, -0.8}, {0, -1, 0}};

static void see_corner(const sensor *s, const ast_depth_options *o, uint16_t *values, int *own, ast_random *random) {
    static const double apart[3] = {1.2, 1.6, 0.9};
    for (size_t i = 0; i < PIXELS; i++) {
        double nearest = INFINITY, x = ((double)(i % WIDTH) + s->sideways * gaussian(random) - o->camera.cx) / s->focal;
        double y = ((double)(i / WIDTH) + s->sideways * gaussian(random) - o->camera.cy) / s->focal;
        for (int w = 0; w < 3; w++) {
            double z = -apart[w] / (walls[w][0] * x + walls[w][1] * y + walls[w][2]);
            own[i] = z > 0 && z < nearest ? w : own[i];
            nearest = z > 0 && z < nearest ? z : nearest;
        }
        double deviation = s->noise + s->relative * nearest + s->square * nearest * nearest;
        double z = fmax(0.05, nearest + deviation * gaussian(random));
        z = s->step > 0 ? 1 / fmax(s->step, rint(1 / z / s->step) * s->step) : z;
        values[i] = (uint16_t)fmin(rint(z * s->units), 65000);
    }
}

static void every_sensor_sees_planes(void **state) {
    static const sensor sensors[] = {{"clean", 270, 1000, 0, 0, 0, 0, 0},
                                     {"structured light", 270, 1000, 0, 0, 0.001, 0, 1 / (8 * 0.075 * 540)},
                                     {"steps of a pixel", 270, 1000, 0, 0, 0, 0, 1 / (0.075 * 540)},
                                     {"time of flight, 8 mm", 270, 1000, 0.008, 0, 0, 0, 0},
                                     {"time of flight, 20 mm", 270, 1000, 0.02, 0, 0, 0, 0},
                                     {"1% of the distance", 270, 5000, 0, 0.01, 0, 0, 0},
                                     {"sideways", 270, 5000, 0, 0, 0.001, 1.2, 1 / (8 * 0.075 * 540)},
                                     {"centimetres", 270, 100, 0.002, 0, 0, 0, 0},
                                     {"narrow", 540, 1000, 0.005, 0, 0, 0, 0}};
    static uint16_t values[PIXELS];
    static int own[PIXELS];
    static float normals[3 * PIXELS];
    (void)state;
    ast_random random;
    ast_random_seed(&random, 2, 81);
    for (size_t k = 0; k < sizeof sensors / sizeof *sensors; k++) {
        ast_depth_options options = camera_of(sensors[k].focal, WIDTH, HEIGHT);
        options.units_per_metre = sensors[k].units;
        options.smooth = AST_SMOOTH_PLANES_ONLY;
        see_corner(&sensors[k], &options, values, own, &random);
        find_normals(&options, values, WIDTH, HEIGHT, 2, normals, NULL, NULL);
        size_t right = 0, wrong = 0;
        for (size_t i = 0; i < PIXELS; i++) {
            right += !isnan(normals[3 * i]) && ref_degrees(normals + 3 * i, walls[own[i]]) < 5;
            wrong += !isnan(normals[3 * i]) && ref_degrees(normals + 3 * i, walls[own[i]]) > 15;
        }
        if (right < 0.9 * PIXELS || wrong > 0.03 * PIXELS)
            fail_msg("%s: %.3f are right, %.3f wrong", sensors[k].name, (double)right / PIXELS, (double)wrong / PIXELS);
    }
}

/* ---- Holes and reports ---------------------------------------------------------------------------------------------
 */

/* A wall, a part of which is 65535. */
static void saturated_is_no_depth(void **state) {
    static uint16_t values[PIXELS];
    static float normals[3 * PIXELS];
    static const ast_smooth modes[] = {AST_SMOOTH_GUIDED, AST_SMOOTH_NONE, AST_SMOOTH_PLANES, AST_SMOOTH_PLANES_ONLY};
    (void)state;
    for (size_t most = 57343; most <= 57344; most++)
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
            ast_depth_options options = camera_of(270, WIDTH, HEIGHT);
            ast_depth_report report;
            for (size_t i = 0; i < PIXELS; i++)
                values[i] = i % WIDTH < 100 ? UINT16_MAX : 2000;
            values[PIXELS - 1] = (uint16_t)most;
            options.smooth = modes[k];
            options.distortion[0] = k == 0 ? 0.01 : 0;
            find_normals(&options, values, WIDTH, HEIGHT, 1, normals, NULL, &report);
            if (modes[k] != AST_SMOOTH_PLANES_ONLY) /* 65 m are too far away for a sure direction */
                assert_int_equal(isnan(normals[3 * (120 * WIDTH + 50)]) != 0, most < 57344);
            assert_false(isnan(normals[3 * (120 * WIDTH + 200)]));
            if (k > 0)
                assert_int_equal(report.pixels, most < 57344 ? PIXELS - 100 * HEIGHT : PIXELS);
        }
}

/* The report says why there are no planes: too much tolerance, nonsense, or pieces. */
static void the_report_says_why(void **state) {
    static const double wall[3] = {0.6, 0, -0.8};
    static uint16_t values[PIXELS];
    static float normals[3 * PIXELS];
    (void)state;
    ast_random random;
    ast_random_seed(&random, 3, 81);
    for (int kind = 0; kind < 3; kind++) {
        ast_depth_options options = camera_of(270, WIDTH, HEIGHT);
        ast_depth_report report;
        options.filter_epsilon = kind == 0 ? 0.5 : 0.005;
        for (size_t i = 0; i < PIXELS; i++) {
            size_t u = i % WIDTH, v = i / WIDTH;
            double apart = kind == 2 ? 1 + 0.3 * (double)((u / 8 * 7 + v / 8 * 3) % 10) : 2;
            values[i] = kind == 1 ? (uint16_t)(500 + ast_random_below(&random, 9000))
                                  : ref_plane_value(wall, apart, &options, (double)u, (double)v, 0, &random);
        }
        find_normals(&options, values, WIDTH, HEIGHT, 2, normals, NULL, &report);
        size_t found[3] = {report.uncertain, report.uneven, report.small};
        for (int other = 0; other < 3; other++)
            if (other == kind ? 2 * found[other] <= report.pixels : found[other] > found[kind])
                fail_msg("image %d: %zu uncertain, %zu uneven, %zu small", kind, found[0], found[1], found[2]);
    }
}

static int close_contexts(void **state) {
    (void)state;
    ref_contexts_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_guided),
        cmocka_unit_test(every_sensor_sees_planes),
        cmocka_unit_test(saturated_is_no_depth),
        cmocka_unit_test(the_report_says_why),
    };
    return cmocka_run_group_tests_name("pixels on no plane", tests, NULL, close_contexts);
}
