/* SPDX-License-Identifier: MIT
 *
 * What merging of tracked clusters promises: directions that become one have one id, pieces of a surface have none, a
 * direction that comes back or is new has its own; and the state says all of it. */
#include "degree.h"
#include "stream_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 20 };

/* Points around (cos, sin, 0) of an angle in degrees, `count` of them. Returns how many. */
static size_t around(float *x, double degrees, double noise, size_t count, ast_random *random) {
    for (size_t i = 0; i < count; i++) {
        double v[3] = {cos(degrees * AST_DEGREE), sin(degrees * AST_DEGREE), 0};
        for (size_t d = 0; d < 3; d++)
            x[3 * i + d] = (float)(v[d] + noise * ast_random_normal(random));
    }
    return count;
}

static ast_stream_options merging(void) {
    ast_stream_options options = rules_options(3, 60, 400);
    options.merge_tracked = 1;
    return options;
}

/* Two directions, 70 degrees apart at first, of which the second comes nearer by 4 degrees a frame down to 8. */
static ast_frame approach(ast_stream *stream, int t, int32_t *labels, ast_random *random) {
    float x[2 * EACH * 3];
    double apart = t < 16 ? 70 - 4 * t : 8;
    size_t first = around(x, 0, 0.01, EACH, random);
    return rules_feed(stream, x, first + around(x + 3 * first, apart, 0.01, EACH, random), 3, labels);
}

/* The means are nearer than 30 degrees from frame 11 on (70 - 40 is not), unless they lag: the third such frame joins.
 */
static void directions_that_become_one_have_one_id(void **state) {
    (void)state;
    ast_stream_options options = merging();
    ast_stream *stream = rules_open(&options);
    ast_random random;
    int32_t labels[2 * EACH], merged_in = -1;
    ast_random_seed(&random, 1, 60);
    for (int t = 0; t < 22; t++) {
        double before[2] = {0, 0};
        ast_frame frame = approach(stream, t, labels, &random);
        const ast_tracked *older = rules_record(stream, 0), *younger = rules_record(stream, 1);
        if (merged_in >= 0) {
            assert_null(younger);
            assert_int_equal(labels[2 * EACH - 1], 0);
            assert_int_equal(frame.merged, 0);
            continue;
        }
        assert_int_equal(labels[0], 0);
        assert_int_equal(labels[2 * EACH - 1], 1); /* this frame's labels keep the younger id */
        assert_int_equal(older->into, -1);
        before[1] = younger->weight;
        if (younger->event != AST_MERGED)
            continue;
        merged_in = t;
        assert_int_equal(younger->into, 0);
        assert_int_equal(frame.merged, 1);
        assert_true(older->weight > before[1] && younger->count == EACH);
        double angle = atan2((double)older->mean[1], (double)older->mean[0]) / AST_DEGREE;
        assert_true(angle > 5 && angle < 15); /* between the two */
    }
    assert_true(merged_in >= 13 && merged_in <= 15);
    ast_stream_close(stream);
}

/* Near for two frames, apart or away for one, and so on: that is not three in a row. */
static void three_frames_in_a_row_it_must_be(void **state) {
    (void)state;
    ast_stream_options options = merging();
    ast_stream *stream = rules_open(&options);
    ast_random random;
    float x[2 * EACH * 3];
    ast_random_seed(&random, 2, 60);
    for (int t = 0; t < 40; t++) {
        static const double apart[] = {70, 58, 46, 36, 27, 27, 33, 33};
        double degrees = t < 4 ? apart[t] : apart[4 + t % 4];
        size_t count = around(x, 0, 0.001, EACH, &random);
        count += around(x + 3 * count, degrees, 0.001, t % 12 == 11 ? 0 : EACH, &random);
        ast_frame frame = rules_feed(stream, x, count, 3, NULL);
        assert_int_equal(frame.merged, 0);
    }
    assert_non_null(rules_record(stream, 1));
    ast_stream_close(stream);
}

/* Without merging the same stream keeps both for good. */
static void off_means_off(void **state) {
    (void)state;
    ast_stream_options options = merging();
    options.merge_tracked = 0;
    ast_stream *stream = rules_open(&options);
    ast_random random;
    int32_t labels[2 * EACH];
    ast_random_seed(&random, 1, 60);
    for (int t = 0; t < 40; t++)
        assert_int_equal(approach(stream, t, labels, &random).merged, 0);
    assert_int_equal(labels[0], 0);
    assert_int_equal(labels[2 * EACH - 1], 1);
    ast_stream_close(stream);
}

/* A state that is saved between any two frames of the way goes on as the stream itself. */
static void the_state_counts_the_frames(void **state) {
    (void)state;
    ast_stream_options options = merging();
    for (int stop = 9; stop < 16; stop++) {
        ast_stream *stream = rules_open(&options), *other = rules_open(&options);
        ast_random random, copy;
        int32_t labels[2 * EACH], again[2 * EACH];
        ast_random_seed(&random, 1, 60);
        for (int t = 0; t < stop; t++)
            approach(stream, t, labels, &random);
        rules_bytes saved = rules_save(stream);
        assert_int_equal(ast_stream_load(other, saved.data, saved.size), AST_OK);
        free(saved.data);
        copy = random;
        for (int t = stop; t < 20; t++) {
            size_t merged = approach(stream, t, labels, &random).merged;
            assert_int_equal(approach(other, t, again, &copy).merged, merged);
            assert_memory_equal(again, labels, sizeof labels);
            rules_bytes here = rules_save(stream);
            rules_check_state(other, &here, "on its way through a file");
            free(here.data);
        }
        ast_stream_close(stream);
        ast_stream_close(other);
    }
}

/* How many pairs of ids with points have means closer than half the angle. */
static size_t near_pairs(const ast_stream *stream) {
    size_t count, pairs = 0;
    const ast_tracked *all = ast_stream_clusters(stream, &count);
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            double cosine = 0;
            for (size_t d = 0; d < 3; d++)
                cosine += (double)all[a].mean[d] * (double)all[b].mean[d];
            pairs += all[a].count > 0 && all[b].count > 0 && cosine > cos(30 * AST_DEGREE);
        }
    return pairs;
}

/* A wall whose normals are broad, so that some of them are far from its mean: pairs of ids that are one wall, over all
 * frames. */
static size_t wall(int merge, uint64_t seed) {
    enum { POINTS = 400 };
    static float x[POINTS * 3];
    static int32_t labels[POINTS];
    ast_stream_options options = merging();
    ast_frame frame = {.size = sizeof frame};
    ast_random random;
    size_t pairs = 0;
    options.merge_tracked = merge;
    ast_stream *stream = rules_open(&options);
    ast_random_seed(&random, seed, 61);
    for (int t = 0; t < 12; t++) {
        for (size_t i = 0; i < POINTS; i++)
            for (size_t d = 0; d < 3; d++)
                x[3 * i + d] = (float)((d == 2) + 0.25 * ast_random_normal(&random));
        ast_points points = ast_points_f4(x, POINTS, 3);
        assert_int_equal(ast_stream_step(stream, &points, labels, &frame), AST_OK);
        pairs += near_pairs(stream);
        for (size_t i = 0; i < POINTS; i++) /* every label is the id of a record */
            assert_non_null(rules_record(stream, labels[i]));
    }
    ast_stream_close(stream);
    return pairs;
}

static void pieces_have_no_ids(void **state) {
    (void)state;
    size_t with = 0, without = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        with += wall(1, seed);
        without += wall(0, seed);
    }
    printf("pairs of ids that are one wall, in 240 frames: %zu with merging, %zu without\n", with, without);
    assert_true(without > 100 && 10 * with < without);
}

/* A direction at a right angle to one that went out of sight is a new one: 40 of 40, and none with the paper's rule. */
static void a_new_direction_has_a_new_id(void **state) {
    (void)state;
    static const int before[] = {0, 1, 2}, without[] = {0, 1}, other[] = {0, 1, 3};
    int right[2] = {0, 0};
    for (int near = 0; near < 2; near++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            ast_stream_options options = rules_options(5, 60, 400);
            assert_int_equal(options.revive_near, 1); /* the default */
            options.revive_near = near;
            ast_stream *stream = rules_open(&options);
            ast_random random;
            float x[MOST * 5];
            int32_t labels[MOST];
            ast_random_seed(&random, seed, 62);
            for (int t = 0; t < 24; t++)
                rules_feed(stream, x, rules_axes(x, t < 4 ? before : without, t < 4 ? 3 : 2, 20, 1e-3, &random), 5,
                           NULL);
            rules_feed(stream, x, rules_axes(x, other, 3, 20, 1e-3, &random), 5, labels);
            right[near] += labels[2] == 3;
            ast_stream_close(stream);
        }
    printf("a new direction has a new id: %d of 40; with the rule of the paper %d\n", right[1], right[0]);
    assert_int_equal(right[1], 40);
    assert_int_equal(right[0], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_that_become_one_have_one_id),
        cmocka_unit_test(three_frames_in_a_row_it_must_be),
        cmocka_unit_test(off_means_off),
        cmocka_unit_test(the_state_counts_the_frames),
        cmocka_unit_test(pieces_have_no_ids),
        cmocka_unit_test(a_new_direction_has_a_new_id),
    };
    return cmocka_run_group_tests_name("merging in streams", tests, NULL, ref_contexts_end);
}
