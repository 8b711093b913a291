/* SPDX-License-Identifier: MIT
 *
 * Callbacks that call the context which is calling them are refused and change nothing. The function of ast_set_cancel
 * stops every long call within a fraction of a second. */
#include "asterism_depth.h"
#include "asterism_tally.h"
#include "reference/cases.h"
#include "reference/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

typedef struct meddler {
    ast_context *context;
    ast_stream *stream;
    ast_depth *depth;
    ast_tally *tally;
    const ast_points *points;
    int32_t *other;
    int calls;
} meddler;

static void refuse(const meddler *m, ast_status status, const char *function) {
    assert_int_equal(status, AST_BAD_OPTION);
    const char *message = ast_message(m->context);
    if (!strstr(message, "called from a callback of the same context") || strncmp(message, function, strlen(function)))
        fail_msg("%s: \"%s\"", function, message);
}

/* Calls everything that works with the context. */
static int meddle(meddler *m) {
    ast_options options;
    ast_options_init(&options);
    options.angle = 5;
    ast_report report = {.size = sizeof report};
    ast_frame frame = {.size = sizeof frame};
    ast_assign_options known = ast_assign_to(m->points->data, 1);
    ast_stream *stream = m->stream;
    double silhouette;
    size_t size;
    m->calls++;
    refuse(m, ast_cluster(m->context, m->points, &options, m->other, &report), "ast_cluster");
    refuse(m, ast_assign(m->context, m->points, &known, m->other, NULL), "ast_assign");
    refuse(m, ast_silhouette(m->context, m->points, m->other, AST_COSINE, 1, &silhouette, NULL), "ast_silhouette");
    refuse(m, ast_set_cancel(m->context, NULL, NULL), "ast_set_cancel");
    refuse(m, ast_stream_open(&stream, m->context, NULL), "ast_stream_open");
    assert_null(stream);
    refuse(m, ast_stream_step(m->stream, m->points, m->other, &frame), "ast_stream_step");
    refuse(m, ast_stream_predict(m->stream, m->points, m->other), "ast_stream_predict");
    refuse(m, ast_stream_reset(m->stream), "ast_stream_reset");
    assert_null(ast_stream_save(m->stream, &size));
    assert_null(ast_stream_save_changes(m->stream, &size));
    refuse(m, ast_depth_compute(m->depth, NULL, NULL, NULL, NULL, NULL), "ast_depth_compute");
    refuse(m, ast_tally_add(m->tally, m->points, 0, NULL), "ast_tally_add");
    ast_stream_close(m->stream); /* none of these closes anything: the tests go on with all of them */
    ast_depth_close(m->depth);
    ast_tally_close(m->tally);
    ast_close(m->context);
    return 0;
}

static int meddle_after_pass(const ast_progress *state, void *data) {
    (void)state;
    return meddle(data);
}

static int meddle_when_asked(void *data) {
    return meddle(data);
}

typedef struct bench {
    float *x;
    ast_points points;
    int32_t *labels, *expected, *other;
    ast_options options;
    meddler m;
} bench;

static void bench_open(bench *b, size_t count, size_t dimension) {
    b->x = ref_take(count * dimension, sizeof *b->x);
    ref_fill_clustered(b->x, count, dimension, 12, 0.1, 0, 3);
    b->points = ast_points_f4(b->x, count, dimension);
    b->labels = ref_take(count, sizeof *b->labels);
    b->expected = ref_take(count, sizeof *b->expected);
    b->other = ref_take(count, sizeof *b->other);
    ast_options_init(&b->options);
    b->options.angle = 30;
    ast_stream_options stream;
    ast_stream_options_init(&stream);
    stream.dimension = dimension;
    stream.angle = 30;
    ast_depth_options depth;
    ast_depth_options_init(&depth);
    ast_camera_named("kinect", &depth.camera, NULL);
    float *means = ref_take(dimension, sizeof *means);
    b->m = (meddler){.points = &b->points, .other = b->other};
    assert_int_equal(ast_open(&b->m.context, 2), AST_OK);
    assert_int_equal(ast_stream_open(&b->m.stream, b->m.context, &stream), AST_OK);
    assert_int_equal(ast_depth_open(&b->m.depth, b->m.context, &depth), AST_OK);
    assert_int_equal(ast_tally_start(b->m.context, b->x, 1, dimension, means), AST_OK);
    assert_int_equal(ast_tally_open(&b->m.tally, b->m.context, means, 1, dimension, NULL), AST_OK);
    free(means);
}

static void bench_close(bench *b) {
    ast_stream_close(b->m.stream);
    ast_depth_close(b->m.depth);
    ast_tally_close(b->m.tally);
    ast_close(b->m.context);
    free(b->x);
    free(b->labels);
    free(b->expected);
    free(b->other);
}

static void progress_calls_the_context(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 5000, 3);
    ast_report report = {.size = sizeof report}, again = {.size = sizeof again};
    assert_int_equal(ast_cluster(b.m.context, &b.points, &b.options, b.expected, &report), AST_OK);
    b.options.progress = meddle_after_pass;
    b.options.progress_data = &b.m;
    assert_int_equal(ast_cluster(b.m.context, &b.points, &b.options, b.labels, &again), AST_OK);
    assert_string_equal(ast_message(b.m.context), "");
    assert_int_equal(b.m.calls, report.iterations);
    assert_memory_equal(b.labels, b.expected, b.points.count * sizeof *b.labels);
    assert_true(report.objective == again.objective && report.clusters == again.clusters);
    bench_close(&b);
}

/* Waits until the pool has to ask. */
static int read_rows(size_t first, size_t count, void *rows, void *data) {
    const bench *b = data;
    memcpy(rows, b->x + first * b->points.dimension, count * b->points.dimension * sizeof *b->x);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    return 0;
}

static int take_part(size_t first, size_t count, const int32_t *labels, const float *similarity, void *data) {
    bench *b = data;
    (void)similarity;
    memcpy(b->labels + first, labels, count * sizeof *labels);
    return meddle(&b->m);
}

static void cancel_and_taker_call_the_context(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 5000, 3);
    ast_source source = {.size = sizeof source, .count = 5000, .dimension = 3, .read = read_rows, .data = &b};
    ast_label_sink sink = {.size = sizeof sink, .write = take_part, .data = &b};
    ast_assign_options known = ast_assign_to(b.x, 3);
    assert_int_equal(ast_assign(b.m.context, &b.points, &known, b.expected, NULL), AST_OK);
    assert_int_equal(ast_set_cancel(b.m.context, meddle_when_asked, &b.m), AST_OK);
    assert_int_equal(ast_assign_source(b.m.context, &source, &known, &sink), AST_OK);
    assert_true(b.m.calls >= 1);
    assert_memory_equal(b.labels, b.expected, b.points.count * sizeof *b.labels);
    assert_int_equal(ast_set_cancel(b.m.context, NULL, NULL), AST_OK);
    bench_close(&b);
}

/* ---- Cancelling -------------------------------------------------------------------------------------------------- */

static int now_and_then;

static int stop(void *data) {
    (void)data;
    now_and_then++;
    return 1;
}

/* The function is asked once, soon: a call that does not ask it while it works ends with AST_OK. How soon is not
 * tested, since a time depends on the machine. */
static void expect_cancelled(const bench *b, ast_status status) {
    if (status != AST_CANCELLED)
        fail_msg("status %d: %s", status, ast_message(b->m.context));
}

static void long_calls_are_cancelled(void **state) {
    (void)state;
    enum { COUNT = 200000 / (REF_SLOWER > 1 ? 5 : 1), DIMENSION = 64, MEANS = 2000 };
    bench b;
    bench_open(&b, COUNT, DIMENSION);
    ast_context *context = b.m.context;
    ast_assign_options known = ast_assign_to(b.x, MEANS);
    double silhouette = 77;
    for (size_t i = 0; i < COUNT; i++)
        b.labels[i] = (int32_t)(i % MEANS);
    memcpy(b.expected, b.labels, COUNT * sizeof *b.labels);
    assert_int_equal(ast_set_cancel(context, stop, NULL), AST_OK);
    expect_cancelled(&b, ast_silhouette(context, &b.points, b.labels, AST_COSINE, 1, &silhouette, NULL));
    assert_true(silhouette == 77);
    expect_cancelled(&b, ast_assign(context, &b.points, &known, b.labels, NULL));
    assert_memory_equal(b.labels, b.expected, COUNT * sizeof *b.labels);
    ast_cloud_options cloud;
    ast_cloud_options_init(&cloud);
    cloud.neighbours = 200;
    float *normals = ref_take(3 * (size_t)COUNT * 16, sizeof *normals);
    expect_cancelled(&b, ast_cloud_normals(context, b.x, (size_t)COUNT * 16, &cloud, normals, NULL));
    ast_mixture mixture = {.size = sizeof mixture, .points = COUNT * 16, .dimension = 3, .clusters = 5, .kappa = 9};
    expect_cancelled(&b, ast_sample_mixture(context, &mixture, normals, NULL, NULL));
    memset(normals, 0, 3 * (size_t)COUNT * 16 * sizeof *normals);
    for (size_t i = 0; i < (size_t)COUNT * 16; i++)
        normals[3 * i + 2] = i % 2 ? 1 : -1;
    expect_cancelled(&b, ast_normals_smooth(context, normals, COUNT / 50, 800, 0.2, 1000));
    assert_true(normals[2] == -1 && normals[5] == 1);
    assert_true(now_and_then == 5);
    free(normals);
    bench_close(&b);
}

/* Between passes at the latest. */
static void clustering_is_cancelled(void **state) {
    (void)state;
    bench b;
    bench_open(&b, 50000 / (REF_SLOWER > 1 ? 5 : 1), 16);
    ast_report report = {.size = sizeof report, .clusters = 77};
    b.options.restarts = 100000;
    b.labels[0] = 77;
    assert_int_equal(ast_set_cancel(b.m.context, stop, NULL), AST_OK);
    expect_cancelled(&b, ast_cluster(b.m.context, &b.points, &b.options, b.labels, &report));
    assert_true(b.labels[0] == 77 && report.clusters == 77);
    assert_int_equal(ast_set_cancel(b.m.context, NULL, NULL), AST_OK);
    b.options.restarts = 1;
    assert_int_equal(ast_cluster(b.m.context, &b.points, &b.options, b.labels, &report), AST_OK);
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_calls_the_context),
        cmocka_unit_test(cancel_and_taker_call_the_context),
        cmocka_unit_test(long_calls_are_cancelled),
        cmocka_unit_test(clustering_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
