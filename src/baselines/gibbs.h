/* SPDX-License-Identifier: MIT
 *
 * What the two samplers share: the prior, draws from the conditional distributions of a cluster's parameters and the
 * log of the joint density (posterior.c), the chain of sweeps (sampler.c).
 *
 * The prior of a cluster: mean mu ~ vMF(mu_0, tau_0), uniform with tau_0 = 0; kappa is known, or has the log-logistic
 * density s / (kappa + s)^2 of median s, up to ast_kappa_limit. That prior is proper, and its tails are so heavy that
 * it fixes no more than an order of magnitude. */
#pragma once

#include "baselines.h"

typedef struct ast_prior {
    size_t dimension;
    double concentration; /* alpha */
    double kappa;         /* known, or NaN */
    double median;        /* s */
    double mean_kappa;    /* tau_0 */
    double *mean;         /* (D) mu_0; NULL with tau_0 = 0 */
} ast_prior;

/* The prior of the options. The caller frees prior->mean. */
ast_status ast_prior_open(ast_prior *prior, const ast_options *options, size_t dimension, ast_fault *fault);

/* mu given n points of a cluster that add up to `sum` (D): vMF(tau_0 mu_0 + kappa sum). */
void ast_draw_mean(const ast_prior *prior, ast_random *random, const double *sum, double kappa, double *mean);

/* kappa from the prior. */
double ast_draw_prior_kappa(const ast_prior *prior, ast_random *random);

/* The log of a draw from the gamma distribution with this shape and scale 1. The draw itself underflows if the shape is
 * small. */
double ast_draw_log_gamma(ast_random *random, double shape);

/* log p(x) for this kappa, the mean integrated out. */
double ast_log_marginal(const ast_prior *prior, const float *x, double kappa);

/* The seed of the random numbers for one purpose of a sweep; their stream is the number of a point or cluster. */
static inline uint64_t ast_sweep_key(uint64_t seed, int restart, int sweep, uint64_t purpose) {
    return ast_mix64(seed) + ast_mix64(((uint64_t)restart << 32 | (uint32_t)sweep) ^ purpose << 60);
}

/* A chain: its state between two sweeps. */
typedef struct ast_sampler {
    ast_labelling *l;
    ast_prior prior;
    ast_components *c;
    ast_tiles tiles;
    size_t *changed; /* fsd: (chunks) points with another label */
    uint64_t seed;
    int restart, sweep; /* sweep: 1.. */
    double log_joint;
    double *memberships; /* crp: (block, room) under the clusters, as if all had the same number of points */
    double *log_scale;   /* crp: (block) log of the density that the memberships are shares of */
    size_t room;
} ast_sampler;

/* Starts a chain from the labels and the clusters of the labelling. */
ast_status ast_sampler_open(ast_sampler *sampler, ast_labelling *labelling, const ast_options *options, int restart,
                            ast_components *components, ast_fault *fault);
void ast_sampler_close(ast_sampler *sampler);

/* New means and kappas of all clusters given their points. */
void ast_draw_parameters(const ast_sampler *sampler);

/* log p(x, mu, kappa | z) of the clusters that have points. */
double ast_log_joint_given_labels(const ast_sampler *sampler);

/* The next sweep; `changed` becomes the number of points with another label. */
typedef ast_status ast_sweep(ast_sampler *sampler, size_t *changed, ast_fault *fault);
ast_sweep ast_fsd_sweep, ast_crp_sweep;

/* A whole run. It starts from the clusters of DP-vMF-means, unless the options name another start. The clusters that
 * have points after the last sweep are the result. */
ast_status ast_run_sampler(ast_labelling *labelling, ast_run *run, ast_sweep *sweep, ast_fault *fault);
