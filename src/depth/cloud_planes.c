/* SPDX-License-Identifier: MIT
 *
 * The planes of a cloud, from regions of patches to results: each point chooses the nearest of the planes around it,
 * then the planes are fitted to their points, measured and sorted by area. */
#include "cloud_planes.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

/* Cosine of the largest angle between the normals of a point and of its plane, 60 degrees: the normals at an edge are
 * between those of both sides. */
#define MIN_COSINE 0.5

#define BLOCK_LEAVES 64
/* Quantile of the area per point over the patches of a plane that sets the size of its outline cells. */
#define SPARSE 0.9
#define LEAST_AREA 1e-3 /* of all planes */
#define CANDIDATES 24

/* A plane before it has an id. */
typedef struct piece {
    ast_plane_info info;
    ast_polygons outline;
    ast_plane_grid grid;
    size_t first, count;             /* its points in `order` */
    size_t first_patch, patch_count; /* its patches in `patches` */
    bool failed;
} piece;

typedef struct pieces {
    ast_cloud_planes_job *job;
    piece *list; /* one for each region */
    size_t count;
    int32_t *order;   /* points, by piece */
    int32_t *patches; /* patches, by piece */
    size_t *rank;     /* pieces that are kept, from the largest on */
    size_t kept;
} pieces;

static ast_status find_planes(ast_fault *fault, ast_cloud_planes_job *job, ast_plane_table *table);

ast_status ast_planes_of_cloud(ast_fault *fault, ast_cloud_planes_job *job, ast_plane_table *table) {
    ast_status status = find_planes(fault, job, table);
    ast_free_all(job->patches, job->first_patch, job->patch_in_leaf, job->regions);
    if (ast_pool_cancelled(job->pool)) /* a cancelled build may have left the tree incomplete */
        ast_kdtree_free(job->tree);
    return status;
}

static void assign_points(void *data, size_t block, int worker);
static bool open_pieces(pieces *p, ast_cloud_planes_job *job);
static void measure_piece(void *data, size_t block, int worker);
static bool keep_largest(pieces *p);
static bool fill_table(const pieces *p, ast_plane_table *table);
static void close_pieces(pieces *p);

static ast_status find_planes(ast_fault *fault, ast_cloud_planes_job *job, ast_plane_table *table) {
    if (!ast_cloud_make_patches(job) || !ast_cloud_grow_regions(job))
        return ast_fail_memory(fault);
    for (size_t i = 0; i < job->count; i++)
        job->plane_of[i] = -1;
    if (!ast_pool_try(job->pool, (ast_kdtree_leaves(job->tree) + BLOCK_LEAVES - 1) / BLOCK_LEAVES, assign_points, job))
        return AST_OK; /* cancelled */
    pieces p;
    bool good = open_pieces(&p, job);
    if (good)
        ast_pool_try(job->pool, p.count, measure_piece, &p);
    for (size_t k = 0; k < p.count && good; k++)
        good = !p.list[k].failed;
    good = good && keep_largest(&p) && fill_table(&p, table);
    close_pieces(&p);
    return good ? AST_OK : ast_fail_memory(fault);
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static void add_candidate(int32_t *list, size_t *count, int32_t region) {
    for (size_t i = 0; i < *count; i++)
        if (list[i] == region)
            return;
    if (region >= 0 && *count < CANDIDATES)
        list[(*count)++] = region;
}

/* The planes of the patches of a leaf and of those around them. */
static size_t find_candidates(const ast_cloud_planes_job *job, size_t leaf, int32_t *list) {
    size_t count = 0;
    for (size_t k = job->first_patch[leaf]; k < job->first_patch[leaf + 1]; k++)
        add_candidate(list, &count, job->patches[k].region);
    for (size_t k = job->first_patch[leaf]; k < job->first_patch[leaf + 1]; k++)
        for (int32_t l = 0; l < job->patches[k].neighbour_count; l++)
            add_candidate(list, &count, job->patches[job->patches[k].neighbours[l]].region);
    return count;
}

static int32_t choose_plane(const ast_cloud_planes_job *job, size_t row, const double *p, const int32_t *list,
                            size_t count) {
    const float *n = job->normals + 3 * row;
    double normal[3] = {n[0], n[1], n[2]}, length = sqrt(ast_dot3(normal, normal)), least = INFINITY;
    int32_t found = -1;
    for (size_t i = 0; i < count; i++) {
        const ast_plane_equation *flat = &job->regions[list[i]].plane;
        double away = fabs(ast_plane_distance(flat, p)), facing = ast_dot3(normal, flat->normal);
        facing = job->undirected ? fabs(facing) : facing;
        if (away < least && away <= job->regions[list[i]].inlier_distance && facing >= MIN_COSINE * length) {
            least = away;
            found = list[i];
        }
    }
    return found;
}

static void assign_points(void *data, size_t block, int worker) {
    const ast_cloud_planes_job *job = data;
    size_t leaves = ast_kdtree_leaves(job->tree);
    (void)worker;
    for (size_t leaf = block * BLOCK_LEAVES; leaf < (block + 1) * BLOCK_LEAVES && leaf < leaves; leaf++) {
        const ast_kdleaf *from = &job->tree->leaves[leaf];
        int32_t list[CANDIDATES];
        ast_cloud_prefetch_leaf(job, leaf + AST_PREFETCH_LEAVES);
        size_t count = find_candidates(job, leaf, list);
        for (size_t s = 0; count > 0 && s < ast_kdtree_leaf_size(job->tree, leaf); s++) {
            double p[3] = {from->x[s], from->y[s], from->z[s]};
            size_t row = (size_t)from->index[s];
            job->plane_of[row] = choose_plane(job, row, p, list, count);
        }
    }
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* Counting sort of the points by piece, from job->plane_of (-1: none). Fills first and count of each piece. */
static void sort_points(pieces *p) {
    const ast_cloud_planes_job *job = p->job;
    size_t next = 0;
    for (size_t i = 0; i < job->count; i++)
        if (job->plane_of[i] >= 0)
            p->list[job->plane_of[i]].count++;
    for (size_t k = 0; k < p->count; k++) {
        p->list[k].first = next;
        next += p->list[k].count;
        p->list[k].count = 0;
    }
    for (size_t i = 0; i < job->count; i++)
        if (job->plane_of[i] >= 0) {
            piece *to = &p->list[job->plane_of[i]];
            p->order[to->first + to->count++] = (int32_t)i;
        }
}

static void sort_patches(pieces *p) {
    const ast_cloud_planes_job *job = p->job;
    size_t next = 0;
    for (size_t i = 0; i < job->patch_count; i++)
        if (job->patches[i].region >= 0)
            p->list[job->patches[i].region].patch_count++;
    for (size_t k = 0; k < p->count; k++) {
        p->list[k].first_patch = next;
        next += p->list[k].patch_count;
        p->list[k].patch_count = 0;
    }
    for (size_t i = 0; i < job->patch_count; i++)
        if (job->patches[i].region >= 0) {
            piece *to = &p->list[job->patches[i].region];
            p->patches[to->first_patch + to->patch_count++] = (int32_t)i;
        }
}

static bool open_pieces(pieces *p, ast_cloud_planes_job *job) {
    *p = (pieces){.job = job,
                  .list = ast_allocate_zero(job->region_count, sizeof *p->list),
                  .count = job->region_count,
                  .order = ast_allocate(job->count, sizeof *p->order),
                  .patches = ast_allocate(job->patch_count, sizeof *p->patches),
                  .rank = ast_allocate(job->region_count, sizeof *p->rank)};
    if (!p->list || !p->order || !p->patches || !p->rank)
        return false;
    sort_points(p);
    sort_patches(p);
    return true;
}

static void close_pieces(pieces *p) {
    for (size_t k = 0; p->list && k < p->count; k++)
        ast_polygons_free(&p->list[k].outline);
    ast_free_all(p->list, p->order, p->patches, p->rank);
}

/* ---- Measures of a piece ----------------------------------------------------------------------------------------- */

/* Sums are taken about the mean of the region, to avoid cancellation. */
static ast_scatter sum_points(const pieces *p, const piece *from, const double *middle) {
    double sum[3] = {0}, square[6] = {0}, n = (double)from->count;
    ast_scatter scatter = {.n = n};
    for (size_t i = 0; i < from->count; i++) {
        const float *at = p->job->points + 3 * (size_t)p->order[from->first + i];
        double d[3] = {at[0] - middle[0], at[1] - middle[1], at[2] - middle[2]};
        for (int a = 0, e = 0; a < 3; a++) {
            sum[a] += d[a];
            for (int b = a; b < 3; b++, e++)
                square[e] += d[a] * d[b];
        }
    }
    for (int a = 0, e = 0; a < 3; a++) {
        scatter.mean[a] = middle[a] + sum[a] / n;
        for (int b = a; b < 3; b++, e++)
            scatter.products[e] = square[e] - sum[a] * sum[b] / n;
    }
    return scatter;
}

static int compare_shares(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Area per point where the points of a piece are sparse. */
static bool find_share(const pieces *p, const piece *from, double *share) {
    double *shares = ast_allocate(from->patch_count, sizeof *shares);
    if (!shares)
        return false;
    for (size_t i = 0; i < from->patch_count; i++)
        shares[i] = p->job->patches[p->patches[from->first_patch + i]].area_per_point;
    qsort(shares, from->patch_count, sizeof *shares, compare_shares);
    *share = from->patch_count ? shares[(size_t)(SPARSE * (double)(from->patch_count - 1))] : 0;
    free(shares);
    return true;
}

typedef struct labelled {
    int32_t label;
    double n;
} labelled;

static int compare_labels(const void *a, const void *b) {
    const labelled *x = a, *y = b;
    return (x->label > y->label) - (x->label < y->label);
}

/* The label of most of its points, by patches; the lowest among equals. */
static bool find_direction(const pieces *p, piece *to) {
    labelled *all = ast_allocate(to->patch_count, sizeof *all);
    double most = 0, sum = 0;
    if (!all)
        return false;
    for (size_t i = 0; i < to->patch_count; i++) {
        const ast_cloud_patch *patch = &p->job->patches[p->patches[to->first_patch + i]];
        all[i] = (labelled){patch->label, patch->scatter.n};
    }
    qsort(all, to->patch_count, sizeof *all, compare_labels);
    for (size_t i = 0; i < to->patch_count; i++) {
        sum = i > 0 && all[i].label == all[i - 1].label ? sum + all[i].n : all[i].n;
        if (sum > most) {
            most = sum;
            to->info.direction = all[i].label;
        }
    }
    free(all);
    return true;
}

/* The first axis of the grid is the widest; the two and the normal make a left-handed frame. */
static void set_grid(piece *to, const ast_principal_axes *axes) {
    const double *n = axes->vectors[0], *a = axes->vectors[2];
    for (int c = 0; c < 3; c++) {
        to->grid.origin[c] = to->info.centroid[c];
        to->grid.axes[0][c] = a[c];
        to->grid.axes[1][c] = a[(c + 1) % 3] * n[(c + 2) % 3] - a[(c + 2) % 3] * n[(c + 1) % 3];
    }
}

static bool measure_extent(const pieces *p, piece *to) {
    double share, (*at)[2] = ast_allocate(to->count, sizeof *at);
    if (!at || !find_share(p, to, &share)) {
        free(at);
        return false;
    }
    for (size_t i = 0; i < to->count; i++) {
        const float *point = p->job->points + 3 * (size_t)p->order[to->first + i];
        double d[3] = {point[0] - to->info.centroid[0], point[1] - to->info.centroid[1],
                       point[2] - to->info.centroid[2]};
        at[i][0] = ast_dot3(d, to->grid.axes[0]);
        at[i][1] = ast_dot3(d, to->grid.axes[1]);
    }
    bool good = ast_cloud_extent(at, to->count, share, &to->outline, &to->grid, &to->info.area);
    free(at);
    return good;
}

static void measure_piece(void *data, size_t block, int worker) {
    pieces *p = data;
    piece *to = &p->list[block];
    const ast_region *region = &p->job->regions[block];
    (void)worker;
    if (to->count < AST_PLANE_MIN_POINTS)
        return;
    ast_scatter scatter = sum_points(p, to, region->scatter.mean);
    ast_principal_axes axes = ast_scatter_principal_axes(p->job->kernels, &scatter, region->normal_sum);
    to->info = (ast_plane_info){.direction = -1, .count = to->count, .rms = sqrt(axes.square_sums[0] / scatter.n)};
    for (int c = 0; c < 3; c++) {
        to->info.normal[c] = axes.vectors[0][c] + 0.0; /* no negative zeros */
        to->info.centroid[c] = scatter.mean[c];
    }
    to->info.offset = ast_dot3(to->info.normal, to->info.centroid);
    set_grid(to, &axes);
    to->failed = !measure_extent(p, to) || !find_direction(p, to);
}

/* ---- The result -------------------------------------------------------------------------------------------------- */

typedef struct ranked {
    double area;
    size_t piece;
} ranked;

static int compare_areas(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->area != y->area ? (x->area < y->area) - (x->area > y->area)
                              : (x->piece > y->piece) - (x->piece < y->piece);
}

/* Drops pieces below the area threshold and numbers the rest by decreasing area. */
static bool keep_largest(pieces *p) {
    ranked *all = ast_allocate(p->count, sizeof *all);
    double sum = 0, least = p->job->area;
    size_t measured = 0;
    for (size_t k = 0; all && k < p->count; k++)
        if (p->list[k].info.area > 0) {
            all[measured++] = (ranked){p->list[k].info.area, k};
            sum += p->list[k].info.area;
        }
    least = least < 0 ? LEAST_AREA * sum : least;
    if (all)
        qsort(all, measured, sizeof *all, compare_areas);
    for (size_t i = 0; all && i < measured && all[i].area >= least; i++)
        p->rank[p->kept++] = all[i].piece;
    free(all);
    return all != NULL;
}

static bool fill_table(const pieces *p, ast_plane_table *table) {
    bool good = true;
    ast_plane_table_clear(table);
    for (size_t k = 0; k < p->count; k++)
        p->list[k].info.id = -1;
    for (size_t i = 0; i < p->kept && good; i++) {
        piece *from = &p->list[p->rank[i]];
        from->info.id = (int32_t)i;
        good = ast_plane_table_add_outline(table, &from->info, &from->outline, &from->grid);
    }
    ast_plane_table_finish(table);
    for (size_t i = 0; i < p->job->count; i++)
        if (p->job->plane_of[i] >= 0)
            p->job->plane_of[i] = p->list[p->job->plane_of[i]].info.id;
    return good;
}
