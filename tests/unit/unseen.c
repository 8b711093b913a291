/* SPDX-License-Identifier: MIT
 *
 * Which points an unseen cluster cannot win: the bounds hold against J itself, and what is kept up to date from event
 * to event equals what is worked out anew. */
#include "reference/cases.h"
#include "reference/reference.h"

#include "tracks.h"

/* cmocka wants these four before its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; /* dimensions */

/* A frame in the middle of a pass: tracked clusters, some of them unseen, and others born in it. */
typedef struct situation {
    ast_random random;
    size_t dimension;
    ast_tracks tracks;
    ast_cluster_list clusters;
} situation;

static double uniform(situation *s, double low, double high) {
    return low + (high - low) * ast_random_uniform(&s->random);
}

static void draw(situation *s, const float *around, double spread, float *x) {
    double v[MOST];
    ref_random_direction(&s->random, v, s->dimension);
    for (size_t d = 0; d < s->dimension; d++)
        v[d] = spread * v[d] + (around ? (double)around[d] : 0);
    ref_make_unit(v, s->dimension);
    for (size_t d = 0; d < s->dimension; d++)
        x[d] = (float)v[d];
}

static void begin(situation *s, uint64_t seed) {
    static const size_t dimensions[] = {2, 3, 8, 40};
    static const double betas[] = {0, 1e-3, 1, 100, 1e6, INFINITY};
    *s = (situation){.dimension = dimensions[seed % 4]};
    ast_random_seed(&s->random, seed, 21);
    size_t count = (size_t)ast_random_below(&s->random, 12);
    double lambda = cos(uniform(s, 0.1, 3)) - 1;
    uint32_t lifetime = 1 + (uint32_t)ast_random_below(&s->random, 30);
    assert_true(ast_tracks_reserve(&s->tracks, count, s->dimension));
    ast_clusters_clear(&s->clusters, s->dimension);
    s->tracks.count = s->clusters.tracked_slots = count;
    s->tracks.q = lambda / lifetime;
    s->tracks.unseen_may_win = true;
    s->tracks.limit = 1 + lambda - 0x1p-20;
    for (size_t k = 0; k < count; k++) {
        float *m = s->tracks.m + k * s->dimension;
        draw(s, k > 0 && k % 3 == 0 ? s->tracks.m : NULL, 0.1, m);
        s->tracks.w[k] = ast_random_below(&s->random, 8) ? exp(uniform(s, -5, 15)) : 0;
        s->tracks.beta[k] = betas[ast_random_below(&s->random, 6)];
        s->tracks.dt[k] = 1 + (uint32_t)ast_random_below(&s->random, lifetime);
        assert_true(ast_clusters_add(&s->clusters, m, UINT32_MAX) >= 0);
    }
    ast_tracks_begin(&s->tracks);
}

static void end(situation *s) {
    ast_tracks_free(&s->tracks);
    ast_clusters_free(&s->clusters);
}

/* Something happens to the list: a birth, a death, a revival, a cluster that loses its points, means that move. */
static void happen(situation *s) {
    ast_cluster_list *c = &s->clusters;
    float x[MOST];
    size_t k = c->live ? (size_t)c->order[ast_random_below(&s->random, c->live)] : 0;
    bool tracked = k < s->tracks.count;
    switch (ast_random_below(&s->random, 5)) {
    case 0:
    case 1: /* often close to an unseen one */
        draw(s, s->tracks.count ? s->tracks.m : NULL, uniform(s, 0.001, 2), x);
        assert_true(ast_clusters_add(c, x, UINT32_MAX) >= 0);
        break;
    case 2:
        if (tracked)
            s->tracks.unseen[k] = !s->tracks.unseen[k];
        else if (c->live)
            ast_clusters_kill(c, (int32_t)k);
        break;
    case 3:
        ast_clusters_list_free_slots(c); /* the slots of the dead are used again */
        break;
    default:
        for (size_t i = 0; i < c->live; i++)
            if (ast_random_below(&s->random, 2) && !((size_t)c->order[i] < s->tracks.count)) {
                float *mean = c->means + (size_t)c->order[i] * s->dimension;
                draw(s, mean, uniform(s, 0, 0.3), x);
                memcpy(mean, x, s->dimension * sizeof *mean);
            }
    }
}

static void each_slot(ast_tracks *tracks, const ast_cluster_list *clusters, float of[AST_MASK_BITS]) {
    for (size_t slot = 0; slot < AST_MASK_BITS; slot++)
        of[slot] = INFINITY; /* says nothing */
    if (clusters->slots <= AST_MASK_BITS)
        ast_tracks_unseen_bound_of(tracks, clusters, of);
}

/* The same tracks with no memory of what they met. */
static float worked_out_anew(const situation *s, float of[AST_MASK_BITS]) {
    ast_tracks fresh = {0};
    size_t count = s->tracks.count;
    assert_true(ast_tracks_reserve(&fresh, count, s->dimension));
    fresh.count = count;
    fresh.q = s->tracks.q;
    fresh.unseen_may_win = s->tracks.unseen_may_win;
    fresh.limit = s->tracks.limit;
    ast_tracks_begin(&fresh);
    if (count) {
        memcpy(fresh.m, s->tracks.m, count * s->dimension * sizeof *fresh.m);
        memcpy(fresh.w, s->tracks.w, count * sizeof *fresh.w);
        memcpy(fresh.beta, s->tracks.beta, count * sizeof *fresh.beta);
        memcpy(fresh.dt, s->tracks.dt, count * sizeof *fresh.dt);
        memcpy(fresh.unseen, s->tracks.unseen, count * sizeof *fresh.unseen);
    }
    float safe = ast_tracks_unseen_bound(&fresh, &s->clusters);
    each_slot(&fresh, &s->clusters, of);
    ast_tracks_free(&fresh);
    return safe;
}

static double best_score(const situation *s, const float *x, size_t *of) {
    double best = -4;
    for (size_t i = 0; i < s->clusters.live; i++) {
        size_t slot = (size_t)s->clusters.order[i];
        double score = ref_score(x, s->clusters.means + slot * s->dimension, s->dimension);
        if (!(slot < s->tracks.count && s->tracks.unseen[slot]) && score > best) {
            best = score;
            *of = slot;
        }
    }
    return best;
}

/* A point anywhere, often close to some mean: whom the bounds rule out does not win it. Returns 1 where `safe` spoke,
 * and 2 more where that of the slot did. */
static int check_point(situation *s, float safe, const float of[AST_MASK_BITS], uint64_t seed) {
    float x[MOST];
    const ast_cluster_list *c = &s->clusters;
    const float *near =
        c->live ? c->means + (size_t)c->order[ast_random_below(&s->random, c->live)] * s->dimension : NULL;
    draw(s, near, near ? exp(uniform(s, -6, 1)) : 1, x);
    size_t slot = 0;
    double best = best_score(s, x, &slot);
    float own = slot < AST_MASK_BITS ? of[slot] : INFINITY;
    bool threatened = ast_tracks_unseen_can_win(&s->tracks, x, best);
    for (size_t k = 0; k < s->tracks.count; k++) {
        double score = ast_tracks_score(&s->tracks, k, x);
        if (!s->tracks.unseen[k] || score < s->tracks.limit || score < best)
            continue;
        if ((float)best >= safe || (best > -4 && (float)best >= own) || !threatened ||
            !ast_tracks_may_win(&s->tracks, k, x, best))
            fail_msg("seed %llu: cluster %zu scores %.9g against %.9g; safe from %.9g, of the slot %.9g, %s",
                     (unsigned long long)seed, k, score, best, (double)safe, (double)own,
                     threatened ? "threatened" : "not threatened");
    }
    return best > -4 ? ((float)best >= safe) + 2 * ((float)best >= own) : 0;
}

static void bounds_hold_from_event_to_event(void **state) {
    (void)state;
    size_t spoken = 0, spoken_of = 0, more_of = 0, asked = 0;
    for (uint64_t seed = 1; seed <= ref_case_count(1000); seed++) {
        situation s;
        begin(&s, seed);
        for (int event = 0; event < 30; event++) {
            float of[AST_MASK_BITS], of_anew[AST_MASK_BITS];
            float safe = ast_tracks_unseen_bound(&s.tracks, &s.clusters), anew = worked_out_anew(&s, of_anew);
            each_slot(&s.tracks, &s.clusters, of);
            if (safe != anew || memcmp(of, of_anew, sizeof of) != 0)
                fail_msg("seed %llu, event %d: safe from %.9g, anew from %.9g, or one of a slot differs",
                         (unsigned long long)seed, event, (double)safe, (double)anew);
            for (int point = 0; point < 10; point++, asked++) {
                int spoke = check_point(&s, safe, of, seed);
                spoken += (size_t)(spoke & 1);
                spoken_of += (size_t)(spoke >> 1);
                more_of += spoke == 2;
            }
            for (uint64_t more = ast_random_below(&s.random, 3); more < 3; more++)
                happen(&s);
        }
        end(&s);
    }
    assert_true(spoken > asked / 10 && spoken_of > asked / 10 &&
                more_of > 0); /* a bound that says nothing would hold too */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_from_event_to_event),
    };
    return cmocka_run_group_tests_name("unseen clusters", tests, NULL, NULL);
}
