/* SPDX-License-Identifier: MIT
 *
 * Invariants at the end of a pass. A violation is a mistake of ours and ends the program. The cheap checks, which look
 * at clusters only, are part of every build; debug builds also add up all points again. */
#include "inside.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Every live slot is in the order once, in the order of births, and every point is a member of one live cluster. */
static void check_clusters(const ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    int64_t members = 0;
    uint64_t born = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        assert(slot >= 0 && (size_t)slot < c->slots);
        assert(c->alive[slot]);
        assert(c->born[slot] > born);
        assert(c->members[slot] >= 0 && c->weights[slot] >= 0);
        assert(c->members[slot] > 0 || c->fixed || ast_clusters_is_tracked(c, slot));
        born = c->born[slot];
        members += c->members[slot];
    }
    assert((size_t)members == l->everyone);
    (void)members, (void)born;
}

#ifdef AST_RECOUNT
/* One component of a point, as a whole number of units. */
static int64_t part_of(const ast_labelling *l, size_t i, float value) {
    int64_t part =
        l->rows.weights ? llrint((double)value * (l->rows.weights[i] * l->clusters.unit)) : lrintf(value * 0x1p30f);
    return l->rows.axial && ast_is_flipped(l->signs, i) ? -part : part;
}

/* The sums and the numbers of members, counted again in the plainest way. Points of other ranks are not at hand, and
 * those of a source are read no more often than a pass needs them: neither is counted. */
static void check_sums(ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    size_t dimension = c->dimension, slots = c->slots;
    if (ast_comm_many(l->ranks.comm) || l->rows.reader || slots == 0)
        return;
    int64_t *sums = calloc(slots * dimension, sizeof *sums), *members = calloc(slots, sizeof *members);
    for (size_t i = 0; sums && members && i < l->rows.count; i++) {
        if (l->labels[i] < 0)
            continue;
        const float *row = ast_rows_at(&l->rows, &l->workers[0].chunk.rows, i);
        members[l->labels[i]]++;
        for (size_t d = 0; d < dimension; d++)
            sums[(size_t)l->labels[i] * dimension + d] += part_of(l, i, row[d]);
    }
    for (size_t k = 0; sums && members && k < c->live; k++) {
        size_t slot = (size_t)c->order[k];
        assert(members[slot] == c->members[slot]);
        for (size_t d = 0; d < dimension; d++)
            assert(sums[slot * dimension + d] == c->sums[slot * dimension + d]);
    }
    free(sums);
    free(members);
}
#endif

void ast_check_pass(ast_labelling *l) {
    check_clusters(l);
#ifdef AST_RECOUNT
    check_sums(l);
#endif
}
