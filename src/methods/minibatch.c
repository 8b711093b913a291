/* SPDX-License-Identifier: MIT
 *
 * Mini-batch spherical k-means (after Sculley 2010): K means, and a step of all of them for each batch of points.
 *
 *     batch:  B of the points, each once a round
 *     label:  k = argmax_k mu_k . x for its points, by the means before it
 *     learn:  S_k += sum of x over its points,    mu_k = S_k / |S_k|
 *
 * S_k is the sum of all points that cluster k was ever given. That is Sculley's rule: a step of 1 / count towards each
 * point makes a mean that of all of them. Sums are exact integers, so that nothing depends on threads. When as many
 * points were drawn as at the last time and before it, all S_k are halved: what was learned from poor means is
 * forgotten.
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
    WINDOW = 10,   /* batches that are judged together */
    PATIENCE = 100 /* points a cluster that are drawn before one that got none is given up */
};
#define MOST_POINTS 0x1p32 /* whose sums fit 64 bits */
#define WORTH_IT 1e-3 /* the part of what is missing to a cosine of 1 that a window has to gain on the one before */

typedef struct learner {
    ast_labelling *l;
    ast_run *run;
    ast_subset batch;
    uint32_t *deck;         /* (present) the points, of which the first `dealt` were drawn in this round */
    size_t size, dealt;     /* of a batch */
    uint32_t *members;      /* (size) the batch, in order */
    ast_cluster_list total; /* S_k and mu_k; slot k is cluster k */
    int64_t *left;          /* (K) members in this batch, less those that starved clusters took */
    uint64_t *last;         /* (K) points drawn when the cluster last got one */
    uint64_t drawn, halve;  /* points; when to halve next */
    uint64_t mass;          /* points in the sums */
    double window, before;  /* mean cosine: of the batches of this window together; of the window before */
    int judged;             /* batches of this window */
} learner;

/* ---- Drawing ---------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The next points of a shuffled deck; in order, since memory is read in order best. */
static void deal(learner *m, ast_random *random) {
    const ast_labelling_view v = ast_view_of(m->l);
    size_t count = v.present;
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

/* The same draw for any number of points: k-means++ among them. */
ast_status ast_start_sampled(ast_labelling *l, const ast_run *run, ast_random *random, ast_fault *fault) {
    ast_subset sample = {0};
    uint64_t stream = ast_draw_stream(run->restart, AST_DRAW_START);
    ast_status status = ast_subset_load_drawn(&sample, l, run->options->seed, stream, run->start_points, fault);
    if (status == AST_OK)
        status = ast_run_plusplus(sample.labelling, run, random, fault);
    if (status == AST_OK)
        status = ast_subset_adopt(l, ast_view_of(sample.labelling).clusters, fault);
    ast_subset_free(&sample);
    return status;
}

/* ---- Learning --------------------------------------------------------------------------------------------------- */

/* Old sums count half: they were found with means that are no more. */
static void forget_half(learner *m) {
    const ast_labelling_view v = ast_view_of(m->l);
    ast_cluster_list *c = &m->total;
    m->mass += m->size;
    if (m->drawn < m->halve && (double)m->mass < MOST_POINTS)
        return;
    for (size_t j = 0; j < c->live * c->dimension; j++)
        c->sums[j] /= 2;
    for (size_t k = 0; k < c->live; k++)
        c->weights[k] /= 2;
    m->mass /= 2;
    m->halve = m->drawn + (m->drawn < v.present ? m->drawn : v.present);
}

/* The mean cosine of the batch to the means that its points were labelled with. */
static double mean_cosine(const ast_cluster_list *c) {
    double sum = 0, weight = 0;
    for (size_t k = 0; k < c->live; k++) {
        for (size_t d = 0; d < c->dimension; d++)
            sum += (double)c->sums[k * c->dimension + d] * (double)c->means[k * c->dimension + d];
        weight += ast_clusters_weight(c, (int32_t)k);
    }
    return sum / c->unit / weight;
}

/* A cluster that got no point for long takes one that fits badly, and forgets what it was. */
static void replace(learner *m, int32_t slot, const ast_kept_point *known, const float *row) {
    ast_cluster_list *c = &m->total;
    double factor = known->weight * c->unit;
    for (size_t d = 0; d < c->dimension; d++)
        c->sums[(size_t)slot * c->dimension + d] = llrint((double)row[d] * factor);
    c->weights[slot] = c->weight_unit == c->unit ? llrint(factor) : 1;
    m->last[slot] = m->drawn;
    ast_clusters_set_mean(c, slot, row);
}

static ast_status feed_starved(learner *m, ast_fault *fault) {
    const ast_cluster_list *batch = ast_view_of(m->batch.labelling).clusters;
    size_t present = ast_view_of(m->l).present;
    uint64_t most = PATIENCE * m->total.live > EACH * m->size ? PATIENCE * m->total.live : EACH * m->size;
    uint64_t patience = most < present ? most : present; /* in so many every point was drawn once */
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
    const ast_labelling_view v = ast_view_of(m->batch.labelling);
    const ast_cluster_list *batch = v.clusters;
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

/* Whether the means still get better: the batches of a window against those of the one before. */
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
    if (m->batch.weights)
        ast_labelling_weigh(batch, m->batch.weights, m->total.unit);
    ast_labelling_set_rule(batch, &ast_nearest_rule, NAN);
    status = ast_subset_adopt(batch, &m->total, fault);
    if (status == AST_OK)
        status = ast_labelling_pass(batch, AST_ORDERED, &pass, fault);
    if (status != AST_OK)
        return status;
    *cosine = mean_cosine(ast_view_of(batch).clusters);
    learn(m);
    return feed_starved(m, fault);
}

static ast_status run_batches(learner *m, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(m->l);
    ast_run *run = m->run;
    ast_random random;
    double weight = 0, cosine = 0;
    ast_status status = AST_OK;
    for (size_t i = 0; i < v.rows->count; i++)
        weight += v.labels[i] == AST_MISSING ? 0 : v.rows->weights ? v.rows->weights[i] : 1;
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

/* Halving keeps a sum below twice a round of points; weights need that bit of room, and one for rounding. */
static void choose_unit(learner *m) {
    const ast_labelling_view v = ast_view_of(m->l);
    m->total.unit = v.rows->weights ? v.clusters->unit / 8 : v.clusters->unit;
    m->total.weight_unit = v.rows->weights ? m->total.unit : 1;
}

static ast_status open_learner(learner *m, ast_fault *fault) {
    ast_labelling *l = m->l;
    const ast_labelling_view v = ast_view_of(l);
    size_t clusters = v.clusters->live, size = batch_size(m->run->options), at = 0;
    m->size = size < v.present ? size : v.present;
    m->halve = 2 * m->size;
    m->before = -1;
    m->deck = ast_allocate(v.present, sizeof *m->deck);
    m->members = ast_allocate(m->size, sizeof *m->members);
    m->last = ast_allocate_zero(clusters, sizeof *m->last);
    m->left = ast_allocate(clusters, sizeof *m->left);
    ast_clusters_clear(&m->total, v.rows->dimension);
    if (!m->deck || !m->members || !m->last || !m->left || !ast_clusters_reserve(&m->total, clusters))
        return ast_fail_memory(fault);
    choose_unit(m);
    m->total.axial = v.rows->axial;
    for (size_t k = 0; k < clusters; k++) /* there is memory */
        ast_clusters_add(&m->total, v.clusters->means + (size_t)v.clusters->order[k] * v.rows->dimension, UINT32_MAX);
    for (size_t i = 0; i < v.rows->count; i++)
        if (v.labels[i] != AST_MISSING)
            m->deck[at++] = (uint32_t)i;
    return AST_OK;
}

/* All points by the means that were learned, then the means of the labels. */
static ast_status assign_all(learner *m, ast_fault *fault) {
    ast_labelling *l = m->l;
    const ast_labelling_view v = ast_view_of(l);
    for (size_t k = 0; k < m->total.live; k++)
        ast_labelling_set_mean(l, v.clusters->order[k], m->total.means + k * m->total.dimension);
    ast_status status = ast_run_final_pass(l, m->run, fault);
    m->run->objective = ast_clusters_objective(v.clusters);
    return status;
}

ast_status ast_run_mbspkm(ast_labelling *l, ast_run *run, ast_fault *fault) {
    learner m = {.l = l, .run = run};
    size_t least = batch_size(run->options), each = EACH * run->options->clusters;
    if (!run->start_points)
        run->start_points = least > each ? least : each;
    ast_labelling_set_rule(l, &ast_kmeans_rule, NAN);
    ast_status status = ast_run_start(l, run, fault);
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
