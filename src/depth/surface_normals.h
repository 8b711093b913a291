/* SPDX-License-Identifier: MIT
 *
 * Normals of point clouds and meshes. */
#pragma once

#include "asterism_depth.h"
#include "cloud_kernels.h"
#include "fault.h"
#include "pool.h"

/* As ast_cloud_normals, with checked arguments. On failure nothing is written; a cancelled pool leaves normals
 * unwritten. *tree receives the tree of the points, in place of what it held. */
ast_status ast_normals_of_cloud(ast_fault *fault, ast_pool *pool, const ast_cloud_kernels *kernels, const float *points,
                                size_t count, const ast_cloud_options *options, float *normals, float *curvature,
                                ast_kdtree *tree);

/* As ast_mesh_normals, with checked arguments. */
void ast_normals_of_mesh(ast_pool *pool, const float *vertices, const int32_t *faces, size_t face_count, float *normals,
                         double *areas);
