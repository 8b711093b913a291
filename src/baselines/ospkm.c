/* SPDX-License-Identifier: MIT
 *
 * Online spherical k-means (Zhong 2005): K means, one of which takes a step for each point.
 *
 *     k = argmax_k mu_k . x,    mu_k = (mu_k + eta x) / |mu_k + eta x|,    eta_t = eta_0 (eta_f / eta_0)^(t / (N M))
 *
 * for t = 0 .. N M - 1: M = max_iterations rounds over all points, each round in another random order. The start is
 * that of spherical k-means. At the end every point gets the nearest mean, empty clusters take the point that fits
 * worst, and the means become those of their points. Weights, scaled to 1 on average, multiply eta. The steps depend on
 * each other, so they run on one thread. */
#include "baselines.h"

#include "memory.h"

#include <math.h>

typedef struct online {
    ast_labelling *l;
    ast_labelling_view v;
    ast_run *run;
    size_t count, dimension; /* K, D */
    double *means;           /* (D, K): the scores of a point are sums of rows */
    double *scores;          /* (K) */
    uint32_t *order;         /* (N) */
    double scale;            /* of the weights */
    double t, length;        /* steps done, steps in all */
} online;

static size_t nearest(const online *o, const float *x) {
    size_t best = 0;
    for (size_t k = 0; k < o->count; k++)
        o->scores[k] = 0;
    for (size_t d = 0; d < o->dimension; d++) {
        const double *row = o->means + d * o->count;
        for (size_t k = 0; k < o->count; k++)
            o->scores[k] += (double)x[d] * row[k];
    }
    for (size_t k = 1; k < o->count; k++)
        best = o->scores[k] > o->scores[best] ? k : best;
    return best;
}

/* Opposite vectors may cancel: then the mean stays. */
static void step(online *o, const float *x, size_t k, double eta) {
    double squared = 0;
    for (size_t d = 0; d < o->dimension; d++) {
        double moved = o->means[d * o->count + k] + eta * (double)x[d];
        squared += moved * moved;
    }
    for (size_t d = 0; d < o->dimension && squared > 1e-20; d++)
        o->means[d * o->count + k] = (o->means[d * o->count + k] + eta * (double)x[d]) / sqrt(squared);
}

static double run_round(online *o) {
    const ast_options *options = o->run->options;
    const ast_labelling_view v = o->v;
    double ratio = options->online.learning_rate_end / options->online.learning_rate, objective = 0;
    float row[AST_MAX_DIMENSION];
    ast_random random;
    ast_random_seed(&random, options->seed, (uint64_t)o->run->restart << 32 | (uint32_t)(o->run->iterations + 2));
    ast_random_permutation(&random, o->order, v.rows->count);
    for (size_t j = 0; j < v.rows->count && !ast_pool_poll(v.pool); j++) {
        size_t i = o->order[j];
        if (v.labels[i] == AST_MISSING)
            continue;
        const float *x = ast_rowset_row(v.rows, i, row);
        double weight = v.rows->weights ? v.rows->weights[i] * o->scale : 1;
        size_t k = nearest(o, x);
        objective += weight * o->scores[k];
        step(o, x, k, weight * options->online.learning_rate * pow(ratio, o->t++ / o->length));
    }
    return objective;
}

static ast_status open_online(online *o, ast_fault *fault) {
    const ast_labelling_view v = o->v;
    double total = 0;
    o->count = v.clusters->live;
    if (!ast_replace_arrays(AST_REQUEST(o->means, o->count * o->dimension), AST_REQUEST(o->scores, o->count),
                            AST_REQUEST(o->order, v.rows->count)))
        return ast_fail_memory(fault);
    for (size_t k = 0; k < o->count; k++)
        for (size_t d = 0; d < o->dimension; d++)
            o->means[d * o->count + k] = (double)v.clusters->means[(size_t)v.clusters->order[k] * o->dimension + d];
    for (size_t i = 0; v.rows->weights && i < v.rows->count; i++)
        total += v.labels[i] == AST_MISSING ? 0 : v.rows->weights[i];
    o->scale = v.rows->weights ? (double)v.present / total : 1;
    o->length = (double)v.present * o->run->options->max_iterations;
    return AST_OK;
}

/* Labels by the means as they are now, then the means of the labels. */
static ast_status finish(online *o, ast_fault *fault) {
    const ast_labelling_view v = o->v;
    float mean[AST_MAX_DIMENSION];
    for (size_t k = 0; k < o->count; k++) {
        for (size_t d = 0; d < o->dimension; d++)
            mean[d] = (float)o->means[d * o->count + k];
        ast_labelling_set_mean(o->l, v.clusters->order[k], mean);
    }
    ast_status status = ast_run_final_pass(o->l, o->run, fault);
    o->run->objective = ast_clusters_objective(v.clusters);
    return status;
}

ast_status ast_run_ospkm(ast_labelling *l, ast_run *run, ast_fault *fault) {
    online o = {.l = l, .v = ast_view_of(l), .run = run};
    o.dimension = o.v.rows->dimension;
    ast_labelling_set_rule(l, &ast_kmeans_rule, NAN);
    ast_status status = ast_start_clusters(l, run, fault);
    if (status == AST_OK)
        status = open_online(&o, fault);
    while (status == AST_OK && run->iterations < run->options->max_iterations) {
        run->pass_start = ast_seconds();
        double objective = run_round(&o);
        run->iterations++;
        status = ast_pool_cancelled(o.v.pool) ? ast_fail_cancelled(fault)
                                              : ast_run_report_pass(run, o.count, 0, o.v.present, objective, fault);
    }
    if (status == AST_OK)
        status = finish(&o, fault);
    run->converged = 1; /* the learning rate ends the run */
    ast_free_all(o.means, o.scores, o.order);
    return status;
}
