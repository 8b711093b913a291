/* SPDX-License-Identifier: MIT
 *
 * No other bytes than those of a checkpoint of the same run are taken for one; and a checkpoint that cannot be written,
 * or is asked for at the wrong time, stops no run. */
#include "reference/harness.h"
#include "reference/ranks.h"
#include "reference/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNT = 41,
    DIMENSION = 3,
    STEP = REF_SLOWER / 5 + 1 /* 1: every byte; under a sanitizer, for time, every third or seventh */
};

typedef struct story {
    float x[COUNT * DIMENSION];
    double weights[COUNT];
    ast_points points;
    ast_options options;
    ref_store store; /* after the first pass of the second restart, so that every part is there */
} story;

static int stop_in_second_run(const ast_progress *state, void *data) {
    story *s = data;
    if (state->restart < 1 || state->iteration < 1)
        return 0;
    ast_storage view = ref_store_view(&s->store);
    assert_int_equal(ast_checkpoint(ref_context(REF_FAST, 2), &view), AST_OK);
    return 1;
}

static void open_story(story *s) {
    int32_t labels[COUNT];
    ast_report report = {.size = sizeof report};
    ref_fill_clustered(s->x, COUNT, DIMENSION, 4, 0.3, 0, 7);
    for (size_t i = 0; i < COUNT; i++)
        s->weights[i] = 1 + (double)(i % 3);
    s->points = ast_points_f4(s->x, COUNT, DIMENSION);
    s->points.weights = s->weights;
    ast_options_init(&s->options);
    s->options.method = AST_SPKM;
    s->options.clusters = 4;
    s->options.restarts = 2;
    ref_store_open(&s->store);
    ast_options options = s->options;
    options.progress = stop_in_second_run;
    options.progress_data = s;
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &s->points, &options, labels, &report), AST_CANCELLED);
    assert_true(s->store.size > 0);
}

/* Goes on from the story's checkpoint. */
static ast_status go_on(story *s, const ast_points *points, ast_options options) {
    int32_t labels[COUNT + 1];
    ast_report report = {.size = sizeof report};
    ast_storage view = ref_store_view(&s->store);
    memset(labels, 0x5a, sizeof labels);
    options.resume = &view;
    ast_status status = ast_cluster(ref_context(REF_FAST, 2), points, &options, labels, &report);
    for (size_t i = 0; status != AST_OK && i < COUNT; i++)
        assert_int_equal(labels[i], 0x5a5a5a5a);
    return status;
}

static void refuses(story *s, const ast_points *points, const ast_options *options, const char *sentence) {
    assert_int_equal(go_on(s, points, *options), AST_BAD_STATE);
    const char *message = ast_message(ref_context(REF_FAST, 2));
    if (!strstr(message, sentence))
        fail_msg("it says '%s', not '%s'", message, sentence);
}

static void test_damage_is_found(void **state) {
    (void)state;
    story s;
    open_story(&s);
    assert_int_equal(go_on(&s, &s.points, s.options), AST_OK);
    for (size_t i = 0; i < s.store.size; i += STEP) {
        unsigned char bit = (unsigned char)(1u << i % 8);
        s.store.bytes[i] ^= bit;
        if (go_on(&s, &s.points, s.options) != AST_BAD_STATE)
            fail_msg("byte %zu of %zu is damaged, and nobody says so", i, s.store.size);
        s.store.bytes[i] ^= bit;
    }
    size_t size = s.store.size;
    for (s.store.size = 0; s.store.size < size; s.store.size += STEP)
        if (go_on(&s, &s.points, s.options) != AST_BAD_STATE)
            fail_msg("it ends after %zu bytes of %zu, and nobody says so", s.store.size, size);
    s.store.bytes = realloc(s.store.bytes, size + 8);
    memset(s.store.bytes + size, 0, 8);
    s.store.size = size + 8;
    refuses(&s, &s.points, &s.options, "damaged");
    s.store.size = size;
    assert_int_equal(go_on(&s, &s.points, s.options), AST_OK);
    s.store.bytes[8] = 9;
    refuses(&s, &s.points, &s.options, "version 9");
    s.store.bytes[0] = 9;
    refuses(&s, &s.points, &s.options, "this is no state");
    ref_store_close(&s.store);
}

static void test_another_input_is_refused(void **state) {
    (void)state;
    story s;
    open_story(&s);
    ast_points points = s.points;
    points.count = COUNT - 1;
    refuses(&s, &points, &s.options, "41 x 3 points, and these are 40 x 3");
    for (size_t i = 0; i < COUNT * DIMENSION; i++) {
        float kept = s.x[i];
        s.x[i] = nextafterf(kept, 2);
        refuses(&s, &s.points, &s.options, "other points");
        s.x[i] = kept;
    }
    s.weights[COUNT - 1] += 0x1p-40;
    refuses(&s, &s.points, &s.options, "other points or weights");
    s.weights[COUNT - 1] -= 0x1p-40;
    points = s.points;
    points.weights = NULL;
    refuses(&s, &points, &s.options, "other points or weights");
    float columns[DIMENSION][COUNT]; /* the same points as they are, but elsewhere */
    for (size_t i = 0; i < COUNT * DIMENSION; i++)
        columns[i % DIMENSION][i / DIMENSION] = s.x[i];
    points = s.points;
    points.data = columns;
    points.row_stride = sizeof(float);
    points.column_stride = sizeof columns[0];
    assert_int_equal(go_on(&s, &points, s.options), AST_OK);
    ref_store_close(&s.store);
}

static void test_other_options_are_refused(void **state) {
    (void)state;
    story s;
    open_story(&s);
    ast_options o = s.options;
    o.method = AST_DP;
    o.angle = 20;
    refuses(&s, &s.points, &o, "another method");
    o = s.options;
    o.merge.by = AST_MERGE_EVIDENCE;
    refuses(&s, &s.points, &o, "another merge");
    o = s.options;
    o.clusters = 5;
    refuses(&s, &s.points, &o, "another number of clusters");
    o = s.options;
    o.seed = 2;
    refuses(&s, &s.points, &o, "another seed");
    o = s.options;
    o.axial = 1;
    refuses(&s, &s.points, &o, "axial");
    o = s.options;
    o.start.by = AST_RANDOM;
    refuses(&s, &s.points, &o, "another start");
    o = s.options;
    o.max_iterations = 99;
    refuses(&s, &s.points, &o, "limit of iterations: 100, not 99");
    o = s.options;
    o.restarts = 1;
    refuses(&s, &s.points, &o, "run 2, and there are to be 1");
    o = s.options;
    o.method = AST_MOVMF;
    assert_int_equal(go_on(&s, &s.points, o), AST_BAD_OPTION);
    o = s.options; /* these are free */
    o.parallel = AST_SERIAL;
    o.bounds = 0;
    o.restarts = 5;
    assert_int_equal(go_on(&s, &s.points, o), AST_OK);
    ref_store_close(&s.store);
}

/* ---- Writing that fails ------------------------------------------------------------------------------------------ */

typedef struct full_disk {
    ref_store store;
    float x[3 * 999];
    ast_status status[3];
    ast_status saved[3][100];
    int iterations[3];
    int32_t labels[999];
} full_disk;

typedef struct writer {
    full_disk *disk;
    ast_context *context;
    int rank;
} writer;

static int try_to_save(const ast_progress *state, void *data) {
    writer *w = data;
    ast_storage view = ref_store_view(&w->disk->store);
    w->disk->saved[w->rank][state->iteration - 1] = ast_checkpoint(w->context, &view);
    return 0;
}

static void write_on(const ast_comm *comm, void *data) {
    full_disk *disk = data;
    writer w = {disk, NULL, comm->rank};
    ast_open(&w.context, 1);
    ast_options options = ref_dp_options(30);
    ast_report report = {.size = sizeof report};
    size_t first = 333 * (size_t)comm->rank;
    ast_points points = ast_points_f4(disk->x + 3 * first, 333, 3);
    options.progress = try_to_save;
    options.progress_data = &w;
    ast_join(w.context, comm);
    disk->status[comm->rank] = ast_cluster(w.context, &points, &options, disk->labels + first, &report);
    disk->iterations[comm->rank] = report.iterations;
    ast_close(w.context);
}

/* The disk is full for one of the ranks: all hear of it, and may go on all the same. */
static void test_a_full_disk_stops_nobody(void **state) {
    (void)state;
    static full_disk disk;
    int32_t labels[999];
    ast_report report = {.size = sizeof report};
    ref_store_open(&disk.store);
    ref_fill_clustered(disk.x, 999, 3, 6, 0.15, 0.05, 5);
    ast_points points = ast_points_f4(disk.x, 999, 3);
    ast_options options = ref_dp_options(30);
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 1), &points, &options, labels, &report), AST_OK);
    for (size_t most = 100; most <= 4000; most += 1300) { /* in the head, or in the records of some rank */
        disk.store.most = most;
        ref_ranks_run(3, write_on, &disk);
        for (int r = 0; r < 3; r++) {
            assert_int_equal(disk.status[r], AST_OK);
            assert_int_equal(disk.iterations[r], report.iterations);
            for (int pass = 0; pass < report.iterations; pass++)
                assert_int_equal(disk.saved[r][pass], AST_BAD_STATE);
        }
        assert_memory_equal(disk.labels, labels, sizeof labels);
    }
    ref_store_close(&disk.store);
}

static int save_too_early(const ast_progress *state, void *data) {
    writer *w = data;
    ast_storage view = ref_store_view(&w->disk->store), none = {0};
    if (state->iteration == 0)
        assert_int_equal(ast_checkpoint(w->context, &view), AST_BAD_OPTION);
    assert_int_equal(ast_checkpoint(w->context, &none), AST_BAD_OPTION);
    return 0;
}

static void test_there_is_a_time_for_it(void **state) {
    (void)state;
    static full_disk disk;
    int32_t labels[999];
    ast_report report = {.size = sizeof report};
    writer w = {&disk, ref_context(REF_FAST, 1), 0};
    ref_store_open(&disk.store);
    ast_storage view = ref_store_view(&disk.store);
    assert_int_equal(ast_checkpoint(w.context, &view), AST_BAD_OPTION);
    ref_fill_clustered(disk.x, 999, 3, 6, 0.15, 0.05, 5);
    ast_points points = ast_points_f4(disk.x, 999, 3);
    ast_options options;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.clusters = 5;
    options.progress = save_too_early;
    options.progress_data = &w;
    assert_int_equal(ast_cluster(w.context, &points, &options, labels, &report), AST_OK);
    assert_int_equal(ast_checkpoint(w.context, &view), AST_BAD_OPTION);
    ref_store_close(&disk.store);
}

static int read_rows(size_t first, size_t count, void *rows, void *data) {
    const full_disk *disk = data;
    memcpy(rows, disk->x + first * 3, count * 3 * sizeof *disk->x);
    return 0;
}

static int drop_labels(size_t first, size_t count, const int32_t *labels, void *data) {
    (void)first, (void)count, (void)labels, (void)data;
    return 0;
}

static int save_of_source(const ast_progress *state, void *data) {
    writer *w = data;
    ast_storage view = ref_store_view(&w->disk->store);
    assert_int_equal(ast_checkpoint(w->context, &view), AST_BAD_OPTION);
    if (state->iteration > 0 && state->left == 0)
        assert_non_null(strstr(ast_message(w->context), "in memory"));
    return 0;
}

static void test_a_source_has_no_checkpoints(void **state) {
    (void)state;
    static full_disk disk;
    writer w = {&disk, ref_context(REF_FAST, 1), 0};
    ref_store_open(&disk.store);
    ref_fill_clustered(disk.x, 999, 3, 6, 0.15, 0.05, 5);
    ast_source source = {.size = sizeof source, .read = read_rows, .data = &disk, .count = 999, .dimension = 3};
    ast_label_store labels = {.size = sizeof labels, .write = drop_labels};
    ast_report report = {.size = sizeof report};
    ast_options options;
    ast_options_init(&options);
    options.angle = 30;
    options.progress = save_of_source;
    options.progress_data = &w;
    assert_int_equal(ast_cluster_source(w.context, &source, &options, (size_t)1 << 30, &labels, &report), AST_OK);
    ref_store_close(&disk.store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_is_found),           cmocka_unit_test(test_another_input_is_refused),
        cmocka_unit_test(test_other_options_are_refused), cmocka_unit_test(test_a_full_disk_stops_nobody),
        cmocka_unit_test(test_there_is_a_time_for_it),    cmocka_unit_test(test_a_source_has_no_checkpoints)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
