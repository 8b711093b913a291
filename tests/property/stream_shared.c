/* SPDX-License-Identifier: MIT
 *
 * An id that two people share until they are first in one exclusive frame. Without noise the two people are found as
 * they are, whatever their shares; what users have said stays; and two voices with noise are told apart at once. */
#include "stream.h"
#include "stream_helpers.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

enum { D = 24, MANY = 1000000 };

typedef struct couple {
    double a[D], b[D], both[D]; /* two people, and the mean of an id that they share */
    double c;                   /* the cosine of the two */
} couple;

static void as_floats(const double *x, float *row) {
    for (int d = 0; d < D; d++)
        row[d] = (float)x[d];
}

/* Two directions with cosine c; the share q of the rows is that of b. */
static couple draw_couple(ast_random *random, double c, double q) {
    couple p = {.c = c};
    double across[D];
    for (int d = 0; d < D; d++) {
        p.a[d] = ast_random_normal(random);
        across[d] = ast_random_normal(random);
    }
    ast_normalise(p.a, D);
    double along = ast_dot(p.a, across, D);
    for (int d = 0; d < D; d++)
        across[d] -= along * p.a[d];
    ast_normalise(across, D);
    for (int d = 0; d < D; d++) {
        p.b[d] = c * p.a[d] + sqrt(1 - c * c) * across[d];
        p.both[d] = (1 - q) * p.a[d] + q * p.b[d];
    }
    ast_normalise(p.both, D);
    return p;
}

/* A stream with one id, whose mean `both` rests on very many rows, and which knows that rows have no noise. */
static ast_stream *open_shared(const couple *p) {
    ast_stream_options options = rules_options(D, 80, MANY);
    options.exclusive = options.merge_tracked = 1;
    ast_stream *s = rules_open(&options);
    float row[D];
    as_floats(p->both, row);
    rules_feed(s, row, 1, D, NULL);
    s->pair_cosine = (ast_spread){MANY, MANY};
    s->track[0].rows = s->track[0].weight = MANY;
    s->track[0].sightings = MANY;
    s->track[0].spread = s->spread = (ast_spread){1e12, 1}; /* nothing is forgotten: beta is large */
    return s;
}

/* Both people in one frame, a first; returns the track of the new id. */
static size_t meet(ast_stream *s, const couple *p) {
    float x[2 * D];
    int32_t labels[2];
    as_floats(p->a, x);
    as_floats(p->b, x + D);
    rules_feed(s, x, 2, D, labels);
    assert_int_equal(labels[0] + labels[1], 1);
    return 1;
}

static double with(const ast_stream *s, size_t k, const double *x) {
    return ast_dot_row(s->m + k * D, x, D);
}

static void people_are_found_from_their_shares(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 160);
        double c = 0.3 + 0.5 * ast_random_uniform(&random), q = 0.28 + 0.2 * ast_random_uniform(&random);
        couple p = draw_couple(&random, c, q);
        ast_stream *s = open_shared(&p);
        size_t born = meet(s, &p);
        if (with(s, 0, p.a) < 1 - 1e-3 || with(s, born, p.b) < 1 - 1e-3)
            fail_msg("seed %llu: c %g, share %g: cosines %g and %g with the two people", (unsigned long long)seed, c, q,
                     with(s, 0, p.a), with(s, born, p.b));
        assert_true(s->track[0].rows <= 4 && s->track[born].rows <= 4 && s->track[born].rows >= 1);
        const ast_tracked *record = rules_record(s, s->track[born].id);
        assert_memory_equal(record->mean, s->m + born * D, D * sizeof(float));
        assert_true(record->weight == s->track[born].weight);
        ast_stream_close(s);
    }
}

/* The id of one person keeps its mean. The other one, whose row has noise, is taken for somebody like the first: nearer
 * to the truth than the row, on average. */
static void a_small_share_changes_nobody_else(void **state) {
    (void)state;
    double of_row = 0, of_mean = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        ast_random random;
        float before[D];
        ast_random_seed(&random, seed, 161);
        couple p = draw_couple(&random, 0.5, 0), noisy = p;
        ast_stream *s = open_shared(&p);
        memcpy(before, s->m, sizeof before);
        s->pair_cosine = (ast_spread){0.5 * MANY, MANY};
        for (int d = 0; d < D; d++)
            noisy.b[d] += ast_random_normal(&random) / sqrt(D);
        ast_normalise(noisy.b, D);
        size_t born = meet(s, &noisy);
        for (int d = 0; d < D; d++)
            assert_true(fabs((double)s->m[d] - (double)before[d]) < 1e-4);
        assert_true(s->track[0].rows > 1000);
        of_row += ast_dot(noisy.b, p.b, D);
        of_mean += with(s, born, p.b);
        ast_stream_close(s);
    }
    assert_true(of_mean > of_row + 300 * 0.01);
}

static void what_users_said_stays(void **state) {
    (void)state;
    for (int said = 0; said < 2; said++) {
        ast_random random;
        float row[D], before[D];
        ast_random_seed(&random, 5, 162);
        couple p = draw_couple(&random, 0.6, 0.45);
        ast_stream *s = open_shared(&p);
        assert_int_equal(said ? ast_stream_lock(s, 0) : ast_stream_name(s, 0, "Anna"), AST_OK);
        memcpy(before, s->m, sizeof before);
        size_t born = meet(s, &p);
        as_floats(p.b, row);
        for (int d = 0; d < D; d++)
            assert_true(fabs((double)s->m[d] - (double)before[d]) < 1e-4 &&
                        fabs((double)s->m[born * D + (size_t)d] - (double)row[d]) < 1e-6);
        ast_stream_close(s);
    }
}

enum { WIDE = 128, TURNS = 40, AFTER = 60 };

static void draw_row(const double *voice, ast_random *random, float *x) {
    double row[WIDE];
    for (int d = 0; d < WIDE; d++)
        row[d] = voice[d] + ast_random_normal(random) / sqrt(WIDE);
    ast_normalise(row, WIDE);
    for (int d = 0; d < WIDE; d++)
        x[d] = (float)row[d];
}

/* Two voices of cosine .55, rows of cosine .7, an angle of 75 degrees: one id at first; from the first frame with both
 * on each has an id, of which at most one row in 25 is wrong. */
static void voices_are_told_apart_at_once(void **state) {
    (void)state;
    int wrong = 0, shared = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ast_random random;
        ast_stream_options options = rules_options(WIDE, 75, MANY);
        double voice[2][WIDE];
        float x[2 * WIDE];
        int32_t labels[2], own[2];
        options.exclusive = options.merge_tracked = 1;
        options.drift = 0.1;
        ast_stream *s = rules_open(&options);
        ast_random_seed(&random, seed, 163);
        for (int k = 0; k < 2; k++)
            for (int d = 0; d < WIDE; d++)
                voice[k][d] = ast_random_normal(&random) + (k ? 0.66 * voice[0][d] : 0);
        for (int k = 0; k < 2; k++)
            ast_normalise(voice[k], WIDE);
        for (int t = 0; t < TURNS; t++) {
            draw_row(voice[t / 5 % 2], &random, x);
            rules_feed(s, x, 1, WIDE, labels);
        }
        shared += s->count == 1;
        draw_row(voice[0], &random, x);
        draw_row(voice[1], &random, x + WIDE);
        rules_feed(s, x, 2, WIDE, own);
        for (int t = 0; t < AFTER; t++) {
            draw_row(voice[t / 5 % 2], &random, x);
            rules_feed(s, x, 1, WIDE, labels);
            wrong += labels[0] != own[t / 5 % 2];
        }
        ast_stream_close(s);
    }
    assert_true(shared >= 15);
    assert_true(wrong * 25 <= 20 * AFTER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_are_found_from_their_shares), cmocka_unit_test(a_small_share_changes_nobody_else),
        cmocka_unit_test(what_users_said_stays), cmocka_unit_test(voices_are_told_apart_at_once)};
    return cmocka_run_group_tests_name("shared ids", tests, NULL, ref_contexts_end);
}
