/* SPDX-License-Identifier: MIT
 *
 * The nearest mean of points, without a pass. All points are compared with all means as in a pass: float scores first,
 * exact scores for points that they leave open. Some points, or other means, are compared by exact scores alone. */
#include "inside.h"

#include "memory.h"

#include <stdlib.h>

typedef struct search {
    ast_labelling *l;
    const ast_nearest_query *query;
    const ast_mean_table *means;
    double *exact; /* (threads, stride) */
    size_t stride;
} search;

/* The place of the best mean of the table by exact scores; *score becomes its score. The table has means. */
static size_t find_best(const search *s, ast_chunk *c, size_t i, double *score) {
    double *exact = s->exact + (size_t)c->worker * s->stride;
    size_t best = 0;
    ast_rows_exact_scores(&s->l->rows, &c->rows, i, s->means, exact);
    for (size_t k = 1; k < s->means->count; k++)
        if (exact[k] > exact[best])
            best = k;
    *score = exact[best];
    return best;
}

/* ---- All points -------------------------------------------------------------------------------------------------- */

/* Decides a point that the float scores leave open: sets its best cluster. false: its score does not fit. */
static bool decide(const search *s, ast_chunk *c, size_t i) {
    const ast_close_call *call = ast_close_call_of(c, i - c->base);
    double score = call ? call->score : 0;
    c->scores.id[i - c->base] = call ? call->slot : s->means->ids[find_best(s, c, i, &score)];
    return score >= s->l->scorer.fit_threshold;
}

static void label_block(const search *s, ast_chunk *c, size_t b) {
    ast_labelling *l = s->l;
    size_t first = b - c->base;
    int32_t *labels = s->query->labels + b;
    ast_scores scores = {c->scores.best + first, c->scores.second + first, c->scores.id + first};
    uint64_t bits[AST_BLOCK / 64];
    l->rows.kernels->mark_undecided(scores, l->labels + b, AST_ALL_GROUPS, l->scorer.fit, l->scorer.margin, false,
                                    bits);
    for (size_t j = 0; j < AST_BLOCK; j++)
        if ((bits[j / 64] >> j % 64 & 1) && !ast_labelling_stopped(l, c->worker) && !decide(s, c, b + j))
            labels[j] = AST_NOBODY;
    l->rows.kernels->take_proposals(labels, scores.id, AST_BLOCK);
}

static void label_chunk(void *data, ast_chunk *c, size_t first, size_t last) {
    const search *s = data;
    ast_labelling *l = s->l;
    ast_score_every_point(l, &l->workers[c->worker], first / l->rows.chunk);
    for (size_t b = first; b < first + l->rows.chunk && !ast_labelling_stopped(l, c->worker); b += AST_BLOCK)
        label_block(s, c, b);
    for (size_t i = first; s->query->scores && i < last && !ast_labelling_stopped(l, c->worker); i++) {
        s->query->scores[i] = NAN;
        if (l->labels[i] == AST_MISSING)
            continue;
        const float *mean = ast_clusters_mean(&l->clusters, c->scores.id[i - c->base]);
        double score = ast_rows_in_order_score(&l->rows, &c->rows, i, mean);
        s->query->scores[i] = (float)(l->rows.axial ? fabs(score) : score);
    }
}

/* The same by cells, which have found the nearest mean of every point. */
static void label_chunk_by_cells(void *data, ast_chunk *c, size_t first, size_t last) {
    const search *s = data;
    const ast_nearest_query *q = s->query;
    ast_labelling *l = s->l;
    for (size_t i = first; i < first + l->rows.chunk; i++) {
        int32_t nearest = q->labels[i] = l->labels[i] == AST_MISSING ? AST_MISSING : l->cells->label[i];
        if (nearest >= 0 && (q->scores || !l->clusters.fixed)) {
            const float *row = ast_rowset_row(&l->rows, i, c->rows.row);
            double score = ast_exact_score(row, ast_clusters_mean(&l->clusters, nearest), 3);
            q->labels[i] = score >= l->scorer.fit_threshold ? nearest : AST_NOBODY;
            if (q->scores)
                q->scores[i] = (float)score;
        } else if (q->scores && i < last) {
            q->scores[i] = NAN;
        }
    }
}

/* There is no cluster. */
static void label_none(const search *s) {
    const ast_rowset *rows = &s->l->rows;
    for (size_t i = 0; i < rows->padded; i++)
        s->query->labels[i] = s->l->labels[i] == AST_MISSING ? AST_MISSING : AST_NOBODY;
    for (size_t i = 0; s->query->scores && i < rows->count; i++)
        s->query->scores[i] = NAN;
}

static void use_labels(ast_labelling *l, int32_t *labels) {
    l->labels = l->scorer.labels = labels;
    if (l->rows.reader)
        l->windows.reader.labels = labels;
}

static ast_status label_unlabelled(search *s, ast_fault *fault) {
    ast_labelling *l = s->l;
    ast_mean_list means = ast_clusters_means(&l->clusters);
    l->pass++; /* so that workers use the shared table */
    l->scorer.keeps_scores = false;
    if (!ast_clusters_fill_table(&l->clusters, &l->scorer.table))
        return ast_fail_memory(fault);
    if (ast_cells_wanted(l)) {
        bool found = ast_cells_load(&l->cells, &l->scorer, l->pool) && ast_mean_index_build(l->cells, &means) &&
                     ast_cells_nearest(l->cells);
        return found ? ast_labelling_each_chunk(l, label_chunk_by_cells, s, fault) : ast_fail_memory(fault);
    }
    s->stride = l->scorer.table.count + AST_PANEL;
    s->exact = ast_allocate((size_t)l->worker_count * s->stride, sizeof *s->exact);
    if (!s->exact)
        return ast_fail_memory(fault);
    ast_heads_begin_pass(&l->scorer, &l->workers[0].chunk, AST_NO_SCORE);
    return ast_labelling_each_chunk(l, label_chunk, s, fault);
}

/* The scores use the labels that points have. For the time of the search they have none, except missing points. */
static ast_status label_all(search *s, ast_fault *fault) {
    ast_labelling *l = s->l;
    int32_t *own = l->labels, *labels = s->query->labels;
    bool first = l->first;
    for (size_t i = 0; i < l->rows.padded; i++)
        labels[i] = own[i] == AST_MISSING ? AST_MISSING : AST_UNLABELLED;
    use_labels(l, labels);
    l->first = l->workers[0].chunk.unlabelled = true;
    ast_status status = label_unlabelled(s, fault);
    l->first = first;
    use_labels(l, own);
    for (size_t i = 0; i < l->rows.padded; i++) /* rows of a source that the search found to be missing */
        own[i] = labels[i] == AST_MISSING ? AST_MISSING : own[i];
    return status;
}

/* ---- Some points ------------------------------------------------------------------------------------------------- */

static void label_listed(void *data, ast_chunk *c, size_t first, size_t last) {
    const search *s = data;
    const ast_nearest_query *q = s->query;
    const ast_rowset *rows = &s->l->rows;
    for (size_t i = first; i < last; i++) {
        if (!q->rows[i])
            continue;
        double score = -INFINITY;
        size_t best = s->means->count ? find_best(s, c, i, &score) : 0;
        q->labels[i] = s->means->count && score >= s->l->scorer.fit_threshold ? s->means->ids[best] : AST_NOBODY;
        if (q->labels[i] == AST_NOBODY || !rows->axial || !q->signs)
            continue;
        const float *mean = ast_clusters_mean(&s->l->clusters, q->labels[i]);
        ast_set_flipped(q->signs, i, ast_rows_exact_score(rows, &c->rows, i, mean) < 0);
    }
}

ast_status ast_labelling_nearest(ast_labelling *l, const ast_nearest_query *q, ast_fault *fault) {
    search s = {.l = l, .query = q, .means = q->rows ? q->means : &l->scorer.table};
    ast_status status = AST_OK;
    ast_windows_announce_next(&l->windows);
    if (!q->rows && l->clusters.live == 0) {
        label_none(&s);
    } else if (!q->rows) {
        status = label_all(&s, fault);
    } else {
        s.stride = q->means->capacity + 1;
        s.exact = ast_allocate((size_t)l->worker_count * s.stride, sizeof *s.exact);
        status = s.exact ? ast_labelling_each_chunk(l, label_listed, &s, fault) : ast_fail_memory(fault);
    }
    ast_free(s.exact);
    return status;
}
