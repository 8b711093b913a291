/* SPDX-License-Identifier: MIT */
#include "components.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

bool ast_components_open(ast_components *c, size_t count, size_t dimension) {
    c->count = count;
    if (count <= c->capacity && c->dimension == dimension)
        return true;
    ast_components_free(c);
    c->means = ast_allocate(count * dimension, sizeof *c->means);
    c->kappas = ast_allocate(count, sizeof *c->kappas);
    c->weights = ast_allocate(count, sizeof *c->weights);
    c->offsets = ast_allocate(count, sizeof *c->offsets);
    c->dimension = dimension;
    c->count = c->capacity = count;
    return c->means && c->kappas && c->weights && c->offsets;
}

void ast_components_free(ast_components *c) {
    free(c->means);
    free(c->kappas);
    free(c->weights);
    free(c->offsets);
    *c = (ast_components){0};
}

double ast_log_constant(size_t dimension, double kappa) {
    return ast_vmf_log_density(dimension, kappa, 0);
}

void ast_components_prepare(ast_components *c) {
    for (size_t k = 0; k < c->count; k++)
        c->offsets[k] = log(c->weights[k]) + ast_log_constant(c->dimension, c->kappas[k]);
}

static ast_status take_means(const ast_components *components, ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *list = &l->clusters;
    double unit = list->unit, weight_unit = list->weight_unit;
    float mean[AST_MAX_DIMENSION];
    ast_clusters_clear(list, l->cloud.dimension);
    list->unit = unit;
    list->weight_unit = weight_unit;
    for (size_t k = 0; k < components->count; k++) {
        for (size_t d = 0; d < components->dimension; d++)
            mean[d] = (float)components->means[k * components->dimension + d];
        if (ast_clusters_add(list, mean, UINT32_MAX) < 0)
            return ast_fail_memory(fault);
    }
    return AST_OK;
}

static void add_chunk(void *data, size_t chunk, int index) {
    ast_labelling *l = data;
    ast_add_chunk(l, &l->workers[index], chunk);
}

static void clear_sums(ast_cluster_list *list) {
    for (size_t slot = 0; slot < list->slots; slot++) {
        for (size_t d = 0; d < list->dimension; d++)
            list->sums[slot * list->dimension + d] = 0;
        list->weights[slot] = list->members[slot] = 0;
        list->keys[slot] = 0;
    }
}

ast_status ast_recount(ast_labelling *l, ast_fault *fault) {
    clear_sums(&l->clusters);
    for (int w = 0; w < l->worker_count; w++) {
        l->workers[w].rows_loaded = false;
        if (!ast_worker_reserve(l, &l->workers[w]))
            return ast_fail_memory(fault);
    }
    l->first = true; /* every point is added, none is moved */
    ast_pool_run(l->pool, l->chunks, add_chunk, l);
    for (int w = 0; w < l->worker_count; w++)
        ast_merge_sums(l, &l->workers[w]);
    l->first = false;
    return AST_OK;
}

ast_status ast_components_finish(const ast_components *components, ast_labelling *l, ast_fault *fault) {
    ast_status status = take_means(components, l, fault);
    return status == AST_OK ? ast_recount(l, fault) : status;
}
