/* SPDX-License-Identifier: MIT
 *
 * asterism for depth cameras, point clouds and meshes: they become surface normals, which are directions to cluster.
 * Usable without the clustering.
 *
 *     ast_depth_options options;
 *     ast_depth_options_init(&options);
 *     ast_camera_named("kinect", &options.camera, &options.units_per_metre);
 *     ast_depth *depth = ast_depth_open(context, &options);
 *     for (each frame) {
 *         ast_depth_image image = {values, 640, 480, 640 * sizeof *values};
 *         ast_depth_normals(depth, &image, normals);             // (480, 640, 3) floats, NaN where there is none
 *         ast_points points = ast_points_f4(normals, 640 * 480, 3);
 *         ast_stream_step(stream, &points, labels, &frame);
 *     }
 *     ast_depth_close(depth);
 *
 * Camera coordinates: x to the right, y down, z forward, in metres; normals point towards the camera. The same image
 * gives the same bits on any number of threads and on any processor. The rules of asterism.h hold here too.
 */
#ifndef ASTERISM_DEPTH_H
#define ASTERISM_DEPTH_H

#include "asterism.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Cameras and images ---------------------------------------------------------------------------------------- */

/* A pinhole camera, in pixels. The centre of the pixel in column u and row v is at (u, v). */
typedef struct ast_camera {
    double fx, fy; /* focal lengths */
    double cx, cy; /* principal point */
} ast_camera;

/* The intrinsics, and the usual units of a depth value, of a camera that people know by name ("kinect", "xtion",
 * "tum-fr1", ...), for its usual 640 x 480 images. 1 if there is one of that name, 0 and nothing changed if not. Either
 * pointer may be NULL. */
AST_API int ast_camera_named(const char *name, ast_camera *camera, double *units_per_metre);

/* The names it knows, in alphabetical order; NULL after the last. */
AST_API const char *ast_camera_name(size_t index);

/* A view of a depth image: the distance along the optical axis, 0 where the camera saw nothing (a hole). */
typedef struct ast_depth_image {
    const uint16_t *values; /* value (u, v) is at (const char *)values + v * row_stride + u * 2 */
    size_t width, height;   /* at most 2^27 pixels together */
    ptrdiff_t row_stride;   /* in bytes, even; negative for an image that is stored bottom up */
} ast_depth_image;

/* ---- From depth to normals ------------------------------------------------------------------------------------- */

typedef enum ast_smooth {
    AST_SMOOTH_GUIDED = 0, /* an edge-preserving guided filter on the depth (He et al. 2010): fast, for streams */
    AST_SMOOTH_TV = 1,     /* the guided filter, then total variation of the normals on the sphere (Rosman et al. 2012):
                              some thirty times slower, for single images */
    AST_SMOOTH_NONE = 2,
    AST_SMOOTH_PLANES = 3 /* normals of the planes that the image is made of, each as large as it can be found: for the
                             directions of walls and floors. Fastest; NaN for what lies on no plane, or on one too small
                             or too far away to be sure of its direction */
} ast_smooth;

typedef struct ast_depth_options {
    ast_camera camera;       /* all 0 (the default): not set */
    double units_per_metre;  /* 1000: a depth value of 1000 is one metre. TUM RGB-D: 5000 */
    double nearest, farthest; /* 0, infinity: metres; what is outside counts as a hole */
    ast_smooth smooth;       /* AST_SMOOTH_GUIDED */
    int filter_radius;       /* 3, at most 64. Pixels: the filter's window is (2 r + 1)^2. Larger: smoother, and slower to
                                follow edges */
    double filter_epsilon;   /* 0.005. Metres at a distance of 1 m, growing with its square as the noise of such cameras
                                does: depth that strays less than this from a plane within the window is taken for noise.
                                AST_SMOOTH_PLANES: a plane is fitted to what strays less than about twice this */
    int window;              /* 6, 1 to 64. Pixels: normals are averaged over (2 w + 1)^2. Larger: less noise, rounder
                                edges */
    double jump;             /* 0.01. A step between neighbours that is an edge of an object, not a slanted surface: no
                                difference is taken across it. Relative to the depth up to 1 m; beyond, the relative step
                                grows with the depth */
    double tv_weight;        /* 0.2. AST_SMOOTH_TV: larger is smoother */
    int tv_iterations;       /* 100. AST_SMOOTH_TV: more come closer to the minimum, the first do most */
} ast_depth_options;

AST_API void ast_depth_options_init(ast_depth_options *options);
AST_API const char *ast_depth_options_problem(const ast_depth_options *options); /* NULL, or one sentence */

/* Working memory for images of any size. Works on the context's threads; the context must be closed after it. After the
 * first image of a size nothing is allocated. */
typedef struct ast_depth ast_depth;

AST_API ast_depth *ast_depth_open(ast_context *context, const ast_depth_options *options); /* NULL: ast_message */
AST_API void ast_depth_close(ast_depth *depth);                                          /* NULL is fine */

/* Depth in metres, (H, W), smoothed as the options say (AST_SMOOTH_TV: as AST_SMOOTH_GUIDED; AST_SMOOTH_PLANES: not at
 * all); NaN for holes. */
AST_API ast_status ast_depth_metres(ast_depth *depth, const ast_depth_image *image, float *metres);

/* The same back-projected: (H, W, 3), NaN for holes. */
AST_API ast_status ast_depth_points(ast_depth *depth, const ast_depth_image *image, float *points);

/* Unit normals, (H, W, 3), towards the camera; NaN where there is no surface to measure. */
AST_API ast_status ast_depth_normals(ast_depth *depth, const ast_depth_image *image, float *normals);

/* Total-variation smoothing of any (H, W, 3) image of unit vectors, in place; NaN pixels stay NaN and nothing crosses
 * them. */
AST_API ast_status ast_normals_smooth(ast_context *context, float *normals, size_t width, size_t height, double weight,
                                      int iterations);

/* ---- A scene with a known answer ------------------------------------------------------------------------------- */

/* A corridor with a turn of 90 degrees (walls, floor, ceiling, boxes, a cylinder), seen by a camera that a person
 * carries through it, with the noise of a structured-light sensor. On the way directions go out of sight and come back.
 * The sensor's depth has a standard deviation of 1.2 mm + 1.9 mm (z - 0.4)^2, z in metres, and steps of 1/8 pixel of
 * disparity at a baseline of 0.075 m. Holes are at the edges of objects, in their shadows (the projector is to the right
 * of the camera), where a surface is seen at more than 80 degrees from its normal, and outside 0.5 to 8 m. */
typedef struct ast_hallway {
    size_t frames;        /* 120: of the whole walk; the more, the slower the camera moves */
    size_t width, height; /* 640, 480; at most 2^27 pixels together */
    ast_camera camera;    /* fx = fy = 525, centre 319.5 239.5 */
    int noise;            /* 1: sensor noise, disparity steps and holes; 0: exact depth everywhere */
    uint64_t seed;        /* 1: of the noise */
} ast_hallway;

/* Where the camera was. */
typedef struct ast_hallway_frame {
    double position[3]; /* of the camera, in the world (x, y on the floor, z up), metres */
    double rotation[4]; /* camera to world: quaternion qx qy qz qw */
    double seconds;     /* since the start, at 30 frames a second */
} ast_hallway_frame;

AST_API void ast_hallway_init(ast_hallway *hallway);
AST_API const char *ast_hallway_problem(const ast_hallway *hallway); /* NULL, or one sentence */

/* The true surface directions in the world: (*count, 3), constant: +x -x +y -y +z -z. */
AST_API const double *ast_hallway_directions(size_t *count);

/* Renders frame `index`, which depends on nothing but the options and the index. depth (H, W): millimetres, 0 for holes.
 * truth (H, W, or NULL): the index of the surface's direction, -1 where the surface is curved and in holes. frame may be
 * NULL. */
AST_API ast_status ast_hallway_render(ast_context *context, const ast_hallway *hallway, size_t index, uint16_t *depth,
                                      int32_t *truth, ast_hallway_frame *frame);

/* ---- Clouds and meshes ----------------------------------------------------------------------------------------- */

typedef struct ast_cloud_options {
    int neighbours;      /* 16, 3 to 1024: points that a plane is fitted to, the point itself among them. More: less
                            noise, rounder edges, slower */
    double viewpoint[3]; /* 0 0 0: where the scanner stood; normals point towards it */
    int undirected;      /* 0. 1: the sign says nothing; the first component that is not 0 is positive */
} ast_cloud_options;

AST_API void ast_cloud_options_init(ast_cloud_options *options);
AST_API const char *ast_cloud_options_problem(const ast_cloud_options *options); /* NULL, or one sentence */

/* The normal of the plane of least squares through the nearest neighbours of each point: the eigenvector of their
 * covariance with the smallest eigenvalue. points: (N, 3), N below 2^31; a row that holds a NaN is missing, infinity is
 * an error. Neighbours are exact: those of least squared distance in double, among equal ones those of least index; all
 * points if there are fewer. normals: (N, 3) unit vectors. curvature: (N), or NULL: the smallest eigenvalue over the sum
 * of the three, 0 (flat) to 1/3.
 * NaN where there is no plane: missing rows, fewer than three points, neighbours that coincide or lie on a line (their
 * spread across it is less than floats resolve there). The same bits on any number of threads and on any processor. */
AST_API ast_status ast_cloud_normals(ast_context *context, const float *points, size_t count,
                                     const ast_cloud_options *options, float *normals, float *curvature);

/* Unit normals and areas of triangles. vertices: (V, 3); faces: (M, 3), indices from 0, counter-clockwise seen from
 * outside: the side that normals (M, 3) point to. A face without area, or with a vertex that holds a NaN, has a normal
 * of NaN and area 0. normals or areas (M) may be NULL. AST_BAD_DATA: a face names a vertex that is not there (the
 * message has its number), or one that is infinite. */
AST_API ast_status ast_mesh_normals(ast_context *context, const float *vertices, size_t vertex_count,
                                    const int32_t *faces, size_t face_count, float *normals, double *areas);

/* ---- Directions in the field ----------------------------------------------------------------------------------- */

/* x east, y north, z up; degrees. A plane dips by 0 (flat) to 90 degrees towards its dip direction, clockwise from north,
 * 0 <= dip direction < 360. The plane's normal need not have length 1, and its sign does not matter: the one upwards is
 * taken. A flat plane has dip direction 0, an upright one that below 180 of the two it has. NaN for a normal that is
 * zero or not finite. */
AST_API void ast_dip(const double normal[3], double *dip_direction, double *dip);

/* The plane's unit normal, upwards. Any angles are fine. */
AST_API void ast_pole(double dip_direction, double dip, double pole[3]);

/* A line plunges by 0 to 90 degrees below the horizon towards its trend, clockwise from north. Its sign does not matter:
 * the end downwards is taken. An upright line has trend 0, a level one that below 180 of the two it has. */
AST_API void ast_trend(const double line[3], double *trend, double *plunge);

/* The line's unit vector, downwards. */
AST_API void ast_line(double trend, double plunge, double line[3]);

/* ---- The axes of a scene --------------------------------------------------------------------------------------- */

/* A Manhattan frame: three orthogonal axes that directions of a building or a machined part fall on. */
typedef struct ast_axes {
    double rotation[3][3]; /* R, of determinant 1: R x are the coordinates of x along the axes, which are its rows */
    double rms;            /* degrees: the root of the weighted mean of the squared angles between means and axes */
    size_t used;           /* means that took part */
} ast_axes;

/* The frame nearest to `count` means, (K, 3), K up to 2^20: the one that minimises the sum of w (1 - cos angle), the
 * angle being that of a mean to the nearest of the six axis directions. It is found by assigning means to axes and
 * turning the frame to fit them best, in turn until nothing changes, from every pair of the 16 heaviest means; the best
 * one counts. Of the 24 ways to name its axes it has the one nearest to x, y, z. weights (K): finite and not negative, or
 * NULL for 1. A mean that holds a NaN or is zero, or weighs nothing, takes no part.
 * nearest (K, or NULL): 0..5 for +x -x +y -y +z -z of the frame, -1 for means without direction. AST_BAD_DATA if no mean
 * takes part. */
AST_API ast_status ast_frame_axes(ast_context *context, const float *means, const double *weights, size_t count,
                                  ast_axes *axes, int32_t *nearest);

#ifdef __cplusplus
}
#endif

#endif
