/* SPDX-License-Identifier: MIT */
#include "failing.h"

#include <stdlib.h>
#include <string.h>

ast_status call_cluster(ast_context *context, const scene *s, int32_t *out) {
    ast_report report = {.size = sizeof report}, before = {.size = sizeof before};
    memset(&report, 0x5a, sizeof report);
    report.size = sizeof report;
    memcpy(&before, &report, sizeof report);
    ast_status status = ast_cluster(context, &s->points, &s->options, out, &report);
    if (status != AST_OK)
        assert_memory_equal(&report, &before, sizeof report);
    return status;
}

ast_status call_assign(ast_context *context, const scene *s, int32_t *out) {
    static float similarity[N];
    similarity[0] = 77;
    ast_assign_options known = ast_assign_to(s->x, 40);
    known.angle = 30;
    ast_status status = ast_assign(context, &s->points, &known, out, similarity);
    if (status != AST_OK)
        assert_true(similarity[0] == 77);
    return status;
}

ast_status call_silhouette(ast_context *context, const scene *s, int32_t *out) {
    double silhouette = 77;
    size_t sampled = 77;
    ast_dissimilarity kind = s->dimension == 3 ? AST_ANGLE : AST_COSINE;
    ast_status status = ast_silhouette(context, &s->points, s->expected, kind, 1, &silhouette, &sampled);
    if (status != AST_OK)
        assert_true(silhouette == 77 && sampled == 77);
    else
        memcpy(out, &silhouette, sizeof silhouette);
    return status;
}

static int32_t good[N], out[N];

/* Whatever a failed call left as "the last result" must be readable. */
static void read_clusters(const ast_context *context, size_t dimension) {
    size_t count = 0;
    const ast_cluster_info *info = ast_clusters(context, &count);
    volatile float sum = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t d = 0; d < dimension; d++)
            sum += info[k].mean[d];
}

/* Lets the n-th allocation of the call fail, in a context that has done `before` (or nothing). Returns 0 once the call
 * has fewer allocations than n. */
static int fail_nth(const scene *s, call *tested, call *before, long n) {
    long blocks_before = atomic_load(&ast_test_blocks);
    ast_context *context;
    ast_open(&context, s->threads);
    assert_non_null(context);
    if (before)
        assert_int_equal(before(context, s, out), AST_OK);
    memset(out, 0x5a, sizeof out);
    atomic_store(&ast_test_countdown, n);
    ast_status status = tested(context, s, out);
    int reached = atomic_exchange(&ast_test_countdown, 0) <= 0;
    if (reached && status != AST_OK) {
        if (status != AST_NO_MEMORY || strlen(ast_message(context)) == 0)
            fail_msg("%s: allocation %ld failed: status %d, \"%s\"", s->name, n, status, ast_message(context));
        for (size_t i = 0; i < N; i++)
            if (out[i] != 0x5a5a5a5a)
                fail_msg("%s: allocation %ld failed, but result %zu was written", s->name, n, i);
        read_clusters(context, s->dimension);
        status = tested(context, s, out); /* the context works on */
    }
    if (status != AST_OK || memcmp(out, good, sizeof out) != 0)
        fail_msg("%s: after allocation %ld failed: status %d, %s result", s->name, n, status,
                 memcmp(out, good, sizeof out) ? "another" : "the same");
    ast_close(context);
    if (atomic_load(&ast_test_blocks) != blocks_before)
        fail_msg("%s: allocation %ld failed: %ld blocks are lost", s->name, n,
                 atomic_load(&ast_test_blocks) - blocks_before);
    return reached;
}

void fail_all(const scene *s, call *tested, call *before) {
    ast_context *context;
    ast_open(&context, s->threads);
    assert_non_null(context);
    memset(good, 0x5a, sizeof good);
    assert_int_equal(tested(context, s, good), AST_OK);
    ast_close(context);
    long n = 1, step = STEP * (long)ref_share();
    while (n < MOST && fail_nth(s, tested, before, n))
        n += n < 200 ? step : 7 * step; /* later allocations are mostly those of steps that repeat */
    assert_true(n < MOST);
}

void scene_open(scene *s, const char *name, size_t dimension, int threads, double angle) {
    memset(s, 0, sizeof *s);
    s->name = name;
    s->dimension = dimension;
    s->threads = threads;
    s->x = ref_take(N * dimension, sizeof *s->x);
    ref_fill_clustered(s->x, N, dimension, 12, 0.1, 0.1, 3);
    s->points = ast_points_f4(s->x, N, dimension);
    ast_options_init(&s->options);
    s->options.angle = angle;
}

void scene_expect(scene *s) {
    ast_report report = {.size = sizeof report};
    ast_context *context;
    ast_open(&context, 1);
    assert_non_null(context);
    assert_int_equal(ast_cluster(context, &s->points, &s->options, s->expected, &report), AST_OK);
    assert_true(report.clusters >= 2);
    ast_close(context);
}

void scene_close(scene *s) {
    free(s->x);
    free(s->weights);
}
