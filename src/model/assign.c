/* SPDX-License-Identifier: MIT */
#include "assign.h"

#include "memory.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct assign_job {
    ast_labelling *l;
    int32_t *labels;
    float *similarity;
    double *exact; /* (threads, stride) */
    size_t stride;
} assign_job;

/* The definition, for a point that the float scores do not decide: false if nothing fits. The nearest is proposed. */
static bool decide(const assign_job *job, ast_worker *worker, double *exact, size_t i) {
    ast_labelling *l = job->l;
    size_t best = 0;
    ast_exact_scores(ast_cloud_row(&l->cloud, i, worker->row), &l->table, exact);
    for (size_t k = 1; k < l->table.count; k++)
        if (exact[k] > exact[best])
            best = k;
    l->proposals[i] = l->table.ids[best];
    return exact[best] >= l->limit;
}

static void assign_chunk(void *data, size_t chunk, int index) {
    assign_job *job = data;
    ast_labelling *l = job->l;
    ast_worker *worker = &l->workers[index];
    size_t base = chunk * l->chunk, dimension = l->cloud.dimension;
    ast_propose_all(l, worker, chunk);
    for (size_t b = base; b < base + l->chunk; b += AST_BLOCK) {
        ast_scores scores = {l->best + b, l->second + b, l->proposals + b};
        size_t count = l->kernels->screen(scores, l->labels + b, AST_BLOCK, l->fit, l->margin, false, worker->list);
        memcpy(job->labels + b, l->labels + b, AST_BLOCK * sizeof *job->labels);
        for (size_t j = 0; j < count; j++)
            if (!decide(job, worker, job->exact + (size_t)index * job->stride, b + worker->list[j]))
                job->labels[b + worker->list[j]] = AST_NOBODY;
        for (size_t i = b; i < b + AST_BLOCK; i++)
            job->labels[i] = job->labels[i] == AST_UNLABELLED ? l->proposals[i] : job->labels[i];
    }
    for (size_t i = base; job->similarity && i < base + l->chunk && i < l->cloud.count; i++) {
        const float *mean = l->clusters.means + (size_t)l->proposals[i] * dimension;
        if (l->labels[i] == AST_MISSING)
            job->similarity[i] = NAN;
        else
            job->similarity[i] = (float)ast_exact_score(ast_cloud_row(&l->cloud, i, worker->row), mean, dimension);
    }
}

ast_status ast_assign_points(ast_labelling *l, int32_t *labels, float *similarity, ast_fault *fault) {
    ast_table_clear(&l->table, l->cloud.dimension);
    bool ready = true;
    for (size_t k = 0; k < l->clusters.live && ready; k++) {
        int32_t slot = l->clusters.order[k];
        ready = ast_table_append(&l->table, l->clusters.means + (size_t)slot * l->cloud.dimension, slot);
    }
    l->pass++; /* the shared table is the one to use */
    assign_job job = {l, labels, similarity, NULL, l->table.count + AST_PANEL};
    if (ready)
        job.exact = ast_allocate((size_t)l->worker_count * job.stride, sizeof *job.exact);
    if (!job.exact)
        return ast_fail_memory(fault);
    ast_pool_run(l->pool, l->chunks, assign_chunk, &job);
    free(job.exact);
    return AST_OK;
}
