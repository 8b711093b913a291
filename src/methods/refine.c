/* SPDX-License-Identifier: MIT
 *
 * Passes after a merge that take the spread and the size of clusters into account. A point joins the cluster with the
 * largest
 *
 *     kappa_k x . mu_k + L(kappa_k) + ln(n_k / N),
 *
 * its log density under cluster k plus the log of the cluster's share (evidence.h has L). kappa_k is the most likely
 * one for the mean length of the cluster, which D more points shrink to the mean length of all clusters. A pass that
 * does not raise the evidence is undone. The nearest mean does not suffice here: a tight cluster beside a broad one
 * would take points that it cannot explain. */
#include "merge.h"

#include "memory.h"
#include "methods.h"
#include "refine_heads.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PASSES 50
#define LONGEST (1 - 1e-9) /* mean length: kappa stays finite */

/* ---- One pass ---------------------------------------------------------------------------------------------------- */

typedef struct refining {
    ast_labelling *l;
    ast_labelling_view v;
    ast_distinct *distinct;
    ast_evidence evidence;
    size_t count;          /* clusters */
    double *kappas;        /* (count) */
    double *offsets;       /* (count) */
    ast_mean_table means;  /* for exact scores */
    ast_scales scales;     /* large: kappas and offsets over the largest kappa, for scores in float */
    ast_mean_table scaled; /* large: the scaled means, with the offsets as bias */
    ast_refine_heads heads;
    double *scores;   /* (threads, capacity of means) */
    int32_t *labels;  /* (padded) of the open window, after the pass */
    uint8_t *signs;   /* (padded / AST_LANES) */
    uint64_t *filled; /* (slots) not 0: a cluster has points after the pass */
} refining;

static double length_of(const refining *r, int32_t slot) {
    size_t dimension = r->v.rows->dimension;
    return r->distinct->scale * ast_sum_length(r->distinct->of.sums + (size_t)slot * dimension, dimension) /
           AST_SUMS_UNIT;
}

/* Finds kappa and offset of every cluster. */
static void find_kappas(refining *r) {
    const ast_cluster_list *c = r->v.clusters;
    double points = 0, lengths = 0, dimension = (double)c->dimension;
    for (size_t k = 0; k < r->count; k++) {
        points += (double)r->distinct->of.members[c->order[k]];
        lengths += length_of(r, c->order[k]);
    }
    for (size_t k = 0; k < r->count; k++) {
        double n = (double)r->distinct->of.members[c->order[k]];
        double mean = (length_of(r, c->order[k]) + dimension * lengths / points) / (n + dimension);
        r->kappas[k] = ast_vmf_kappa(c->dimension, fmin(mean, LONGEST));
        r->offsets[k] = ast_evidence_constant(c->dimension, r->kappas[k]) + log(n / points);
    }
}

/* Whether all means are scored in float, by the kernels of a pass. */
static bool is_large(const refining *r) {
    const ast_rowset *rows = r->v.rows;
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
    r->scales.max_score = (float)(1 + offset);
    r->scales.margin = (float)(2 * ((double)ast_score_error(r->v.rows->dimension) + 0x1p-22) * (2 + offset));
}

static bool fill_scaled(refining *r) {
    const ast_cluster_list *c = r->v.clusters;
    float row[AST_MAX_DIMENSION];
    ast_mean_table_clear(&r->scaled, c->dimension, false);
    for (size_t k = 0; k < r->count; k++) {
        const float *mean = c->means + (size_t)c->order[k] * c->dimension;
        for (size_t d = 0; d < c->dimension; d++)
            row[d] = r->scales.scale[k] * mean[d];
        if (!ast_mean_table_append(&r->scaled, row, c->order[k]))
            return false;
        r->scaled.bias[k] = r->scales.bias[k];
    }
    return true;
}

/* Before a pass: kappas, offsets and tables of means. */
static bool prepare(refining *r) {
    r->count = r->v.clusters->live;
    find_kappas(r);
    scale_scores(r);
    if (r->heads.points.rows)
        ast_refine_heads_begin(&r->heads, &r->v, &r->scales);
    return ast_clusters_fill_table(r->v.clusters, &r->means) && (!is_large(r) || fill_scaled(r));
}

/* The best cluster by exact scores; the first of equal ones. */
static int32_t decide(const refining *r, ast_row_buffer *rows, size_t i, double *scores) {
    size_t best = 0;
    double most = -INFINITY;
    ast_rows_exact_scores(r->v.rows, rows, i, &r->means, scores);
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
    const float *mean = r->v.clusters->means + (size_t)slot * r->v.rows->dimension;
    r->labels[i] = slot;
    if (r->v.rows->axial)
        ast_set_flipped(r->signs, i, ast_rows_exact_score(r->v.rows, rows, i, mean) < 0);
}

/* Labels the listed points of a chunk by float scores; undecided points stay in the list. */
static size_t score_listed(refining *r, ast_chunk *c, size_t base, size_t n) {
    size_t left = 0;
    for (size_t j = 0; j < n; j++)
        c->picked[j] = c->rows.loaded[c->list[j]];
    r->v.rows->kernels->score_rows(c->picked, n, &r->scaled, c->compact, c->scratch);
    for (size_t j = 0; j < n; j++) {
        if (c->compact.best[j] - c->compact.second[j] > r->scales.margin)
            r->labels[base + c->list[j]] = c->compact.id[j];
        else
            c->list[left++] = c->list[j];
    }
    return left;
}

/* The same with heads, for axial points too. */
static size_t score_by_heads(refining *r, ast_chunk *c, size_t base, size_t n) {
    size_t left = ast_refine_heads_score(&r->heads, &r->v, c, base, n, r->labels);
    for (size_t i = base; r->v.rows->axial && i < base + r->v.rows->chunk; i++)
        if (r->v.labels[i] >= 0 && r->labels[i] >= 0)
            set_label(r, &c->rows, i, r->labels[i]);
    return left;
}

static void label_chunk(void *data, ast_chunk *c, size_t base, size_t last) {
    refining *r = data;
    const ast_labelling_view *v = &r->v;
    size_t n = 0;
    double *scores = r->scores + (size_t)c->worker * r->means.capacity;
    for (size_t i = base; i < last; i++)
        if (v->labels[i] >= 0)
            c->list[n++] = (uint32_t)(i - base);
    if (is_large(r) || r->heads.points.rows)
        ast_rows_load_chunk(v->rows, &c->rows, v->labels, base);
    if (is_large(r))
        n = score_listed(r, c, base, n);
    else if (r->heads.points.rows)
        n = score_by_heads(r, c, base, n);
    for (size_t j = 0; j < n; j++)
        set_label(r, &c->rows, base + c->list[j], decide(r, &c->rows, base + c->list[j], scores));
}

/* ---- The evidence of the labels ---------------------------------------------------------------------------------- */

/* Starts from the labels of the open window. */
static void copy_labels(refining *r) {
    memcpy(r->labels, r->v.labels, r->v.rows->padded * sizeof *r->labels);
    memcpy(r->signs, r->v.signs, r->v.rows->padded / AST_LANES);
}

/* The labels of window `number`: those after a pass, or those it has. */
static ast_status label_window(refining *r, size_t number, bool pass, ast_fault *fault) {
    ast_status status = ast_labelling_open_window(r->l, number, fault);
    if (status != AST_OK)
        return status;
    copy_labels(r);
    return pass ? ast_labelling_each_chunk(r->l, label_chunk, r, fault) : AST_OK;
}

/* Adds up the distinct rows of all windows and ranks by these labels. status: of this rank so far. */
static ast_status add_up(refining *r, bool pass, ast_status status, ast_fault *fault) {
    size_t slots = r->v.clusters->slots;
    memset(r->filled, 0, slots * sizeof *r->filled);
    if (status == AST_OK)
        status = ast_labelling_sums_begin(r->l, &r->distinct->of, fault);
    for (size_t n = 0; n < r->v.windows && status == AST_OK; n++) {
        status = label_window(r, n, pass, fault);
        if (status == AST_OK)
            status = ast_distinct_add(r->distinct, r->l, r->labels, r->signs, fault);
        for (size_t i = 0; i < r->v.rows->count && status == AST_OK; i++)
            if (r->labels[i] >= 0)
                r->filled[r->labels[i]] = 1;
    }
    status = ast_labelling_sums_end(r->l, &r->distinct->of, status, fault);
    if (status == AST_OK)
        ast_comm_allreduce(r->v.comm, r->filled, slots);
    return status;
}

/* The evidence of the labels after a pass, or of those that the points have. *empty: clusters without points. */
static ast_status find_evidence(refining *r, bool pass, ast_status status, double *value, size_t *empty,
                                ast_fault *fault) {
    const ast_cluster_list *c = r->v.clusters;
    status = add_up(r, pass, status, fault);
    ast_evidence_clear(&r->evidence);
    *empty = 0;
    for (size_t k = 0; k < c->live && status == AST_OK; k++) {
        size_t slot = (size_t)c->order[k];
        *empty += !r->filled[slot];
        ast_evidence_leaf(&r->evidence, (double)r->distinct->of.members[slot],
                          r->distinct->of.sums + slot * c->dimension);
    }
    *value = ast_evidence_value(&r->evidence);
    return status;
}

/* The labels of the pass become those of the points. Those of several windows are found again. */
static ast_status accept_labels(refining *r, ast_fault *fault) {
    ast_status status = AST_OK;
    if (r->v.windows == 1)
        return ast_labelling_rebuild_from(r->l, r->labels, r->signs, fault);
    for (size_t n = 0; n < r->v.windows && status == AST_OK; n++) {
        status = label_window(r, n, true, fault);
        if (status == AST_OK)
            status = ast_labelling_take(r->l, r->labels, r->signs, fault);
    }
    return ast_labelling_rebuild(r->l, status, fault);
}

/* One pass. *rises: the evidence rose; otherwise the pass changed nothing. */
static ast_status refine_once(refining *r, bool fixed, double *evidence, bool *rises, ast_fault *fault) {
    double value = 0;
    size_t empty = 0;
    ast_status status = prepare(r) ? AST_OK : ast_fail_memory(fault);
    status = find_evidence(r, true, status, &value, &empty, fault);
    *rises = status == AST_OK && value > *evidence && !(fixed && empty);
    if (!*rises)
        return status;
    *evidence = value;
    return accept_labels(r, fault);
}

static bool open_refining(refining *r) {
    const ast_labelling_view *v = &r->v;
    size_t clusters = v->clusters->live, capacity = (clusters + AST_PANEL - 1) / AST_PANEL * AST_PANEL;
    return ast_replace_arrays(AST_REQUEST(r->kappas, clusters), AST_REQUEST(r->offsets, clusters),
                              AST_REQUEST(r->scales.scale, clusters), AST_REQUEST(r->scales.bias, clusters),
                              AST_REQUEST(r->scores, (size_t)ast_pool_threads(v->pool) * 2 * capacity + 1),
                              AST_REQUEST(r->labels, v->window_rows), AST_REQUEST(r->signs, v->window_rows / AST_LANES),
                              AST_REQUEST(r->filled, v->clusters->slots)) &&
           ast_evidence_open(&r->evidence, clusters, v->rows->dimension, AST_SUMS_UNIT);
}

ast_status ast_run_refine_labels(ast_labelling *l, ast_run *run, ast_distinct *distinct, bool fixed, double lambda,
                                 ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    ast_pass_result pass_result = {.scored = v.everyone};
    refining r = {.l = l, .v = v, .distinct = distinct};
    double evidence;
    size_t empty;
    bool rises = true;
    ast_status status = open_refining(&r) ? AST_OK : ast_fail_memory(fault);
    status = ast_comm_agree(v.comm, status, fault);
    r.evidence.row_scale = distinct->scale;
    if (status == AST_OK)
        status = find_evidence(&r, false, AST_OK, &evidence, &empty, fault);
    if (status == AST_OK)
        ast_refine_heads_open(&r.heads, l);
    for (int pass = 0; status == AST_OK && rises && pass < MOST_PASSES; pass++) {
        run->pass_start = ast_seconds();
        status = refine_once(&r, fixed, &evidence, &rises, fault);
        if (status == AST_OK)
            status = ast_run_count_pass(l, run, lambda, &pass_result, fault);
        if (status == AST_OK)
            status = ast_labelling_finish(l, AST_OK, fault);
    }
    run->converged = run->converged && !rises;
    ast_free_all(r.kappas, r.offsets, r.scales.scale, r.scales.bias, r.scores, r.labels, r.signs, r.filled);
    ast_refine_heads_close(&r.heads);
    ast_evidence_close(&r.evidence);
    ast_mean_table_free(&r.means);
    ast_mean_table_free(&r.scaled);
    return status;
}
