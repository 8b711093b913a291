/* SPDX-License-Identifier: MIT
 *
 * Mixtures of Watson and Kent distributions, and of sparse rows, through the public functions: densities, memberships
 * and likelihood against the definition; numbers of components, kappas and backgrounds of drawn points; models; any
 * number of threads; bad input. */
#include "asterism.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 2000

static ast_context *context;
static float rows[MOST * 100];
static int32_t labels[MOST], truth[MOST];

static ast_points draw(const ast_mixture *m) {
    assert_int_equal(ast_sample_mixture(context, m, rows, truth, NULL), AST_OK);
    return ast_points_f4(rows, m->points, m->dimension);
}

static ast_report run(const ast_points *points, const ast_options *options) {
    ast_report report = {.size = sizeof report};
    if (ast_cluster(context, points, options, labels, &report) != AST_OK)
        fail_msg("%s", ast_message(context));
    return report;
}

static ast_options mixture(size_t clusters, int axial, ast_component_shape shape) {
    ast_options o;
    ast_options_init(&o);
    o.method = AST_MOVMF;
    o.clusters = clusters;
    o.mixture.auto_clusters = clusters == 0;
    o.axial = axial;
    o.mixture.shape = shape;
    return o;
}

static double agreement(size_t count) {
    ast_agreement found = {.size = sizeof found};
    assert_int_equal(ast_compare(context, labels, truth, count, &found), AST_OK);
    return found.ari;
}

/* ---- The definition ---------------------------------------------------------------------------------------------- */

/* ln of the integral of exp(kappa t^2) over the sphere, by the midpoint rule in the angle. */
static double log_integral_watson(size_t dimension, double kappa) {
    enum { STEPS = 4000 };
    double most = fmax(kappa, 0), sum = 0, half = ((double)dimension - 1) / 2;
    for (int i = 0; i < STEPS; i++) {
        double a = M_PI * (i + 0.5) / STEPS;
        sum += exp(kappa * cos(a) * cos(a) - most) * pow(sin(a), (double)dimension - 2) * M_PI / STEPS;
    }
    return most + log(sum) + M_LN2 + half * log(M_PI) - lgamma(half); /* times the area of the parallel */
}

static double log_integral_kent(double kappa, double beta) {
    enum { STEPS = 400 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < STEPS; j++) {
            double a = M_PI * (i + 0.5) / STEPS, b = 2 * M_PI * (j + 0.5) / STEPS, s = sin(a);
            sum += exp(kappa * (cos(a) - 1) + beta * s * s * cos(2 * b)) * s;
        }
    return kappa + log(sum * M_PI / STEPS * 2 * M_PI / STEPS);
}

static double log_density(const ast_cluster_info *c, size_t dimension, int axial, double constant, const float *x) {
    double t = 0, u = 0, v = 0;
    for (size_t d = 0; d < dimension; d++)
        t += (double)x[d] * (double)c->mean[d];
    for (size_t d = 0; !axial && d < dimension; d++) {
        u += (double)x[d] * (double)c->axes[d];
        v += (double)x[d] * (double)c->axes[3 + d];
    }
    return (axial ? c->kappa * t * t : c->kappa * t + c->beta * (u * u - v * v)) - constant;
}

/* Memberships, densities and the likelihood of the last result follow from what the records say. */
static void check_definition(const ast_points *points, const ast_report *report, int axial) {
    size_t k, n = points->count, d = points->dimension, count;
    const ast_cluster_info *c = ast_clusters(context, &count);
    float *parts = malloc(n * count * sizeof *parts);
    double *logs = malloc(n * sizeof *logs), constants[16], sum = 0;
    double uniform = -(M_LN2 + (double)d / 2 * log(M_PI) - lgamma((double)d / 2));
    assert_true(count <= 16);
    assert_int_equal(ast_memberships(context, points, parts, logs), AST_OK);
    for (k = 0; k < count; k++)
        constants[k] = axial ? log_integral_watson(d, c[k].kappa) : log_integral_kent(c[k].kappa, c[k].beta);
    for (size_t i = 0; i < n; i++) {
        double each[16], all = isnan(report->background) ? 0 : report->background * exp(uniform);
        for (k = 0; k < count; k++)
            all += each[k] = c[k].share * exp(log_density(&c[k], d, axial, constants[k], rows + i * d));
        if (!(fabs(log(all) - logs[i]) < 2e-4 * fmax(1, fabs(logs[i]))))
            fail_msg("point %zu: density %.9g instead of %.9g", i, logs[i], log(all));
        for (k = 0; k < count; k++)
            assert_true(fabs((double)parts[i * count + k] - each[k] / all) < 1e-3);
        sum += logs[i];
    }
    assert_true(fabs(sum - report->log_likelihood) < 1e-6 * fmax(100, fabs(sum)));
    free(parts);
    free(logs);
}

/* A model of the last result gives its labels again. */
static void check_model(const ast_points *points) {
    static int32_t again[MOST];
    ast_model_info info = {.size = sizeof info};
    ast_model *model, *copy;
    assert_int_equal(ast_model_of_result(context, &info), AST_OK);
    assert_int_equal(ast_model_open(&model, context, &info), AST_OK);
    size_t size;
    const void *bytes = ast_model_save(model, &size);
    assert_non_null(bytes);
    assert_int_equal(ast_model_load(&copy, context, bytes, size), AST_OK);
    if (ast_model_assign(copy, points, (double)NAN, again, NULL) != AST_OK)
        fail_msg("%s", ast_message(context));
    size_t differ = 0;
    for (size_t i = 0; i < points->count; i++)
        differ += again[i] != labels[i];
    assert_true(differ <= points->count / 200); /* means are floats in a model */
    ast_model_close(copy);
    ast_model_close(model);
}

/* ---- Watson ------------------------------------------------------------------------------------------------------ */

static void test_watson_mixtures(void **state) {
    (void)state;
    static const struct {
        size_t dimension, points;
        double kappa, noise;
    } cases[] = {{2, 400, 30, 0}, {3, 600, 20, 0}, {3, 600, 20, 0.2}, {10, 800, 60, 0.1}, {100, 300, 400, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ast_mixture m = {.size = sizeof m,
                         .points = cases[i].points,
                         .dimension = cases[i].dimension,
                         .clusters = 3,
                         .kappa = cases[i].kappa,
                         .separation = 50,
                         .noise = cases[i].noise,
                         .seed = 3,
                         .distribution = AST_WATSON};
        ast_points points = draw(&m);
        for (int found = 0; found < 2; found++) {
            ast_options o = mixture(found ? 0 : 3, 1, AST_COMPONENT_ROUND);
            o.mixture.background = cases[i].noise > 0;
            o.restarts = found ? 1 : 3;
            ast_report report = run(&points, &o);
            size_t count;
            const ast_cluster_info *c = ast_clusters(context, &count);
            assert_int_equal(count, 3);
            assert_true(agreement(points.count) > 0.85);
            for (size_t k = 0; k < 3; k++) {
                assert_true(fabs(c[k].kappa / cases[i].kappa - 1) < 0.35);
                assert_true(c[k].kappa_interval[0] < c[k].kappa && c[k].kappa < c[k].kappa_interval[1]);
                assert_true(c[k].alpha95 > 0.1 && c[k].alpha95 < 6);
            }
            if (cases[i].noise > 0)
                assert_true(fabs(report.background - cases[i].noise) < 0.06);
            if (found)
                assert_true(report.cluster_posterior_count > 3 && report.cluster_posterior[3] > 0.9);
            check_model(&points);
            if (cases[i].dimension <= 10)
                check_definition(&points, &report, 1);
        }
    }
}

static void test_girdles(void **state) {
    (void)state;
    ast_mixture m = {.size = sizeof m,
                     .points = 500,
                     .dimension = 3,
                     .clusters = 1,
                     .kappa = -20,
                     .seed = 3,
                     .distribution = AST_WATSON};
    ast_points points = draw(&m);
    ast_options o = mixture(0, 1, AST_COMPONENT_ROUND);
    ast_report report = run(&points, &o);
    size_t count;
    assert_int_equal(report.clusters, 1);
    const ast_cluster_info *c = ast_clusters(context, &count);
    assert_true(fabs(c->kappa / -20 - 1) < 0.2 && c->kappa_interval[0] < -20 && c->kappa_interval[1] > -20);
    check_definition(&points, &report, 1);
    check_model(&points);
}

/* Uniform axes, and one Watson distribution, are one component. */
static void test_one_component(void **state) {
    (void)state;
    static const size_t dimensions[] = {2, 3, 10};
    for (size_t i = 0; i < 3; i++)
        for (int kappa = 0; kappa < 2; kappa++) {
            ast_mixture m = {.size = sizeof m,
                             .points = 500,
                             .dimension = dimensions[i],
                             .clusters = 1,
                             .seed = 9,
                             .kappa = kappa * 10 * (double)dimensions[i],
                             .distribution = AST_WATSON};
            ast_points points = draw(&m);
            ast_options o = mixture(0, 1, AST_COMPONENT_ROUND);
            assert_int_equal(run(&points, &o).clusters, 1);
        }
}

/* Signs of rows change nothing; nor does the number of threads, bit for bit. */
static void test_signs_and_threads(void **state) {
    (void)state;
    ast_mixture m = {.size = sizeof m,
                     .points = 600,
                     .dimension = 3,
                     .clusters = 3,
                     .kappa = 20,
                     .separation = 50,
                     .noise = 0.1,
                     .seed = 5,
                     .distribution = AST_WATSON};
    static int32_t first[MOST];
    ast_points points = draw(&m);
    ast_options o = mixture(0, 1, AST_COMPONENT_ROUND);
    o.mixture.background = 1;
    ast_report before = run(&points, &o);
    memcpy(first, labels, sizeof first);
    for (size_t i = 0; i < 600; i += 3)
        for (size_t d = 0; d < 3; d++)
            rows[3 * i + d] = -rows[3 * i + d];
    ast_context *one = context;
    assert_int_equal(ast_open(&context, 3), AST_OK);
    ast_report after = run(&points, &o);
    assert_true(before.objective == after.objective);
    assert_memory_equal(first, labels, 600 * sizeof *labels);
    ast_close(context);
    context = one;
}

/* Angles in multiples of some degrees: a row stands for a cell, and copies are observations. */
static void test_rounded_axes(void **state) {
    (void)state;
    for (size_t dimension = 2; dimension <= 3; dimension++)
        for (double step = 1; step <= 10; step += step < 5 ? 4 : 5) {
            ast_mixture m = {.size = sizeof m,
                             .points = 200,
                             .dimension = dimension,
                             .clusters = dimension,
                             .kappa = 20,
                             .separation = 60,
                             .seed = 2,
                             .distribution = AST_WATSON};
            ast_points points = draw(&m);
            for (size_t i = 0; i < 200; i++) {
                float *x = rows + i * dimension;
                double unit = step * M_PI / 180, azimuth = unit * round(atan2((double)x[1], (double)x[0]) / unit);
                double polar = dimension == 2 ? M_PI_2 : unit * round(acos(fmin(1, fmax(-1, (double)x[2]))) / unit);
                x[0] = (float)(sin(polar) * cos(azimuth));
                x[1] = (float)(sin(polar) * sin(azimuth));
                if (dimension == 3)
                    x[2] = (float)cos(polar);
            }
            ast_options o = mixture(0, 1, AST_COMPONENT_ROUND);
            assert_int_equal(run(&points, &o).clusters, dimension);
        }
}

/* One row, equal rows, and rows on a plane or at right angles: no kappa is infinite. */
static void test_degenerate_rows(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (size_t clusters = 0; clusters <= 2; clusters++)
            for (int kent = 0; kent < 2; kent++) {
                size_t count = kind == 0 ? 2 : 30;
                for (size_t i = 0; i < count; i++) {
                    float *x = rows + 3 * i;
                    x[0] = x[1] = x[2] = 0;
                    x[kind == 2 ? i % 3 : 0] = 1;
                    if (kind == 3) {
                        x[0] = cosf((float)i);
                        x[1] = sinf((float)i);
                    }
                }
                ast_points points = ast_points_f4(rows, count, 3);
                ast_options o = mixture(clusters, !kent, kent ? AST_COMPONENT_KENT : AST_COMPONENT_ROUND);
                size_t found;
                run(&points, &o);
                const ast_cluster_info *c = ast_clusters(context, &found);
                for (size_t k = 0; k < found; k++)
                    assert_true(isfinite(c[k].kappa) && isfinite(c[k].share));
            }
}

static void test_given_starts(void **state) {
    (void)state;
    ast_mixture m = {.size = sizeof m,
                     .points = 300,
                     .dimension = 3,
                     .clusters = 2,
                     .kappa = 30,
                     .separation = 70,
                     .seed = 5,
                     .distribution = AST_WATSON};
    float means[6];
    ast_points points = draw(&m);
    assert_int_equal(ast_sample_mixture(context, &m, rows, truth, means), AST_OK);
    ast_options o = mixture(0, 1, AST_COMPONENT_ROUND);
    o.mixture.auto_clusters = 0;
    o.start.by = AST_GIVEN;
    o.start.means = means;
    o.start.means_count = 2;
    assert_int_equal(run(&points, &o).clusters, 2);
    assert_true(agreement(300) > 0.95);
}

/* ---- Kent -------------------------------------------------------------------------------------------------------- */

static void test_kent_mixtures(void **state) {
    (void)state;
    for (size_t clusters = 1; clusters <= 3; clusters += 2) {
        ast_mixture m = {.size = sizeof m,
                         .points = 1000,
                         .dimension = 3,
                         .clusters = clusters,
                         .kappa = 80,
                         .separation = 60,
                         .seed = 8,
                         .distribution = AST_KENT,
                         .beta = 32};
        ast_points points = draw(&m);
        for (int found = 0; found < 2; found++) {
            ast_options o = mixture(found ? 0 : clusters, 0, AST_COMPONENT_KENT);
            ast_report report = run(&points, &o);
            size_t count;
            const ast_cluster_info *c = ast_clusters(context, &count);
            assert_int_equal(count, clusters);
            assert_true(clusters == 1 || agreement(1000) > 0.95);
            for (size_t k = 0; k < count; k++) {
                assert_true(fabs(c[k].kappa / 80 - 1) < 0.25 && fabs(c[k].beta / 32 - 1) < 0.3);
                assert_true(c[k].ellipse95[0] > 2 * c[k].ellipse95[1] && c[k].ellipse95[0] < 4);
            }
            check_definition(&points, &report, 0);
            check_model(&points);
        }
        ast_options round = mixture(0, 0, AST_COMPONENT_ROUND);
        assert_true(run(&points, &round).clusters > clusters); /* what the shape is for */
    }
}

/* ---- Sparse rows ------------------------------------------------------------------------------------------------- */

/* The same labels and likelihood as dense rows, bit for bit; and 5,000 columns, which dense rows cannot have. */
static void test_sparse_rows(void **state) {
    (void)state;
    enum { COUNT = 400, ENTRIES = 8, TERMS = 40 };
    static float values[COUNT * ENTRIES], dense[COUNT * TERMS];
    static int32_t columns[COUNT * ENTRIES], starts[COUNT + 1], first[COUNT];
    uint32_t seed = 17;
    for (int i = 0; i < COUNT; i++)
        for (int e = 0; e < ENTRIES; e++) { /* half of the terms for each of two topics, overlapping */
            seed = seed * 1664525u + 1013904223u;
            starts[i + 1] = (i + 1) * ENTRIES;
            columns[i * ENTRIES + e] = (i % 2 ? 14 : 0) + 3 * e + (int)(seed >> 20) % 3;
            values[i * ENTRIES + e] = 1 + (float)((seed >> 9) % 8);
            dense[i * TERMS + columns[i * ENTRIES + e]] = values[i * ENTRIES + e];
        }
    for (int auto_clusters = 0; auto_clusters < 2; auto_clusters++) {
        ast_points sparse = ast_points_csr(values, AST_F4, starts, columns, AST_I4, COUNT, TERMS);
        ast_points full = ast_points_f4(dense, COUNT, TERMS);
        ast_options o = mixture(auto_clusters ? 0 : 2, 0, AST_COMPONENT_ROUND);
        ast_report a = run(&full, &o);
        memcpy(first, labels, sizeof first);
        ast_report b = run(&sparse, &o);
        assert_true(a.objective == b.objective && a.log_likelihood == b.log_likelihood);
        assert_memory_equal(first, labels, sizeof first);
        check_model(&sparse);
        sparse.dimension = 5000;
        assert_int_equal(run(&sparse, &o).dimension, 5000);
        check_model(&sparse);
        float *parts = malloc(COUNT * ast_clusters(context, &(size_t){0})->count * 64 * sizeof *parts);
        assert_int_equal(ast_memberships(context, &sparse, parts, NULL), AST_OK);
        free(parts);
    }
}

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

static void assert_refused(const ast_points *points, const ast_options *o, const char *words) {
    ast_report report = {.size = sizeof report};
    assert_int_not_equal(ast_cluster(context, points, o, labels, &report), AST_OK);
    if (!strstr(ast_message(context), words))
        fail_msg("'%s' does not contain '%s'", ast_message(context), words);
}

static void test_bad_input(void **state) {
    (void)state;
    ast_points wide = ast_points_f4(rows, 10, 101), flat = ast_points_f4(rows, 10, 4);
    ast_options o = mixture(2, 1, AST_COMPONENT_ROUND);
    assert_refused(&wide, &o, "at most 100 dimensions");
    o.mixture.shape = AST_COMPONENT_KENT;
    assert_refused(&flat, &o, "AST_COMPONENT_KENT is for AST_MOVMF, without axial");
    o.axial = 0;
    assert_refused(&flat, &o, "Kent components have 3 dimensions");
    o.method = AST_SPKM;
    assert_refused(&flat, &o, "AST_COMPONENT_KENT is for AST_MOVMF");
    o = mixture(2, 0, AST_COMPONENT_ROUND);
    int64_t starts[] = {0, 1, 2}, columns[] = {0, 70000};
    ast_points sparse = ast_points_csr(rows, AST_F4, starts, columns, AST_I8, 2, 70001);
    rows[0] = rows[1] = 1;
    assert_refused(&sparse, &o, "mixtures of sparse rows have at most 65536");
    sparse.dimension = 50;
    columns[1] = 3;
    o.axial = 1;
    assert_refused(&sparse, &o, "does not take sparse rows");
}

static int open_context(void **state) {
    (void)state;
    return ast_open(&context, 1) != AST_OK;
}

static int close_context(void **state) {
    (void)state;
    ast_close(context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_watson_mixtures), cmocka_unit_test(test_girdles),
                                       cmocka_unit_test(test_one_component),   cmocka_unit_test(test_signs_and_threads),
                                       cmocka_unit_test(test_given_starts),    cmocka_unit_test(test_rounded_axes),
                                       cmocka_unit_test(test_degenerate_rows), cmocka_unit_test(test_kent_mixtures),
                                       cmocka_unit_test(test_sparse_rows),     cmocka_unit_test(test_bad_input)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
