/* SPDX-License-Identifier: MIT
 *
 * Errors of means: quantiles against known values, Fisher's formulas, the definition of the other dimensions, and the
 * coverage of cones and intervals over draws with a known mean and kappa. */
#include "mean_error.h"

#include "special.h"
#include "vmf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DEGREE (acos(-1) / 180)

static void assert_close(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

/* Of tables; 2 degrees of freedom have a closed form, and so has F with 2 in the first place. */
static void test_quantiles(void **state) {
    (void)state;
    assert_close(ast_chi_square_quantile(1, 0.95), 3.841458820694124, 1e-12);
    assert_close(ast_chi_square_quantile(10, 0.025), 3.2469727802368413, 1e-12);
    assert_close(ast_chi_square_quantile(100, 0.975), 129.56119718583654, 1e-12);
    assert_close(ast_chi_square_quantile(400, 0.025), 346.48176536291464, 1e-9);
    assert_close(ast_chi_square_quantile(399, 0.025), 345.55113256898454, 1e-9);
    assert_close(ast_chi_square_quantile(1000, 0.975), 1089.5309127749135, 1e-9);
    assert_close(ast_chi_square_quantile(66000, 0.025), 65289.805916762125, 1e-9);
    assert_close(ast_chi_square_quantile(2000000, 0.975), 2003921.8219309007, 1e-9);
    assert_close(ast_chi_square_quantile(2, 0.3), -2 * log(0.7), 1e-12);
    assert_close(ast_chi_square_quantile(0.02, 0.5), 2 * exp(100 * (log(0.5) + lgamma(1.01))), 1e-9);
    assert_close(ast_f_quantile(1, 10, 0.95), 4.964602743730711, 1e-10);
    assert_close(ast_f_quantile(9, 20, 0.95), 2.392814108442280, 1e-10);
    for (double second = 0.1; second < 1e9; second *= 7)
        assert_close(ast_f_quantile(2, second, 0.95), second / 2 * expm1(log(20) * 2 / second), 1e-8);
    for (double degrees = 0.5; degrees < 1e7; degrees *= 3)
        for (double p = 0.025; p < 1; p += 0.475)
            assert_close(ast_chi_square_tail(degrees, ast_chi_square_quantile(degrees, p)), 1 - p,
                         degrees < 2e5 ? 1e-8 : 1e-6); /* from there on the tail is an approximation */
    assert_close(ast_chi_square_tail(2, 300), exp(-150), 1e-12);
    assert_close(ast_chi_square_tail(4, 1000), 501 * exp(-500), 1e-12);
    assert_true(ast_chi_square_tail(3, 0) == 1 && isnan(ast_chi_square_tail(3, NAN)));
}

/* N = 10, R = 9.5 in three dimensions. */
static void test_fisher(void **state) {
    (void)state;
    ast_mean_error error = ast_mean_error_of(3, 10, 0.95, ast_vmf_kappa(3, 0.95));
    assert_close(error.precision, 9 / 0.5, 1e-13);
    assert_close(error.alpha95, acos(1 - 0.5 / 9.5 * (pow(20, 1.0 / 9) - 1)) / DEGREE, 1e-10);
    assert_close(error.standard_error, acos(1 - 1 / (18 * 9.5)) / DEGREE, 1e-10);
    assert_close(error.kappa_interval[0], 8.230746194756674 / (2 * 0.5), 1e-9);
    assert_close(error.kappa_interval[1], 31.52637844038663 / (2 * 0.5), 1e-9);
    assert_true(ast_mean_error_of(3, 3, 0.2, ast_vmf_kappa(3, 0.2)).alpha95 == 180);
}

/* The other dimensions go to the same limits: 2 kappa (n - R) is chi-square for concentrated points, kappa is normal
 * for many. The estimate is where n A(kappa) = R A(kappa R). */
static void test_limits(void **state) {
    (void)state;
    static const size_t dimensions[] = {2, 4, 10, 100, 4096};
    for (size_t i = 0; i < 5; i++) {
        size_t d = dimensions[i];
        double n = 12, resultant = 1 - 1e-7, left = 2 * n * 1e-7, degrees = (n - 1) * ((double)d - 1);
        ast_mean_error error = ast_mean_error_of(d, n, resultant, ast_vmf_kappa(d, resultant));
        assert_close(error.precision, degrees / left, 1e-5);
        assert_close(error.kappa_interval[0], ast_chi_square_quantile(degrees, 0.025) / left, 1e-5);
        assert_close(error.kappa_interval[1], ast_chi_square_quantile(degrees, 0.975) / left, 1e-5);
        double cone = left / (n * resultant) / 2 * ast_f_quantile((double)d - 1, degrees, 0.95) / (n - 1);
        assert_close(error.alpha95, 2 * asin(sqrt(cone / 2)) / DEGREE, 1e-5);
        n = 1e6;
        double kappa = 0.7 * (double)d, slope = ast_vmf_shape_at(d, kappa).slope;
        error = ast_mean_error_of(d, n, ast_vmf_resultant(d, kappa), kappa);
        assert_close(error.precision, kappa, 1e-4);
        assert_close(error.kappa_interval[1] - error.kappa_interval[0], 2 * 1.959964 / sqrt(n * slope), 2e-3);
        double k = ast_mean_error_of(d, 30, 0.6, ast_vmf_kappa(d, 0.6)).precision;
        assert_close(30 * ast_vmf_resultant(d, k), 18 * ast_vmf_resultant(d, 18 * k), 1e-9);
    }
}

static void test_edges(void **state) {
    (void)state;
    ast_mean_error one = ast_mean_error_of(5, 1, 1, NAN);
    assert_true(isnan(one.precision) && isnan(one.standard_error) && isnan(one.alpha95) &&
                isnan(one.kappa_interval[0]));
    ast_mean_error chance = ast_mean_error_of(5, 100, 0.05, ast_vmf_kappa(5, 0.05));
    assert_true(chance.precision == 0 && chance.alpha95 == 180 && isnan(chance.standard_error));
    static const size_t dimensions[] = {2, 3, 4, 50, 4096, 1000000};
    for (size_t i = 0; i < 6; i++)
        for (double n = 1.01; n < 1e10; n *= 12)
            for (double resultant = 0.01; resultant < 1; resultant += resultant < 0.98 ? 0.03 : 0.004) {
                ast_mean_error e =
                    ast_mean_error_of(dimensions[i], n, resultant, ast_vmf_kappa(dimensions[i], resultant));
                assert_true(e.alpha95 > 0 && e.alpha95 <= 180 && e.precision >= 0);
                assert_true(e.precision == 0 || (e.standard_error > 0 && e.standard_error < 91));
                bool known = n > 2 && n * resultant * resultant > 1.1;
                const double *interval = e.kappa_interval;
                assert_true(known ? isfinite(interval[1]) : isnan(interval[0]) == isnan(interval[1]));
                assert_true(isnan(interval[1]) || (interval[0] >= 0 && interval[1] >= e.precision));
            }
    /* Of 10 orthogonal points, and of two whose weights differ by eight orders of magnitude. */
    assert_true(isnan(ast_mean_error_of(10, 10, sqrt(0.1) * (1 + 1e-9), 3.4).kappa_interval[1]));
    assert_true(isnan(ast_mean_error_of(3, 1 + 2e-8, 0.99, 100).kappa_interval[1]));
    /* The slope has two formulas, which meet. */
    for (size_t i = 0; i < 6; i++)
        assert_close(ast_vmf_shape_at(dimensions[i], 0.9999999e5 * (double)dimensions[i]).slope,
                     ast_vmf_shape_at(dimensions[i], 1.0000001e5 * (double)dimensions[i]).slope, 1e-4);
}

static void test_uniformity(void **state) {
    (void)state;
    double p;
    assert_close(ast_rayleigh(2, 50, 0.2, &p), 4, 1e-14);
    assert_close(p, exp(-2), 1e-12);
    assert_close(ast_bingham(3, 40, 0.4, &p), 20, 1e-12); /* 7.5 * 40 * (0.4 - 1/3), 5 degrees of freedom */
    assert_close(p, 0.001249730563064, 1e-9);
}

/* How often of 1000 samples the truth is within the cone, and within the interval. */
static void cover(size_t dimension, double kappa, size_t n, ast_random *random) {
    int cones = 0, intervals = 0, samples = 1000;
    double x[64], sum[64];
    for (int s = 0; s < samples; s++) {
        double squared = 0;
        memset(sum, 0, sizeof sum);
        for (size_t i = 0; i < n; i++) {
            ast_vmf_sample(random, dimension, NULL, kappa, x);
            for (size_t d = 0; d < dimension; d++)
                sum[d] += x[d];
        }
        for (size_t d = 0; d < dimension; d++)
            squared += sum[d] * sum[d];
        double resultant = sqrt(squared) / (double)n;
        ast_mean_error e = ast_mean_error_of(dimension, (double)n, resultant, ast_vmf_kappa(dimension, resultant));
        cones += acos(sum[0] / sqrt(squared)) / DEGREE <= e.alpha95;
        intervals += e.kappa_interval[0] <= kappa && kappa <= e.kappa_interval[1];
    }
    if (cones < 930 || cones > 970 || intervals < 930 || intervals > 970)
        fail_msg("D %zu, kappa %g, n %zu: cones %d, intervals %d of %d", dimension, kappa, n, cones, intervals,
                 samples);
}

static void test_coverage(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 5, 1);
    static const struct {
        size_t dimension, n;
        double kappa;
    } cases[] = {{2, 10, 5},  {2, 50, 2},   {3, 5, 20},   {3, 50, 4},   {4, 8, 10},
                 {10, 5, 60}, {10, 100, 5}, {50, 4, 800}, {50, 10, 60}, {50, 60, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cover(cases[i].dimension, cases[i].kappa, cases[i].n, &random);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles), cmocka_unit_test(test_fisher),     cmocka_unit_test(test_limits),
        cmocka_unit_test(test_edges),     cmocka_unit_test(test_uniformity), cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
