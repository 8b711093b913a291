/* SPDX-License-Identifier: MIT
 *
 * Very many clusters in three dimensions: labels by cells against the reference, on what is hard for cells. Every set
 * is run with cells from the first cluster on, and by their own choice around the number from which they are used.
 * AST_TEST_LONG=1 adds 100,000 points against 100,000 means. */
#include "reference/harness.h"

#include "cells.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Directions that are hard for cells ------------------------------------------------------------------------- */

enum { ANYWHERE, TWICE, ONE_CELL, ONE_FLOAT, OPPOSITE, EDGES, CIRCLE, LATTICE, KINDS };

static const char *const kind_names[KINDS] = {"anywhere",  "each three times", "in one cell",       "some floats apart",
                                              "opposites", "on cells' edges",  "on a great circle", "on a lattice"};

/* On the edges of cells of any level, corners of the cube and middles of its faces among them. */
static void draw_edge(ast_random *random, double *x) {
    size_t axis = (size_t)ast_random_below(random, 3);
    double parts = ldexp(1, (int)ast_random_below(random, 13));
    for (size_t d = 0; d < 3; d++)
        x[d] = 2 * floor(ast_random_uniform(random) * (parts + 1)) / parts - 1;
    x[axis] = ast_random_below(random, 2) ? 1 : -1;
}

/* Many of these are at the same distance from two others, to the bit: who comes first decides. */
static void draw_lattice(ast_random *random, double *x) {
    for (size_t d = 0; d < 3; d++)
        x[d] = floor(9 * ast_random_uniform(random)) - 4;
    x[0] += x[0] == 0 && x[1] == 0 && x[2] == 0;
}

static void draw_near(ast_random *random, double spread, double *x) {
    static const double centre[3] = {0.48, -0.6, 0.64};
    for (size_t d = 0; d < 3; d++)
        x[d] = centre[d] + spread * (2 * ast_random_uniform(random) - 1);
}

static void draw(ast_random *random, int kind, const float *earlier, size_t k, double *x) {
    ref_random_direction(random, x, 3);
    if (kind == ONE_CELL)
        draw_near(random, 1e-4, x);
    else if (kind == ONE_FLOAT)
        draw_near(random, 3e-7, x);
    else if (kind == EDGES)
        draw_edge(random, x);
    else if (kind == LATTICE)
        draw_lattice(random, x);
    else if (kind == CIRCLE)
        x[2] = 0;
    else if ((kind == TWICE && k % 3) || (kind == OPPOSITE && k % 2))
        for (size_t d = 0; d < 3; d++)
            x[d] = (kind == TWICE ? 1 : -1) * (double)earlier[3 * (k - 1) + d];
    ref_make_unit(x, 3);
}

static float *make_directions(ast_random *random, int kind, size_t count) {
    float *rows = ref_take(count + 1, 3 * sizeof *rows);
    for (size_t k = 0; k < count; k++) {
        double x[3];
        draw(random, kind, rows, k, x);
        for (size_t d = 0; d < 3; d++)
            rows[3 * k + d] = (float)x[d];
    }
    return rows;
}

/* Some points stand on a mean, some between two, where exact scores are equal or nearly so, and some are missing. */
static void touch_means(ast_random *random, float *rows, size_t count, const float *means, size_t clusters) {
    for (size_t i = 0; i < count; i++) {
        const float *a = means + 3 * ast_random_below(random, clusters);
        const float *b = means + 3 * ast_random_below(random, clusters);
        uint64_t what = ast_random_below(random, 12);
        for (size_t d = 0; d < 3 && what < 4; d++)
            rows[3 * i + d] = what == 0 ? a[d] : what == 1 ? -a[d] : what == 2 ? a[d] + b[d] : NAN;
    }
}

/* ---- One case --------------------------------------------------------------------------------------------------- */

typedef struct trial {
    ref_case made;
    ref_points points;
    float *means;
    size_t clusters;
} trial;

static void trial_open(trial *t, uint64_t seed, size_t count, size_t clusters) {
    ast_random random;
    ast_random_seed(&random, seed, 7);
    int of_points = (int)ast_random_below(&random, KINDS), of_means = (int)ast_random_below(&random, KINDS);
    of_means = of_points == LATTICE ? LATTICE : of_means;
    memset(t, 0, sizeof *t);
    t->clusters = clusters;
    t->means = make_directions(&random, of_means, clusters);
    float *rows = t->made.data = make_directions(&random, of_points, count);
    touch_means(&random, rows, count, t->means, clusters);
    t->made.seed = seed;
    t->made.points = ast_points_f4(rows, count, 3);
    t->made.angle = ast_random_below(&random, 2) ? 40 * pow(ast_random_uniform(&random), 3) : 1;
    if (ast_random_below(&random, 3) == 0) {
        t->made.weights = ref_take(count, sizeof *t->made.weights);
        for (size_t i = 0; i < count; i++)
            t->made.weights[i] = (double)ast_random_below(&random, 4) + (i == 0);
        t->made.points.weights = t->made.weights;
    }
    snprintf(t->made.text, sizeof t->made.text, "%zu points %s, %zu means %s, %g degrees%s", count,
             kind_names[of_points], clusters, kind_names[of_means], t->made.angle, t->made.weights ? ", weighted" : "");
    ref_points_read(&t->points, &t->made.points);
}

static void trial_close(trial *t) {
    ref_points_free(&t->points);
    ref_case_free(&t->made);
    free(t->means);
}

static void check_assign(const trial *t, double angle, const ref_setup *setup) {
    size_t count = t->points.count;
    int32_t *labels = ref_take(count + 1, sizeof *labels), *right = ref_take(count + 1, sizeof *right);
    float *similarity = ref_take(count + 1, sizeof *similarity), *exact = ref_take(count + 1, sizeof *exact);
    ast_context *context = ref_context(setup->isa, setup->threads);
    ref_assign(&t->points, t->means, t->clusters, angle, right, exact);
    ast_assign_options known = ast_assign_to(t->means, t->clusters);
    known.angle = angle;
    assert_int_equal(ast_assign(context, &t->made.points, &known, labels, similarity), AST_OK);
    for (size_t i = 0; i < count; i++)
        if (labels[i] != right[i] || memcmp(&similarity[i], &exact[i], sizeof *exact) != 0)
            if (labels[i] != right[i] || !isnan(exact[i]) || !isnan(similarity[i]))
                fail_msg("seed %llu (%s), angle %g, %s: point %zu has label %d, similarity %.9g, not %d, %.9g",
                         (unsigned long long)t->made.seed, t->made.text, angle, ref_setup_text(setup), i, labels[i],
                         (double)similarity[i], right[i], (double)exact[i]);
    free(labels);
    free(right);
    free(similarity);
    free(exact);
}

static ast_options given(const trial *t, ast_method method) {
    ast_options options = ref_dp_options(t->made.angle);
    options.method = method;
    options.start.by = AST_GIVEN;
    options.start.means = t->means;
    options.start.means_count = t->clusters;
    options.max_iterations = 6;
    return options;
}

static void check_dp(const trial *t, bool warm, const ref_setup *setup) {
    ref_result expected;
    ast_options options = given(t, AST_DP);
    if (!warm) {
        options.start.by = AST_PLUSPLUS;
        options.start.means = NULL;
        options.start.means_count = 0;
    }
    ref_dp(&expected, &t->points, t->made.angle, 6, warm ? t->means : NULL, warm ? t->clusters : 0);
    ref_check_run(&t->made, &t->points, &expected, &options, setup);
    ref_result_free(&expected);
}

static void check_spkm(const trial *t, const ref_setup *setup) {
    ref_result expected;
    ast_options options = given(t, AST_SPKM);
    if (t->points.used < t->clusters)
        return;
    ref_spkm(&expected, &t->points, t->means, t->clusters, 6);
    ref_check_run(&t->made, &t->points, &expected, &options, setup);
    ref_result_free(&expected);
}

/* Without bounds every point is compared with every start: the draws by cells are the same. */
static void check_starts(const trial *t, const ref_setup *setup) {
    size_t count = t->points.count;
    int32_t *labels = ref_take(2 * count + 1, sizeof *labels);
    ast_context *context = ref_context(setup->isa, setup->threads);
    ast_options options = given(t, AST_SPKM);
    options.start.by = AST_PLUSPLUS;
    options.start.means = NULL;
    options.start.means_count = 0;
    options.clusters = t->clusters < t->points.used ? t->clusters : t->points.used;
    options.seed = t->made.seed;
    options.max_iterations = 1;
    for (int bounds = 0; bounds < 2 && options.clusters > 0; bounds++) {
        ast_report report = {.size = sizeof report};
        options.bounds = bounds;
        assert_int_equal(ast_cluster(context, &t->made.points, &options, labels + (size_t)bounds * count, &report),
                         AST_OK);
    }
    for (size_t i = 0; i < count; i++)
        if (labels[i] != labels[count + i])
            fail_msg("seed %llu (%s): k-means++ by cells labels point %zu %d, not %d", (unsigned long long)t->made.seed,
                     t->made.text, i, labels[count + i], labels[i]);
    free(labels);
}

static void check_trial(uint64_t seed, size_t count, size_t clusters) {
    trial t;
    trial_open(&t, seed, count, clusters);
    ref_setup setup = {seed % 2 ? REF_FAST : "base", 1 + (int)(seed % 3), AST_ORDERED, 1};
    check_assign(&t, seed % 4 ? NAN : t.made.angle, &setup);
    check_dp(&t, seed % 3 != 0, &setup);
    check_spkm(&t, &setup);
    check_starts(&t, &setup);
    trial_close(&t);
}

/* ---- The tests -------------------------------------------------------------------------------------------------- */

static void everything_by_cells(void **state) {
    (void)state;
    size_t cases = ref_case_count(200);
    setenv("ASTERISM_CELLS", "1", 1);
    for (uint64_t seed = 1; seed <= cases; seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 9);
        size_t clusters = 1 + (size_t)ast_random_below(&random, seed % 8 ? 40 : 400);
        check_trial(seed, (size_t)ast_random_below(&random, seed % 8 ? 300 : 1500), clusters);
    }
    ref_contexts_close();
}

/* As many clusters as points, and a few points a cluster: nearly all are alone in some pass, look for the next cluster,
 * which may be two at the same distance, or stay, and take the mean away that others wanted. */
static void small_clusters_by_cells(void **state) {
    (void)state;
    size_t cases = ref_case_count(120);
    setenv("ASTERISM_CELLS", "1", 1);
    for (uint64_t seed = 1; seed <= cases; seed++) {
        ast_random random;
        ref_setup setup = {seed % 2 ? REF_FAST : "base", 1 + (int)(seed % 3), AST_ORDERED, 1};
        ast_random_seed(&random, seed, 10);
        int kind = seed % 3 == 0 ? LATTICE : seed % 3 == 1 ? ANYWHERE : CIRCLE;
        trial t = {.clusters = 30 + (size_t)ast_random_below(&random, kind == ANYWHERE ? 400 : 100)};
        double apart = kind == CIRCLE ? 360 : 200 / sqrt((double)t.clusters);
        t.means = make_directions(&random, kind, t.clusters);
        t.made.data = make_directions(&random, kind, t.clusters);
        if (kind == LATTICE)
            memcpy(t.made.data, t.means, t.clusters * 3 * sizeof *t.means);
        t.made.seed = seed;
        t.made.points = ast_points_f4(t.made.data, t.clusters, 3);
        t.made.angle =
            (kind == CIRCLE ? apart / (double)t.clusters : apart) * (0.5 + 1.5 * ast_random_uniform(&random));
        snprintf(t.made.text, sizeof t.made.text, "%zu points %s, %g degrees", t.clusters, kind_names[kind],
                 t.made.angle);
        ref_points_read(&t.points, &t.made.points);
        check_dp(&t, kind == LATTICE, &setup);
        trial_close(&t);
    }
    ref_contexts_close();
}

/* Degrees of longitude and latitude. */
static float *make_places(const double (*places)[2], size_t count) {
    float *rows = ref_take(count, 3 * sizeof *rows);
    for (size_t k = 0; k < count; k++) {
        double longitude = places[k][0] * M_PI / 180, latitude = places[k][1] * M_PI / 180;
        rows[3 * k] = (float)(cos(longitude) * cos(latitude));
        rows[3 * k + 1] = (float)(sin(longitude) * cos(latitude));
        rows[3 * k + 2] = (float)sin(latitude);
    }
    return rows;
}

/* In the second pass the first point leaves its cluster for the third mean, and the second one stays behind alone: its
 * mean becomes the point. The third point was nearer to the mean that is gone than to its own, and is so no more. */
static void a_mean_that_others_wanted_goes(void **state) {
    (void)state;
    static const double points[][2] = {{30, 0}, {0, 0}, {10, 10}, {18, 34}, {42, 0}},
                        means[][2] = {{14, 0}, {10, 16}, {50, 0}};
    trial t = {.clusters = 3, .means = make_places(means, 3)};
    t.made.data = make_places(points, 5);
    t.made.points = ast_points_f4(t.made.data, 5, 3);
    t.made.angle = 20;
    snprintf(t.made.text, sizeof t.made.text, "five places");
    ref_points_read(&t.points, &t.made.points);
    setenv("ASTERISM_CELLS", "1", 1);
    check_dp(&t, true, &(ref_setup){REF_FAST, 2, AST_ORDERED, 1});
    trial_close(&t);
    ref_contexts_close();
}

/* Several chunks, so that a first pass changes over in its middle. */
static void several_chunks_by_cells(void **state) {
    (void)state;
    size_t cases = ref_case_count(4);
    setenv("ASTERISM_CELLS", "40", 1);
    for (uint64_t seed = 1; seed <= cases; seed++)
        check_trial(1000 + seed, 4000 / REF_SLOWER + 9000, 30 + 5 * (size_t)seed);
    ref_contexts_close();
}

static void around_the_choice(void **state) {
    (void)state;
    size_t cases = ref_case_count(6);
    unsetenv("ASTERISM_CELLS");
    for (uint64_t seed = 1; seed <= cases; seed++)
        check_trial(2000 + seed, 1500, AST_CELLS_MIN_CLUSTERS - 1 + (size_t)seed % 3);
    ref_contexts_close();
}

/* One result, whatever the threads and the instruction set, and that of a run point by point. */
static void check_ways(ast_method method, double angle, size_t clusters) {
    static const int threads[] = {1, 2, 3, 8};
    size_t count = ref_scaled(30000);
    float *x = ref_take(count, 3 * sizeof *x);
    int32_t *labels = ref_take(count, sizeof *labels), *first = ref_take(count, sizeof *first);
    ast_points points = ast_points_f4(x, count, 3);
    ast_options options = ref_dp_options(angle);
    options.method = method;
    options.clusters = clusters;
    options.start.by = method == AST_SPKM ? AST_RANDOM : AST_PLUSPLUS;
    options.max_iterations = 5;
    ref_fill_clustered(x, count, 3, 300, 0.02, 0.4, 11);
    for (size_t number = 0; number <= 8; number++) {
        ast_report report = {.size = sizeof report};
        const char *isa = number % 2 ? REF_FAST : "base";
        if (!ref_has(isa))
            continue;
        ast_context *context = ref_context(isa, number == 8 ? 1 : threads[number / 2]);
        options.parallel = number == 8 ? AST_SERIAL : AST_ORDERED;
        assert_int_equal(ast_cluster(context, &points, &options, number ? labels : first, &report), AST_OK);
        assert_true(report.clusters > AST_CELLS_MIN_CLUSTERS);
        if (number)
            assert_memory_equal(labels, first, count * sizeof *labels);
    }
    free(x);
    free(labels);
    free(first);
}

static void every_way_is_the_same(void **state) {
    (void)state;
    unsetenv("ASTERISM_CELLS");
    check_ways(AST_DP, 2, 0);
    check_ways(AST_SPKM, NAN, 700);
    ref_contexts_close();
}

static void check_many(size_t count, size_t clusters) {
    trial t;
    ast_random random;
    ast_random_seed(&random, 3, 3);
    memset(&t, 0, sizeof t);
    t.clusters = clusters;
    t.means = make_directions(&random, ANYWHERE, clusters);
    t.made.data = make_directions(&random, ANYWHERE, count);
    touch_means(&random, t.made.data, count, t.means, clusters);
    t.made.points = ast_points_f4(t.made.data, count, 3);
    snprintf(t.made.text, sizeof t.made.text, "%zu points, %zu means", count, clusters);
    ref_points_read(&t.points, &t.made.points);
    check_assign(&t, NAN, &(ref_setup){REF_FAST, 2, AST_ORDERED, 1});
    trial_close(&t);
}

static void many_means_equal_the_reference(void **state) {
    (void)state;
    unsetenv("ASTERISM_CELLS");
    check_many(4000 / REF_SLOWER, 20000);
    if (ref_long())
        check_many(100000, 100000);
    else
        print_message("AST_TEST_LONG=1 would compare 100,000 points with 100,000 means\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_by_cells),
        cmocka_unit_test(small_clusters_by_cells),
        cmocka_unit_test(a_mean_that_others_wanted_goes),
        cmocka_unit_test(several_chunks_by_cells),
        cmocka_unit_test(around_the_choice),
        cmocka_unit_test(every_way_is_the_same),
        cmocka_unit_test(many_means_equal_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
