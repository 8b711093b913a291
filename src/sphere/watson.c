/* SPDX-License-Identifier: MIT
 *
 * The main idea: M(a, b, x) for x > 0 has a series of positive terms, short for small x, and an asymptotic series in
 * 1/x for large x (DLMF 13.2.2, 13.7.2). For the other sign, M(a, b, -x) = exp(-x) M(b - a, b, x), and 13.7.2 again for
 * large x. Neither overflows, because the sums are scaled. */
#include "watson.h"

#include "asterism.h"
#include "system.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define FAR 400.0     /* |kappa| from which the asymptotic series is exact in few dimensions ... */
#define FAR_EACH 12.0 /* ... and what each dimension adds */
#define MOST_TERMS 60 /* of the asymptotic series */
#define SCALE 0x1p-900
#define ROOT_STEPS 200

/* ln M(a, b, x), x >= 0, and *slope: d/dx of it. Terms are divided by 2^900 whenever they become that large. */
static double log_series(double a, double b, double x, double *slope) {
    double term = 1, above_one = 0, weighted = 0, logs = 0;
    bool scaled = false;
    for (int j = 1; j < x || term > 1e-18 * (above_one + 1); j++) {
        term *= (a + j - 1) / (b + j - 1) * (x / j);
        above_one += term;
        weighted += term * j;
        if (above_one > 1 / SCALE) {
            term *= SCALE;
            above_one *= SCALE;
            weighted *= SCALE;
            logs -= log(SCALE);
            scaled = true;
        }
    }
    double all = scaled ? above_one : 1 + above_one; /* a one that was scaled is nothing */
    *slope = x > 0 ? weighted / x / all : a / b;
    return logs + (scaled ? log(above_one) : log1p(above_one));
}

/* S = sum_s (p)_s (q)_s / s! x^-s up to its smallest term, and d/dx of ln S. */
static double asymptotic(double p, double q, double x, double *slope) {
    double term = 1, sum = 1, weighted = 0;
    for (int s = 1; s < MOST_TERMS; s++) {
        double next = term * (p + s - 1) * (q + s - 1) / s / x;
        if (fabs(next) >= fabs(term) || fabs(next) < 1e-18)
            break;
        term = next;
        sum += term;
        weighted -= s * term / x;
    }
    *slope = weighted / sum;
    return log(sum);
}

/* ln M(1/2, D/2, kappa) and the mean of t^2. */
static double both(size_t dimension, double kappa, double *moment) {
    double a = 0.5, b = (double)dimension / 2, x = fabs(kappa), slope, logs;
    assert(dimension >= 2 && isfinite(kappa));
    if (x < FAR + FAR_EACH * b) {
        logs = log_series(kappa > 0 ? a : b - a, b, x, &slope);
        *moment = kappa > 0 ? slope : 1 - slope;
        return kappa > 0 ? logs : logs - x;
    }
    if (kappa > 0) {
        logs = asymptotic(b - a, 1 - a, x, &slope);
        *moment = 1 + (a - b) / x + slope;
        return x + (a - b) * log(x) + ast_log_gamma(b) - ast_log_gamma(a) + logs;
    }
    logs = asymptotic(a, a - b + 1, x, &slope);
    *moment = a / x - slope;
    return -a * log(x) + ast_log_gamma(b) - ast_log_gamma(b - a) + logs;
}

double ast_watson_log_kummer(size_t dimension, double kappa) {
    double moment;
    return both(dimension, kappa, &moment);
}

double ast_watson_log_density(size_t dimension, double kappa, double cosine) {
    if (dimension < 2 || !isfinite(kappa))
        return NAN;
    double half = (double)dimension / 2, log_area = M_LN2 + half * log(M_PI) - ast_log_gamma(half);
    return kappa * cosine * cosine - ast_watson_log_kummer(dimension, kappa) - log_area;
}

double ast_watson_second_moment(size_t dimension, double kappa) {
    double moment;
    both(dimension, kappa, &moment);
    return moment;
}

/* A bracket of Sra and Karp (2013), widened, and Newton's method within it; Kummer's equation gives the slope. */
double ast_watson_kappa(size_t dimension, double moment) {
    double c = (double)dimension / 2, a = 0.5;
    if (!(moment >= 0 && moment <= 1))
        return NAN;
    if (moment == 0 || moment == 1)
        return moment == 0 ? -INFINITY : INFINITY;
    double middle = (moment * c - a) / (moment * (1 - moment));
    double bounds[2] = {middle * (1 + (1 - moment) / (c - a)), middle * (1 + moment / a)};
    double low = fmin(bounds[0], bounds[1]), high = fmax(bounds[0], bounds[1]),
           slack = 1e-6 * (fabs(low) + fabs(high)) + 1e-9;
    low -= slack;
    high += slack;
    double kappa = middle > low && middle < high ? middle : (low + high) / 2;
    for (int i = 0; i < ROOT_STEPS; i++) {
        double g = ast_watson_second_moment(dimension, kappa);
        double slope =
            fabs(kappa) > 1e-3 ? (a - (c - kappa) * g) / kappa - g * g : (1 - 1 / (2 * c)) / (c * (2 * c + 2));
        *(g < moment ? &low : &high) = kappa;
        double next = slope > 0 ? kappa - (g - moment) / slope : NAN;
        if (!(next > low && next < high))
            next = (low + high) / 2;
        if (fabs(next - kappa) <= 1e-13 * fabs(kappa) + 1e-300)
            return next;
        kappa = next;
    }
    return kappa;
}

/* ---- Bingham's constant ------------------------------------------------------------------------------------------ */

/* The mean of exp(x'Ax) is a density of a weighted sum of chi-squares, whose saddlepoint (Kume and Wood 2005) solves
 * sum_j 1 / (s - l_j) = 2 above the largest eigenvalue l_0; then ln is s - 1/2 sum ln(s - l_j) - 1/2 ln k2, with
 * k2 = sum_j (s - l_j)^-2, up to its value for A = 0. */
double ast_bingham_log_mean(size_t dimension, const double *l, double *slopes) {
    double most = l[0], half = (double)dimension / 2, k2 = 0, k3 = 0, logs = 0;
    for (size_t j = 1; j < dimension; j++)
        most = fmax(most, l[j]);
    double gap = 0.5, low = 0.5, high = half; /* s - l_0 is within 1/2 and D/2, and the sum is convex in it */
    for (int i = 0; i < ROOT_STEPS; i++) {
        double sum = 0, slope = 0;
        for (size_t j = 0; j < dimension; j++) {
            double part = 1 / (gap + (most - l[j]));
            sum += part;
            slope += part * part;
        }
        *(sum > 2 ? &low : &high) = gap;
        double next = gap + sum * (sum - 2) / (2 * slope); /* Newton's step for 1 / sum, which is nearly linear */
        if (!(next >= low && next <= high))
            next = (low + high) / 2;
        bool done = fabs(next - gap) <= 1e-14 * gap;
        gap = next;
        if (done)
            break;
    }
    for (size_t j = 0; j < dimension; j++) {
        double part = 1 / (gap + (most - l[j]));
        logs -= log(part);
        k2 += part * part;
        k3 += part * part * part;
    }
    for (size_t j = 0; slopes && j < dimension; j++) {
        double part = 1 / (gap + (most - l[j]));
        slopes[j] = part / 2 - part * part * (part - k3 / k2) / k2;
    }
    double uniform = half - half * log(half) - 0.5 * log((double)dimension / (half * half));
    return most + gap - logs / 2 - 0.5 * log(k2) - uniform;
}

/* ---- Eigenvalues ------------------------------------------------------------------------------------------------- */

/* One rotation that makes element (p, q) zero. */
static void rotate(size_t n, double *m, double *v, size_t p, size_t q) {
    double off = m[p * n + q], difference = m[q * n + q] - m[p * n + p];
    double theta = difference / (2 * off), t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / hypot(t, 1), s = t * c;
    for (size_t i = 0; i < n; i++) {
        double x = m[i * n + p], y = m[i * n + q];
        m[i * n + p] = c * x - s * y;
        m[i * n + q] = s * x + c * y;
    }
    for (size_t i = 0; i < n; i++) {
        double x = m[p * n + i], y = m[q * n + i];
        m[p * n + i] = c * x - s * y;
        m[q * n + i] = s * x + c * y;
        x = v[p * n + i];
        y = v[q * n + i];
        v[p * n + i] = c * x - s * y;
        v[q * n + i] = s * x + c * y;
    }
}

void ast_jacobi_eigen(size_t n, double *m, double *v, double *values) {
    memset(v, 0, n * n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i * n + i] = 1;
    for (int sweep = 0; sweep < 40; sweep++) {
        double largest = 0, off = 0;
        for (size_t p = 0; p < n; p++)
            for (size_t q = 0; q < n; q++)
                *(p == q ? &largest : &off) = fmax(p == q ? largest : off, fabs(m[p * n + q]));
        if (off <= 1e-15 * largest)
            break;
        for (size_t p = 0; p + 1 < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (fabs(m[p * n + q]) > 1e-17 * largest)
                    rotate(n, m, v, p, q);
    }
    for (size_t i = 0; i < n; i++)
        values[i] = m[i * n + i];
    for (size_t i = 0; i < n; i++) { /* selection sort */
        size_t best = i;
        for (size_t j = i + 1; j < n; j++)
            best = values[j] > values[best] ? j : best;
        double value = values[i];
        values[i] = values[best];
        values[best] = value;
        for (size_t d = 0; d < n && best != i; d++) {
            double x = v[i * n + d];
            v[i * n + d] = v[best * n + d];
            v[best * n + d] = x;
        }
    }
}
