/* SPDX-License-Identifier: MIT
 *
 * Blocked Gibbs sampling of the finite symmetric Dirichlet mixture (FSD; Ishwaran and Zarepour 2002): with K components
 * an approximation of the Dirichlet process mixture, which it approaches as K grows.
 *
 *     pi ~ Dir(alpha/K, .., alpha/K),    mu_k ~ vMF(mu_0, tau_0),    kappa_k known or from its prior (gibbs.h)
 *     z_i ~ pi,    x_i ~ vMF(mu_{z_i}, kappa_{z_i})
 *
 * A sweep draws, each block given all the others,
 *     pi      ~ Dir(alpha/K + n_1, .., alpha/K + n_K)
 *     mu_k    ~ vMF(tau_0 mu_0 + kappa_k s_k),    s_k the sum of the points of k; from the prior if k has no points
 *     kappa_k ~ p(kappa) C_D(kappa)^n_k exp(kappa mu_k . s_k), by slice sampling
 *     z_i     ~ pi_k C_D(kappa_k) exp(kappa_k mu_k . x_i), all points in parallel.
 *
 * The log joint is log p(x, z, mu, kappa) with pi and the parameters of empty components integrated out. The result is
 * the clusters of the last sample that have points.
 *
 * Point i of sweep t has random numbers of its own, a hash of (seed, t, i), and sums are integers, so the chain is the
 * same on any number of threads. */
#include "gibbs.h"

#include <string.h>

typedef struct label_job {
    ast_sampler *s;
    uint64_t key;
    int32_t *labels; /* (padded) */
} label_job;

static void draw_tile(void *data, ast_tile_memory *memory, size_t chunk, size_t first) {
    const label_job *job = data;
    ast_sampler *s = job->s;
    size_t n = s->tiles.tile;
    float uniform[AST_TILE_MOST];
    int32_t drawn[AST_TILE_MOST], *labels = job->labels + first;
    ast_tile_logits(&s->tiles, first, s->c, memory);
    for (size_t i = 0; i < n; i++)
        uniform[i] = (float)(ast_mix64(job->key + (first + i) * 0x9e3779b97f4a7c15u) >> 40) * 0x1p-24f;
    s->tiles.kernels->draw(memory->logits, s->c->count, n, uniform, memory->cumulative, drawn);
    for (size_t i = 0; i < n; i++) {
        bool there = labels[i] != AST_MISSING;
        s->changed[chunk] += there && labels[i] != drawn[i];
        labels[i] = there ? drawn[i] : AST_MISSING;
    }
}

/* Dir(alpha/K + n_k) by gamma variables, whose logs do not underflow. */
static void draw_weights(ast_sampler *s, uint64_t key) {
    ast_components *c = s->c;
    double most = -INFINITY, total = 0;
    ast_random random;
    ast_random_seed(&random, key, 0);
    for (size_t k = 0; k < c->count; k++) {
        double shape = s->prior.concentration / (double)c->count + (double)s->tiles.v.clusters->members[k];
        c->weights[k] = ast_draw_log_gamma(&random, shape);
        most = fmax(most, c->weights[k]);
    }
    for (size_t k = 0; k < c->count; k++)
        total += exp(c->weights[k] - most);
    for (size_t k = 0; k < c->count; k++) {
        c->weights[k] = exp(c->weights[k] - most) / total;
        c->offsets[k] = log(c->weights[k]) + ast_log_constant(c->dimension, c->kappas[k]);
    }
}

/* log p(z): Dirichlet-multinomial. */
static double log_partition(const ast_sampler *s) {
    double alpha = s->prior.concentration, share = alpha / (double)s->c->count, sum = 0;
    for (size_t k = 0; k < s->c->count; k++)
        sum += ast_log_gamma(share + (double)s->tiles.v.clusters->members[k]) - ast_log_gamma(share);
    return sum + ast_log_gamma(alpha) - ast_log_gamma(alpha + (double)s->tiles.v.present);
}

ast_status ast_fsd_sweep(ast_sampler *s, size_t *changed, ast_fault *fault) {
    size_t chunks = s->tiles.v.rows->chunks;
    s->sweep++;
    ast_draw_parameters(s);
    draw_weights(s, ast_sweep_key(s->seed, s->restart, s->sweep, 2));
    memset(s->changed, 0, chunks * sizeof *s->changed);
    label_job job = {s, ast_sweep_key(s->seed, s->restart, s->sweep, 3), ast_labelling_labels(s->l)};
    if (!ast_tiles_each(&s->tiles, draw_tile, &job))
        return ast_fail_cancelled(fault);
    *changed = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++)
        *changed += s->changed[chunk];
    ast_status status = ast_labelling_recount(s->l, fault);
    if (status == AST_OK)
        s->log_joint = log_partition(s) + ast_log_joint_given_labels(s);
    return status;
}

ast_status ast_run_fsd(ast_labelling *l, ast_run *run, ast_fault *fault) {
    return ast_run_sampler(l, run, ast_fsd_sweep, fault);
}
