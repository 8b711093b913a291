/* SPDX-License-Identifier: MIT
 *
 * Who is who in a stream, whatever the reference says: ids over absences, lifetimes, one frame and the batch, frames
 * without points, streams beside each other. */
#include "stream_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Identity -------------------------------------------------------------------------------------------------- */

/* Axes 1, 2 and 4 vanish for `absence` frames after the fifth frame. With noise nobody comes back in the last frame of
 * its life: 1 + dt Q is cos(angle) then, before any loss. */
static void check_absence(uint32_t lifetime, int absence, double noise) {
    static const int all[] = {0, 1, 2, 3, 4}, two[] = {0, 3};
    ast_stream_options options = rules_options(5, 40, lifetime);
    ast_stream *stream = rules_open(&options);
    ast_random random;
    float x[MOST * 5];
    int32_t labels[MOST];
    ast_random_seed(&random, (uint64_t)absence, 8);
    for (int t = 0; t < 5 + absence + 3; t++) {
        int away = t - 4, here = t < 5 || t >= 5 + absence, dead = absence >= (int)lifetime;
        size_t count = rules_axes(x, here ? all : two, here ? 5 : 2, 30, noise, &random);
        rules_feed(stream, x, count, 5, labels);
        for (size_t i = 0; i < count; i++) {
            int32_t axis = here ? all[i % 5] : two[i % 2];
            int32_t id = t >= 5 + absence && dead && axis != 0 && axis != 3 ? axis == 4 ? 7 : 4 + axis : axis;
            if (labels[i] != id)
                fail_msg("absence %d, frame %d: point %zu of axis %d has id %d", absence, t, i, axis, labels[i]);
        }
        for (int32_t id = 0; id < 5; id++) {
            int stays = id == 0 || id == 3;
            if (here && !(t >= 5 + absence && dead && !stays))
                rules_check_event(stream, t, id,
                                  t == 0                       ? AST_BORN
                                  : t == 5 + absence && !stays ? AST_REVIVED
                                                               : AST_SEEN,
                                  0);
            else if (stays)
                rules_check_event(stream, t, id, AST_SEEN, 0);
            else if (away < (int)lifetime)
                rules_check_event(stream, t, id, AST_UNSEEN, (uint32_t)away);
            else if (away == (int)lifetime)
                rules_check_event(stream, t, id, AST_DIED, (uint32_t)away);
            else
                assert_null(rules_record(stream, id));
        }
    }
    ast_stream_close(stream);
}

static void the_vanished_return_under_their_ids(void **state) {
    (void)state;
    check_absence(20, 1, 0.05);
    check_absence(20, 10, 0.05);
    check_absence(20, 19, 0);
    check_absence(20, 20, 0.05);
    check_absence(20, 25, 0.05);
    check_absence(2, 1, 0);
    check_absence(2, 2, 0);
}

/* The same x again after dt frames scores 1 + dt Q = 1 - dt / 10: 1/2 at the lifetime, which fits, and no more. */
static void the_lifetime_is_exact(void **state) {
    (void)state;
    static const float x[3] = {0, 0, 1};
    for (uint32_t gap = 0; gap < 7; gap++) {
        ast_stream_options options = rules_options(3, 60, 5);
        ast_stream *stream = rules_open(&options);
        int32_t label;
        rules_feed(stream, x, 1, 3, &label);
        assert_int_equal(label, 0);
        for (uint32_t t = 0; t < gap; t++)
            rules_feed(stream, NULL, 0, 3, NULL);
        ast_frame frame = rules_feed(stream, x, 1, 3, &label);
        if (label != (gap < 5 ? 0 : 1))
            fail_msg("after %u empty frames the id is %d", gap, label);
        double objective = gap < 5 ? 1 - 0.1 * (gap + 1) : 0.5;
        if (fabs(frame.objective - objective) > 1e-9)
            fail_msg("after %u empty frames the objective is %.17g, should be %.17g", gap, frame.objective, objective);
        ast_stream_close(stream);
    }
}

/* What is not remembered has one record, and that says born: two points of one axis and, with `cancel`, two that add up
 * to nothing. */
static void check_brief(const ast_stream_options *options, int cancel) {
    static const float along[6] = {0, 0, 1, 0, 0, 1}, opposite[6] = {0, 0, 1, 0, 0, -1};
    ast_stream *stream = rules_open(options);
    for (int t = 0; t < 3; t++) {
        size_t count = 99;
        int32_t labels[2];
        ast_frame frame = rules_feed(stream, cancel ? opposite : along, 2, 3, labels);
        assert_int_equal(frame.clusters, 1);
        assert_int_equal(labels[0], t);
        assert_int_equal(labels[1], t);
        rules_check_event(stream, t, t, AST_BORN, 0);
        ast_stream_clusters(stream, &count);
        assert_int_equal(count, 1);
    }
    rules_feed(stream, NULL, 0, 3, NULL);
    assert_null(rules_record(stream, 2));
    ast_stream_close(stream);
}

static void the_unremembered_are_born_and_that_is_all(void **state) {
    (void)state;
    ast_stream_options options = rules_options(3, 40, 0);
    check_brief(&options, 0);
    options.lifetime = 1;
    check_brief(&options, 0);
    options.max_clusters = 1; /* nobody is left to be one too many */
    check_brief(&options, 0);
    options = rules_options(3, 40, 20);
    options.method = AST_STREAM_DP;
    check_brief(&options, 0);
    options = rules_options(3, 180, 20);
    check_brief(&options, 1);
}

/* With AST_STREAM_SDP the first frame without points is the last record, with a lifetime of 2 the second. */
static void the_remembered_die(void **state) {
    (void)state;
    static const float x[3] = {0, 0, 1};
    for (int sequential = 0; sequential < 2; sequential++) {
        ast_stream_options options = rules_options(3, 40, 2);
        options.method = sequential ? AST_STREAM_SDP : AST_STREAM_DDP;
        ast_stream *stream = rules_open(&options);
        rules_feed(stream, x, 1, 3, NULL);
        rules_check_event(stream, 0, 0, AST_BORN, 0);
        rules_feed(stream, NULL, 0, 3, NULL);
        rules_check_event(stream, 1, 0, sequential ? AST_DIED : AST_UNSEEN, 1);
        rules_feed(stream, NULL, 0, 3, NULL);
        if (sequential)
            assert_null(rules_record(stream, 0));
        else
            rules_check_event(stream, 2, 0, AST_DIED, 2);
        ast_stream_close(stream);
    }
}

/* ---- Against the batch ----------------------------------------------------------------------------------------- */

static void check_batch(ast_stream *stream, const ast_stream_options *options, const float *x, size_t count,
                        uint64_t seed) {
    int32_t *ids = ref_take(count, sizeof *ids), *labels = ref_take(count, sizeof *labels), lowest = INT32_MAX;
    ast_points points = ast_points_f4(x, count, options->dimension);
    ast_options batch;
    ast_report report = {.size = sizeof report};
    ast_frame frame = {.size = sizeof frame};
    ast_options_init(&batch);
    batch.angle = options->angle;
    assert_int_equal(ast_cluster(rules_context(), &points, &batch, labels, &report), AST_OK);
    assert_int_equal(ast_stream_step(stream, &points, ids, &frame), AST_OK);
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= 0 && ids[i] < lowest)
            lowest = ids[i];
    for (size_t i = 0; i < count; i++)
        if (labels[i] != (ids[i] < 0 ? -1 : ids[i] - lowest))
            fail_msg("seed %llu, frame %llu: point %zu has id %d, the first is %d, its label in the batch is %d",
                     (unsigned long long)seed, (unsigned long long)frame.frame, i, ids[i], lowest, labels[i]);
    if (frame.clusters != report.clusters || (report.clusters > 0 && frame.iterations != report.iterations) ||
        frame.converged != report.converged || fabs(frame.objective - report.objective) > 1e-9 * (double)(count + 1))
        fail_msg("seed %llu, frame %llu: %zu clusters, %d passes, objective %.17g; the batch has %zu, %d, %.17g",
                 (unsigned long long)seed, (unsigned long long)frame.frame, frame.clusters, frame.iterations,
                 frame.objective, report.clusters, report.iterations, report.objective);
    free(ids);
    free(labels);
}

static void a_frame_alone_is_the_batch(void **state) {
    (void)state;
    static const size_t dimensions[] = {2, 3, 4, 20};
    for (uint64_t seed = 1; seed <= ref_case_count(200); seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 9);
        size_t dimension = dimensions[seed % 4];
        ast_stream_options options = rules_options(dimension, 15 + 100 * ast_random_uniform(&random), 0);
        if (seed % 3 == 0)
            options.lifetime = 1;
        if (seed % 3 == 1)
            options.method = AST_STREAM_DP;
        ast_stream *each = rules_open(&options);
        ast_stream_options tracking = options;
        tracking.lifetime = 20;
        tracking.method = AST_STREAM_DDP;
        for (int t = 0; t < 4; t++) {
            size_t count = (size_t)ast_random_below(&random, seed % 10 == 0 ? 6000 : 300);
            float *x = ref_take(count * dimension, sizeof *x);
            ref_fill_clustered(x, count, dimension, 1 + seed % 9, 0.2, 0.1, seed + 1000 * (uint64_t)t);
            if (count > 2)
                x[dimension] = NAN;
            check_batch(each, &options, x, count, seed);
            ast_stream *first = rules_open(&tracking);
            check_batch(first, &tracking, x, count, seed);
            ast_stream_close(first);
            free(x);
        }
        ast_stream_close(each);
    }
}

/* Two streams and a batch run take turns on one context: none notices the others. */
static void streams_share_a_context(void **state) {
    (void)state;
    enum { FRAMES = 12, COUNT = 120 };
    static int32_t alone[2][FRAMES][COUNT];
    static float x[2][FRAMES][COUNT * 3];
    ast_stream_options options[2] = {rules_options(3, 30, 5), rules_options(3, 70, 20)};
    ast_options batch;
    ast_report report = {.size = sizeof report};
    int32_t labels[COUNT];
    ast_options_init(&batch);
    batch.angle = 50;
    for (int s = 0; s < 2; s++) {
        ast_stream *stream = rules_open(&options[s]);
        for (int t = 0; t < FRAMES; t++) {
            ref_fill_clustered(x[s][t], COUNT, 3, 6, 0.1, 0.1, (uint64_t)(t / 3 + 50 * s));
            rules_feed(stream, x[s][t], COUNT, 3, alone[s][t]);
        }
        ast_stream_close(stream);
    }
    ast_stream *streams[2] = {rules_open(&options[0]), rules_open(&options[1])};
    for (int t = 0; t < FRAMES; t++) {
        for (int s = 0; s < 2; s++) {
            ast_points points = ast_points_f4(x[1 - s][t], COUNT, 3);
            rules_feed(streams[s], x[s][t], COUNT, 3, labels);
            assert_memory_equal(labels, alone[s][t], sizeof labels);
            assert_int_equal(ast_cluster(rules_context(), &points, &batch, labels, &report), AST_OK);
        }
    }
    ast_stream_close(streams[0]);
    ast_stream_close(streams[1]);
}

/* ---- Frames without points ------------------------------------------------------------------------------------- */

static void an_empty_frame_only_ages(void **state) {
    (void)state;
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1);
    float holes[15];
    ast_tracked before[16];
    float means[16][5];
    size_t count, after;
    for (int i = 0; i < 15; i++)
        holes[i] = i < 10 ? 0 : NAN; /* two rows of zeros and one of NaN */
    for (int t = 0; t < 4; t++) {
        const ast_tracked *clusters = ast_stream_clusters(stream, &count);
        assert_int_equal(count, 5);
        for (size_t k = 0; k < count; k++) {
            before[k] = clusters[k];
            memcpy(means[k], clusters[k].mean, sizeof means[k]);
        }
        int32_t labels[3] = {9, 9, 9};
        ast_frame frame = rules_feed(stream, holes, t % 2 ? 3 : 0, 5, labels);
        assert_int_equal(labels[0], t % 2 ? -1 : 9);
        assert_int_equal(frame.clusters, 0);
        assert_int_equal(frame.converged, 1);
        assert_int_equal(frame.missing, t % 2 ? 3 : 0);
        assert_true(frame.objective == 0);
        clusters = ast_stream_clusters(stream, &after);
        assert_int_equal(after, count);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(clusters[k].id, before[k].id);
            assert_int_equal(clusters[k].event, AST_UNSEEN);
            assert_int_equal(clusters[k].age, before[k].age + 1);
            assert_int_equal(clusters[k].count, 0);
            assert_true(clusters[k].share == 0 && clusters[k].weight == before[k].weight);
            assert_memory_equal(clusters[k].mean, means[k], sizeof means[k]);
        }
    }
    ast_stream_close(stream);
}

/* Directions without noise have a small spread, and what is remembered with it is soon so unsure that J of an absent
 * cluster is high at any angle. A direction at a right angle to it is a new one all the same: the absent one, when it
 * comes back, finds its id, if only what was near may be revived; otherwise it is given away. */
static void a_new_direction_is_nobody_else(void **state) {
    (void)state;
    static const int before[] = {0, 1, 2}, without[] = {0, 1}, other[] = {0, 1, 3}, all[] = {0, 1, 2, 3};
    for (int near = 0; near < 2; near++) {
        ast_stream_options options = rules_options(5, 75, 400);
        options.revive_near = near;
        ast_stream *stream = rules_open(&options);
        ast_random random;
        float x[MOST * 5];
        int32_t labels[MOST];
        ast_random_seed(&random, 5, 12);
        for (int t = 0; t < 20; t++)
            rules_feed(stream, x, rules_axes(x, t < 4 ? before : without, t < 4 ? 3 : 2, 20, 1e-3, &random), 5, NULL);
        rules_feed(stream, x, rules_axes(x, other, 3, 20, 1e-3, &random), 5, labels);
        assert_int_equal(labels[2], near ? 3 : 2);
        rules_feed(stream, x, rules_axes(x, all, 4, 20, 1e-3, &random), 5, labels);
        assert_int_equal(labels[2], near ? 2 : 3);
        ast_stream_close(stream);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_direction_is_nobody_else),
        cmocka_unit_test(the_vanished_return_under_their_ids),
        cmocka_unit_test(the_lifetime_is_exact),
        cmocka_unit_test(the_unremembered_are_born_and_that_is_all),
        cmocka_unit_test(the_remembered_die),
        cmocka_unit_test(a_frame_alone_is_the_batch),
        cmocka_unit_test(streams_share_a_context),
        cmocka_unit_test(an_empty_frame_only_ages),
    };
    return cmocka_run_group_tests_name("identity in streams", tests, NULL, ref_contexts_end);
}
