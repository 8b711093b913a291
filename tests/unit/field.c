/* SPDX-License-Identifier: MIT
 *
 * Directions in the field, and the axes of a scene. */
#include "asterism_depth.h"
#include "degree.h"
#include "reference/harness.h"

#include <math.h>
#include <string.h>

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void near(double got, double wanted, double error) {
    if (!(fabs(got - wanted) <= error))
        fail_msg("%.17g, should be %.17g", got, wanted);
}

/* ---- Dip, trend -------------------------------------------------------------------------------------------------- */

static void known_planes(void **state) {
    (void)state;
    static const struct {
        double normal[3], direction, dip;
    } known[] = {
        {{0, 0, 1}, 0, 0},       {{0, 0, -2}, 0, 0},          {{1, 0, 1}, 90, 45},   {{0, 1, 1}, 0, 45},
        {{-1, 0, 1}, 270, 45},   {{0, -1, 1}, 180, 45},       {{0, 1, -1}, 180, 45}, {{3, 0, 0}, 90, 90},
        {{-3, 0, 0}, 90, 90},    {{0, -1, 0}, 0, 90},         {{1, 1, 0}, 45, 90},   {{-1, 1, 0}, 135, 90},
        {{1e-200, 0, 1}, 90, 0}, {{1e300, 0, 1e300}, 90, 45},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double direction, dip;
        ast_angles_of(AST_PLANE, known[i].normal, &direction, &dip);
        assert_false(signbit(direction));
        near(direction, known[i].direction, 1e-13);
        near(dip, known[i].dip, 1e-13);
    }
}

static void known_lines(void **state) {
    (void)state;
    static const struct {
        double line[3], trend, plunge;
    } known[] = {
        {{0, 0, 1}, 0, 90}, {{0, 0, -1}, 0, 90}, {{1, 0, -1}, 90, 45}, {{1, 0, 1}, 270, 45},
        {{0, -2, 0}, 0, 0}, {{-1, 0, 0}, 90, 0}, {{-1, -1, 0}, 45, 0}, {{0, -1, -1}, 180, 45},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double trend, plunge;
        ast_angles_of(AST_LINE, known[i].line, &trend, &plunge);
        near(trend, known[i].trend, 1e-13);
        near(plunge, known[i].plunge, 1e-13);
    }
}

static void no_direction(void **state) {
    (void)state;
    static const double none[][3] = {{0, 0, 0}, {NAN, 0, 1}, {0, 0, INFINITY}, {1, -INFINITY, NAN}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        double a, b;
        ast_angles_of(AST_PLANE, none[i], &a, &b);
        assert_true(isnan(a) && isnan(b));
        ast_angles_of(AST_LINE, none[i], &a, &b);
        assert_true(isnan(a) && isnan(b));
    }
}

static void there_and_back(void **state) {
    (void)state;
    for (int azimuth = 0; azimuth < 360; azimuth += 3)
        for (int steep = 1; steep < 90; steep++) {
            double pole[3], line[3], minus[3], a, b, c, d;
            ast_vector_of(AST_PLANE, azimuth, steep, pole);
            ast_vector_of(AST_LINE, azimuth, steep, line);
            near(dot(pole, pole), 1, 1e-15);
            near(dot(line, line), 1, 1e-15);
            assert_true(pole[2] > 0 && line[2] < 0);
            ast_angles_of(AST_PLANE, pole, &a, &b);
            ast_angles_of(AST_LINE, line, &c, &d);
            near(fabs(a - azimuth) + fabs(b - steep) + fabs(c - azimuth) + fabs(d - steep), 0, 1e-11);
            for (int e = 0; e < 3; e++)
                minus[e] = -pole[e];
            ast_angles_of(AST_PLANE, minus, &c, &d);
            assert_true(a == c && b == d);
            near(dot(line, pole), 0, 1e-15); /* the line down the dip lies in the plane */
        }
}

static void right_angles_are_exact(void **state) {
    (void)state;
    static const double compass[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
    for (int turn = -8; turn < 8; turn++) {
        double v[3];
        const double *to = compass[(turn + 8) % 4];
        ast_vector_of(AST_PLANE, 90.0 * turn, 90, v);
        assert_true(v[0] == to[0] && v[1] == to[1] && v[2] == 0);
        ast_vector_of(AST_LINE, 90.0 * turn, 0, v);
        assert_true(v[0] == to[0] && v[1] == to[1] && v[2] == 0);
        ast_vector_of(AST_LINE, 90.0 * turn, 90, v);
        assert_true(v[0] == 0 && v[1] == 0 && v[2] == -1);
    }
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

/* The rotation of a random unit quaternion, by at most `most` degrees around a random axis. */
static void random_rotation(ast_random *random, double most, double r[3][3]) {
    double v[3], half = most * AST_DEGREE / 2 * ast_random_uniform(random), length = 0;
    for (int c = 0; c < 3; c++) {
        v[c] = ast_random_normal(random);
        length += v[c] * v[c];
    }
    double w = cos(half), s = sin(half) / sqrt(length), x = s * v[0], y = s * v[1], z = s * v[2];
    double q[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(r, q, sizeof q);
}

static void check_rotation(const ast_axes *axes) {
    const double(*r)[3] = axes->rotation;
    double across[3] = {r[0][1] * r[1][2] - r[0][2] * r[1][1], r[0][2] * r[1][0] - r[0][0] * r[1][2],
                        r[0][0] * r[1][1] - r[0][1] * r[1][0]};
    for (int a = 0; a < 3; a++) {
        near(across[a], r[2][a], 1e-12);
        for (int b = 0; b < 3; b++)
            near(dot(r[a], r[b]), a == b, 1e-12);
    }
}

static double misfit(const double (*r)[3], const float *means, const double *weights, size_t count) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        double m[3] = {means[3 * k], means[3 * k + 1], means[3 * k + 2]}, best = 0;
        for (int c = 0; c < 3; c++)
            best = fmax(best, fabs(dot(r[c], m)) / sqrt(dot(m, m)));
        sum += (weights ? weights[k] : 1) * (1 - best);
    }
    return sum;
}

/* Means on the six directions of a frame that is turned by less than 45 degrees around any axis come back exactly. */
static void a_turned_frame(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 1, 95);
    for (int round = 0; round < 200; round++) {
        double truth[3][3];
        float means[18];
        int32_t nearest[6];
        ast_axes axes = {.size = sizeof axes};
        random_rotation(&random, 44, truth);
        for (int k = 0; k < 6; k++)
            for (int c = 0; c < 3; c++)
                means[3 * k + c] = (float)((k % 2 ? -2.5 : 1) * truth[k / 2][c]);
        assert_int_equal(ast_frame_axes(ref_context(REF_FAST, 1), means, NULL, 6, &axes, nearest), AST_OK);
        check_rotation(&axes);
        assert_int_equal(axes.used, 6);
        near(axes.rms, 0, 1e-5);
        for (int k = 0; k < 6; k++)
            assert_int_equal(nearest[k], k);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                near(axes.rotation[a][b], truth[a][b], 1e-6);
    }
}

/* No frame that chance finds, and none nearby, fits better. */
static void no_frame_fits_better(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 2, 95);
    for (int round = 0; round < 60 / REF_SLOWER + 6; round++) {
        enum { MOST = 9 };
        float means[3 * MOST];
        double weights[MOST];
        size_t count = 1 + (size_t)ast_random_below(&random, MOST);
        ast_axes axes = {.size = sizeof axes};
        for (size_t k = 0; k < count; k++) {
            weights[k] = ast_random_below(&random, 4) ? ast_random_uniform(&random) : 0.5;
            for (int c = 0; c < 3; c++)
                means[3 * k + (size_t)c] = (float)ast_random_normal(&random);
        }
        assert_int_equal(ast_frame_axes(ref_context(REF_FAST, 1), means, weights, count, &axes, NULL), AST_OK);
        check_rotation(&axes);
        double least = misfit((const double(*)[3])axes.rotation, means, weights, count);
        for (int other = 0; other < 3000; other++) {
            double r[3][3], turned[3][3];
            random_rotation(&random, other % 2 ? 360 : 2, r);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    turned[a][b] =
                        r[a][0] * axes.rotation[0][b] + r[a][1] * axes.rotation[1][b] + r[a][2] * axes.rotation[2][b];
            if (misfit((const double(*)[3])turned, means, weights, count) < least - 1e-9)
                fail_msg("round %d: another frame fits better", round);
        }
    }
}

/* One direction, or several on one line: the smallest turn that puts it on an axis. */
static void one_direction(void **state) {
    (void)state;
    const float means[] = {0.1f, -0.2f, 1, -0.3f, 0.6f, -3, 0.01f, -0.02f, 0.1f};
    for (size_t count = 1; count <= 3; count++) {
        int32_t nearest[3];
        ast_axes axes = {.size = sizeof axes};
        assert_int_equal(ast_frame_axes(ref_context(REF_FAST, 1), means, NULL, count, &axes, nearest), AST_OK);
        check_rotation(&axes);
        near(axes.rms, 0, 1e-5);
        assert_int_equal(nearest[0], 4);
        assert_true(count < 2 || nearest[1] == 5);
        double trace = axes.rotation[0][0] + axes.rotation[1][1] + axes.rotation[2][2];
        near(trace, 1 + 2 / sqrt(1.05), 1e-6); /* 1 + 2 cos of the angle to z */
    }
}

/* The angles of two means that cannot both be on axes are shared by weight. */
static void weights_count(void **state) {
    (void)state;
    const float means[] = {1, 0, 0, (float)sin(10 * AST_DEGREE), (float)cos(10 * AST_DEGREE), 0, NAN, 0, 0, 0, 0, 0,
                           1, 1, 1};
    const double equal[] = {1, 1, 5, 5, 0}, tilted[] = {1e300, 1e297, 0, 0, 0};
    int32_t nearest[5];
    ast_axes axes = {.size = sizeof axes};
    assert_int_equal(ast_frame_axes(ref_context(REF_FAST, 1), means, equal, 5, &axes, nearest), AST_OK);
    near(axes.rms, 5, 1e-5);
    assert_int_equal(axes.used, 2);
    assert_true(nearest[0] == 0 && nearest[1] == 2 && nearest[2] == -1 && nearest[3] == -1 && nearest[4] >= 0);
    assert_int_equal(ast_frame_axes(ref_context(REF_FAST, 1), means, tilted, 5, &axes, nearest), AST_OK);
    near(axes.rotation[0][0], 1, 1e-6);
}

static void bad_means(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 1);
    const float means[] = {0, 0, 0, NAN, 1, 1, INFINITY, 0, 0};
    const double weights[] = {1, -1};
    ast_axes axes = {.size = sizeof axes, .rms = 7};
    assert_int_equal(ast_frame_axes(context, means, NULL, 2, &axes, NULL), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "none of the 2 means"));
    assert_int_equal(ast_frame_axes(context, NULL, NULL, 0, &axes, NULL), AST_BAD_DATA);
    assert_int_equal(ast_frame_axes(context, NULL, NULL, 2, &axes, NULL), AST_BAD_OPTION);
    assert_int_equal(ast_frame_axes(context, means, NULL, 2, NULL, NULL), AST_BAD_OPTION);
    assert_int_equal(ast_frame_axes(context, means, NULL, 3, &axes, NULL), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "mean 3"));
    assert_int_equal(ast_frame_axes(context, means, weights, 2, &axes, NULL), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "weight 2"));
    assert_int_equal(ast_frame_axes(context, means, NULL, ((size_t)1 << 20) + 1, &axes, NULL), AST_BAD_DATA);
    assert_true(axes.rms == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_planes),           cmocka_unit_test(known_lines),
        cmocka_unit_test(no_direction),           cmocka_unit_test(there_and_back),
        cmocka_unit_test(right_angles_are_exact), cmocka_unit_test(a_turned_frame),
        cmocka_unit_test(no_frame_fits_better),   cmocka_unit_test(one_direction),
        cmocka_unit_test(weights_count),          cmocka_unit_test(bad_means),
    };
    return cmocka_run_group_tests_name("field and axes", tests, NULL, ref_contexts_end);
}
