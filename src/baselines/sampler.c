/* SPDX-License-Identifier: MIT
 *
 * What surrounds the sweeps of a sampler: where the chain starts, the report after every sweep, and the end. */
#include "gibbs.h"

#include "chain.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

/* The chain starts from the labels there are, with the concentration they suggest. */
static void start_components(ast_sampler *s) {
    const ast_labelling_view v = ast_view_of(s->l);
    const ast_cluster_list *list = v.clusters;
    ast_components *c = s->c;
    for (size_t k = 0; k < c->count; k++) {
        double n = (double)list->members[k];
        double resultant = n > 0 ? fmin(1, ast_clusters_length(list, (int32_t)k) / n) : 0;
        double kappa = n < 2 ? s->prior.median : ast_vmf_kappa(c->dimension, resultant);
        kappa = fmax(1e-3, fmin(ast_kappa_limit(c->dimension), kappa));
        c->kappas[k] = isnan(s->prior.kappa) ? kappa : s->prior.kappa;
        c->weights[k] = n / (double)v.present;
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
    ast_prior_free(&s->prior);
    ast_tiles_free(&s->tiles);
    free(s->changed);
    free(s->shares);
    free(s->reference);
}

static size_t occupied(const ast_cluster_list *list) {
    size_t count = 0;
    for (size_t k = 0; k < list->slots; k++)
        count += list->members[k] > 0;
    return count;
}

static ast_status report_sweep(const ast_sampler *s, const ast_run *run, size_t clusters, size_t changed,
                               ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(s->l);
    const ast_options *o = run->options;
    bool sample = o->sampler.sample_every > 0 && s->sweep > o->sampler.burn_in &&
                  (s->sweep - o->sampler.burn_in) % o->sampler.sample_every == 0;
    ast_progress state = {.restart = run->restart,
                          .iteration = run->iterations,
                          .clusters = clusters,
                          .changed = changed,
                          .scored = v.present,
                          .objective = s->log_joint,
                          .seconds = ast_seconds() - run->pass_start,
                          .labels = sample ? v.labels : NULL};
    return ast_run_report_progress(run, &state, fault);
}

/* The weights of the clusters that are left add up to one again. */
static void share_out(ast_components *c) {
    double total = 0;
    for (size_t k = 0; k < c->count; k++)
        total += c->weights[k];
    for (size_t k = 0; k < c->count; k++)
        c->weights[k] /= total;
    ast_components_prepare(c);
}

/* ---- The start ---- */

#define NARROW 30.0 /* degrees: few caps of this size fit on the sphere of up to four dimensions */
#define WIDE 60.0   /* and of this size on any other that has clusters */
#define SPARE 2     /* times as many components as clusters at the start */
#define FEWEST 20

/* DP-vMF-means, and its clusters merged by evidence, so that the angle hardly matters. */
static ast_status find_clusters(ast_labelling *l, const ast_run *run, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    ast_options options;
    ast_options_init(&options);
    options.angle = v.rows->dimension <= 4 ? NARROW : WIDE;
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

/* The clusters become components 0..K-1, whose slots have the same numbers; the rest of `count` has no points. */
static ast_status number_clusters(ast_labelling *l, size_t count, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_cluster_list *list = v.clusters;
    ast_components c = {0};
    int32_t *rank = ast_allocate(list->slots + 1, sizeof *rank);
    bool ready = rank && ast_components_open(&c, count, v.rows->dimension);
    for (size_t k = 0; k < count && ready; k++)
        for (size_t d = 0; d < c.dimension; d++)
            c.means[k * c.dimension + d] =
                k < list->live ? (double)list->means[(size_t)list->order[k] * c.dimension + d] : d == 0;
    for (size_t k = 0; k < list->live && ready; k++)
        rank[list->order[k]] = (int32_t)k;
    int32_t *labels = ast_labelling_labels(l);
    for (size_t i = 0; i < v.rows->count && ready; i++)
        labels[i] = labels[i] < 0 ? labels[i] : rank[labels[i]];
    ast_status status = ready ? ast_components_to_clusters(&c, l, fault) : ast_fail_memory(fault);
    ast_components_free(&c);
    free(rank);
    return status;
}

ast_status ast_sampler_start(ast_labelling *l, ast_run *run, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_options *o = run->options;
    if (o->start.by != AST_PLUSPLUS || (o->method == AST_CRP && o->clusters))
        return ast_run_assign_nearest(l, run, fault);
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
    ast_sampler s;
    ast_chain chain = {0};
    ast_status status = ast_sampler_open(&s, l, run->options, run->restart, &run->components, fault);
    if (status == AST_OK)
        status = ast_chain_open(&chain, (size_t)run->options->max_iterations, fault);
    while (status == AST_OK && run->iterations < run->options->max_iterations) {
        size_t changed;
        run->pass_start = ast_seconds();
        status = sweep(&s, &changed, fault);
        run->iterations++;
        run->objective = s.log_joint;
        if (status != AST_OK)
            break;
        size_t clusters = occupied(ast_view_of(l).clusters);
        ast_chain_add(&chain, s.log_joint, clusters);
        status = report_sweep(&s, run, clusters, changed, fault);
    }
    if (status == AST_OK)
        status = ast_chain_finish(&chain, run, fault);
    if (status == AST_OK)
        status = ast_components_drop_empty(s.c, l, fault);
    if (status == AST_OK) {
        share_out(s.c);
        status = ast_components_to_clusters(s.c, l, fault);
    }
    ast_chain_free(&chain);
    ast_sampler_close(&s);
    return status;
}
