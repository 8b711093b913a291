/* SPDX-License-Identifier: MIT
 *
 * The evidence of Watson and Kent components, relative to points that are uniform.
 *
 * Watson, with S the mean of x x' over n points, M Kummer's function, B Bingham's constant (watson.h) and a normal
 * prior of t = ln |kappa|, each sign of kappa equally likely:
 *
 *     ln p(points | kappa) = - n ln M(kappa) + B(kappa n S)
 *
 * because B is the log of the mean of exp(kappa n mu'S mu) over all axes mu. B is a saddlepoint approximation. It is
 * corrected by its error at a matrix of rank one, where B(kappa n S) = ln M(kappa n) is known; so the evidence of a
 * single point is that of a uniform one, as it must be.
 *
 * Kent: the evidence of a von Mises-Fisher component (kappa_posterior.h), which is the Kent distribution with beta = 0,
 * times the mean likelihood ratio of e = 2 beta / kappa to e = 0, each at its most likely kappa: the mean is over e,
 * uniform in 0..1, and over the angle of the long axis, which gives exp(-z) I_0(z), z = n beta d. */
#include "family_inside.h"

#include "asterism.h"
#include "kent.h"
#include "vectors.h"
#include "watson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES 13
#define MIDDLE 6
#define STEP 0.75 /* between nodes, in standard deviations */
#define LEAST (-9.0)
#define MOST 18.0 /* of t */
#define ROOT_STEPS 60
#define SMALL_STEP 1e-3
#define HOPELESS 30 /* nats by which the less likely sign may be worse and is looked at */
#define MOST_RATIO 0.98
#define LOG_ROOT_TAU 0.9189385332046727

/* ---- Watson ------------------------------------------------------------------------------------------------------ */

typedef struct target {
    const ast_kappa_prior *prior;
    size_t dimension;
    double n, sign;
    const double *values; /* (D) eigenvalues of S */
} target;

/* B(kappa n S) and its derivatives in the eigenvalues. */
static double bingham(const target *p, double kappa, double *slopes) {
    double scaled[AST_WATSON_DIMENSION];
    for (size_t d = 0; d < p->dimension; d++)
        scaled[d] = kappa * p->n * p->values[d];
    return ast_bingham_log_mean(p->dimension, scaled, slopes);
}

/* d/dt of the log density of the posterior. */
static double slope_at(const target *p, double t) {
    double kappa = p->sign * exp(t), slopes[AST_WATSON_DIMENSION], sum = 0, width = p->prior->width;
    bingham(p, kappa, slopes);
    for (size_t d = 0; d < p->dimension; d++)
        sum += slopes[d] * p->values[d];
    return kappa * p->n * (sum - ast_watson_second_moment(p->dimension, kappa)) -
           (t - p->prior->centre) / (width * width);
}

static double bend_at(const target *p, double t) {
    return (slope_at(p, t + SMALL_STEP) - slope_at(p, t - SMALL_STEP)) / (2 * SMALL_STEP);
}

static double find_mode(const target *p, double t) {
    double low = LEAST, high = MOST;
    for (int i = 0; i < ROOT_STEPS; i++) {
        t = t > low && t < high ? t : (low + high) / 2;
        double slope = slope_at(p, t), bend = bend_at(p, t);
        *(slope > 0 ? &low : &high) = t;
        double next = bend < 0 ? t - slope / bend : (low + high) / 2;
        if (fabs(next - t) < 1e-6 || high - low < 1e-6)
            return next > low && next < high ? next : t;
        t = next;
    }
    return t;
}

/* ln p(points | kappa). */
static double log_given(const target *p, double kappa, double constant) {
    double one[AST_WATSON_DIMENSION] = {kappa * p->n};
    double missed = ast_watson_log_kummer(p->dimension, one[0]) - ast_bingham_log_mean(p->dimension, one, NULL);
    return p->n * constant + bingham(p, kappa, NULL) + missed;
}

static double node_at(double mode, double deviation, int j) {
    return fmin(MOST + 6, fmax(LEAST - 6, mode + (j - MIDDLE) * STEP * deviation));
}

/* weighted (D, or NULL): the mean of kappa times the mean of (v_j . mu)^2, for each eigenvector. */
static ast_kappa_posterior integrate(const target *p, double start, double *weighted) {
    const ast_kappa_prior *prior = p->prior;
    bool fixed = !isnan(prior->fixed_kappa);
    double mode = fixed ? log(fmax(prior->fixed_kappa, 1e-9)) : find_mode(p, start),
           bend = fixed ? -1 : bend_at(p, mode);
    double deviation = bend < 0 ? fmin(1 / sqrt(-bend), prior->width) : prior->width, total = 0, most = -INFINITY;
    double logs[NODES] = {0}, constants[NODES] = {0}, slopes[AST_WATSON_DIMENSION];
    ast_kappa_posterior found = {.kappa = p->sign * exp(mode)};
    int first = fixed ? MIDDLE : 0, last = fixed ? MIDDLE : NODES - 1;
    for (int j = first; j <= last; j++) {
        double t = node_at(mode, deviation, j), away = (t - prior->centre) / prior->width;
        double kappa = p->sign * exp(t);
        constants[j] = -ast_watson_log_kummer(p->dimension, kappa);
        logs[j] = log_given(p, kappa, constants[j]) - (fixed ? 0 : away * away / 2);
        most = fmax(most, logs[j]);
    }
    for (size_t d = 0; weighted && d < p->dimension; d++)
        weighted[d] = 0;
    for (int j = first; j <= last; j++) {
        double t = node_at(mode, deviation, j), away = t - prior->centre, part = exp(logs[j] - most);
        total += part;
        found.mean_log_constant += part * constants[j];
        found.centre += part * t;
        found.squared_deviation += part * away * away;
        if (!weighted)
            continue;
        bingham(p, p->sign * exp(t), slopes);
        for (size_t d = 0; d < p->dimension; d++)
            weighted[d] += part * p->sign * exp(t) * slopes[d];
    }
    found.log_marginal = most + (fixed ? 0 : log(total * STEP * deviation / prior->width) - LOG_ROOT_TAU);
    for (size_t d = 0; weighted && d < p->dimension; d++)
        weighted[d] /= total;
    found.mean_log_constant /= total;
    found.centre = fixed ? prior->centre : found.centre / total;
    found.squared_deviation /= total;
    return found;
}

/* sum_j weighted_j v_j v_j' as a functional. */
static void write_functional(size_t n, const double *vectors, const double *weighted, double *direction,
                             double *length) {
    size_t at = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++)
                sum += weighted[j] * vectors[j * n + a] * vectors[j * n + b];
            direction[at++] = sum * (a == b ? 1 : M_SQRT2);
        }
    *length = ast_normalise(direction, at);
    if (!(*length > 0)) {
        memset(direction, 0, at * sizeof *direction);
        direction[0] = 1;
        *length = 0;
    }
}

static void refresh(const ast_family *f, double mass, const double *sum, ast_family_cache *cache) {
    size_t bytes = ast_family_features(f) * sizeof *sum;
    if (cache->mass == mass && memcmp(cache->sum, sum, bytes) == 0)
        return;
    cache->mass = mass;
    memcpy(cache->sum, sum, bytes);
    ast_family_axes(f, mass, sum, cache->values, cache->vectors);
}

static ast_kappa_posterior watson_posterior(const ast_family *f, const ast_kappa_prior *prior, double mass,
                                            const double *sum, ast_family_cache *cache, double *direction,
                                            double *length, double *constant) {
    size_t n = f->dimension;
    double own_values[AST_WATSON_DIMENSION], own_vectors[AST_WATSON_DIMENSION * AST_WATSON_DIMENSION];
    double *values = cache ? cache->values : own_values, *vectors = cache ? cache->vectors : own_vectors;
    double weighted[2][AST_WATSON_DIMENSION], heights[2] = {0, -INFINITY}, starts[2] = {0, 0};
    bool both = n > 2 && isnan(prior->fixed_kappa);
    if (cache)
        refresh(f, mass, sum, cache);
    else
        ast_family_axes(f, mass, sum, values, vectors);
    for (int sign = 0; sign < 1 + both; sign++) {
        double moment = values[sign ? n - 1 : 0], most = ast_family_most_kappa(f);
        double kappa = fmin(most, fmax(-most, ast_watson_kappa(n, moment)));
        heights[sign] = mass * (kappa * moment - ast_watson_log_kummer(n, kappa));
        starts[sign] = fabs(kappa) > 1e-3 ? log(fabs(kappa)) : 0;
    }
    ast_kappa_posterior found[2];
    int best = -1;
    for (int sign = 0; sign < 1 + both; sign++) {
        target p = {prior, n, mass, sign ? -1 : 1, values};
        if (heights[sign] < heights[!sign] - HOPELESS)
            continue;
        found[sign] = integrate(&p, starts[sign], direction ? weighted[sign] : NULL);
        best = best < 0 || found[sign].log_marginal > found[best].log_marginal ? sign : best;
    }
    double other = both && heights[!best] >= heights[best] - HOPELESS ? found[!best].log_marginal : -INFINITY;
    if (both)
        found[best].log_marginal += log1p(exp(other - found[best].log_marginal)) - M_LN2;
    if (direction) {
        write_functional(n, vectors, weighted[best], direction, length);
        *constant = ast_family_uniform(f) + found[best].mean_log_constant;
    }
    return found[best];
}

/* ---- Kent -------------------------------------------------------------------------------------------------------- */

/* The largest log-likelihood per point for one e, relative to exp(kappa): -kappa (y - e d / 2) - ln c. */
static double profile(double y, double d, double e, double most, double *kappa) {
    double slack = fmax(y - e * d / 2, 1 / most), height = -INFINITY;
    *kappa = fmin(most, fmax(1e-3, 1 / slack));
    for (int i = 0; i < 20; i++) {
        ast_kent_moments m = ast_kent_moments_at(*kappa, e * *kappa / 2);
        double slope = m.y - e * m.d / 2 - slack, bend = m.yy - e * m.yd + e * e / 4 * m.dd;
        double next = fmin(most, *kappa / fmax(0.25, 1 - slope / (bend * *kappa))); /* Newton's step in 1 / kappa */
        height = -*kappa * slack - m.log_constant;
        if (fabs(next - *kappa) <= 1e-7 * *kappa)
            break;
        *kappa = next;
    }
    return height;
}

/* exp(-z) I_0(z) */
static double log_scaled_bessel(double z) {
    return -ast_vmf_log_density(2, z, 1) - log(2 * M_PI);
}

static ast_kappa_posterior kent_posterior(const ast_family *f, const ast_kappa_prior *prior, double mass,
                                          const double *sum, double *direction, double *length, double *constant) {
    ast_family_shape s = {0};
    double y, d, most = ast_family_most_kappa(f), kappa, beta, logs[NODES], total = 0, top = 0, mean_e = 0;
    ast_kappa_prior round = *prior;
    round.dimension = 3;
    ast_kent_frame(mass, sum, &s, &y, &d);
    ast_kappa_posterior found = ast_kappa_posterior_find(&round, mass, mass * (1 - y));
    bool fixed = !isnan(prior->fixed_kappa);
    if (fixed || mass < 3 || !(found.kappa > 0)) {
        kappa = found.kappa;
        beta = 0;
    } else {
        double expected = 1 - ast_vmf_resultant(3, found.kappa), e, base, low, high, one;
        d *= fmin(1, expected / fmax(y, 1e-300)); /* with the prior's say */
        ast_kent_fit(expected, d, most, &kappa, &beta);
        e = 2 * beta / kappa;
        double width = 4 / sqrt(mass); /* of e: its variance is below 1 / n */
        low = fmax(0, e - width);
        high = fmin(MOST_RATIO, fmax(e, 0.02) + width);
        base = profile(expected, d, 0, most, &one);
        for (int j = 0; j < NODES; j++) {
            double at = low + (high - low) * (j + 0.5) / NODES;
            logs[j] = mass * (profile(expected, d, at, most, &one) - base);
            logs[j] += log_scaled_bessel(mass * at * one / 2 * d);
            top = fmax(top, logs[j]);
        }
        for (int j = 0; j < NODES; j++) {
            double at = low + (high - low) * (j + 0.5) / NODES;
            total += exp(logs[j] - top);
            mean_e += at * exp(logs[j] - top);
        }
        mean_e /= total;
        profile(expected, d, mean_e, most, &kappa);
        beta = mean_e * kappa / 2;
        found.log_marginal += top + log(total * (high - low) / NODES);
        found.kappa = kappa;
    }
    if (direction) {
        s.kappa = kappa;
        s.beta = beta;
        ast_family_encode(f, &s, direction, length, constant);
    }
    return found;
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

/* How the mean over a cell changes an entry of the features: `linear` of x, `square` of x x'. */
typedef struct shrinkage {
    double linear, square;
    size_t first; /* entry of x x' */
} shrinkage;

static shrinkage shrinkage_of(const ast_family *f) {
    double s = f->spread, d = (double)f->dimension;
    return (shrinkage){1 - (d - 1) / 2 * s, 1 - d * s, f->kind == AST_FAMILY_KENT ? 3 : 0};
}

/* Sums over the cells of rows. */
static void spread_sum(const ast_family *f, double mass, const double *sum, double *spread) {
    shrinkage by = shrinkage_of(f);
    double each = f->spread * mass * (by.first ? M_SQRT1_2 : 1);
    for (size_t i = 0; i < ast_family_features(f); i++)
        spread[i] = sum[i] * (i < by.first ? by.linear : by.square);
    for (size_t d = 0; d < f->dimension; d++)
        spread[by.first + d * (d + 3) / 2] += each;
}

/* A functional of cells as one of rows. */
static void spread_functional(const ast_family *f, double *direction, double *length, double *constant) {
    shrinkage by = shrinkage_of(f);
    double trace = 0;
    for (size_t d = 0; d < f->dimension; d++)
        trace += direction[by.first + d * (d + 3) / 2];
    *constant += *length * f->spread * trace * (by.first ? M_SQRT1_2 : 1);
    for (size_t i = 0; i < ast_family_features(f); i++)
        direction[i] *= i < by.first ? by.linear : by.square;
    *length *= ast_normalise(direction, ast_family_features(f));
}

static ast_kappa_posterior posterior_of_rows(const ast_family *f, const ast_kappa_prior *prior, double mass,
                                             const double *sum, ast_family_cache *cache, double *direction,
                                             double *length, double *constant) {
    return f->kind == AST_FAMILY_WATSON ? watson_posterior(f, prior, mass, sum, cache, direction, length, constant)
                                        : kent_posterior(f, prior, mass, sum, direction, length, constant);
}

ast_kappa_posterior ast_family_posterior(const ast_family *f, const ast_kappa_prior *prior, double mass,
                                         const double *sum, ast_family_cache *cache, double *direction, double *length,
                                         double *constant) {
    double spread[AST_KENT_FEATURES];
    if (f->spread == 0)
        return posterior_of_rows(f, prior, mass, sum, cache, direction, length, constant);
    spread_sum(f, mass, sum, spread);
    ast_kappa_posterior found = posterior_of_rows(f, prior, mass, spread, cache, direction, length, constant);
    if (direction)
        spread_functional(f, direction, length, constant);
    return found;
}
