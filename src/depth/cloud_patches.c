/* SPDX-License-Identifier: MIT
 *
 * From a k-d tree to patches: the points of a leaf that face the same way, their sums and their plane, and the patches
 * around each. Leaves are tasks; a patch depends on its leaf only. */
#include "cloud_planes.h"

#include "memory.h"

#include <math.h>

#define BLOCK_LEAVES 64
#define BLOCK_PATCHES 256

#define NOISE 4.0    /* standard deviations: how far a point may be from its plane */
#define SPACING 0.25 /* lower bound of the distance, as a share of the point spacing */
/* Lower bound of the distance, as a share of the largest coordinate: floats have seven digits. */
#define ROUNDING 1e-6
#define SAMPLES 4096 /* patches sampled to estimate the noise */
#define REACH 2.0    /* distances between neighbours */

static void count_patches(void *data, size_t leaf);
static void fill_patches(void *data, size_t begin, size_t end);
static void link_patches(void *data, size_t block, int worker);
static bool find_distance(ast_cloud_planes_job *job);

bool ast_cloud_make_patches(ast_cloud_planes_job *job) {
    if (!ast_kdtree_is_of(job->tree, job->pool, job->points, job->count)) {
        ast_kdtree_free(job->tree);
        if (!ast_kdtree_build(job->tree, job->pool, job->points, job->count))
            return false;
    }
    size_t leaves = ast_kdtree_leaves(job->tree);
    job->first_patch = ast_allocate_zero(leaves + 1, sizeof *job->first_patch);
    job->patch_in_leaf = ast_allocate(leaves * AST_LEAF, sizeof *job->patch_in_leaf);
    if (!job->first_patch || !job->patch_in_leaf)
        return false;
    ast_pool_each(job->pool, leaves, BLOCK_LEAVES, count_patches, job);
    for (size_t leaf = 0; leaf < leaves; leaf++)
        job->first_patch[leaf + 1] += job->first_patch[leaf];
    job->patch_count = job->first_patch[leaves];
    job->patches = ast_allocate(job->patch_count, sizeof *job->patches);
    if (!job->patches)
        return false;
    ast_pool_ranges(job->pool, leaves, BLOCK_LEAVES, fill_patches, job);
    ast_pool_run_cancellable(job->pool, (job->patch_count + BLOCK_PATCHES - 1) / BLOCK_PATCHES, link_patches, job);
    return find_distance(job);
}

/* ---- Groups of a leaf -------------------------------------------------------------------------------------------- */

/* Points of a leaf that face about the same way: the sum of their normals. */
typedef struct facing {
    double sum[3];
    size_t count;
} facing;

/* The normal of a row with length 1; false if it has none. */
static bool unit_normal(const ast_cloud_planes_job *job, int32_t row, double *n) {
    const float *from = job->normals + 3 * (size_t)row;
    double length = sqrt((double)from[0] * from[0] + (double)from[1] * from[1] + (double)from[2] * from[2]);
    for (int c = 0; c < 3; c++)
        n[c] = (double)from[c] / length;
    return length > 0 && isfinite(length);
}

/* The first group whose mean is within the angle, or a new one. */
static size_t join_group(facing *groups, size_t *count, const double *n, bool undirected) {
    size_t at = 0;
    double dot = 0;
    for (; at < *count; at++) {
        dot = ast_dot3(groups[at].sum, n);
        if ((undirected ? fabs(dot) : dot) >= AST_PATCH_MIN_COSINE * sqrt(ast_dot3(groups[at].sum, groups[at].sum)))
            break;
    }
    if (at == *count) {
        groups[(*count)++] = (facing){{0}, 0};
        dot = 0;
    }
    for (int c = 0; c < 3; c++)
        groups[at].sum[c] += undirected && dot < 0 ? -n[c] : n[c];
    groups[at].count++;
    return at;
}

/* Gives the slots of a leaf the numbers of their groups, one for each way that AST_PATCH_MIN_POINTS points or more
 * face; -1 for none. Returns the number of groups. Labels have no say: planes do not depend on them. */
static size_t group_leaf(const ast_cloud_planes_job *job, size_t number, int8_t *of) {
    const ast_kdleaf *leaf = &job->tree->leaves[number];
    size_t size = ast_kdtree_leaf_size(job->tree, number), kept = 0, count = 0;
    facing groups[AST_LEAF];
    int8_t renamed[AST_LEAF] = {0};
    for (size_t s = 0; s < size; s++) {
        double n[3];
        of[s] = -1;
        if (unit_normal(job, leaf->index[s], n))
            of[s] = (int8_t)join_group(groups, &count, n, job->undirected);
    }
    for (size_t k = 0; k < count; k++)
        // cppcheck-suppress uninitvar; join_group has filled them in
        renamed[k] = (int8_t)(groups[k].count >= AST_PATCH_MIN_POINTS ? kept++ : SIZE_MAX);
    for (size_t s = 0; s < size; s++)
        of[s] = of[s] < 0 ? -1 : renamed[of[s]];
    return kept;
}

static void count_patches(void *data, size_t leaf) {
    const ast_cloud_planes_job *job = data;
    ast_cloud_prefetch_leaf(job, leaf + AST_PREFETCH_LEAVES);
    job->first_patch[leaf + 1] = group_leaf(job, leaf, job->patch_in_leaf + leaf * AST_LEAF);
}

/* ---- Patches ----------------------------------------------------------------------------------------------------- */

static void add_point(ast_cloud_patch *patch, const float *p, const double *n, bool undirected) {
    double sign = undirected && ast_dot3(n, patch->normal) < 0 ? -1 : 1;
    ast_scatter one = {1, {p[0], p[1], p[2]}, {0}};
    ast_scatter_add(&patch->scatter, &one);
    for (int c = 0; c < 3; c++) {
        patch->normal[c] += sign * n[c];
        patch->low[c] = p[c] < patch->low[c] ? p[c] : patch->low[c];
        patch->high[c] = p[c] > patch->high[c] ? p[c] : patch->high[c];
    }
}

static void fill_leaf(const ast_cloud_planes_job *job, size_t number) {
    const ast_kdleaf *leaf = &job->tree->leaves[number];
    const int8_t *of = job->patch_in_leaf + number * AST_LEAF;
    ast_cloud_patch *patches = job->patches + job->first_patch[number];
    for (size_t k = job->first_patch[number]; k < job->first_patch[number + 1]; k++)
        job->patches[k] = (ast_cloud_patch){
            .region = -1, .low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t s = 0; s < ast_kdtree_leaf_size(job->tree, number); s++) {
        float p[3] = {leaf->x[s], leaf->y[s], leaf->z[s]};
        double n[3];
        if (of[s] >= 0 && unit_normal(job, leaf->index[s], n))
            add_point(&patches[of[s]], p, n, job->undirected);
    }
}

/* squares: sums of squares along the axes, in increasing order. A rectangle with sides a and b has the variances
 * a^2 / 12 and b^2 / 12. */
static void measure_patch(ast_cloud_patch *patch, const double *squares) {
    double n = patch->scatter.n, length = sqrt(ast_dot3(patch->normal, patch->normal));
    for (int c = 0; c < 3; c++)
        patch->normal[c] = length > 0 ? patch->normal[c] / length : 0;
    patch->mean_square = squares[0] / n;
    patch->area_per_point = 12 * sqrt(squares[1] * squares[2]) / (n * n);
    double near = REACH * sqrt(patch->area_per_point),
           half = sqrt(3 * squares[2] / n); /* points on a line have no area */
    patch->link_distance = near > half ? near : half;
}

/* Up to AST_LEAF patches with one call of the kernel. */
static void measure_patches(const ast_cloud_planes_job *job, ast_cloud_patch *patches, size_t count) {
    ast_moments3 moments = {0};
    ast_eigen3 eigen;
    for (size_t k = 0; k < count; k++)
        for (int e = 0; e < 6; e++)
            moments.elements[e][k] = patches[k].scatter.products[e];
    job->kernels->eigen(&moments, &eigen);
    for (size_t k = 0; k < count; k++) {
        double squares[3];
        for (int i = 0; i < 3; i++)
            squares[i] = eigen.values[i][k] > 0 ? eigen.values[i][k] : 0;
        if (patches[k].scatter.n > 0)
            measure_patch(&patches[k], squares);
    }
}

static void fill_patches(void *data, size_t begin, size_t end) {
    const ast_cloud_planes_job *job = data;
    for (size_t leaf = begin; leaf < end; leaf++) {
        ast_cloud_prefetch_leaf(job, leaf + AST_PREFETCH_LEAVES);
        fill_leaf(job, leaf);
    }
    for (size_t k = job->first_patch[begin]; k < job->first_patch[end]; k += AST_LEAF)
        measure_patches(job, job->patches + k,
                        job->first_patch[end] - k < AST_LEAF ? job->first_patch[end] - k : AST_LEAF);
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

/* Coordinate c of the box is at place c * stride of low and high. */
static bool near_box(const ast_cloud_patch *patch, const float *low, const float *high, size_t stride) {
    double squares = 0;
    for (size_t c = 0; c < 3; c++) {
        double below = (double)patch->low[c] - high[c * stride], above = (double)low[c * stride] - patch->high[c];
        double gap = below > above ? below : above;
        squares += gap > 0 ? gap * gap : 0;
    }
    return squares <= patch->link_distance * patch->link_distance;
}

static void link_leaf(const ast_cloud_planes_job *job, ast_cloud_patch *patch, size_t leaf) {
    for (size_t k = job->first_patch[leaf]; k < job->first_patch[leaf + 1]; k++) {
        const ast_cloud_patch *other = &job->patches[k];
        if (other != patch && patch->neighbour_count < AST_PATCH_MAX_NEIGHBOURS &&
            near_box(patch, other->low, other->high, 1))
            patch->neighbours[patch->neighbour_count++] = (int32_t)k;
    }
}

/* From the root down through the boxes within reach. */
static void link_patch(const ast_cloud_planes_job *job, ast_cloud_patch *patch) {
    const ast_kdnode *nodes = job->tree->nodes;
    size_t leaves = ast_kdtree_leaves(job->tree), stack[64] = {1};
    for (int depth = 1; depth > 0;) {
        size_t node = stack[--depth];
        if (node >= leaves) {
            link_leaf(job, patch, node - leaves);
            continue;
        }
        for (int child = 1; child >= 0; child--)
            if (near_box(patch, &nodes[node].low[0][child], &nodes[node].high[0][child], 2))
                stack[depth++] = 2 * node + (size_t)child;
    }
}

static void link_patches(void *data, size_t block, int worker) {
    ast_cloud_planes_job *job = data;
    (void)worker;
    for (size_t k = block * BLOCK_PATCHES; k < (block + 1) * BLOCK_PATCHES && k < job->patch_count; k++)
        link_patch(job, &job->patches[k]);
}

/* ---- The noise --------------------------------------------------------------------------------------------------- */

static double median(ast_sort_entry *numbers, size_t count) {
    ast_rank(numbers, count);
    return count ? numbers[count / 2].key : 0;
}

/* Standard deviation of the residuals of the plane fitted to the patch and to its neighbours with a similar normal;
 * three degrees of freedom are subtracted. A patch alone could be a piece of a scan line, which lies on many planes. */
static double deviation(const ast_cloud_planes_job *job, const ast_cloud_patch *patch) {
    ast_scatter all = patch->scatter;
    for (int32_t l = 0; l < patch->neighbour_count; l++)
        if (ast_cosine_between(patch->normal, job->patches[patch->neighbours[l]].normal, job->undirected) >=
            AST_PATCH_MIN_COSINE)
            ast_scatter_add(&all, &job->patches[patch->neighbours[l]].scatter);
    return sqrt(ast_scatter_principal_axes(job->kernels, &all, patch->normal).square_sums[0] / (all.n - 3));
}

static bool find_distance(ast_cloud_planes_job *job) {
    if (job->distance > 0)
        return true;
    size_t count = 0, step = 1 + job->patch_count / SAMPLES;
    ast_sort_entry *deviations = NULL, *spacings = NULL;
    double largest = 0;
    if (!ast_replace_arrays(AST_REQUEST(deviations, SAMPLES), AST_REQUEST(spacings, SAMPLES)))
        return false;
    for (size_t k = 0; k < job->patch_count; k += step) {
        deviations[count].key = deviation(job, &job->patches[k]);
        spacings[count].key = sqrt(job->patches[k].area_per_point);
        deviations[count].index = spacings[count].index = count;
        count++;
        for (int c = 0; c < 3; c++)
            largest = fmax(largest, fabs(job->patches[k].scatter.mean[c]));
    }
    job->distance =
        fmax(fmax(NOISE * median(deviations, count), SPACING * median(spacings, count)), ROUNDING * largest);
    ast_free_all(deviations, spacings);
    return true;
}
