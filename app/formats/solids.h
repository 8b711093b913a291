/* SPDX-License-Identifier: MIT
 *
 * Clouds of points and meshes: PCD, PLY, OBJ, STL, LAS, XYZ and KITTI in, PLY out. Each of them may be compressed by
 * gzip.
 *
 *     ast_solid solid = {0};
 *     if (!ast_solid_read(&solid, "room.pcd", ast_format_of("room.pcd", NULL), &error))
 *         fprintf(stderr, "asterism: %s\n", error.text);
 *     ... solid.points is (solid.count, 3), solid.faces is (solid.face_count, 3) or NULL ...
 *     ast_solid_free(&solid);
 *
 * The one idea: a file is seen whole (mapped where it can be), so that every promise of a header is compared with the
 * bytes that are there before memory is asked for, and a sentence can name the line or the offset of what is wrong. The
 * rules of formats.h hold here too. This room makes no normals: ast_cloud_normals and ast_mesh_normals do. */
#ifndef ASTERISM_FORMATS_SOLIDS_H
#define ASTERISM_FORMATS_SOLIDS_H

#include "formats.h"

/* What a 3-D file holds. It starts zeroed, and every array is ours. */
typedef struct ast_solid {
    /* (count, 3), relative to the origin. A point of which a coordinate is NaN is missing: all three are NaN. normals:
     * one for each point, as the file has them, of any length, NaN likewise. NULL: none. */
    float *points, *normals;
    /* What was subtracted, in double, from coordinates of text and of doubles before they became floats: by
     * ast_origin_of of the first number of each axis, so 0 unless the file is far from 0. */
    double origin[3];
    bool origin_known[3];
    size_t count; /* points, at most 2^31 - 1 */
    /* (face_count, 3): indices of points, all of which are there. Polygons are cut into triangles, concave ones too.
     * NULL: a cloud. STL: every face has three points of its own. */
    int32_t *faces;
    size_t face_count;   /* triangles, at most 2^31 - 1 */
    bool has_viewpoint;  /* PCD: where the sensor was */
    double viewpoint[3]; /* tx ty tz; 0 0 0 without */
    size_t rows;         /* PCD: HEIGHT; above 1 the points are the pixels of an image, row by row */
} ast_solid;

/* Reads a file of the format that was looked up. `path` "-" is standard input.
 *
 * PCD: ascii, binary and binary_compressed; fields in any order and of any type, of which x, y, z and normal_x,
 * normal_y, normal_z are used. PLY: ascii and binary of both byte orders, any elements and properties, of which the
 * vertices' x, y, z and nx, ny, nz and the faces' vertex_indices (or vertex_index) are used. OBJ: v, vn and f; a vn is
 * the normal of the point of the same number, so that normals are there if there are as many as points and no face
 * says otherwise. STL: text and binary; its normals are not read, as the corners say more.
 * LAS: point formats 0 to 10 without compression; withheld points are missing. XYZ: text; format.columns says which
 * columns are x, y, z and the normal. KITTI: x, y, z and reflectance as floats.
 *
 * A file without a single point is an error; one whose points are all missing is not. So is a coordinate, of a point
 * or of a normal, that is infinite or too large for a float. */
bool ast_solid_read(ast_solid *solid, const char *path, ast_file_format format, ast_format_error *error);

/* The same from bytes in memory; `name` stands for the file in sentences. */
bool ast_solid_read_memory(ast_solid *solid, const char *name, ast_file_format format, const void *bytes, size_t size,
                           ast_format_error *error);

/* Fine on a zeroed and on a freed one. */
void ast_solid_free(ast_solid *solid);

/* What ast_write_ply writes. */
typedef struct ast_ply_content {
    const float *points;  /* (count, 3); NaN is written as it is */
    double origin[3];     /* is added to the points, which are then written as doubles; 0 0 0: floats */
    const float *normals; /* (count, 3), or NULL */
    size_t count;
    const int32_t *faces; /* (face_count, 3), or NULL */
    size_t face_count;
    const unsigned char *rgb; /* (count, 3), or (face_count, 3) where there are faces; or NULL */
    const int32_t *labels;    /* (count), or (face_count) where there are faces; or NULL */
} ast_ply_content;

/* A binary little-endian PLY: x y z [nx ny nz] a point, and where there are faces their corners; red green blue and
 * "label" for each point of a cloud or each face of a mesh. MeshLab and CloudCompare show it. */
bool ast_write_ply(ast_output *output, const ast_ply_content *content, ast_format_error *error);

#endif
