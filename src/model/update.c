/* SPDX-License-Identifier: MIT
 *
 * From sums to means; and moving one point to another cluster, between passes. */
#include "inside.h"

#include <assert.h>

/* The schedule updates clusters that came to have one point, since it knows where that point is. */
static void update_mean(ast_labelling *l, int32_t slot) {
    ast_cluster_list *c = &l->clusters;
    bool touched = c->touched[slot], is_tracked = ast_clusters_is_tracked(c, slot);
    if (touched && c->members[slot] == 1 && !is_tracked)
        return;
    ast_clusters_note_mean_stays(c, slot);
    c->touched[slot] = 0;
    if (touched && is_tracked && !c->uninstantiated[slot]) {
        float mean[AST_MAX_DIMENSION];
        l->rule.mean(l->rule.data, c, slot, mean);
        ast_clusters_set_mean(c, slot, mean);
    } else if (touched && !is_tracked) {
        ast_clusters_update_mean(c, slot);
    }
}

static void update_block(void *data, size_t first, size_t last) {
    ast_labelling *l = data;
    for (size_t k = first; k < last; k++)
        update_mean(l, l->clusters.order[k]);
}

ast_status ast_labelling_last_update(ast_labelling *l, ast_fault *fault) {
    ast_pool_ranges(l->pool, l->clusters.live, AST_SLOTS_PER_TASK, update_block, l);
    return l->schedule->update_singletons(l, fault);
}

ast_status ast_labelling_update(ast_labelling *l, ast_fault *fault) {
    ast_status status = ast_labelling_last_update(l, fault);
    if (status != AST_OK)
        return status;
    ast_mean_list means = ast_clusters_means(&l->clusters);
    uint64_t compared_fast = 0, undecided_fast = 0;
    for (int w = 0; w < l->worker_count; w++) {
        compared_fast += l->workers[w].chunk.candidates.compared_fast;
        undecided_fast += l->workers[w].chunk.candidates.undecided_fast;
    }
    ast_bounds_note_fast_means(&l->scorer, compared_fast, undecided_fast);
    bool ready =
        ast_bounds_after_update(&l->scorer, &means, l->events.list, l->events.count, l->events.unseen_bound.all);
    ast_clusters_list_free_slots(&l->clusters);
    if (!ready && ast_comm_many(l->ranks.comm)) { /* the next pass reports it to the other ranks */
        ast_labelling_fail(l);
        return AST_OK;
    }
    return ready ? AST_OK : ast_fail_memory(fault);
}

bool ast_move_point(ast_labelling *l, size_t point, int32_t slot) {
    ast_worker *worker = &l->workers[0];
    ast_row_buffer *rows = &worker->chunk.rows;
    ast_bounds *b = &l->scorer.bounds;
    bool axial = l->rows.axial, flipped = axial && ast_rows_canonical(&l->rows, rows, point) == rows->canonical;
    ast_change change = {(uint32_t)point, l->labels[point], slot, axial && ast_is_flipped(l->signs, point), flipped};
    ast_sums sums = ast_cluster_sums(&l->clusters);
    assert(point < l->rows.count && l->clusters.members[change.from] > 0 && l->clusters.alive[slot]);
    if (!ast_worker_reserve(l, worker) || !ast_push_event(l, slot))
        return false;
    if (axial)
        ast_set_flipped(l->signs, point, flipped);
    ast_add_change(l, worker, &change);
    if (!ast_comm_many(l->ranks.comm)) /* otherwise the ranks exchange it */
        ast_merge_into(l, worker, 1, &sums);
    l->clusters.members[change.from]--;
    l->clusters.members[slot]++;
    l->labels[point] = slot;
    if (l->rows.sparse)
        ast_sparse_sum_point(l, point);
    if (l->scorer.keeps_scores) {
        b->scores.id[point] = slot;
        b->scores.best[point] = AST_NO_SCORE;
    }
    b->blocks[point / AST_BLOCK].mask = 0;
    ast_forget_gaps(&l->scorer, point, point + 1);
    return true;
}
