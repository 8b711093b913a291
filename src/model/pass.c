/* SPDX-License-Identifier: MIT
 *
 * What every pass begins and ends with, whatever its schedule. */
#include "inside.h"

typedef struct chunk_job {
    ast_labelling *l;
    ast_chunk_task *task;
} chunk_job;

static void run_chunk(void *data, size_t chunk, int index) {
    const chunk_job *job = data;
    job->task(job->l, &job->l->workers[index], chunk);
}

void ast_each_chunk(ast_labelling *l, size_t first, size_t last, ast_chunk_task *task) {
    chunk_job job = {l, task};
    ast_pool_run_in_order(l->pool, first, last, run_chunk, &job);
}

void ast_find_unseen_bound(ast_labelling *l) {
    ast_unseen_bound *bound = &l->events.unseen_bound;
    if (!l->rule.unseen_bound)
        return;
    bound->all = l->rule.unseen_bound(l->rule.data, &l->clusters);
    bound->each = l->rule.unseen_bound_of && l->clusters.slots <= AST_MASK_BITS;
    if (bound->each)
        l->rule.unseen_bound_of(l->rule.data, &l->clusters, bound->of);
}

bool ast_prepare_pass(ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    ast_mean_list means = ast_clusters_means(c);
    bool ready = ast_bounds_save_means(&l->scorer, &means) && ast_clusters_fill_table(c, &l->scorer.table);
    if (!ready)
        ast_labelling_fail(l);
    ast_clusters_find_singletons(&l->clusters);
    ready = ready && ast_workers_reserve(l);
    ast_find_unseen_bound(l);
    l->scorer.unseen_bound = l->events.unseen_bound;
    if (ready) {
        l->workers[0].chunk.unlabelled = l->first;
        ast_heads_begin_pass(&l->scorer, &l->workers[0].chunk,
                             l->rule.unfit == AST_UNFIT_START ? (float)l->scorer.fit_threshold : AST_NO_SCORE);
    }
    return ready;
}

void ast_end_pass(ast_labelling *l) {
    if (l->first && !l->clusters.fixed) /* given means that got no points */
        ast_clusters_drop_empty(&l->clusters);
    l->last_was_first = l->first;
    l->first = l->scorer.bounds.invalid = false;
    ast_check_pass(l);
    if (l->label_hash_base.due && l->clusters.version != l->label_hash_base.version)
        ast_compute_first_hash(l);
}

void ast_count_work(const ast_labelling *l, ast_pass_result *result) {
    for (int w = 0; w < l->worker_count; w++) {
        result->changed += l->workers[w].changed;
        result->scored += l->workers[w].chunk.scored;
        result->products += l->workers[w].chunk.candidates.products;
    }
}

ast_status ast_labelling_pass(ast_labelling *l, ast_parallel how, ast_pass_result *result, ast_fault *fault) {
    *result = (ast_pass_result){0};
    l->events.count = 0;
    l->pass++;
    for (int w = 0; w < l->worker_count; w++) {
        ast_worker *worker = &l->workers[w];
        ast_candidate_buffer *candidates = &worker->chunk.candidates;
        worker->changed = worker->change_count = worker->chunk.scored = 0;
        candidates->products = candidates->compared_fast = candidates->undecided_fast = 0;
    }
    bool first = l->first;
    ast_status status = l->schedule->pass(l, how, result, fault);
    if (status == AST_OK && l->rule.emptied == AST_EMPTIED_FILLED)
        status = ast_labelling_fill_empty(l, fault);
    if (status == AST_OK && l->rule.emptied == AST_EMPTIED_DROPPED)
        ast_clusters_drop_empty(&l->clusters);
    if (status == AST_OK && !first)
        result->label_hash =
            ast_clusters_label_hash(&l->clusters, l->clusters.order, l->clusters.live) - l->label_hash_base.first;
    return status;
}
