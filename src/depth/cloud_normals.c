/* SPDX-License-Identifier: MIT
 *
 * Normals of clouds: the least-squares plane through the nearest neighbours of each point.
 *
 * Points are processed leaf by leaf. The points of a leaf are neighbours, so the part of the tree that they visit stays
 * in the cache, and one call of the eigenvalue kernel takes all their matrices. Differences to the point, in double,
 * are exact unless magnitudes differ extremely: a cloud far from the origin loses no digits here. */
#include "surface_normals.h"

#include "cloud_noise.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK_LEAVES 32 /* per task */

typedef struct surface {
    const ast_cloud_kernels *kernels;
    const ast_cloud_options *options;
    ast_kdtree tree;
    size_t wanted;
    char *scratch; /* (threads, scratch_size): lists of neighbours */
    size_t scratch_size;
    float *normals, *curvature;
} surface;

/* The points of one leaf. */
typedef struct patch {
    ast_moments3 moments;
    ast_eigen3 eigen;
    size_t neighbours; /* per point */
} patch;

static void fit_leaves(void *data, size_t block, int worker);

ast_status ast_normals_of_cloud(ast_fault *fault, ast_pool *pool, const ast_cloud_kernels *kernels, const float *points,
                                size_t count, const ast_cloud_options *options, float *normals, float *curvature,
                                ast_kdtree *tree) {
    surface s = {.kernels = kernels, .options = options, .normals = normals, .curvature = curvature};
    ast_kdtree_free(tree);
    if (!ast_kdtree_build(&s.tree, pool, points, count))
        return ast_fail_memory(fault);
    double cell = 0;
    if (options->adaptive && !ast_pool_cancelled(pool) && !ast_cloud_noise_cell(kernels, &s.tree, &cell)) {
        ast_kdtree_free(&s.tree);
        return ast_fail_memory(fault);
    }
    if (cell > 0) {
        *tree = s.tree;
        return ast_cloud_smooth_normals(pool, kernels, points, count, cell, NULL, options, normals, curvature)
                   ? AST_OK
                   : ast_fail_memory(fault);
    }
    s.wanted = (size_t)options->neighbours;
    s.scratch_size =
        (s.wanted * (sizeof(double) + sizeof(int32_t)) + AST_ALIGNMENT - 1) / AST_ALIGNMENT * AST_ALIGNMENT;
    s.scratch = ast_allocate((size_t)ast_pool_threads(pool), s.scratch_size);
    if (s.scratch && !ast_pool_cancelled(pool)) {
        for (size_t i = 0; i < 3 * count; i++)
            normals[i] = NAN;
        for (size_t i = 0; curvature && i < count; i++)
            curvature[i] = NAN;
        if (s.tree.count >= 3)
            ast_pool_run_cancellable(pool, (ast_kdtree_leaves(&s.tree) + BLOCK_LEAVES - 1) / BLOCK_LEAVES, fit_leaves,
                                     &s);
    }
    ast_status status = s.scratch ? AST_OK : ast_fail_memory(fault);
    ast_free(s.scratch);
    if (ast_pool_cancelled(pool)) /* a cancelled build may have left the tree incomplete */
        ast_kdtree_free(&s.tree);
    *tree = s.tree;
    return status;
}

/* ---- The covariance ---------------------------------------------------------------------------------------------- */

/* n times the covariance of n neighbours: the sum of d d^T minus (sum of d) (sum of d)^T / n, where d is the difference
 * to the point. Added from the nearest on, so that the order depends only on the definition of the neighbours. */
static void covariance(const ast_kdtree *tree, const ast_nearest_list *found, const double *p, double out[6]) {
    double sum[3] = {0}, square[6] = {0}, n = (double)found->count;
    for (size_t i = 0; i < found->count; i++) {
        const ast_kdleaf *leaf = &tree->leaves[found->slot[i] / AST_LEAF];
        int s = found->slot[i] % AST_LEAF;
        double x = leaf->x[s] - p[0], y = leaf->y[s] - p[1], z = leaf->z[s] - p[2];
        sum[0] += x;
        sum[1] += y;
        sum[2] += z;
        square[0] += x * x;
        square[1] += x * y;
        square[2] += x * z;
        square[3] += y * y;
        square[4] += y * z;
        square[5] += z * z;
    }
    for (int i = 0, e = 0; i < 3; i++)
        for (int j = i; j < 3; j++, e++)
            out[e] = square[e] - sum[i] * sum[j] / n;
}

/* ---- The normal -------------------------------------------------------------------------------------------------- */

/* Whether the neighbours spread in two directions: the second spread must exceed what rounding to float (half the last
 * place of the point's coordinates) makes of points on a line, and 2^-40 of the largest spread. */
static bool is_plane(const patch *from, size_t s, const double *p) {
    double resolved = 0, second = from->eigen.values[1][s], largest = from->eigen.values[2][s];
    for (int c = 0; c < 3; c++) {
        double place = from->eigen.vectors[1][c][s] * p[c] * 0x1p-24;
        resolved += place * place;
    }
    return second > (double)from->neighbours * resolved && second > largest * 0x1p-40;
}

/* Negative if the normal must be flipped. If the normal is perpendicular to the viewing ray, its first nonzero
 * component is made positive, as for undirected normals. */
static double side_of(const surface *s, const double *p, const float *normal) {
    double towards = 0;
    for (int c = 0; !s->options->undirected && c < 3; c++)
        towards += normal[c] * (s->options->viewpoint[c] - p[c]);
    for (int c = 0; towards == 0 && c < 3; c++)
        towards = normal[c];
    return towards;
}

static void write_normal(const surface *s, const patch *from, size_t at, const double *p, size_t row) {
    double v[3], length, trace = 0;
    float normal[3];
    for (int c = 0; c < 3; c++) {
        v[c] = from->eigen.vectors[0][c][at];
        trace += from->eigen.values[c][at];
    }
    length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int c = 0; c < 3; c++)
        normal[c] = (float)(v[c] / length);
    float sign = side_of(s, p, normal) < 0 ? -1 : 1;
    for (int c = 0; c < 3; c++)
        s->normals[3 * row + (size_t)c] = sign * normal[c] + 0.0f; /* no negative zeros */
    double least = from->eigen.values[0][at];
    if (s->curvature)
        s->curvature[row] = (float)(least > 0 ? least / trace : 0);
}

/* ---- A leaf ------------------------------------------------------------------------------------------------------ */

static void fit_leaf(const surface *s, size_t number, ast_nearest_list *found) {
    const ast_kdleaf *leaf = &s->tree.leaves[number];
    size_t size = ast_kdtree_leaf_size(&s->tree, number);
    patch from = {0};
    for (size_t i = 0; i < size; i++) {
        float at[3] = {leaf->x[i], leaf->y[i], leaf->z[i]};
        double p[3] = {at[0], at[1], at[2]}, matrix[6];
        s->kernels->nearest(&s->tree, at, found);
        covariance(&s->tree, found, p, matrix);
        for (int e = 0; e < 6; e++)
            from.moments.elements[e][i] = matrix[e];
        from.neighbours = found->count;
    }
    s->kernels->eigen(&from.moments, &from.eigen);
    for (size_t i = 0; i < size; i++) {
        double p[3] = {leaf->x[i], leaf->y[i], leaf->z[i]};
        if (is_plane(&from, i, p))
            write_normal(s, &from, i, p, (size_t)leaf->index[i]);
    }
}

static void fit_leaves(void *data, size_t block, int worker) {
    const surface *s = data;
    size_t end = (block + 1) * BLOCK_LEAVES, leaves = ast_kdtree_leaves(&s->tree);
    char *memory = s->scratch + (size_t)worker * s->scratch_size;
    ast_nearest_list found = {.squared = (double *)(void *)memory, .wanted = s->wanted};
    found.slot = (int32_t *)(void *)(found.squared + s->wanted);
    for (size_t leaf = block * BLOCK_LEAVES; leaf < end && leaf < leaves; leaf++)
        fit_leaf(s, leaf, &found);
}
