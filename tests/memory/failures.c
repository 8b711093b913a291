/* SPDX-License-Identifier: MIT
 *
 * Opening a context and clustering without enough memory: every method, dense and sparse rows, checkpoints. */
#include "failing.h"

#include "reference/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stopped in the first pass of the last restart, and taken up again. */
typedef struct pause {
    ast_context *context;
    const scene *s;
    ast_status saved;
    size_t size;
    unsigned char bytes[1 << 18];
} pause_state;

static int put_bytes(uint64_t offset, const void *bytes, size_t size, void *data) {
    pause_state *p = data;
    assert_true(offset + size <= sizeof p->bytes);
    memcpy(p->bytes + offset, bytes, size);
    p->size = offset + size;
    return 0;
}

static int get_bytes(uint64_t offset, void *bytes, size_t size, void *data) {
    memcpy(bytes, ((const pause_state *)data)->bytes + offset, size);
    return 0;
}

static int stop_here(const ast_progress *state, void *data) {
    pause_state *p = data;
    if (state->iteration == 0 || state->restart + 1 < p->s->options.restarts)
        return 0;
    ast_storage store = {.size = sizeof store, .write = put_bytes, .data = p};
    p->saved = ast_checkpoint(p->context, &store);
    return 1;
}

static ast_status call_resumed(ast_context *context, const scene *s, int32_t *out) {
    static pause_state p;
    scene twin = *s;
    p.context = context;
    p.s = s;
    p.saved = AST_OK;
    twin.options.progress = stop_here;
    twin.options.progress_data = &p;
    ast_status status = call_cluster(context, &twin, out);
    if (status != AST_CANCELLED || p.saved != AST_OK)
        return status == AST_CANCELLED ? p.saved : status;
    ast_storage store = {.size = sizeof store, .bytes = p.size, .read = get_bytes, .data = &p};
    twin.options = s->options;
    twin.options.resume = &store;
    return call_cluster(context, &twin, out);
}

static ast_status call_memberships(ast_context *context, const scene *s, int32_t *out) {
    static float memberships[N * 15];
    scene twin = *s;
    int32_t labels[N];
    ast_status status = call_cluster(context, &twin, labels);
    memberships[0] = 77;
    if (status == AST_OK)
        status = ast_memberships(context, &s->points, memberships, NULL);
    if (status == AST_OK)
        memcpy(out, memberships, N * sizeof *out);
    else
        assert_true(memberships[0] == 77);
    return status;
}

/* Centred rows, their representatives, and rows that are centred alike. */
static ast_status call_centred(ast_context *context, const scene *s, int32_t *out) {
    static float center[40], means[N * 40];
    int32_t labels[N];
    size_t dimension = s->dimension;
    ast_options options = s->options;
    options.center = 1;
    options.representatives = 3;
    ast_report report = {.size = sizeof report};
    ast_status status = ast_cluster(context, &s->points, &options, labels, &report);
    if (status != AST_OK)
        return status;
    memcpy(center, report.center, dimension * sizeof *center);
    memcpy(means, ast_means(context), report.clusters * dimension * sizeof *means);
    ast_assign_options known = ast_assign_to(means, report.clusters);
    known.center = center;
    return ast_assign(context, &s->points, &known, out, NULL);
}

static ast_status call_small_cluster(ast_context *context, const scene *s, int32_t *labels) {
    scene small = *s;
    small.points.count = 50;
    return call_cluster(context, &small, labels);
}

static void open_fails_cleanly(void **state) {
    (void)state;
    long n = 1;
    int none_started = 0;
    for (int failed = 1; failed && n < MOST; n++) {
        long blocks_before = atomic_load(&ast_test_blocks);
        atomic_store(&ast_test_countdown, n);
        ast_context *context = (ast_context *)&n;
        ast_status status = ast_open(&context, 4);
        failed = atomic_exchange(&ast_test_countdown, 0) <= 0;
        if ((status == AST_OK) != (context != NULL) || (failed && status != AST_NO_MEMORY && status != AST_NO_THREADS))
            fail_msg("ast_open gives status %d when allocation or thread %ld failed", status, n);
        none_started |= status == AST_NO_THREADS;
        if (failed && context)
            fail_msg("ast_open works although its allocation or thread %ld failed", n);
        if (!failed && !context)
            fail_msg("ast_open fails although nothing else did");
        ast_close(context);
        if (atomic_load(&ast_test_blocks) != blocks_before)
            fail_msg("ast_open lost %ld blocks when allocation or thread %ld failed",
                     atomic_load(&ast_test_blocks) - blocks_before, n);
    }
    assert_true(none_started);
    assert_true(n > 5); /* memory and three threads at least: otherwise nothing was tested */
}

static void clustering_fails_cleanly(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t dimension;
        int threads;
        ast_parallel parallel;
        int bounds;
    } ways[] = {{"dp, 3 dimensions", 3, 2, AST_ORDERED, 1}, {"dp, 40 dimensions", 40, 2, AST_ORDERED, 1},
                {"dp, no bounds", 3, 1, AST_ORDERED, 0},    {"dp, oir", 3, 3, AST_OIR, 1},
                {"dp, serial", 5, 1, AST_SERIAL, 1},        {"dp, 40 dimensions, oir", 40, 2, AST_OIR, 0}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        scene s;
        scene_open(&s, ways[w].name, ways[w].dimension, ways[w].threads, ways[w].dimension == 40 ? 60 : 25);
        s.options.parallel = ways[w].parallel;
        s.options.bounds = ways[w].bounds;
        fail_all(&s, call_cluster, NULL);
        if (w < 2)
            fail_all(&s, call_cluster, call_small_cluster); /* memory that is there and has to grow */
        if (w == 1)
            fail_all(&s, call_centred, NULL);
        scene_close(&s);
    }
}

static void awkward_input_fails_cleanly(void **state) {
    (void)state;
    scene s;
    scene_open(&s, "dp, weights, missing rows, means, restarts", 3, 2, 25);
    s.weights = ref_take(N, sizeof *s.weights);
    for (int i = 0; i < N; i++)
        s.weights[i] = i % 4;
    for (int i = 0; i < N; i += 100)
        s.x[i * 3] = NAN;
    s.points.weights = s.weights;
    s.options.dp.order = AST_ORDER_CONTENT;
    s.options.restarts = 2;
    s.options.start.by = AST_GIVEN;
    s.options.start.means = s.x + 3;
    s.options.start.means_count = 5;
    fail_all(&s, call_cluster, NULL);
    s.name = "dp, a sample, weights, missing rows";
    s.options.restarts = 1;
    s.options.dp.sample = 300;
    fail_all(&s, call_cluster, NULL);
    scene_close(&s);
}

static void k_means_fails_cleanly(void **state) {
    (void)state;
    for (int start = AST_PLUSPLUS; start <= AST_GIVEN; start++) {
        scene s;
        scene_open(&s, "spkm", start == AST_GIVEN ? 20 : 3, 2, 25);
        s.options.method = AST_SPKM;
        s.options.clusters = 15;
        s.options.start.by = (ast_start)start;
        s.options.start.means = start == AST_GIVEN ? s.x : NULL;
        s.options.start.means_count = start == AST_GIVEN ? 15 : 0;
        s.options.restarts = start == AST_RANDOM ? 3 : 1;
        fail_all(&s, call_cluster, NULL);
        scene_close(&s);
    }
}

static void checkpoints_fail_cleanly(void **state) {
    (void)state;
    scene s;
    scene_open(&s, "dp, resumed", 3, 2, 25);
    fail_all(&s, call_resumed, NULL);
    scene_close(&s);
    scene_open(&s, "spkm, resumed in its second run", 20, 1, 25);
    s.options.method = AST_SPKM;
    s.options.clusters = 15;
    s.options.restarts = 2;
    fail_all(&s, call_resumed, NULL);
    scene_close(&s);
}

/* Sparse rows, with indices of 64 bits, which are copied. */
static void sparse_rows_fail_cleanly(void **state) {
    (void)state;
    for (int method = AST_DP; method <= AST_SPKM; method++) {
        scene s;
        ast_random random;
        ref_sparse sparse;
        scene_open(&s, method == AST_DP ? "sparse dp" : "sparse spkm", 40, 2, 70);
        ast_random_seed(&random, 4, 4);
        ref_thin_out(&s.points, 0.3, &random);
        do
            ref_compress(&sparse, &s.points, &random);
        while (sparse.view.index != AST_I8 && (ref_sparse_free(&sparse), 1));
        s.points = sparse.view;
        s.options.method = (ast_method)method;
        s.options.clusters = method == AST_SPKM ? 15 : 0;
        fail_all(&s, call_cluster, NULL);
        s.options.dp.sample = method == AST_DP ? 200 : 0;
        s.options.method = method == AST_DP ? AST_DP : AST_MBSPKM;
        s.options.max_iterations = 3;
        fail_all(&s, call_cluster, NULL);
        s.options.dp.sample = 0;
        s.options.max_iterations = 100;
        if (method == AST_DP) {
            fail_all(&s, call_cluster, call_small_cluster);
            scene_expect(&s);
            fail_all(&s, call_assign, NULL);
            fail_all(&s, call_silhouette, NULL);
        }
        ref_sparse_free(&sparse);
        scene_close(&s);
    }
}

static void mixtures_and_samplers_fail_cleanly(void **state) {
    (void)state;
    static const float prior[20] = {1};
    for (int method = AST_MOVMF; method <= AST_MBSPKM; method++)
        for (size_t dimension = 3; dimension <= 20; dimension += 17) {
            scene s;
            scene_open(&s, "mixtures and samplers", dimension, 2, method == AST_DPMEANS ? 30 : NAN);
            s.options.method = (ast_method)method;
            s.options.clusters = method == AST_DPMEANS ? 0 : method == AST_CRP ? 1 : 15;
            s.options.max_iterations = 3;
            s.options.sampler.concentration = 50; /* clusters are born: arrays grow */
            s.options.sampler.prior_kappa = 1;
            s.options.sampler.prior_mean = prior;
            fail_all(&s, call_small_cluster, NULL); /* many allocations: few points are enough */
            if (method == AST_MOVMF && dimension == 3)
                fail_all(&s, call_memberships, NULL);
            s.options.mixture.auto_clusters = s.options.mixture.background = method == AST_MOVMF && dimension == 3;
            if (s.options.mixture.auto_clusters)
                fail_all(&s, call_small_cluster, NULL);
            scene_close(&s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(open_fails_cleanly), cmocka_unit_test(clustering_fails_cleanly),
                                       cmocka_unit_test(awkward_input_fails_cleanly),
                                       cmocka_unit_test(k_means_fails_cleanly),
                                       cmocka_unit_test(checkpoints_fail_cleanly)};
    const struct CMUnitTest without_cells[] = {cmocka_unit_test(sparse_rows_fail_cleanly),
                                               cmocka_unit_test(mixtures_and_samplers_fail_cleanly)};
    int failed = cmocka_run_group_tests_name("memory failures", tests, NULL, NULL);
    if (getenv("ASTERISM_CELLS")) /* which neither sparse rows nor mixtures use */
        return failed;
    return failed + cmocka_run_group_tests_name("memory failures without cells", without_cells, NULL, NULL);
}
