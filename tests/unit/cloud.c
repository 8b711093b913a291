/* SPDX-License-Identifier: MIT
 *
 * Clouds and meshes at the interface: what is refused and how, known answers, the fewest points. */
#include "asterism_depth.h"
#include "reference/harness.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static ast_context *context;

static int open_context(void **state) {
    (void)state;
    context = ref_context(REF_FAST, 2);
    return 0;
}

static void expect(ast_status status, ast_status wanted, const char *words) {
    assert_int_equal(status, wanted);
    if (!strstr(ast_message(context), words))
        fail_msg("\"%s\" does not say \"%s\"", ast_message(context), words);
}

/* ---- Clouds ------------------------------------------------------------------------------------------------------ */

static void options_are_checked(void **state) {
    (void)state;
    ast_cloud_options o;
    float points[9] = {0}, normals[9];
    ast_cloud_options_init(&o);
    assert_null(ast_cloud_options_problem(&o));
    assert_int_equal(o.neighbours, 16);
    o.neighbours = 2;
    expect(ast_cloud_normals(context, points, 3, &o, normals, NULL), AST_BAD_OPTION, "between 3 and 1024");
    o.neighbours = 1025;
    assert_non_null(ast_cloud_options_problem(&o));
    ast_cloud_options_init(&o);
    o.viewpoint[1] = INFINITY;
    expect(ast_cloud_normals(context, points, 3, &o, normals, NULL), AST_BAD_OPTION, "viewpoint");
    ast_cloud_options_init(&o);
    expect(ast_cloud_normals(context, points, 3, NULL, normals, NULL), AST_BAD_OPTION, "options");
    expect(ast_cloud_normals(context, NULL, 3, &o, normals, NULL), AST_BAD_OPTION, "NULL");
    expect(ast_cloud_normals(context, points, 3, &o, NULL, NULL), AST_BAD_OPTION, "NULL");
    expect(ast_cloud_normals(context, points, (size_t)1 << 31, &o, normals, NULL), AST_BAD_DATA, "2147483647");
}

static void infinity_is_refused(void **state) {
    (void)state;
    ast_cloud_options o;
    float points[12] = {0, 0, 0, 1, 0, 0, 0, -INFINITY, 0, 0, 0, 1}, normals[12] = {7, 7, 7};
    ast_cloud_options_init(&o);
    expect(ast_cloud_normals(context, points, 4, &o, normals, NULL), AST_BAD_DATA, "point 3 (counting from 1)");
    assert_true(normals[0] == 7);
}

static void few_points(void **state) {
    (void)state;
    ast_cloud_options o;
    float points[12] = {0, 0, 1, 1, 0, 1, 0, 1, 1, NAN, 0, 0}, normals[12], curvature[4];
    ast_cloud_options_init(&o);
    assert_int_equal(ast_cloud_normals(context, NULL, 0, &o, NULL, NULL), AST_OK);
    for (size_t n = 1; n <= 4; n++) {
        assert_int_equal(ast_cloud_normals(context, points, n, &o, normals, curvature), AST_OK);
        for (size_t i = 0; i < n; i++) {
            bool plane = n >= 3 && i < 3;
            assert_int_equal(!isnan(normals[3 * i]), plane);
            assert_int_equal(!isnan(curvature[i]), plane);
            if (plane) /* towards the origin, below; exact */
                assert_true(normals[3 * i] == 0 && normals[3 * i + 1] == 0 && normals[3 * i + 2] == -1 &&
                            curvature[i] == 0);
        }
    }
}

/* More equal points than neighbours: nothing spreads. A million of them must not take the time of all pairs. */
static void many_equal_points(void **state) {
    (void)state;
    enum { N = 200000 / REF_SLOWER };
    static float points[3 * N], normals[3 * N];
    ast_cloud_options o;
    ast_cloud_options_init(&o);
    for (size_t i = 0; i < N; i++) {
        points[3 * i] = i % 3 == 0 ? 1 : 4;
        points[3 * i + 1] = 2;
        points[3 * i + 2] = 3;
    }
    assert_int_equal(ast_cloud_normals(context, points, N, &o, normals, NULL), AST_OK);
    for (size_t i = 0; i < N; i++)
        assert_true(isnan(normals[3 * i]));
}

/* ---- Meshes ------------------------------------------------------------------------------------------------------ */

static void a_tetrahedron(void **state) {
    (void)state;
    const float vertices[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
    const int32_t faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const double expected[][4] = {{0, 0, -1, 1}, {0, -1, 0, 1.5}, {-1, 0, 0, 3}, {6.0 / 7, 3.0 / 7, 2.0 / 7, 3.5}};
    float normals[12];
    double areas[4];
    assert_int_equal(ast_mesh_normals(context, vertices, 4, faces, 4, normals, areas), AST_OK);
    for (int f = 0; f < 4; f++) {
        for (int c = 0; c < 3; c++)
            assert_true(normals[3 * f + c] == (float)expected[f][c]);
        assert_true(fabs(areas[f] - expected[f][3]) < 1e-15);
    }
    assert_int_equal(ast_mesh_normals(context, vertices, 4, faces, 4, NULL, areas), AST_OK);
    assert_int_equal(ast_mesh_normals(context, vertices, 4, faces, 4, normals, NULL), AST_OK);
    assert_int_equal(ast_mesh_normals(context, NULL, 0, NULL, 0, NULL, NULL), AST_OK);
}

static void faces_without_area(void **state) {
    (void)state;
    const float vertices[] = {1e6f, 1, 7, 1e6f + 1, 4, 9, 1e6f + 2, 7, 11, NAN, 0, 0, 3e38f, -3e38f, 0, 1e-45f, 0, 0};
    const int32_t faces[] = {0, 1, 2, 0, 0, 1, 0, 1, 3, 5, 5, 5, 0, 1, 4};
    float normals[15];
    double areas[5];
    assert_int_equal(ast_mesh_normals(context, vertices, 6, faces, 5, normals, areas), AST_OK);
    for (int f = 0; f < 4; f++) {
        assert_true(isnan(normals[3 * f]) && isnan(normals[3 * f + 1]) && isnan(normals[3 * f + 2]));
        assert_true(areas[f] == 0);
    }
    assert_true(areas[4] > 1e38 && isfinite(areas[4]) && !isnan(normals[12]));
}

static void bad_meshes(void **state) {
    (void)state;
    float vertices[] = {0, 0, 0, 1, 0, 0, 0, 2, 0}, normals[6] = {7, 7, 7, 7, 7, 7};
    int32_t faces[] = {0, 1, 2, 2, 3, 1};
    double areas[2] = {7, 7};
    expect(ast_mesh_normals(context, vertices, 3, faces, 2, normals, areas), AST_BAD_DATA,
           "face 2 (counting from 1) names vertex 3; there are 3");
    faces[4] = -1;
    expect(ast_mesh_normals(context, vertices, 3, faces, 2, normals, areas), AST_BAD_DATA, "names vertex -1");
    expect(ast_mesh_normals(context, NULL, 0, faces, 2, normals, areas), AST_BAD_DATA, "there are 0");
    expect(ast_mesh_normals(context, NULL, 3, faces, 2, normals, areas), AST_BAD_OPTION, "NULL");
    expect(ast_mesh_normals(context, vertices, 3, NULL, 2, normals, areas), AST_BAD_OPTION, "NULL");
    faces[4] = 0;
    vertices[4] = INFINITY;
    expect(ast_mesh_normals(context, vertices, 3, faces, 2, normals, areas), AST_BAD_DATA, "vertex 2");
    assert_true(normals[0] == 7 && areas[0] == 7);
}

/* Coordinates of a map, with a point that is missing: the origin is whole, and floats keep what a millimetre shows. */
static void coordinates_of_maps(void **state) {
    (void)state;
    const double points[] = {NAN, 5403549.0, 301.25, 512702.125, 5403549.5, 302.0, 512705.0011, 5403550.0019, 0};
    double origin[3] = {7, 7, 7}, above[3];
    float relative[9];
    ast_cloud_relative(points, 3, origin, relative);
    assert_true(origin[0] == 512702 && origin[1] == 5403549 && origin[2] == 0);
    assert_true(isnan(relative[0]) && relative[3] == 0.125f && relative[4] == 0.5f && relative[2] == 301.25f);
    for (int i = 3; i < 9; i++)
        assert_true(fabs((double)relative[i] + origin[i % 3] - points[i]) < 1e-4);
    ast_cloud_above(relative, 3, above);
    assert_true(above[2] == 151 + 302 && fabs(above[0] - 1.56305) < 1e-4 && fabs(above[1] - 0.75095) < 1e-4);
    ast_cloud_relative(NULL, 0, origin, NULL);
    ast_cloud_above(NULL, 0, above);
    assert_true(origin[0] == 0 && origin[2] == 0 && above[0] == 0 && above[2] == 0);
    assert_true(ast_origin_of(-1e300) == 0 && ast_origin_of(-5000.5) == -5000 && ast_origin_of(1000.5) == 0);
}

/* The share of neighbours (along a row of the grid) whose normals look to opposite sides. */
static double opposed(const float *normals, size_t count) {
    size_t sum = 0;
    for (size_t i = 1; i < count; i++)
        sum += normals[3 * i - 1] * normals[3 * i + 2] < 0;
    return (double)sum / (double)count;
}

enum { SIDE = 50, SHEET = SIDE * SIDE };

/* A sheet at height z, a little rough, and a point without a normal. */
static void make_sheet(double z, float *points) {
    for (int i = 0; i < SHEET; i++) {
        points[3 * i] = (float)(i % SIDE) * 0.01f;
        points[3 * i + 1] = (float)(i / SIDE) * 0.01f; /* NOLINT(bugprone-integer-division) */
        points[3 * i + 2] = (float)(z + 1e-4 * sin(12.9898 * i));
    }
    points[3 * 77] = NAN;
}

static void sides_that_are_chance(void **state) {
    (void)state;
    static float points[3 * SHEET], normals[3 * SHEET], before[3 * SHEET];
    ast_cloud_options o;
    ast_cloud_options_init(&o);
    for (int high = 0; high < 2; high++) {
        double place[3] = {0, 0, 0};
        make_sheet(high, points);
        assert_int_equal(ast_cloud_normals(context, points, SHEET, &o, normals, NULL), AST_OK);
        memcpy(before, normals, sizeof before);
        assert_true(high ? opposed(normals, SHEET) == 0 : opposed(normals, SHEET) > 0.2);
        assert_int_equal(ast_cloud_orient(context, points, SHEET, normals, place), AST_OK);
        assert_true(opposed(normals, SHEET) == 0 && isnan(normals[3 * 77]));
        assert_true((normals[2] < 0) == high); /* from 0 0 0 up there; from above down here */
        assert_true((place[2] > 0.1) == !high && (place[0] == 0) == high);
        for (size_t i = 0; i < 3 * SHEET; i++)
            assert_true(isnan(normals[i]) || fabsf(normals[i]) == fabsf(before[i]));
        for (size_t i = 0; i < 3 * SHEET && high; i++) /* a good place changes nothing */
            assert_true(isnan(normals[i]) || normals[i] == before[i]);
    }
    double place[3] = {NAN, 0, 0};
    expect(ast_cloud_orient(context, points, SHEET, normals, place), AST_BAD_OPTION, "viewpoint must be finite");
    place[0] = 0;
    expect(ast_cloud_orient(context, points, SHEET, NULL, place), AST_BAD_OPTION, "NULL");
    expect(ast_cloud_orient(context, points, SHEET, normals, NULL), AST_BAD_OPTION, "NULL");
    assert_int_equal(ast_cloud_orient(context, NULL, 0, NULL, place), AST_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(infinity_is_refused),
        cmocka_unit_test(few_points),
        cmocka_unit_test(many_equal_points),
        cmocka_unit_test(a_tetrahedron),
        cmocka_unit_test(faces_without_area),
        cmocka_unit_test(bad_meshes),
        cmocka_unit_test(coordinates_of_maps),
        cmocka_unit_test(sides_that_are_chance),
    };
    return cmocka_run_group_tests_name("clouds and meshes", tests, open_context, ref_contexts_end);
}
