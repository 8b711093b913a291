/* SPDX-License-Identifier: MIT
 *
 * The nearest mean of points: nothing is learned. All points are compared with all means as in a pass, in float first;
 * some points, or other means, by exact scores alone. */
#include "inside.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct assign_job {
    ast_labelling *l;
    int32_t *labels;
    float *similarity;
    double *exact; /* (threads, stride) */
    size_t stride;
    const ast_nearest_query *query; /* of some points */
} assign_job;

/* The definition, for a point that the float scores do not decide: false if nothing fits. The nearest is proposed. */
static bool decide(const assign_job *job, ast_worker *worker, double *exact, size_t i) {
    ast_labelling *l = job->l;
    size_t best = 0;
    const ast_close_call *call = ast_close_call_of(&worker->chunk, i - worker->chunk.base);
    if (call) {
        worker->chunk.scores.id[i - worker->chunk.base] = call->slot;
        return call->score >= l->scorer.fit_threshold;
    }
    ast_rows_exact_scores(&l->rows, &worker->chunk.rows, i, &l->scorer.table, exact);
    for (size_t k = 1; k < l->scorer.table.count; k++)
        if (exact[k] > exact[best])
            best = k;
    worker->chunk.scores.id[i - worker->chunk.base] = l->scorer.table.ids[best];
    return exact[best] >= l->scorer.fit_threshold;
}

static void assign_block(const assign_job *job, ast_worker *worker, size_t b, double *exact) {
    ast_labelling *l = job->l;
    size_t first = b - worker->chunk.base;
    int32_t *labels = job->labels + b;
    ast_scores scores = {worker->chunk.scores.best + first, worker->chunk.scores.second + first,
                         worker->chunk.scores.id + first};
    uint64_t bits[AST_BLOCK / 64];
    l->rows.kernels->mark_undecided(scores, l->labels + b, AST_ALL_GROUPS, l->scorer.fit, l->scorer.margin, false,
                                    bits);
    memcpy(labels, l->labels + b, AST_BLOCK * sizeof *labels);
    for (size_t j = 0; j < AST_BLOCK; j++)
        if ((bits[j / 64] >> j % 64 & 1) && !ast_labelling_stopped(l, worker->chunk.worker) &&
            !decide(job, worker, exact, b + j))
            labels[j] = AST_NOBODY;
    l->rows.kernels->take_proposals(labels, scores.id, AST_BLOCK);
}

static void measure_similarity(const assign_job *job, ast_worker *worker, size_t i) {
    ast_labelling *l = job->l;
    job->similarity[i] = NAN;
    if (l->labels[i] == AST_MISSING)
        return;
    const float *mean = l->clusters.means + (size_t)worker->chunk.scores.id[i - worker->chunk.base] * l->rows.dimension;
    double score = ast_rows_sequential_score(&l->rows, &worker->chunk.rows, i, mean);
    job->similarity[i] = (float)(l->rows.axial ? fabs(score) : score);
}

static void assign_chunk(void *data, size_t chunk, int index) {
    assign_job *job = data;
    ast_labelling *l = job->l;
    ast_worker *worker = &l->workers[index];
    size_t base = chunk * l->rows.chunk;
    ast_score_every_point(l, worker, chunk);
    for (size_t b = base; b < base + l->rows.chunk && !ast_labelling_stopped(l, index); b += AST_BLOCK)
        assign_block(job, worker, b, job->exact + (size_t)index * job->stride);
    if (ast_labelling_stopped(l, index))
        return;
    for (size_t i = base; job->similarity && i < base + l->rows.chunk && i < l->rows.count; i++)
        measure_similarity(job, worker, i);
}

/* The same by cells, which found the nearest of every point. */
static void assign_cells(void *data, size_t chunk, int index) {
    assign_job *job = data;
    ast_labelling *l = job->l;
    ast_worker *worker = &l->workers[index];
    for (size_t i = chunk * l->rows.chunk; i < (chunk + 1) * l->rows.chunk; i++) {
        int32_t nearest = job->labels[i] = l->labels[i] == AST_MISSING ? AST_MISSING : l->cell_mode.cells->label[i];
        if (nearest >= 0 && (job->similarity || !l->clusters.fixed)) {
            const float *row = ast_rowset_row(&l->rows, i, worker->chunk.rows.row);
            double score = ast_exact_score(row, l->clusters.means + 3 * (size_t)nearest, 3);
            job->labels[i] = score >= l->scorer.fit_threshold ? nearest : AST_NOBODY;
            if (job->similarity)
                job->similarity[i] = (float)score;
        } else if (job->similarity && i < l->rows.count) {
            job->similarity[i] = NAN;
        }
    }
}

static ast_status assign_by_cells(assign_job *job, ast_fault *fault) {
    ast_labelling *l = job->l;
    ast_mean_list means = ast_clusters_means(&l->clusters);
    if (!ast_cells_load(&l->cell_mode.cells, &l->scorer, l->pool) ||
        !ast_mean_index_build(l->cell_mode.cells, &means) || !ast_cells_nearest(l->cell_mode.cells))
        return ast_fail_memory(fault);
    ast_pool_run_cancellable(l->pool, l->rows.chunks, assign_cells, job);
    return AST_OK;
}

static ast_status assign_all(assign_job *job, ast_fault *fault) {
    ast_labelling *l = job->l;
    l->pass++; /* the shared table is the one to use */
    l->scorer.keeps_scores = false;
    l->workers[0].chunk.unlabelled = true;
    if (!ast_clusters_fill_table(&l->clusters, &l->scorer.table))
        return ast_fail_memory(fault);
    if (ast_cells_wanted(l))
        return assign_by_cells(job, fault);
    job->stride = l->scorer.table.count + AST_PANEL;
    job->exact = ast_allocate((size_t)l->worker_count * job->stride, sizeof *job->exact);
    if (!job->exact)
        return ast_fail_memory(fault);
    ast_heads_begin_pass(&l->scorer, &l->workers[0].chunk, AST_NO_SCORE);
    ast_pool_run_cancellable(l->pool, l->rows.chunks, assign_chunk, job);
    return AST_OK;
}

/* ---- Some points --------------------------------------------------------------------------------------------------
 */

static void assign_point(const assign_job *job, ast_row_buffer *rows, size_t i, double *exact) {
    const ast_nearest_query *q = job->query;
    const ast_labelling *l = job->l;
    size_t best = 0;
    if (q->means->count)
        ast_rows_exact_scores(&l->rows, rows, i, q->means, exact);
    for (size_t k = 1; k < q->means->count; k++)
        if (exact[k] > exact[best])
            best = k;
    q->labels[i] = q->means->count && exact[best] >= l->scorer.fit_threshold ? q->means->ids[best] : AST_NOBODY;
    if (q->labels[i] == AST_NOBODY || !l->rows.axial || !q->signs)
        return;
    const float *mean = l->clusters.means + (size_t)q->labels[i] * l->rows.dimension;
    ast_set_flipped(q->signs, i, ast_rows_exact_score(&l->rows, rows, i, mean) < 0);
}

static void assign_some(void *data, ast_chunk *memory, size_t first, size_t last, int worker) {
    const assign_job *job = data;
    for (size_t i = first; i < last; i++)
        if (job->query->rows[i])
            assign_point(job, &memory->rows, i, job->exact + (size_t)worker * job->stride);
}

ast_status ast_labelling_nearest(ast_labelling *l, const ast_nearest_query *q, ast_fault *fault) {
    assign_job job = {.l = l, .labels = q->labels, .similarity = q->scores, .query = q};
    ast_status status = AST_OK;
    if (!q->rows) {
        status = assign_all(&job, fault);
    } else {
        job.stride = q->means->capacity + 1;
        job.exact = ast_allocate((size_t)l->worker_count * job.stride, sizeof *job.exact);
        status = job.exact ? ast_labelling_each_chunk(l, assign_some, &job, fault) : ast_fail_memory(fault);
    }
    free(job.exact);
    return status == AST_OK ? ast_labelling_trouble(l, fault) : status;
}
