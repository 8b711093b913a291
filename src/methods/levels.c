/* SPDX-License-Identifier: MIT
 *
 * Spherical k-means in levels, for very many clusters. With L levels and K clusters:
 *
 *     coarse   C = K^(1/L) clusters, rounded up, of a sample of EACH points for each of them; every point joins the
 *              nearest
 *     share    coarse cluster c gets K_c of the K clusters, in proportion to its weight, by largest remainders
 *     within   its points are clustered into K_c clusters, by the L - 1 levels that are left
 *     move     every point joins the nearest of the clusters within its own and the NEAR - 1 nearest coarse clusters,
 *              unless its cluster would be empty; then every mean is that of its points
 *
 * A point is compared with some NEAR sqrt(K) means instead of K. What that loses is measured on LOOKED points, which
 * are compared with all means: the share that is not in the nearest cluster, and what the objective of the sample would
 * gain if they were. */
#include "methods.h"

#include "memory.h"
#include "subset.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EACH = 256,   /* points of the sample for each coarse cluster */
    NEAR = 16,    /* coarse clusters whose clusters a point is compared with */
    LOOKED = 2000 /* points on which the loss is measured */
};

typedef struct division {
    ast_labelling *l;
    ast_labelling_view v;
    ast_run *run; /* of the caller, with its options */
    size_t coarse, clusters;
    float *coarse_means, *means; /* (coarse, D), (clusters, D) */
    double *weights;             /* (coarse) of the points */
    size_t *starts, *shares,
        *firsts;            /* (coarse + 1), (coarse), (coarse): where its points start; K_c; its first cluster */
    uint32_t *members;      /* (present) points, by coarse cluster, then by number */
    int32_t *labels, *next; /* (padded) clusters: within, and after the move */
    uint8_t *signs;         /* (padded / AST_LANES) */
    size_t *counts;         /* (clusters) points */
    ast_subset part;
} division;

/* ---- Flat runs --------------------------------------------------------------------------------------------------- */

typedef struct reporter {
    const ast_options *options;
    size_t left; /* points of coarse clusters to come; 0: not known */
} reporter;

/* A pass over a part is none of the caller's passes, and never the last one. */
static int report_part(const ast_progress *state, void *data) {
    const reporter *r = data;
    ast_progress part = *state;
    part.last = 0;
    part.left = r->left ? r->left : state->left;
    return r->options->progress(&part, r->options->progress_data);
}

/* Spherical k-means with so many clusters. */
static ast_status cluster_flat(ast_labelling *l, ast_run *run, size_t clusters, size_t left, ast_fault *fault) {
    ast_options options = *run->options;
    reporter report = {run->options, left};
    options.clusters = clusters;
    options.progress = run->options->progress ? report_part : NULL;
    options.progress_data = &report;
    ast_run part = ast_run_begin(&options, run->restart);
    ast_labelling_set_rule(l, &ast_kmeans_rule, NAN);
    part.repeats = AST_REPEATS_LAST;
    ast_status status = ast_start_clusters(l, &part, fault);
    if (status == AST_OK)
        status = ast_iterate(l, &part, 0, fault);
    ast_history_free(&part.history);
    run->iterations = part.iterations > run->iterations ? part.iterations : run->iterations;
    run->converged = run->converged && part.converged;
    return status;
}

/* ---- The coarse level -------------------------------------------------------------------------------------------- */

static bool open_division(division *d, size_t coarse, size_t clusters) {
    const ast_rowset *rows = d->v.rows;
    size_t dimension = rows->dimension;
    d->coarse = coarse;
    d->clusters = clusters;
    return ast_replace_arrays(AST_REQUEST(d->coarse_means, coarse * dimension), AST_REQUEST(d->weights, coarse),
                              AST_REQUEST(d->starts, coarse + 1), AST_REQUEST(d->shares, coarse),
                              AST_REQUEST(d->firsts, coarse), AST_REQUEST(d->members, d->v.present),
                              AST_REQUEST(d->means, clusters * dimension), AST_REQUEST(d->labels, rows->padded),
                              AST_REQUEST(d->next, rows->padded), AST_REQUEST(d->signs, rows->padded / AST_LANES),
                              AST_REQUEST(d->counts, clusters));
}

static void close_division(division *d) {
    ast_subset_free(&d->part);
    ast_free_all(d->coarse_means, d->weights, d->starts, d->shares, d->firsts, d->members, d->means, d->labels, d->next,
                 d->signs, d->counts);
}

/* The coarse clusters of a sample; then every point with the nearest. */
static ast_status find_coarse(division *d, ast_fault *fault) {
    uint64_t stream = ast_draw_stream(d->run->restart, AST_DRAW_SAMPLE);
    size_t drawn = d->v.present < EACH * d->coarse ? d->v.present : EACH * d->coarse;
    ast_pass_result pass;
    ast_subset sample = {0};
    ast_status status = ast_subset_load_drawn(&sample, d->l, d->run->options->seed, stream, drawn, fault);
    if (status == AST_OK)
        status = cluster_flat(sample.labelling, d->run, d->coarse, 0, fault);
    ast_labelling_set_rule(d->l, &ast_nearest_rule, NAN);
    if (status == AST_OK)
        status = ast_subset_add_means_of(d->l, ast_view_of(sample.labelling).clusters, fault);
    ast_subset_free(&sample);
    return status == AST_OK ? ast_run_label(d->l, d->run, &pass, fault) : status;
}

/* The points of each coarse cluster, and its mean. */
static void list_members(division *d) {
    const ast_cluster_list *c = d->v.clusters;
    const double *weights = d->v.rows->weights;
    size_t dimension = d->v.rows->dimension;
    memset(d->starts, 0, (d->coarse + 1) * sizeof *d->starts);
    for (size_t k = 0; k < d->coarse; k++) {
        memcpy(d->coarse_means + k * dimension, c->means + (size_t)c->order[k] * dimension,
               dimension * sizeof *d->coarse_means);
        d->weights[k] = 0;
    }
    for (size_t i = 0; i < d->v.rows->count; i++)
        if (d->v.labels[i] >= 0)
            d->starts[d->v.labels[i] + 1]++;
    for (size_t k = 0; k < d->coarse; k++)
        d->starts[k + 1] += d->starts[k];
    memcpy(d->firsts, d->starts, d->coarse * sizeof *d->firsts); /* until all points are placed: the next free place */
    for (size_t i = 0; i < d->v.rows->count; i++) {
        int32_t k = d->v.labels[i];
        if (k < 0)
            continue;
        d->members[d->firsts[k]++] = (uint32_t)i;
        d->weights[k] += weights ? weights[i] : 1;
    }
}

/* K_c in proportion to the weight, at least 1 and at most the number of points: rounded down, then the coarse clusters
 * that are farthest below their quota get one more until the total is K; above K, those farthest above it lose one. */
static void share_clusters(division *d) {
    double all = 0;
    size_t total = 0;
    for (size_t k = 0; k < d->coarse; k++)
        all += d->weights[k];
    for (size_t k = 0; k < d->coarse; k++) {
        size_t points = d->starts[k + 1] - d->starts[k];
        d->weights[k] *= (double)d->clusters / all; /* from here on the quota */
        double whole = floor(d->weights[k]);
        d->shares[k] = whole < (double)points ? (size_t)whole : points;
        d->shares[k] += d->shares[k] == 0 && points > 0;
        total += d->shares[k];
    }
    while (total != d->clusters) {
        bool more = total < d->clusters;
        size_t best = d->coarse;
        double most = -INFINITY;
        for (size_t k = 0; k < d->coarse; k++) {
            double below = d->weights[k] - (double)d->shares[k], gap = more ? below : -below;
            bool can = more ? d->shares[k] < d->starts[k + 1] - d->starts[k] : d->shares[k] > 1;
            if (can && gap > most) {
                most = gap;
                best = k;
            }
        }
        d->shares[best] += more ? 1 : (size_t)-1;
        total += more ? 1 : (size_t)-1;
    }
    for (size_t k = 0, first = 0; k < d->coarse; first += d->shares[k++])
        d->firsts[k] = first;
}

/* ---- Within ------------------------------------------------------------------------------------------------------ */

static ast_status divide(ast_labelling *l, ast_run *run, size_t clusters, int levels, size_t left, ast_fault *fault);

/* The unit of the sums, and so the draws of starts, are those of a run with these points alone. */
static void weigh_part(const division *d, size_t count) {
    double total = 0;
    for (size_t i = 0; d->v.rows->weights && i < count; i++)
        total += d->part.weights[i];
    if (d->v.rows->weights)
        ast_labelling_weigh(d->part.labelling, d->part.weights, ast_weight_unit_for_total(total));
}

/* Clusters the points of coarse cluster k; their means and labels become those of clusters firsts[k], ... */
static ast_status cluster_within(division *d, size_t k, int levels, size_t left, ast_fault *fault) {
    const uint32_t *members = d->members + d->starts[k];
    size_t count = d->starts[k + 1] - d->starts[k], dimension = d->v.rows->dimension;
    ast_status status = ast_subset_load(&d->part, d->l, members, count, fault);
    if (status == AST_OK)
        weigh_part(d, count);
    if (status == AST_OK)
        status = divide(d->part.labelling, d->run, d->shares[k], levels, left + d->v.present - d->starts[k + 1], fault);
    if (status != AST_OK)
        return status;
    const ast_labelling_view part = ast_view_of(d->part.labelling);
    const ast_cluster_list *c = part.clusters;
    int32_t *place = ast_allocate(c->slots + 1, sizeof *place);
    if (!place)
        return ast_fail_memory(fault);
    for (size_t j = 0; j < c->live; j++) {
        place[c->order[j]] = (int32_t)(d->firsts[k] + j);
        memcpy(d->means + (d->firsts[k] + j) * dimension, c->means + (size_t)c->order[j] * dimension,
               dimension * sizeof *d->means);
    }
    for (size_t i = 0; i < count; i++)
        d->labels[members[i]] = place[part.labels[i]];
    ast_free(place);
    return AST_OK;
}

/* ---- The move ---------------------------------------------------------------------------------------------------- */

/* Coarse cluster k, then those with the nearest means; returns how many. Of equal ones the first is nearer. */
static size_t find_near(const division *d, size_t k, size_t near[NEAR]) {
    size_t found = 1, dimension = d->v.rows->dimension;
    double scores[NEAR] = {INFINITY};
    near[0] = k;
    for (size_t j = 0; j < d->coarse; j++) {
        double score = ast_exact_score(d->coarse_means + k * dimension, d->coarse_means + j * dimension, dimension);
        score = d->v.rows->axial ? fabs(score) : score;
        if (j == k || d->shares[j] == 0 || (found == NEAR && score <= scores[NEAR - 1]))
            continue;
        size_t to = found < NEAR ? found++ : NEAR - 1;
        for (; scores[to - 1] < score; to--) {
            scores[to] = scores[to - 1];
            near[to] = near[to - 1];
        }
        scores[to] = score;
        near[to] = j;
    }
    return found;
}

/* The nearest cluster of the points of coarse cluster k, among those of the near coarse clusters. */
static ast_status find_nearest(division *d, size_t k, ast_fault *fault) {
    const uint32_t *members = d->members + d->starts[k];
    size_t near[NEAR] = {0}, found = find_near(d, k, near), count = d->starts[k + 1] - d->starts[k];
    ast_pass_result pass;
    ast_status status = ast_subset_load(&d->part, d->l, members, count, fault);
    ast_labelling *part = d->part.labelling;
    if (status == AST_OK)
        ast_labelling_set_rule(part, &ast_nearest_rule, NAN);
    for (size_t n = 0; n < found && status == AST_OK; n++)
        status = ast_labelling_add_means(part, d->means + d->firsts[near[n]] * d->v.rows->dimension, d->shares[near[n]],
                                         fault);
    if (status == AST_OK)
        status = ast_labelling_pass(part, d->run->parallel, &pass, fault);
    for (size_t i = 0; i < count && status == AST_OK; i++) {
        const ast_labelling_view v = ast_view_of(part);
        size_t at = (size_t)v.labels[i], n = 0;
        for (; at >= d->shares[near[n]]; n++)
            at -= d->shares[near[n]];
        d->next[members[i]] = (int32_t)(d->firsts[near[n]] + at);
        ast_set_flipped(d->signs, members[i], ast_is_flipped(v.signs, i));
    }
    return status;
}

/* Points move one after the other; the last one of a cluster stays. */
static void move(division *d) {
    memset(d->counts, 0, d->clusters * sizeof *d->counts);
    for (size_t i = 0; i < d->v.rows->count; i++)
        if (d->labels[i] >= 0)
            d->counts[d->labels[i]]++;
    for (size_t i = 0; i < d->v.rows->count; i++) {
        if (d->labels[i] < 0 || d->counts[d->labels[i]] == 1)
            continue;
        d->counts[d->labels[i]]--;
        d->labels[i] = d->next[i];
        d->counts[d->labels[i]]++;
    }
}

/* ---- All levels -------------------------------------------------------------------------------------------------- */

static ast_status divide_all(division *d, int levels, size_t left, ast_fault *fault) {
    ast_status status = find_coarse(d, fault);
    if (status != AST_OK)
        return status;
    d->v = ast_view_of(d->l);
    list_members(d);
    share_clusters(d);
    memset(d->signs, 0, d->v.rows->padded / AST_LANES);
    for (size_t i = 0; i < d->v.rows->padded; i++)
        d->labels[i] = AST_MISSING;
    for (size_t k = 0; k < d->coarse && status == AST_OK; k++)
        if (d->shares[k] > 0)
            status = cluster_within(d, k, levels - 1, left, fault);
    for (size_t k = 0; k < d->coarse && status == AST_OK; k++)
        if (d->shares[k] > 0)
            status = ast_pool_poll(d->v.pool) ? ast_fail_cancelled(fault) : find_nearest(d, k, fault);
    if (status != AST_OK)
        return status;
    move(d);
    status = ast_labelling_restart(d->l, fault);
    ast_labelling_set_rule(d->l, &ast_kmeans_rule, NAN);
    if (status == AST_OK)
        status = ast_labelling_add_means(d->l, d->means, d->clusters, fault);
    return status == AST_OK ? ast_labelling_rebuild_from(d->l, d->labels, d->signs, fault) : status;
}

/* left: points that other parts have after this one. */
static ast_status divide(ast_labelling *l, ast_run *run, size_t clusters, int levels, size_t left, ast_fault *fault) {
    size_t coarse = (size_t)ceil(pow((double)clusters, 1.0 / levels) - 1e-9);
    if (levels == 1 || coarse < 2)
        return cluster_flat(l, run, clusters, left, fault);
    division d = {.l = l, .v = ast_view_of(l), .run = run};
    ast_status status = open_division(&d, coarse, clusters) ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK)
        status = divide_all(&d, levels, left, fault);
    close_division(&d);
    return status;
}

/* ---- What it loses ----------------------------------------------------------------------------------------------- */

/* Compares points of a sample with all means. drawn: (LOOKED) their numbers. */
static ast_status measure(ast_labelling *l, ast_run *run, ast_subset *sample, uint32_t *drawn, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_cluster_list *c = v.clusters;
    uint64_t stream = ast_draw_stream(run->restart, AST_DRAW_LOOKED);
    size_t count = ast_subset_draw(l, run->options->seed, stream, LOOKED, drawn), misplaced = 0;
    double own = 0, lost = 0;
    ast_pass_result pass;
    ast_status status = ast_subset_load(sample, l, drawn, count, fault);
    if (status == AST_OK)
        ast_labelling_set_rule(sample->labelling, &ast_nearest_rule, NAN);
    if (status == AST_OK)
        status = ast_subset_add_means_of(sample->labelling, c, fault);
    if (status == AST_OK)
        status = ast_labelling_pass(sample->labelling, run->parallel, &pass, fault);
    for (size_t i = 0; i < count && status == AST_OK; i++) {
        size_t nearest = (size_t)c->order[ast_view_of(sample->labelling).labels[i]], label = (size_t)v.labels[drawn[i]];
        double weight = v.rows->weights ? v.rows->weights[drawn[i]] : 1,
               score = ast_rows_exact_score(v.rows, v.buffer, drawn[i], c->means + label * c->dimension),
               best = ast_rows_exact_score(v.rows, v.buffer, drawn[i], c->means + nearest * c->dimension);
        score = v.rows->axial ? fabs(score) : score;
        best = v.rows->axial ? fabs(best) : best;
        misplaced += best > score;
        own += weight * score;
        lost += weight * (best - score);
    }
    run->level_misplaced = count ? (double)misplaced / (double)count : 0;
    run->level_loss = own > 0 ? lost / own : 0;
    return status;
}

ast_status ast_run_levels(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_subset sample = {0};
    uint32_t *drawn = ast_allocate(LOOKED, sizeof *drawn);
    run->converged = 1;
    ast_status status = drawn ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK)
        status = divide(l, run, run->options->clusters, run->options->kmeans.levels, 0, fault);
    if (status == AST_OK)
        status = measure(l, run, &sample, drawn, fault);
    if (status == AST_OK)
        run->objective = ast_objective(l, 0);
    ast_subset_free(&sample);
    ast_free(drawn);
    return status;
}
