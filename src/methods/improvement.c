/* SPDX-License-Identifier: MIT
 *
 * What a result that looked at some points only leaves undone: how much one further iteration over all of them would
 * add to the objective. It is measured, not estimated, and the result stays as it is. */
#include "methods.h"

#include "memory.h"

#include <string.h>

/* The arrays that the further iteration changes and the result consists of. A birth may move them. */
enum { ARRAYS = 6 };

typedef struct snapshot {
    void *copy[ARRAYS];
    size_t size[ARRAYS], live;
} snapshot;

static void list_arrays(const ast_labelling *l, void *arrays[ARRAYS]) {
    const ast_cluster_list *c = &l->clusters;
    void *all[ARRAYS] = {l->labels, c->order, c->means, c->sums, c->weights, c->members};
    memcpy(arrays, all, sizeof all);
}

static bool take_snapshot(const ast_labelling *l, snapshot *s) {
    const ast_cluster_list *c = &l->clusters;
    size_t rows = c->slots * c->dimension;
    void *arrays[ARRAYS];
    bool ready = true;
    *s = (snapshot){.size = {l->rows.count * sizeof *l->labels, c->live * sizeof *c->order, rows * sizeof *c->means,
                             rows * sizeof *c->sums, c->slots * sizeof *c->weights, c->slots * sizeof *c->members},
                    .live = c->live};
    list_arrays(l, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        s->copy[i] = ast_allocate(s->size[i], 1);
        ready = ready && s->copy[i];
        if (ready && s->size[i])
            memcpy(s->copy[i], arrays[i], s->size[i]);
    }
    return ready;
}

static void restore(ast_labelling *l, const snapshot *s) {
    ast_cluster_list *c = &l->clusters;
    void *arrays[ARRAYS];
    list_arrays(l, arrays);
    for (int i = 0; i < ARRAYS; i++)
        if (s->size[i])
            memcpy(arrays[i], s->copy[i], s->size[i]);
    for (size_t slot = 0; slot < c->slots; slot++)
        c->alive[slot] = 0;
    c->live = s->live;
    for (size_t k = 0; k < c->live; k++)
        c->alive[c->order[k]] = 1;
}

ast_status ast_run_further(ast_labelling *l, ast_run *run, double penalty, ast_fault *fault) {
    snapshot before;
    bool ready = take_snapshot(l, &before);
    ast_status status = ready ? ast_run_settle(l, run, fault) : ast_fail_memory(fault);
    if (status == AST_OK)
        run->improvement = ast_clusters_objective(&l->clusters) + penalty * (double)l->clusters.live - run->objective;
    if (ready)
        restore(l, &before);
    ast_free_list(before.copy, ARRAYS);
    return status;
}
