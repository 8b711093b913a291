/* SPDX-License-Identifier: MIT
 *
 * Builds k-d trees. Entries (a point and its index) are in one array; a node is a range of it, split at the median
 * along the longest side of its box. The ranges depend on the number of points only, so nodes need no pointers and
 * subtrees are independent tasks: first the top levels, one after the other, then whole subtrees.
 *
 * The median is found by partitions without branches: an unpredictable comparison costs more than moving an entry
 * unnecessarily. */
#include "kdtree.h"

#include "memory.h"
#include "random.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SUBTREES 6 /* levels built one after the other; 64 tasks follow */

typedef struct entry {
    float at[3];
    int32_t index;
} entry;

typedef struct box {
    float low[3], high[3];
    int32_t first;
} box;

typedef struct build {
    ast_kdtree *tree;
    entry *entries;
    unsigned level; /* of the nodes that are tasks now */
} build;

static size_t compact(entry *entries, const float *points, size_t count);
static void split_task(void *data, size_t block, int worker);
static void subtree_task(void *data, size_t block, int worker);

bool ast_kdtree_build(ast_kdtree *tree, ast_pool *pool, const float *points, size_t count) {
    build b = {tree, ast_allocate(count, sizeof(entry)), 0};
    *tree = (ast_kdtree){0};
    if (!b.entries)
        return false;
    tree->count = compact(b.entries, points, count);
    while (((size_t)AST_LEAF << tree->depth) < tree->count)
        tree->depth++;
    assert(tree->count <= count && tree->count <= (size_t)AST_LEAF << tree->depth);
    tree->nodes = ast_allocate(ast_kdtree_leaves(tree), sizeof *tree->nodes);
    tree->leaves = ast_allocate(ast_kdtree_leaves(tree), sizeof *tree->leaves);
    bool built = tree->nodes && tree->leaves;
    if (built) {
        for (; b.level < SUBTREES && b.level < tree->depth; b.level++)
            if (!ast_pool_run_cancellable(pool, (size_t)1 << b.level, split_task, &b))
                break;
        ast_pool_run_cancellable(pool, (size_t)1 << b.level, subtree_task, &b);
    } else {
        ast_kdtree_free(tree);
    }
    ast_free(b.entries);
    return built;
}

void ast_kdtree_free(ast_kdtree *tree) {
    ast_free_all(tree->nodes, tree->leaves);
    *tree = (ast_kdtree){0};
}

/* ---- The same points --------------------------------------------------------------------------------------------- */

#define BLOCK_LEAVES 256

typedef struct comparison {
    const ast_kdtree *tree;
    const float *points;
    size_t count;
    atomic_bool differs;
} comparison;

static bool has_no_nan(const float *p) {
    return !(isnan(p[0]) || isnan(p[1]) || isnan(p[2]));
}

/* Checks that every point stored in a leaf equals the caller's row. */
static void compare_leaf(void *data, size_t number) {
    comparison *c = data;
    const ast_kdleaf *leaf = &c->tree->leaves[number];
    for (size_t s = 0; s < ast_kdtree_leaf_size(c->tree, number); s++) {
        const float *p = c->points + 3 * (size_t)leaf->index[s];
        if ((size_t)leaf->index[s] >= c->count || p[0] != leaf->x[s] || p[1] != leaf->y[s] || p[2] != leaf->z[s])
            atomic_store(&c->differs, true);
    }
}

bool ast_kdtree_is_of(const ast_kdtree *tree, ast_pool *pool, const float *points, size_t count) {
    comparison c = {.tree = tree, .points = points, .count = count};
    size_t there = 0;
    if (!tree->leaves || tree->count > count)
        return false;
    for (size_t i = 0; i < count; i++)
        there += has_no_nan(points + 3 * i);
    if (there != tree->count)
        return false;
    ast_pool_each(pool, ast_kdtree_leaves(tree), BLOCK_LEAVES, compare_leaf, &c);
    return !atomic_load(&c.differs);
}

static size_t compact(entry *entries, const float *points, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const float *p = points + 3 * i;
        entries[kept] = (entry){{p[0], p[1], p[2]}, (int32_t)i};
        kept += has_no_nan(p);
    }
    return kept;
}

/* ---- The median -------------------------------------------------------------------------------------------------- */

static void swap(entry *a, entry *b) {
    entry held = *a;
    *a = *b;
    *b = held;
}

static float middle_of(float a, float b, float c) {
    float low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* A value that is probably near the median: the median of three entries, or of three such medians, at pseudo-random
 * positions, so that no input order is a worst case. */
static float pivot_of(const entry *entries, size_t count, int axis, uint64_t *places) {
    float medians[3];
    for (int m = 0; m < 3; m++) {
        float sample[3];
        for (int s = 0; s < 3; s++) {
            *places = ast_mix64(*places + 1);
            sample[s] = entries[*places % count].at[axis];
        }
        medians[m] = middle_of(sample[0], sample[1], sample[2]);
        if (count < 100)
            return medians[m];
    }
    return middle_of(medians[0], medians[1], medians[2]);
}

/* Moves the entries below the pivot, or `equal` to it too, to the front; returns their number. */
static inline size_t partition_at(entry *entries, size_t count, int axis, float pivot, bool equal) {
    size_t store = 0;
    for (size_t i = 0; i < count; i++) {
        size_t front = equal ? entries[i].at[axis] <= pivot : entries[i].at[axis] < pivot;
        swap(&entries[i], &entries[store]);
        store += front;
    }
    return store;
}

/* Quickselect: puts the entry of rank `rank` in its place, smaller or equal entries before it, larger or equal ones
 * after it. */
static void select_rank(entry *entries, size_t count, size_t rank, int axis) {
    uint64_t places = count;
    while (count > 1) {
        float pivot = pivot_of(entries, count, axis, &places);
        size_t below = partition_at(entries, count, axis, pivot, false);
        if (rank < below) {
            count = below;
            continue;
        }
        size_t upto = below + partition_at(entries + below, count - below, axis, pivot, true);
        if (rank < upto)
            return;
        entries += upto;
        count -= upto;
        rank -= upto;
    }
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

static box box_of(const entry *entries, size_t count) {
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, INT32_MAX};
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 3; c++) {
            float v = entries[i].at[c];
            b.low[c] = v < b.low[c] ? v : b.low[c];
            b.high[c] = v > b.high[c] ? v : b.high[c];
        }
        b.first = entries[i].index < b.first ? entries[i].index : b.first;
    }
    return b;
}

static void store_in_parent(const ast_kdtree *tree, size_t node, const box *b) {
    if (node == 1)
        return;
    ast_kdnode *parent = &tree->nodes[node / 2];
    for (int c = 0; c < 3; c++) {
        parent->low[c][node % 2] = b->low[c];
        parent->high[c][node % 2] = b->high[c];
    }
    parent->lowest_index[node % 2] = b->first;
}

static int longest_side(const box *b) {
    int longest = 0;
    for (int c = 1; c < 3; c++)
        longest = (double)b->high[c] - b->low[c] > (double)b->high[longest] - b->low[longest] ? c : longest;
    return longest;
}

static int by_index(const void *a, const void *b) {
    int32_t x = ((const entry *)a)->index, y = ((const entry *)b)->index;
    return (x > y) - (x < y);
}

/* Node j of a level: stores its box in its parent and splits its entries at the median. Entries with equal points are
 * sorted by index: a query for the lowest index among many equal points then visits few leaves. */
static void split(const build *b, unsigned level, size_t j) {
    size_t n = b->tree->count, begin = n * j >> level, end = n * (j + 1) >> level;
    size_t middle = n * (2 * j + 1) >> (level + 1);
    entry *entries = b->entries + begin;
    box bounds = box_of(entries, end - begin);
    int axis = longest_side(&bounds);
    store_in_parent(b->tree, ((size_t)1 << level) + j, &bounds);
    if (bounds.low[axis] < bounds.high[axis])
        select_rank(entries, end - begin, middle - begin, axis);
    else
        qsort(entries, end - begin, sizeof *entries, by_index);
}

static void fill_leaf(const build *b, size_t j) {
    size_t n = b->tree->count, begin = n * j >> b->tree->depth, end = n * (j + 1) >> b->tree->depth;
    ast_kdleaf *leaf = &b->tree->leaves[j];
    box bounds = box_of(b->entries + begin, end - begin);
    store_in_parent(b->tree, ast_kdtree_leaves(b->tree) + j, &bounds);
    for (size_t s = 0; s < AST_LEAF; s++) {
        entry e = {{NAN, NAN, NAN}, -1};
        if (s < end - begin)
            e = b->entries[begin + s];
        leaf->x[s] = e.at[0];
        leaf->y[s] = e.at[1];
        leaf->z[s] = e.at[2];
        leaf->index[s] = e.index;
    }
}

static void split_task(void *data, size_t block, int worker) {
    const build *b = data;
    (void)worker;
    split(b, b->level, block);
}

/* All nodes below and including node `block` of a level, down to the leaves. */
static void subtree_task(void *data, size_t block, int worker) {
    const build *b = data;
    unsigned below = b->tree->depth - b->level;
    (void)worker;
    for (unsigned deeper = 0; deeper < below; deeper++)
        for (size_t j = block << deeper; j < (block + 1) << deeper; j++)
            split(b, b->level + deeper, j);
    for (size_t j = block << below; j < (block + 1) << below; j++)
        fill_leaf(b, j);
}
