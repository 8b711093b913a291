/* SPDX-License-Identifier: MIT
 *
 * The result at a moment: the arrays that a pass changes and a result consists of. A birth may move the arrays. */
#include "inside.h"

#include "memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 6 };

struct ast_snapshot {
    void *copy[ARRAYS];
    size_t size[ARRAYS], live;
};

static void list_arrays(const ast_labelling *l, void *arrays[ARRAYS]) {
    const ast_cluster_list *c = &l->clusters;
    void *all[ARRAYS] = {l->labels, c->order, c->means, c->sums, c->weights, c->members};
    memcpy(arrays, all, sizeof all);
}

ast_snapshot *ast_labelling_snapshot(const ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    ast_snapshot *s = ast_allocate_zero(1, sizeof *s);
    if (!s)
        return NULL;
    size_t rows = c->slots * c->dimension;
    *s = (ast_snapshot){.size = {l->rows.count * sizeof *l->labels, c->live * sizeof *c->order, rows * sizeof *c->means,
                                 rows * sizeof *c->sums, c->slots * sizeof *c->weights, c->slots * sizeof *c->members},
                        .live = c->live};
    void *arrays[ARRAYS];
    list_arrays(l, arrays);
    bool ready = true;
    for (int i = 0; i < ARRAYS; i++) {
        s->copy[i] = ast_allocate(s->size[i], 1);
        ready = ready && s->copy[i];
        if (ready && s->size[i])
            memcpy(s->copy[i], arrays[i], s->size[i]);
    }
    if (ready)
        return s;
    ast_snapshot_free(s);
    return NULL;
}

void ast_labelling_restore(ast_labelling *l, const ast_snapshot *s) {
    assert(s->size[0] == l->rows.count * sizeof *l->labels && s->live <= l->clusters.slots);
    ast_cluster_list *c = &l->clusters;
    void *arrays[ARRAYS];
    list_arrays(l, arrays);
    for (int i = 0; i < ARRAYS; i++)
        if (s->size[i])
            memcpy(arrays[i], s->copy[i], s->size[i]);
    memset(c->alive, 0, c->slots);
    c->live = s->live;
    for (size_t k = 0; k < c->live; k++)
        c->alive[c->order[k]] = 1;
}

void ast_snapshot_free(ast_snapshot *s) {
    if (s)
        ast_free_list(s->copy, ARRAYS);
    free(s);
}
