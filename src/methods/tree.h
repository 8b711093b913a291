/* SPDX-License-Identifier: MIT
 *
 * The tree of joins (Ward's rule on the sphere): of K clusters the pair whose join loses least of sum_k |s_k| is
 * joined, until one cluster is left. The loss of a pair is |s_a| + |s_b| - |s_a + s_b|. Sums are exact integers and
 * lengths are added up in double, components in order, so the tree is the same on any number of threads; equal losses
 * go to the lowest pair.
 *
 * ast_joiner finds the next pair. With another price it joins the nearest means first. */
#pragma once

#include "asterism.h"
#include "fault.h"
#include "kernels.h"
#include "pool.h"

/* What a join costs. */
typedef enum ast_price {
    AST_PRICE_LOSS, /* |s_a| + |s_b| - |s_a + s_b| */
    AST_PRICE_ANGLE /* 1 - cosine of the means, float vectors: the nearest means first */
} ast_price;

/* The clusters to join. */
typedef struct ast_leaves {
    size_t count, dimension;
    const int64_t *sums; /* (count, D) in units of 1 / unit */
    const float *means;  /* (count, D) */
    double unit;
    bool axial;                /* sums and means may be flipped */
    const size_t *group_start; /* (count + 1) or NULL: leaves that share a group never join */
    const int32_t *groups;     /* of leaf k: group_start[k] .. group_start[k + 1] - 1, increasing */
    double most;               /* AST_PRICE_ANGLE: pairs of this price or more do not join; 0: all do */
    const uint8_t *moved;      /* (count) or NULL. With `most`: two leaves that did not move cost at least that */
} ast_leaves;

typedef struct ast_joiner ast_joiner;

/* NULL: no memory. */
ast_joiner *ast_joiner_open(const ast_leaves *leaves, ast_price price, const ast_kernels *kernels, ast_pool *pool);
void ast_joiner_close(ast_joiner *joiner);

/* Nodes 0..count-1 are the leaves; join number t makes node count + t. */
typedef struct ast_joined {
    int32_t a, b; /* a < b */
    double price;
    double loss;  /* of sum_k |s_k| */
    double angle; /* between the two means, in radians */
    bool flipped; /* axial: b counts as -b */
} ast_joined;

/* The pair to join next; false: no pair is left, or the pool is cancelled, or ast_joiner_failed: no memory. */
bool ast_joiner_failed(const ast_joiner *joiner);
bool ast_joiner_next(ast_joiner *joiner, ast_joined *join);

/* Joins that pair. */
void ast_joiner_join(ast_joiner *joiner, const ast_joined *join);
