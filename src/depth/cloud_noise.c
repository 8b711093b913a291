/* SPDX-License-Identifier: MIT
 *
 * Normals of clouds whose noise is larger than the distance between points.
 *
 * The noise is measured first: the neighbourhoods of sample points grow until most of them are flat. Normals then come
 * from neighbourhoods of 16 times the noise. These have about a thousand points each, so points are summed in cells,
 * and the plane of a cell is the plane of all points in the 5 x 5 x 5 cells around it. The sums are those of products,
 * so that it is the plane of the points, not of the cells. */
#include "cloud_noise.h"

#include "memory.h"

#include <math.h>

enum { SAMPLES = 256, POINTS_LEAST = 16384, NEIGHBOURS = 16, NEIGHBOURS_MOST = 1024, REACH = 2, BLOCK = 64 };

#define ROUND 0.35 /* narrowest over second extent: from here on 16 neighbours are a blob, */
#define FLAT 0.35  /* and up to here more of them are a plane */
#define SIDE 3.2   /* of a cell, in standard deviations of the noise: its block has 16 */

typedef struct sample {
    ast_sort_entry flatness[SAMPLES], noise[SAMPLES], side[SAMPLES];
    size_t count;
} sample;

static double median(ast_sort_entry *numbers, size_t count) {
    ast_rank(numbers, count);
    return count ? numbers[count / 2].key : 0;
}

static ast_scatter scatter_of(const ast_kdtree *tree, const ast_nearest_list *found) {
    ast_scatter all = {0};
    for (size_t i = 0; i < found->count; i++) {
        const ast_kdleaf *leaf = &tree->leaves[found->slot[i] / AST_LEAF];
        int s = found->slot[i] % AST_LEAF;
        ast_scatter one = {1, {leaf->x[s], leaf->y[s], leaf->z[s]}, {0}};
        ast_scatter_add(&all, &one);
    }
    return all;
}

/* The neighbourhoods of the first points of leaves, evenly spread. */
static void look(const ast_cloud_kernels *kernels, const ast_kdtree *tree, ast_nearest_list *found, sample *s) {
    size_t leaves = ast_kdtree_leaves(tree), step = 1 + leaves / SAMPLES;
    s->count = 0;
    for (size_t leaf = 0; leaf < leaves && s->count < SAMPLES; leaf += step) {
        const ast_kdleaf *from = &tree->leaves[leaf];
        kernels->nearest(tree, (float[]){from->x[0], from->y[0], from->z[0]}, found);
        ast_scatter all = scatter_of(tree, found);
        const double *squares = ast_scatter_principal_axes(kernels, &all, (double[]){0, 0, 1}).square_sums;
        if (!(squares[1] > 0))
            continue;
        s->flatness[s->count] = (ast_sort_entry){sqrt(fmax(squares[0], 0) / squares[1]), s->count};
        s->noise[s->count] = (ast_sort_entry){sqrt(fmax(squares[0], 0) / all.n), s->count};
        s->side[s->count] = (ast_sort_entry){sqrt(12 * sqrt(squares[1] * squares[2]) / all.n), s->count};
        s->count++;
    }
}

bool ast_cloud_noise_cell(const ast_cloud_kernels *kernels, const ast_kdtree *tree, double *cell) {
    ast_nearest_list found = {.wanted = NEIGHBOURS};
    sample *s = NULL;
    *cell = 0;
    if (tree->count < POINTS_LEAST)
        return true;
    bool good = ast_replace_arrays(AST_REQUEST(found.squared, NEIGHBOURS_MOST),
                                   AST_REQUEST(found.slot, NEIGHBOURS_MOST), AST_REQUEST(s, 1));
    if (good) {
        look(kernels, tree, &found, s);
        bool noisy = median(s->flatness, s->count) > ROUND;
        for (found.wanted = 4 * NEIGHBOURS; noisy && *cell == 0 && found.wanted <= NEIGHBOURS_MOST; found.wanted *= 4) {
            look(kernels, tree, &found, s);
            if (median(s->flatness, s->count) <= FLAT)
                *cell = fmax(SIDE * median(s->noise, s->count), median(s->side, s->count) / (2 * REACH + 1));
        }
    }
    ast_free_all(found.squared, found.slot, s);
    return good;
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

typedef struct cell_sum {
    double key;
    ast_scatter scatter;
    double given[3]; /* sum of the given normals */
    double normal[3], curvature;
} cell_sum;

typedef struct grid {
    const ast_cloud_kernels *kernels;
    const float *points, *given;
    double low[3], side;
    double size[3];        /* cells along the axes, with a margin */
    ast_sort_entry *order; /* points by cell */
    size_t count;          /* of points that are there */
    cell_sum *cells;
    size_t cell_count;
} grid;

/* Whole numbers, exact in double; those of a column along z follow each other. */
static double key_of(const grid *g, double x, double y, double z) {
    return (x * g->size[1] + y) * g->size[2] + z;
}

static void place_of(const grid *g, double key, double at[3]) {
    double column = floor(key / g->size[2]);
    at[2] = key - column * g->size[2];
    at[0] = floor(column / g->size[1]);
    at[1] = column - at[0] * g->size[1];
}

/* Cells are larger where there would be too many for exact keys. */
static void sort_points(grid *g, size_t count) {
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int c = 0; c < 3; c++)
        g->low[c] = INFINITY;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < 3 && isfinite(g->points[3 * i] + g->points[3 * i + 1] + g->points[3 * i + 2]); c++) {
            g->low[c] = fmin(g->low[c], g->points[3 * i + c]);
            high[c] = fmax(high[c], g->points[3 * i + c]);
        }
    for (g->side /= 2, g->size[0] = INFINITY; g->size[0] * g->size[1] * g->size[2] > 0x1p52;) {
        g->side *= 2;
        for (int c = 0; c < 3; c++)
            g->size[c] = floor((high[c] - g->low[c]) / g->side) + 1 + 2 * REACH;
    }
    for (size_t i = 0; i < count; i++) {
        const float *p = g->points + 3 * i;
        if (!isfinite(p[0] + p[1] + p[2]))
            continue;
        double at[3];
        for (int c = 0; c < 3; c++)
            at[c] = floor((p[c] - g->low[c]) / g->side) + REACH;
        g->order[g->count++] = (ast_sort_entry){key_of(g, at[0], at[1], at[2]), i};
    }
    ast_rank(g->order, g->count);
}

static void sum_cells(grid *g) {
    for (size_t i = 0; i < g->count; i++) {
        if (i == 0 || g->order[i].key != g->order[i - 1].key)
            g->cells[g->cell_count++] = (cell_sum){.key = g->order[i].key};
        cell_sum *cell = &g->cells[g->cell_count - 1];
        const float *p = g->points + 3 * g->order[i].index, *n = g->given ? g->given + 3 * g->order[i].index : NULL;
        ast_scatter one = {1, {p[0], p[1], p[2]}, {0}};
        ast_scatter_add(&cell->scatter, &one);
        for (int c = 0; n && c < 3 && isfinite(n[0] + n[1] + n[2]); c++)
            cell->given[c] += n[c];
    }
}

/* The first cell with this key or a later one. */
static size_t find_key(const grid *g, double key) {
    size_t low = 0, high = g->cell_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->cells[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void fit_cell(const grid *g, cell_sum *cell) {
    ast_scatter all = {0};
    double at[3], towards[3] = {0};
    place_of(g, cell->key, at);
    for (int i = -REACH; i <= REACH; i++)
        for (int j = -REACH; j <= REACH; j++) {
            double x = at[0] + i, y = at[1] + j, last = key_of(g, x, y, at[2] + REACH);
            for (size_t k = find_key(g, key_of(g, x, y, at[2] - REACH)); k < g->cell_count && g->cells[k].key <= last;
                 k++) {
                ast_scatter_add(&all, &g->cells[k].scatter);
                for (int c = 0; c < 3; c++)
                    towards[c] += g->cells[k].given[c];
            }
        }
    ast_principal_axes axes = ast_scatter_principal_axes(g->kernels, &all, towards);
    const double *squares = axes.square_sums;
    bool flat = all.n >= 3 && squares[1] > 0x1p-40 * squares[2];
    for (int c = 0; c < 3; c++)
        cell->normal[c] = flat ? axes.vectors[0][c] : (double)NAN;
    cell->curvature = flat ? fmax(squares[0], 0) / (squares[0] + squares[1] + squares[2]) : (double)NAN;
}

static void fit_cells(void *data, size_t begin, size_t end) {
    const grid *g = data;
    for (size_t k = begin; k < end; k++)
        fit_cell(g, &g->cells[k]);
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* As the normals of neighbours: towards the viewpoint, or with a first component that is not negative. */
static bool is_flipped(const ast_cloud_options *options, const float *p, const double *normal) {
    double side = 0;
    for (int c = 0; !options->undirected && c < 3; c++)
        side += normal[c] * (options->viewpoint[c] - p[c]);
    for (int c = 0; side == 0 && c < 3; c++)
        side = normal[c];
    return side < 0;
}

static void write_points(const grid *g, const ast_cloud_options *options, float *normals, float *curvature) {
    size_t cell = 0;
    for (size_t i = 0; i < g->count; i++) {
        cell += g->cells[cell].key != g->order[i].key;
        const cell_sum *from = &g->cells[cell];
        size_t row = g->order[i].index;
        double sign = !g->given && is_flipped(options, g->points + 3 * row, from->normal) ? -1 : 1;
        for (size_t c = 0; c < 3; c++)
            normals[3 * row + c] = (float)(sign * from->normal[c]) + 0.0f; /* no negative zeros */
        if (curvature)
            curvature[row] = (float)from->curvature;
    }
}

bool ast_cloud_smooth_normals(ast_pool *pool, const ast_cloud_kernels *kernels, const float *points, size_t count,
                              double cell, const float *given, const ast_cloud_options *options, float *normals,
                              float *curvature) {
    grid g = {.kernels = kernels, .points = points, .given = given, .side = cell};
    for (size_t i = 0; i < 3 * count; i++)
        normals[i] = NAN;
    for (size_t i = 0; curvature && i < count; i++)
        curvature[i] = NAN;
    bool good = ast_replace_arrays(AST_REQUEST(g.order, count), AST_REQUEST(g.cells, count));
    if (good) {
        g.size[1] = g.size[2] = 1;
        sort_points(&g, count);
        sum_cells(&g);
        ast_pool_ranges(pool, g.cell_count, BLOCK, fit_cells, &g);
        write_points(&g, options, normals, curvature);
    }
    ast_free_all(g.order, g.cells);
    return good;
}
