/* SPDX-License-Identifier: MIT
 *
 * The paper's Theorem 1, Laplace's approximation on a manifold, by numerical integration, and what it is used for.
 *
 * As it must read: for f with a unique maximum x* on M (m dimensions) and the columns of U an orthonormal basis of the
 * tangent space at x*,
 *
 *     integral over M of exp(tau f)  /  ((2 pi / tau)^(m/2) det(-H)^(-1/2) exp(tau f(x*)))  ->  1,
 *
 * H the Hessian of f along M: on the unit sphere U' (grad^2 f) U - (x* . grad f) I. The paper prints the power m, the
 * determinant to the power +1/2, without the minus sign, and only U' (grad^2 f) U, which is 0 for a linear f. Its
 * conclusions keep nothing but exp(tau f(x*)), so that none of them depends on this.
 *
 * The paper also prints xi = exp(beta tau) for the concentration of a step; what follows from it needs xi = beta tau.
 */
#include "asterism.h"
#include "geodesic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

/* f(x) = b x_1 + sum_j a_j x_j^2 on the unit sphere of R^D. Its maximum is at e_1 if b > 0 and a_1 is the largest. */
typedef struct function {
    int dimension;
    double b, a[4];
} function;

static double value(const function *f, const double *x) {
    double sum = f->b * x[0];
    for (int j = 0; j < f->dimension; j++)
        sum += f->a[j] * x[j] * x[j];
    return sum;
}

/* det(-H) at e_1; without `curved` the second term of H is left out. */
static double determinant(const function *f, int curved) {
    double det = 1, slope = f->b + 2 * f->a[0]; /* x* . grad f */
    for (int j = 1; j < f->dimension; j++)
        det *= (curved ? slope : 0) - 2 * f->a[j];
    return det;
}

/* The integral of exp(tau (f - f*)) along the geodesic from e_1 in the direction u, with the area element: Simpson. */
static double along(const function *f, const double *u, double tau) {
    enum { STEPS = 2000 };
    const double e1[4] = {1, 0, 0, 0}, highest = value(f, e1);
    double sum = 0, x[4];
    for (int i = 0; i <= STEPS; i++) {
        double r = PI * i / STEPS, s = sin(r);
        x[0] = cos(r);
        for (int j = 1; j < f->dimension; j++)
            x[j] = s * u[j];
        double area = f->dimension == 3 ? s : s * s;
        sum += (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * area * exp(tau * (value(f, x) - highest));
    }
    return sum * PI / (3 * STEPS);
}

/* Over all directions: a circle for S^2, a sphere for S^3, by circles of latitude. */
static double integral(const function *f, double tau) {
    enum { AROUND = 24, LATITUDES = 32 };
    double sum = 0, u[4] = {0};
    int latitudes = f->dimension == 3 ? 0 : LATITUDES;
    for (int v = 0; v <= latitudes; v++) {
        double z = latitudes ? -1 + 2.0 * v / latitudes : 0, ring = 0;
        for (int i = 0; i < AROUND; i++) {
            u[1] = sqrt(1 - z * z) * cos(2 * PI * i / AROUND);
            u[2] = sqrt(1 - z * z) * sin(2 * PI * i / AROUND);
            u[3] = z;
            ring += along(f, u, tau) * 2 * PI / AROUND;
        }
        double weight = latitudes ? (v == 0 || v == latitudes ? 1 : v % 2 ? 4 : 2) * 2.0 / (3 * latitudes) : 1;
        sum += weight * ring;
    }
    return sum;
}

static const function functions[] = {
    {3, 1.5, {0, 0, 0, 0}}, {4, 1.5, {0, 0, 0, 0}}, {3, 0.4, {1.0, 0.3, -0.5, 0}}, {4, 0.4, {1.0, 0.3, -0.5, 0.6}}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void ratio_tends_to_one(void **state) {
    (void)state;
    for (int i = 0; i < FUNCTIONS; i++) {
        const function *f = &functions[i];
        double m = f->dimension - 1, det = determinant(f, 1), before = INFINITY;
        for (double tau = 25; tau <= 1600; tau *= 4) {
            double whole = integral(f, tau), ratio = whole / (pow(2 * PI / tau, m / 2) / sqrt(det));
            assert_true(fabs(ratio - 1) < 2 / tau);
            assert_true(fabs(ratio - 1) < before / 3 || fabs(ratio - 1) < 1e-6); /* of the order 1 / tau, or 0 */
            before = fabs(ratio - 1);
        }
    }
}

static void misprints_do_not(void **state) {
    (void)state;
    const double tau = 1600;
    for (int i = 0; i < FUNCTIONS; i++) {
        const function *f = &functions[i];
        double m = f->dimension - 1, det = determinant(f, 1), whole = integral(f, tau);
        assert_true(whole / (pow(2 * PI / tau, m) / sqrt(det)) > 100);               /* the power m */
        assert_true(fabs(whole / (pow(2 * PI / tau, m / 2) * sqrt(det)) - 1) > 0.5); /* the determinant to +1/2 */
        assert_true(fabs(determinant(f, 0) - det) > 0.5 * fabs(det));                /* the Hessian in R^n */
        assert_true(f->a[0] > 0 || determinant(f, 0) == 0);                          /* which is 0 for a linear f */
    }
}

/* For a linear f the integral is what makes the von Mises-Fisher density a density. */
static void linear_is_the_normaliser(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const function *f = &functions[i];
        double tau = 40, kappa = tau * f->b;
        assert_true(fabs(log(integral(f, tau)) + ast_vmf_log_density((size_t)f->dimension, kappa, 1)) < 1e-9);
    }
}

/* ---- The walk of a mean ------------------------------------------------------------------------------------------ */

enum { DEGREES = 400 };

/* The Legendre coefficients of a von Mises-Fisher density on S^2: I_(l+1/2)(kappa) / I_(1/2)(kappa). Those of a step
 * after a step multiply. */
static void multiply(double *coefficients, double kappa) {
    double ratios[2 * DEGREES], ratio = 0, product = 1;
    for (int l = 2 * DEGREES; l-- > 0;) { /* the continued fraction of I_(l+3/2) / I_(l+1/2), from its far end */
        ratio = 1 / ((2 * l + 3) / kappa + ratio);
        ratios[l] = ratio;
    }
    for (int l = 0; l < DEGREES; l++) {
        coefficients[l] *= product;
        product *= ratios[l];
    }
}

/* The density of a point at the angle zeta from the old mean, all intermediate means integrated out: the old mean with
 * concentration w tau, dt steps with xi, the point with tau. */
static double density(double zeta, double w, double xi, int dt, double tau) {
    double coefficients[DEGREES], last = 0, legendre = 1, sum = 0;
    for (int l = 0; l < DEGREES; l++)
        coefficients[l] = (2 * l + 1) / (4 * PI);
    multiply(coefficients, tau);
    multiply(coefficients, w * tau);
    for (int step = 0; step < dt; step++)
        multiply(coefficients, xi);
    for (int l = 0; l < DEGREES; l++) {
        double next = ((2 * l + 1) * cos(zeta) * legendre - l * last) / (l + 1);
        sum += coefficients[l] * legendre;
        last = legendre;
        legendre = next;
    }
    return sum;
}

/* On S^2 the density tends to c tau exp(-tau losses): so twice the tau tells the losses, which the rule of the stream
 * computes by Newton's method. */
static void walk_costs_what_the_rule_says(void **state) {
    (void)state;
    const double w = 2, beta = 3;
    for (int dt = 1; dt <= 3; dt++) {
        for (double zeta = 0.4; zeta < 1.5; zeta += 0.5) {
            double tau = 16 / zeta;
            double found =
                -log(density(zeta, w, beta * 2 * tau, dt, 2 * tau) / (2 * density(zeta, w, beta * tau, dt, tau))) / tau;
            ast_geodesic right, printed;
            ast_geodesic_solve(zeta, w, beta, (uint32_t)dt, 1, &right);
            ast_geodesic_solve(zeta, w, INFINITY, (uint32_t)dt, 1, &printed); /* xi = exp(beta tau): no motion */
            assert_true(fabs(found - right.loss) < 0.02 * right.loss);
            assert_true(printed.loss > 1.1 * right.loss);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratio_tends_to_one),
        cmocka_unit_test(misprints_do_not),
        cmocka_unit_test(linear_is_the_normaliser),
        cmocka_unit_test(walk_costs_what_the_rule_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
