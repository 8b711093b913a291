/* SPDX-License-Identifier: MIT
 *
 * A balanced k-d tree over points in space, for exact nearest neighbours. It knows no normals.
 *
 * All leaves are on one level, 2^depth of them, and hold 9 to 16 points each (fewer only in a tree of one leaf). Nodes
 * are numbered as in a heap: 1 is the root, 2 n and 2 n + 1 are the children of n, leaf number j is node 2^depth + j. A
 * node holds the boxes of both its children, in one line of the cache. The answer to a query does not depend on how
 * points are arranged. */
#ifndef AST_KDTREE_H
#define AST_KDTREE_H

#include "pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AST_LEAF 16 /* points; a multiple of the lanes of every instruction set */

/* Points side by side, so that one instruction takes several. Slots beyond the last point hold NaN, and index -1. */
typedef struct ast_kdleaf {
    float x[AST_LEAF], y[AST_LEAF], z[AST_LEAF];
    int32_t index[AST_LEAF]; /* the row of the caller's array */
} ast_kdleaf;

/* The children of a node: smallest boxes, [axis][child], and the least index within, by which equal distances are
 * decided. */
typedef struct ast_kdnode {
    float low[3][2], high[3][2];
    int32_t first[2];
    int32_t unused[2];
} ast_kdnode;

typedef struct ast_kdtree {
    ast_kdnode *nodes;  /* [2^depth], the first unused */
    ast_kdleaf *leaves; /* [2^depth] */
    size_t count;       /* points that are there */
    unsigned depth;
} ast_kdtree;

/* Points: (count, 3), rows that hold a NaN are left out. false: no memory, and nothing is left to free. */
bool ast_kdtree_build(ast_kdtree *tree, ast_pool *pool, const float *points, size_t count);
void ast_kdtree_free(ast_kdtree *tree);

static inline size_t ast_kdtree_leaves(const ast_kdtree *tree) {
    return (size_t)1 << tree->depth;
}

/* The points of a leaf. */
static inline size_t ast_kdtree_leaf_size(const ast_kdtree *tree, size_t leaf) {
    return (tree->count * (leaf + 1) >> tree->depth) - (tree->count * leaf >> tree->depth);
}

#endif
