/* SPDX-License-Identifier: MIT
 *
 * The promise of the header: the same input and options give the same labels on any number of threads, with any
 * instruction set, in every parallel mode, with bounds or without, from C or Fortran order. One hash a set, over all of
 * them; where the reference is fast enough, its hash too. */
#include "reference/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct set {
    const char *name;
    float *x; /* (N, D) */
    size_t count, dimension;
    ast_options options;
    int slow_oir; /* restarts and one by one are too slow to be run in every way */
} set;

static void set_open(set *s, const char *name, size_t count, size_t dimension, double angle) {
    memset(s, 0, sizeof *s);
    s->name = name;
    s->count = count;
    s->dimension = dimension;
    s->x = ref_take(count * dimension, sizeof *s->x);
    ast_options_init(&s->options);
    s->options.angle = angle;
}

/* Two numbers stand for a result: the hash of its labels and the bits of its means. */
typedef struct fingerprint {
    uint64_t labels, means;
    size_t clusters;
    int iterations;
} fingerprint;

static fingerprint run(const set *s, const ast_points *points, const ref_setup *setup) {
    fingerprint print;
    ast_report report = {.size = sizeof report};
    ast_options options = s->options;
    ast_context *context = ref_context(setup->isa, setup->threads);
    int32_t *labels = ref_take(s->count, sizeof *labels);
    options.parallel = setup->parallel;
    options.bounds = setup->bounds;
    ast_status status = ast_cluster(context, points, &options, labels, &report);
    if (status != AST_OK)
        fail_msg("%s, %s: status %d, %s", s->name, ref_setup_text(setup), status, ast_message(context));
    print.labels = ref_hash(labels, s->count);
    print.means = ref_hash((const int32_t *)ast_means(context), report.clusters * s->dimension);
    print.clusters = report.clusters;
    print.iterations = report.iterations;
    free(labels);
    return print;
}

static void check_same(const set *s, const char *way, const fingerprint *got, const fingerprint *expected) {
    if (got->labels != expected->labels || got->means != expected->means || got->iterations != expected->iterations)
        fail_msg("%s, %s: %zu clusters, %d passes, labels %016llx, means %016llx; "
                 "should be %zu clusters, %d passes, labels %016llx, means %016llx",
                 s->name, way, got->clusters, got->iterations, (unsigned long long)got->labels,
                 (unsigned long long)got->means, expected->clusters, expected->iterations,
                 (unsigned long long)expected->labels, (unsigned long long)expected->means);
}

static float *fortran_order(const set *s) {
    float *y = ref_take(s->count * s->dimension, sizeof *y);
    for (size_t i = 0; i < s->count; i++)
        for (size_t d = 0; d < s->dimension; d++)
            y[d * s->count + i] = s->x[i * s->dimension + d];
    return y;
}

/* Every way against the first; returns what the first one gave. */
static fingerprint check_one_hash(const set *s) {
    ref_setup setup = {REF_FAST, 2, AST_ORDERED, 1};
    ast_points points = ast_points_f4(s->x, s->count, s->dimension);
    fingerprint expected = run(s, &points, &setup);
    for (size_t number = 0; number < REF_SETUPS; number++) {
        setup = ref_setup_number(number);
        int usual = setup.threads == 3 && setup.bounds && strcmp(setup.isa, REF_FAST) == 0;
        if (!ref_has(setup.isa))
            continue;
        if (setup.parallel != AST_ORDERED && s->slow_oir && !usual)
            continue;
        if (setup.parallel == AST_SERIAL && setup.threads != 1 && !usual)
            continue; /* threads do nothing there */
        fingerprint got = run(s, &points, &setup);
        check_same(s, ref_setup_text(&setup), &got, &expected);
    }
    float *y = fortran_order(s);
    points = ast_points_f4(y, s->count, s->dimension);
    points.row_stride = sizeof *y;
    points.column_stride = (ptrdiff_t)(s->count * sizeof *y);
    for (int threads = 1; threads <= 3; threads++) {
        setup = (ref_setup){threads == 2 ? "base" : REF_FAST, threads, AST_ORDERED, 1};
        fingerprint got = run(s, &points, &setup);
        check_same(s, "Fortran order", &got, &expected);
    }
    free(y);
    return expected;
}

static void check_reference(const set *s, const fingerprint *got) {
    ref_points points;
    ref_result result;
    fingerprint expected;
    ast_points view = ast_points_f4(s->x, s->count, s->dimension);
    ref_points_read(&points, &view);
    if (s->options.method == AST_SPKM)
        ref_spkm(&result, &points, s->options.start.means, s->options.start.means_count, s->options.max_iterations);
    else
        ref_dp(&result, &points, s->options.angle, s->options.max_iterations, s->options.start.means,
               s->options.start.means_count);
    expected.labels = ref_hash(result.labels, s->count);
    expected.means = ref_hash((const int32_t *)result.means, result.clusters * s->dimension);
    expected.clusters = result.clusters;
    expected.iterations = result.iterations;
    check_same(s, "against the reference", got, &expected);
    ref_result_free(&result);
    ref_points_free(&points);
}

/* ---- The sets -------------------------------------------------------------------------------------------------- */

static void thirty_directions(void **state) {
    (void)state;
    set s;
    set_open(&s, "30 directions", ref_scaled(200000), 3, 25);
    ref_fill_clustered(s.x, s.count, 3, 30, 0.05, 0, 1); /* spread 1 / sqrt(kappa), kappa 400 */
    fingerprint got = check_one_hash(&s);
    check_reference(&s, &got);
    free(s.x);
}

/* Walls in image order with a third of noise: whole blocks that bounds can skip, and some that they never can. */
static void noisy_image(void **state) {
    (void)state;
    set s;
    set_open(&s, "noisy image", ref_scaled(160 * 120), 3, 20);
    s.options.max_iterations = 50;
    ref_fill_image(s.x, s.count / 160, 160, 0.35, 3);
    fingerprint got = check_one_hash(&s);
    check_reference(&s, &got);
    free(s.x);
}

/* From 500 points as means and a small angle: hundreds of clusters are born and die, in most of the passes. */
static void births_and_deaths(void **state) {
    (void)state;
    set s;
    set_open(&s, "births and deaths", 24 * 120, 3, 10);
    s.slow_oir = 1;
    ref_fill_image(s.x, 24, 120, 0.35, 3);
    s.options.start.by = AST_GIVEN;
    s.options.start.means = s.x + 3;
    s.options.start.means_count = 500;
    fingerprint got = check_one_hash(&s);
    check_reference(&s, &got);
    free(s.x);
}

/* Embeddings: 300 dimensions, cosine to the own direction about 0.5, that is noise of length sqrt(3). */
static void many_dimensions(void **state) {
    (void)state;
    set s;
    set_open(&s, "300 dimensions", ref_scaled(10000), 300, 83);
    s.slow_oir = 1;
    s.options.max_iterations = 5;
    ref_fill_clustered(s.x, s.count, 300, 200, 0.1, 0, 1);
    check_one_hash(&s);
    free(s.x);
}

/* The same, small enough for the reference and for every mode. */
static void many_dimensions_cut(void **state) {
    (void)state;
    set s;
    set_open(&s, "300 dimensions, cut", ref_scaled(900), 300, 83);
    s.options.max_iterations = 8;
    ref_fill_clustered(s.x, s.count, 300, 40, 0.1, 0.05, 2);
    fingerprint got = check_one_hash(&s);
    check_reference(&s, &got);
    free(s.x);
}

static void spherical_k_means(void **state) {
    (void)state;
    set s;
    set_open(&s, "spherical k-means", ref_scaled(30000), 3, NAN);
    ref_fill_clustered(s.x, s.count, 3, 30, 0.15, 0.1, 5);
    s.options.method = AST_SPKM;
    s.options.start.by = AST_GIVEN;
    s.options.start.means = s.x; /* the first 24 points */
    s.options.start.means_count = 24;
    s.options.max_iterations = 25;
    fingerprint got = check_one_hash(&s);
    check_reference(&s, &got);
    free(s.x);
}

static void spherical_k_means_plusplus(void **state) {
    (void)state;
    set s;
    set_open(&s, "k-means++ in 60 dimensions", ref_scaled(4000), 60, NAN);
    ref_fill_clustered(s.x, s.count, 60, 30, 0.15, 0.1, 5);
    s.options.method = AST_SPKM;
    s.options.clusters = 40;
    s.options.max_iterations = 10;
    s.options.restarts = 2;
    check_one_hash(&s);
    free(s.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thirty_directions),          cmocka_unit_test(noisy_image),
        cmocka_unit_test(births_and_deaths),          cmocka_unit_test(many_dimensions),
        cmocka_unit_test(many_dimensions_cut),        cmocka_unit_test(spherical_k_means),
        cmocka_unit_test(spherical_k_means_plusplus),
    };
    return cmocka_run_group_tests_name("one hash", tests, NULL, ref_contexts_end);
}
