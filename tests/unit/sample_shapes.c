/* SPDX-License-Identifier: MIT
 *
 * Draws of Watson, Kent, Bingham and small-circle distributions: their moments against integrals of the densities by
 * the trapezoid and midpoint rules, which share no code with the draws; and bad mixtures. */
#include "asterism.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DRAWS ((size_t)40000)
#define ERRORS 5 /* standard errors that a moment may be off by */

static ast_context *context;

static float *draw(const ast_mixture *mixture, float *mean) {
    float *rows = malloc(mixture->points * mixture->dimension * sizeof *rows);
    assert_non_null(rows);
    assert_int_equal(ast_sample_mixture(context, mixture, rows, NULL, mean), AST_OK);
    for (size_t i = 0; i < mixture->points; i++) {
        double squares = 0;
        for (size_t d = 0; d < mixture->dimension; d++)
            squares += (double)rows[i * mixture->dimension + d] * (double)rows[i * mixture->dimension + d];
        assert_true(fabs(squares - 1) < 1e-5);
    }
    return rows;
}

static ast_mixture mixture_of(ast_distribution kind, size_t dimension, double kappa) {
    return (ast_mixture){.size = sizeof(ast_mixture),
                         .points = DRAWS,
                         .dimension = dimension,
                         .clusters = 1,
                         .kappa = kappa,
                         .seed = 7,
                         .distribution = kind};
}

/* The mean of value, whose square has a mean too, within its standard error. */
static void assert_mean(const double *values, double expected, const char *what) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < DRAWS; i++)
        sum += values[i];
    double mean = sum / (double)DRAWS;
    for (size_t i = 0; i < DRAWS; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    double error = sqrt(squares) / (double)DRAWS;
    if (!(fabs(mean - expected) <= ERRORS * error + 1e-6))
        fail_msg("%s: the mean is %.6f +- %.6f, but %.6f is expected", what, mean, error, expected);
}

/* The log density in t = cos a, of the distributions that depend on nothing else. */
static double log_density(const ast_mixture *m, double t) {
    double away = t - cos(m->radius * M_PI / 180);
    return m->distribution == AST_WATSON ? m->kappa * t * t : -m->kappa * away * away;
}

/* The means of t^power, by the midpoint rule in the angle a: dt (1 - t^2)^((D-3)/2) = sin(a)^(D-2) da. */
static double moment(const ast_mixture *m, int power) {
    enum { STEPS = 400000 };
    double most = -INFINITY, mass = 0, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < STEPS; i++) {
            double a = M_PI * (i + 0.5) / STEPS,
                   log_part = log_density(m, cos(a)) + ((double)m->dimension - 2) * log(sin(a));
            if (pass == 0) {
                most = fmax(most, log_part);
                continue;
            }
            mass += exp(log_part - most);
            sum += exp(log_part - most) * pow(cos(a), power);
        }
    return sum / mass;
}

static void check_rotational(const ast_mixture *m, const char *what) {
    float *mean = malloc(m->dimension * sizeof *mean), *rows = draw(m, mean);
    double *values = malloc(3 * DRAWS * sizeof *values);
    for (size_t i = 0; i < DRAWS; i++) {
        double t = 0;
        for (size_t d = 0; d < m->dimension; d++)
            t += (double)rows[i * m->dimension + d] * (double)mean[d];
        values[i] = t;
        values[DRAWS + i] = t * t;
        values[2 * DRAWS + i] = t * t * t * t;
    }
    assert_mean(values, moment(m, 1), what);
    assert_mean(values + DRAWS, moment(m, 2), what);
    assert_mean(values + 2 * DRAWS, moment(m, 4), what);
    free(values);
    free(mean);
    free(rows);
}

static void test_watson(void **state) {
    (void)state;
    static const double kappas[] = {0, 0.5, 5, 50, 1000, -0.5, -5, -50, -1000};
    static const size_t dimensions[] = {2, 3, 10, 100};
    for (size_t d = 0; d < 4; d++)
        for (size_t k = 0; k < sizeof kappas / sizeof *kappas; k++) {
            ast_mixture m = mixture_of(AST_WATSON, dimensions[d], kappas[k]);
            m.points = DRAWS;
            check_rotational(&m, "watson");
        }
}

static void test_small_circle(void **state) {
    (void)state;
    static const double kappas[] = {0, 1, 30, 2000}, radii[] = {0, 20, 45, 90, 170};
    static const size_t dimensions[] = {3, 4, 20};
    for (size_t d = 0; d < 3; d++)
        for (size_t k = 0; k < 4; k++)
            for (size_t r = 0; r < 5; r++) {
                ast_mixture m = mixture_of(AST_SMALL_CIRCLE, dimensions[d], kappas[k]);
                m.radius = radii[r];
                check_rotational(&m, "small circle");
            }
}

/* D = 3: the means of x_0 and of the sorted second moments, over angle a and azimuth. */
static void expected_moments(const ast_mixture *m, double moments[4]) {
    enum { STEPS = 1500 };
    double mass = 0, sums[4] = {0}, top = m->kappa;
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < STEPS; j++) {
            double a = M_PI * (i + 0.5) / STEPS, b = M_PI * (j + 0.5) / STEPS, t = cos(a), u = sin(a) * cos(b),
                   v = sin(a) * sin(b);
            double height = m->distribution == AST_KENT ? m->kappa * t + m->beta * (u * u - v * v)
                                                        : m->kappa * t * t + m->beta * u * u;
            double part = exp(height - top) * sin(a);
            mass += part;
            sums[0] += part * t;
            sums[1] += part * t * t;
            sums[2] += part * u * u;
            sums[3] += part * v * v;
        }
    for (int i = 0; i < 4; i++)
        moments[i] = sums[i] / mass;
}

/* The second axis is not known: E of (x'Ax)-free quantities: t, t^2, and the eigenvalues across the mean. */
static void check_elliptical(const ast_mixture *m, const char *what) {
    float mean[3], *rows = draw(m, mean);
    double *t = malloc(2 * DRAWS * sizeof *t), expected[4], across[3] = {0};
    double first[3] = {0}, second[3];
    size_t least = fabsf(mean[0]) < fabsf(mean[1]) ? 0 : 1;
    first[least] = 1; /* a frame across the mean */
    for (size_t d = 0; d < 3; d++)
        first[d] -= (double)mean[least] * (double)mean[d];
    double length = sqrt(first[0] * first[0] + first[1] * first[1] + first[2] * first[2]);
    for (size_t d = 0; d < 3; d++)
        first[d] /= length;
    for (size_t d = 0; d < 3; d++)
        second[d] = (double)mean[(d + 1) % 3] * first[(d + 2) % 3] - (double)mean[(d + 2) % 3] * first[(d + 1) % 3];
    for (size_t i = 0; i < DRAWS; i++) {
        double x = 0, u = 0, v = 0;
        for (size_t d = 0; d < 3; d++) {
            x += (double)rows[3 * i + d] * (double)mean[d];
            u += (double)rows[3 * i + d] * first[d];
            v += (double)rows[3 * i + d] * second[d];
        }
        t[i] = x;
        t[DRAWS + i] = x * x;
        across[0] += u * u / (double)DRAWS;
        across[1] += v * v / (double)DRAWS;
        across[2] += u * v / (double)DRAWS;
    }
    expected_moments(m, expected);
    assert_mean(t, expected[0], what);
    assert_mean(t + DRAWS, expected[1], what);
    double half = (across[0] - across[1]) / 2, root = hypot(half, across[2]), middle = (across[0] + across[1]) / 2;
    double relative = ERRORS * sqrt(2 / (double)DRAWS) * 1.5;
    if (fabs(middle + root - expected[2]) > relative * expected[2] ||
        fabs(middle - root - expected[3]) > relative * expected[2])
        fail_msg("%s: second moments %.5f %.5f, but %.5f %.5f are expected", what, middle + root, middle - root,
                 expected[2], expected[3]);
    free(t);
    free(rows);
}

static void test_kent_and_bingham(void **state) {
    (void)state;
    static const double kappas[] = {2, 20, 200}, shares[] = {0, 0.25, 0.8, 1};
    for (size_t k = 0; k < 3; k++)
        for (size_t b = 0; b < 4; b++) {
            ast_mixture m = mixture_of(AST_KENT, 3, kappas[k]);
            m.beta = shares[b] * kappas[k] / 2;
            check_elliptical(&m, "kent");
            m = mixture_of(AST_BINGHAM, 3, kappas[k]);
            m.beta = shares[b] * kappas[k] * 0.9;
            check_elliptical(&m, "bingham");
        }
}

static void assert_refused(const ast_mixture *m, const char *words) {
    float rows[30];
    assert_int_equal(ast_sample_mixture(context, m, rows, NULL, NULL), AST_BAD_OPTION);
    if (!strstr(ast_message(context), words))
        fail_msg("'%s' does not contain '%s'", ast_message(context), words);
}

static void test_bad_mixtures(void **state) {
    (void)state;
    ast_mixture m = mixture_of(AST_KENT, 4, 10);
    m.points = 3;
    assert_refused(&m, "Kent distributions have 3 dimensions");
    m.dimension = 3;
    m.beta = 5.1;
    assert_refused(&m, "between 0 and half of kappa");
    m.distribution = AST_BINGHAM;
    m.beta = 10.1;
    assert_refused(&m, "between 0 and kappa");
    m.distribution = AST_VON_MISES_FISHER;
    m.kappa = -1;
    assert_refused(&m, "only that of Watson");
    m = mixture_of(AST_SMALL_CIRCLE, 2, 10);
    m.points = 3;
    assert_refused(&m, "at least 3 dimensions");
    m.dimension = 3;
    m.radius = 181;
    assert_refused(&m, "radius of small circles");
    m = mixture_of(AST_WATSON, 3, 10);
    m.points = 3;
    m.separation = 91;
    assert_refused(&m, "separation of axes");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_watson), cmocka_unit_test(test_small_circle),
                                       cmocka_unit_test(test_kent_and_bingham), cmocka_unit_test(test_bad_mixtures)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
