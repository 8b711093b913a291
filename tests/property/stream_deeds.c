/* SPDX-License-Identifier: MIT
 *
 * What can be done to a stream between frames, or must not be done to it: rotation, reset, the limit on clusters,
 * frames and options that cannot be used, and numbers at the end of their range. */
#include "stream_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rotation, reset, the limit -------------------------------------------------------------------------------- */

static void rotation_turns_the_means(void **state) {
    (void)state;
    static const double quarter[25] = {0, -1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1);
    ast_random random;
    float x[25 * 5], turned[25 * 5];
    int32_t before[25], after[25], none[25];
    ast_random_seed(&random, 1, 10);
    static const int all[] = {0, 1, 2, 3, 4};
    size_t count = rules_axes(x, all, 5, 5, 0.05, &random);
    for (size_t i = 0; i < count; i++) {
        memcpy(turned + i * 5, x + i * 5, 5 * sizeof *x);
        turned[i * 5] = -x[i * 5 + 1];
        turned[i * 5 + 1] = x[i * 5];
    }
    ast_points points = ast_points_f4(x, count, 5), turned_points = ast_points_f4(turned, count, 5);
    assert_int_equal(ast_stream_predict(stream, &points, before), AST_OK);
    assert_int_equal(ast_stream_rotate(stream, quarter), AST_OK);
    assert_int_equal(ast_stream_predict(stream, &turned_points, after), AST_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(before[i], (int32_t)(i % 5));
        assert_int_equal(after[i], before[i]);
    }
    assert_int_equal(ast_stream_predict(stream, &points, none), AST_OK); /* axis 0 is nobody's now, 1 is what 0 was */
    assert_int_equal(none[0], -1);
    assert_int_equal(none[1], 0);
    rules_feed(stream, turned, count, 5, after);
    assert_memory_equal(after, before, sizeof before);
    for (int quarters = 0; quarters < 4; quarters++)
        assert_int_equal(ast_stream_rotate(stream, quarter), AST_OK);
    rules_feed(stream, turned, count, 5, after);
    assert_memory_equal(after, before, sizeof before);
    ast_stream_close(stream);
}

static void reset_forgets_but_ids_go_on(void **state) {
    (void)state;
    static const int all[] = {0, 1, 2, 3, 4};
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1), *fresh = rules_open(&options);
    ast_random random;
    float x[MOST * 5];
    int32_t labels[MOST], expected[MOST];
    size_t count;
    ast_random_seed(&random, 3, 11);
    ast_stream_reset(stream);
    ast_points points = ast_points_f4(x, rules_axes(x, all, 5, 5, 0.05, &random), 5);
    assert_int_equal(ast_stream_predict(stream, &points, labels), AST_OK);
    for (size_t i = 0; i < points.count; i++)
        assert_int_equal(labels[i], -1);
    ast_stream_clusters(stream, &count);
    for (int t = 0; t < 6; t++) { /* from here on as a new stream, but for the ids */
        size_t n = rules_axes(x, all, 5, 1 + (size_t)t % 2, 0.05, &random);
        rules_feed(stream, x, n, 5, labels);
        rules_feed(fresh, x, n, 5, expected);
        size_t a, b;
        const ast_tracked *mine = ast_stream_clusters(stream, &a), *fresh_ones = ast_stream_clusters(fresh, &b);
        assert_int_equal(a, b);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(labels[i], expected[i] + 5);
        for (size_t k = 0; k < a; k++) {
            assert_int_equal(mine[k].id, fresh_ones[k].id + 5);
            assert_int_equal(mine[k].event, fresh_ones[k].event);
            assert_true(mine[k].weight == fresh_ones[k].weight);
            assert_memory_equal(mine[k].mean, fresh_ones[k].mean, 5 * sizeof(float));
        }
    }
    ast_stream_close(stream);
    ast_stream_close(fresh);
}

/* Axis by axis, with more points each time: ids 0..4, last seen in frames 0..4. Then three at once with 1, 3, 3 points:
 * the longest unseen go first, then the lightest, then the youngest. */
static void the_limit_takes_the_longest_unseen(void **state) {
    (void)state;
    ast_stream_options options = rules_options(5, 40, 20);
    options.max_clusters = 2;
    ast_stream *stream = rules_open(&options);
    static const float axis[3][5] = {{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}};
    float x[7 * 5];
    size_t count;
    for (int t = 0; t < 2; t++)
        rules_feed(stream, axis[t], 1, 5, NULL);
    rules_feed(stream, axis[2], 1, 5, NULL); /* id 0 is the longest unseen */
    rules_check_event(stream, 2, 0, AST_DIED, 2);
    rules_check_event(stream, 2, 1, AST_UNSEEN, 1);
    rules_check_event(stream, 2, 2, AST_BORN, 0);
    ast_stream_reset(stream);
    for (size_t i = 0; i < 7; i++) /* ids 3 (one point), 4 and 5 (three each) */
        memcpy(x + i * 5, axis[i == 0 ? 0 : 1 + i % 2], sizeof axis[0]);
    ast_frame frame = rules_feed(stream, x, 7, 5, NULL);
    assert_int_equal(frame.clusters, 3);
    rules_check_event(stream, 3, 3, AST_DIED, 0);
    rules_check_event(stream, 3, 4, AST_BORN, 0);
    rules_check_event(stream, 3, 5, AST_BORN, 0);
    options.max_clusters = 1;
    ast_stream *one = rules_open(&options);
    rules_feed(one, x + 5, 6, 5, NULL); /* equal weights: the younger one goes */
    rules_check_event(one, 0, 0, AST_BORN, 0);
    rules_check_event(one, 0, 1, AST_DIED, 0);
    rules_feed(one, NULL, 0, 5, NULL);
    ast_stream_clusters(one, &count);
    assert_int_equal(count, 1);
    ast_stream_close(one);
    ast_stream_close(stream);
}

/* ---- Input that cannot be used --------------------------------------------------------------------------------- */

static void check_bad_frame(ast_stream *stream, const ast_points *points, ast_status expected, const char *word) {
    int32_t labels[4] = {9, 9, 9, 9};
    ast_frame frame = {.size = sizeof frame};
    memset(&frame, 0x5a, sizeof frame);
    frame.size = sizeof frame;
    unsigned char untouched[sizeof frame];
    memcpy(untouched, &frame, sizeof untouched);
    rules_bytes before = rules_save(stream);
    ast_status status = ast_stream_step(stream, points, labels, &frame);
    if (status != expected || !strstr(ast_message(rules_context()), word))
        fail_msg("status %d, \"%s\"; should be %d and say \"%s\"", status, ast_message(rules_context()), expected,
                 word);
    for (int i = 0; i < 4; i++)
        assert_int_equal(labels[i], 9);
    assert_memory_equal(&frame, untouched, sizeof frame);
    rules_check_state(stream, &before, "by a frame that failed");
    assert_int_equal(ast_stream_predict(stream, points, labels), expected);
    free(before.data);
}

static void bad_frames_change_nothing(void **state) {
    (void)state;
    static const float x[4 * 5] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0};
    static const double weights[4] = {1, 2, -1, 2};
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1), *twin = rules_used(&options, 1);
    ast_points points = ast_points_f4(x, 4, 4);
    check_bad_frame(stream, &points, AST_BAD_DATA, "frame 8");
    float infinite[20];
    memcpy(infinite, x, sizeof x);
    infinite[2 * 5 + 3] = -INFINITY;
    points = ast_points_f4(infinite, 4, 5);
    check_bad_frame(stream, &points, AST_BAD_DATA, "row 3");
    points = ast_points_f4(x, 4, 5);
    points.weights = weights;
    check_bad_frame(stream, &points, AST_BAD_DATA, "weight 3");
    int32_t labels[4], expected[4];
    rules_feed(stream, x, 4, 5, labels);
    rules_feed(twin, x, 4, 5, expected);
    assert_memory_equal(labels, expected, sizeof labels);
    rules_bytes now = rules_save(twin);
    rules_check_state(stream, &now, "by frames that failed");
    free(now.data);
    ast_stream_close(stream);
    ast_stream_close(twin);
    ast_stream_close(NULL);
}

static void check_bad_options(const ast_stream_options *options, const char *word) {
    const char *problem = ast_stream_options_problem(options);
    if (!problem || !strstr(problem, word))
        fail_msg("options with a bad %s: \"%s\"", word, problem ? problem : "no problem");
    ast_stream *stream;
    assert_int_equal(ast_stream_open(&stream, rules_context(), options), AST_BAD_OPTION);
    assert_null(stream);
    if (!strstr(ast_message(rules_context()), word))
        fail_msg("opened with a bad %s: \"%s\"", word, ast_message(rules_context()));
}

static void bad_options_are_named(void **state) {
    (void)state;
    static const double bad_numbers[] = {-1, INFINITY, -INFINITY, 181};
    ast_stream_options good = rules_options(5, 40, 20), o;
    assert_null(ast_stream_options_problem(&good));
    ast_stream_options_init(&o);
    check_bad_options(&o, "dimension");
    o = good, o.dimension = 1;
    check_bad_options(&o, "dimension");
    o = good, o.dimension = 4097;
    check_bad_options(&o, "dimension");
    o = good, o.angle = NAN;
    check_bad_options(&o, "angle");
    for (int i = 0; i < 4; i++) {
        o = good, o.angle = bad_numbers[i];
        check_bad_options(&o, "angle");
    }
    o = good, o.drift = 0;
    check_bad_options(&o, "drift");
    o = good, o.drift = NAN;
    check_bad_options(&o, "drift");
    o = good, o.drift = -1;
    check_bad_options(&o, "drift");
    o = good, o.beta = -1;
    check_bad_options(&o, "beta");
    o = good, o.max_iterations = 0;
    check_bad_options(&o, "iterations");
    o = good, o.method = (ast_stream_method)7;
    check_bad_options(&o, "method");
    o = good, o.weight_update = (ast_weight_update)3;
    check_bad_options(&o, "weight");
    o = good, o.parallel = (ast_parallel)3;
    check_bad_options(&o, "parallel");
    o = good, o.drift = NAN, o.beta = 5; /* not used then */
    assert_null(ast_stream_options_problem(&o));
}

/* ---- Numbers at the end of their range ------------------------------------------------------------------------- */

static void check_numbers(ast_stream *stream, const ast_frame *frame, double beta, int t) {
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    if (!isfinite(frame->objective))
        fail_msg("beta %g, frame %d: the objective is %g", beta, t, frame->objective);
    for (size_t k = 0; k < count; k++) {
        double squares = 0;
        for (int d = 0; d < 5; d++)
            squares += (double)clusters[k].mean[d] * (double)clusters[k].mean[d];
        if (!(fabs(squares - 1) < 1e-5) || !(clusters[k].weight >= 0))
            fail_msg("beta %g, frame %d: id %d has weight %g and a mean of squared length %g", beta, t, clusters[k].id,
                     clusters[k].weight, squares);
    }
}

/* Directions that come, go, turn round and jump to their opposites, however stiff or loose the tracker is. */
static void check_beta(double beta, ast_weight_update update, int32_t *labels) {
    static const int all[] = {0, 1, 2, 3, 4}, two[] = {0, 3};
    ast_stream_options options = rules_options(5, 70, 10);
    ast_random random;
    float x[MOST * 5];
    options.beta = beta;
    options.weight_update = update;
    ast_stream *stream = rules_open(&options);
    ast_random_seed(&random, 1, 12);
    for (int t = 0; t < 40; t++) {
        size_t count = rules_axes(x, t % 9 < 5 ? all : two, t % 9 < 5 ? 5 : 2, 3, t % 4 ? 0.3 : 0, &random);
        for (size_t i = 0; t % 7 == 6 && i < 5 * count; i++)
            x[i] = -x[i];
        ast_frame frame = rules_feed(stream, x, count, 5, labels);
        check_numbers(stream, &frame, beta, t);
    }
    ast_stream_close(stream);
}

static void no_beta_gives_nan(void **state) {
    (void)state;
    static const double betas[] = {0, 5e-324, 1e-300, 1e-6, 1e15, 1e300, 1e308, INFINITY};
    int32_t labels[MOST];
    for (size_t b = 0; b < sizeof betas / sizeof *betas; b++) {
        check_beta(betas[b], AST_PAPER, labels);
        check_beta(betas[b], AST_POSTERIOR, labels);
    }
}

/* Where directions do not move, the mean is that of all points there were, and its weight is their sum's length. */
static void infinite_beta_gathers_all_points(void **state) {
    (void)state;
    ast_stream_options options = rules_options(2, 90, 50);
    options.beta = INFINITY;
    ast_stream *stream = rules_open(&options);
    double sum[2] = {0, 0};
    for (int t = 0; t < 30; t++) {
        float x[2] = {cosf(0.05F * (float)(t % 10)), sinf(0.05F * (float)(t % 10))};
        if (t % 5 == 4) {
            rules_feed(stream, NULL, 0, 2, NULL);
            continue;
        }
        rules_feed(stream, x, 1, 2, NULL);
        sum[0] += (double)x[0];
        sum[1] += (double)x[1];
        const ast_tracked *record = rules_record(stream, 0);
        double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1]);
        if (!record || fabs(record->weight - length) > 1e-5 * length ||
            fabs((double)record->mean[0] - sum[0] / length) > 1e-5)
            fail_msg("frame %d: weight %g, mean %g; should be %g, %g", t, record ? record->weight : NAN,
                     record ? (double)record->mean[0] : (double)NAN, length, sum[0] / length);
    }
    ast_stream_close(stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotation_turns_the_means),
        cmocka_unit_test(reset_forgets_but_ids_go_on),
        cmocka_unit_test(the_limit_takes_the_longest_unseen),
        cmocka_unit_test(bad_frames_change_nothing),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(no_beta_gives_nan),
        cmocka_unit_test(infinite_beta_gathers_all_points),
    };
    return cmocka_run_group_tests_name("deeds to streams", tests, NULL, ref_contexts_end);
}
