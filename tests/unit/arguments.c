/* SPDX-License-Identifier: MIT
 *
 * Every function of the public headers gets NULL for each pointer where that is not allowed, and structs that nobody
 * has initialised: a status and a sentence, and the context works on. */
#include "asterism_depth.h"
#include "asterism_ranks.h"
#include "asterism_tally.h"
#include "reference/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { N = 4, D = 3 };

static const float x[N * D] = {1, 0, 0, 0.9f, 0.1f, 0, 0, 1, 0, 0, 0.9f, 0.1f};
static int32_t labels[N];
static ast_context *context;

/* The call is the caller's mistake, and the message names what is wrong. */
#define REFUSED(call, word)                                                                                            \
    do {                                                                                                               \
        assert_int_equal(call, AST_BAD_OPTION);                                                                        \
        if (!strstr(ast_message(context), word))                                                                       \
            fail_msg("%s: the message is \"%s\", without \"%s\"", #call, ast_message(context), word);                  \
    } while (0)

static ast_options dp(void) {
    ast_options options;
    ast_options_init(&options);
    options.angle = 30;
    return options;
}

static void clustering(void **state) {
    (void)state;
    ast_options options = dp(), raw = dp();
    ast_points points = ast_points_f4(x, N, D), bare = points, null = ast_points_f4(NULL, N, D);
    ast_report report = {.size = sizeof report}, unsized = {0};
    raw.size = 0;
    bare.size = sizeof bare + 8;
    assert_int_equal(ast_cluster(NULL, &points, &options, labels, &report), AST_BAD_OPTION);
    REFUSED(ast_cluster(context, NULL, &options, labels, &report), "points");
    REFUSED(ast_cluster(context, &bare, &options, labels, &report), "size");
    REFUSED(ast_cluster(context, &null, &options, labels, &report), "NULL");
    static const int32_t starts[3] = {0, 1, 2}, columns[2] = {0, 1};
    ast_points sparse = ast_points_csr(x, AST_F4, starts, NULL, AST_I4, 2, D);
    REFUSED(ast_cluster(context, &sparse, &options, labels, &report), "columns");
    sparse = ast_points_csr(NULL, AST_F4, starts, columns, AST_I4, 2, D);
    REFUSED(ast_cluster(context, &sparse, &options, labels, &report), "data");
    REFUSED(ast_cluster(context, &points, NULL, labels, &report), "options");
    REFUSED(ast_cluster(context, &points, &raw, labels, &report), "not initialised");
    REFUSED(ast_cluster(context, &points, &options, NULL, &report), "labels");
    REFUSED(ast_cluster(context, &points, &options, labels, NULL), "report");
    REFUSED(ast_cluster(context, &points, &options, labels, &unsized), "report");
    REFUSED(ast_checkpoint(context, NULL), "progress");
    assert_int_equal(ast_checkpoint(NULL, NULL), AST_BAD_OPTION);
    ast_storage storage = {.read = NULL};
    options.resume = &storage;
    REFUSED(ast_cluster(context, &points, &options, labels, &report), "storage");
    REFUSED(ast_memberships(context, &points, NULL, NULL), "components");
    assert_int_equal(ast_memberships(NULL, &points, NULL, NULL), AST_BAD_OPTION);
    assert_non_null(ast_options_problem(NULL));
    ast_points empty = ast_points_f4(NULL, 0, D); /* arrays of 0 elements may be NULL */
    options.resume = NULL;
    assert_int_equal(ast_cluster(context, &empty, &options, NULL, &report), AST_OK);
    assert_string_equal(ast_message(context), "");
}

static void accessors(void **state) {
    (void)state;
    ast_options options = dp();
    ast_points points = ast_points_f4(x, N, D);
    ast_report report = {.size = sizeof report};
    size_t count = 7;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_non_null(ast_clusters(context, &count));
    assert_int_equal(count, 2);
    assert_null(ast_clusters(context, NULL));
    assert_null(ast_clusters(NULL, &count));
    assert_int_equal(count, 0);
    assert_null(ast_cluster_records(context, sizeof(ast_cluster_info) + 8, &count));
    assert_null(ast_stream_clusters(NULL, &count));
    assert_null(ast_stream_records(NULL, sizeof(ast_tracked) + 8, &count));
    assert_null(ast_stream_records(NULL, sizeof(ast_tracked), NULL));
    assert_null(ast_tree_records(NULL, sizeof(ast_tree_join), &count));
    assert_null(ast_tree_records(context, sizeof(ast_tree_join) + 8, &count));
    assert_null(ast_tree_records(context, sizeof(ast_tree_join), NULL));
    assert_null(ast_tune_angle_records(NULL, sizeof(ast_tune_angle), &count));
    assert_null(ast_tune_angles(context, &count)); /* before the first ast_tune */
    assert_null(ast_tune_levels(context, &count));
    assert_int_equal(count, 0);
    assert_null(ast_camera_name(SIZE_MAX));
    assert_true(isnan(ast_vmf_kappa(D, NAN)));
    assert_non_null(strchr(ast_version(), '.'));
    assert_null(ast_means(NULL));
    assert_true(strlen(ast_message(NULL)) > 0);
    assert_int_equal(ast_fault_row(NULL), 0);
    assert_int_equal(ast_threads(NULL), 0);
    assert_string_equal(ast_instruction_set(NULL), "");
    assert_int_equal(ast_set_cancel(NULL, NULL, NULL), AST_BAD_OPTION);
    assert_int_equal(ast_open(NULL, 1), AST_BAD_OPTION);
    ast_context *none = context;
    assert_int_equal(ast_open(&none, 257), AST_BAD_OPTION);
    assert_null(none);
    float infinite[N * D] = {1, 0, 0, 0, 1, 0, 0, INFINITY, 0, 0, 0, 1};
    points.data = infinite;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_DATA);
    assert_int_equal(ast_fault_row(context), 3);
    points.data = x;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_int_equal(ast_fault_row(context), 0);
}

static void assignment(void **state) {
    (void)state;
    ast_points points = ast_points_f4(x, N, D);
    ast_assign_options known = ast_assign_to(x, 1), none = ast_assign_to(NULL, 1), raw = {0};
    assert_int_equal(ast_assign(NULL, &points, &known, labels, NULL), AST_BAD_OPTION);
    REFUSED(ast_assign(context, NULL, &known, labels, NULL), "points");
    REFUSED(ast_assign(context, &points, NULL, labels, NULL), "options");
    REFUSED(ast_assign(context, &points, &raw, labels, NULL), "size");
    REFUSED(ast_assign(context, &points, &none, labels, NULL), "means");
    REFUSED(ast_assign(context, &points, &known, NULL, NULL), "labels");
    assert_int_equal(ast_assign(context, &points, &known, labels, NULL), AST_OK);
}

static int read_rows(size_t first, size_t count, void *rows, void *data) {
    (void)data;
    memcpy(rows, x + first * D, count * D * sizeof *x);
    return 0;
}

static int take(size_t first, size_t count, const int32_t *given, const float *similarity, void *data) {
    (void)similarity;
    (void)data;
    memcpy(labels + first, given, count * sizeof *given);
    return 0;
}

static int write_labels(size_t first, size_t count, const int32_t *given, void *data) {
    return take(first, count, given, NULL, data);
}

static void sources(void **state) {
    (void)state;
    ast_options options = dp();
    ast_source source = {.size = sizeof source, .count = N, .dimension = D, .read = read_rows}, mute = source,
               raw = {0};
    ast_label_store store = {.size = sizeof store, .write = write_labels}, closed = {.size = sizeof closed};
    ast_label_sink sink = {.size = sizeof sink, .write = take}, idle = {.size = sizeof idle};
    ast_assign_options known = ast_assign_to(x, 1);
    ast_report report = {.size = sizeof report};
    ast_plan plan = {.size = sizeof plan};
    size_t memory = (size_t)1 << 28;
    mute.read = NULL;
    assert_int_equal(ast_plan_source(NULL, &source, &options, memory, &plan), AST_BAD_OPTION);
    REFUSED(ast_plan_source(context, NULL, &options, memory, &plan), "source");
    REFUSED(ast_plan_source(context, &raw, &options, memory, &plan), "size");
    REFUSED(ast_plan_source(context, &mute, &options, memory, &plan), "read");
    REFUSED(ast_plan_source(context, &source, NULL, memory, &plan), "options");
    REFUSED(ast_plan_source(context, &source, &options, memory, NULL), "plan");
    assert_int_equal(ast_cluster_source(NULL, &source, &options, memory, &store, &report), AST_BAD_OPTION);
    REFUSED(ast_cluster_source(context, NULL, &options, memory, &store, &report), "source");
    REFUSED(ast_cluster_source(context, &source, NULL, memory, &store, &report), "options");
    REFUSED(ast_cluster_source(context, &source, &options, memory, NULL, &report), "labels");
    REFUSED(ast_cluster_source(context, &source, &options, memory, &closed, &report), "write");
    REFUSED(ast_cluster_source(context, &source, &options, memory, &store, NULL), "report");
    assert_int_equal(ast_cluster_source(context, &source, &options, memory, &store, &report), AST_OK);
    assert_int_equal(ast_assign_source(NULL, &source, &known, &sink), AST_BAD_OPTION);
    REFUSED(ast_assign_source(context, NULL, &known, &sink), "source");
    REFUSED(ast_assign_source(context, &source, NULL, &sink), "options");
    REFUSED(ast_assign_source(context, &source, &known, NULL), "sink");
    REFUSED(ast_assign_source(context, &source, &known, &idle), "sink");
    assert_int_equal(ast_assign_source(context, &source, &known, &sink), AST_OK);
}

static void streams(void **state) {
    (void)state;
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = D;
    options.angle = 30;
    ast_points points = ast_points_f4(x, N, D);
    ast_frame frame = {.size = sizeof frame};
    ast_stream *stream;
    size_t size;
    assert_int_equal(ast_stream_open(&stream, NULL, &options), AST_BAD_OPTION);
    assert_null(stream);
    REFUSED(ast_stream_open(NULL, context, &options), "stream");
    REFUSED(ast_stream_open(&stream, context, NULL), "options");
    assert_int_equal(ast_stream_open(&stream, context, &options), AST_OK);
    assert_int_equal(ast_stream_step(NULL, &points, labels, &frame), AST_BAD_OPTION);
    REFUSED(ast_stream_step(stream, NULL, labels, &frame), "points");
    REFUSED(ast_stream_step(stream, &points, NULL, &frame), "labels");
    REFUSED(ast_stream_step(stream, &points, labels, NULL), "frame");
    assert_int_equal(ast_stream_step(stream, &points, labels, &frame), AST_OK);
    assert_int_equal(frame.frame, 0);
    assert_int_equal(ast_stream_predict(NULL, &points, labels), AST_BAD_OPTION);
    REFUSED(ast_stream_predict(stream, NULL, labels), "points");
    REFUSED(ast_stream_predict(stream, &points, NULL), "labels");
    assert_int_equal(ast_stream_rotate(NULL, NULL), AST_BAD_OPTION);
    REFUSED(ast_stream_rotate(stream, NULL), "rotation");
    assert_int_equal(ast_stream_reset(NULL), AST_BAD_OPTION);
    assert_null(ast_stream_save(NULL, &size));
    assert_null(ast_stream_save(stream, NULL));
    assert_non_null(strstr(ast_message(context), "size"));
    assert_null(ast_stream_save_changes(NULL, &size));
    assert_null(ast_stream_save_changes(stream, NULL));
    assert_non_null(strstr(ast_message(context), "size"));
    assert_int_equal(ast_stream_write(NULL, NULL, NULL), AST_BAD_OPTION);
    REFUSED(ast_stream_write(stream, NULL, NULL), "write");
    assert_int_equal(ast_stream_load(NULL, x, 8), AST_BAD_OPTION);
    REFUSED(ast_stream_load(stream, NULL, 8), "state");
    assert_int_equal(ast_stream_saved(NULL, x, 8, &options), AST_BAD_OPTION);
    REFUSED(ast_stream_saved(context, NULL, 8, &options), "state");
    REFUSED(ast_stream_saved(context, x, 8, NULL), "options");
    assert_non_null(ast_stream_options_problem(NULL));
    ast_stream_close(stream);
    ast_stream_close(NULL);
}

static void measures(void **state) {
    (void)state;
    static const int32_t truth[N] = {0, 0, 1, 1};
    ast_points points = ast_points_f4(x, N, D);
    ast_agreement agreement = {.size = sizeof agreement};
    ast_mixture mixture = {.size = sizeof mixture, .points = N, .dimension = D, .clusters = 2, .kappa = 9}, raw = {0};
    double silhouette;
    float out[N * D];
    assert_int_equal(ast_compare(NULL, truth, truth, N, &agreement), AST_BAD_OPTION);
    REFUSED(ast_compare(context, NULL, truth, N, &agreement), "labels");
    REFUSED(ast_compare(context, truth, NULL, N, &agreement), "truth");
    REFUSED(ast_compare(context, truth, truth, N, NULL), "agreement");
    assert_int_equal(ast_silhouette(NULL, &points, truth, AST_COSINE, 1, &silhouette, NULL), AST_BAD_OPTION);
    REFUSED(ast_silhouette(context, NULL, truth, AST_COSINE, 1, &silhouette, NULL), "points");
    REFUSED(ast_silhouette(context, &points, NULL, AST_COSINE, 1, &silhouette, NULL), "labels");
    REFUSED(ast_silhouette(context, &points, truth, AST_COSINE, 1, NULL, NULL), "silhouette");
    assert_int_equal(ast_silhouette(context, &points, truth, AST_COSINE, 1, &silhouette, NULL), AST_OK);
    assert_int_equal(ast_sample_mixture(NULL, &mixture, out, NULL, NULL), AST_BAD_OPTION);
    REFUSED(ast_sample_mixture(context, NULL, out, NULL, NULL), "mixture");
    REFUSED(ast_sample_mixture(context, &raw, out, NULL, NULL), "mixture");
    REFUSED(ast_sample_mixture(context, &mixture, NULL, NULL, NULL), "points");
}

/* A frame is empty until an image was converted into it, and after a conversion that failed. */
static void frames(ast_depth *depth, const ast_depth_image *image, const ast_depth_image *blank, float *out) {
    ast_depth_frame *frame;
    ast_depth_report report = {.size = sizeof report};
    assert_int_equal(ast_depth_frame_open(&frame, NULL), AST_BAD_OPTION);
    assert_null(frame);
    REFUSED(ast_depth_frame_open(NULL, context), "frame");
    assert_int_equal(ast_depth_frame_open(&frame, context), AST_OK);
    assert_int_equal(ast_depth_describe(NULL, &report), AST_BAD_OPTION);
    REFUSED(ast_depth_describe(frame, NULL), "report");
    REFUSED(ast_depth_describe(frame, &report), "empty");
    assert_int_equal(ast_depth_compute(depth, image, out, NULL, NULL, frame), AST_OK);
    REFUSED(ast_depth_describe(frame, &report), "empty");
    assert_int_equal(ast_depth_compute(depth, image, NULL, NULL, out, frame), AST_OK);
    assert_int_equal(ast_depth_describe(frame, &report), AST_OK);
    REFUSED(ast_depth_compute(depth, blank, NULL, NULL, out, frame), "image");
    REFUSED(ast_depth_describe(frame, &report), "empty");
    ast_depth_frame_close(frame);
    ast_depth_frame_close(NULL);
}

static void surfaces(void **state) {
    (void)state;
    static const uint16_t values[4] = {1000, 1000, 1000, 1000};
    static const int32_t faces[3] = {0, 1, 2};
    ast_depth_image image = {sizeof image, values, 2, 2, 4}, blank = {sizeof blank, NULL, 2, 2, 4}, raw = {0};
    ast_depth_options options;
    ast_cloud_options cloud;
    ast_depth *depth;
    ast_axes axes = {.size = sizeof axes};
    float out[12];
    ast_depth_options_init(&options);
    ast_cloud_options_init(&cloud);
    assert_int_equal(ast_camera_named("kinect", &options.camera, NULL), 1);
    assert_int_equal(ast_camera_named(NULL, NULL, NULL), 0);
    assert_int_equal(ast_depth_open(&depth, NULL, &options), AST_BAD_OPTION);
    REFUSED(ast_depth_open(NULL, context, &options), "depth");
    REFUSED(ast_depth_open(&depth, context, NULL), "options");
    assert_int_equal(ast_depth_open(&depth, context, &options), AST_OK);
    assert_int_equal(ast_depth_compute(NULL, &image, NULL, NULL, out, NULL), AST_BAD_OPTION);
    REFUSED(ast_depth_compute(depth, NULL, NULL, NULL, out, NULL), "image");
    REFUSED(ast_depth_compute(depth, &blank, NULL, NULL, out, NULL), "image");
    REFUSED(ast_depth_compute(depth, &raw, NULL, NULL, out, NULL), "size");
    REFUSED(ast_depth_compute(depth, &image, NULL, NULL, NULL, NULL), "NULL");
    frames(depth, &image, &blank, out);
    ast_depth_close(depth);
    ast_depth_close(NULL);
    assert_int_equal(ast_normals_smooth(NULL, out, 2, 2, 1, 1), AST_BAD_OPTION);
    REFUSED(ast_normals_smooth(context, NULL, 2, 2, 1, 1), "normals");
    assert_int_equal(ast_cloud_normals(NULL, x, N, &cloud, out, NULL), AST_BAD_OPTION);
    REFUSED(ast_cloud_normals(context, NULL, N, &cloud, out, NULL), "points");
    REFUSED(ast_cloud_normals(context, x, N, NULL, out, NULL), "options");
    REFUSED(ast_cloud_normals(context, x, N, &cloud, NULL, NULL), "normals");
    assert_int_equal(ast_mesh_normals(NULL, x, N, faces, 1, out, NULL), AST_BAD_OPTION);
    REFUSED(ast_mesh_normals(context, NULL, N, faces, 1, out, NULL), "vertices");
    REFUSED(ast_mesh_normals(context, x, N, NULL, 1, out, NULL), "faces");
    assert_int_equal(ast_mesh_normals(context, x, N, faces, 1, NULL, NULL), AST_OK);
    assert_int_equal(ast_frame_axes(NULL, x, NULL, N, &axes, NULL), AST_BAD_OPTION);
    REFUSED(ast_frame_axes(context, NULL, NULL, N, &axes, NULL), "means");
    REFUSED(ast_frame_axes(context, x, NULL, N, NULL, NULL), "axes");
    double angle = 0;
    ast_angles_of(AST_PLANE, NULL, &angle, NULL);
    assert_true(isnan(angle));
    ast_vector_of(AST_LINE, 0, 0, NULL);
    assert_non_null(ast_depth_options_problem(NULL));
    assert_non_null(ast_cloud_options_problem(NULL));
}

static void tallies(void **state) {
    (void)state;
    ast_points points = ast_points_f4(x, N, D);
    ast_tally *tally;
    ast_tally_options raw = {0};
    ast_tally_totals totals = {.size = sizeof totals};
    ast_tally_step step = {.size = sizeof step};
    float means[D];
    size_t size;
    assert_int_equal(ast_tally_start(NULL, x, 1, D, means), AST_BAD_OPTION);
    REFUSED(ast_tally_start(context, NULL, 1, D, means), "means");
    REFUSED(ast_tally_start(context, x, 1, D, NULL), "means");
    assert_int_equal(ast_tally_start(context, x, 1, D, means), AST_OK);
    assert_int_equal(ast_tally_open(&tally, NULL, means, 1, D, NULL), AST_BAD_OPTION);
    REFUSED(ast_tally_open(NULL, context, means, 1, D, NULL), "tally");
    REFUSED(ast_tally_open(&tally, context, NULL, 1, D, NULL), "means");
    REFUSED(ast_tally_open(&tally, context, means, 1, D, &raw), "size");
    assert_null(tally);
    assert_int_equal(ast_tally_open(&tally, context, means, 1, D, NULL), AST_OK);
    assert_int_equal(ast_tally_add(NULL, &points, 0, NULL), AST_BAD_OPTION);
    REFUSED(ast_tally_add(tally, NULL, 0, NULL), "points");
    assert_int_equal(ast_tally_add(tally, &points, 0, NULL), AST_OK);
    assert_null(ast_tally_save(NULL, &size));
    assert_null(ast_tally_save(tally, NULL));
    assert_int_equal(ast_tally_merge(NULL, x, 8), AST_BAD_OPTION);
    REFUSED(ast_tally_merge(tally, NULL, 8), "bytes");
    assert_int_equal(ast_tally_look(NULL, &totals), AST_BAD_OPTION);
    REFUSED(ast_tally_look(tally, NULL), "totals");
    assert_int_equal(ast_tally_update(NULL, &step), AST_BAD_OPTION);
    REFUSED(ast_tally_update(tally, NULL), "step");
    assert_int_equal(ast_tally_update(tally, &step), AST_OK);
    ast_tally_close(tally);
    ast_tally_close(NULL);
    ast_comm comm = {.size = sizeof comm, .ranks = 2};
    assert_int_equal(ast_join(NULL, NULL), AST_BAD_OPTION);
    REFUSED(ast_join(context, &comm), "functions");
    assert_int_equal(ast_join(context, NULL), AST_OK);
}

static int open_context(void **state) {
    (void)state;
    return ast_open(&context, 2) != AST_OK;
}

static int close_context(void **state) {
    (void)state;
    ast_close(context);
    ast_close(NULL);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clustering), cmocka_unit_test(accessors), cmocka_unit_test(assignment),
        cmocka_unit_test(sources),    cmocka_unit_test(streams),   cmocka_unit_test(measures),
        cmocka_unit_test(surfaces),   cmocka_unit_test(tallies),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
