/* SPDX-License-Identifier: MIT
 *
 * Entry points for clouds and meshes: check, call. */
#include "context.h"

#include "cloud_viewpoint.h"
#include "surface_normals.h"
#include "axes.h"

#include <math.h>

#define MOST_NEIGHBOURS 1024
#define MOST_MEANS ((size_t)1 << 20)

const char *ast_cloud_options_problem(const ast_cloud_options *o) {
    if (ast_size_problem(o, sizeof *o))
        return ast_size_problem(o, sizeof *o);
    if (o->neighbours < 3 || o->neighbours > MOST_NEIGHBOURS)
        return "neighbours must be between 3 and 1024";
    for (int c = 0; c < 3; c++)
        if (!isfinite(o->viewpoint[c]))
            return "the viewpoint must be finite";
    return NULL;
}

ast_status ast_check_rows(ast_fault *fault, const float *rows, size_t count, const char *what) {
    if (count > INT32_MAX)
        return ast_fail(fault, AST_BAD_DATA, "%s %zu is too many: at most 2147483647 fit one call", what, count);
    for (size_t i = 0; i < 3 * count; i++)
        if (isinf(rows[i]))
            return ast_fail(fault, AST_BAD_DATA, "%s %zu (counting from 1) is infinite; coordinates must be finite",
                            what, i / 3 + 1);
    return AST_OK;
}

static ast_status normals_of_cloud(ast_context *context, const float *points, size_t count,
                                   const ast_cloud_options *options, float *normals, float *curvature) {
    ast_fault *fault = &context->fault;
    const char *problem = ast_cloud_options_problem(options);
    if (!problem && count > 0 && (!points || !normals))
        problem = points ? "normals: the pointer is NULL" : "points: the pointer is NULL";
    if (problem)
        return ast_fail(fault, AST_BAD_OPTION, "%s", problem);
    ast_status status = ast_check_rows(fault, points, count, "point");
    if (status != AST_OK)
        return status;
    status = ast_normals_of_cloud(fault, context->pool, ast_cloud_kernels_choose(context->kernels->name), points, count,
                                  options, normals, curvature, &context->tree);
    return status == AST_OK ? ast_check_cancelled(context) : status;
}

ast_status ast_cloud_normals(ast_context *context, const float *points, size_t count, const ast_cloud_options *options,
                             float *normals, float *curvature) {
    return ast_enter(context)
               ? ast_leave(context, normals_of_cloud(context, points, count, options, normals, curvature))
               : AST_BAD_OPTION;
}

ast_status ast_check_faces(ast_fault *fault, const int32_t *faces, size_t face_count, size_t vertex_count) {
    for (size_t i = 0; i < 3 * face_count; i++)
        if (faces[i] < 0 || (size_t)faces[i] >= vertex_count)
            return ast_fail(fault, AST_BAD_DATA,
                            "face %zu (counting from 1) names vertex %d; there are %zu, counted from 0", i / 3 + 1,
                            (int)faces[i], vertex_count);
    return AST_OK;
}

static ast_status normals_of_mesh(ast_context *context, const float *vertices, size_t vertex_count,
                                  const int32_t *faces, size_t face_count, float *normals, double *areas) {
    ast_fault *fault = &context->fault;
    if ((!vertices && vertex_count > 0) || (!faces && face_count > 0))
        return ast_fail(fault, AST_BAD_OPTION, "vertices or faces: the pointer is NULL");
    if (face_count > INT32_MAX)
        return ast_fail(fault, AST_BAD_DATA, "there are %zu faces; at most 2147483647 fit one call", face_count);
    ast_status status = ast_check_rows(fault, vertices, vertex_count, "vertex");
    if (status == AST_OK)
        status = ast_check_faces(fault, faces, face_count, vertex_count);
    if (status != AST_OK)
        return status;
    ast_normals_of_mesh(context->pool, vertices, faces, face_count, normals, areas);
    return ast_check_cancelled(context);
}

ast_status ast_mesh_normals(ast_context *context, const float *vertices, size_t vertex_count, const int32_t *faces,
                            size_t face_count, float *normals, double *areas) {
    return ast_enter(context)
               ? ast_leave(context, normals_of_mesh(context, vertices, vertex_count, faces, face_count, normals, areas))
               : AST_BAD_OPTION;
}

void ast_cloud_relative(const double *points, size_t count, double origin[3], float *relative) {
    for (int c = 0; c < 3; c++) {
        size_t first = 0;
        while (first < count && !isfinite(points[3 * first + (size_t)c]))
            first++;
        origin[c] = first < count ? ast_origin_of(points[3 * first + (size_t)c]) : 0;
    }
    for (size_t i = 0; i < 3 * count; i++)
        relative[i] = (float)(points[i] - origin[i % 3]);
}

void ast_cloud_above(const float *points, size_t count, double viewpoint[3]) {
    double longest = ast_cloud_box_middle(points, count, viewpoint);
    viewpoint[2] += longest;
}

static ast_status orient(ast_context *context, const float *points, size_t count, float *normals, double *viewpoint) {
    ast_fault *fault = &context->fault;
    if (count > 0 && (!points || !normals))
        return ast_fail(fault, AST_BAD_OPTION, "%s: the pointer is NULL", points ? "normals" : "points");
    if (ast_check_pointer(viewpoint, "viewpoint", fault) != AST_OK)
        return AST_BAD_OPTION;
    if (!isfinite(viewpoint[0] + viewpoint[1] + viewpoint[2]))
        return ast_fail(fault, AST_BAD_OPTION, "the viewpoint must be finite");
    ast_status status = ast_check_rows(fault, points, count, "point");
    if (status != AST_OK)
        return status;
    ast_kdtree *tree = &context->tree;
    if (!ast_kdtree_is_of(tree, context->pool, points, count)) {
        ast_kdtree_free(tree);
        if (!ast_kdtree_build(tree, context->pool, points, count))
            return ast_fail_memory(fault);
    }
    status = ast_check_cancelled(context);
    if (status != AST_OK) {
        ast_kdtree_free(tree);
        return status;
    }
    ast_cloud_find_viewpoint(tree, points, count, normals, viewpoint);
    ast_cloud_face(points, count, viewpoint, normals);
    return AST_OK;
}

ast_status ast_cloud_orient(ast_context *context, const float *points, size_t count, float *normals,
                            double viewpoint[3]) {
    return ast_enter(context) ? ast_leave(context, orient(context, points, count, normals, viewpoint)) : AST_BAD_OPTION;
}

static ast_status fit_axes(ast_context *context, const float *means, const double *weights, size_t count,
                           ast_axes *axes, int32_t *nearest) {
    ast_fault *fault = &context->fault;
    if (ast_check_struct(axes, sizeof *axes, "axes", fault) != AST_OK)
        return AST_BAD_OPTION;
    if (count > 0 && ast_check_pointer(means, "means", fault) != AST_OK)
        return AST_BAD_OPTION;
    if (count > MOST_MEANS)
        return ast_fail(fault, AST_BAD_DATA, "there are %zu means; at most 1048576 fit one call", count);
    ast_status status = ast_check_rows(fault, means, count, "mean");
    if (status == AST_OK)
        status = ast_check_weights(weights, count, fault);
    return status == AST_OK ? ast_axes_fit(fault, means, weights, count, axes, nearest) : status;
}

ast_status ast_frame_axes(ast_context *context, const float *means, const double *weights, size_t count, ast_axes *axes,
                          int32_t *nearest) {
    return ast_enter(context) ? ast_leave(context, fit_axes(context, means, weights, count, axes, nearest))
                              : AST_BAD_OPTION;
}
