/* SPDX-License-Identifier: MIT
 *
 * How well moving directions are followed: a broad cluster beside a tight one, and a camera that turns in a room that
 * does not. */
#include "degree.h"
#include "stream_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A point near a unit vector: normal noise of so many degrees per component. */
static void point_near(float *x, const double *v, double degrees, ast_random *random) {
    for (size_t d = 0; d < 3; d++)
        x[d] = (float)(v[d] + degrees * AST_DEGREE * ast_random_normal(random));
}

/* The median lag, in degrees, of a tight direction that moves by half a degree per frame, with five points per frame;
 * `broad` points of about kappa 10 around a direction at a right angle to it. */
static double lag_beside(size_t broad) {
    enum { TIGHT = 5, FRAMES = 90, WARM = 20, SEEDS = 6 };
    double lags[SEEDS * FRAMES];
    size_t count = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        ast_stream_options options = rules_options(3, 70, 400);
        ast_stream *stream = rules_open(&options);
        ast_random random;
        ast_random_seed(&random, seed, 70);
        for (int t = 0; t < FRAMES; t++) {
            double v[3] = {cos(0.5 * t * AST_DEGREE), sin(0.5 * t * AST_DEGREE), 0}, up[3] = {0, 0, 1}, along = 0;
            float x[MOST * 3];
            int32_t labels[MOST];
            for (size_t i = 0; i < TIGHT + broad; i++)
                point_near(x + 3 * i, i < TIGHT ? v : up, i < TIGHT ? 1.3 : 18, &random);
            rules_feed(stream, x, TIGHT + broad, 3, labels);
            const ast_tracked *record = rules_record(stream, labels[0]);
            for (size_t d = 0; d < 3; d++)
                along += v[d] * (double)record->mean[d];
            if (t >= WARM)
                lags[count++] = acos(along < 1 ? along : 1) / AST_DEGREE;
        }
        ast_stream_close(stream);
    }
    qsort(lags, count, sizeof *lags, by_size);
    return lags[count / 2];
}

/* With one spread for all, as it was, the lag beside the broad one was 3.3 degrees. */
static void a_broad_cluster_does_not_slow_a_tight_one(void **state) {
    (void)state;
    double alone = lag_beside(0), beside = lag_beside(5);
    printf("lag of a tight direction: %.2f degrees alone, %.2f beside a broad one\n", alone, beside);
    assert_true(alone < 0.8);
    assert_true(beside < 1.6);
}

/* The spread of a record is that of its points: the root mean square angle of normal noise in the two directions that
 * turn a vector. */
static void the_spread_is_that_of_the_points(void **state) {
    (void)state;
    ast_stream_options options = rules_options(3, 60, 400);
    ast_stream *stream = rules_open(&options);
    ast_random random;
    float x[60 * 3];
    ast_random_seed(&random, 4, 71);
    for (int t = 0; t < 30; t++) {
        static const double axes[2][3] = {{1, 0, 0}, {0, 1, 0}};
        for (size_t i = 0; i < 60; i++)
            point_near(x + 3 * i, axes[i % 2], i % 2 ? 10 : 2, &random);
        rules_feed(stream, x, 60, 3, NULL);
    }
    double tight = rules_record(stream, 0)->spread, broad = rules_record(stream, 1)->spread;
    assert_true(fabs(tight - 2 * sqrt(2)) < 0.4);
    assert_true(fabs(broad - 10 * sqrt(2)) < 1.5);
    ast_stream_close(stream);
}

/* ---- A rigid scene ---------------------------------------------------------------------------------------------- */

enum { RUNS = REF_SLOWER > 1 ? 4 : 40, TURN = 200, START = 20, POINTS_EACH = 20 };

/* Frame t of a camera that turns about y, in a room with a floor, a ceiling and four walls: it sees floor and ceiling
 * and the walls within 75 degrees of its view. Returns the number of points; truth: the surface of each, 0 to 5. */
static size_t look(float *x, int *truth, int t, double each_turn, ast_random *random) {
    static const double room[6][3] = {{0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 0, -1}, {-1, 0, 0}};
    double angle = each_turn * t * AST_DEGREE, c = cos(angle), s = sin(angle);
    size_t count = 0;
    for (int k = 0; k < 6; k++) {
        double v[3] = {c * room[k][0] + s * room[k][2], room[k][1], -s * room[k][0] + c * room[k][2]};
        if (k > 1 && v[2] < cos(75 * AST_DEGREE))
            continue;
        for (int i = 0; i < POINTS_EACH; i++) {
            truth[count] = k;
            point_near(x + 3 * count++, v, 3, random);
        }
    }
    return count;
}

/* Whether every wall has its id again after a whole turn of 200 frames. */
static int same_after_a_turn(int rigid, uint64_t seed) {
    ast_stream_options options = rules_options(3, 60, 400);
    options.rigid = rigid;
    ast_stream *stream = rules_open(&options);
    ast_random random;
    int32_t first[6] = {-1, -1, -1, -1, -1, -1}, labels[MOST];
    int truth[MOST], same = 1;
    float x[MOST * 3];
    ast_random_seed(&random, seed, 72);
    for (int t = 0; t < START + TURN + 60; t++) {
        size_t count = look(x, truth, t < START ? 0 : t - START, 360.0 / TURN, &random);
        rules_feed(stream, x, count, 3, labels);
        for (size_t i = 0; i < count; i += POINTS_EACH) {
            if (first[truth[i]] < 0)
                first[truth[i]] = labels[i];
            same &= labels[i] == first[truth[i]];
        }
    }
    ast_stream_close(stream);
    return same;
}

static void what_comes_back_has_its_id(void **state) {
    (void)state;
    int with = 0, without = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        with += same_after_a_turn(1, seed);
        without += same_after_a_turn(0, seed);
    }
    printf("all walls have their ids after a turn, of %d runs: %d if rigid, %d if not\n", RUNS, with, without);
    assert_int_equal(with, RUNS);
    assert_int_equal(without, 0);
}

/* Rigid is for three dimensions and for the method that remembers. */
static void options_that_do_not_go_together(void **state) {
    (void)state;
    ast_stream_options options = rules_options(4, 60, 400);
    options.rigid = 1;
    assert_non_null(strstr(ast_stream_options_problem(&options), "3 dimensions"));
    options.dimension = 3;
    assert_null(ast_stream_options_problem(&options));
    options.method = AST_STREAM_SDP;
    assert_non_null(strstr(ast_stream_options_problem(&options), "AST_STREAM_DDP"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broad_cluster_does_not_slow_a_tight_one),
        cmocka_unit_test(the_spread_is_that_of_the_points),
        cmocka_unit_test(what_comes_back_has_its_id),
        cmocka_unit_test(options_that_do_not_go_together),
    };
    return cmocka_run_group_tests_name("motion in streams", tests, NULL, ref_contexts_end);
}
