/* SPDX-License-Identifier: MIT
 *
 * Clouds whose noise is larger than the distance between points: a cloud of a depth camera has a point every 2 mm and
 * noise of 5 mm, so that the 16 nearest neighbours of a point are a blob without a plane. */
#pragma once

#include "asterism_depth.h"
#include "kdtree.h"
#include "plane_table.h"
#include "pool.h"

/* The side of cells whose blocks of 5 x 5 x 5 have a plane despite the noise; 0 if 16 neighbours have one, or if no
 * neighbourhood up to 1024 points has. False if memory runs out. */
bool ast_cloud_noise_cell(const ast_cloud_kernels *kernels, const ast_kdtree *tree, double *cell);

/* The least-squares plane of the block around the cell of each point. Its side: that of the sum of the `given` normals
 * in the block, or, if they are NULL, that of the options, which may be NULL otherwise. curvature may be NULL. Rows
 * with a NaN, and blocks without a plane, have NaN. False if memory runs out; a cancelled pool ends it early. */
bool ast_cloud_smooth_normals(ast_pool *pool, const ast_cloud_kernels *kernels, const float *points, size_t count,
                              double cell, const float *given, const ast_cloud_options *options, float *normals,
                              float *curvature);
