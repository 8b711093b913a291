/* SPDX-License-Identifier: MIT
 *
 * A balanced k-d tree over points in space, for exact nearest neighbours. It does not know normals.
 *
 * All leaves are on one level, 2^depth of them, with 9 to 16 points each (fewer only in a tree of one leaf). Nodes are
 * numbered as in a heap: 1 is the root, 2 n and 2 n + 1 are the children of n, leaf j is node 2^depth + j. A node holds
 * the boxes of both children, in one cache line. The answer to a query does not depend on the arrangement of the
 * points. */
#pragma once

#include "pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AST_LEAF 16 /* points; a multiple of the lanes of every instruction set */

/* Coordinates are side by side, so that one instruction handles several points. Slots after the last point hold NaN and
 * index -1. */
typedef struct ast_kdleaf {
    float x[AST_LEAF], y[AST_LEAF], z[AST_LEAF];
    int32_t index[AST_LEAF]; /* row in the caller's array */
} ast_kdleaf;

/* The children of a node: smallest boxes, [axis][child], first: the lowest point index in each child, used to break
 * ties between equal distances. */
typedef struct ast_kdnode {
    float low[3][2], high[3][2];
    int32_t lowest_index[2];
    int32_t unused[2];
} ast_kdnode;

typedef struct ast_kdtree {
    ast_kdnode *nodes;  /* [2^depth], the first unused */
    ast_kdleaf *leaves; /* [2^depth] */
    size_t count;       /* number of points in the tree (rows with NaN are left out) */
    unsigned depth;
} ast_kdtree;

/* points: (count, 3); rows that contain a NaN are left out. False if memory runs out; then there is nothing to free. */
bool ast_kdtree_build(ast_kdtree *tree, ast_pool *pool, const float *points, size_t count);
void ast_kdtree_free(ast_kdtree *tree);

/* Whether the tree was built from exactly these points. False for a freed tree. */
bool ast_kdtree_is_of(const ast_kdtree *tree, ast_pool *pool, const float *points, size_t count);

static inline size_t ast_kdtree_leaves(const ast_kdtree *tree) {
    return (size_t)1 << tree->depth;
}

/* The number of points of a leaf. */
static inline size_t ast_kdtree_leaf_size(const ast_kdtree *tree, size_t leaf) {
    return (tree->count * (leaf + 1) >> tree->depth) - (tree->count * leaf >> tree->depth);
}
