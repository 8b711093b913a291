/* SPDX-License-Identifier: MIT
 *
 * The planes of a cloud, from regions of patches to results: each point chooses the nearest of the planes around it,
 * then the planes are fitted to their points, measured and sorted by area. */
#include "cloud_planes.h"

#include "label_tally.h"
#include "memory.h"

#include <math.h>

/* Cosine of the largest angle between the normals of a point and of its plane, 60 degrees: the normals at an edge are
 * between those of both sides. */
#define MIN_COSINE 0.5

#define BLOCK_LEAVES 64
/* Quantile of the area per point over the patches of a plane that sets the size of its outline cells. */
#define SPARSE 0.9
#define LEAST_AREA 1e-3 /* of all planes */
#define CANDIDATES 24

/* What a piece is made of. */
enum { POINTS, PATCHES, KINDS };

/* A plane before it has an id. */
typedef struct piece {
    ast_plane_info info;
    ast_polygons outline;
    ast_plane_grid grid;
    size_t first[KINDS], count[KINDS]; /* its points and patches in pieces.members */
    bool failed;
} piece;

typedef struct pieces {
    ast_cloud_planes_job *job;
    piece *list; /* one for each region */
    size_t count;
    int32_t *members[KINDS]; /* points and patches, by piece */
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
static bool fill_table(pieces *p, ast_plane_table *table);

static ast_status find_planes(ast_fault *fault, ast_cloud_planes_job *job, ast_plane_table *table) {
    if (!ast_cloud_make_patches(job) || !ast_cloud_grow_regions(job))
        return ast_fail_memory(fault);
    for (size_t i = 0; i < job->count; i++)
        job->plane_of[i] = -1;
    if (!ast_pool_run_cancellable(job->pool, (ast_kdtree_leaves(job->tree) + BLOCK_LEAVES - 1) / BLOCK_LEAVES,
                                  assign_points, job))
        return AST_OK; /* cancelled */
    pieces p;
    bool good = open_pieces(&p, job);
    if (good)
        ast_pool_run_cancellable(job->pool, p.count, measure_piece, &p);
    for (size_t k = 0; k < p.count && good; k++)
        good = !p.list[k].failed;
    good = good && fill_table(&p, table) && ast_plane_table_sort(table, job->plane_of, job->count);
    for (size_t k = 0; p.list && k < p.count; k++)
        ast_polygons_free(&p.list[k].outline);
    ast_free_all(p.list, p.members[POINTS], p.members[PATCHES]);
    return good ? AST_OK : ast_fail_memory(fault);
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static void add_candidate(int32_t *list, size_t *count, int32_t region) {
    if (region >= 0 && *count < CANDIDATES)
        ast_add_once(list, count, region);
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
        const ast_plane_equation *plane = &job->regions[list[i]].plane;
        double away = fabs(ast_plane_distance(plane, p));
        double facing = ast_cosine_between(normal, plane->normal, job->undirected);
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

static int32_t piece_of(const ast_cloud_planes_job *job, int kind, size_t i) {
    return kind == POINTS ? job->plane_of[i] : job->patches[i].region;
}

/* Counting sort of n points or patches by piece. */
static void sort_members(pieces *p, int kind, size_t n) {
    size_t next = 0;
    for (size_t i = 0; i < n; i++)
        if (piece_of(p->job, kind, i) >= 0)
            p->list[piece_of(p->job, kind, i)].count[kind]++;
    for (size_t k = 0; k < p->count; k++) {
        p->list[k].first[kind] = next;
        next += p->list[k].count[kind];
        p->list[k].count[kind] = 0;
    }
    for (size_t i = 0; i < n; i++)
        if (piece_of(p->job, kind, i) >= 0) {
            piece *to = &p->list[piece_of(p->job, kind, i)];
            p->members[kind][to->first[kind] + to->count[kind]++] = (int32_t)i;
        }
}

static bool open_pieces(pieces *p, ast_cloud_planes_job *job) {
    *p =
        (pieces){.job = job, .list = ast_allocate_zero(job->region_count, sizeof *p->list), .count = job->region_count};
    if (!p->list || !ast_replace_arrays(AST_REQUEST(p->members[POINTS], job->count),
                                        AST_REQUEST(p->members[PATCHES], job->patch_count)))
        return false;
    sort_members(p, POINTS, job->count);
    sort_members(p, PATCHES, job->patch_count);
    return true;
}

static const float *point_of(const pieces *p, const piece *from, size_t i) {
    return p->job->points + 3 * (size_t)p->members[POINTS][from->first[POINTS] + i];
}

/* ---- Measures of a piece ----------------------------------------------------------------------------------------- */

/* Sums are taken about the mean of the region, to avoid cancellation. */
static ast_scatter sum_points(const pieces *p, const piece *from, const double *middle) {
    double sum[3] = {0}, square[6] = {0}, n = (double)from->count[POINTS];
    ast_scatter scatter = {.n = n};
    for (size_t i = 0; i < from->count[POINTS]; i++) {
        const float *at = point_of(p, from, i);
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

static const ast_cloud_patch *patch_of(const pieces *p, const piece *from, size_t i) {
    return &p->job->patches[p->members[PATCHES][from->first[PATCHES] + i]];
}

/* Area per point where the points of a piece are sparse; sorts its patches by area per point in `order`. */
static double find_area_per_point(const pieces *p, const piece *from, ast_sort_entry *order) {
    size_t n = from->count[PATCHES];
    for (size_t i = 0; i < n; i++)
        order[i] = (ast_sort_entry){patch_of(p, from, i)->area_per_point, i};
    ast_rank(order, n);
    return n ? order[(size_t)(SPARSE * (double)(n - 1))].key : 0;
}

/* The label of most of its points. */
static int32_t find_direction(const pieces *p, const piece *from) {
    ast_label_tally tally = {0};
    for (size_t i = 0; p->job->labels && i < from->count[POINTS]; i++)
        ast_tally_label(&tally, p->job->labels[p->members[POINTS][from->first[POINTS] + i]]);
    return ast_most_frequent_label(&tally);
}

static bool measure_extent(const pieces *p, piece *to) {
    double(*at)[2] = NULL;
    ast_sort_entry *order = NULL;
    if (!ast_replace_arrays(AST_REQUEST(at, to->count[POINTS]), AST_REQUEST(order, to->count[PATCHES])))
        return false;
    for (size_t i = 0; i < to->count[POINTS]; i++) {
        const float *point = point_of(p, to, i);
        double d[3] = {point[0] - to->info.centroid[0], point[1] - to->info.centroid[1],
                       point[2] - to->info.centroid[2]};
        at[i][0] = ast_dot3(d, to->grid.axes[0]);
        at[i][1] = ast_dot3(d, to->grid.axes[1]);
    }
    to->info.direction = find_direction(p, to);
    bool good = ast_cloud_extent(at, to->count[POINTS], find_area_per_point(p, to, order), &to->outline, &to->grid,
                                 &to->info.area);
    ast_free_all(at, order);
    return good;
}

static void measure_piece(void *data, size_t block, int worker) {
    pieces *p = data;
    piece *to = &p->list[block];
    const ast_region *region = &p->job->regions[block];
    (void)worker;
    if (to->count[POINTS] < AST_PLANE_MIN_POINTS)
        return;
    ast_scatter scatter = sum_points(p, to, region->scatter.mean);
    ast_principal_axes axes = ast_scatter_principal_axes(p->job->kernels, &scatter, region->normal_sum);
    to->info = (ast_plane_info){.count = to->count[POINTS], .rms = sqrt(axes.square_sums[0] / scatter.n)};
    for (int c = 0; c < 3; c++) {
        to->info.normal[c] = axes.vectors[0][c] + 0.0; /* no negative zeros */
        to->info.centroid[c] = scatter.mean[c];
    }
    to->info.offset = ast_dot3(to->info.normal, to->info.centroid);
    to->grid = ast_plane_grid_of(to->info.centroid, axes.vectors[2], axes.vectors[0]); /* the widest axis first */
    to->failed = !measure_extent(p, to);
}

/* ---- The result -------------------------------------------------------------------------------------------------- */

/* Leaves out pieces below the smallest area. */
static bool fill_table(pieces *p, ast_plane_table *table) {
    double sum = 0, least = p->job->area;
    bool good = true;
    for (size_t k = 0; k < p->count; k++)
        sum += p->list[k].info.area;
    least = least < 0 ? LEAST_AREA * sum : least;
    ast_plane_table_clear(table);
    for (size_t k = 0; k < p->count && good; k++) {
        piece *from = &p->list[k];
        from->info.id = -1;
        if (from->info.area > 0 && from->info.area >= least) {
            from->info.id = (int32_t)table->count;
            good = ast_plane_table_add_outline(table, &from->info, &from->outline, &from->grid);
        }
    }
    ast_plane_table_finish(table);
    for (size_t i = 0; i < p->job->count; i++)
        if (p->job->plane_of[i] >= 0)
            p->job->plane_of[i] = p->list[p->job->plane_of[i]].info.id;
    return good;
}
