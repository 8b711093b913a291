/* SPDX-License-Identifier: MIT
 *
 * The result at a moment: a copy of the arrays that make it up, one after the other. */
#include "inside.h"

#include "memory.h"

#include <assert.h>
#include <string.h>

enum { ARRAYS = 6 };

struct ast_snapshot {
    size_t live, size[ARRAYS]; /* sizes in bytes */
    char copies[];
};

static void list_arrays(const ast_labelling *l, void *arrays[ARRAYS]) {
    const ast_cluster_list *c = &l->clusters;
    void *all[ARRAYS] = {l->labels, c->order, c->means, c->sums, c->weights, c->members};
    memcpy(arrays, all, sizeof all);
}

ast_snapshot *ast_labelling_snapshot(const ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    size_t rows = c->slots * c->dimension, total = 0;
    const ast_snapshot head = {c->live,
                               {l->rows.count * sizeof *l->labels, c->live * sizeof *c->order, rows * sizeof *c->means,
                                rows * sizeof *c->sums, c->slots * sizeof *c->weights, c->slots * sizeof *c->members}};
    for (int i = 0; i < ARRAYS; i++)
        total += head.size[i];
    ast_snapshot *s = ast_allocate(sizeof *s + total, 1);
    if (!s)
        return NULL;
    *s = head;
    void *arrays[ARRAYS];
    list_arrays(l, arrays);
    for (size_t i = 0, at = 0; i < ARRAYS; at += s->size[i++])
        if (s->size[i])
            memcpy(s->copies + at, arrays[i], s->size[i]);
    return s;
}

void ast_labelling_restore(ast_labelling *l, const ast_snapshot *s) {
    assert(s->size[0] == l->rows.count * sizeof *l->labels && s->live <= l->clusters.slots);
    ast_cluster_list *c = &l->clusters;
    void *arrays[ARRAYS];
    list_arrays(l, arrays);
    for (size_t i = 0, at = 0; i < ARRAYS; at += s->size[i++])
        if (s->size[i])
            memcpy(arrays[i], s->copies + at, s->size[i]);
    memset(c->alive, 0, c->slots);
    c->live = s->live;
    for (size_t slot = 0; slot < c->slots; slot++)
        c->singleton_point[slot] = UINT32_MAX;
    for (size_t k = 0; k < c->live; k++)
        c->alive[c->order[k]] = 1;
}
