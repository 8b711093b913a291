/* SPDX-License-Identifier: MIT
 *
 * A run that is stopped after every single pass, and goes on each time on another number of ranks and threads, comes to
 * what the run comes to that nobody stopped, bit for bit. The ranks are threads here. */
#include "reference/harness.h"
#include "reference/ranks.h"
#include "reference/sparse.h"
#include "reference/store.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 4, MOST_LEGS = 400 };

/* What came out of a call. */
typedef struct outcome {
    ast_status status;
    char message[512];
    int32_t *labels; /* (N) */
    ast_report report;
    ast_cluster_info *clusters;
    float *means;
} outcome;

/* One call of the relay: it goes on from `from`, makes one pass and writes `to`. */
typedef struct leg {
    const ast_points *points;
    ast_options options;
    const ast_storage *from; /* NULL: the beginning */
    ref_store *to;           /* NULL: it runs to the end */
    int size, threads;       /* ranks and threads of each */
    int passes[MOST_RANKS];
    ast_status saved[MOST_RANKS];
    outcome result[MOST_RANKS]; /* labels of result 0 are of all points */
} leg;

typedef struct runner {
    leg *l;
    ast_context *context;
    int rank;
} runner;

static int step(const ast_progress *state, void *data) {
    runner *r = data;
    if (state->iteration == 0 || state->merging) /* a merge has no checkpoints */
        return 0;
    r->l->passes[r->rank]++;
    if (!r->l->to || r->l->passes[r->rank] > 1)
        return 0;
    ast_storage view = ref_store_view(r->l->to);
    r->l->saved[r->rank] = ast_checkpoint(r->context, &view);
    return 1;
}

static void run(leg *l, int rank, ast_context *context, const ast_points *points, int32_t *labels) {
    outcome *o = &l->result[rank];
    ast_options options = l->options;
    runner r = {l, context, rank};
    options.progress = step;
    options.progress_data = &r;
    options.resume = l->from;
    o->report.size = sizeof o->report;
    o->status = ast_cluster(context, points, &options, labels, &o->report);
    snprintf(o->message, sizeof o->message, "%s", ast_message(context));
    if (o->status != AST_OK)
        return;
    size_t count;
    const ast_cluster_info *clusters = ast_clusters(context, &count);
    o->clusters = ref_take(count + 1, sizeof *clusters);
    o->means = ref_take(count * points->dimension + 1, sizeof *o->means);
    if (count > 0) {
        memcpy(o->clusters, clusters, count * sizeof *clusters);
        memcpy(o->means, ast_means(context), count * points->dimension * sizeof *o->means);
    }
}

static void run_rank(const ast_comm *comm, void *data) {
    leg *l = data;
    size_t count = l->points->count, size = (size_t)comm->ranks, rank = (size_t)comm->rank;
    size_t first = count * rank / size, last = count * (rank + 1) / size;
    ast_points slice = *l->points;
    slice.data = (const char *)slice.data + (ptrdiff_t)first * slice.row_stride;
    slice.weights = slice.weights ? slice.weights + first : NULL;
    slice.count = last - first;
    ast_context *context;
    ast_open(&context, l->threads);
    ast_join(context, comm);
    run(l, comm->rank, context, &slice, l->result[0].labels + first);
    ast_close(context);
}

static void run_leg(leg *l) {
    l->result[0].labels = ref_take(l->points->count + 1, sizeof(int32_t));
    if (l->size > 1)
        ref_ranks_run(l->size, run_rank, l);
    else
        run(l, 0, ref_context(REF_FAST, l->threads), l->points, l->result[0].labels);
}

static void free_leg(leg *l) {
    for (int r = 0; r < MOST_RANKS; r++) {
        free(l->result[r].labels);
        free(l->result[r].clusters);
        free(l->result[r].means);
    }
}

static void compare(const outcome *a, const outcome *b, const int32_t *labels, size_t count, const char *text) {
    if (a->status != b->status)
        fail_msg("%s: status %d '%s', uninterrupted: %d '%s'", text, a->status, a->message, b->status, b->message);
    if (a->status != AST_OK)
        return;
    const ast_report *x = &a->report, *y = &b->report;
    if (x->points != y->points || x->missing != y->missing || x->clusters != y->clusters ||
        x->dimension != y->dimension || x->iterations != y->iterations || x->converged != y->converged ||
        x->objective != y->objective || x->oir_restarts != y->oir_restarts || x->merged != y->merged ||
        memcmp(&x->stability, &y->stability, sizeof x->stability) != 0 ||
        memcmp(&x->silhouette, &y->silhouette, sizeof x->silhouette) != 0)
        fail_msg("%s: %zu clusters after %d passes (%d), objective %.17g; uninterrupted: %zu, %d (%d), %.17g", text,
                 x->clusters, x->iterations, x->converged, x->objective, y->clusters, y->iterations, y->converged,
                 y->objective);
    if (memcmp(a->means, b->means, y->clusters * y->dimension * sizeof *a->means) != 0)
        fail_msg("%s: the means differ", text);
    for (size_t k = 0; k < y->clusters; k++) {
        const ast_cluster_info *c = &a->clusters[k], *d = &b->clusters[k];
        if (c->count != d->count || c->weight != d->weight || c->resultant != d->resultant ||
            memcmp(&c->kappa, &d->kappa, sizeof c->kappa) != 0)
            fail_msg("%s: cluster %zu differs", text, k);
    }
    for (size_t i = 0; i < count; i++)
        if (labels[i] != b->labels[i])
            fail_msg("%s: label %zu is %d, uninterrupted: %d", text, i, labels[i], b->labels[i]);
}

/* ---- The relay --------------------------------------------------------------------------------------------------- */

/* How the next leg is run. Shuffled points and sparse ones have one rank; OIR counts its restarts. */
static void draw_way(leg *l, ast_random *random, bool ranks) {
    l->threads = 1 + (int)ast_random_below(random, 3);
    l->size = ranks ? 1 + (int)ast_random_below(random, MOST_RANKS) : 1;
    l->options.bounds = ast_random_below(random, 4) > 0;
    if (l->size == 1 && l->options.parallel != AST_OIR && ast_random_below(random, 4) == 0)
        l->options.parallel = AST_SERIAL;
}

static void check_leg(const leg *l, int number, const char *text) {
    for (int r = 0; r < l->size; r++) {
        const outcome *o = &l->result[r];
        if (o->status == AST_OK && !l->passes[r]) /* the checkpoint was that of the last pass */
            continue;
        if (l->saved[r] != AST_OK || o->status != AST_CANCELLED)
            fail_msg("%s, leg %d: rank %d of %d: checkpoint %d, status %d '%s'", text, number, r, l->size, l->saved[r],
                     o->status, o->message);
    }
}

/* Runs it leg by leg and compares the end. */
static void check_relay(const ast_points *points, const ast_options *options, bool ranks, const char *text,
                        ast_random *random) {
    leg whole = {.points = points, .options = *options, .size = 1, .threads = 1};
    run_leg(&whole);
    ref_store stores[2];
    ref_store_open(&stores[0]);
    ref_store_open(&stores[1]);
    bool over = whole.result[0].status != AST_OK || whole.passes[0] == 0;
    for (int number = 0; !over; number++) {
        assert_true(number < MOST_LEGS);
        ast_storage before = ref_store_view(&stores[number % 2]);
        leg next = {.points = points, .options = *options, .from = number ? &before : NULL};
        next.to = &stores[(number + 1) % 2];
        next.to->size = 0;
        draw_way(&next, random, ranks);
        run_leg(&next);
        check_leg(&next, number, text);
        over = next.result[0].status == AST_OK;
        for (int r = 0; r < next.size && over; r++)
            compare(&next.result[r], &whole.result[0], next.result[0].labels, r ? 0 : points->count, text);
        if (over && number != whole.passes[0])
            fail_msg("%s: it took %d legs, for %d passes", text, number, whole.passes[0]);
        free_leg(&next);
    }
    ref_store_close(&stores[0]);
    ref_store_close(&stores[1]);
    free_leg(&whole);
}

static void check_dp(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ast_random random;
    char text[400];
    (void)ways;
    ref_case_make(&made, seed, size);
    ast_random_seed(&random, seed, 91);
    ast_options options = ref_dp_options(made.angle);
    options.axial = ast_random_below(&random, 4) == 0;
    options.dp.order = ast_random_below(&random, 5) == 0   ? AST_ORDER_RANDOM
                       : ast_random_below(&random, 5) == 0 ? AST_ORDER_CONTENT
                                                           : AST_ORDER_GIVEN;
    options.restarts = ast_random_below(&random, 5) == 0 ? 3 : 1;
    options.merge.by = ast_random_below(&random, 4) == 0 ? AST_MERGE_EVIDENCE : AST_MERGE_NONE;
    options.max_iterations = ast_random_below(&random, 4) ? 100 : 3;
    bool ranks = options.dp.order == AST_ORDER_GIVEN && options.restarts == 1 && options.merge.by == AST_MERGE_NONE;
    if (!ranks && ast_random_below(&random, 3) == 0)
        options.parallel = AST_OIR;
    if (made.means) {
        options.start.by = AST_GIVEN;
        options.start.means = made.means;
        options.start.means_count = made.means_count;
    }
    snprintf(text, sizeof text, "AST_TEST_SEED=%llu, %s: dp", (unsigned long long)seed, made.text);
    check_relay(&made.points, &options, ranks, text, &random);
    ref_case_free(&made);
}

static void check_spkm(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ast_random random;
    char text[400];
    (void)ways;
    ref_case_make(&made, seed, size);
    ast_random_seed(&random, seed, 92);
    ast_options options;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.axial = ast_random_below(&random, 4) == 0;
    options.clusters = 1 + ast_random_below(&random, 8);
    options.seed = seed;
    options.start.by = ast_random_below(&random, 3) ? AST_PLUSPLUS : AST_RANDOM;
    options.restarts = 1 + (int)ast_random_below(&random, 3);
    options.max_iterations = ast_random_below(&random, 4) ? 100 : 3;
    snprintf(text, sizeof text, "AST_TEST_SEED=%llu, %s: spkm", (unsigned long long)seed, made.text);
    check_relay(&made.points, &options, true, text, &random);
    ref_case_free(&made);
}

static void test_small_dp(void **state) {
    (void)state;
    ref_check_seeds(check_dp, REF_SMALL, 200, 1);
}

static void test_small_spkm(void **state) {
    (void)state;
    ref_check_seeds(check_spkm, REF_SMALL, 80, 1);
}

static void test_large_dp(void **state) {
    (void)state;
    ref_check_seeds(check_dp, REF_LARGE, 6, 1);
}

static void test_large_spkm(void **state) {
    (void)state;
    ref_check_seeds(check_spkm, REF_LARGE, 3, 1);
}

static void test_sparse_rows(void **state) {
    enum { N = 700, D = 30 };
    static float x[N * D];
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        ast_random random;
        ref_sparse sparse;
        ast_random_seed(&random, seed, 93);
        ref_fill_clustered(x, N, D, 12, 0.2, 0.1, seed);
        ast_points dense = ast_points_f4(x, N, D);
        ref_thin_out(&dense, 0.4, &random);
        ref_compress(&sparse, &dense, &random);
        ast_options options = ref_dp_options(65);
        check_relay(&sparse.view, &options, false, "sparse dp", &random);
        options.method = AST_SPKM;
        options.angle = NAN;
        options.clusters = 9;
        check_relay(&sparse.view, &options, false, "sparse spkm", &random);
        ref_sparse_free(&sparse);
    }
}

/* Embeddings as bytes, in both orders. */
static void test_bytes(void **state) {
    enum { N = 900, D = 24 };
    static float x[N * D];
    static int8_t rows[N][D], columns[D][N];
    (void)state;
    ast_random random;
    ast_random_seed(&random, 1, 94);
    ref_fill_clustered(x, N, D, 9, 0.2, 0.1, 8);
    for (size_t i = 0; i < N * D; i++)
        rows[i / D][i % D] = columns[i % D][i / D] = (int8_t)(100 * x[i]);
    ast_points points = {.size = sizeof points,
                         .data = rows,
                         .type = AST_I1,
                         .count = N,
                         .dimension = D,
                         .row_stride = D,
                         .column_stride = 1};
    ast_options options = ref_dp_options(60);
    check_relay(&points, &options, true, "bytes", &random);
    points = (ast_points){.size = sizeof(ast_points),
                          .data = columns,
                          .type = AST_I1,
                          .count = N,
                          .dimension = D,
                          .row_stride = 1,
                          .column_stride = N};
    check_relay(&points, &options, true, "bytes in columns", &random);
}

/* A run that its limit stopped goes on under a higher one, and not under a lower one. */
static void test_the_limit_can_rise(void **state) {
    enum { N = 2000 };
    static float x[3 * N];
    (void)state;
    ref_fill_clustered(x, N, 3, 6, 0.4, 0.1, 5);
    ast_points points = ast_points_f4(x, N, 3);
    ref_store store;
    ref_store_open(&store);
    leg first = {.points = &points, .options = ref_dp_options(40), .to = &store, .size = 2, .threads = 1};
    first.options.max_iterations = 1;
    run_leg(&first);
    ast_storage view = ref_store_view(&store);
    leg rest = {.points = &points, .options = ref_dp_options(40), .from = &view, .size = 3, .threads = 1};
    leg whole = {.points = &points, .options = ref_dp_options(40), .size = 1, .threads = 1};
    run_leg(&rest);
    run_leg(&whole);
    compare(&rest.result[2], &whole.result[0], rest.result[0].labels, N, "under a higher limit");
    assert_true(whole.result[0].report.iterations > 2);
    assert_int_equal(rest.passes[0], whole.passes[0] - 1);
    free_leg(&first);
    free_leg(&rest);
    free_leg(&whole);
    ref_store_close(&store);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_dp),          cmocka_unit_test(test_small_spkm),
                                       cmocka_unit_test(test_large_dp),          cmocka_unit_test(test_large_spkm),
                                       cmocka_unit_test(test_sparse_rows),       cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_the_limit_can_rise)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
