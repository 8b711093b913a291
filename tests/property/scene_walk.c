/* SPDX-License-Identifier: MIT
 *
 * The walk through the hallway tells the story that trackers are measured by: directions go out of sight before the
 * turn and come back after it, and every frame has something to cluster. */
#include "degree.h"
#include "reference/hallway.h"
#include "reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { FRAMES = 120, PLUS_X = 0, MINUS_X, PLUS_Y, MINUS_Y, PLUS_Z, MINUS_Z };

static double share[FRAMES][6]; /* of the pixels that have a depth */

static int measure_shares(void **state) {
    (void)state;
    ast_hallway hallway = ref_hallway_smaller(2);
    size_t pixels = hallway.width * hallway.height;
    uint16_t *depth = ref_take(pixels, sizeof *depth);
    int32_t *truth = ref_take(pixels, sizeof *truth);
    ast_context *context;
    ast_open(&context, 2);
    assert_int_equal(hallway.frames, FRAMES);
    for (size_t i = 0; i < FRAMES; i++) {
        assert_int_equal(ast_hallway_render(context, &hallway, i, depth, truth, NULL), AST_OK);
        size_t seen = 0;
        for (size_t p = 0; p < pixels; p++) {
            seen += depth[p] > 0;
            if (truth[p] >= 0)
                share[i][truth[p]]++;
        }
        for (int d = 0; d < 6; d++)
            share[i][d] /= (double)seen;
    }
    ast_close(context);
    free(depth);
    free(truth);
    return 0;
}

static int shown(size_t frame, double least) {
    int count = 0;
    for (int d = 0; d < 6; d++)
        count += share[frame][d] >= least;
    return count;
}

static void every_frame_shows_directions(void **state) {
    (void)state;
    int three = 0, straight = 0;
    for (size_t i = 0; i < FRAMES; i++) {
        assert_true(shown(i, 0.02) >= 2);
        three += shown(i, 0.02) >= 3;
        if (i < 25 || i >= 80) { /* the straight parts */
            straight++;
            assert_true(shown(i, 0.02) >= 4);
        }
    }
    assert_true(straight >= 60 && three >= 110);
}

/* The only gap in the sight of a direction, first frame without a pixel to first frame with one; fails if there are
 * more or none. */
static void check_gap(int direction, size_t earliest, size_t latest, size_t shortest) {
    size_t first = 0, last = 0;
    for (size_t i = 1; i < FRAMES; i++) {
        if (share[i - 1][direction] > 0 && share[i][direction] == 0) {
            if (first > 0)
                fail_msg("direction %d vanishes in frame %zu and again in frame %zu", direction, first, i);
            first = i;
        }
        if (share[i - 1][direction] == 0 && share[i][direction] > 0)
            last = i;
    }
    if (first < earliest || last > latest || last < first + shortest)
        fail_msg("direction %d is out of sight from frame %zu until %zu", direction, first, last);
}

/* What looked to -y, the left wall, is gone before the turn, and comes back as the far ends of the second part; so does
 * the ceiling. */
static void directions_vanish_and_return(void **state) {
    (void)state;
    check_gap(MINUS_Y, 20, 65, 20);
    check_gap(MINUS_Z, 30, 75, 20);
    for (size_t i = 0; i < FRAMES; i++) {
        assert_true(share[i][MINUS_X] > 0.05 && share[i][PLUS_Z] > 0.05); /* end wall or right wall, and the floor */
        assert_true(i < 60 ? share[i][PLUS_X] == 0 : share[i][PLUS_Y] == 0);
    }
    assert_true(share[0][PLUS_Y] > 0.1 && share[0][MINUS_Y] > 0.05);                  /* right and left wall */
    assert_true(share[FRAMES - 1][PLUS_X] > 0.1 && share[FRAMES - 1][MINUS_Y] > 0.1); /* left wall, end wall */
}

/* ---- The camera -------------------------------------------------------------------------------------------------- */

static double angle_between(const double *a, const double *b) {
    double dot = 0;
    for (int i = 0; i < 4; i++)
        dot += a[i] * b[i];
    return 2 * acos(fmin(1, fabs(dot))) / AST_DEGREE;
}

/* Unit quaternions, a step and a turn that a person makes, and an arm's length of room on every side. */
static void the_camera_moves_as_people_do(void **state) {
    (void)state;
    enum { SLOW = 300 }; /* at this number it walks at 1 m/s */
    ast_hallway_frame last = {.seconds = -1}, frame;
    double walked = 0;
    for (size_t i = 0; i < SLOW; i++) {
        ast_scene_walk(i, SLOW, &frame);
        assert_true(fabs(frame.seconds - (double)i / 30) < 1e-12);
        double length = 0;
        for (int a = 0; a < 4; a++)
            length += frame.rotation[a] * frame.rotation[a];
        assert_true(fabs(length - 1) < 1e-12);
        assert_true(frame.position[2] > 1.5 && frame.position[2] < 1.6);
        for (int k = 0; k < 36; k++) {
            const double near[3] = {frame.position[0] + 0.5 * cos(10 * k * AST_DEGREE),
                                    frame.position[1] + 0.5 * sin(10 * k * AST_DEGREE), 1};
            assert_true(ref_hallway_free(near));
        }
        if (i > 0) {
            double step = hypot(hypot(frame.position[0] - last.position[0], frame.position[1] - last.position[1]),
                                frame.position[2] - last.position[2]);
            assert_true(step > 0.02 && step < 0.05);
            assert_true(angle_between(frame.rotation, last.rotation) < 3);
            walked += step;
        }
        last = frame;
    }
    assert_true(walked > 9 && walked < 11);
}

/* Forward, in the world: along +x at first, along +y at last, always a little down, never upside down. */
static void the_camera_looks_ahead(void **state) {
    (void)state;
    static const double forward[3] = {0, 0, 1}, down[3] = {0, 1, 0};
    for (size_t i = 0; i < FRAMES; i++) {
        ast_hallway_frame frame;
        double ahead[3], below[3];
        ast_scene_walk(i, FRAMES, &frame);
        ref_hallway_turn(frame.rotation, forward, ahead);
        ref_hallway_turn(frame.rotation, down, below);
        assert_true(ahead[2] < -0.17 && ahead[2] > -0.35 && below[2] < -0.93);
        if (i < 30)
            assert_true(ahead[0] > 0.95);
        if (i >= 85)
            assert_true(ahead[1] > 0.95);
    }
    ast_hallway_frame only;
    ast_scene_walk(0, 1, &only); /* a walk of one frame is its first */
    assert_true(fabs(only.position[0] - 3.4) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_shows_directions),
        cmocka_unit_test(directions_vanish_and_return),
        cmocka_unit_test(the_camera_moves_as_people_do),
        cmocka_unit_test(the_camera_looks_ahead),
    };
    return cmocka_run_group_tests_name("the walk through the hallway", tests, measure_shares, NULL);
}
