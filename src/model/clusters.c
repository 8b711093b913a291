/* SPDX-License-Identifier: MIT */
#include "clusters.h"

#include "memory.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONG_MEAN 4096 /* longer means: memory for AST_INITIAL_SLOTS at first */

enum { ARRAYS = 13 };

/* The arrays over slots; count: numbers per slot. */
static void list_arrays(ast_cluster_list *c, ast_array_request list[ARRAYS]) {
    size_t dimension = c->dimension, shift = dimension > AST_SMALL ? 0 : dimension;
    ast_array_request all[ARRAYS] = {
        AST_REQUEST(c->order, 1),        AST_REQUEST(c->free_slots, 1),      AST_REQUEST(c->means, dimension),
        AST_REQUEST(c->sums, dimension), AST_REQUEST(c->weights, 1),         AST_REQUEST(c->members, 1),
        AST_REQUEST(c->keys, 1),         AST_REQUEST(c->singleton_point, 1), AST_REQUEST(c->moves, 1),
        AST_REQUEST(c->shifts, shift),   AST_REQUEST(c->touched, 1),         AST_REQUEST(c->alive, 1),
        AST_REQUEST(c->born, 1)};
    memcpy(list, all, sizeof all);
}

void ast_clusters_free(ast_cluster_list *clusters) {
    ast_array_request list[ARRAYS];
    list_arrays(clusters, list);
    for (size_t a = 0; a < ARRAYS; a++)
        ast_free(*(void **)list[a].pointer);
    *clusters = (ast_cluster_list){0};
}

void ast_clusters_clear(ast_cluster_list *clusters, size_t dimension) {
    clusters->dimension = dimension;
    clusters->live = clusters->slots = clusters->free_count = clusters->tracked_slots = 0;
    clusters->uninstantiated = NULL;
    clusters->unit = 0x1p30;
    clusters->weight_unit = 1;
}

/* If one array cannot grow, some others have grown; the capacity is raised only if all have. */
bool ast_clusters_reserve(ast_cluster_list *c, size_t slots) {
    if (slots <= c->capacity)
        return true;
    size_t first = c->dimension > LONG_MEAN ? AST_INITIAL_SLOTS : 32, capacity = c->capacity ? 2 * c->capacity : first;
    capacity = capacity < slots ? slots : capacity;
    ast_array_request list[ARRAYS];
    list_arrays(c, list);
    bool grown = true;
    for (size_t a = 0; a < ARRAYS && grown; a++)
        grown = list[a].count == 0 || ast_grow_array(list[a].pointer, c->slots, capacity, list[a].count * list[a].size);
    if (grown)
        c->capacity = capacity;
    return grown;
}

int32_t ast_clusters_add(ast_cluster_list *clusters, const float *mean, uint32_t singleton_point) {
    bool reuse = clusters->free_count > 0;
    if (!reuse && (clusters->slots == INT32_MAX || !ast_clusters_reserve(clusters, clusters->slots + 1)))
        return -1;
    int32_t slot = reuse ? clusters->free_slots[--clusters->free_count] : (int32_t)clusters->slots++;
    assert(clusters->live < clusters->slots && (!reuse || !clusters->alive[slot]));
    ast_clusters_clear_slot(clusters, slot);
    memcpy(ast_clusters_mean(clusters, slot), mean, clusters->dimension * sizeof *mean);
    clusters->singleton_point[slot] = singleton_point;
    clusters->alive[slot] = 1;
    clusters->order[clusters->live++] = slot;
    clusters->born[slot] = ++clusters->version;
    return slot;
}

void ast_clusters_clear_slot(ast_cluster_list *c, int32_t slot) {
    memset(c->sums + (size_t)slot * c->dimension, 0, c->dimension * sizeof *c->sums);
    c->weights[slot] = c->members[slot] = 0;
    c->keys[slot] = 0;
    c->singleton_point[slot] = UINT32_MAX;
    ast_clusters_note_mean_stays(c, slot);
    c->touched[slot] = 1;
}

bool ast_clusters_add_means(ast_cluster_list *clusters, const float *means, size_t count) {
    bool ready = ast_clusters_reserve(clusters, count);
    for (size_t k = 0; k < count && ready; k++)
        ready = ast_clusters_add(clusters, means + k * clusters->dimension, UINT32_MAX) >= 0;
    return ready;
}

bool ast_clusters_fill_table(const ast_cluster_list *c, ast_mean_table *table) {
    bool ready = true;
    ast_mean_table_clear(table, c->dimension, c->axial);
    for (size_t k = 0; k < c->live && ready; k++)
        ready = ast_clusters_is_uninstantiated(c, c->order[k]) ||
                ast_mean_table_append(table, ast_clusters_mean(c, c->order[k]), c->order[k]);
    return ready;
}

int64_t ast_clusters_move_member(ast_cluster_list *c, int32_t from, int32_t to) {
    assert(c->members[from] > 0 && c->alive[to]);
    int64_t left = --c->members[from];
    c->members[to]++;
    if (c->fixed)
        return left;
    if (c->members[to] == 1)
        c->singleton_bits |= ast_bit_of(to);
    if (left == 1)
        c->singleton_bits |= ast_bit_of(from);
    if (left == 0 && ast_clusters_is_tracked(c, from))
        c->uninstantiated[from] = 1;
    else if (left == 0)
        ast_clusters_kill(c, from);
    return left;
}

void ast_clusters_find_singletons(ast_cluster_list *c) {
    c->singleton_bits = 0;
    for (size_t k = 0; k < c->live && !c->fixed; k++)
        if (!ast_clusters_is_uninstantiated(c, c->order[k]) && c->members[c->order[k]] == 1)
            c->singleton_bits |= ast_bit_of(c->order[k]);
}

void ast_clusters_mark_dead(ast_cluster_list *clusters, int32_t slot) {
    assert(clusters->alive[slot]);
    clusters->alive[slot] = 0;
    clusters->version++;
}

void ast_clusters_remove_dead(ast_cluster_list *clusters) {
    size_t live = 0;
    for (size_t k = 0; k < clusters->live; k++)
        if (clusters->alive[clusters->order[k]])
            clusters->order[live++] = clusters->order[k];
    clusters->live = live;
}

void ast_clusters_kill(ast_cluster_list *clusters, int32_t slot) {
    ast_clusters_mark_dead(clusters, slot);
    ast_clusters_remove_dead(clusters);
}

void ast_clusters_drop_empty(ast_cluster_list *c) {
    for (size_t k = 0; k < c->live; k++)
        if (c->members[c->order[k]] == 0 && !ast_clusters_is_tracked(c, c->order[k]))
            ast_clusters_mark_dead(c, c->order[k]);
    ast_clusters_remove_dead(c);
}

void ast_clusters_list_free_slots(ast_cluster_list *clusters) {
    clusters->free_count = 0;
    for (size_t slot = clusters->slots; slot-- > clusters->tracked_slots;) /* the lowest is taken first */
        if (!clusters->alive[slot])
            clusters->free_slots[clusters->free_count++] = (int32_t)slot;
}

double ast_sum_length(const int64_t *sum, size_t dimension) {
    double squared = 0;
    for (size_t d = 0; d < dimension; d++)
        squared += (double)sum[d] * (double)sum[d];
    return sqrt(squared);
}

double ast_clusters_length(const ast_cluster_list *c, int32_t slot) {
    return ast_sum_length(c->sums + (size_t)slot * c->dimension, c->dimension) / c->unit;
}

double ast_clusters_weight(const ast_cluster_list *clusters, int32_t slot) {
    return (double)clusters->weights[slot] / clusters->weight_unit;
}

void ast_clusters_note_mean_stays(ast_cluster_list *clusters, int32_t slot) {
    clusters->moves[slot] = 0;
    for (size_t d = 0; d < clusters->dimension && clusters->dimension <= AST_SMALL; d++)
        clusters->shifts[(size_t)slot * clusters->dimension + d] = 0;
}

/* Sets one component of a mean; returns the square of its change. */
static double set_component(ast_cluster_list *clusters, int32_t slot, size_t d, float value) {
    size_t at = (size_t)slot * clusters->dimension + d;
    double step = (double)value - (double)clusters->means[at];
    clusters->means[at] = value;
    if (clusters->dimension <= AST_SMALL)
        clusters->shifts[at] = (float)step;
    return step * step;
}

static void note_move(ast_cluster_list *clusters, int32_t slot, double squared) {
    clusters->moves[slot] = ast_round_up(sqrt(squared));
    clusters->singleton_point[slot] = UINT32_MAX;
}

void ast_clusters_set_mean(ast_cluster_list *clusters, int32_t slot, const float *mean) {
    double squared = 0;
    for (size_t d = 0; d < clusters->dimension; d++)
        squared += set_component(clusters, slot, d, mean[d]);
    note_move(clusters, slot, squared);
}

void ast_clusters_update_mean(ast_cluster_list *clusters, int32_t slot) {
    size_t dimension = clusters->dimension;
    const int64_t *sum = clusters->sums + (size_t)slot * dimension;
    double length = ast_sum_length(sum, dimension), squared = 0;
    if (length / clusters->unit <= ast_clusters_weight(clusters, slot) * AST_ZERO_SUM)
        return;
    for (size_t d = 0; d < dimension; d++)
        squared += set_component(clusters, slot, d, (float)((double)sum[d] / length));
    note_move(clusters, slot, squared);
}

double ast_clusters_objective_of(const ast_cluster_list *clusters, int32_t slot) {
    double length = ast_clusters_length(clusters, slot), product = 0;
    if (length > ast_clusters_weight(clusters, slot) * AST_ZERO_SUM)
        return length;
    const int64_t *sum = clusters->sums + (size_t)slot * clusters->dimension;
    const float *mean = ast_clusters_mean(clusters, slot);
    for (size_t d = 0; d < clusters->dimension; d++)
        product += (double)sum[d] / clusters->unit * (double)mean[d];
    return clusters->axial ? fabs(product) : product;
}

double ast_clusters_objective(const ast_cluster_list *clusters) {
    double objective = 0;
    for (size_t k = 0; k < clusters->live; k++)
        objective += ast_clusters_objective_of(clusters, clusters->order[k]);
    return objective;
}

uint64_t ast_clusters_label_hash(const ast_cluster_list *clusters, const int32_t *order, size_t live) {
    uint64_t hash = 0;
    for (size_t k = 0; k < live; k++)
        hash += clusters->keys[order[k]] * ast_mix64(k + 1);
    return hash;
}
