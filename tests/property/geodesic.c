/* SPDX-License-Identifier: MIT
 *
 * The geodesic problem against brute force. A solution whose angles add up and whose losses are what its angles cost
 * can be wrong only by being too expensive, so that is what is compared: no point of a grid over all ways to share
 * zeta, nor a search from the best of them, may cost less. */
#include "geodesic.h"
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct problem {
    double zeta, w, beta;
    uint32_t dt;
    double a;
} problem;

static double one_loss(double weight, double angle) {
    double half = sin(angle / 2);
    return angle == 0 ? 0 : 2 * weight * half * half;
}

/* The cost of sharing zeta between theta, all steps and eta in the proportions exp(x), exp(y), 1. */
static double shared_cost(const problem *p, double x, double y) {
    double theta = exp(x), steps = p->dt > 0 ? exp(y) : 0, unit = p->zeta / (theta + steps + 1);
    double phi = p->dt > 0 ? steps * unit / p->dt : 0;
    return one_loss(p->w, theta * unit) + p->dt * one_loss(p->beta, phi) + one_loss(p->a, unit);
}

static double refine(const problem *p, double x, double y, double best) {
    for (int halvings = 0; halvings < 27; halvings++)
        for (bool better = true; better;) {
            double step = ldexp(1, -halvings);
            better = false;
            for (int side = 0; side < 8; side++) {
                double dx = step * (double[]){1, -1, 0, 0, 1, 1, -1, -1}[side];
                double dy = step * (double[]){0, 0, 1, -1, 1, -1, 1, -1}[side];
                double cost = shared_cost(p, x + dx, y + dy);
                if (cost < best) {
                    best = cost;
                    x += dx;
                    y += dy;
                    better = true;
                }
            }
        }
    return best;
}

static double brute_force(const problem *p) {
    double best = INFINITY, best_x = 0, best_y = 0;
    for (int i = -48; i <= 48; i++)
        for (int j = p->dt > 0 ? -48 : 0; j <= (p->dt > 0 ? 48 : 0); j++) {
            double cost = shared_cost(p, i, j);
            if (cost < best) {
                best = cost;
                best_x = i;
                best_y = j;
            }
        }
    return refine(p, best_x, best_y, best);
}

/* What holds of every solution, optimal or not. */
static ast_geodesic solve_checked(const problem *p) {
    ast_geodesic s;
    memset(&s, 0xff, sizeof s);
    ast_geodesic_solve(p->zeta, p->w, p->beta, p->dt, p->a, &s);
    assert_true(s.theta >= 0 && s.theta <= M_PI && s.phi >= 0 && s.phi <= M_PI && s.eta >= 0 && s.eta <= M_PI);
    assert_true(fabs(s.theta + p->dt * s.phi + s.eta - p->zeta) <= 1e-12);
    assert_in_range(s.iterations, 0, 64);
    double cost = one_loss(p->w, s.theta) + p->dt * one_loss(p->beta, s.phi) + one_loss(p->a, s.eta);
    assert_true(fabs(cost - s.loss) <= 1e-14 * cost);
    return s;
}

static double random_weight(ast_random *random) {
    return pow(10, -6 + 18 * ast_random_uniform(random));
}

static problem random_problem(ast_random *random) {
    problem p = {.w = random_weight(random)};
    p.beta = random_weight(random);
    p.a = random_weight(random);
    if (ast_random_below(random, 3) == 0) { /* weights close to each other, where the branches meet */
        p.beta = p.w * (0.5 + ast_random_uniform(random));
        p.a = p.w * (0.5 + ast_random_uniform(random));
    }
    if (ast_random_below(random, 20) == 0)
        p.a = p.w;
    p.dt = (uint32_t)(ast_random_below(random, 2) ? ast_random_below(random, 4) : ast_random_below(random, 1001));
    switch (ast_random_below(random, 4)) {
    case 0:
        p.zeta = pow(10, -12 * ast_random_uniform(random));
        break;
    case 1:
        p.zeta = M_PI - pow(10, -16 * ast_random_uniform(random));
        break;
    default:
        p.zeta = M_PI * ast_random_uniform(random);
    }
    return p;
}

static void test_beats_brute_force(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 5, 0);
    for (int i = 0; i < 4000; i++) {
        problem p = random_problem(&random);
        ast_geodesic s = solve_checked(&p);
        double brute = brute_force(&p);
        if (!(s.loss <= brute * (1 + 1e-9)))
            fail_msg("zeta %.17g w %g beta %g dt %u a %g: losses %.17g, brute force %.17g", p.zeta, p.w, p.beta,
                     (unsigned)p.dt, p.a, s.loss, brute);
    }
}

/* Many more problems, without the brute force: feasible, finite, few steps, and stationary. */
static void test_extremes_are_feasible_and_stationary(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 6, 0);
    long steps = 0;
    int most = 0;
    for (int i = 0; i < 200000; i++) {
        problem p = random_problem(&random);
        ast_geodesic s = solve_checked(&p);
        steps += s.iterations;
        most = s.iterations > most ? s.iterations : most;
        double force = p.w * sin(s.theta), pull = p.a * sin(s.eta), size = fmin(p.w, p.a);
        assert_true(fabs(force - pull) <= 1e-9 * fmax(force, pull) + 1e-14 * size);
    }
    assert_true((double)steps / 200000 < 8);
    assert_in_range(most, 1, 40);
}

static void test_limits(void **state) {
    (void)state;
    ast_geodesic s = solve_checked(&(problem){0, 3, 4, 5, 2});
    assert_true(s.theta == 0 && s.phi == 0 && s.eta == 0 && s.loss == 0);

    s = solve_checked(&(problem){2, 0, 4, 5, 2}); /* the old mean has no weight: it gives way for nothing */
    assert_true(s.theta == 2 && s.phi == 0 && s.eta == 0 && s.loss == 0);
    s = solve_checked(&(problem){2, 3, 0, 5, 2}); /* so do free steps */
    assert_true(s.theta == 0 && fabs(s.phi - 0.4) < 1e-15 && s.eta == 0 && s.loss == 0);
    s = solve_checked(&(problem){M_PI, 0, 0, 1000, 2});
    assert_true(s.eta == 0 && s.loss == 0);

    s = solve_checked(&(problem){2, 3, INFINITY, 5, 2}); /* a mean that cannot move: the two-weight problem */
    ast_geodesic two = solve_checked(&(problem){2, 3, 7, 0, 2});
    assert_true(s.phi == 0 && two.phi == 0);
    assert_true(fabs(two.theta - atan2(2 * sin(2), 3 + 2 * cos(2))) < 1e-14);
    assert_true(fabs(s.theta - two.theta) < 1e-14 && fabs(s.eta - two.eta) < 1e-14);

    s = solve_checked(&(problem){2, INFINITY, INFINITY, 5, 2}); /* nothing can move but the data */
    assert_true(s.theta == 0 && s.phi == 0 && fabs(s.eta - 2) < 1e-15);
    s = solve_checked(&(problem){M_PI, 3, 9, 0, 2}); /* opposite: the heavier one keeps its place */
    assert_true(s.theta < 1e-15 && fabs(s.eta - M_PI) < 1e-14);
    s = solve_checked(&(problem){M_PI, 2, 9, 0, 3});
    assert_true(s.eta < 1e-15 && fabs(s.theta - M_PI) < 1e-14);
    s = solve_checked(&(problem){M_PI, 1, 1, 1, 1}); /* all alike: a third each */
    assert_true(fabs(s.theta - M_PI / 3) < 1e-14 && fabs(s.phi - M_PI / 3) < 1e-14);
}

/* The losses grow with the angle (section 5: the slope is w sin(theta) on both branches). */
static void test_losses_grow_with_angle(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 7, 0);
    for (int i = 0; i < 300; i++) {
        problem p = random_problem(&random);
        double last = 0;
        for (int step = 0; step <= 200; step++) {
            p.zeta = M_PI * step / 200;
            ast_geodesic s = solve_checked(&p);
            assert_true(s.loss >= last * (1 - 1e-13));
            last = s.loss;
        }
    }
}

/* ---- Vectors --------------------------------------------------------------------------------------------------- */

static void random_unit(ast_random *random, size_t dimension, double *x) {
    double square = 0;
    for (size_t d = 0; d < dimension; d++) {
        x[d] = ast_random_normal(random);
        square += x[d] * x[d];
    }
    for (size_t d = 0; d < dimension; d++)
        x[d] /= sqrt(square);
}

static void test_mean_lies_between(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 8, 0);
    for (int i = 0; i < 3000; i++) {
        size_t dimension = 2 + ast_random_below(&random, 20);
        double u[22], m[22];
        float mf[22], mu[22];
        random_unit(&random, dimension, u);
        random_unit(&random, dimension, m);
        double near = ast_random_below(&random, 3) == 0 ? pow(10, -6 * ast_random_uniform(&random)) : 1, square = 0;
        double side = ast_random_below(&random, 2) ? 1 : -1; /* also close to u, and close to -u */
        for (size_t d = 0; d < dimension; d++)
            square += pow(m[d] = near * m[d] + side * (1 - near) * u[d], 2);
        for (size_t d = 0; d < dimension; d++)
            mf[d] = (float)(m[d] / sqrt(square));
        double zeta = ast_angle_from(u, mf, dimension), eta = zeta * ast_random_uniform(&random);
        ast_geodesic_mean(dimension, u, mf, eta, zeta, mu);
        assert_true(fabs(ast_angle_from(u, mu, dimension) - eta) < 2e-7);
        assert_true(fabs(ast_angle_between(mu, mf, dimension) - (zeta - eta)) < 2e-7);
    }
}

static void test_mean_of_opposites(void **state) {
    (void)state;
    double u[4] = {0.5, -0.1, 0.1, -0.1}, length = sqrt(0.25 + 0.03); /* |u_1| = |u_2| = |u_3|: the lowest is 1 */
    float m[4], mu[4];
    for (int d = 0; d < 4; d++) {
        u[d] /= length;
        m[d] = (float)-u[d];
    }
    ast_geodesic_mean(4, u, m, 0.7, M_PI, mu);
    assert_true(fabs(ast_angle_from(u, mu, 4) - 0.7) < 1e-7);
    double scale = sin(0.7) / sqrt(1 - u[1] * u[1]);
    for (int d = 0; d < 4; d++)
        assert_true(fabs(mu[d] - (cos(0.7) * u[d] + scale * ((d == 1) - u[1] * u[d]))) < 1e-7);
    ast_geodesic_mean(4, u, m, 0, M_PI, mu);
    for (int d = 0; d < 4; d++)
        assert_true(mu[d] == (float)u[d]);
}

static void test_angle_is_accurate_at_both_ends(void **state) {
    (void)state;
    float x[3] = {1, 0, 0}, opposite[3] = {-1, 0, 0}, aside[3] = {0, -1, 0};
    assert_true(ast_angle_between(x, x, 3) == 0);
    assert_true(ast_angle_between(x, opposite, 3) == M_PI);
    assert_true(fabs(ast_angle_between(x, aside, 3) - M_PI_2) < 1e-15);
    for (int i = -21; i < -3; i++) {
        double angle = pow(7, i);
        float close[3] = {(float)cos(angle), (float)sin(angle), 0};
        assert_true(fabs(ast_angle_between(x, close, 3) / angle - 1) < 1e-6);
        double u[3] = {-1, 0, 0};
        assert_true(fabs(M_PI - ast_angle_from(u, close, 3) - angle) < 1e-15 + 1e-6 * angle);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beats_brute_force),
        cmocka_unit_test(test_extremes_are_feasible_and_stationary),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_losses_grow_with_angle),
        cmocka_unit_test(test_mean_lies_between),
        cmocka_unit_test(test_mean_of_opposites),
        cmocka_unit_test(test_angle_is_accurate_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
