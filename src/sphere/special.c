/* SPDX-License-Identifier: MIT
 *
 * The regularised incomplete gamma and beta functions by their series and continued fractions (DLMF 8.11.4, 8.9.2,
 * 8.17.22), and quantiles by Newton steps within a bracket. The series and fractions take about the square root of the
 * degrees of freedom in terms, so that large degrees use the Wilson-Hilferty transformation and expansions instead. */
#include "special.h"

#include "system.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#define LARGE 1e5 /* half the degrees of freedom: from here on expansions are used */
#define MANY 400  /* degrees of freedom: from here on the expansion of a quantile is accurate to 1e-9 */
#define ENDED 1e-16
#define TINY 1e-300
#define MOST_TERMS 10000
#define STEP 1e-6 /* of Newton's method, relative: the step after it would be below 1e-11 */

/* The standard normal quantile: Hastings' approximation (4.5e-4), then Newton steps. */
static double normal_quantile(double p) {
    double tail = fmin(p, 1 - p), t = sqrt(-2 * log(tail));
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 3; i++)
        z += (0.5 * erfc(z * M_SQRT1_2) - tail) * sqrt(2 * M_PI) * exp(z * z / 2);
    return p < 0.5 ? -z : z;
}

/* One step of Lentz's method: the next partial numerator and denominator of a continued fraction. */
static double lentz(double numerator, double denominator, double *c, double *d) {
    *d = denominator + numerator * *d;
    *c = denominator + numerator / *c;
    *d = 1 / (fabs(*d) < TINY ? TINY : *d);
    *c = fabs(*c) < TINY ? TINY : *c;
    return *c * *d;
}

/* P(a, x), or with `upper` Q(a, x) = 1 - P(a, x), for x > 0 and scale = x^a exp(-x) / Gamma(a). */
static double incomplete_gamma(double a, double x, double scale, bool upper) {
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int n = 1; term > ENDED * sum; n++)
            sum += term *= x / (a + n);
        return upper ? 1 - scale * sum : scale * sum;
    }
    double c = 1 / TINY, b = x + 1 - a, d = 1 / b, product = d;
    double step = 0;
    for (int n = 1; fabs(step - 1) > ENDED && n < MOST_TERMS; n++)
        product *= step = lentz(-n * (n - a), b += 2, &c, &d);
    return upper ? scale * product : 1 - scale * product;
}

double ast_chi_square_tail(double degrees, double x) {
    double a = degrees / 2, ninth = 1 / (9 * a);
    if (!(x > 0))
        return isnan(x) ? (double)NAN : 1;
    if (a < LARGE)
        return incomplete_gamma(a, x / 2, exp(a * log(x / 2) - x / 2 - ast_log_gamma(a)), true);
    return 0.5 * erfc((cbrt(x / degrees) - 1 + ninth) / sqrt(2 * ninth));
}

/* The Cornish-Fisher expansion around the normal quantile z (Goldberg and Levine, Ann. Math. Statist. 17, 1946). */
static double expanded_quantile(double n, double z) {
    double zz = z * z, s = z * sqrt(2 * n), odd = zz - 7, quartic = (6 * zz + 14) * zz - 32;
    double quintic = (9 * zz + 256) * zz - 433, sextic = ((12 * zz - 243) * zz - 923) * zz + 1472;
    return n + s + (zz - 1) * 2 / 3 + s * odd / (18 * n) - quartic / (405 * n) + s * quintic / (9720 * n * n) +
           sextic / (25515 * n * n);
}

double ast_chi_square_quantile(double degrees, double p) {
    assert(degrees > 0 && p > 0 && p < 1);
    double a = degrees / 2, ninth = 1 / (9 * a), z = normal_quantile(p), root = 1 - ninth + z * sqrt(ninth);
    double x = a * root * root * root, low = 0, high = INFINITY;
    if (degrees >= MANY)
        return expanded_quantile(degrees, z);
    if (!(root > 0.2)) /* P(a, x) ~ x^a / Gamma(a + 1) near 0 */
        x = exp((log(p) + ast_log_gamma(a + 1)) / a);
    double log_scale = ast_log_gamma(a);
    for (int i = 0; i < 100 && x > 0; i++) {
        double scale = exp(a * log(x) - x - log_scale), error = incomplete_gamma(a, x, scale, false) - p;
        *(error > 0 ? &high : &low) = x;
        double next = x - x * error / scale;
        if (!(next > low && next < high))
            next = isinf(high) ? 2 * x : (low + high) / 2;
        bool done = fabs(next - x) <= STEP * x;
        x = next;
        if (done)
            break;
    }
    return 2 * x;
}

/* I_x(a, b), y = 1 - x, by the continued fraction, which converges fast for x below (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x, double scale) {
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < TINY ? TINY : d);
    double product = d;
    double step = 0;
    for (int m = 1; fabs(step - 1) > ENDED && m < MOST_TERMS; m++) {
        product *= lentz(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1, &c, &d);
        product *= step = lentz(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1, &c, &d);
    }
    return scale * product / a;
}

/* By Newton steps on log f: x = first f / (first f + second). */
double ast_f_quantile(double first, double second, double p) {
    assert(first > 0 && second > 0 && p > 0 && p < 1);
    double a = first / 2, b = second / 2, low = -60, high = 700, log_f = 0;
    if (b >= LARGE) { /* an expansion in 1 / second around the chi-square quantile */
        double c = ast_chi_square_quantile(first, p);
        return (c + c * (c - first + 2) / (2 * second)) / first;
    }
    double log_beta = ast_log_gamma(a) + ast_log_gamma(b) - ast_log_gamma(a + b);
    for (int i = 0; i < 100; i++) {
        double ratio = a / b * exp(log_f), x = ratio / (1 + ratio), y = 1 / (1 + ratio);
        double scale = exp(a * log(x) + b * log(y) - log_beta); /* the slope, too */
        double below = x < (a + 1) / (a + b + 2) ? beta_fraction(a, b, x, scale) : 1 - beta_fraction(b, a, y, scale);
        *(below > p ? &high : &low) = log_f;
        double next = log_f - (below - p) / scale;
        if (!(next > low && next < high))
            next = (low + high) / 2;
        bool done = fabs(next - log_f) <= STEP;
        log_f = next;
        if (done)
            break;
    }
    return log_f > 699 ? INFINITY : exp(log_f);
}

double ast_f_tail(double first, double second, double x) {
    double a = first / 2, b = second / 2;
    if (!(x > 0))
        return isnan(x) ? (double)NAN : 1;
    if (isinf(x))
        return 0;
    if (b >= LARGE)
        return ast_chi_square_tail(first, first * x);
    double low = first * x / (first * x + second), high = second / (first * x + second);
    double scale = exp(a * log(low) + b * log(high) - ast_log_gamma(a) - ast_log_gamma(b) + ast_log_gamma(a + b));
    return low < (a + 1) / (a + b + 2) ? 1 - beta_fraction(a, b, low, scale) : beta_fraction(b, a, high, scale);
}
