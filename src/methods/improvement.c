/* SPDX-License-Identifier: MIT
 *
 * What a result that looked at some points only leaves undone: how much one further iteration over all of them would
 * add to the objective. It is measured, not estimated, and the result stays as it is. */
#include "methods.h"

#include "memory.h"

#include <string.h>

/* What the further iteration changes and the result consists of. */
typedef struct snapshot {
    int32_t *labels, *order;
    float *means;
    int64_t *sums, *weights, *members;
    size_t live, slots;
} snapshot;

static void *copy_of(const void *array, size_t count, size_t size) {
    void *copy = ast_allocate(count, size);
    if (copy && count)
        memcpy(copy, array, count * size);
    return copy;
}

static void free_snapshot(snapshot *s) {
    ast_free_all(s->labels, s->order, s->means, s->sums, s->weights, s->members);
}

static bool take_snapshot(const ast_labelling *l, snapshot *s) {
    const ast_cluster_list *c = &l->clusters;
    *s = (snapshot){.labels = copy_of(l->labels, l->rows.count, sizeof *l->labels),
                    .order = copy_of(c->order, c->live, sizeof *c->order),
                    .means = copy_of(c->means, c->slots * c->dimension, sizeof *c->means),
                    .sums = copy_of(c->sums, c->slots * c->dimension, sizeof *c->sums),
                    .weights = copy_of(c->weights, c->slots, sizeof *c->weights),
                    .members = copy_of(c->members, c->slots, sizeof *c->members),
                    .live = c->live,
                    .slots = c->slots};
    if (s->labels && s->order && s->means && s->sums && s->weights && s->members)
        return true;
    free_snapshot(s);
    return false;
}

static void put_back(void *array, const void *copy, size_t count, size_t size) {
    if (count)
        memcpy(array, copy, count * size);
}

static void restore(ast_labelling *l, const snapshot *s) {
    ast_cluster_list *c = &l->clusters;
    c->live = s->live;
    for (size_t slot = 0; slot < c->slots; slot++)
        c->alive[slot] = 0;
    for (size_t k = 0; k < s->live; k++)
        c->alive[s->order[k]] = 1;
    put_back(l->labels, s->labels, l->rows.count, sizeof *l->labels);
    put_back(c->order, s->order, s->live, sizeof *c->order);
    put_back(c->means, s->means, s->slots * c->dimension, sizeof *c->means);
    put_back(c->sums, s->sums, s->slots * c->dimension, sizeof *c->sums);
    put_back(c->weights, s->weights, s->slots, sizeof *c->weights);
    put_back(c->members, s->members, s->slots, sizeof *c->members);
}

ast_status ast_run_further(ast_labelling *l, ast_run *run, double penalty, ast_fault *fault) {
    snapshot before;
    if (!take_snapshot(l, &before))
        return ast_fail_memory(fault);
    ast_status status = ast_run_settle(l, run, fault);
    if (status == AST_OK)
        run->improvement = ast_clusters_objective(&l->clusters) + penalty * (double)l->clusters.live - run->objective;
    restore(l, &before);
    free_snapshot(&before);
    return status;
}
