/* SPDX-License-Identifier: MIT
 *
 * Passes after a merge, which know that clusters have different spreads and sizes. A point joins the cluster with the
 * largest
 *
 *     kappa_k x . mu_k + L(kappa_k) + ln(n_k / N),
 *
 * its log density under cluster k plus the log of the cluster's share (evidence.h has L). kappa_k is the most likely
 * one for a mean length that is shrunk to that of all clusters by D points. A pass counts only if the evidence rises.
 * The nearest mean is not enough here: beside a broad cluster a tight one would take points that it cannot explain. */
#include "merge.h"

#include "content.h"
#include "memory.h"
#include "methods.h"
#include "refine_heads.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PASSES 50
#define LONGEST (1 - 1e-9) /* mean length: kappa stays finite */

/* ---- Distinct rows ----------------------------------------------------------------------------------------------- */

ast_status ast_distinct_open(ast_distinct *distinct, const ast_labelling *l, ast_fault *fault) {
    size_t count = l->rows.count;
    const double *weights = l->rows.view.weights; /* in the order of the caller; rows of weight 0 count for nothing */
    uint8_t *copies = ast_allocate_zero(count, 1);
    distinct->copies = ast_allocate(count, 1);
    ast_status status = copies && distinct->copies ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK)
        status = ast_find_copies(&l->rows.view, weights, l->rows.axial, l->pool, copies, fault);
    for (size_t i = 0; status == AST_OK && i < count; i++) {
        size_t row = l->rows.order ? l->rows.order[i] : i;
        distinct->copies[i] = copies[row] || (weights && weights[row] == 0);
    }
    free(copies);
    return status;
}

void ast_distinct_free(ast_distinct *distinct) {
    ast_free_all(distinct->copies, distinct->counts, distinct->sums);
    *distinct = (ast_distinct){0};
}

static bool reserve_sums(ast_distinct *distinct, const ast_cluster_list *c) {
    if (distinct->slots >= c->slots)
        return true;
    free(distinct->counts);
    free(distinct->sums);
    distinct->counts = ast_allocate(c->slots, sizeof *distinct->counts);
    distinct->sums = ast_allocate(c->slots * c->dimension, sizeof *distinct->sums);
    distinct->slots = distinct->counts && distinct->sums ? c->slots : 0;
    return distinct->slots > 0;
}

/* The sums of the labelling are those of distinct rows without weights for a moment. */
ast_status ast_distinct_sum(ast_distinct *distinct, ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    const double *weights = l->rows.weights;
    double unit = c->unit, weight_unit = c->weight_unit;
    int32_t *labels = l->labels, *counted = ast_allocate(l->rows.padded, sizeof *counted);
    if (!counted || !reserve_sums(distinct, c)) {
        free(counted);
        return ast_fail_memory(fault);
    }
    memcpy(counted, labels, l->rows.padded * sizeof *counted);
    for (size_t i = 0; i < l->rows.count; i++)
        counted[i] = distinct->copies[i] ? AST_MISSING : counted[i];
    l->rows.weights = NULL;
    c->unit = AST_DISTINCT_UNIT;
    c->weight_unit = 1;
    l->labels = l->scorer.labels = counted;
    ast_status status = ast_labelling_recount(l, fault);
    if (status == AST_OK) {
        memcpy(distinct->counts, c->members, c->slots * sizeof *distinct->counts);
        memcpy(distinct->sums, c->sums, c->slots * c->dimension * sizeof *distinct->sums);
    }
    l->labels = l->scorer.labels = labels;
    l->rows.weights = weights;
    c->unit = unit;
    c->weight_unit = weight_unit;
    free(counted);
    return status == AST_OK ? ast_labelling_recount(l, fault) : status;
}

/* ---- One pass ---------------------------------------------------------------------------------------------------- */

typedef struct refining {
    ast_labelling *l;
    ast_distinct *distinct;
    ast_evidence evidence;
    size_t count;      /* clusters */
    double *kappas;    /* (count) */
    double *offsets;   /* (count) */
    ast_table means;   /* for exact scores */
    ast_scales scales; /* large: kappas and offsets over the largest kappa, for scores in float */
    ast_table scaled;  /* large: the scaled means, with the offsets as bias */
    ast_refine_heads heads;
    double *scores;  /* (threads, capacity of means) */
    int32_t *labels; /* (padded) after the pass */
    uint8_t *signs;  /* (padded / AST_LANES) */
} refining;

static double length_of(const refining *r, int32_t slot) {
    size_t dimension = r->l->rows.dimension;
    return ast_sum_length(r->distinct->sums + (size_t)slot * dimension, dimension) / AST_DISTINCT_UNIT;
}

/* kappa and offset of every cluster. */
static void measure(refining *r) {
    const ast_cluster_list *c = &r->l->clusters;
    double points = 0, lengths = 0, dimension = (double)c->dimension;
    for (size_t k = 0; k < r->count; k++) {
        points += (double)r->distinct->counts[c->order[k]];
        lengths += length_of(r, c->order[k]);
    }
    for (size_t k = 0; k < r->count; k++) {
        double n = (double)r->distinct->counts[c->order[k]];
        double mean = (length_of(r, c->order[k]) + dimension * lengths / points) / (n + dimension);
        r->kappas[k] = ast_vmf_kappa(c->dimension, fmin(mean, LONGEST));
        r->offsets[k] = ast_evidence_constant(c->dimension, r->kappas[k]) + log(n / points);
    }
}

/* Whether all means are scored in float, by the kernels of a pass. */
static bool is_large(const refining *r) {
    const ast_rowset *rows = &r->l->rows;
    return !rows->small && !rows->sparse && !rows->axial && !r->heads.points.rows;
}

/* Scores in float. Every partial sum is at most 1 plus the largest offset. */
static void scale_scores(refining *r) {
    double most = DBL_MIN, offset = 0;
    for (size_t k = 0; k < r->count; k++)
        most = fmax(most, r->kappas[k]);
    for (size_t k = 0; k < r->count; k++) {
        r->scales.scale[k] = (float)(r->kappas[k] / most);
        r->scales.bias[k] = (float)fmax(r->offsets[k] / most, -1e30);
        offset = isfinite(r->offsets[k]) ? fmax(offset, fabs(r->offsets[k] / most)) : offset;
    }
    r->scales.count = r->count;
    r->scales.most = (float)(1 + offset);
    r->scales.margin = (float)(2 * ((double)ast_score_error(r->l->rows.dimension) + 0x1p-22) * (2 + offset));
}

static bool fill_scaled(refining *r) {
    const ast_cluster_list *c = &r->l->clusters;
    float row[AST_MAX_DIMENSION];
    ast_table_clear(&r->scaled, c->dimension, false);
    for (size_t k = 0; k < r->count; k++) {
        const float *mean = c->means + (size_t)c->order[k] * c->dimension;
        for (size_t d = 0; d < c->dimension; d++)
            row[d] = r->scales.scale[k] * mean[d];
        if (!ast_table_append(&r->scaled, row, c->order[k]))
            return false;
        r->scaled.bias[k] = r->scales.bias[k];
    }
    return true;
}

/* Before a pass: what the scores are made of. */
static bool prepare(refining *r) {
    const ast_labelling *l = r->l;
    r->count = l->clusters.live;
    measure(r);
    scale_scores(r);
    if (r->heads.points.rows)
        ast_refine_heads_begin(&r->heads, l, &r->scales);
    return ast_clusters_fill_table(&l->clusters, &r->means) && (!is_large(r) || fill_scaled(r));
}

/* By definition; the first of equal ones. */
static int32_t decide(const refining *r, ast_row_buffer *rows, size_t i, double *scores) {
    size_t best = 0;
    double most = -INFINITY;
    ast_rows_exact_scores(&r->l->rows, rows, i, &r->means, scores);
    for (size_t k = 0; k < r->count; k++) {
        double score = r->kappas[k] * scores[k] + r->offsets[k];
        if (score > most) {
            most = score;
            best = k;
        }
    }
    return r->means.ids[best];
}

static void set_label(refining *r, ast_row_buffer *rows, size_t i, int32_t slot) {
    const ast_labelling *l = r->l;
    const float *mean = l->clusters.means + (size_t)slot * l->rows.dimension;
    r->labels[i] = slot;
    if (l->rows.axial)
        ast_set_turned(r->signs, i, ast_rows_exact_score(&l->rows, rows, i, mean) < 0);
}

/* Float scores of the listed points of a chunk; those that they do not decide are left in the list. */
static size_t score_listed(refining *r, ast_chunk *c, size_t base, size_t n) {
    size_t left = 0;
    for (size_t j = 0; j < n; j++)
        c->picked[j] = c->rows.loaded[c->list[j]];
    r->l->rows.kernels->score_rows(c->picked, n, &r->scaled, c->compact, c->scratch);
    for (size_t j = 0; j < n; j++) {
        if (c->compact.best[j] - c->compact.second[j] > r->scales.margin)
            r->labels[base + c->list[j]] = c->compact.id[j];
        else
            c->list[left++] = c->list[j];
    }
    return left;
}

/* The same with heads, which serve axial points too. */
static size_t score_by_heads(refining *r, ast_chunk *c, size_t base, size_t n) {
    const ast_labelling *l = r->l;
    size_t left = ast_refine_heads_score(&r->heads, l, c, base, n, r->labels);
    for (size_t i = base; l->rows.axial && i < base + l->rows.chunk; i++)
        if (l->labels[i] >= 0 && r->labels[i] >= 0)
            set_label(r, &c->rows, i, r->labels[i]);
    return left;
}

static void label_chunk(void *data, size_t chunk, int worker) {
    refining *r = data;
    ast_labelling *l = r->l;
    ast_chunk *c = &l->workers[worker].chunk;
    size_t base = chunk * l->rows.chunk, n = 0;
    double *scores = r->scores + (size_t)worker * r->means.capacity;
    ast_rows_begin(&l->rows, &c->rows, base);
    for (size_t j = 0; j < l->rows.chunk; j++)
        if (l->labels[base + j] >= 0)
            c->list[n++] = (uint32_t)j;
    if (is_large(r) || r->heads.points.rows)
        ast_rows_load(&l->rows, &c->rows, l->labels, base);
    if (is_large(r))
        n = score_listed(r, c, base, n);
    else if (r->heads.points.rows)
        n = score_by_heads(r, c, base, n);
    for (size_t j = 0; j < n; j++)
        set_label(r, &c->rows, base + c->list[j], decide(r, &c->rows, base + c->list[j], scores));
}

/* ---- The evidence of the labels ---------------------------------------------------------------------------------- */

static ast_status find_evidence(refining *r, double *value, size_t *empty, ast_fault *fault) {
    const ast_cluster_list *c = &r->l->clusters;
    ast_status status = ast_distinct_sum(r->distinct, r->l, fault);
    ast_evidence_clear(&r->evidence);
    *empty = 0;
    for (size_t k = 0; k < c->live && status == AST_OK; k++) {
        size_t slot = (size_t)c->order[k];
        *empty += c->members[slot] == 0;
        ast_evidence_leaf(&r->evidence, (double)r->distinct->counts[slot], r->distinct->sums + slot * c->dimension);
    }
    *value = ast_evidence_value(&r->evidence);
    return status;
}

static void swap_labels(refining *r) {
    ast_labelling *l = r->l;
    int32_t *labels = l->labels;
    uint8_t *signs = l->signs;
    l->labels = l->scorer.labels = r->labels;
    l->signs = l->scorer.signs = r->signs;
    r->labels = labels;
    r->signs = signs;
}

/* Clusters without points are gone, the others have the means of their points. */
static ast_status settle(ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    for (size_t k = 0; k < c->live; k++)
        c->touched[c->order[k]] = 1;
    ast_clusters_drop_empty(c);
    return ast_labelling_last_update(l, fault);
}

/* One pass. *rises: it counts; otherwise everything is as it was. */
static ast_status refine_once(refining *r, bool fixed, double *evidence, bool *rises, ast_fault *fault) {
    ast_labelling *l = r->l;
    double value;
    size_t empty;
    if (!prepare(r))
        return ast_fail_memory(fault);
    memcpy(r->labels, l->labels, l->rows.padded * sizeof *r->labels);
    memcpy(r->signs, l->signs, l->rows.padded / AST_LANES);
    if (!ast_pool_try(l->pool, l->rows.chunks, label_chunk, r))
        return ast_fail_cancelled(fault);
    swap_labels(r);
    ast_status status = find_evidence(r, &value, &empty, fault);
    *rises = status == AST_OK && value > *evidence && !(fixed && empty);
    if (*rises)
        *evidence = value;
    else
        swap_labels(r);
    if (status == AST_OK && !*rises)
        return ast_distinct_sum(r->distinct, l, fault); /* the sums of the labels as they were */
    return status == AST_OK ? settle(l, fault) : status;
}

static bool open_refining(refining *r) {
    ast_labelling *l = r->l;
    size_t clusters = l->clusters.live, capacity = (clusters + AST_PANEL - 1) / AST_PANEL * AST_PANEL;
    r->kappas = ast_allocate(clusters, sizeof *r->kappas);
    r->offsets = ast_allocate(clusters, sizeof *r->offsets);
    r->scales.scale = ast_allocate(clusters, sizeof *r->scales.scale);
    r->scales.bias = ast_allocate(clusters, sizeof *r->scales.bias);
    r->scores = ast_allocate((size_t)l->worker_count * 2 * capacity + 1, sizeof *r->scores);
    r->labels = ast_allocate(l->capacity, sizeof *r->labels); /* they may change places with those of the labelling */
    r->signs = ast_allocate_zero(l->capacity / AST_LANES, 1);
    return ast_evidence_open(&r->evidence, clusters, l->rows.dimension, AST_DISTINCT_UNIT) && r->kappas && r->offsets &&
           r->scales.scale && r->scales.bias && r->scores && r->labels && r->signs;
}

static void close_refining(refining *r) {
    ast_free_all(r->kappas, r->offsets, r->scales.scale, r->scales.bias, r->scores, r->labels, r->signs);
    ast_refine_heads_close(&r->heads);
    ast_evidence_close(&r->evidence);
    ast_table_free(&r->means);
    ast_table_free(&r->scaled);
}

ast_status ast_run_refine(ast_labelling *l, ast_run *run, ast_distinct *distinct, bool fixed, double lambda,
                          ast_fault *fault) {
    ast_pass_result pass_result = {.scored = l->present};
    refining r = {.l = l, .distinct = distinct};
    double evidence;
    size_t empty;
    bool rises = true;
    ast_status status = open_refining(&r) ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK)
        status = find_evidence(&r, &evidence, &empty, fault);
    if (status == AST_OK)
        ast_refine_heads_open(&r.heads, l);
    for (int pass = 0; status == AST_OK && rises && pass < MOST_PASSES; pass++) {
        run->pass_start = ast_seconds();
        status = refine_once(&r, fixed, &evidence, &rises, fault);
        if (status == AST_OK)
            status = ast_run_note(l, run, lambda, &pass_result, fault);
    }
    run->converged = run->converged && !rises;
    close_refining(&r);
    return status;
}
