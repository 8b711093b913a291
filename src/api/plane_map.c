/* SPDX-License-Identifier: MIT
 *
 * Entry points for planes: check, call. New results of clouds and meshes replace those of the call before only if
 * the call succeeds; after a failed frame there are no results. */
#include "context.h"

#include "cloud_noise.h"
#include "cloud_planes.h"
#include "frame_planes.h"
#include "memory.h"
#include "plane_state.h"

#include <math.h>
#include <stdlib.h>

struct ast_plane_map {
    ast_context *context;
    ast_plane_options options;
    ast_plane_table table;
    ast_plane_tracks tracks;
    ast_frame_work work;
    ast_plane_state state; /* the last saved */
};

const char *ast_plane_options_problem(const ast_plane_options *o) {
    if (ast_size_problem(o, sizeof *o))
        return ast_size_problem(o, sizeof *o);
    if (!(o->distance >= 0) || isinf(o->distance))
        return "the distance of points from their plane must be 0 (found from the noise) or more, and finite";
    if (isnan(o->area) || isinf(o->area))
        return "the smallest area of a plane must be finite; below 0 it is found";
    if (!(o->offset > 0) || isinf(o->offset))
        return "the offset between planes of two frames that count as one must be more than 0 and finite";
    for (int c = 0; c < 3; c++)
        if (!isfinite(o->origin[c]))
            return "the origin of points must be finite";
    return NULL;
}

ast_status ast_plane_map_open(ast_plane_map **map, ast_context *context, const ast_plane_options *options) {
    const char *problem = map ? ast_plane_options_problem(options) : "map: the pointer is NULL";
    ast_status status = ast_open_handle(map, sizeof **map, context, problem);
    if (status != AST_OK)
        return status;
    (*map)->context = context;
    (*map)->options = *options;
    (*map)->work.pool = context->pool;
    (*map)->work.kernels = ast_image_kernels_choose(context->kernels->name);
    return AST_OK;
}

void ast_plane_map_close(ast_plane_map *map) {
    if (!map || ast_in_callback(map->context, __func__))
        return;
    ast_plane_table_free(&map->table);
    ast_plane_tracks_free(&map->tracks);
    ast_frame_work_free(&map->work);
    ast_free(map->state.bytes);
    ast_free(map);
}

const void *ast_plane_map_save(ast_plane_map *map, size_t *size) {
    if (!ast_enter(map ? map->context : NULL))
        return NULL;
    ast_fault *fault = &map->context->fault;
    ast_status status = ast_check_pointer(size, "size", fault);
    if (status == AST_OK)
        status = ast_plane_tracks_save(&map->tracks, &map->options, &map->state, size, fault);
    return ast_leave(map->context, status) == AST_OK ? map->state.bytes : NULL;
}

ast_status ast_plane_map_load(ast_plane_map *map, const void *state, size_t size) {
    if (!ast_enter(map ? map->context : NULL))
        return AST_BAD_OPTION;
    ast_status status = ast_check_pointer(state, "state", &map->context->fault);
    if (status == AST_OK)
        status = ast_plane_tracks_load(&map->tracks, &map->options, state, size, &map->context->fault);
    if (status == AST_OK)
        ast_plane_table_clear(&map->table);
    return ast_leave(map->context, status);
}

const ast_plane_info *ast_plane_records(const ast_plane_map *map, size_t record, size_t *count) {
    return ast_records_of_size(map ? map->table.planes : NULL, map ? map->table.count : 0, sizeof(ast_plane_info),
                               record, count);
}

/* ---- Clouds and meshes ------------------------------------------------------------------------------------------- */

static ast_status check_arrays(ast_fault *fault, const void *a, const void *b, const void *c, size_t count) {
    if (count > INT32_MAX)
        return ast_fail(fault, AST_BAD_DATA, "there are %zu points or faces; at most 2147483647 fit one call", count);
    if (count > 0 && (!a || !b || !c))
        return ast_fail(fault, AST_BAD_OPTION, "points, normals, faces or labels: the pointer is NULL");
    return AST_OK;
}

/* From coordinates relative to the option's origin to those of the caller. */
static void move(ast_plane_table *table, const double origin[3]) {
    for (size_t i = 0; i < table->count; i++) {
        table->planes[i].offset += ast_dot3(table->planes[i].normal, origin);
        for (int c = 0; c < 3; c++)
            table->planes[i].centroid[c] += origin[c];
    }
    for (size_t i = 0; i < table->used; i++)
        for (int c = 0; c < 3; c++)
            table->vertices[i][c] += origin[c];
}

/* The new table takes the place of the old one, and the caller gets the planes of the points. */
static ast_status keep(ast_plane_map *map, ast_plane_table *table, ast_status status, int32_t *from, int32_t *to,
                       size_t count) {
    if (status == AST_OK)
        status = ast_check_cancelled(map->context);
    if (status == AST_OK) {
        ast_plane_table_free(&map->table);
        map->table = *table;
        move(&map->table, map->options.origin);
        *table = (ast_plane_table){0};
        for (size_t i = 0; to && i < count; i++)
            to[i] = from[i];
    }
    ast_plane_table_free(table);
    ast_free(from);
    return status;
}

/* Where 16 neighbours show no plane, normals are mostly noise: finds better ones, and planes grow by those. */
static bool find_in_noise(ast_context *context, ast_cloud_planes_job *job, double cell, ast_plane_table *table,
                          ast_status *status) {
    float *normals = NULL;
    bool good = ast_replace_arrays(AST_REQUEST(normals, 3 * job->count)) &&
                ast_cloud_smooth_normals(job->pool, job->kernels, job->points, job->count, cell, job->normals, NULL,
                                         normals, NULL);
    job->normals = normals;
    if (good)
        *status = ast_planes_of_cloud(&context->fault, job, table);
    ast_free(normals);
    return good;
}

static ast_status planes_of_cloud(ast_context *context, ast_cloud_planes_job *job, ast_plane_table *table) {
    ast_status status = AST_OK;
    double cell = 0;
    if (!ast_kdtree_is_of(job->tree, job->pool, job->points, job->count)) {
        ast_kdtree_free(job->tree);
        if (!ast_kdtree_build(job->tree, job->pool, job->points, job->count))
            return ast_fail_memory(&context->fault);
    }
    if (ast_pool_cancelled(job->pool)) {
        ast_kdtree_free(job->tree);
        return AST_OK;
    }
    if (!ast_cloud_noise_cell(job->kernels, job->tree, &cell))
        return ast_fail_memory(&context->fault);
    if (cell == 0)
        return ast_planes_of_cloud(&context->fault, job, table);
    return find_in_noise(context, job, cell, table, &status) ? status : ast_fail_memory(&context->fault);
}

static ast_status find_in_cloud(ast_plane_map *map, const float *points, const float *normals, const int32_t *labels,
                                size_t count, int32_t *plane_of) {
    ast_context *context = map->context;
    ast_plane_table table = {0};
    ast_status status = check_arrays(&context->fault, points, normals, points, count);
    if (status == AST_OK)
        status = ast_check_rows(&context->fault, points, count, "point");
    if (status != AST_OK)
        return status;
    ast_cloud_planes_job job = {.pool = context->pool,
                                .kernels = ast_cloud_kernels_choose(context->kernels->name),
                                .points = points,
                                .normals = normals,
                                .labels = labels,
                                .count = count,
                                .distance = map->options.distance,
                                .area = map->options.area,
                                .undirected = map->options.undirected,
                                .tree = &context->tree,
                                .plane_of = ast_allocate(count, sizeof *plane_of)};
    status = job.plane_of ? planes_of_cloud(context, &job, &table) : ast_fail_memory(&context->fault);
    return keep(map, &table, status, job.plane_of, plane_of, count);
}

ast_status ast_plane_map_cloud(ast_plane_map *map, const float *points, const float *normals, const int32_t *labels,
                               size_t count, int32_t *plane_of) {
    return ast_enter(map ? map->context : NULL)
               ? ast_leave(map->context, find_in_cloud(map, points, normals, labels, count, plane_of))
               : AST_BAD_OPTION;
}

static ast_status find_in_mesh(ast_plane_map *map, const ast_mesh_planes_job *given, int32_t *plane_of) {
    ast_context *context = map->context;
    ast_plane_table table = {0};
    ast_mesh_planes_job job = *given;
    ast_status status = check_arrays(&context->fault, job.vertices, job.faces, job.labels, job.face_count);
    if (status == AST_OK)
        status = ast_check_rows(&context->fault, job.vertices, job.vertex_count, "vertex");
    if (status == AST_OK)
        status = ast_check_faces(&context->fault, job.faces, job.face_count, job.vertex_count);
    if (status != AST_OK)
        return status;
    job.plane_of = ast_allocate(job.face_count, sizeof *plane_of);
    status = job.plane_of ? ast_planes_of_mesh(&context->fault, &job, &table) : ast_fail_memory(&context->fault);
    return keep(map, &table, status, job.plane_of, plane_of, job.face_count);
}

ast_status ast_plane_map_mesh(ast_plane_map *map, const float *vertices, size_t vertex_count, const int32_t *faces,
                              size_t face_count, const int32_t *labels, int32_t *plane_of) {
    if (!ast_enter(map ? map->context : NULL))
        return AST_BAD_OPTION;
    ast_mesh_planes_job job = {.pool = map->context->pool,
                               .vertices = vertices,
                               .vertex_count = vertex_count,
                               .faces = faces,
                               .face_count = face_count,
                               .labels = labels,
                               .distance = map->options.distance,
                               .area = map->options.area,
                               .undirected = map->options.undirected};
    return ast_leave(map->context, find_in_mesh(map, &job, plane_of));
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

#define LEAST_AREA 0.05 /* square metres */
#define RIGID 0.01      /* how far the columns of a pose may be from perpendicular vectors of length 1 */

#define EXACT 1e-9 /* up to here such a difference is rounding */

/* How far the columns are from perpendicular vectors of length 1; NaN if a number is. */
static double skew_of(const double *m) {
    double most = 0;
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++) {
            double away = fabs(m[a] * m[b] + m[4 + a] * m[4 + b] + m[8 + a] * m[8 + b] - (a == b));
            most = away <= most ? most : away;
        }
    return most;
}

/* The nearest rotation, which keeps the handedness: M <- M (3 I - M'M) / 2 squares the difference. */
static void make_rigid(double *m) {
    for (int round = 0; round < 4 && skew_of(m) > EXACT; round++) {
        double old[12];
        for (int i = 0; i < 12; i++)
            old[i] = m[i];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                m[4 * r + c] = 1.5 * old[4 * r + c];
                for (int k = 0; k < 3; k++)
                    m[4 * r + c] -=
                        0.5 * old[4 * r + k] * (old[k] * old[c] + old[4 + k] * old[4 + c] + old[8 + k] * old[8 + c]);
            }
    }
}

/* The matrix, or the identity. */
static ast_pose pose_of(const double *given) {
    static const double none[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    ast_pose pose = {.known = given != NULL};
    const double *m = given ? given : none;
    for (int i = 0; i < 12; i++)
        pose.matrix[i] = m[i];
    make_rigid(pose.matrix);
    pose.mirror =
        m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]) <
        0;
    return pose;
}

static ast_status check_frame(const ast_plane_map *map, const ast_depth_frame *frame, const double *pose) {
    ast_fault *fault = &map->context->fault;
    if (!frame || frame->context != map->context)
        return ast_fail(fault, AST_BAD_OPTION, "frame: the depth frame is NULL or of another context");
    if (!frame->has_normals || !frame->has_planes)
        return ast_fail(fault, AST_BAD_OPTION,
                        "the depth frame has no planes: set options.planes and convert an image to normals first");
    for (int i = 0; pose && i < 12; i++)
        if (!isfinite(pose[i]))
            return ast_fail(fault, AST_BAD_DATA, "the pose holds a number that is not finite");
    if (pose && !(skew_of(pose) < RIGID))
        return ast_fail(fault, AST_BAD_DATA,
                        "the first three columns of the pose are no rotation: they must have length 1 and be "
                        "perpendicular");
    if (map->tracks.frame > 0 && map->tracks.has_poses != (pose != NULL))
        return ast_fail(fault, AST_BAD_OPTION, "a plane map gets all frames with poses, or none");
    return AST_OK;
}

ast_status ast_plane_map_frame(ast_plane_map *map, const ast_depth_frame *frame, const int32_t *labels,
                               const double *pose, int32_t *plane_of) {
    if (!ast_enter(map ? map->context : NULL))
        return AST_BAD_OPTION;
    ast_context *context = map->context;
    ast_status status = check_frame(map, frame, pose);
    if (status != AST_OK)
        return ast_leave(context, status);
    ast_pose where = pose_of(pose);
    map->tracks.has_poses = where.known;
    map->tracks.offset = map->options.offset;
    map->tracks.area = map->options.area < 0 ? LEAST_AREA : map->options.area;
    map->tracks.depth_noise = frame->epsilon;
    map->tracks.kernels = ast_cloud_kernels_choose(context->kernels->name);
    if (!ast_planes_of_frame(&map->work, &map->tracks, frame, labels, &where, &map->table, plane_of))
        status = ast_fail_memory(&context->fault);
    return ast_leave(context, status);
}
