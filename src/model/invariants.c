/* SPDX-License-Identifier: MIT
 *
 * Invariants at the end of a pass. A violation is a mistake of ours and ends the program. Every build checks the
 * clusters, which is cheap; builds with AST_RECOUNT also check labels and add up all points again. */
#include "inside.h"

#include <assert.h>
#include <stdlib.h>

/* The order lists every live slot once, in the order of births, and every point is a member of one live cluster. The
 * free slots are dead, and the windows consist of whole chunks. */
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
    for (size_t f = 0; f < c->free_count; f++)
        assert(!c->alive[c->free_slots[f]]);
    assert((size_t)members == l->everyone && c->live <= c->slots && c->slots <= c->capacity);
    assert(l->rows.padded == l->rows.chunks * l->rows.chunk && l->rows.chunk % AST_BLOCK == 0);
    assert(l->rows.count <= l->rows.padded && l->rows.padded <= l->capacity && l->present <= l->everyone);
    (void)members, (void)born;
}

#ifdef AST_RECOUNT
/* Counts the sums and the members again in the plainest way. This process does not have the points of other ranks, and
 * reads the points of a source only as often as a pass needs them, so it counts neither. */
static void check_sums(ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    size_t dimension = c->dimension, slots = c->slots;
    if (!ast_is_resident(l) || slots == 0)
        return;
    int64_t *sums = ast_allocate_zero(slots * dimension, sizeof *sums),
            *members = ast_allocate_zero(slots, sizeof *members);
    for (size_t i = 0; sums && members && i < l->rows.count; i++) {
        if (l->labels[i] < 0)
            continue;
        assert((size_t)l->labels[i] < slots && c->alive[l->labels[i]]);
        const float *row = ast_rows_at(&l->rows, &l->workers[0].chunk.rows, i);
        bool flipped = l->rows.axial && ast_is_flipped(l->signs, i);
        members[l->labels[i]]++;
        for (size_t d = 0; d < dimension; d++)
            sums[(size_t)l->labels[i] * dimension + d] += flipped ? -ast_units(l, i, row[d]) : ast_units(l, i, row[d]);
    }
    for (size_t k = 0; sums && members && k < c->live; k++) {
        size_t slot = (size_t)c->order[k];
        assert(members[slot] == c->members[slot]);
        for (size_t d = 0; d < dimension; d++)
            assert(sums[slot * dimension + d] == c->sums[slot * dimension + d]);
    }
    ast_free(sums);
    ast_free(members);
}
#endif

void ast_check_pass(ast_labelling *l) {
    check_clusters(l);
#ifdef AST_RECOUNT
    check_sums(l);
#endif
}
