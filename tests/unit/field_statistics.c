/* SPDX-License-Identifier: MIT
 *
 * Words of field notebooks, the orientation tensor, Gine's tests and common means: by definition, against published
 * quantiles, and by the share of draws that a true hypothesis rejects. */
#include "asterism_depth.h"
#include "asterism_field.h"
#include "orientation.h"
#include "reference/harness.h"
#include "special.h"
#include "vmf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(double got, double wanted, double error) {
    if (!(fabs(got - wanted) <= error))
        fail_msg("%.17g, should be %.17g", got, wanted);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static void names_of_columns(void **state) {
    (void)state;
    assert_int_equal(ast_field_column_of("Dip Direction (deg)"), AST_COLUMN_DIP_DIRECTION);
    assert_int_equal(ast_field_column_of("dipdir"), AST_COLUMN_DIP_DIRECTION);
    assert_int_equal(ast_field_column_of("DIP"), AST_COLUMN_DIP);
    assert_int_equal(ast_field_column_of("dip_deg"), AST_COLUMN_DIP);
    assert_int_equal(ast_field_column_of("Strike"), AST_COLUMN_STRIKE);
    assert_int_equal(ast_field_column_of("dir_dec"), AST_COLUMN_TREND);
    assert_int_equal(ast_field_column_of("plunge"), AST_COLUMN_PLUNGE);
    assert_int_equal(ast_field_column_of("azi"), AST_COLUMN_AZIMUTH);
    assert_int_equal(ast_field_column_of("dipper"), AST_COLUMN_OTHER);
    assert_int_equal(ast_field_column_of(""), AST_COLUMN_OTHER);
    assert_int_equal(ast_field_column_of(NULL), AST_COLUMN_OTHER);
}

/* Words as notebooks have them, and what they say. */
static const struct {
    ast_notation notation;
    const char *first, *second;
    double azimuth, inclination; /* 999: refused, NAN: missing */
} known[] = {
    {AST_STRIKE_DIP, "40", "61", 40, 61},
    {AST_STRIKE_DIP, " 040 ", "61.5", 40, 61.5},
    {AST_STRIKE_DIP, "40,5", "61,25", 40.5, 61.25},
    {AST_STRIKE_DIP, "40", "61S", 40, 61},
    {AST_STRIKE_DIP, "40", "61N", 220, 61},
    {AST_STRIKE_DIP, "220", "61 SE", 40, 61},
    {AST_STRIKE_DIP, "N40E", "61SE", 40, 61},
    {AST_STRIKE_DIP, "N 40 W", "30sw", 140, 30},
    {AST_STRIKE_DIP, "S40E", "10", 140, 10},
    {AST_STRIKE_DIP, "s40w", "10", 220, 10},
    {AST_STRIKE_DIP, "E10S", "10", 100, 10},
    {AST_STRIKE_DIP, "NE", "10", 45, 10},
    {AST_STRIKE_DIP, "W", "10", 270, 10},
    {AST_STRIKE_DIP, "40\xC2\xB0", "61\xC2\xB0", 40, 61},
    {AST_STRIKE_DIP,
     "N40\xC2\xB0"
     "E",
     "61\xB0SE", 40, 61},
    {AST_STRIKE_DIP, "N40E/61SE", NULL, 40, 61},
    {AST_STRIKE_DIP, "040/61", NULL, 40, 61},
    {AST_DIP_DIRECTION, "130 / 61", NULL, 130, 61},
    {AST_DIP_DIRECTION, "130", "61SE", 130, 61},
    {AST_TREND_PLUNGE, "40", "20SW", 220, 20},
    {AST_TREND_PLUNGE, "-40", "-20", -40, -20},
    {AST_AZIMUTH, "N20E", NULL, 20, NAN},
    {AST_AZIMUTH, "360", NULL, 360, NAN},
    {AST_STRIKE_DIP, "n/a", NULL, NAN, NAN},
    {AST_STRIKE_DIP, "", "61", NAN, 61},
    {AST_STRIKE_DIP, "40", "N/A", 40, NAN},
    {AST_STRIKE_DIP, "-", "?", NAN, NAN},
    {AST_STRIKE_DIP, "90", "61E", 999, 0},
    {AST_DIP_DIRECTION, "80", "61W", 999, 0},
    {AST_TREND_PLUNGE, "90", "61N", 999, 0},
    {AST_STRIKE_DIP, "N95E", "61", 999, 0},
    {AST_STRIKE_DIP, "N40S", "61", 999, 0},
    {AST_STRIKE_DIP, "NEE", "61", 999, 0},
    {AST_STRIKE_DIP, "40", "steep", 999, 0},
    {AST_STRIKE_DIP, "40", "61SES", 999, 0},
    {AST_STRIKE_DIP, "4 0", "61", 999, 0},
    {AST_STRIKE_DIP, "0x10", "61", 999, 0},
    {AST_STRIKE_DIP, "inf", "61", 999, 0},
    {AST_STRIKE_DIP, "1e2", "61", 999, 0},
    {AST_STRIKE_DIP, "40", NULL, 999, 0},
    {AST_STRIKE_DIP, "1/2/3", NULL, 999, 0},
    {AST_STRIKE_DIP, NULL, "61", 999, 0},
};

static void words(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double a = 7, b = 7;
        const char *problem = ast_field_read(known[i].notation, known[i].first, known[i].second, &a, &b);
        if ((known[i].azimuth == 999) != (problem != NULL))
            fail_msg("'%s' '%s': %s", known[i].first, known[i].second, problem ? problem : "was read");
        if (problem || isnan(known[i].azimuth) != isnan(a) || isnan(known[i].inclination) != isnan(b)) {
            assert_non_null(problem);
            continue;
        }
        if (!isnan(a))
            near(a, known[i].azimuth, 1e-12);
        if (!isnan(b))
            near(b, known[i].inclination, 1e-12);
    }
}

/* Any bytes are read or refused; nothing is read beyond the word. */
static void odd_words(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 7, 0);
    static const char bytes[] = "0123456789.,-+/ NESWneswa?\t\xC2\xB0x%";
    for (int i = 0; i < 200000; i++) {
        size_t length = ast_random_below(&random, 12);
        char *word = malloc(length + 1);
        for (size_t c = 0; c < length; c++)
            word[c] = bytes[ast_random_below(&random, sizeof bytes - 1)];
        word[length] = '\0';
        double a, b;
        for (int n = AST_DIP_DIRECTION; n <= AST_AZIMUTH; n++) {
            if (!ast_field_read((ast_notation)n, word, NULL, &a, &b))
                assert_false(isinf(a) || isinf(b));
            ast_field_read((ast_notation)n, "10", word, &a, &b);
        }
        ast_field_column_of(word);
        free(word);
    }
}

/* ---- The tensor and uniformity ----------------------------------------------------------------------------------- */

static void draw(ast_random *random, const double *mean, double kappa, size_t count, float *x) {
    double v[3];
    for (size_t i = 0; i < count; i++) {
        ast_vmf_sample(random, 3, mean, kappa, v);
        for (int d = 0; d < 3; d++)
            x[3 * i + d] = (float)v[d];
    }
}

static ast_orientation orient(const float *x, size_t count, int axial) {
    ast_points points = ast_points_f4(x, count, 3);
    ast_orientation o = {.size = sizeof o};
    assert_int_equal(ast_orientation_of(ref_context("base", 1), &points, axial, &o), AST_OK);
    return o;
}

/* Eigenvectors by definition, and the sums over pairs in the plainest form. */
static void by_definition(void **state) {
    (void)state;
    ast_random random;
    float x[3 * 60];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        ast_random_seed(&random, seed, 0);
        double mean[3], tensor[3][3] = {{0}}, pi = acos(-1), f = 0, g = 0;
        ast_uniform_direction(&random, 3, mean);
        draw(&random, mean, (double)(seed % 7), 60, x);
        ast_orientation directed = orient(x, 60, 0), axial = orient(x, 60, 1);
        for (int i = 0; i < 60; i++)
            for (int j = 0; j < 60; j++) {
                double c = 0;
                for (int d = 0; d < 3; d++)
                    c += (double)x[3 * i + d] * (double)x[3 * j + d];
                for (int d = 0; i == j && d < 3; d++)
                    for (int e = 0; e < 3; e++)
                        tensor[d][e] += (double)x[3 * i + d] * (double)x[3 * i + e] / 60;
                double psi = i == j ? 0 : acos(fmax(-1, fmin(1, c)));
                f += (1.5 - 2 / pi * (psi + sin(psi))) / 60;
                g += (0.5 - 2 / pi * sin(psi)) / 60;
            }
        near(directed.statistic, f, 1e-5);
        near(axial.statistic, g, 1e-5);
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) {
                double image = 0;
                for (int e = 0; e < 3; e++)
                    image += tensor[d][e] * directed.axes[k][e];
                near(image, directed.eigenvalues[k] * directed.axes[k][d], 1e-6);
            }
        near(directed.eigenvalues[0] + directed.eigenvalues[1] + directed.eigenvalues[2], 1, 1e-12);
    }
}

/* Uniform points: p is uniform. Three sets at right angles, to which Bingham's test is blind, are found. */
static void sizes_of_tests(void **state) {
    (void)state;
    ast_random random;
    float x[3 * 60];
    int directed[2] = {0}, axial[2] = {0}, draws = 1000;
    ast_random_seed(&random, 5, 0);
    for (int i = 0; i < draws; i++) {
        draw(&random, NULL, 0, 40, x);
        double f = orient(x, 40, 0).p, g = orient(x, 40, 1).p;
        directed[0] += f < 0.05;
        directed[1] += f < 0.5;
        axial[0] += g < 0.05;
        axial[1] += g < 0.5;
    }
    for (int i = 0; i < 2; i++) {
        double wanted = i ? 0.5 : 0.05, error = 3.5 * sqrt(wanted * (1 - wanted) / draws);
        near((double)directed[i] / draws, wanted, error);
        near((double)axial[i] / draws, wanted, error);
    }
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < 3; k++)
        draw(&random, axes[k], 60, 20, x + 60 * k);
    ast_orientation sets = orient(x, 60, 1);
    assert_int_equal(sets.shape, AST_SHAPE_UNIFORM);
    if (!(sets.p < 1e-4))
        fail_msg("p = %g, statistic %g", sets.p, sets.statistic);
    for (int i = 0; i < 15;
         i++) /* 35, 20 and 5 points: nearly along a great circle; then 27, 20 and 13: K below 1, but along none */
        memcpy(x + 3 * (45 + i), x + 3 * i, 3 * sizeof *x);
    sets = orient(x, 60, 1);
    assert_true(sets.shape_ratio < 1 && sets.eigenvalues[2] < 1.0 / 6);
    assert_int_equal(sets.shape, AST_SHAPE_GIRDLE);
    draw(&random, axes[2], 60, 8, x + 3 * 45);
    sets = orient(x, 60, 1);
    assert_true(sets.shape_ratio < 1 && sets.eigenvalues[2] > 1.0 / 6);
    assert_int_equal(sets.shape, AST_SHAPE_UNIFORM);
    draw(&random, axes[0], 60, 2, x + 3 * 20);
    draw(&random, axes[2], 60, 5, x + 3 * 22);
    sets = orient(x, 60, 1); /* 22, 18 and 20 points */
    assert_true(sets.shape_ratio > 0 && sets.eigenvalues[0] < 0.5);
    assert_int_equal(sets.shape, AST_SHAPE_UNIFORM);
    draw(&random, axes[0], 60, 25, x + 3 * 35);
    sets = orient(x, 60, 1);
    assert_true(sets.shape_ratio >= 1 && sets.eigenvalues[0] > 0.5);
    assert_int_equal(sets.shape, AST_SHAPE_CLUSTER);
}

/* Exact copies of one direction, opposite ones, none. */
static void extremes(void **state) {
    (void)state;
    float same[9] = {0, 0, 1, 0, 0, 1, 0, 0, 1}, none[3] = {NAN, 0, 0};
    ast_orientation o = orient(same, 3, 0);
    near(o.eigenvalues[0], 1, 1e-15);
    assert_true(o.p >= 0 && o.p <= 1);
    o = orient(none, 1, 0);
    assert_true(isnan(o.eigenvalues[0]) && isnan(o.p) && o.count == 0);
    o = orient(same, 1, 0);
    assert_true(o.count == 1 && isnan(o.p));
    ast_points flat = ast_points_f4(same, 4, 2);
    assert_int_equal(ast_orientation_of(ref_context("base", 1), &flat, 0, &o), AST_BAD_OPTION);
    assert_non_null(strstr(ast_message(ref_context("base", 1)), "three dimensions, not 2"));
}

/* ---- Common means ------------------------------------------------------------------------------------------------ */

static ast_common_mean compare(const float *x, const size_t *counts, size_t sets, int simulations, int threads) {
    ast_points views[4];
    ast_common_mean_options options;
    ast_common_mean result = {.size = sizeof result};
    ast_common_mean_options_init(&options);
    options.simulations = simulations;
    for (size_t s = 0; s < sets; x += 3 * counts[s++])
        views[s] = ast_points_f4(x, counts[s], 3);
    assert_int_equal(ast_common_mean_of(ref_context("base", threads), views, sets, &options, NULL, &result), AST_OK);
    return result;
}

static void common_means(void **state) {
    (void)state;
    static const size_t counts[3] = {20, 35, 15};
    static const double kappas[3] = {20, 60, 20};
    ast_random random;
    float x[3 * 70];
    int watson = 0, bootstrap = 0, kappa = 0, f = 0, draws = 300;
    for (int i = 0; i < draws; i++) {
        double mean[3];
        ast_random_seed(&random, (uint64_t)i, 0);
        ast_uniform_direction(&random, 3, mean);
        draw(&random, mean, kappas[0], counts[0], x);
        draw(&random, mean, kappas[1], counts[1], x + 60);
        watson += compare(x, counts, 2, 200, 1).watson_p < 0.05;
        bootstrap += compare(x, counts, 2, 200, 1).bootstrap_p < 0.05;
        draw(&random, mean, 20, counts[1], x + 60);
        draw(&random, mean, 20, counts[2], x + 165);
        ast_common_mean same = compare(x, counts, 3, 100, 1);
        kappa += same.kappa_p < 0.05;
        f += same.f_p < 0.05;
    }
    near((double)watson / draws, 0.05, 0.045);
    near((double)bootstrap / draws, 0.06, 0.05);
    near((double)kappa / draws, 0.05, 0.045);
    near((double)f / draws, 0.05, 0.045);
}

/* The same bits on any number of threads; F as its quantile says; sets that differ are found. */
static void different_means(void **state) {
    (void)state;
    static const size_t counts[2] = {30, 30};
    static const double up[3] = {0, 0, 1}, tilted[3] = {0.6, 0, 0.8};
    ast_random random;
    float x[180];
    ast_random_seed(&random, 3, 0);
    draw(&random, up, 30, 30, x);
    draw(&random, tilted, 30, 30, x + 90);
    ast_common_mean one = compare(x, counts, 2, 500, 1), three = compare(x, counts, 2, 500, 3);
    assert_memory_equal(&one, &three, sizeof one);
    near(one.angle, 36.87, 5);
    assert_true(one.critical_angle > 2 && one.critical_angle < 12);
    near(one.watson_p, 1.0 / 501, 1e-12);
    near(ast_f_tail(4, 30, ast_f_quantile(4, 30, 0.95)), 0.05, 1e-9);
    near(ast_f_tail(4, 30, ast_f_quantile(4, 30, 0.2)), 0.8, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_of_columns), cmocka_unit_test(words),
                                       cmocka_unit_test(odd_words),        cmocka_unit_test(by_definition),
                                       cmocka_unit_test(sizes_of_tests),   cmocka_unit_test(extremes),
                                       cmocka_unit_test(common_means),     cmocka_unit_test(different_means)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
