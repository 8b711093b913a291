/* SPDX-License-Identifier: MIT
 *
 * Gibbs sampling of the Dirichlet process mixture, its weights integrated out (the Chinese restaurant process; section
 * 4 of the paper, after Neal 2000): any number of clusters.
 *
 *     mu_k ~ vMF(mu_0, tau_0),    kappa_k known or from its prior (gibbs.h),    x_i ~ vMF(mu_{z_i}, kappa_{z_i})
 *     p(z_i = k | others) proportional to n_k, the others in k, and to alpha for a new cluster
 *
 * A sweep visits the points in order and draws
 *     z_i = k      ~ n_k C_D(kappa_k) exp(kappa_k mu_k . x_i)
 *     z_i = new    ~ alpha p(x_i; kappa'),    p the density with the mean integrated out,
 * then mu_k and kappa_k of every cluster given its points. That is Neal's algorithm 2 in mu and his algorithm 8 with
 * one auxiliary component in kappa: kappa' comes from the prior, or is that of the cluster whose only point x_i was; a
 * new cluster draws its mean given x_i.
 *
 * The log joint is log p(x, z, mu, kappa). The result is the last sample.
 *
 * Points are visited one after the other. The densities of a block of points under the clusters that exist when the
 * block begins are computed before, on all threads; those under clusters born within the block one by one. Blocks have
 * a fixed size, so the chain is the same on any number of threads. */
#include "gibbs.h"

#include "memory.h"
#include "vectors.h"

#include <math.h>

#define CRP_BLOCK ((size_t)1024)

/* The block of points that is visited. */
typedef struct crp_block {
    ast_sampler *s;
    uint64_t key;
    size_t first, last;
    size_t known;   /* clusters when the block began: their densities are in s->memberships */
    int64_t *n;     /* (room) points of each cluster now */
    double *weight; /* (room + 1) of each choice for a point; the last choice is a new cluster */
    size_t room;
    size_t changed;
} crp_block;

/* ---- densities, in parallel ---- */

static void find_memberships(void *data, size_t index, int worker) {
    const crp_block *b = data;
    ast_sampler *s = b->s;
    size_t n = s->tiles.tile, at = index * n, first = b->first + at;
    ast_tile_memory *memory = &s->tiles.memory[worker];
    double *memberships = s->memberships + at * b->known;
    ast_tile tile = ast_tile_at(&s->tiles, first, memory);
    s->tiles.kernels->logits(&tile, s->c->means, s->c->offsets, s->c->kappas, b->known, memberships);
    s->tiles.kernels->normalise(memberships, b->known, n, memory->most, memory->total);
    for (size_t i = 0; i < n; i++)
        s->log_scale[at + i] = memory->most[i] + log(memory->total[i]);
}

/* ---- one visit ---- */

static double log_density(const ast_components *c, size_t k, const float *x) {
    return c->offsets[k] + c->kappas[k] * ast_dot_row(x, c->means + k * c->dimension, c->dimension);
}

/* The weights of all choices, from the memberships. false: they underflow. */
static bool weigh_quickly(const crp_block *b, size_t i, const float *x, double log_new) {
    const ast_sampler *s = b->s;
    size_t n = s->tiles.tile, at = i - b->first, count = s->c->count;
    const double *memberships = s->memberships + at / n * n * b->known + at % n;
    double most = fmax(log_new, s->log_scale[at]), total;
    for (size_t k = b->known; k < count; k++) {
        b->weight[k] = b->n[k] > 0 ? log_density(s->c, k, x) : -INFINITY;
        most = fmax(most, b->weight[k]);
    }
    double scale = exp(s->log_scale[at] - most);
    total = b->weight[count] = s->prior.concentration * exp(log_new - most);
    for (size_t k = 0; k < b->known; k++)
        total += b->weight[k] = (double)b->n[k] * (memberships[k * n] * scale);
    for (size_t k = b->known; k < count; k++)
        total += b->weight[k] = (double)b->n[k] * exp(b->weight[k] - most);
    return total > 1e-200;
}

/* The same from logarithms, which do not underflow. */
static void weigh_exactly(const crp_block *b, const float *x, double log_new) {
    const ast_sampler *s = b->s;
    size_t count = s->c->count;
    double most = b->weight[count] = log(s->prior.concentration) + log_new;
    for (size_t k = 0; k < count; k++) {
        b->weight[k] = b->n[k] > 0 ? log((double)b->n[k]) + log_density(s->c, k, x) : -INFINITY;
        most = fmax(most, b->weight[k]);
    }
    for (size_t k = 0; k <= count; k++)
        b->weight[k] = exp(b->weight[k] - most);
}

static size_t choose(const double *weight, size_t count, double uniform) {
    double total = 0, running = 0;
    size_t last = 0;
    for (size_t k = 0; k < count; k++)
        total += weight[k];
    for (size_t k = 0; k < count; k++) {
        running += weight[k];
        last = weight[k] > 0 ? k : last;
        if (running > uniform * total && weight[k] > 0)
            return k;
    }
    return last;
}

/* Room for one more cluster. */
static bool make_room(crp_block *b) {
    size_t count = b->s->c->count, room = b->room ? 2 * b->room : 64;
    if (count + 1 <= b->room)
        return true;
    room = room > count + 1 ? room : 2 * count;
    bool grown = ast_grow_array(&b->n, b->n ? count : 0, room, sizeof *b->n) &&
                 ast_grow_array(&b->weight, b->weight ? count : 0, room + 1, sizeof *b->weight) &&
                 ast_components_reserve(b->s->c, room);
    b->room = grown ? room : b->room;
    return grown;
}

static void add_cluster(crp_block *b, ast_random *random, const float *x, double kappa) {
    ast_components *c = b->s->c;
    size_t k = c->count++;
    double sum[AST_MAX_DIMENSION];
    for (size_t d = 0; d < c->dimension; d++)
        sum[d] = (double)x[d];
    ast_draw_mean(&b->s->prior, random, sum, kappa, c->means + k * c->dimension);
    c->kappas[k] = kappa;
    c->weights[k] = 0;
    c->offsets[k] = ast_log_constant(c->dimension, kappa);
    b->n[k] = 0;
}

static bool visit(crp_block *b, size_t i) {
    ast_sampler *s = b->s;
    float buffer[AST_MAX_DIMENSION];
    int32_t old = s->tiles.v.labels[i];
    const float *x = ast_rowset_row(s->tiles.v.rows, i, buffer);
    ast_random random;
    if (!make_room(b))
        return false;
    ast_random_seed(&random, b->key, i);
    bool was_singleton = --b->n[old] == 0;
    double kappa = was_singleton ? s->c->kappas[old] : ast_draw_prior_kappa(&s->prior, &random);
    double log_new = ast_log_marginal(&s->prior, x, kappa);
    if (was_singleton || !weigh_quickly(b, i, x, log_new))
        weigh_exactly(b, x, log_new);
    size_t k = choose(b->weight, s->c->count + 1, ast_random_uniform(&random));
    if (k == s->c->count)
        add_cluster(b, &random, x, kappa);
    b->n[k]++;
    b->changed += (int32_t)k != old;
    ast_labelling_labels(s->l)[i] = (int32_t)k;
    return true;
}

/* ---- the sweep ---- */

/* Memory for the densities of a block against all clusters. */
static bool reserve_memberships(ast_sampler *s) {
    if (s->c->count > s->tiles.components) {
        ast_tiles_free(&s->tiles);
        if (!ast_tiles_open(&s->tiles, s->l, 2 * s->c->count, false))
            return false;
    }
    if (s->log_scale && s->c->count <= s->room)
        return true;
    s->room = 2 * s->c->count;
    return ast_replace_arrays(AST_REQUEST(s->memberships, CRP_BLOCK * s->room), AST_REQUEST(s->log_scale, CRP_BLOCK));
}

static bool run_block(crp_block *b) {
    ast_sampler *s = b->s;
    b->known = s->c->count;
    if (!reserve_memberships(s))
        return false;
    if (!ast_pool_run_cancellable(s->tiles.v.pool, (b->last - b->first + s->tiles.tile - 1) / s->tiles.tile,
                                  find_memberships, b))
        return false;
    for (size_t i = b->first; i < b->last; i++)
        if (s->tiles.v.labels[i] != AST_MISSING && (ast_pool_stopped(s->tiles.v.pool, 0) || !visit(b, i)))
            return false;
    return true;
}

/* false: no memory, or cancelled. */
static bool visit_all(ast_sampler *s, size_t *changed) {
    crp_block b = {.s = s, .key = ast_sweep_key(s->seed, s->restart, s->sweep, 4)};
    size_t count = s->tiles.v.rows->count;
    bool ready = make_room(&b);
    for (size_t k = 0; k < s->c->count && ready; k++) {
        b.n[k] = s->tiles.v.clusters->members[k];
        s->c->offsets[k] = ast_log_constant(s->c->dimension, s->c->kappas[k]);
    }
    for (b.first = 0; b.first < count && ready; b.first += CRP_BLOCK) {
        b.last = b.first + CRP_BLOCK < count ? b.first + CRP_BLOCK : count;
        ready = run_block(&b);
    }
    *changed = b.changed;
    ast_free_all(b.n, b.weight);
    return ready;
}

/* log p(z): alpha^K prod_k (n_k - 1)! / (alpha (alpha + 1) .. (alpha + N - 1)). */
static double log_partition(const ast_sampler *s) {
    double alpha = s->prior.concentration;
    double sum = ast_log_gamma(alpha) - ast_log_gamma(alpha + (double)s->tiles.v.present);
    for (size_t k = 0; k < s->c->count; k++)
        sum += log(alpha) + ast_log_gamma((double)s->tiles.v.clusters->members[k]);
    return sum;
}

ast_status ast_crp_sweep(ast_sampler *s, size_t *changed, ast_fault *fault) {
    s->sweep++;
    if (!visit_all(s, changed))
        return ast_pool_cancelled(ast_view_of(s->l).pool) ? ast_fail_cancelled(fault) : ast_fail_memory(fault);
    ast_status status = ast_components_keep_used(s->c, s->l, fault);
    if (status != AST_OK)
        return status;
    ast_draw_parameters(s);
    for (size_t k = 0; k < s->c->count; k++)
        s->c->weights[k] = (double)s->tiles.v.clusters->members[k] / (double)s->tiles.v.present;
    s->log_joint = log_partition(s) + ast_log_joint_given_labels(s);
    return AST_OK;
}

ast_status ast_run_crp(ast_labelling *l, ast_run *run, ast_fault *fault) {
    return ast_run_sampler(l, run, ast_crp_sweep, fault);
}
