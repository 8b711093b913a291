/* SPDX-License-Identifier: MIT
 *
 * Mini-batch spherical k-means (after Sculley 2010): K means, all of which take a step for each batch of points.
 *
 *     batch   B points, drawn so that every point occurs once a round
 *     label   k = argmax_k mu_k . x for the points of the batch
 *     learn   S_k += sum of the points x of the batch with label k,    mu_k = S_k / |S_k|
 *
 * S_k is the sum of all points that cluster k ever had. That is Sculley's rule: with steps of 1 / count, a mean is the
 * mean of all its points so far. Sums are exact integers, so that the result does not depend on threads. Whenever the
 * number of points drawn has doubled, all S_k are halved: they were learned with poor means.
 *
 * At the end all points get the nearest mean, empty clusters take the point that fits worst, and the means become those
 * of their points. */
#include "methods.h"

#include "memory.h"
#include "subset.h"
#include "tally_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_BATCH = 1024,
    EACH = 10,     /* points a cluster, in a batch and for the start */
    WINDOW = 10,   /* batches whose mean cosine is compared with that of as many before */
    PATIENCE = 100 /* points a cluster: a cluster that gets none of so many is replaced */
};
#define MOST_POINTS 0x1p32 /* whose sums fit 64 bits */
#define WORTH_IT                                                                                                       \
    1e-3 /* gain over the window before, as a part of 1 - its mean cosine, that is worth another window                \
          */

typedef struct learner {
    ast_labelling *l;
    ast_labelling_view v;
    ast_run *run;
    ast_subset batch;
    uint32_t *deck;         /* (present) the points, of which the first `dealt` were drawn in this round */
    size_t size, dealt;     /* of a batch */
    uint32_t *members;      /* (size) the batch, in order */
    ast_cluster_list total; /* S_k and mu_k; slot k is cluster k */
    int64_t *left;          /* (K) members in this batch, less those that starved clusters took */
    uint64_t *last;         /* (K) points drawn when the cluster last got one */
    uint64_t drawn, halve;  /* points drawn; when to halve the sums next */
    uint64_t mass;          /* points in the sums */
    double window, before;  /* mean cosine: of the batches of this window together; of the window before */
    int judged;             /* batches of this window */
} learner;

/* ---- Drawing ---------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The next points of a shuffled deck, sorted: memory is read faster in order. */
static void deal(learner *m, ast_random *random) {
    size_t count = m->v.present;
    if (m->dealt + m->size > count)
        m->dealt = 0;
    for (size_t j = 0; j < m->size; j++, m->dealt++) {
        size_t with = m->dealt + (size_t)ast_random_below(random, count - m->dealt);
        uint32_t drawn = m->deck[with];
        m->deck[with] = m->deck[m->dealt];
        m->deck[m->dealt] = m->members[j] = drawn;
    }
    qsort(m->members, m->size, sizeof *m->members, by_number);
    m->drawn += m->size;
}

/* k-means++ among a sample of the points. */
ast_status ast_start_sampled(ast_labelling *l, const ast_run *run, ast_random *random, ast_fault *fault) {
    ast_subset sample = {0};
    uint64_t stream = ast_draw_stream(run->restart, AST_DRAW_START);
    ast_status status = ast_subset_load_drawn(&sample, l, run->options->seed, stream, run->start_points, fault);
    if (status == AST_OK)
        status = ast_start_plusplus(sample.labelling, run, random, fault);
    if (status == AST_OK)
        status = ast_subset_add_means_of(l, ast_view_of(sample.labelling).clusters, fault);
    ast_subset_free(&sample);
    return status;
}

/* ---- Learning --------------------------------------------------------------------------------------------------- */

/* Halves the sums if it is time. */
static void forget_half(learner *m) {
    ast_cluster_list *c = &m->total;
    m->mass += m->size;
    if (m->drawn < m->halve && (double)m->mass < MOST_POINTS)
        return;
    for (size_t j = 0; j < c->live * c->dimension; j++)
        c->sums[j] /= 2;
    for (size_t k = 0; k < c->live; k++)
        c->weights[k] /= 2;
    m->mass /= 2;
    m->halve = m->drawn + (m->drawn < m->v.present ? m->drawn : m->v.present);
}

/* The mean cosine of the points of a batch with the means of their labels. */
static double mean_cosine(const ast_cluster_list *c) {
    double sum = 0, weight = 0;
    for (size_t k = 0; k < c->live; k++) {
        for (size_t d = 0; d < c->dimension; d++)
            sum += (double)c->sums[k * c->dimension + d] * (double)c->means[k * c->dimension + d];
        weight += ast_clusters_weight(c, (int32_t)k);
    }
    return sum / c->unit / weight;
}

/* Restarts a cluster from one point. */
static void replace(learner *m, int32_t slot, const ast_kept_point *known, const float *row) {
    ast_cluster_list *c = &m->total;
    double factor = known->weight * c->unit;
    for (size_t d = 0; d < c->dimension; d++)
        c->sums[(size_t)slot * c->dimension + d] = llrint((double)row[d] * factor);
    c->weights[slot] = c->weight_unit == c->unit ? llrint(factor) : 1;
    m->last[slot] = m->drawn;
    ast_clusters_set_mean(c, slot, row);
}

/* Clusters that got no points for long restart from the points that fit worst. */
static ast_status restart_starved(learner *m, ast_fault *fault) {
    const ast_cluster_list *batch = ast_view_of(m->batch.labelling).clusters;
    uint64_t most = PATIENCE * m->total.live > EACH * m->size ? PATIENCE * m->total.live : EACH * m->size;
    uint64_t patience = most < m->v.present ? most : m->v.present; /* after so many draws every point occurred once */
    ast_tally_sums part = {0};
    size_t next = 0;
    bool listed = false;
    memcpy(m->left, batch->members, m->total.live * sizeof *m->left);
    for (int32_t slot = 0; (size_t)slot < m->total.live; slot++) {
        if (m->drawn - m->last[slot] < patience + m->size || m->left[slot] > 0)
            continue;
        if (!listed && !ast_tally_gather(m->batch.labelling, 0, &part))
            return ast_fail_memory(fault);
        listed = true;
        while (next < part.worst.count && m->left[part.worst.items[next].label] < 2)
            next++;
        if (next == part.worst.count)
            break;
        m->left[part.worst.items[next].label]--;
        replace(m, slot, &part.worst.items[next], part.worst.rows + next * m->total.dimension);
        next++;
    }
    ast_tally_free(&part);
    return AST_OK;
}

static void learn(learner *m) {
    const ast_cluster_list *batch = ast_view_of(m->batch.labelling).clusters;
    ast_cluster_list *c = &m->total;
    forget_half(m);
    for (size_t j = 0; j < c->live * c->dimension; j++)
        c->sums[j] += batch->sums[j];
    for (size_t k = 0; k < c->live; k++) {
        if (batch->members[k] == 0)
            continue;
        c->weights[k] += batch->weights[k];
        m->last[k] = m->drawn;
        ast_clusters_update_mean(c, (int32_t)k);
    }
}

/* Whether the mean cosine still rises from window to window. */
static bool goes_on(learner *m, double cosine) {
    m->window += (cosine - m->window) / ++m->judged;
    if (m->judged < WINDOW)
        return true;
    bool better = m->window > m->before + WORTH_IT * (1 - m->before);
    m->before = m->window;
    m->window = m->judged = 0;
    return better;
}

static ast_status run_batch(learner *m, ast_random *random, double *cosine, ast_fault *fault) {
    ast_pass_result pass;
    deal(m, random);
    ast_status status = ast_subset_load(&m->batch, m->l, m->members, m->size, fault);
    if (status != AST_OK)
        return status;
    ast_labelling *batch = m->batch.labelling;
    if (m->v.rows->weights)
        ast_labelling_weigh(batch, m->batch.weights, m->total.unit);
    ast_labelling_set_rule(batch, &ast_nearest_rule, NAN);
    status = ast_subset_add_means_of(batch, &m->total, fault);
    if (status == AST_OK)
        status = ast_labelling_pass(batch, AST_ORDERED, &pass, fault);
    if (status != AST_OK)
        return status;
    *cosine = mean_cosine(ast_view_of(batch).clusters);
    learn(m);
    return restart_starved(m, fault);
}

static ast_status run_batches(learner *m, ast_fault *fault) {
    ast_run *run = m->run;
    ast_random random;
    double weight = 0, cosine = 0;
    ast_status status = AST_OK;
    for (size_t i = 0; i < m->v.rows->count; i++)
        weight += m->v.labels[i] == AST_MISSING ? 0 : m->v.rows->weights ? m->v.rows->weights[i] : 1;
    ast_random_seed(&random, run->options->seed, ast_draw_stream(run->restart, AST_DRAW_BATCH));
    while (status == AST_OK && !run->converged && run->iterations < run->options->max_iterations) {
        run->pass_start = ast_seconds();
        status = run_batch(m, &random, &cosine, fault);
        run->iterations++;
        run->converged = status == AST_OK && !goes_on(m, cosine);
        if (status == AST_OK)
            status = ast_run_report_pass(run, m->total.live, m->size, m->size, cosine * weight, fault);
    }
    return status;
}

/* ---- From start to end ------------------------------------------------------------------------------------------ */

static size_t batch_size(const ast_options *o) {
    size_t clusters = o->start.by == AST_GIVEN ? o->start.means_count : o->clusters;
    return o->minibatch.points ? o->minibatch.points : clusters > LEAST_BATCH / EACH ? EACH * clusters : LEAST_BATCH;
}

static ast_status open_learner(learner *m, ast_fault *fault) {
    size_t clusters = m->v.clusters->live, size = batch_size(m->run->options), at = 0;
    m->size = size < m->v.present ? size : m->v.present;
    m->halve = 2 * m->size;
    m->before = -1;
    ast_clusters_clear(&m->total, m->v.rows->dimension);
    if (!ast_clusters_reserve(&m->total, clusters) ||
        !ast_replace_arrays(AST_REQUEST(m->deck, m->v.present), AST_REQUEST(m->members, m->size),
                            AST_REQUEST(m->last, clusters), AST_REQUEST(m->left, clusters)))
        return ast_fail_memory(fault);
    memset(m->last, 0, clusters * sizeof *m->last);
    /* Halving keeps a sum below that of two rounds: weights need a bit for that, and one for rounding. */
    m->total.unit = m->v.rows->weights ? m->v.clusters->unit / 8 : m->v.clusters->unit;
    m->total.weight_unit = m->v.rows->weights ? m->total.unit : 1;
    m->total.axial = m->v.rows->axial;
    for (size_t k = 0; k < clusters; k++) /* there is memory */
        ast_clusters_add(&m->total, m->v.clusters->means + (size_t)m->v.clusters->order[k] * m->v.rows->dimension,
                         UINT32_MAX);
    for (size_t i = 0; i < m->v.rows->count; i++)
        if (m->v.labels[i] != AST_MISSING)
            m->deck[at++] = (uint32_t)i;
    return AST_OK;
}

/* Labels all points by the learned means, then computes the means of the labels. */
static ast_status assign_all(learner *m, ast_fault *fault) {
    for (size_t k = 0; k < m->total.live; k++)
        ast_labelling_set_mean(m->l, m->v.clusters->order[k], m->total.means + k * m->total.dimension);
    ast_status status = ast_run_final_pass(m->l, m->run, fault);
    m->run->objective = ast_clusters_objective(m->v.clusters);
    return status;
}

ast_status ast_run_mbspkm(ast_labelling *l, ast_run *run, ast_fault *fault) {
    learner m = {.l = l, .v = ast_view_of(l), .run = run};
    size_t least = batch_size(run->options), each = EACH * run->options->clusters;
    if (!run->start_points)
        run->start_points = least > each ? least : each;
    ast_labelling_set_rule(l, &ast_kmeans_rule, NAN);
    ast_status status = ast_start_clusters(l, run, fault);
    if (status == AST_OK)
        status = open_learner(&m, fault);
    if (status == AST_OK)
        status = run_batches(&m, fault);
    if (status == AST_OK)
        status = assign_all(&m, fault);
    ast_subset_free(&m.batch);
    ast_clusters_free(&m.total);
    ast_free_all(m.deck, m.members, m.last, m.left);
    return status == AST_OK ? ast_run_measure_improvement(l, run, 0, fault) : status;
}
