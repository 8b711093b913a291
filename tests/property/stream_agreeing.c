/* SPDX-License-Identifier: MIT
 *
 * Pieces that become one in exclusive frames, against a slow program: the frame is closed once more by a stream that
 * joins nothing, and every pair of an id in view and another one is looked at. Ids that were seen together never join,
 * nor do two ids with names. */
#include "degree.h"
#include "stream.h"
#include "stream_helpers.h"
#include "vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 16, PEOPLE = 6, FRAMES = 80, IDS = 256 };

typedef struct slow {
    bool together[IDS][IDS];
    int32_t into[IDS]; /* of the last frame; -1: stays */
} slow;

/* The best partner of track a, which is in view; the number of tracks if there is none. */
static size_t partner_of(const ast_stream *s, const slow *r, size_t a, double *cosine) {
    size_t best = s->count;
    for (size_t b = 0; b < s->count; b++) {
        int32_t one = s->track[a].id, other = s->track[b].id;
        if (b == a || (b < a && s->track[b].dt == 1) || r->together[one][other] ||
            (s->track[a].flags & s->track[b].flags & AST_KNOWN))
            continue;
        double score = ast_exact_score(s->m + a * D, s->m + b * D, D);
        double least = cos(0.9 * s->options.angle * AST_DEGREE) * ast_stream_reliability(s, s->track[a].rows) *
                       ast_stream_reliability(s, s->track[b].rows);
        if (score >= least && (best == s->count || score > *cosine)) {
            best = b;
            *cosine = score;
        }
    }
    return best;
}

static void join(slow *r, int32_t a, int32_t b) {
    int32_t older = a < b ? a : b, younger = a < b ? b : a;
    r->into[younger] = older;
    for (int k = 0; k < IDS; k++) {
        r->together[older][k] |= r->together[younger][k];
        r->together[k][older] |= r->together[k][younger];
    }
}

/* The joins after a frame, of which `s` is the close without any. */
static void heal(const ast_stream *s, slow *r) {
    double cosines[IDS];
    size_t partner[IDS];
    bool free[IDS];
    memset(r->into, 0xff, sizeof r->into);
    for (size_t a = 0; a < s->count; a++)
        for (size_t b = 0; b < s->count; b++)
            if (a != b && s->track[a].dt == 1 && s->track[b].dt == 1)
                r->together[s->track[a].id][s->track[b].id] = true;
    for (size_t a = 0; a < s->count; a++) {
        free[a] = true;
        partner[a] = s->track[a].dt == 1 ? partner_of(s, r, a, &cosines[a]) : s->count;
    }
    for (;;) {
        size_t best = s->count;
        for (size_t a = 0; a < s->count; a++)
            if (free[a] && partner[a] < s->count && free[partner[a]] &&
                (best == s->count || cosines[a] > cosines[best]))
                best = a;
        if (best == s->count)
            return;
        join(r, s->track[best].id, s->track[partner[best]].id);
        free[best] = free[partner[best]] = false;
    }
}

/* A person is one of several directions that come nearer to each other, with noise. */
static size_t draw_frame(const float *people, ast_random *random, int t, float *x) {
    size_t count = 0;
    for (int k = 0; k < PEOPLE; k++) {
        if (ast_random_below(random, 2))
            continue;
        double far = ast_random_below(random, 6) ? 0.2 : 0.35;
        for (int d = 0; d < D; d++)
            x[count * D + (size_t)d] = people[k * D + d] + (k % 2 ? (float)t / FRAMES * people[(k - 1) * D + d] : 0) +
                                       (float)(far * ast_random_normal(random));
        count++;
    }
    return count;
}

/* Names one id in three frames; with every third seed all of them, so that two ids of a frame are rarely strangers. */
static void name_some(ast_stream *s, uint64_t seed, int t, ast_random *random) {
    char name[32];
    size_t one = s->count ? ast_random_below(random, s->count) : 0;
    for (size_t k = 0; k < s->count; k++) {
        snprintf(name, sizeof name, "%d", s->track[k].id);
        if (!(s->track[k].flags & AST_KNOWN) && (seed % 3 == 0 || (k == one && t % 3 == 0)))
            assert_int_equal(ast_stream_name(s, s->track[k].id, name), AST_OK);
    }
}

static void joins_equal_those_of_the_slow_program(void **state) {
    (void)state;
    size_t joined = 0, named = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        ast_stream_options options = rules_options(D, 40 + (double)(seed % 4) * 8, 60);
        options.exclusive = options.merge_tracked = 1;
        ast_stream *stream = rules_open(&options), *other = rules_open(&options);
        ast_random random;
        static slow r;
        float people[PEOPLE * D], x[PEOPLE * D];
        memset(&r, 0, sizeof r);
        ast_random_seed(&random, seed, 140);
        for (size_t k = 0; k < PEOPLE * D; k++)
            people[k] = (float)(0.5 * ast_random_normal(&random));
        for (int t = 0; t < FRAMES; t++) {
            size_t count = draw_frame(people, &random, t, x), records;
            if (seed % 2)
                name_some(stream, seed, t, &random);
            rules_bytes before = rules_save(stream);
            int32_t labels[PEOPLE];
            assert_int_equal(ast_stream_load(other, before.data, before.size), AST_OK);
            free(before.data);
            other->options.merge_tracked = 0;
            rules_feed(other, x, count, D, labels);
            other->options.merge_tracked = 1;
            assert_true(other->next_id < IDS);
            heal(other, &r);
            rules_feed(stream, x, count, D, labels);
            const ast_tracked *found = ast_stream_clusters(stream, &records);
            for (size_t k = 0; k < records; k++) {
                int32_t expected = r.into[found[k].id];
                if (found[k].into != expected || (found[k].event == AST_MERGED) != (expected >= 0))
                    fail_msg("seed %llu, frame %d: id %d became part of %d, should be of %d", (unsigned long long)seed,
                             t, found[k].id, found[k].into, expected);
                joined += expected >= 0;
                named += expected >= 0 && seed % 2;
            }
        }
        ast_stream_close(stream);
        ast_stream_close(other);
    }
    assert_true(joined > 20);
    assert_true(named > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins_equal_those_of_the_slow_program)};
    return cmocka_run_group_tests_name("agreeing", tests, NULL, ref_contexts_end);
}
