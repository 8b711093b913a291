/* SPDX-License-Identifier: MIT
 *
 * The inner loops over point clouds, in one table of functions per instruction set. Every table gives the same bits:
 * sums are added in the order written here, and nothing is fused. */
#pragma once

#include "kdtree.h"

/* Neighbours in order of squared distance, dx dx + dy dy + dz dz in double; equal distances in order of index. A slot
 * is AST_LEAF * leaf + position in the leaf. */
typedef struct ast_nearest_list {
    double *squared; /* [wanted] */
    int32_t *slot;   /* [wanted] */
    size_t wanted;   /* at least 1 */
    size_t count;    /* found neighbours: all points of the tree if it has fewer */
} ast_nearest_list;

/* Symmetric matrices, one per column: the rows are xx xy xz yy yz zz. */
typedef struct ast_moments3 {
    double elements[6][AST_LEAF];
} ast_moments3;

/* Their eigenvalues in increasing order, and the unit eigenvectors: vectors[i] belongs to values[i]. */
typedef struct ast_eigen3 {
    double values[3][AST_LEAF];
    double vectors[3][3][AST_LEAF];
} ast_eigen3;

typedef struct ast_cloud_kernels {
    const char *name;

    /* The nearest neighbours of a place in space. */
    void (*nearest)(const ast_kdtree *tree, const float *place, ast_nearest_list *out);

    /* Jacobi's method: eigenvectors are orthogonal, and eigenvalues accurate to about 1e-16 of the largest. */
    void (*eigen)(const ast_moments3 *matrices, ast_eigen3 *out);
} ast_cloud_kernels;

/* The table with the name of the engine's table. */
const ast_cloud_kernels *ast_cloud_kernels_choose(const char *name);

extern const ast_cloud_kernels ast_cloud_kernels_base, ast_cloud_kernels_avx2, ast_cloud_kernels_neon;
