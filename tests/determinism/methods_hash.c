/* SPDX-License-Identifier: MIT
 *
 * Mixtures, samplers, online k-means and DP-means: the same bits on any number of threads and with any instruction set,
 * labels, means, kappas and objective alike. */
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct outcome {
    uint64_t labels, means, memberships;
    double objective, kappa;
    size_t clusters;
} outcome;

static outcome run(const ast_points *points, const ast_options *options, const char *isa, int threads) {
    outcome o = {0};
    size_t clusters;
    ast_report report = {.size = sizeof report};
    ast_context *context = ref_context(isa, threads);
    int32_t *labels = ref_take(points->count, sizeof *labels);
    ast_status status = ast_cluster(context, points, options, labels, &report);
    if (status != AST_OK)
        fail_msg("method %d: %s", options->method, ast_message(context));
    o.labels = ref_hash(labels, points->count);
    o.means = ref_hash((const int32_t *)ast_means(context), report.clusters * points->dimension);
    o.objective = report.objective;
    o.clusters = report.clusters;
    const ast_cluster_info *info = ast_clusters(context, &clusters);
    for (size_t k = 0; k < clusters; k++)
        o.kappa += isnan(info[k].kappa) ? 0 : info[k].kappa;
    if (!isnan(info[0].share)) {
        float *memberships = ref_take(points->count * clusters, sizeof *memberships);
        assert_int_equal(ast_memberships(context, points, memberships, NULL), AST_OK);
        o.memberships = ref_hash((const int32_t *)memberships, points->count * clusters);
        free(memberships);
    }
    free(labels);
    return o;
}

static void check(const ast_points *points, const ast_options *options) {
    outcome expected = run(points, options, REF_FAST, 2);
    for (int way = 0; way < 6; way++) {
        const char *isa = way % 2 ? REF_FAST : "base";
        int threads = way < 2 ? 1 : way < 4 ? 3 : 8;
        if (!ref_has(isa))
            continue;
        outcome got = run(points, options, isa, threads);
        if (memcmp(&got, &expected, sizeof got) != 0)
            fail_msg("method %d in %zu dimensions, %s, %d threads: %zu clusters, objective %.17g, kappas %.17g; should "
                     "be %zu, %.17g, %.17g",
                     options->method, points->dimension, isa, threads, got.clusters, got.objective, got.kappa,
                     expected.clusters, expected.objective, expected.kappa);
    }
}

static void one_hash_for_every_method(void **state) {
    (void)state;
    for (int method = AST_MOVMF; method <= AST_MBSPKM; method++)
        for (size_t dimension = 3; dimension <= 40; dimension += 37) {
            size_t count = ref_scaled(dimension == 3 ? 9000 : 1500);
            float *x = ref_take(count * dimension, sizeof *x);
            double *weights = ref_take(count, sizeof *weights);
            ref_fill_clustered(x, count, dimension, 12, dimension == 3 ? 0.1 : 0.15, 0.1, 7);
            for (size_t i = 0; i < count; i++) {
                weights[i] = 1 + (double)(i % 4);
                x[i * dimension] = i % 50 == 0 ? NAN : x[i * dimension];
            }
            ast_points points = ast_points_f4(x, count, dimension);
            ast_options options;
            ast_options_init(&options);
            options.method = (ast_method)method;
            options.max_iterations = 12;
            options.angle = method == AST_DPMEANS ? 40 : NAN;
            options.clusters = method == AST_DPMEANS ? 0 : 15;
            options.restarts = 2;
            options.mixture.tolerance = 0;
            check(&points, &options);
            options.mixture.hard = 1;
            points.weights = method == AST_FSD || method == AST_CRP ? NULL : weights;
            check(&points, &options);
            free(x);
            free(weights);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_hash_for_every_method)};
    return cmocka_run_group_tests_name("methods hash", tests, NULL, ref_contexts_end);
}
