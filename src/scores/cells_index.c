/* SPDX-License-Identifier: MIT
 *
 * The means near a cell, and the nearest mean of one point while clusters are added and removed. Means are sorted by
 * cell and enclosed in balls, one per 16 neighbours and one per 256: |x - mu| is at least |x - centre| - radius.
 * Clusters that were born or reset since the sorting are in a list; if it grows long, the means are sorted again. */
#include "cells.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FAN 16
#define GROUP (FAN * FAN)
#define BATCH ((size_t)64) /* groups whose balls are tested together */
#define UNSORTED_MOST 512  /* the means are sorted again if more clusters are unsorted than this number ... */
#define UNSORTED_SHARE 16  /* ... plus this fraction of the sorted ones */
#define LOOSE 0x1p-20f     /* allowance for rounding of a distance in float */

void ast_mean_index_free(ast_mean_index *index) {
    ast_mean_table_free(&index->sorted);
    ast_free_all(index->blocks.columns, index->groups.columns, index->pairs, index->stale, index->listed,
                 index->creation_order, index->unsorted);
    *index = (ast_mean_index){0};
}

/* ---- what happened ---- */

static bool reserve_slots(ast_mean_index *index, size_t slots) {
    if (slots <= index->slots)
        return true;
    size_t used = index->slots, wanted = 2 * slots;
    if (!ast_grow_array(&index->stale, used, wanted, sizeof *index->stale) ||
        !ast_grow_array(&index->listed, used, wanted, sizeof *index->listed) ||
        !ast_grow_array(&index->creation_order, used, wanted, sizeof *index->creation_order) ||
        !ast_grow_array(&index->unsorted, index->unsorted_count, wanted, sizeof *index->unsorted))
        return false;
    memset(index->stale + used, 0, wanted - used);
    memset(index->listed + used, 0, wanted - used);
    index->slots = wanted;
    return true;
}

static bool build(ast_cells *cells, const ast_mean_list *c);

bool ast_mean_index_build(ast_cells *cells, const ast_mean_list *means) {
    ast_mean_index *index = &cells->mean_index;
    if (!reserve_slots(index, means->slots))
        return false;
    index->failed = false;
    index->next_creation = (int32_t)means->live;
    assert(means->live <= index->slots);
    for (size_t k = 0; k < means->live; k++)
        index->creation_order[means->order[k]] = (int32_t)k;
    return build(cells, means);
}

bool ast_mean_index_add(ast_cells *cells, const ast_mean_list *means, int32_t slot) {
    ast_mean_index *index = &cells->mean_index;
    if (!reserve_slots(index, means->slots))
        return false;
    index->creation_order[slot] = index->next_creation++;
    ast_mean_index_move(cells, slot);
    return true;
}

void ast_mean_index_move(ast_cells *cells, int32_t slot) {
    assert(slot >= 0 && (size_t)slot < cells->mean_index.slots);
    ast_mean_index *index = &cells->mean_index;
    index->stale[slot] = 1;
    if (!index->listed[slot])
        index->unsorted[index->unsorted_count++] = slot;
    assert(index->unsorted_count <= index->slots);
    index->listed[slot] = 1;
}

void ast_mean_index_remove(ast_cells *cells, int32_t slot) {
    assert(slot >= 0 && (size_t)slot < cells->mean_index.slots);
    cells->mean_index.stale[slot] = 1;
}

/* ---- the table ---- */

bool ast_cell_list_reserve(ast_mean_table *list, size_t count) {
    if (count + AST_LANES <= list->capacity)
        return true;
    ast_mean_table_free(list);
    size_t capacity = (count + AST_LANES + count / 4 + AST_PANEL) / AST_PANEL * AST_PANEL;
    list->dimension = 3;
    return ast_ensure_arrays(&list->capacity, capacity, AST_REQUEST(list->ids, capacity),
                             AST_REQUEST(list->means, 3 * capacity));
}

static bool reserve_table(ast_mean_index *index, size_t count) {
    if (count <= index->capacity)
        return true;
    index->capacity = 0;
    size_t capacity = 2 * ((count + GROUP - 1) / GROUP * GROUP);
    ast_balls *blocks = &index->blocks, *groups = &index->groups;
    blocks->pitch = capacity / FAN + AST_LANES;
    groups->pitch = capacity / GROUP + AST_LANES;
    if (!ast_cell_list_reserve(&index->sorted, capacity) ||
        !ast_ensure_arrays(&index->capacity, capacity, AST_REQUEST(index->pairs, 2 * capacity),
                           AST_REQUEST(blocks->columns, 4 * blocks->pitch),
                           AST_REQUEST(groups->columns, 4 * groups->pitch)))
        return false;
    memset(blocks->columns, 0, 4 * blocks->pitch * sizeof *blocks->columns);
    memset(groups->columns, 0, 4 * groups->pitch * sizeof *groups->columns);
    return true;
}

/* The ball around means first..last-1 of the table: their arithmetic mean, and the largest distance from it, rounded
 * up. */
static void enclose(const ast_mean_table *table, size_t first, size_t last, const ast_balls *balls, size_t number) {
    double most = 0;
    float ball[3];
    for (size_t d = 0; d < 3; d++) {
        double centre = 0;
        for (size_t k = first; k < last; k++)
            centre += (double)table->means[d * table->capacity + k];
        balls->columns[d * balls->pitch + number] = ball[d] = (float)(centre / (double)(last - first));
    }
    for (size_t k = first; k < last; k++) {
        double squared = 0;
        for (size_t d = 0; d < 3; d++) {
            double step = (double)table->means[d * table->capacity + k] - (double)ball[d];
            squared += step * step;
        }
        most = squared > most ? squared : most;
    }
    balls->columns[3 * balls->pitch + number] = (float)sqrt(most) * (1 + 0x1p-20f) + LOOSE;
}

/* Sorting by 16 bits takes half the time of sorting by all bits, and cells of that size have few means. */
static uint32_t code_of(const float mean[3]) {
    return ast_cell_code(mean) >> AST_DROPPED_CODE_BITS;
}

/* The means to sort. */
typedef struct build_job {
    ast_mean_index *index;
    const ast_mean_list *means;
} build_job;

#define CODES 4096 /* means per task */

/* Copies a group of means to the table and computes the balls around them. */
static void fill_balls(void *data, size_t number) {
    const build_job *job = data;
    ast_mean_index *index = job->index;
    const ast_mean_list *c = job->means;
    ast_mean_table *sorted = &index->sorted;
    size_t first = number * GROUP, last = first + GROUP < sorted->count ? first + GROUP : sorted->count;
    for (size_t k = first; k < last; k++) {
        int32_t slot = sorted->ids[k] = c->order[(uint32_t)index->pairs[k]];
        for (size_t d = 0; d < 3; d++)
            sorted->means[d * sorted->capacity + k] = c->means[3 * (size_t)slot + d];
    }
    for (size_t k = first; k < last; k += FAN)
        enclose(sorted, k, k + FAN < last ? k + FAN : last, &index->blocks, k / FAN);
    enclose(sorted, first, last, &index->groups, number);
}

static void find_code(void *data, size_t k) {
    const build_job *job = data;
    job->index->pairs[k] = (uint64_t)code_of(job->means->means + 3 * (size_t)job->means->order[k]) << 32 | k;
}

/* Keeps the pairs of the clusters that are alive. Returns how many. */
static size_t keep_alive(const ast_mean_list *c, uint64_t *pairs) {
    size_t count = 0;
    for (size_t k = 0; k < c->live; k++)
        if (c->alive[c->order[k]])
            pairs[count++] = pairs[k];
    return count;
}

static bool build(ast_cells *cells, const ast_mean_list *c) {
    ast_mean_index *index = &cells->mean_index;
    build_job job = {index, c};
    if (!reserve_table(index, c->live))
        return false;
    ast_pool_each(cells->pool, c->live, CODES, find_code, &job);
    size_t count = index->sorted.count = keep_alive(c, index->pairs);
    assert(count <= index->capacity && index->capacity % GROUP == 0);
    ast_sort_codes(index->pairs, index->pairs + index->capacity, count);
    ast_pool_each(cells->pool, (count + GROUP - 1) / GROUP, 1, fill_balls, &job);
    memset(index->stale, 0, index->slots);
    memset(index->listed, 0, index->slots);
    index->unsorted_count = 0;
    return true;
}

/* ---- near a cell ---- */

/* An upper bound of the distance from the centre to its nearest mean: the least distance to the means next to it in the
 * sorted order. */
static float distance_to_nearby(const ast_mean_index *index, const float centre[3]) {
    const ast_mean_table *sorted = &index->sorted;
    size_t first = 0, last = sorted->count;
    uint32_t code = code_of(centre);
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (index->pairs[middle] >> 32 < code)
            first = middle + 1;
        else
            last = middle;
    }
    float least = INFINITY;
    size_t end = first + FAN < sorted->count ? first + FAN : sorted->count;
    for (size_t k = first > FAN ? first - FAN : 0; k < end; k++) {
        float squared = 0;
        for (size_t d = 0; d < 3; d++) {
            float step = sorted->means[d * sorted->capacity + k] - centre[d];
            squared += step * step;
        }
        least = squared < least ? squared : least;
    }
    return sqrtf(least) * (1 + 0x1p-20f) + LOOSE;
}

/* Appends a block of means. Copies a whole block, which is faster; entries after the last mean are not counted. */
static void take_block(const ast_mean_table *sorted, size_t first, ast_mean_table *list) {
    memcpy(list->ids + list->count, sorted->ids + first, FAN * sizeof *list->ids);
    for (size_t d = 0; d < 3; d++)
        memcpy(list->means + d * list->capacity + list->count, sorted->means + d * sorted->capacity + first,
               FAN * sizeof *list->means);
    list->count += sorted->count - first < FAN ? sorted->count - first : FAN;
}

/* A mean at distance d from the centre is at most d + radius from any point of the cell. Means that are farther from
 * every point than that cannot win. */
bool ast_mean_index_gather(const ast_cells *cells, const ast_cell *cell, ast_mean_table *list) {
    const ast_mean_index *index = &cells->mean_index;
    const size_t blocks = (index->sorted.count + FAN - 1) / FAN, groups = (blocks + FAN - 1) / FAN;
    float centre[3], radius;
    if (!ast_cell_list_reserve(list, index->sorted.count + FAN))
        return false;
    ast_cell_bound(cell, centre, &radius);
    float most = distance_to_nearby(index, centre) + radius;
    float search_radius = sqrtf(most * most + 0x1p-20f) * (1 + 0x1p-20f) + LOOSE + radius;
    uint32_t hits[BATCH], near_by[FAN];
    list->count = 0;
    for (size_t first = 0; first < groups; first += BATCH) {
        size_t n = groups - first < BATCH ? groups - first : BATCH;
        n = cells->scorer->kernels->intersecting_balls(&index->groups, first, n, centre, search_radius, hits);
        for (size_t g = 0; g < n; g++) {
            size_t at = hits[g] * FAN, left = blocks - at < FAN ? blocks - at : FAN;
            left = cells->scorer->kernels->intersecting_balls(&index->blocks, at, left, centre, search_radius, near_by);
            for (size_t b = 0; b < left; b++)
                take_block(&index->sorted, (size_t)near_by[b] * FAN, list);
        }
    }
    return true;
}

/* ---- a search ---- */

typedef struct search {
    const ast_mean_list *means;
    const ast_mean_index *index;
    const float *x;
    int32_t barred, found;
    double best;
    float search_radius; /* the distance of the best score: means that are farther away score less */
} search;

static void consider(search *s, int32_t slot) {
    if (slot == s->barred)
        return;
    double score = ast_exact_score(s->x, s->means->means + 3 * (size_t)slot, 3);
    bool earlier = s->found == AST_NOBODY || s->index->creation_order[slot] < s->index->creation_order[s->found];
    if (score > s->best || (score == s->best && earlier)) {
        s->best = score;
        s->search_radius = ast_distance_at_score(score);
        s->found = slot;
    }
}

static bool ball_in_range(const search *s, const ast_balls *balls, size_t number) {
    const float *ball = balls->columns + number;
    float a = ball[0] - s->x[0], b = ball[balls->pitch] - s->x[1], c = ball[2 * balls->pitch] - s->x[2];
    float search_radius = s->search_radius + ball[3 * balls->pitch];
    return a * a + b * b + c * c <= search_radius * search_radius;
}

static void search_table(search *s) {
    const ast_mean_index *index = s->index;
    const ast_mean_table *sorted = &index->sorted;
    for (size_t at = 0; at < sorted->count; at += GROUP) {
        if (!ball_in_range(s, &index->groups, at / GROUP))
            continue;
        for (size_t block = at; block < at + GROUP && block < sorted->count; block += FAN) {
            if (!ball_in_range(s, &index->blocks, block / FAN))
                continue;
            for (size_t k = block; k < block + FAN && k < sorted->count; k++)
                if (!index->stale[sorted->ids[k]])
                    consider(s, sorted->ids[k]);
        }
    }
}

int32_t ast_mean_index_find(ast_cells *cells, const ast_mean_list *means, const float x[3], int32_t barred) {
    ast_mean_index *index = &cells->mean_index;
    double limit = cells->scorer->fit_threshold;
    if (index->unsorted_count > UNSORTED_MOST + index->sorted.count / UNSORTED_SHARE && !build(cells, means)) {
        index->failed = true;
        return AST_NOBODY;
    }
    search s = {means, index, x, barred, AST_NOBODY, limit, ast_distance_at_score(limit)};
    search_table(&s);
    for (size_t e = 0; e < index->unsorted_count; e++)
        if (means->alive[index->unsorted[e]])
            consider(&s, index->unsorted[e]);
    return s.found;
}
