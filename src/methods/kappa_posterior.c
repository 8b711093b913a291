/* SPDX-License-Identifier: MIT
 *
 * The integral over t = ln kappa is a sum over nodes about the mode of the posterior, spaced by its curvature there:
 * for many points the posterior is far narrower than any fixed grid. */
#include "kappa_posterior.h"

#include "asterism.h"
#include "evidence.h"

#include <math.h>

#define NODES 25
#define MIDDLE 12 /* of the nodes */
#define STEP                                                                                                           \
    0.75 /* between nodes, in standard deviations: nine of them to each side, as few points have long tails            \
          */
#define LEAST (-14.0)                   /* of t */
#define MOST 35.0                       /* of t */
#define ROOT_STEPS 60                   /* at most; 6 to 10 as a rule */
#define SMALL_STEP 1e-3                 /* of t, for differences */
#define LOG_ROOT_TAU 0.9189385332046727 /* ln sqrt(2 pi) */

typedef struct target {
    const ast_kappa_prior *prior;
    double n, length;
} target;

/* d/dt of the log density of the posterior: dL/dkappa = -A. */
static double slope_at(const target *p, double t) {
    double kappa = exp(t);
    size_t dimension = p->prior->dimension;
    double points =
        p->length * ast_vmf_resultant(dimension, kappa * p->length) - p->n * ast_vmf_resultant(dimension, kappa);
    return kappa * points - (t - p->prior->centre) / (p->prior->width * p->prior->width);
}

static double bend_at(const target *p, double t) {
    return (slope_at(p, t + SMALL_STEP) - slope_at(p, t - SMALL_STEP)) / (2 * SMALL_STEP);
}

/* Where the slope is 0: Newton's method within a bracket that shrinks. */
static double find_mode(const target *p) {
    double low = LEAST, high = MOST, dimension = (double)p->prior->dimension;
    double likely = (dimension - 1) * (p->n - 1) / (2 * (p->n - p->length)); /* for large kappa */
    double t = p->n > 1 && likely > 0 && isfinite(likely) ? log(likely) : p->prior->centre;
    for (int i = 0; i < ROOT_STEPS; i++) {
        t = t > low && t < high ? t : (low + high) / 2;
        double slope = slope_at(p, t), bend = bend_at(p, t);
        *(slope > 0 ? &low : &high) = t;
        double next = bend < 0 ? t - slope / bend : (low + high) / 2;
        if (fabs(next - t) < 1e-9 || high - low < 1e-9)
            return next > low && next < high ? next : t;
        t = next;
    }
    return t;
}

static ast_kappa_posterior posterior_of_fixed(const ast_kappa_prior *prior, double n, double length) {
    double kappa = prior->fixed_kappa, constant = ast_evidence_constant(prior->dimension, kappa);
    return (ast_kappa_posterior){.log_marginal = n * constant - ast_evidence_constant(prior->dimension, kappa * length),
                                 .kappa = kappa,
                                 .mean_log_constant = constant,
                                 .mean_length = kappa * ast_vmf_resultant(prior->dimension, kappa * length),
                                 .centre = prior->centre};
}

ast_kappa_posterior ast_kappa_posterior_find(const ast_kappa_prior *prior, double n, double length) {
    length = fmin(length, n);
    if (!isnan(prior->fixed_kappa))
        return posterior_of_fixed(prior, n, length);
    target p = {prior, n, length};
    double mode = find_mode(&p), bend = bend_at(&p, mode), most = -INFINITY, total = 0;
    double deviation = bend < 0 ? fmin(1 / sqrt(-bend), prior->width) : prior->width;
    double logs[NODES], constants[NODES];
    ast_kappa_posterior found = {.kappa = exp(mode)};
    for (int j = 0; j < NODES; j++) {
        double t = mode + (j - MIDDLE) * STEP * deviation, away = (t - prior->centre) / prior->width;
        constants[j] = ast_evidence_constant(prior->dimension, exp(t));
        logs[j] = n * constants[j] - ast_evidence_constant(prior->dimension, exp(t) * length) - away * away / 2;
        most = fmax(most, logs[j]);
    }
    for (int j = 0; j < NODES; j++) {
        double t = mode + (j - MIDDLE) * STEP * deviation, away = t - prior->centre, part = exp(logs[j] - most);
        total += part;
        found.mean_log_constant += part * constants[j];
        found.mean_length += part * exp(t) * ast_vmf_resultant(prior->dimension, exp(t) * length);
        found.centre += part * t;
        found.squared_deviation += part * away * away;
    }
    found.log_marginal = most + log(total * STEP * deviation / prior->width) - LOG_ROOT_TAU;
    found.mean_log_constant /= total;
    found.mean_length /= total;
    found.centre /= total;
    found.squared_deviation /= total;
    return found;
}
