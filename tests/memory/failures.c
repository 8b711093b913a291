/* SPDX-License-Identifier: MIT
 *
 * Every allocation and every thread start of the library fails once: the call says so, writes nothing, loses nothing,
 * and the context works on. */
#include "asterism_depth.h"
#include "asterism_tally.h"
#include "reference/cases.h"
#include "reference/reference.h"
#include "reference/sparse.h"
#include "wrappers.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- The calls ------------------------------------------------------------------------------------------------- */

enum {
    N = 1100,
    MOST = 20000,             /* no call allocates that often */
    STEP = REF_SLOWER / 5 + 1 /* 1: every allocation; under a sanitizer, for time, every third or seventh */
};

typedef struct scene {
    const char *name;
    size_t dimension;
    int threads;
    ast_options options;
    float *x;
    double *weights; /* or NULL */
    ast_points points;
    int32_t expected[N]; /* the labels of an undisturbed run */
} scene;

/* One call of the library, with results in `out` (N numbers) that a failure must leave alone. */
typedef ast_status call(ast_context *context, const scene *s, int32_t *out);

static ast_status call_cluster(ast_context *context, const scene *s, int32_t *out) {
    ast_report report, before;
    memset(&report, 0x5a, sizeof report);
    memcpy(&before, &report, sizeof report);
    ast_status status = ast_cluster(context, &s->points, &s->options, out, &report);
    if (status != AST_OK)
        assert_memory_equal(&report, &before, sizeof report);
    return status;
}

/* Stopped in the first pass of the last restart, and taken up again. */
typedef struct pause {
    ast_context *context;
    const scene *s;
    ast_status saved;
    size_t size;
    unsigned char bytes[1 << 18];
} pause_state;

static int put_bytes(uint64_t offset, const void *bytes, size_t size, void *data) {
    pause_state *p = data;
    assert_true(offset + size <= sizeof p->bytes);
    memcpy(p->bytes + offset, bytes, size);
    p->size = offset + size;
    return 0;
}

static int get_bytes(uint64_t offset, void *bytes, size_t size, void *data) {
    memcpy(bytes, ((const pause_state *)data)->bytes + offset, size);
    return 0;
}

static int stop_here(const ast_progress *state, void *data) {
    pause_state *p = data;
    if (state->iteration == 0 || state->restart + 1 < p->s->options.restarts)
        return 0;
    ast_medium store = {.write = put_bytes, .data = p};
    p->saved = ast_checkpoint(p->context, &store);
    return 1;
}

static ast_status call_resumed(ast_context *context, const scene *s, int32_t *out) {
    static pause_state p;
    scene twin = *s;
    p.context = context;
    p.s = s;
    p.saved = AST_OK;
    twin.options.progress = stop_here;
    twin.options.progress_data = &p;
    ast_status status = call_cluster(context, &twin, out);
    if (status != AST_CANCELLED || p.saved != AST_OK)
        return status == AST_CANCELLED ? p.saved : status;
    ast_medium store = {.size = p.size, .read = get_bytes, .data = &p};
    twin.options = s->options;
    twin.options.resume = &store;
    return call_cluster(context, &twin, out);
}

static ast_status call_assign(ast_context *context, const scene *s, int32_t *out) {
    static float similarity[N];
    similarity[0] = 77;
    ast_status status = ast_assign(context, &s->points, s->x, 40, 30, out, similarity);
    if (status != AST_OK)
        assert_true(similarity[0] == 77);
    return status;
}

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
    ast_source source = {.count = N,
                         .dimension = s->dimension,
                         .type = AST_F4,
                         .weights = s->weights,
                         .read = read_scene,
                         .data = (void *)s};
    ast_label_store store = {.write = write_scene, .data = out};
    ast_report report;
    ast_options options = s->options;
    options.restarts = 1;
    options.shuffle = 0;
    options.parallel = AST_ORDERED;
    return ast_cluster_source(context, &source, &options, (size_t)1 << 30, &store, &report);
}

static ast_status call_memberships(ast_context *context, const scene *s, int32_t *out) {
    static float memberships[N * 15];
    scene twin = *s;
    int32_t labels[N];
    ast_status status = call_cluster(context, &twin, labels);
    memberships[0] = 77;
    if (status == AST_OK)
        status = ast_memberships(context, &s->points, memberships, NULL);
    if (status == AST_OK)
        memcpy(out, memberships, N * sizeof *out);
    else
        assert_true(memberships[0] == 77);
    return status;
}

static ast_status call_silhouette(ast_context *context, const scene *s, int32_t *out) {
    double silhouette = 77;
    size_t sampled = 77;
    ast_dissimilarity kind = s->dimension == 3 ? AST_ANGLE : AST_COSINE;
    ast_status status = ast_silhouette(context, &s->points, s->expected, kind, 1, &silhouette, &sampled);
    if (status != AST_OK)
        assert_true(silhouette == 77 && sampled == 77);
    else
        memcpy(out, &silhouette, sizeof silhouette);
    return status;
}

static ast_status call_compare(ast_context *context, const scene *s, int32_t *out) {
    static int32_t truth[N];
    ast_agreement agreement = {.nmi = 77};
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
    ast_depth *depth = ast_depth_open(context, &options);
    if (!depth)
        return AST_NO_MEMORY;
    ast_depth_image image = {values, SIDE, SIDE, SIDE * sizeof *values};
    ast_status status = ast_depth_metres(depth, &image, metres);
    if (status == AST_OK)
        status = ast_depth_normals(depth, &image, (float *)(void *)out);
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
    ast_axes axes = {.rms = -1};
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
    ast_tally_step step = {.moved = 77};
    memcpy(means, s->x, numbers * sizeof *means);
    memcpy(means + numbers, s->x, numbers * sizeof *means);
    ast_points parts[2] = {ast_points_f4(s->x, HALF, s->dimension),
                           ast_points_f4(s->x + HALF * s->dimension, N - HALF, s->dimension)};
    ast_tally *all = NULL, *part = NULL;
    ast_status status = ast_tally_start(context, means, MEANS, s->dimension, means);
    if (status == AST_OK)
        all = ast_tally_open(context, means, MEANS, s->dimension, NULL);
    if (all)
        part = ast_tally_open(context, means, MEANS, s->dimension, NULL);
    if (!all || !part)
        status = AST_NO_MEMORY;
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

/* ---- Failing every allocation of a call ------------------------------------------------------------------------ */

static int32_t good[N], out[N];

/* Whatever a failed call left as "the last result" must be readable. */
static void read_clusters(const ast_context *context, size_t dimension) {
    size_t count = 0;
    const ast_cluster_info *info = ast_clusters(context, &count);
    volatile float sum = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t d = 0; d < dimension; d++)
            sum += info[k].mean[d];
}

/* Lets the n-th allocation of the call fail, in a context that has done `before` (or nothing). Returns 0 once the call
 * has fewer allocations than n. */
static int fail_nth(const scene *s, call *tested, call *before, long n) {
    long blocks_before = atomic_load(&ast_test_blocks);
    ast_context *context = ast_open(s->threads);
    assert_non_null(context);
    if (before)
        assert_int_equal(before(context, s, out), AST_OK);
    memset(out, 0x5a, sizeof out);
    atomic_store(&ast_test_countdown, n);
    ast_status status = tested(context, s, out);
    int reached = atomic_exchange(&ast_test_countdown, 0) <= 0;
    if (reached && status != AST_OK) {
        if (status != AST_NO_MEMORY || strlen(ast_message(context)) == 0)
            fail_msg("%s: allocation %ld failed: status %d, \"%s\"", s->name, n, status, ast_message(context));
        for (size_t i = 0; i < N; i++)
            if (out[i] != 0x5a5a5a5a)
                fail_msg("%s: allocation %ld failed, but result %zu was written", s->name, n, i);
        read_clusters(context, s->dimension);
        status = tested(context, s, out); /* the context works on */
    }
    if (status != AST_OK || memcmp(out, good, sizeof out) != 0)
        fail_msg("%s: after allocation %ld failed: status %d, %s result", s->name, n, status,
                 memcmp(out, good, sizeof out) ? "another" : "the same");
    ast_close(context);
    if (atomic_load(&ast_test_blocks) != blocks_before)
        fail_msg("%s: allocation %ld failed: %ld blocks are lost", s->name, n,
                 atomic_load(&ast_test_blocks) - blocks_before);
    return reached;
}

static void fail_all(const scene *s, call *tested, call *before) {
    ast_context *context = ast_open(s->threads);
    assert_non_null(context);
    memset(good, 0x5a, sizeof good);
    assert_int_equal(tested(context, s, good), AST_OK);
    ast_close(context);
    long n = 1;
    while (n < MOST && fail_nth(s, tested, before, n))
        n += STEP;
    assert_true(n < MOST);
}

static void scene_open(scene *s, const char *name, size_t dimension, int threads, double angle) {
    memset(s, 0, sizeof *s);
    s->name = name;
    s->dimension = dimension;
    s->threads = threads;
    s->x = ref_take(N * dimension, sizeof *s->x);
    ref_fill_clustered(s->x, N, dimension, 12, 0.1, 0.1, 3);
    s->points = ast_points_f4(s->x, N, dimension);
    ast_options_init(&s->options);
    s->options.angle = angle;
}

/* Runs the clustering undisturbed, for what the other calls work on. */
static void scene_expect(scene *s) {
    ast_report report;
    ast_context *context = ast_open(1);
    assert_non_null(context);
    assert_int_equal(ast_cluster(context, &s->points, &s->options, s->expected, &report), AST_OK);
    assert_true(report.clusters >= 2);
    ast_close(context);
}

static void scene_close(scene *s) {
    free(s->x);
    free(s->weights);
}

static ast_status call_small_cluster(ast_context *context, const scene *s, int32_t *labels) {
    scene small = *s;
    small.points.count = 50;
    return call_cluster(context, &small, labels);
}

/* ---- Tests ----------------------------------------------------------------------------------------------------- */

static void open_fails_cleanly(void **state) {
    (void)state;
    long n = 1;
    for (int failed = 1; failed && n < MOST; n++) {
        long blocks_before = atomic_load(&ast_test_blocks);
        atomic_store(&ast_test_countdown, n);
        ast_context *context = ast_open(4);
        failed = atomic_exchange(&ast_test_countdown, 0) <= 0;
        if (failed && context)
            fail_msg("ast_open works although its allocation or thread %ld failed", n);
        if (!failed && !context)
            fail_msg("ast_open fails although nothing else did");
        ast_close(context);
        if (atomic_load(&ast_test_blocks) != blocks_before)
            fail_msg("ast_open lost %ld blocks when allocation or thread %ld failed",
                     atomic_load(&ast_test_blocks) - blocks_before, n);
    }
    assert_true(n > 5); /* memory and three threads at least: otherwise nothing was tested */
}

static void clustering_fails_cleanly(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t dimension;
        int threads;
        ast_parallel parallel;
        int bounds;
    } ways[] = {{"dp, 3 dimensions", 3, 2, AST_ORDERED, 1}, {"dp, 40 dimensions", 40, 2, AST_ORDERED, 1},
                {"dp, no bounds", 3, 1, AST_ORDERED, 0},    {"dp, oir", 3, 3, AST_OIR, 1},
                {"dp, serial", 5, 1, AST_SERIAL, 1},        {"dp, 40 dimensions, oir", 40, 2, AST_OIR, 0}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        scene s;
        scene_open(&s, ways[w].name, ways[w].dimension, ways[w].threads, ways[w].dimension == 40 ? 60 : 25);
        s.options.parallel = ways[w].parallel;
        s.options.bounds = ways[w].bounds;
        fail_all(&s, call_cluster, NULL);
        if (w < 2)
            fail_all(&s, call_cluster, call_small_cluster); /* memory that is there and has to grow */
        scene_close(&s);
    }
}

static void awkward_input_fails_cleanly(void **state) {
    (void)state;
    scene s;
    scene_open(&s, "dp, weights, missing rows, means, restarts", 3, 2, 25);
    s.weights = ref_take(N, sizeof *s.weights);
    for (int i = 0; i < N; i++)
        s.weights[i] = i % 4;
    for (int i = 0; i < N; i += 100)
        s.x[i * 3] = NAN;
    s.points.weights = s.weights;
    s.options.shuffle = 1;
    s.options.restarts = 2;
    s.options.start = AST_GIVEN;
    s.options.means = s.x + 3;
    s.options.means_count = 5;
    fail_all(&s, call_cluster, NULL);
    s.name = "dp, a sample, weights, missing rows";
    s.options.restarts = 1;
    s.options.sample = 300;
    fail_all(&s, call_cluster, NULL);
    scene_close(&s);
}

static void k_means_fails_cleanly(void **state) {
    (void)state;
    for (int start = AST_PLUSPLUS; start <= AST_GIVEN; start++) {
        scene s;
        scene_open(&s, "spkm", start == AST_GIVEN ? 20 : 3, 2, 25);
        s.options.method = AST_SPKM;
        s.options.clusters = 15;
        s.options.start = (ast_start)start;
        s.options.means = start == AST_GIVEN ? s.x : NULL;
        s.options.means_count = start == AST_GIVEN ? 15 : 0;
        s.options.restarts = start == AST_RANDOM ? 3 : 1;
        fail_all(&s, call_cluster, NULL);
        scene_close(&s);
    }
}

static void checkpoints_fail_cleanly(void **state) {
    (void)state;
    scene s;
    scene_open(&s, "dp, resumed", 3, 2, 25);
    fail_all(&s, call_resumed, NULL);
    scene_close(&s);
    scene_open(&s, "spkm, resumed in its second run", 20, 1, 25);
    s.options.method = AST_SPKM;
    s.options.clusters = 15;
    s.options.restarts = 2;
    fail_all(&s, call_resumed, NULL);
    scene_close(&s);
}

/* Sparse rows, with indices of 64 bits, which are copied. */
static void sparse_rows_fail_cleanly(void **state) {
    (void)state;
    for (int method = AST_DP; method <= AST_SPKM; method++) {
        scene s;
        ast_random random;
        ref_sparse sparse;
        scene_open(&s, method == AST_DP ? "sparse dp" : "sparse spkm", 40, 2, 70);
        ast_random_seed(&random, 4, 4);
        ref_thin_out(&s.points, 0.3, &random);
        do
            ref_compress(&sparse, &s.points, &random);
        while (sparse.view.index != AST_I8 && (ref_sparse_free(&sparse), 1));
        s.points = sparse.view;
        s.options.method = (ast_method)method;
        s.options.clusters = method == AST_SPKM ? 15 : 0;
        fail_all(&s, call_cluster, NULL);
        s.options.sample = method == AST_DP ? 200 : 0;
        s.options.method = method == AST_DP ? AST_DP : AST_MBSPKM;
        s.options.max_iterations = 3;
        fail_all(&s, call_cluster, NULL);
        s.options.sample = 0;
        s.options.max_iterations = 100;
        if (method == AST_DP) {
            fail_all(&s, call_cluster, call_small_cluster);
            scene_expect(&s);
            fail_all(&s, call_assign, NULL);
            fail_all(&s, call_silhouette, NULL);
        }
        ref_sparse_free(&sparse);
        scene_close(&s);
    }
}

static void mixtures_and_samplers_fail_cleanly(void **state) {
    (void)state;
    static const float prior[20] = {1};
    for (int method = AST_MOVMF; method <= AST_MBSPKM; method++)
        for (size_t dimension = 3; dimension <= 20; dimension += 17) {
            scene s;
            scene_open(&s, "mixtures and samplers", dimension, 2, method == AST_DPMEANS ? 30 : NAN);
            s.options.method = (ast_method)method;
            s.options.clusters = method == AST_DPMEANS ? 0 : method == AST_CRP ? 1 : 15;
            s.options.max_iterations = 3;
            s.options.concentration = 50; /* clusters are born: arrays grow */
            s.options.prior_kappa = 1;
            s.options.prior_mean = prior;
            fail_all(&s, call_cluster, NULL);
            if (method == AST_MOVMF)
                fail_all(&s, call_memberships, NULL);
            scene_close(&s);
        }
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
    ast_context *context = ast_open(2);
    ast_depth *depth = ast_depth_open(context, &options);
    assert_non_null(depth);
    const ast_depth_image small = {values, SIDE, SIDE, SIDE * sizeof *values};
    const ast_depth_image large = {values, 2 * SIDE, 2 * SIDE, 2 * SIDE * sizeof *values};
    for (long n = 1, failed = 1; failed; n++) {
        assert_int_equal(ast_depth_normals(depth, &small, normals), AST_OK);
        atomic_store(&ast_test_countdown, n);
        ast_status status = ast_depth_normals(depth, &large, normals);
        failed = atomic_exchange(&ast_test_countdown, 0) <= 0;
        assert_int_equal(status, failed ? AST_NO_MEMORY : AST_OK);
        assert_true(n < 10);
    }
    atomic_store(&ast_test_countdown, 1);
    assert_int_equal(ast_depth_normals(depth, &large, normals), AST_OK);
    assert_int_equal(ast_depth_metres(depth, &large, normals), AST_OK);
    assert_int_equal(ast_depth_points(depth, &large, normals), AST_OK);
    assert_int_equal(atomic_exchange(&ast_test_countdown, 0), 1); /* nobody asked for memory */
    ast_depth_close(depth);
    ast_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_fails_cleanly),          cmocka_unit_test(clustering_fails_cleanly),
        cmocka_unit_test(awkward_input_fails_cleanly), cmocka_unit_test(k_means_fails_cleanly),
        cmocka_unit_test(sparse_rows_fail_cleanly),    cmocka_unit_test(mixtures_and_samplers_fail_cleanly),
        cmocka_unit_test(other_calls_fail_cleanly),    cmocka_unit_test(depth_fails_cleanly),
        cmocka_unit_test(clouds_fail_cleanly),         cmocka_unit_test(depth_keeps_its_memory),
        cmocka_unit_test(checkpoints_fail_cleanly),
    };
    return cmocka_run_group_tests_name("memory failures", tests, NULL, NULL);
}
