/* SPDX-License-Identifier: MIT
 *
 * A tabletop as a depth camera sees it: a point every 2 mm and noise of 3 to 6 mm along the rays, with a box on it. The
 * normals of 16 neighbours are noise, and so are the labels of their clusters; the table is one plane of its size
 * nevertheless, whatever the labels are. */
#include "asterism_depth.h"
#include "random.h"
#include "reference/harness.h"

#include <math.h>
#include <string.h>

enum { COUNT = 90000, TABLE = 72000 };

static const double eye[3] = {0.35, -0.8, 0.8};
static float points[3 * COUNT], normals[3 * COUNT], curvature[COUNT];
static int32_t labels[COUNT], plane_of[COUNT], again[COUNT];

/* A table of 0.7 x 0.55 m with a box of 20 x 15 x 15 cm: its lid and the two sides that the camera sees. */
static void place(ast_random *r, size_t i, double p[3]) {
    double u = ast_random_uniform(r), v = ast_random_uniform(r);
    int side = i < TABLE ? -1 : (int)(i % 3);
    p[0] = side < 0 ? 0.7 * u : side == 2 ? 0.3 : 0.3 + 0.2 * u;
    p[1] = side < 0 ? 0.55 * v : side == 0 ? 0.2 + 0.15 * v : side == 2 ? 0.2 + 0.15 * u : 0.2;
    p[2] = side < 0 ? 0 : side == 0 ? 0.15 : 0.15 * v;
}

static void make(double noise, uint64_t seed) {
    ast_random random;
    ast_random_seed(&random, seed, 5);
    for (size_t i = 0; i < COUNT; i++) {
        double p[3], away = 0;
        place(&random, i, p);
        for (int c = 0; c < 3; c++)
            away += (p[c] - eye[c]) * (p[c] - eye[c]);
        double moved = noise * ast_random_normal(&random) / sqrt(away);
        for (size_t c = 0; c < 3; c++)
            points[3 * i + c] = (float)(p[c] + moved * (p[c] - eye[c]));
        labels[i] = (int32_t)ast_random_below(&random, 40);
    }
    points[3 * 17] = NAN; /* a point that is missing */
}

static void make_normals(ast_context *context, int adaptive) {
    ast_cloud_options options;
    ast_cloud_options_init(&options);
    options.adaptive = adaptive;
    memcpy(options.viewpoint, eye, sizeof eye);
    assert_int_equal(ast_cloud_normals(context, points, COUNT, &options, normals, curvature), AST_OK);
}

/* The share of points of the table whose normal is within 10 degrees of up. */
static double share_upright(void) {
    size_t good = 0;
    for (size_t i = 0; i < TABLE; i++)
        good += normals[3 * i + 2] > 0.985f;
    return (double)good / TABLE;
}

static void check_table(ast_context *context) {
    ast_plane_map *map;
    ast_plane_options options;
    size_t count, members = 0;
    ast_plane_options_init(&options);
    assert_int_equal(ast_plane_map_open(&map, context, &options), AST_OK);
    assert_int_equal(ast_plane_map_cloud(map, points, normals, labels, COUNT, plane_of), AST_OK);
    const ast_plane_info *plane = ast_plane_list(map, &count);
    assert_true(count >= 3 && plane[0].normal[2] > 0.999 && fabs(plane[0].offset) < 0.002);
    assert_true(fabs(plane[0].area / (0.7 * 0.55) - 1) < 0.05);
    assert_true(plane[1].area < 0.05 && plane[1].normal[2] > 0.99 && fabs(plane[1].offset - 0.15) < 0.003);
    for (size_t i = 0; i < TABLE; i++)
        members += plane_of[i] == 0;
    assert_true(members > 0.93 * TABLE && plane_of[17] == -1);
    for (size_t i = 0; i < COUNT; i++)
        labels[i] = 7; /* planes do not depend on labels, which name their direction */
    memcpy(again, plane_of, sizeof again);
    assert_int_equal(ast_plane_map_cloud(map, points, normals, labels, COUNT, plane_of), AST_OK);
    assert_memory_equal(again, plane_of, sizeof again);
    assert_int_equal(ast_plane_list(map, &count)[0].direction, 7);
    ast_plane_map_close(map);
}

static void a_noisy_table(void **state) {
    static float other[3 * COUNT];
    const double noises[] = {0.003, 0.006};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        ast_context *context = ref_context(REF_FAST, 1 + (int)k);
        make(noises[k], k);
        make_normals(context, 0);
        assert_true(share_upright() < 0.5);
        check_table(context);
        make(noises[k], k);
        make_normals(context, 1);
        assert_true(share_upright() > 0.85 && isnan(normals[3 * 17]));
        memcpy(other, normals, sizeof other);
        make_normals(ref_context("base", 3), 1);
        assert_memory_equal(other, normals, sizeof other);
        check_table(context);
    }
}

/* With noise far below the distance between points the normals are those of neighbours, bit for bit. */
static void a_clean_table(void **state) {
    static float other[3 * COUNT];
    (void)state;
    ast_context *context = ref_context(REF_FAST, 2);
    make(0.0002, 9);
    make_normals(context, 0);
    memcpy(other, normals, sizeof other);
    make_normals(context, 1);
    assert_memory_equal(other, normals, sizeof other);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_noisy_table), cmocka_unit_test(a_clean_table)};
    return cmocka_run_group_tests_name("cloud_noise", tests, NULL, ref_contexts_end);
}
