/* SPDX-License-Identifier: MIT
 *
 * Saves and restores the state of a run after a pass: one small record per point.
 *
 * The main idea: a pass depends only on the list of clusters, their means and the labels. Sums are exact, so they are
 * computed from the labels again. Bounds only save time, so the next pass does without them. */
#include "checkpoint_labels.h"

#include "inside.h"

#define FLIPPED 0x80000000u /* axial: the point was added as -x */

void ast_save_label_records(const ast_labelling *l, const int32_t *place, size_t first, size_t count, uint32_t *records,
                            size_t stride) {
    for (size_t i = first; i < first + count; i++) {
        int32_t label = l->labels[i];
        uint32_t flipped = l->rows.axial && label >= 0 && ast_is_flipped(l->signs, i) ? FLIPPED : 0;
        records[(i - first) * stride] = label < 0 ? AST_RECORD_MISSING : (uint32_t)place[label] | flipped;
    }
}

bool ast_restore_label(ast_labelling *l, size_t i, uint32_t record) {
    bool missing = l->labels[i] == AST_MISSING, flipped = record & FLIPPED;
    uint32_t label = record & ~FLIPPED;
    if (missing || record == AST_RECORD_MISSING)
        return missing && record == AST_RECORD_MISSING;
    if (label >= l->clusters.live || (flipped && !l->rows.axial))
        return false;
    l->labels[i] = (int32_t)label; /* the clusters were added in order: slot k is the k-th */
    if (flipped)
        ast_set_flipped(l->signs, i, true);
    return true;
}

/* false: a rank failed, and all ranks know. */
static bool gather(ast_labelling *l) {
    uint64_t head[AST_PACKET_HEAD];
    bool had_singletons;
    if (ast_comm_many(l->ranks.comm))
        return ast_allreduce_sums(l, head, &had_singletons) && head[AST_FAILURES] == 0;
    ast_gather_sums(l);
    return !atomic_load(&l->failed);
}

/* Whether every cluster has points. Their means stay. */
static bool check_filled(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    bool filled = true;
    for (size_t slot = 0; slot < c->slots; slot++) {
        filled = filled && c->members[slot] > 0;
        c->touched[slot] = 0;
        c->keys[slot] = 0;
    }
    return filled;
}

ast_status ast_restore_sums(ast_labelling *l, uint64_t label_hash, bool *filled, ast_fault *fault) {
    l->label_hash_base.live = 0;
    ast_add_all(l);
    bool ready = gather(l);
    *filled = check_filled(l);
    if (ready)
        ast_compute_first_hash(l);
    ready = !atomic_exchange(&l->failed, false) && ready;
    l->label_hash_base.first = ast_clusters_label_hash(&l->clusters, l->clusters.order, l->clusters.live) - label_hash;
    l->first = l->last_was_first = false;
    l->scorer.bounds.invalid = true;
    l->events.count = l->scorer.bounds.last_events = 0;
    return ast_comm_agree(l->ranks.comm, ready ? AST_OK : ast_fail_memory(fault), fault);
}
