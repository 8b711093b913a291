/* SPDX-License-Identifier: MIT
 *
 * Planes of clouds and meshes. A cloud has too many points to grow regions point by point: the points of a leaf of the
 * k-d tree that face the same way are a patch of 4 to 16 neighbours, and regions grow from patch to patch. Afterwards
 * each point chooses among the planes around it. Labels only name the directions of planes. */
#pragma once

#include "fault.h"
#include "kdtree.h"
#include "plane_table.h"
#include "pool.h"

/* Cosine of the largest angle between the normals of a patch and of its region: 25 degrees. */
#define AST_PATCH_MIN_COSINE 0.9

enum {
    AST_PREFETCH_LEAVES = 4,       /* how many leaves ahead the data is prefetched */
    AST_PATCH_MIN_POINTS = 4,      /* fewest points of a patch */
    AST_PATCH_MAX_NEIGHBOURS = 32, /* neighbours of a patch at most */
    AST_PLANE_MIN_POINTS = 32      /* fewest points of a plane */
};

/* Points of a leaf that face the same way. */
typedef struct ast_cloud_patch {
    ast_scatter scatter;
    double normal[3];                             /* mean of the points' normals, of length 1 */
    double mean_square;                           /* mean squared residual of its own least-squares plane */
    double area_per_point;                        /* of the patch: its area divided by its points */
    double link_distance;                         /* how far away its neighbours may be */
    float low[3], high[3];                        /* box */
    int32_t region;                               /* -1 for none */
    int32_t neighbours[AST_PATCH_MAX_NEIGHBOURS]; /* patches around it */
    int32_t neighbour_count;
} ast_cloud_patch;

/* Patches on one plane. */
typedef struct ast_region {
    ast_scatter scatter;
    ast_plane_equation plane;
    double normal_sum[3];   /* of the normals of its patches, weighted */
    double area;            /* of its patches, about */
    double inlier_distance; /* how far a point may be from the plane */
    int32_t merged_into;    /* the region it was merged into; its own number if it was not merged */
} ast_region;

typedef struct ast_cloud_planes_job {
    ast_pool *pool;
    const ast_cloud_kernels *kernels;
    const float *points, *normals;
    const int32_t *labels; /* NULL: none */
    size_t count;
    double distance;  /* the option; find_distance replaces 0 by the distance it measures */
    double area;      /* option */
    bool undirected;  /* option: the sign of a normal has no meaning */
    ast_kdtree *tree; /* k-d tree of the points; rebuilt if it belongs to other points */
    ast_cloud_patch *patches;
    size_t patch_count;
    size_t *first_patch;   /* [leaves + 1] the first patch of each leaf */
    int8_t *patch_in_leaf; /* [leaves * AST_LEAF] the patch of each slot among those of its leaf, -1 for none */
    ast_region *regions;
    size_t region_count, region_room;
    int32_t *plane_of; /* (count) */
} ast_cloud_planes_job;

/* Prefetches the normals of the points of a leaf: points that are close in space are far apart in memory. */
static inline void ast_cloud_prefetch_leaf(const ast_cloud_planes_job *job, size_t leaf) {
    if (leaf >= ast_kdtree_leaves(job->tree))
        return;
    for (size_t s = 0; s < ast_kdtree_leaf_size(job->tree, leaf); s++) {
        size_t row = (size_t)job->tree->leaves[leaf].index[s];
        __builtin_prefetch(job->normals + 3 * row);
    }
}

/* cloud_patches.c: the patches, their neighbours, and the distance where it is not given. False if memory runs out. */
bool ast_cloud_make_patches(ast_cloud_planes_job *job);

/* cloud_grow.c: the regions. False if memory runs out; a cancelled pool ends it early. */
bool ast_cloud_grow_regions(ast_cloud_planes_job *job);

/* cloud_extent.c: area and outline of n points on a plane. at: (n, 2) coordinates along grid->axes from grid->origin.
 * area_per_point: where the points are sparse. Moves grid->origin to the first cell and sets grid->cell. False if
 * memory runs out. */
bool ast_cloud_extent(double (*at)[2], size_t n, double area_per_point, ast_polygons *outline, ast_plane_grid *grid,
                      double *area);

/* The planes of a cloud (cloud_planes.c) and of a mesh (mesh_planes.c). The caller has checked the arguments. plane_of
 * must not be NULL. distance and area have the meaning of ast_plane_options. */
ast_status ast_planes_of_cloud(ast_fault *fault, ast_cloud_planes_job *job, ast_plane_table *table);

typedef struct ast_mesh_planes_job {
    ast_pool *pool;
    const float *vertices;
    size_t vertex_count;
    const int32_t *faces;
    size_t face_count;
    const int32_t *labels;
    double distance, area; /* options */
    bool undirected;       /* option */
    int32_t *plane_of;     /* (face_count) */
} ast_mesh_planes_job;

ast_status ast_planes_of_mesh(ast_fault *fault, const ast_mesh_planes_job *job, ast_plane_table *table);
