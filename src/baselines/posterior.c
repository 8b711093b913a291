/* SPDX-License-Identifier: MIT
 *
 * The conditional distributions of the parameters of one cluster given its points (gibbs.h). */
#include "gibbs.h"

#include "memory.h"
#include "vectors.h"
#include "vmf.h"

#include <math.h>

#define SLICE_WIDTH 0.5 /* in log kappa: a few standard deviations of its posterior with a dozen points */
#define SLICE_STEPS 40

ast_status ast_prior_open(ast_prior *p, const ast_options *o, size_t dimension, ast_fault *fault) {
    *p = (ast_prior){.dimension = dimension,
                     .concentration = o->sampler.concentration,
                     .kappa = o->mixture.kappa,
                     .median = o->sampler.kappa_median > 0 ? o->sampler.kappa_median : 10 * (double)dimension,
                     .mean_kappa = o->sampler.prior_kappa};
    if (o->sampler.prior_kappa == 0)
        return AST_OK;
    float mean[AST_MAX_DIMENSION];
    ast_points given = ast_points_f4(o->sampler.prior_mean, 1, dimension);
    ast_row_kind kind = ast_read_row(&given, 0, mean);
    if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE)
        return ast_fail(fault, AST_BAD_DATA,
                        "the mean of the prior has no direction: it holds a NaN, an infinity, or "
                        "zeros only");
    p->mean = ast_allocate(dimension, sizeof *p->mean);
    for (size_t d = 0; p->mean && d < dimension; d++)
        p->mean[d] = (double)mean[d];
    return p->mean ? AST_OK : ast_fail_memory(fault);
}

void ast_draw_mean(const ast_prior *p, ast_random *random, const double *sum, double kappa, double *mean) {
    double direction[AST_MAX_DIMENSION];
    for (size_t d = 0; d < p->dimension; d++)
        direction[d] = kappa * sum[d] + (p->mean ? p->mean_kappa * p->mean[d] : 0);
    double length = ast_normalise(direction, p->dimension);
    ast_vmf_sample(random, p->dimension, length > 0 ? direction : NULL, length, mean);
}

double ast_draw_prior_kappa(const ast_prior *p, ast_random *random) {
    if (!isnan(p->kappa))
        return p->kappa;
    for (;;) {
        double u = ast_random_uniform(random), kappa = p->median * u / (1 - u);
        if (kappa > 0 && kappa <= ast_kappa_limit(p->dimension))
            return kappa;
    }
}

/* log of the conditional density of t = log kappa, up to a constant. */
static double log_target(const ast_prior *p, double n, double along, double t) {
    double kappa = exp(t);
    if (!(kappa > 0 && kappa <= ast_kappa_limit(p->dimension)))
        return -INFINITY;
    double points = n > 0 ? n * ast_log_constant(p->dimension, kappa) + kappa * along : 0;
    return points + t - 2 * log(kappa + p->median);
}

/* kappa given n points, `along` being the product of their sum with the mean: one step of a slice sampler (Neal 2003)
 * in log kappa from `now`, by stepping out, then shrinking. Without points: a draw from the prior. */
static double draw_kappa(const ast_prior *p, ast_random *random, double n, double along, double now) {
    if (!isnan(p->kappa))
        return p->kappa;
    if (n == 0)
        return ast_draw_prior_kappa(p, random);
    double t = log(now), level = log_target(p, n, along, t) + log(1 - ast_random_uniform(random));
    double left = t - SLICE_WIDTH * ast_random_uniform(random), right = left + SLICE_WIDTH;
    int to_the_left = (int)ast_random_below(random, SLICE_STEPS), to_the_right = SLICE_STEPS - 1 - to_the_left;
    while (to_the_left-- > 0 && log_target(p, n, along, left) > level)
        left -= SLICE_WIDTH;
    while (to_the_right-- > 0 && log_target(p, n, along, right) > level)
        right += SLICE_WIDTH;
    for (;;) {
        double next = left + (right - left) * ast_random_uniform(random);
        if (log_target(p, n, along, next) >= level || right - left < 1e-14 * (1 + fabs(t)))
            return exp(next);
        if (next < t)
            left = next;
        else
            right = next;
    }
}

/* Marsaglia and Tsang (2000); below 1 by Gamma(a) = Gamma(a + 1) U^(1/a). */
double ast_draw_log_gamma(ast_random *random, double shape) {
    double boost = shape < 1 ? log(1 - ast_random_uniform(random)) / shape : 0, a = shape < 1 ? shape + 1 : shape;
    double d = a - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = ast_random_normal(random), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (log(1 - ast_random_uniform(random)) < x * x / 2 + d - d * v + d * log(v))
            return log(d * v) + boost;
    }
}

/* log p(mu) + log p(kappa) under the prior. */
static double log_prior(const ast_prior *p, const double *mean, double kappa) {
    double cosine = p->mean ? ast_dot(p->mean, mean, p->dimension) : 0, limit = ast_kappa_limit(p->dimension);
    double of_mean = ast_log_constant(p->dimension, p->mean_kappa) + p->mean_kappa * cosine;
    double inside = limit / (limit + p->median); /* share of the untruncated prior up to the limit */
    double of_kappa = isnan(p->kappa) ? log(p->median / inside) - 2 * log(kappa + p->median) : 0;
    return of_mean + of_kappa;
}

/* The paper's marginal of one point: Z(kappa) Z(tau_0) / Z(|kappa x + tau_0 mu_0|). */
double ast_log_marginal(const ast_prior *p, const float *x, double kappa) {
    if (!p->mean)
        return ast_log_constant(p->dimension, 0);
    double squared = 0;
    for (size_t d = 0; d < p->dimension; d++) {
        double sum = kappa * (double)x[d] + p->mean_kappa * p->mean[d];
        squared += sum * sum;
    }
    return ast_log_constant(p->dimension, kappa) + ast_log_constant(p->dimension, p->mean_kappa) -
           ast_log_constant(p->dimension, sqrt(squared));
}

/* The product of a cluster's sum with a mean. */
static double product(const ast_cluster_list *list, size_t slot, const double *mean) {
    double along = 0;
    for (size_t d = 0; d < list->dimension; d++)
        along += (double)list->sums[slot * list->dimension + d] / list->unit * mean[d];
    return along;
}

double ast_log_joint_given_labels(const ast_sampler *s) {
    const ast_components *c = s->c;
    const ast_cluster_list *list = s->tiles.v.clusters;
    double sum = 0;
    for (size_t k = 0; k < c->count; k++) {
        const double *mean = c->means + k * c->dimension;
        if (list->members[k] > 0)
            sum += (double)list->members[k] * ast_log_constant(c->dimension, c->kappas[k]) +
                   c->kappas[k] * product(list, k, mean) + log_prior(&s->prior, mean, c->kappas[k]);
    }
    return sum;
}

static void draw_one(void *data, size_t k, int worker) {
    const ast_sampler *s = data;
    const ast_cluster_list *list = s->tiles.v.clusters;
    ast_components *c = s->c;
    double sum[AST_MAX_DIMENSION], *mean = c->means + k * c->dimension;
    ast_random random;
    (void)worker;
    ast_random_seed(&random, ast_sweep_key(s->seed, s->restart, s->sweep, 1), k);
    for (size_t d = 0; d < c->dimension; d++)
        sum[d] = (double)list->sums[k * c->dimension + d] / list->unit;
    ast_draw_mean(&s->prior, &random, sum, c->kappas[k], mean);
    double n = (double)list->members[k];
    c->kappas[k] = draw_kappa(&s->prior, &random, n, product(list, k, mean), c->kappas[k]);
}

void ast_draw_parameters(const ast_sampler *s) {
    ast_pool_run_cancellable(s->tiles.v.pool, s->c->count, draw_one, (void *)s);
}
