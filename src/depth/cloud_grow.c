/* SPDX-License-Identifier: MIT
 *
 * Grows regions of patches. Region growing: the seed is the flattest patch without a region. Neighbouring patches join
 * if their normal agrees with the region's and they lie on its plane. The plane is refitted as the region grows. A
 * region is grown twice: first from the plane of its seed, then again from the plane found by the first pass. Regions
 * that touch and lie on one plane join at the end.
 *
 * This takes a few milliseconds per 100,000 points and runs on one thread, so that its order is that of the patches. */
#include "cloud_planes.h"

#include "memory.h"

#include <assert.h>
#include <math.h>

#define SEED_LEAST 8 /* points of a patch that starts a region */
/* With this many points the normal comes from the least-squares plane, with fewer from the mean of the normals. */
#define FIT_MIN_POINTS 64
#define PARALLEL_COSINE 0.9986 /* cosine of 3 degrees: neighbouring regions of one bent plane */
#define BENT 0.01              /* allowed curvature, as a share of the size of the plane */
#define MOST_BENT 3.0          /* standard deviations: how far a point may be from a bent plane */
#define FIT_AGAIN 1.25         /* growth of a region after which its plane is fitted again */

typedef struct growth {
    ast_cloud_planes_job *job;
    ast_sort_entry *seeds; /* patches that may start a region, the flattest first */
    int32_t *queue;        /* patches of the region that grows */
    size_t seed_count;
    double limit; /* mean square of the distances of a patch from its region's plane */
} growth;

static bool open_growth(growth *g, ast_cloud_planes_job *job);
static size_t grow_region(growth *g, int32_t seed, ast_region *region, int32_t number);
static void unassign(growth *g, size_t members);
static void join_regions(growth *g);

bool ast_cloud_grow_regions(ast_cloud_planes_job *job) {
    growth g;
    bool good = open_growth(&g, job);
    for (size_t i = 0; good && i < g.seed_count && !ast_pool_poll(job->pool); i++) {
        int32_t seed = (int32_t)g.seeds[i].index, number = (int32_t)job->region_count;
        if (job->patches[seed].region >= 0)
            continue;
        good = ast_reserve(&job->regions, &job->region_room, job->region_count, job->region_count + 1,
                           sizeof *job->regions);
        if (!good)
            break;
        ast_region *region = &job->regions[number];
        *region = (ast_region){.merged_into = number};
        size_t members = grow_region(&g, seed, region, number);
        if (members > 1) { /* again, with the plane that it found */
            unassign(&g, members);
            members = grow_region(&g, seed, region, number);
        }
        if (region->scatter.n >= AST_PLANE_MIN_POINTS)
            job->region_count++;
        else
            unassign(&g, members);
    }
    if (good)
        join_regions(&g);
    ast_free_all(g.seeds, g.queue);
    return good;
}

/* ---- Seeds ------------------------------------------------------------------------------------------------------- */

static bool open_growth(growth *g, ast_cloud_planes_job *job) {
    *g = (growth){.job = job, .limit = job->distance * job->distance / 2};
    if (!ast_replace_arrays(AST_REQUEST(g->seeds, job->patch_count), AST_REQUEST(g->queue, job->patch_count)))
        return false;
    for (size_t k = 0; k < job->patch_count; k++)
        if (job->patches[k].scatter.n >= SEED_LEAST && job->patches[k].mean_square <= g->limit)
            g->seeds[g->seed_count++] = (ast_sort_entry){job->patches[k].mean_square, k};
    ast_rank(g->seeds, g->seed_count);
    return true;
}

/* ---- A region ---------------------------------------------------------------------------------------------------- */

static void fit(const growth *g, ast_region *region) {
    ast_plane_equation *plane = &region->plane;
    double length = sqrt(ast_dot3(region->normal_sum, region->normal_sum));
    if (region->scatter.n >= FIT_MIN_POINTS || length == 0) {
        ast_principal_axes axes = ast_scatter_principal_axes(g->job->kernels, &region->scatter, region->normal_sum);
        for (int c = 0; c < 3; c++)
            plane->normal[c] = axes.vectors[0][c];
    } else {
        for (int c = 0; c < 3; c++)
            plane->normal[c] = region->normal_sum[c] / length;
    }
    plane->offset = ast_dot3(plane->normal, region->scatter.mean);
}

static bool fits(const growth *g, const ast_region *region, const ast_cloud_patch *patch) {
    return patch->region < 0 &&
           ast_cosine_between(patch->normal, region->plane.normal, g->job->undirected) >= AST_PATCH_MIN_COSINE &&
           ast_scatter_mean_square(&patch->scatter, &region->plane) <= g->limit;
}

static void add_normals(const growth *g, ast_region *region, const double *normal, double weight) {
    if (g->job->undirected && ast_dot3(region->normal_sum, normal) < 0)
        weight = -weight;
    for (int c = 0; c < 3; c++)
        region->normal_sum[c] += weight * normal[c];
}

static void add_patch(growth *g, ast_region *region, int32_t number, int32_t patch, size_t *members) {
    ast_cloud_patch *p = &g->job->patches[patch];
    p->region = number;
    ast_scatter_add(&region->scatter, &p->scatter);
    add_normals(g, region, p->normal, p->scatter.n);
    region->area += p->area_per_point * p->scatter.n;
    g->queue[(*members)++] = patch;
}

/* Returns the number of patches; the queue lists them. If the region already has a plane, growing starts from that
 * plane. */
static size_t grow_region(growth *g, int32_t seed, ast_region *region, int32_t number) {
    size_t members = 0;
    double fitted = region->scatter.n;
    region->scatter = (ast_scatter){0};
    region->area = 0;
    for (int c = 0; c < 3; c++)
        region->normal_sum[c] = 0;
    add_patch(g, region, number, seed, &members);
    if (fitted == 0) {
        fit(g, region);
        fitted = region->scatter.n;
    }
    for (size_t next = 0; next < members; next++) {
        const ast_cloud_patch *from = &g->job->patches[g->queue[next]];
        for (int32_t l = 0; l < from->neighbour_count; l++)
            if (fits(g, region, &g->job->patches[from->neighbours[l]]))
                add_patch(g, region, number, from->neighbours[l], &members);
        if (region->scatter.n >= FIT_AGAIN * fitted) {
            fit(g, region);
            fitted = region->scatter.n;
        }
    }
    fit(g, region);
    return members;
}

static void unassign(growth *g, size_t members) {
    for (size_t i = 0; i < members; i++)
        g->job->patches[g->queue[i]].region = -1;
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

static int32_t root_of(ast_region *regions, int32_t k) {
    while (regions[k].merged_into != k)
        k = regions[k].merged_into = regions[regions[k].merged_into].merged_into;
    return k;
}

/* Largest mean squared residual of two regions on their common plane: the noise limit. If the two are nearly parallel
 * and continuous at the neighbouring patches p and q, a small share of their size is allowed too. Large walls are bent,
 * and so are the measurements of scanners. */
static double limit_of(const growth *g, const ast_region *a, const ast_region *b, const ast_cloud_patch *p,
                       const ast_cloud_patch *q) {
    double noise = g->limit / 2, bent = BENT * BENT * fmin(a->area, b->area);
    bool smooth = ast_cosine_between(a->plane.normal, b->plane.normal, g->job->undirected) >= PARALLEL_COSINE &&
                  fabs(ast_plane_distance(&a->plane, q->scatter.mean)) <= g->job->distance &&
                  fabs(ast_plane_distance(&b->plane, p->scatter.mean)) <= g->job->distance;
    return smooth ? fmax(noise, bent) : noise;
}

/* Joins regions a < b if the points of each lie on their common plane. p is a patch of a, q its neighbour in b. */
static bool join(growth *g, int32_t a, int32_t b, const ast_cloud_patch *p, const ast_cloud_patch *q) {
    assert(a < b && a >= 0);
    ast_region *regions = g->job->regions, both = regions[a];
    if (ast_cosine_between(regions[a].plane.normal, regions[b].plane.normal, g->job->undirected) < AST_PATCH_MIN_COSINE)
        return false;
    double limit = limit_of(g, &regions[a], &regions[b], p, q);
    const ast_region *small = regions[a].scatter.n < regions[b].scatter.n ? &regions[a] : &regions[b];
    const ast_region *large = small == &regions[a] ? &regions[b] : &regions[a];
    if (fabs(ast_plane_distance(&large->plane, small->scatter.mean)) > 4 * sqrt(limit))
        return false; /* their common plane cannot pass that close to the smaller region */
    ast_scatter_add(&both.scatter, &regions[b].scatter);
    add_normals(g, &both, regions[b].normal_sum, 1);
    both.area += regions[b].area;
    fit(g, &both);
    if (ast_scatter_mean_square(&regions[a].scatter, &both.plane) > limit ||
        ast_scatter_mean_square(&regions[b].scatter, &both.plane) > limit)
        return false;
    regions[a] = both;
    regions[b].merged_into = a;
    return true;
}

/* Tries all neighbouring pairs in the order of the patches, and repeats until no pair joins. */
static void join_regions(growth *g) {
    ast_cloud_planes_job *job = g->job;
    for (bool joined = true; joined && !ast_pool_poll(job->pool);) {
        joined = false;
        for (size_t k = 0; k < job->patch_count; k++) {
            const ast_cloud_patch *patch = &job->patches[k];
            for (int32_t l = 0; patch->region >= 0 && l < patch->neighbour_count; l++) {
                const ast_cloud_patch *other = &job->patches[patch->neighbours[l]];
                if (other->region < 0 || other->region == patch->region)
                    continue;
                int32_t a = root_of(job->regions, patch->region), b = root_of(job->regions, other->region);
                if (a != b)
                    joined |= a < b ? join(g, a, b, patch, other) : join(g, b, a, other, patch);
            }
        }
    }
    for (size_t k = 0; k < job->region_count; k++) {
        double square = ast_scatter_mean_square(&job->regions[k].scatter, &job->regions[k].plane);
        job->regions[k].inlier_distance = fmax(job->distance, MOST_BENT * sqrt(square));
    }
    for (size_t k = 0; k < job->patch_count; k++)
        if (job->patches[k].region >= 0)
            job->patches[k].region = root_of(job->regions, job->patches[k].region);
}
