/* SPDX-License-Identifier: MIT
 *
 * A run of a sampler: the start of the chain, the sweeps with a report after each, and the result. */
#include "gibbs.h"

#include "chain.h"
#include "memory.h"

#include <math.h>
#include <string.h>

/* The components of the given labels, with the kappa that each cluster suggests. */
static void start_components(ast_sampler *s) {
    const ast_cluster_list *list = s->tiles.v.clusters;
    ast_components *c = s->c;
    for (size_t k = 0; k < c->count; k++) {
        double n = (double)list->members[k];
        double resultant = n > 0 ? fmin(1, ast_clusters_length(list, (int32_t)k) / n) : 0;
        double kappa = n < 2 ? s->prior.median : ast_vmf_kappa(c->dimension, resultant);
        kappa = fmax(1e-3, fmin(ast_kappa_limit(c->dimension), kappa));
        c->kappas[k] = isnan(s->prior.kappa) ? kappa : s->prior.kappa;
        c->weights[k] = n / (double)s->tiles.v.present;
        for (size_t d = 0; d < c->dimension; d++)
            c->means[k * c->dimension + d] = (double)list->means[k * c->dimension + d];
    }
}

ast_status ast_sampler_open(ast_sampler *s, ast_labelling *l, const ast_options *options, int restart,
                            ast_components *components, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    *s = (ast_sampler){.l = l, .c = components, .seed = options->seed, .restart = restart};
    size_t count = v.clusters->live;
    ast_status status = ast_prior_open(&s->prior, options, v.rows->dimension, fault);
    if (status != AST_OK)
        return status;
    s->changed = ast_allocate(v.rows->chunks, sizeof *s->changed);
    if (!s->changed || !ast_components_open(components, count, v.rows->dimension) ||
        !ast_tiles_open(&s->tiles, l, count, false))
        return ast_fail_memory(fault);
    start_components(s);
    return AST_OK;
}

void ast_sampler_close(ast_sampler *s) {
    ast_tiles_free(&s->tiles);
    ast_free_all(s->prior.mean, s->changed, s->memberships, s->log_scale);
}

static ast_status report_sweep(const ast_sampler *s, const ast_run *run, size_t clusters, size_t changed,
                               ast_fault *fault) {
    const ast_options *o = run->options;
    bool sample = o->sampler.sample_every > 0 && s->sweep > o->sampler.burn_in &&
                  (s->sweep - o->sampler.burn_in) % o->sampler.sample_every == 0;
    ast_progress state = {.restart = run->restart,
                          .iteration = run->iterations,
                          .clusters = clusters,
                          .changed = changed,
                          .scored = s->tiles.v.present,
                          .objective = s->log_joint,
                          .seconds = ast_seconds() - run->pass_start,
                          .labels = sample ? s->tiles.v.labels : NULL};
    return ast_run_report_progress(run, &state, fault);
}

/* The weights of the remaining components add up to one again. */
static void normalise_weights(ast_components *c) {
    double total = 0;
    for (size_t k = 0; k < c->count; k++)
        total += c->weights[k];
    for (size_t k = 0; k < c->count; k++)
        c->weights[k] /= total;
    ast_components_prepare(c);
}

/* ---- The start ---- */

#define SMALL_ANGLE 30.0 /* degrees, up to four dimensions: few caps of this size fit on the sphere */
#define LARGE_ANGLE 60.0 /* degrees, in more dimensions */
#define SPARE 2          /* components for each cluster of the start */
#define FEWEST 20        /* components */

/* DP-vMF-means, then a merge by evidence: so the angle hardly matters. */
static ast_status find_clusters(ast_labelling *l, const ast_run *run, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    ast_options options;
    ast_options_init(&options);
    options.angle = v.rows->dimension <= 4 ? SMALL_ANGLE : LARGE_ANGLE;
    options.merge.by = AST_MERGE_EVIDENCE;
    ast_run start = ast_run_begin(&options, 0);
    start.weight_unit = 1;
    ast_status status = ast_run_dp(l, &start, fault);
    start.merging = true;
    if (status == AST_OK)
        status = ast_run_merge(l, &start, fault);
    size_t most = run->options->method == AST_FSD ? run->options->clusters : 0;
    options.merge.by = AST_MERGE_COUNT;
    options.merge.count = most;
    if (status == AST_OK && most && v.clusters->live > most)
        status = ast_run_merge(l, &start, fault);
    ast_history_free(&start.history);
    return status;
}

/* Makes the clusters slots 0..K-1, in their order; slots K..count-1 get no points. */
static ast_status number_clusters(ast_labelling *l, size_t count, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_cluster_list *list = v.clusters;
    size_t dimension = v.rows->dimension, row = dimension * sizeof(float);
    int32_t *labels = ast_labelling_labels(l), *rank = ast_allocate(list->slots + 1, sizeof *rank);
    float *means = ast_allocate_zero(count, row);
    ast_status status = rank && means ? AST_OK : ast_fail_memory(fault);
    for (size_t k = 0; k < count && status == AST_OK; k++) {
        means[k * dimension] = 1;
        if (k >= list->live)
            continue;
        rank[list->order[k]] = (int32_t)k;
        memcpy(means + k * dimension, list->means + (size_t)list->order[k] * dimension, row);
    }
    for (size_t i = 0; i < v.rows->count && status == AST_OK; i++)
        labels[i] = labels[i] < 0 ? labels[i] : rank[labels[i]];
    if (status == AST_OK)
        status = ast_labelling_set_means(l, means, count, fault);
    ast_free_all(rank, means);
    return status == AST_OK ? ast_labelling_recount(l, fault) : status;
}

static ast_status find_start(ast_labelling *l, ast_run *run, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_options *o = run->options;
    if (o->start.by != AST_PLUSPLUS || (o->method == AST_CRP && o->clusters))
        return ast_start_and_assign(l, run, fault);
    ast_status status = find_clusters(l, run, fault);
    size_t found = v.clusters->live, count = found;
    if (o->method == AST_FSD) {
        size_t wanted = SPARE * found > FEWEST ? SPARE * found : FEWEST;
        count = o->clusters ? o->clusters : wanted < v.present ? wanted : v.present;
    }
    return status == AST_OK ? number_clusters(l, count, fault) : status;
}

/* ---- The chain ---- */

ast_status ast_run_sampler(ast_labelling *l, ast_run *run, ast_sweep *sweep, ast_fault *fault) {
    ast_sampler s = {0};
    ast_chain chain = {0};
    if (ast_view_of(l).present == 0)
        return AST_OK;
    ast_status status = find_start(l, run, fault);
    if (status == AST_OK)
        status = ast_sampler_open(&s, l, run->options, run->restart, &run->components, fault);
    if (status == AST_OK)
        status = ast_chain_open(&chain, (size_t)run->options->max_iterations, fault);
    while (status == AST_OK && run->iterations < run->options->max_iterations) {
        size_t changed, clusters = 0;
        run->pass_start = ast_seconds();
        status = sweep(&s, &changed, fault);
        run->iterations++;
        run->objective = s.log_joint;
        if (status != AST_OK)
            break;
        for (size_t k = 0; k < s.tiles.v.clusters->slots; k++)
            clusters += s.tiles.v.clusters->members[k] > 0;
        ast_chain_add(&chain, s.log_joint, clusters);
        status = report_sweep(&s, run, clusters, changed, fault);
    }
    if (status == AST_OK)
        status = ast_chain_finish(&chain, run, fault);
    if (status == AST_OK)
        status = ast_components_drop_empty(s.c, l, fault);
    if (status == AST_OK) {
        normalise_weights(s.c);
        status = ast_components_to_clusters(s.c, l, fault);
    }
    ast_chain_free(&chain);
    ast_sampler_close(&s);
    return status;
}
