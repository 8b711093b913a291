/* SPDX-License-Identifier: MIT */
#include "components.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ast_components_open(ast_components *c, size_t count, size_t dimension) {
    c->count = count;
    c->background = false;
    if (count <= c->capacity && c->dimension == dimension)
        return true;
    bool ready = ast_replace_arrays(AST_REQUEST(c->means, (count + 1) * dimension), AST_REQUEST(c->kappas, count + 1),
                                    AST_REQUEST(c->weights, count + 1), AST_REQUEST(c->offsets, count + 1),
                                    AST_REQUEST(c->constants, count + 1));
    c->dimension = dimension;
    c->capacity = ready ? count : 0;
    return ready;
}

bool ast_components_reserve(ast_components *c, size_t capacity) {
    size_t used = c->count, dimension = c->dimension;
    if (capacity <= c->capacity)
        return true;
    bool grown = ast_grow_array(&c->means, used, capacity, dimension * sizeof *c->means) &&
                 ast_grow_array(&c->kappas, used, capacity, sizeof *c->kappas) &&
                 ast_grow_array(&c->weights, used, capacity, sizeof *c->weights) &&
                 ast_grow_array(&c->offsets, used, capacity, sizeof *c->offsets) &&
                 ast_grow_array(&c->constants, used, capacity, sizeof *c->constants);
    c->capacity = grown ? capacity : c->capacity;
    return grown;
}

void ast_components_free(ast_components *c) {
    ast_free_all(c->means, c->kappas, c->weights, c->offsets, c->constants);
    *c = (ast_components){0};
}

/* In three dimensions C = kappa / (4 pi sinh kappa); this is where samplers spend their time. */
double ast_log_constant(size_t dimension, double kappa) {
    if (dimension == 3 && kappa > 1e-6)
        return log(kappa / (-2 * M_PI * expm1(-2 * kappa))) - kappa;
    return ast_vmf_log_density(dimension, kappa, 0);
}

void ast_components_prepare(ast_components *c) {
    for (size_t k = 0; k < ast_components_all(c); k++)
        c->offsets[k] = log(c->weights[k]) +
                        (ast_components_are_vmf(c) ? ast_log_constant(c->dimension, c->kappas[k]) : c->constants[k]);
}

void ast_components_set_shape(ast_components *c, size_t k, const ast_family_shape *shape) {
    ast_family_encode(&c->family, shape, c->means + k * c->dimension, &c->kappas[k], &c->constants[k]);
}

void ast_components_copy(ast_components *to, const ast_components *from) {
    size_t all = ast_components_all(from);
    to->count = from->count;
    to->background = from->background;
    memcpy(to->means, from->means, all * from->dimension * sizeof *to->means);
    memcpy(to->kappas, from->kappas, all * sizeof *to->kappas);
    memcpy(to->weights, from->weights, all * sizeof *to->weights);
    memcpy(to->offsets, from->offsets, all * sizeof *to->offsets);
    memcpy(to->constants, from->constants, all * sizeof *to->constants);
    to->family = from->family;
}

void ast_components_add_background(ast_components *c, double share) {
    size_t k = c->count;
    memset(c->means + k * c->dimension, 0, c->dimension * sizeof *c->means); /* with kappa 0 it plays no part */
    c->means[k * c->dimension] = 1;
    c->kappas[k] = 0;
    c->constants[k] = ast_components_are_vmf(c) ? 0 : ast_family_uniform(&c->family);
    for (size_t other = 0; other < k; other++)
        c->weights[other] *= 1 - share;
    c->weights[k] = share;
    c->background = true;
}

static void move_component(ast_components *c, size_t from, size_t to) {
    memmove(c->means + to * c->dimension, c->means + from * c->dimension, c->dimension * sizeof *c->means);
    c->kappas[to] = c->kappas[from];
    c->weights[to] = c->weights[from];
    c->offsets[to] = c->offsets[from];
    c->constants[to] = c->constants[from];
}

void ast_components_remove(ast_components *c, size_t k) {
    for (size_t next = k + 1; next < ast_components_all(c); next++)
        move_component(c, next, next - 1);
    c->count--;
}

size_t ast_components_unlabel(const ast_components *c, ast_labelling *l) {
    const size_t count = ast_view_of(l).rows->count;
    int32_t *labels = ast_labelling_labels(l);
    size_t unlabelled = 0;
    for (size_t i = 0; i < count && c->background; i++)
        if (labels[i] == (int32_t)c->count) {
            labels[i] = AST_MISSING;
            unlabelled++;
        }
    return unlabelled;
}

ast_status ast_components_drop_empty(ast_components *c, ast_labelling *l, ast_fault *fault) {
    const size_t count = ast_view_of(l).rows->count;
    int32_t *labels = ast_labelling_labels(l), *rank = ast_allocate_zero(c->count, sizeof *rank);
    size_t left = 0;
    if (!rank)
        return ast_fail_memory(fault);
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= 0)
            rank[labels[i]] = 1;
    for (size_t k = 0; k < c->count; k++)
        if (rank[k]) {
            move_component(c, k, left);
            rank[k] = (int32_t)left++;
        }
    for (size_t i = 0; i < count && left < c->count; i++)
        labels[i] = labels[i] >= 0 ? rank[labels[i]] : labels[i];
    c->count = left;
    ast_free(rank);
    return AST_OK;
}

ast_status ast_components_keep_used(ast_components *c, ast_labelling *l, ast_fault *fault) {
    ast_status status = ast_components_drop_empty(c, l, fault);
    return status == AST_OK ? ast_components_to_clusters(c, l, fault) : status;
}

ast_status ast_components_to_clusters(const ast_components *components, ast_labelling *l, ast_fault *fault) {
    ast_status status = ast_labelling_set_means(l, NULL, 0, fault);
    float *mean = ast_allocate(components->dimension, sizeof *mean);
    if (status == AST_OK && !mean)
        status = ast_fail_memory(fault);
    for (size_t k = 0; k < components->count && status == AST_OK; k++) {
        for (size_t d = 0; d < components->dimension; d++)
            mean[d] = (float)components->means[k * components->dimension + d];
        status = ast_labelling_add_means(l, mean, 1, fault);
    }
    ast_free(mean);
    return status == AST_OK ? ast_labelling_recount(l, fault) : status;
}
