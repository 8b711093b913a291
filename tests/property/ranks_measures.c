/* SPDX-License-Identifier: MIT
 *
 * Several ranks measure what one process measures, bit for bit: silhouettes of every kind, NMI and ARI, wherever the
 * points are cut. The ranks are threads here. */
#include "reference/harness.h"
#include "reference/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 5, KINDS = 4 };

typedef struct outcome {
    ast_status status[KINDS + 1]; /* of the silhouettes, and of the comparison */
    char message[KINDS + 1][200];
    double silhouette[KINDS];
    size_t sampled[KINDS];
    ast_agreement agreement;
} outcome;

typedef struct task {
    uint64_t seed;
    size_t count, dimension;
    float *x;                /* (N, D) */
    int32_t *labels, *truth; /* (N) */
    size_t cut[MOST_RANKS + 1];
    int threads;
    outcome result[MOST_RANKS];
} task;

static void measure(ast_context *context, const task *t, size_t first, size_t count, outcome *o) {
    ast_points points = ast_points_f4(t->x + first * t->dimension, count, t->dimension);
    memset(o, 0, sizeof *o);
    for (int kind = 0; kind < KINDS; kind++) {
        o->status[kind] = ast_silhouette(context, &points, t->labels + first, (ast_dissimilarity)kind, t->seed,
                                         &o->silhouette[kind], &o->sampled[kind]);
        snprintf(o->message[kind], sizeof o->message[kind], "%s", ast_message(context));
    }
    o->agreement.size = sizeof o->agreement;
    o->status[KINDS] = ast_compare(context, t->labels + first, t->truth + first, count, &o->agreement);
}

static void measure_rank(const ast_comm *comm, void *data) {
    task *t = data;
    ast_context *context;
    ast_open(&context, t->threads);
    size_t first = t->cut[comm->rank];
    ast_join(context, comm);
    measure(context, t, first, t->cut[comm->rank + 1] - first, &t->result[comm->rank]);
    ast_close(context);
}

/* Labels with or without gaps, near each other or far apart, some missing; seldom only one. */
static int32_t draw_label(ast_random *random, uint64_t how, size_t clusters) {
    int32_t k = (int32_t)ast_random_below(random, clusters);
    if (ast_random_below(random, 9) == 0)
        return -1;
    return how == 0 ? k : how == 1 ? 3 * k + 2 : how == 2 ? (k * 77777777) & INT32_MAX : 0;
}

static void make_task(task *t, uint64_t seed, ast_random *random, ref_size size) {
    static const size_t dimensions[] = {2, 3, 4, 5, 11, 300};
    uint64_t how = ast_random_below(random, 16), true_how = ast_random_below(random, 3);
    size_t clusters = 1 + ast_random_below(random, 12), most = seed % 6 == 0 ? 3000 : seed % 2 ? 300 : 60;
    *t = (task){.seed = seed, .count = 1 + ast_random_below(random, most)};
    t->dimension = dimensions[ast_random_below(random, 6)];
    t->threads = 1 + (int)ast_random_below(random, 2);
    if (size == REF_LARGE) {
        t->count = AST_SILHOUETTE_SAMPLE * 3 / 2;
        t->dimension = 3;
    }
    t->x = malloc(t->count * t->dimension * sizeof *t->x);
    t->labels = malloc(t->count * sizeof *t->labels);
    t->truth = malloc(t->count * sizeof *t->truth);
    ref_fill_clustered(t->x, t->count, t->dimension, clusters, 0.3, 0.1, seed);
    for (size_t i = 0; i < t->count; i++) {
        t->labels[i] = draw_label(random, how < 15 ? how % 3 : 3, clusters);
        t->truth[i] = draw_label(random, true_how, clusters + 1);
        if (ast_random_below(random, 50) == 0)
            t->x[i * t->dimension] = NAN;
    }
    if (ast_random_below(random, 12) == 0)
        t->x[ast_random_below(random, t->count) * t->dimension] = INFINITY;
}

static void cut(task *t, int size, ast_random *random) {
    t->cut[size] = t->count;
    for (int r = 1; r < size; r++) {
        size_t even = t->count * (size_t)r / (size_t)size, left = t->count - t->cut[r - 1];
        uint64_t how = ast_random_below(random, 3);
        t->cut[r] = how == 0 ? even : how == 1 ? even / 512 * 512 : t->cut[r - 1] + ast_random_below(random, left + 1);
        t->cut[r] = t->cut[r] < t->cut[r - 1] ? t->cut[r - 1] : t->cut[r];
    }
}

static void check_measures(uint64_t seed, ref_size size, size_t ways) {
    ast_random random;
    task t;
    outcome one;
    ast_random_seed(&random, seed, 80);
    make_task(&t, seed, &random, size);
    measure(ref_context(REF_FAST, 1), &t, 0, t.count, &one);
    for (size_t way = 0; way < ways; way++) {
        int ranks = 2 + (int)ast_random_below(&random, MOST_RANKS - 1);
        cut(&t, ranks, &random);
        ref_ranks_run(ranks, measure_rank, &t);
        for (int r = 0; r < ranks; r++)
            if (memcmp(&t.result[r], &one, sizeof one) != 0)
                fail_msg("seed %llu, %zu x %zu, rank %d of %d: silhouettes %.17g %.17g %.17g %.17g ('%s'), NMI %.17g, "
                         "ARI %.17g; one process: %.17g %.17g %.17g %.17g ('%s'), %.17g, %.17g",
                         (unsigned long long)seed, t.count, t.dimension, r, ranks, t.result[r].silhouette[0],
                         t.result[r].silhouette[1], t.result[r].silhouette[2], t.result[r].silhouette[3],
                         t.result[r].message[0], t.result[r].agreement.nmi, t.result[r].agreement.ari,
                         one.silhouette[0], one.silhouette[1], one.silhouette[2], one.silhouette[3], one.message[0],
                         one.agreement.nmi, one.agreement.ari);
    }
    free(t.x);
    free(t.labels);
    free(t.truth);
}

static void test_small(void **state) {
    (void)state;
    ref_check_seeds(check_measures, REF_SMALL, 60, 2);
}

/* More points than the sample of the angle has: 10 s. */
static void test_sampled(void **state) {
    (void)state;
    if (ref_long())
        ref_check_seeds(check_measures, REF_LARGE, 1, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_sampled)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
