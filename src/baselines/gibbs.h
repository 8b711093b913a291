/* SPDX-License-Identifier: MIT
 *
 * What the two samplers share: the prior, draws from the conditional distributions of a cluster's parameters, and the
 * log of the joint density. posterior.c.
 *
 * The prior of a cluster: mean mu ~ vMF(mu_0, tau_0), uniform with tau_0 = 0; kappa known, or with the log-logistic
 * density s / (kappa + s)^2 of median s up to the limit of what floats can tell: proper, and so heavy at both ends that
 * it says no more than an order of magnitude. */
#ifndef AST_GIBBS_H
#define AST_GIBBS_H

#include "baselines.h"

typedef struct ast_prior {
    size_t dimension;
    double concentration; /* alpha */
    double kappa;         /* known, or NaN */
    double median;        /* s */
    double mean_kappa;    /* tau_0 */
    double *mean;         /* (D) mu_0; NULL with tau_0 = 0 */
} ast_prior;

/* The prior that the options ask for. */
ast_status ast_prior_open(ast_prior *prior, const ast_options *options, size_t dimension, ast_fault *fault);
void ast_prior_free(ast_prior *prior);

/* mu given n points of a cluster that add up to `sum` (D): vMF(tau_0 mu_0 + kappa sum). */
void ast_draw_mean(const ast_prior *prior, ast_random *random, const double *sum, double kappa, double *mean);

/* kappa from the prior; and given n points whose sum has the product `along` with the mean, from the value it has now:
 * one step of a slice sampler (Neal 2003) in log kappa, which leaves the conditional distribution as it is. */
double ast_draw_prior_kappa(const ast_prior *prior, ast_random *random);
double ast_draw_kappa(const ast_prior *prior, ast_random *random, double n, double along, double now);

/* log of a draw from the gamma distribution with this shape and scale 1: small shapes would give 0 otherwise. */
double ast_draw_log_gamma(ast_random *random, double shape);

/* log p(mu) + log p(kappa) under the prior. */
double ast_log_prior(const ast_prior *prior, const double *mean, double kappa);

/* log p(x): the density of a point whose mean was integrated out, for a kappa. */
double ast_log_marginal(const ast_prior *prior, const float *x, double kappa);

/* log p(x, mu, kappa | z) of the clusters that have points; n and sums are those of the labelling's clusters. */
double ast_log_clusters(const ast_prior *p, const ast_components *c, const ast_cluster_list *list);

/* New means and kappas of all clusters given their points. `key` stands for the run and the sweep. */
void ast_draw_parameters(const ast_prior *prior, ast_components *components, const ast_labelling *labelling,
                         uint64_t key);

/* The random numbers of one point or cluster, `index`, of a sweep. */
static inline void ast_random_of(ast_random *random, uint64_t key, uint64_t index) {
    ast_random_seed(random, key, index);
}

static inline uint64_t ast_sweep_key(uint64_t seed, int restart, int sweep, uint64_t purpose) {
    return ast_mix64(seed) + ast_mix64(((uint64_t)restart << 32 | (uint32_t)sweep) ^ purpose << 60);
}

/* One sweep of each sampler, for the loops of their files and for the tests. */
typedef struct ast_sampler {
    ast_labelling *l;
    ast_prior prior;
    ast_components *c;
    ast_tiles tiles;
    size_t *changed; /* (chunks) */
    uint64_t seed;
    int restart, sweep; /* sweep: 1.. */
    double log_joint;
    double *shares;    /* crp: (block, room) memberships under the clusters, equal counts */
    double *reference; /* crp: (block) log of what they are shares of */
    size_t shares_room;
} ast_sampler;

/* Opens a sampler on a labelling whose points have labels and whose clusters have their sums. */
ast_status ast_sampler_open(ast_sampler *sampler, ast_labelling *labelling, const ast_options *options, int restart,
                            ast_components *components, ast_fault *fault);
void ast_sampler_close(ast_sampler *sampler);

/* The next sweep; `changed` becomes the number of points with another label. */
ast_status ast_fsd_sweep(ast_sampler *sampler, size_t *changed, ast_fault *fault);
ast_status ast_crp_sweep(ast_sampler *sampler, size_t *changed, ast_fault *fault);

typedef ast_status ast_sweep(ast_sampler *sampler, size_t *changed, ast_fault *fault);

/* Where a run starts: from the clusters of DP-vMF-means, unless the options name another start. Then its sweeps, and
 * its end: the clusters that have points are the result. */
ast_status ast_sampler_start(ast_labelling *labelling, ast_run *run, ast_fault *fault);
ast_status ast_run_sampler(ast_labelling *labelling, ast_run *run, ast_sweep *sweep, ast_fault *fault);

#endif
