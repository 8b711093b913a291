/* SPDX-License-Identifier: MIT */
#include "subset.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Sparse rows, which are copied ------------------------------------------------------------------------------ */

static size_t start_at(const ast_points *view, size_t r) {
    return (size_t)ast_index_at(view->starts, view->index, r);
}

static void set_start(ast_points *view, size_t r, size_t value) {
    if (view->index == AST_I8)
        ((int64_t *)view->starts)[r] = (int64_t)value;
    else
        ((int32_t *)view->starts)[r] = (int32_t)value;
}

static bool reserve_entries(ast_subset *s, const ast_points *view, size_t count, size_t entries) {
    size_t index_size = view->index == AST_I8 ? sizeof(int64_t) : sizeof(int32_t);
    ast_free(s->starts);
    s->starts = ast_allocate(count + 1, index_size);
    if (!s->values || entries > s->entry_capacity) {
        ast_free(s->values);
        ast_free(s->columns);
        s->entry_capacity = entries + entries / 2;
        s->values = ast_allocate(s->entry_capacity, ast_type_size(view->type));
        s->columns = ast_allocate(s->entry_capacity, index_size);
    }
    return s->starts && s->values && s->columns;
}

/* Copies rows order[0], order[1], ... of the view into the memory of the subset. */
static bool copy_entries(ast_subset *s, const ast_points *view, size_t count, ast_points *copy) {
    size_t index_size = view->index == AST_I8 ? sizeof(int64_t) : sizeof(int32_t), size = ast_type_size(view->type);
    size_t entries = 0;
    for (size_t i = 0; i < count; i++)
        entries += start_at(view, s->order[i] + 1u) - start_at(view, s->order[i]);
    if (!reserve_entries(s, view, count, entries))
        return false;
    *copy = *view;
    copy->data = s->values;
    copy->starts = s->starts;
    copy->columns = s->columns;
    entries = 0;
    set_start(copy, 0, 0);
    for (size_t i = 0; i < count; i++) {
        size_t from = start_at(view, s->order[i]), n = start_at(view, s->order[i] + 1u) - from;
        memcpy((char *)s->values + entries * size, (const char *)view->data + from * size, n * size);
        memcpy((char *)s->columns + entries * index_size, (const char *)view->columns + from * index_size,
               n * index_size);
        set_start(copy, i + 1, entries += n);
    }
    return true;
}

/* ---- Points ----------------------------------------------------------------------------------------------------- */

static bool reserve(ast_subset *s, bool weighted, size_t count) {
    if (!s->labelling)
        s->labelling = ast_labelling_new();
    return s->labelling && ast_ensure_arrays(&s->capacity, count, AST_REQUEST(s->order, count),
                                             AST_REQUEST(s->weights, weighted ? count : 0));
}

ast_status ast_subset_load(ast_subset *s, const ast_labelling *all, const uint32_t *members, size_t count,
                           ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(all);
    const double *weights = v.rows->weights;
    ast_points part = v.rows->view;
    if (!reserve(s, weights != NULL, count))
        return ast_fail_memory(fault);
    for (size_t i = 0; i < count; i++) {
        s->order[i] = v.rows->order ? v.rows->order[members[i]] : members[i];
        if (weights)
            s->weights[i] = weights[members[i]];
    }
    if (part.starts && !copy_entries(s, &v.rows->view, count, &part))
        return ast_fail_memory(fault);
    part.count = count;
    ast_labelling_input input = ast_labelling_input_like(all, &part);
    input.order = part.starts ? NULL : s->order;
    ast_status status = ast_labelling_load(s->labelling, &input, fault);
    if (status == AST_OK && weights)
        ast_labelling_weigh(s->labelling, s->weights, v.clusters->unit);
    return status;
}

ast_status ast_subset_add_means_of(ast_labelling *l, const ast_cluster_list *from, ast_fault *fault) {
    ast_status status = AST_OK;
    for (size_t k = 0; k < from->live && status == AST_OK; k++)
        status = ast_labelling_add_means(l, from->means + (size_t)from->order[k] * from->dimension, 1, fault);
    return status;
}

void ast_subset_free(ast_subset *s) {
    ast_labelling_free(s->labelling);
    ast_free_all(s->order, s->weights, s->values, s->starts, s->columns);
    *s = (ast_subset){0};
}

/* Selection sampling: each point is drawn with the probability (points still wanted) / (points left). */
size_t ast_subset_draw(const ast_labelling *all, uint64_t seed, uint64_t stream, size_t most, uint32_t *members) {
    const ast_labelling_view v = ast_view_of(all);
    size_t left = v.present, wanted = most < left ? most : left, taken = 0;
    ast_random random;
    ast_random_seed(&random, seed, stream);
    for (size_t i = 0; i < v.rows->count && taken < wanted; i++)
        if (v.labels[i] != AST_MISSING && ast_random_below(&random, left--) < wanted - taken)
            members[taken++] = (uint32_t)i;
    return taken;
}

ast_status ast_subset_load_drawn(ast_subset *s, const ast_labelling *all, uint64_t seed, uint64_t stream, size_t count,
                                 ast_fault *fault) {
    uint32_t *members = ast_allocate(count, sizeof *members);
    if (members)
        count = ast_subset_draw(all, seed, stream, count, members);
    ast_status status = members ? ast_subset_load(s, all, members, count, fault) : ast_fail_memory(fault);
    ast_free(members);
    return status;
}
