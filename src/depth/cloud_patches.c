/* SPDX-License-Identifier: MIT
 *
 * From a k-d tree to patches: the points of a leaf with one label, their sums and their plane, and the patches around
 * each. Leaves are tasks; a patch depends on its leaf only. */
#include "cloud_planes.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_LEAVES 64
#define BLOCK_PATCHES 256

#define NOISE 4.0     /* standard deviations: how far a point may be from its plane */
#define SPACING 0.25  /* and at least this share of the distance between neighbours */
#define ROUNDING 1e-6 /* and of the largest coordinate: floats have seven digits */
#define SAMPLES 4096  /* patches whose deviations from their plane say what the noise is */
#define REACH 2.0     /* distances between neighbours */

static void count_patches(void *data, size_t block, int worker);
static void fill_patches(void *data, size_t block, int worker);
static void link_patches(void *data, size_t block, int worker);
static bool find_distance(ast_cloud_cut *cut);

bool ast_cloud_patches_make(ast_cloud_cut *cut) {
    if (!ast_kdtree_build(&cut->tree, cut->pool, cut->points, cut->count))
        return false;
    size_t leaves = ast_kdtree_leaves(&cut->tree), blocks = (leaves + BLOCK_LEAVES - 1) / BLOCK_LEAVES;
    cut->first = ast_allocate_zero(leaves + 1, sizeof *cut->first);
    if (!cut->first)
        return false;
    ast_pool_run(cut->pool, blocks, count_patches, cut);
    for (size_t leaf = 0; leaf < leaves; leaf++)
        cut->first[leaf + 1] += cut->first[leaf];
    cut->patch_count = cut->first[leaves];
    cut->patches = ast_allocate(cut->patch_count, sizeof *cut->patches);
    if (!cut->patches)
        return false;
    ast_pool_run(cut->pool, blocks, fill_patches, cut);
    ast_pool_try(cut->pool, (cut->patch_count + BLOCK_PATCHES - 1) / BLOCK_PATCHES, link_patches, cut);
    return find_distance(cut);
}

/* ---- Groups of a leaf -------------------------------------------------------------------------------------------- */

typedef struct groups {
    int count;
    int32_t labels[AST_LEAF];
    int sizes[AST_LEAF];
    int of[AST_LEAF]; /* the group of each slot, -1 for none */
} groups;

static bool has_normal(const float *normal) {
    double squares = (double)normal[0] * normal[0] + (double)normal[1] * normal[1] + (double)normal[2] * normal[2];
    return squares > 0 && isfinite(squares);
}

/* The labels of a leaf with AST_PATCH_LEAST points or more. */
static groups group_leaf(const ast_cloud_cut *cut, size_t number) {
    const ast_kdleaf *leaf = &cut->tree.leaves[number];
    int size = (int)ast_kdtree_leaf_size(&cut->tree, number), kept = 0, renamed[AST_LEAF];
    groups g = {0};
    for (int s = 0; s < size; s++) {
        int32_t label = cut->labels[leaf->index[s]];
        int at = 0;
        g.of[s] = -1;
        if (label < 0 || !has_normal(cut->normals + 3 * (size_t)leaf->index[s]))
            continue;
        while (at < g.count && g.labels[at] != label)
            at++;
        if (at == g.count) {
            g.labels[g.count] = label;
            g.sizes[g.count++] = 0;
        }
        g.sizes[at]++;
        g.of[s] = at;
    }
    for (int k = 0; k < g.count; k++) {
        renamed[k] = g.sizes[k] >= AST_PATCH_LEAST ? kept : -1;
        g.labels[kept] = g.labels[k];
        g.sizes[kept] = g.sizes[k];
        kept += g.sizes[k] >= AST_PATCH_LEAST;
    }
    for (int s = 0; s < size; s++)
        g.of[s] = g.of[s] < 0 ? -1 : renamed[g.of[s]];
    g.count = kept;
    return g;
}

static void count_patches(void *data, size_t block, int worker) {
    const ast_cloud_cut *cut = data;
    size_t leaves = ast_kdtree_leaves(&cut->tree);
    (void)worker;
    for (size_t leaf = block * BLOCK_LEAVES; leaf < (block + 1) * BLOCK_LEAVES && leaf < leaves; leaf++)
        cut->first[leaf + 1] = (size_t)group_leaf(cut, leaf).count;
}

/* ---- A patch ----------------------------------------------------------------------------------------------------- */

static void add_point(ast_cloud_patch *patch, const double *p, const float *normal, bool undirected) {
    double n[3] = {normal[0], normal[1], normal[2]}, length = sqrt(ast_dot3(n, n));
    length = undirected && ast_dot3(n, patch->normal) < 0 ? -length : length;
    ast_scatter one = {1, {p[0], p[1], p[2]}, {0}};
    ast_scatter_add(&patch->scatter, &one);
    for (int c = 0; c < 3; c++) {
        patch->normal[c] += n[c] / length;
        patch->low[c] = p[c] < patch->low[c] ? p[c] : patch->low[c];
        patch->high[c] = p[c] > patch->high[c] ? p[c] : patch->high[c];
    }
}

/* A rectangle with sides a and b has the variances a^2 / 12 and b^2 / 12. */
static void measure_patch(const ast_cloud_cut *cut, ast_cloud_patch *patch) {
    ast_axes_of axes = ast_scatter_axes(cut->kernels, &patch->scatter, patch->normal);
    double n = patch->scatter.n, length = sqrt(ast_dot3(patch->normal, patch->normal));
    for (int c = 0; c < 3; c++)
        patch->normal[c] = length > 0 ? patch->normal[c] / length : axes.vectors[0][c];
    patch->square = axes.squares[0] / n;
    patch->share = 12 * sqrt(axes.squares[1] * axes.squares[2]) / (n * n);
    double near = REACH * sqrt(patch->share), half = sqrt(3 * axes.squares[2] / n); /* points on a line have no area */
    patch->reach = near > half ? near : half;
}

static void fill_leaf(const ast_cloud_cut *cut, size_t number) {
    const ast_kdleaf *leaf = &cut->tree.leaves[number];
    groups g = group_leaf(cut, number);
    ast_cloud_patch *patches = cut->patches + cut->first[number];
    for (int k = 0; k < g.count; k++)
        patches[k] = (ast_cloud_patch){.label = g.labels[k],
                                       .region = -1,
                                       .low = {INFINITY, INFINITY, INFINITY},
                                       .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t s = 0; s < ast_kdtree_leaf_size(&cut->tree, number); s++) {
        double p[3] = {leaf->x[s], leaf->y[s], leaf->z[s]};
        if (g.of[s] >= 0)
            add_point(&patches[g.of[s]], p, cut->normals + 3 * (size_t)leaf->index[s], cut->undirected);
    }
    for (int k = 0; k < g.count; k++)
        measure_patch(cut, &patches[k]);
}

static void fill_patches(void *data, size_t block, int worker) {
    const ast_cloud_cut *cut = data;
    size_t leaves = ast_kdtree_leaves(&cut->tree);
    (void)worker;
    for (size_t leaf = block * BLOCK_LEAVES; leaf < (block + 1) * BLOCK_LEAVES && leaf < leaves; leaf++)
        fill_leaf(cut, leaf);
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

static bool near_box(const ast_cloud_patch *patch, const double *low, const double *high) {
    double squares = 0;
    for (int c = 0; c < 3; c++) {
        double below = patch->low[c] - high[c], above = low[c] - patch->high[c], gap = below > above ? below : above;
        squares += gap > 0 ? gap * gap : 0;
    }
    return squares <= patch->reach * patch->reach;
}

static bool near_child(const ast_cloud_patch *patch, const ast_kdnode *node, int child) {
    double low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = node->low[c][child];
        high[c] = node->high[c][child];
    }
    return near_box(patch, low, high);
}

/* The cosine of the angle between two normals. */
static double facing(const ast_cloud_cut *cut, const double *a, const double *b) {
    double dot = ast_dot3(a, b);
    return cut->undirected ? fabs(dot) : dot;
}

static void link_leaf(const ast_cloud_cut *cut, ast_cloud_patch *patch, size_t leaf) {
    for (size_t k = cut->first[leaf]; k < cut->first[leaf + 1]; k++) {
        const ast_cloud_patch *other = &cut->patches[k];
        if (other != patch && patch->link_count < AST_LINKS &&
            facing(cut, patch->normal, other->normal) >= AST_FACING && near_box(patch, other->low, other->high))
            patch->links[patch->link_count++] = (int32_t)k;
    }
}

/* From the root down through the boxes within reach. */
static void link_patch(const ast_cloud_cut *cut, ast_cloud_patch *patch) {
    size_t leaves = ast_kdtree_leaves(&cut->tree), stack[64] = {1};
    for (int depth = 1; depth > 0;) {
        size_t node = stack[--depth];
        if (node >= leaves) {
            link_leaf(cut, patch, node - leaves);
            continue;
        }
        for (int child = 1; child >= 0; child--)
            if (near_child(patch, &cut->tree.nodes[node], child))
                stack[depth++] = 2 * node + (size_t)child;
    }
}

static void link_patches(void *data, size_t block, int worker) {
    ast_cloud_cut *cut = data;
    (void)worker;
    for (size_t k = block * BLOCK_PATCHES; k < (block + 1) * BLOCK_PATCHES && k < cut->patch_count; k++)
        link_patch(cut, &cut->patches[k]);
}

/* ---- The noise --------------------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, size_t count) {
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return count ? numbers[count / 2] : 0;
}

/* The standard deviation of the points of a patch and of those around it from their plane, whose three parameters were
 * fitted to them. A patch alone could be a piece of one scan line, which lies on many planes. */
static double deviation(const ast_cloud_cut *cut, const ast_cloud_patch *patch) {
    ast_scatter all = patch->scatter;
    for (int32_t l = 0; l < patch->link_count; l++)
        ast_scatter_add(&all, &cut->patches[patch->links[l]].scatter);
    return sqrt(ast_scatter_axes(cut->kernels, &all, patch->normal).squares[0] / (all.n - 3));
}

static bool find_distance(ast_cloud_cut *cut) {
    if (cut->distance > 0)
        return true;
    double *numbers = ast_allocate(cut->patch_count, sizeof *numbers), largest = 0;
    if (!numbers)
        return false;
    size_t count = 0, step = 1 + cut->patch_count / SAMPLES;
    for (size_t k = 0; k < cut->patch_count; k += step)
        numbers[count++] = deviation(cut, &cut->patches[k]);
    double noise = NOISE * median(numbers, count), spacing;
    for (size_t k = 0; k < cut->patch_count; k++) {
        numbers[k] = sqrt(cut->patches[k].share);
        for (int c = 0; c < 3; c++)
            largest = fmax(largest, fabs(cut->patches[k].scatter.mean[c]));
    }
    spacing = SPACING * median(numbers, cut->patch_count);
    cut->distance = fmax(fmax(noise, spacing), ROUNDING * largest);
    free(numbers);
    return true;
}
