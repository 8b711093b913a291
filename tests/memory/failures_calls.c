/* SPDX-License-Identifier: MIT
 *
 * The other calls without enough memory: sources, tallies, measures, depth images, clouds. */
#include "failing.h"

#include "private/asterism_hallway.h"
#include "asterism_tally.h"

#include <string.h>

/* The rows of the scene, read as they are needed. */
static int read_scene(size_t first, size_t count, void *rows, void *data) {
    const scene *s = data;
    memcpy(rows, s->x + first * s->dimension, count * s->dimension * sizeof *s->x);
    return 0;
}

static int write_scene(size_t first, size_t count, const int32_t *labels, void *data) {
    memcpy((int32_t *)data + first, labels, count * sizeof *labels);
    return 0;
}

static ast_status call_source(ast_context *context, const scene *s, int32_t *out) {
    ast_source source = {.size = sizeof source,
                         .count = N,
                         .dimension = s->dimension,
                         .type = AST_F4,
                         .weights = s->weights,
                         .read = read_scene,
                         .data = (void *)s};
    ast_label_store store = {.size = sizeof store, .write = write_scene, .data = out};
    ast_report report = {.size = sizeof report};
    ast_options options = s->options;
    options.restarts = 1;
    options.dp.order = AST_ORDER_GIVEN;
    options.parallel = AST_ORDERED;
    return ast_cluster_source(context, &source, &options, (size_t)1 << 30, &store, &report);
}

static ast_status call_compare(ast_context *context, const scene *s, int32_t *out) {
    static int32_t truth[N];
    ast_agreement agreement = {.size = sizeof agreement, .nmi = 77};
    for (int i = 0; i < N; i++)
        truth[i] = i * 7 % 1000003 % 31;
    ast_status status = ast_compare(context, s->expected, truth, N, &agreement);
    if (status != AST_OK)
        assert_true(agreement.nmi == 77);
    else
        memcpy(out, &agreement.nmi, sizeof agreement.nmi);
    return status;
}

static ast_status call_hallway(ast_context *context, const scene *s, int32_t *out) {
    enum { UNTOUCHED = 0x5a };
    static uint16_t depth[N];
    ast_hallway hallway;
    ast_hallway_frame frame = {.seconds = UNTOUCHED};
    (void)s;
    memset(depth, UNTOUCHED, sizeof depth);
    ast_hallway_init(&hallway);
    hallway.width = 44;
    hallway.height = N / hallway.width;
    ast_status status = ast_hallway_render(context, &hallway, 3, depth, NULL, &frame);
    for (size_t i = 0; status != AST_OK && i < N; i++)
        assert_true(depth[i] == UNTOUCHED * 0x101 && frame.seconds == UNTOUCHED);
    if (status == AST_OK)
        memcpy(out, depth, sizeof depth);
    return status;
}

enum { SIDE = 19 }; /* of an image whose normals fit into N numbers */

static void wall(uint16_t *values) {
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = (uint16_t)(i % 50 ? 1500 + 3 * (i % SIDE) : 0);
}

/* Opens a handle, makes normals of an image with all that smoothing offers, and metres. */
static ast_status call_depth_smoothed(ast_context *context, ast_smooth smooth, int32_t *out) {
    uint16_t values[SIDE * SIDE];
    float metres[SIDE * SIDE];
    ast_depth_options options;
    wall(values);
    ast_depth_options_init(&options);
    ast_camera_named("kinect", &options.camera, NULL);
    options.smooth = smooth;
    ast_depth *depth;
    ast_depth_open(&depth, context, &options);
    if (!depth)
        return AST_NO_MEMORY;
    ast_depth_image image = {sizeof image, values, SIDE, SIDE, SIDE * sizeof *values};
    ast_status status = ast_depth_compute(depth, &image, metres, NULL, NULL, NULL);
    if (status == AST_OK)
        status = ast_depth_compute(depth, &image, NULL, NULL, (float *)(void *)out, NULL);
    ast_depth_close(depth);
    return status;
}

static ast_status call_depth(ast_context *context, const scene *s, int32_t *out) {
    (void)s;
    return call_depth_smoothed(context, AST_SMOOTH_TV, out);
}

static ast_status call_depth_planes(ast_context *context, const scene *s, int32_t *out) {
    (void)s;
    return call_depth_smoothed(context, AST_SMOOTH_PLANES, out);
}

/* Two frames of a wall, with poses: the second is larger, and half of it has holes. What a failed call leaves has no
 * planes. */
static ast_status follow_wall(ast_depth *depth, ast_depth_frame *converted, ast_plane_map *map, int32_t *out) {
    static const double pose[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    uint16_t values[SIDE * SIDE];
    float normals[SIDE * SIDE * 3];
    int32_t ids[SIDE * SIDE];
    ast_status status = AST_OK;
    for (int frame = 0; status == AST_OK && frame < 2; frame++) {
        size_t side = frame == 0 ? 11 : SIDE;
        ast_depth_image image = {sizeof image, values, side, side, (ptrdiff_t)(side * sizeof *values)};
        for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
            values[i] = frame == 1 && i % SIDE < SIDE / 2 && i % 2 ? 0 : 1500;
        status = ast_depth_compute(depth, &image, NULL, NULL, normals, converted);
        if (status != AST_OK)
            assert_int_equal(ast_plane_map_frame(map, converted, NULL, pose, ids), AST_BAD_OPTION);
        else
            status = ast_plane_map_frame(map, converted, NULL, pose, ids);
    }
    if (status == AST_OK)
        memcpy(out, ids, sizeof ids);
    return status;
}

static ast_status call_plane_map(ast_context *context, const scene *s, int32_t *out) {
    ast_depth_options options;
    ast_plane_options plane_options;
    ast_depth *depth;
    ast_depth_frame *converted;
    ast_plane_map *map = NULL;
    (void)s;
    ast_depth_options_init(&options);
    ast_plane_options_init(&plane_options);
    ast_camera_named("kinect", &options.camera, NULL);
    options.smooth = AST_SMOOTH_PLANES;
    options.planes = 1;
    ast_status status = ast_depth_open(&depth, context, &options);
    if (status != AST_OK)
        return status;
    status = ast_depth_frame_open(&converted, context);
    if (status == AST_OK)
        status = ast_plane_map_open(&map, context, &plane_options);
    if (status == AST_OK)
        status = follow_wall(depth, converted, map, out);
    ast_plane_map_close(map);
    ast_depth_frame_close(converted);
    ast_depth_close(depth);
    return status;
}

static ast_status call_normals_smooth(ast_context *context, const scene *s, int32_t *out) {
    float normals[SIDE * SIDE * 3], before[SIDE * SIDE * 3];
    memcpy(normals, s->x, sizeof normals);
    memcpy(before, normals, sizeof before);
    ast_status status = ast_normals_smooth(context, normals, SIDE, SIDE, 0.2, 5);
    if (status == AST_OK)
        memcpy(out, normals, sizeof normals);
    else
        assert_memory_equal(normals, before, sizeof before);
    return status;
}

/* The rows of the scene as a cloud. */
static ast_status call_cloud(ast_context *context, const scene *s, int32_t *out) {
    enum { ROWS = N / 3 };
    ast_cloud_options options;
    ast_cloud_options_init(&options);
    return ast_cloud_normals(context, s->x, ROWS, &options, (float *)(void *)out, NULL);
}

static ast_status call_axes(ast_context *context, const scene *s, int32_t *out) {
    ast_axes axes = {.size = sizeof axes, .rms = -1};
    ast_status status = ast_frame_axes(context, s->x, NULL, N, &axes, out);
    assert_true(status == AST_OK || axes.rms == -1);
    return status;
}

/* Two parts become one, and that an iteration in which clusters are empty: the first 40 rows are taken twice. */
static ast_status call_tally(ast_context *context, const scene *s, int32_t *out) {
    enum { HALF = N / 2, ROWS = 40, MEANS = 2 * ROWS, MOST_DIMENSION = 30 };
    static float means[MEANS * MOST_DIMENSION];
    size_t numbers = ROWS * s->dimension, size;
    int32_t labels[N];
    ast_tally_step step = {.size = sizeof step, .moved = 77};
    memcpy(means, s->x, numbers * sizeof *means);
    memcpy(means + numbers, s->x, numbers * sizeof *means);
    ast_points parts[2] = {ast_points_f4(s->x, HALF, s->dimension),
                           ast_points_f4(s->x + HALF * s->dimension, N - HALF, s->dimension)};
    ast_tally *all = NULL, *part = NULL;
    ast_status status = ast_tally_start(context, means, MEANS, s->dimension, means);
    if (status == AST_OK)
        status = ast_tally_open(&all, context, means, MEANS, s->dimension, NULL);
    if (status == AST_OK)
        status = ast_tally_open(&part, context, means, MEANS, s->dimension, NULL);
    if (status == AST_OK)
        status = ast_tally_add(all, &parts[0], 0, labels);
    if (status == AST_OK)
        status = ast_tally_add(part, &parts[1], HALF, labels + HALF);
    const void *bytes = status == AST_OK ? ast_tally_save(part, &size) : NULL;
    if (status == AST_OK)
        status = bytes ? ast_tally_merge(all, bytes, size) : AST_NO_MEMORY;
    if (status == AST_OK)
        status = ast_tally_update(all, &step);
    if (status == AST_OK) {
        memcpy(out, labels, sizeof labels);
        memcpy(out, &step.fingerprint, sizeof step.fingerprint);
    }
    assert_int_equal(step.moved, status == AST_OK ? ROWS : 77);
    ast_tally_close(part);
    ast_tally_close(all);
    return status;
}

/* Few rows, angles and levels: what is allocated does not depend on how many there are. */
static ast_status call_tune(ast_context *context, const scene *s, int32_t *out) {
    enum { ROWS = 60 };
    ast_points points = ast_points_f4(s->x, ROWS, s->dimension);
    ast_tune_options options;
    ast_tune_report report = {.size = sizeof report, .clusters = 77};
    ast_tune_options_init(&options);
    options.from = 50;
    options.to = 30;
    options.step = 20;
    options.max_clusters = 3;
    options.draws = 1;
    ast_status status = ast_tune(context, &points, &options, out, &report);
    assert_true(status == AST_OK || report.clusters == 77);
    return status;
}

/* The nearest neighbour of every row. */
static ast_status call_neighbours(ast_context *context, const scene *s, int32_t *out) {
    static double cosines[N];
    return ast_neighbours(context, &s->points, 1, out, cosines);
}

/* Clusters some mapped rows, and labels all rows by that result. */
static ast_status call_metric(ast_context *context, const scene *s, int32_t *out) {
    enum { ROWS = 150 };
    static int32_t labels[N];
    ast_points points = ast_points_f4(s->x, ROWS, s->dimension);
    ast_options options = s->options;
    ast_report report = {.size = sizeof report, .clusters = 77};
    options.metric = AST_METRIC_LOCAL;
    ast_status status = ast_cluster(context, &points, &options, labels, &report);
    assert_true(status == AST_OK || report.clusters == 77);
    if (status != AST_OK)
        return status;
    ast_assign_options known = ast_assign_to(ast_means(context), report.clusters);
    known.metric = report.metric;
    return ast_assign(context, &s->points, &known, out, NULL);
}

static void metrics_fail_cleanly(void **state) {
    (void)state;
    scene s;
    scene_open(&s, "neighbours", 30, 2, 70);
    fail_all(&s, call_neighbours, NULL);
    s.name = "metric";
    fail_all(&s, call_metric, NULL);
    fail_all(&s, call_metric, call_cluster);
    scene_close(&s);
}

static void tune_fails_cleanly(void **state) {
    (void)state;
    scene s;
    scene_open(&s, "tune", 3, 2, 30);
    fail_all(&s, call_tune, NULL);
    scene_close(&s);
}

static void other_calls_fail_cleanly(void **state) {
    (void)state;
    for (size_t dimension = 3; dimension <= 30; dimension += 27) {
        scene s;
        scene_open(&s, "assign", dimension, 2, dimension == 3 ? 25 : 50);
        scene_expect(&s);
        fail_all(&s, call_assign, NULL);
        fail_all(&s, call_assign, call_cluster);
        s.name = "source";
        fail_all(&s, call_source, NULL);
        s.name = "tally";
        fail_all(&s, call_tally, NULL);
        s.name = "silhouette";
        fail_all(&s, call_silhouette, NULL);
        s.name = "compare";
        fail_all(&s, call_compare, NULL);
        s.name = "hallway";
        fail_all(&s, call_hallway, NULL);
        scene_close(&s);
    }
}

static void depth_fails_cleanly(void **state) {
    (void)state;
    scene s;
    scene_open(&s, "depth", 3, 2, 25);
    fail_all(&s, call_depth, NULL);
    fail_all(&s, call_depth_planes, NULL);
    fail_all(&s, call_depth, call_cluster);
    s.name = "planes over frames";
    fail_all(&s, call_plane_map, NULL);
    s.name = "smoothing of normals";
    fail_all(&s, call_normals_smooth, NULL);
    scene_close(&s);
}

static void clouds_fail_cleanly(void **state) {
    (void)state;
    scene s;
    scene_open(&s, "normals of a cloud", 3, 2, 25);
    fail_all(&s, call_cloud, NULL);
    s.name = "axes";
    fail_all(&s, call_axes, NULL);
    scene_close(&s);
}

/* A handle whose memory could not grow for a larger image still takes the next, and after the first image of a size
 * nothing is allocated. */
static void depth_keeps_its_memory(void **state) {
    (void)state;
    static uint16_t values[4 * SIDE * SIDE];
    static float normals[4 * SIDE * SIDE * 3];
    ast_depth_options options;
    wall(values);
    memcpy(values + SIDE * SIDE, values, SIDE * SIDE * sizeof *values);
    ast_depth_options_init(&options);
    ast_camera_named("kinect", &options.camera, NULL);
    options.smooth = AST_SMOOTH_TV;
    ast_context *context;
    ast_open(&context, 2);
    ast_depth *depth;
    ast_depth_open(&depth, context, &options);
    assert_non_null(depth);
    const ast_depth_image small = {sizeof small, values, SIDE, SIDE, SIDE * sizeof *values};
    const ast_depth_image large = {sizeof large, values, 2 * SIDE, 2 * SIDE, 2 * SIDE * sizeof *values};
    for (long n = 1, failed = 1; failed; n++) {
        assert_int_equal(ast_depth_compute(depth, &small, NULL, NULL, normals, NULL), AST_OK);
        atomic_store(&ast_test_countdown, n);
        ast_status status = ast_depth_compute(depth, &large, NULL, NULL, normals, NULL);
        failed = atomic_exchange(&ast_test_countdown, 0) <= 0;
        assert_int_equal(status, failed ? AST_NO_MEMORY : AST_OK);
        assert_true(n < 10);
    }
    atomic_store(&ast_test_countdown, 1);
    assert_int_equal(ast_depth_compute(depth, &large, NULL, NULL, normals, NULL), AST_OK);
    assert_int_equal(ast_depth_compute(depth, &large, normals, NULL, NULL, NULL), AST_OK);
    assert_int_equal(ast_depth_compute(depth, &large, NULL, normals, NULL, NULL), AST_OK);
    assert_int_equal(atomic_exchange(&ast_test_countdown, 0), 1); /* nobody asked for memory */
    ast_depth_close(depth);
    ast_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_calls_fail_cleanly), cmocka_unit_test(tune_fails_cleanly),
        cmocka_unit_test(metrics_fail_cleanly),     cmocka_unit_test(depth_fails_cleanly),
        cmocka_unit_test(clouds_fail_cleanly),      cmocka_unit_test(depth_keeps_its_memory)};
    return cmocka_run_group_tests_name("memory failures of other calls", tests, NULL, NULL);
}
