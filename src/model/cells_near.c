/* SPDX-License-Identifier: MIT
 *
 * The nearest mean of one point, while clusters come and go. Means are sorted by cell and bounded by balls, sixteen
 * neighbours and sixteen times sixteen: |x - mu| is at least |x - centre| - radius. Clusters that were born or whose
 * mean was reset since are a list; when that grows long the table is made anew. */
#include "cells.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAN 16
#define LATE 512       /* late clusters at least before the table is made anew, ... */
#define LATE_SHARE 16  /* ... and at least one in so many */
#define LOOSE 0x1p-20f /* of a bound in float */

void ast_near_free(ast_near *near) {
    void *memory[] = {near->slot,  near->mean,   near->ball, near->cluster, near->pairs,
                      near->stale, near->listed, near->rank, near->late};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    *near = (ast_near){0};
}

/* ---- what happened ---- */

static bool reserve_slots(ast_near *near, size_t slots) {
    if (slots <= near->slots)
        return true;
    size_t used = near->slots, wanted = 2 * slots;
    if (!ast_grow_array(&near->stale, used, wanted, sizeof *near->stale) ||
        !ast_grow_array(&near->listed, used, wanted, sizeof *near->listed) ||
        !ast_grow_array(&near->rank, used, wanted, sizeof *near->rank) ||
        !ast_grow_array(&near->late, near->late_count, wanted, sizeof *near->late))
        return false;
    memset(near->stale + used, 0, wanted - used);
    memset(near->listed + used, 0, wanted - used);
    near->slots = wanted;
    return true;
}

bool ast_near_begin(ast_labelling *l) {
    ast_near *near = &l->cells->near;
    near->ready = false;
    near->late_count = 0;
    if (!reserve_slots(near, l->clusters.slots))
        return false;
    near->ranks = (int32_t)l->clusters.live;
    for (size_t k = 0; k < l->clusters.live; k++)
        near->rank[l->clusters.order[k]] = (int32_t)k;
    memset(near->listed, 0, near->slots);
    return true;
}

bool ast_near_born(ast_labelling *l, int32_t slot) {
    ast_near *near = &l->cells->near;
    if (!reserve_slots(near, l->clusters.slots))
        return false;
    near->rank[slot] = near->ranks++;
    ast_near_moved(l, slot);
    return true;
}

void ast_near_moved(ast_labelling *l, int32_t slot) {
    ast_near *near = &l->cells->near;
    near->stale[slot] = 1;
    if (!near->listed[slot] && near->ready)
        near->late[near->late_count++] = slot;
    near->listed[slot] = near->ready;
}

void ast_near_gone(ast_labelling *l, int32_t slot) {
    l->cells->near.stale[slot] = 1;
}

/* ---- the table ---- */

static bool reserve_table(ast_near *near, size_t count) {
    size_t capacity = (count + FAN * FAN - 1) / (FAN * FAN) * (FAN * FAN);
    if (capacity <= near->capacity)
        return true;
    void *old[] = {near->slot, near->mean, near->ball, near->cluster, near->pairs};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        free(old[i]);
    capacity *= 2;
    near->slot = ast_allocate(capacity, sizeof *near->slot);
    near->mean = ast_allocate(3 * capacity, sizeof *near->mean);
    near->ball = ast_allocate(4 * capacity / FAN, sizeof *near->ball);
    near->cluster = ast_allocate(4 * capacity / (FAN * FAN), sizeof *near->cluster);
    near->pairs = ast_allocate(2 * capacity, sizeof *near->pairs);
    bool ready = near->slot && near->mean && near->ball && near->cluster && near->pairs;
    near->capacity = ready ? capacity : 0;
    return ready;
}

/* The ball around n vectors (n, 3): their middle, and the largest distance from it, rounded up. */
static void enclose(const float *mean, size_t n, float ball[4]) {
    double centre[3] = {0}, most = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t d = 0; d < 3; d++)
            centre[d] += (double)mean[3 * k + d] / (double)n;
    for (size_t d = 0; d < 3; d++)
        ball[d] = (float)centre[d];
    for (size_t k = 0; k < n; k++) {
        double squared = 0;
        for (size_t d = 0; d < 3; d++) {
            double step = (double)mean[3 * k + d] - (double)ball[d];
            squared += step * step;
        }
        most = squared > most ? squared : most;
    }
    ball[3] = (float)sqrt(most) * (1 + 0x1p-20f) + LOOSE;
}

static bool build(ast_labelling *l, ast_near *near) {
    const ast_cluster_list *c = &l->clusters;
    if (!reserve_table(near, c->live))
        return false;
    near->count = 0;
    for (size_t k = 0; k < c->live; k++)
        if (c->alive[c->order[k]])
            near->pairs[near->count++] =
                (uint64_t)ast_cell_code(c->means + 3 * (size_t)c->order[k]) << 32 | (uint32_t)c->order[k];
    ast_sort_codes(near->pairs, near->pairs + near->capacity, near->count);
    for (size_t k = 0; k < near->count; k++) {
        int32_t slot = near->slot[k] = (int32_t)(uint32_t)near->pairs[k];
        memcpy(near->mean + 3 * k, c->means + 3 * (size_t)slot, 3 * sizeof *near->mean);
    }
    for (size_t k = 0; k < near->count; k += FAN)
        enclose(near->mean + 3 * k, near->count - k < FAN ? near->count - k : FAN, near->ball + k / FAN * 4);
    for (size_t k = 0; k < near->count; k += FAN * FAN)
        enclose(near->mean + 3 * k, near->count - k < FAN * FAN ? near->count - k : FAN * FAN,
                near->cluster + k / (FAN * FAN) * 4);
    memset(near->stale, 0, near->slots);
    memset(near->listed, 0, near->slots);
    near->late_count = 0;
    near->ready = true;
    return true;
}

/* ---- a search ---- */

typedef struct search {
    const ast_labelling *l;
    const ast_near *near;
    const float *x;
    int32_t barred, found;
    double best;
    float reach; /* of the best score: what is farther away is worse */
} search;

static void consider(search *s, int32_t slot) {
    if (slot == s->barred)
        return;
    double score = ast_exact_score(s->x, s->l->clusters.means + 3 * (size_t)slot, 3);
    bool earlier = s->found == AST_NOBODY || s->near->rank[slot] < s->near->rank[s->found];
    if (score > s->best || (score == s->best && earlier)) {
        s->best = score;
        s->reach = ast_reach(score);
        s->found = slot;
    }
}

static bool in_reach(const search *s, const float ball[4]) {
    float a = ball[0] - s->x[0], b = ball[1] - s->x[1], c = ball[2] - s->x[2], reach = s->reach + ball[3];
    return a * a + b * b + c * c <= reach * reach;
}

static void search_table(search *s) {
    const ast_near *near = s->near;
    for (size_t at = 0; at < near->count; at += FAN * FAN) {
        if (!in_reach(s, near->cluster + at / (FAN * FAN) * 4))
            continue;
        for (size_t block = at; block < at + FAN * FAN && block < near->count; block += FAN) {
            if (!in_reach(s, near->ball + block / FAN * 4))
                continue;
            for (size_t k = block; k < block + FAN && k < near->count; k++)
                if (!near->stale[near->slot[k]])
                    consider(s, near->slot[k]);
        }
    }
}

int32_t ast_near_find(ast_labelling *l, const float x[3], int32_t barred) {
    ast_near *near = &l->cells->near;
    if (!near->ready || near->late_count > LATE + near->count / LATE_SHARE)
        if (!build(l, near)) {
            ast_labelling_fail(l);
            return AST_NOBODY;
        }
    search s = {l, near, x, barred, AST_NOBODY, l->limit, ast_reach(l->limit)};
    search_table(&s);
    for (size_t e = 0; e < near->late_count; e++)
        if (l->clusters.alive[near->late[e]])
            consider(&s, near->late[e]);
    return s.found;
}
