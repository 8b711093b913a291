/* SPDX-License-Identifier: MIT
 *
 * Exclusive frames: the assignment is the best of all, tried one by one, and of equal ones the first; two rows of a
 * frame never share an id; ids that were seen together stay apart, and pieces of one person become one; the result does
 * not depend on threads, on the instruction set, or on a stop in between. */
#include "assignment.h"
#include "degree.h"
#include "stream_helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The assignment ---------------------------------------------------------------------------------------------- */

enum { LARGEST = 8, NONE = INT32_MIN };

typedef struct problem {
    int rows, columns;
    int64_t gain[LARGEST][LARGEST]; /* NONE: not allowed */
} problem;

typedef struct trial {
    int32_t partner[LARGEST], best[LARGEST];
    int64_t most;
} trial;

/* Tries columns from the lowest, then none: the first best one that is found is the first of all. */
static void try_all(const problem *p, trial *t, int row, unsigned taken, int64_t sum) {
    if (row == p->rows) {
        if (sum > t->most) {
            t->most = sum;
            memcpy(t->best, t->partner, sizeof t->best);
        }
        return;
    }
    for (int c = 0; c < p->columns; c++) {
        if ((taken >> c & 1) || p->gain[row][c] == NONE)
            continue;
        t->partner[row] = c;
        try_all(p, t, row + 1, taken | 1U << c, sum + p->gain[row][c]);
    }
    t->partner[row] = -1;
    try_all(p, t, row + 1, taken, sum);
}

/* Few different gains, so that there are many ties; some are below zero. Large problems have few pairs. */
static problem draw_problem(ast_random *random) {
    problem p = {.rows = 1 + (int)ast_random_below(random, LARGEST)};
    p.columns = 1 + (int)ast_random_below(random, LARGEST);
    uint64_t values = 1 + ast_random_below(random, ast_random_below(random, 2) ? 4 : 1000);
    uint64_t sparse = p.rows + p.columns > 12 ? 2 + ast_random_below(random, 4) : 1 + ast_random_below(random, 3);
    for (int r = 0; r < p.rows; r++)
        for (int c = 0; c < p.columns; c++)
            p.gain[r][c] = ast_random_below(random, sparse) ? NONE : (int64_t)ast_random_below(random, values + 1) - 1;
    return p;
}

static void assignments_equal_the_best_of_all(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10000; seed++) {
        ast_random random;
        ast_gain pairs[LARGEST * LARGEST];
        size_t count = 0;
        ast_random_seed(&random, seed, 90);
        problem p = draw_problem(&random);
        trial t = {.most = INT64_MIN};
        for (int r = 0; r < p.rows; r++)
            for (int c = 0; c < p.columns; c++)
                if (p.gain[r][c] != NONE)
                    pairs[count++] = (ast_gain){r, c, p.gain[r][c]};
        try_all(&p, &t, 0, 0, 0);
        int32_t partner[LARGEST];
        assert_true(ast_best_assignment(pairs, count, (size_t)p.rows, (size_t)p.columns, partner));
        for (int r = 0; r < p.rows; r++)
            if (partner[r] != t.best[r])
                fail_msg("seed %llu: row %d has column %d, should have %d", (unsigned long long)seed, r, partner[r],
                         t.best[r]);
    }
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

enum { D = 24, PEOPLE = 9, FRAMES = 120 };

/* Some of the people, with noise; each at most once. Returns how many. */
static size_t draw_frame(const float *people, ast_random *random, float *x) {
    size_t count = 0;
    for (int k = 0; k < PEOPLE; k++) {
        if (ast_random_below(random, 3))
            continue;
        for (int d = 0; d < D; d++)
            x[count * D + (size_t)d] = people[k * D + d] + (float)(0.25 * ast_random_normal(random));
        count++;
    }
    return count;
}

/* Unit directions; the second is 45 degrees from the first. */
static void draw_people(ast_random *random, float *people) {
    for (int k = 0; k < PEOPLE; k++) {
        double square = 0;
        for (int d = 0; d < D; d++) {
            people[k * D + d] = (float)ast_random_normal(random) + (k == 1 ? people[d] * 5 : 0);
            square += (double)people[k * D + d] * (double)people[k * D + d];
        }
        for (int d = 0; d < D; d++)
            people[k * D + d] /= (float)sqrt(square);
    }
}

static ast_stream_options exclusive(void) {
    ast_stream_options options = rules_options(D, 62, 400);
    options.exclusive = options.merge_tracked = 1;
    return options;
}

/* One stream over all frames, with a hop over a saved state every 7 frames if `hops`. labels (FRAMES, PEOPLE) */
static size_t run(ast_context *context, uint64_t seed, bool hops, int32_t *labels) {
    ast_stream_options options = exclusive();
    ast_stream *stream;
    ast_random random;
    float people[PEOPLE * D], x[PEOPLE * D];
    size_t merged = 0;
    assert_int_equal(ast_stream_open(&stream, context, &options), AST_OK);
    ast_random_seed(&random, seed, 91);
    draw_people(&random, people);
    memset(labels, 0, FRAMES * PEOPLE * sizeof *labels);
    for (int t = 0; t < FRAMES; t++) {
        size_t count = draw_frame(people, &random, x);
        int32_t *own = labels + (size_t)t * PEOPLE;
        merged += rules_feed(stream, x, count, D, own).merged;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < i; j++)
                assert_int_not_equal(own[i], own[j]);
        if (!hops || t % 7 != 6)
            continue;
        rules_bytes saved = rules_save(stream);
        ast_stream_close(stream);
        assert_int_equal(ast_stream_open(&stream, context, &options), AST_OK);
        assert_int_equal(ast_stream_load(stream, saved.data, saved.size), AST_OK);
        free(saved.data);
    }
    ast_stream_close(stream);
    return merged;
}

static void frames_are_exclusive_however_they_are_run(void **state) {
    (void)state;
    size_t merged = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        int32_t labels[FRAMES * PEOPLE], other[FRAMES * PEOPLE];
        merged += run(ref_context("base", 1), seed, false, labels);
        run(ref_context(REF_FAST, 3), seed, true, other);
        assert_memory_equal(labels, other, sizeof labels);
    }
    assert_true(merged > 0);
}

/* Two pieces of one direction, first far from each other in time, then closer; and two people that are as close. */
static void pieces_heal_and_people_stay(void **state) {
    (void)state;
    for (int together = 0; together < 2; together++) {
        ast_stream_options options = exclusive();
        options.dimension = 3;
        options.angle = 40;
        ast_stream *stream = rules_open(&options);
        const float both[] = {1, 0, 0, (float)cos(45 * AST_DEGREE), (float)sin(45 * AST_DEGREE), 0};
        size_t merged = 0;
        int32_t labels[2];
        for (int t = 0; t < 3 && together; t++)
            rules_feed(stream, both, 2, 3, labels);
        for (int t = 0; t < 100; t++) { /* the second comes nearer to the first, frame by frame */
            double angle = (t < 70 ? 75 - t : 5) * AST_DEGREE;
            const float x[] = {(float)cos(angle), (float)sin(angle), 0};
            rules_feed(stream, both, 1, 3, labels);
            assert_int_equal(labels[0], 0);
            const float away[] = {x[0], x[1], x[2], 1, 0, 0};
            merged += rules_feed(stream, together ? away : x, together ? 2 : 1, 3, labels).merged;
        }
        assert_int_equal(merged, together ? 0 : 1);
        ast_stream_close(stream);
    }
}

static void what_cannot_be_exclusive_is_refused(void **state) {
    (void)state;
    ast_stream_options options = exclusive();
    assert_null(ast_stream_options_problem(&options));
    options.axial = 1;
    assert_non_null(ast_stream_options_problem(&options));
    options.axial = 0;
    options.beta = 5;
    assert_non_null(ast_stream_options_problem(&options));
    options.score = AST_SCORE_NEAREST;
    assert_null(ast_stream_options_problem(&options));
    options.method = AST_STREAM_SDP;
    assert_non_null(ast_stream_options_problem(&options));
}

/* ---- How sure an id is ------------------------------------------------------------------------------------------- */

static void rows_are_compared_with_means(void **state) {
    (void)state;
    ast_stream_options options = rules_options(3, 40, 400);
    ast_stream *stream = rules_open(&options);
    const float x[] = {1, 0, 0, 0, 1, 0, NAN, 0, 0, 0.8f, 0.6f, 0};
    int32_t labels[4], other[4];
    float own[4], next[4];
    rules_feed(stream, x, 3, 3, labels);
    ast_points points = ast_points_f4(x, 4, 3);
    labels[3] = 0;
    assert_int_equal(ast_stream_compare(stream, &points, labels, own, next, other), AST_OK);
    assert_true(own[0] == 1 && own[1] == 1 && isnan(own[2]) && fabsf(own[3] - 0.8f) < 1e-6f);
    assert_true(next[0] == 0 && next[1] == 0 && isnan(next[2]) && fabsf(next[3] - 0.6f) < 1e-6f);
    assert_true(other[0] == 1 && other[1] == 0 && other[2] == -1 && other[3] == 1);
    ast_stream_close(stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assignments_equal_the_best_of_all),
        cmocka_unit_test(frames_are_exclusive_however_they_are_run),
        cmocka_unit_test(pieces_heal_and_people_stay),
        cmocka_unit_test(what_cannot_be_exclusive_is_refused),
        cmocka_unit_test(rows_are_compared_with_means),
    };
    return cmocka_run_group_tests_name("exclusive frames", tests, NULL, ref_contexts_end);
}
