/* SPDX-License-Identifier: MIT
 *
 * asterism for depth cameras, point clouds and meshes: computes surface normals, which are directions to cluster. It
 * can be used without the clustering.
 *
 *     ast_depth_options options;
 *     ast_depth_options_init(&options);
 *     ast_camera_named("kinect", &options.camera, &options.units_per_metre);
 *     ast_stream_options tracking;
 *     ast_depth_stream_options_init(&tracking);
 *     tracking.angle = 60;                                              // suits rooms and corridors
 *     if (ast_depth_open(&depth, context, &options) != AST_OK || ast_depth_frame_open(&frame, context) != AST_OK ||
 *         ast_stream_open(&stream, context, &tracking) != AST_OK)
 *         return 1;
 *     for (each image) {
 *         ast_depth_image image = {sizeof image, values, 640, 480, 640 * sizeof *values};
 *         ast_depth_report report = {.size = sizeof report};
 *         ast_frame step = {.size = sizeof step};
 *         ast_depth_compute(depth, &image, NULL, NULL, normals, frame); // (480, 640, 3) floats, NaN for holes
 *         ast_depth_describe(frame, &report);
 *         ast_points points = ast_points_f4(normals, 640 * 480, 3);
 *         points.late = report.late;                                    // what lies on no plane starts no cluster
 *         ast_stream_step(stream, &points, labels, &step);              // (480, 640) ids that stay from image to image
 *     }
 *
 * examples/depth.c is the whole program. Its ids are those of the command `asterism segment --angle 60`.
 *
 * Camera coordinates: x to the right, y down, z forward, in metres. Normals point towards the camera. The same image
 * gives the same bits on any number of threads and on any processor. The rules at the head of asterism.h apply.
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

/* Finds the intrinsics and the usual units of a depth value of a known camera ("kinect", "xtion", "tum-fr1", ...), for
 * 640 x 480 images (azure-kinect: 640 x 576). Returns 1, or 0 and changes nothing if the name is unknown. `camera` and
 * `units_per_metre` may be NULL. */
AST_API int ast_camera_named(const char *name, ast_camera *camera, double *units_per_metre);

/* The known names, in alphabetical order; NULL after the last. */
AST_API const char *ast_camera_name(size_t index);

/* A view of a depth image: the distance along the optical axis, 0 for a hole (the camera measured nothing). 65535 is a
 * hole too if all other values are below 57344, seven eighths of it. */
typedef struct ast_depth_image {
    size_t size;
    const uint16_t *values; /* value (u, v) is at (const char *)values + v * row_stride + u * 2 */
    size_t width, height;   /* at most 2^27 pixels */
    ptrdiff_t row_stride;   /* in bytes, even; negative for an image that is stored bottom up */
} ast_depth_image;

/* ---- From depth to normals ------------------------------------------------------------------------------------- */

typedef enum ast_smooth {
    AST_SMOOTH_GUIDED = 0, /* edge-preserving guided filter on the depth (He et al. 2010): every pixel has a normal of
                              its own, so that curved surfaces stay curved */
    AST_SMOOTH_TV = 1,     /* guided filter, then total variation of the normals on the sphere (Rosman et al. 2012):
                              about thirty times slower, for single images */
    AST_SMOOTH_NONE = 2,
    AST_SMOOTH_PLANES = 3,     /* splits the image into planes as large as possible and returns their normals: for the
                                  directions of walls and floors. A pixel on no plane gets its normal of
                                  AST_SMOOTH_GUIDED. A pixel on a plane that is too small or too far away to determine
                                  its direction gets the uncertain normal of that plane, or NaN at its edges. These
                                  pixels are late (ast_depth_report) */
    AST_SMOOTH_PLANES_ONLY = 4 /* the same, but NaN for all pixels that would be late. Fastest */
} ast_smooth;

/* Each comment begins with the default. */
typedef struct ast_depth_options {
    size_t size;
    ast_camera camera;        /* all 0: not set */
    double units_per_metre;   /* 1000: a depth value of 1000 is one metre. TUM RGB-D: 5000 */
    double nearest, farthest; /* 0, infinity. Metres; depth outside counts as a hole */
    ast_smooth smooth;        /* AST_SMOOTH_PLANES */
    int filter_radius; /* 3, at most 64. Pixels; the window of the filter is (2 r + 1)^2. A larger radius is smoother
                          and blurs edges more */
    double filter_epsilon; /* 0.005. Metres at a distance of 1 m; grows with the square of the distance, like the noise
                              of such cameras. Smaller deviations from a plane within the window count as noise. Planes:
                              the smallest tolerance. A plane includes deviations up to about twice this, and larger
                              ones where the image itself shows more noise or wider steps */
    int window;            /* 6, 1..64. Pixels; normals are averaged over (2 w + 1)^2. A larger window gives less noise
                              and rounder edges */
    double jump;           /* 0.01. A larger step between neighbouring pixels is an edge of an object, and no difference
                              is taken across it. Up to 1 m it is a share of the depth; beyond, that share grows with
                              the depth */
    double tv_weight;      /* 0.2. AST_SMOOTH_TV: a larger weight is smoother */
    int tv_iterations;     /* 100. AST_SMOOTH_TV: more iterations come closer to the minimum; the first do most */
    double distortion[5];  /* 0. k1, k2, p1, p2, k3 of the lens (Brown-Conrady), as in OpenCV. The image is resampled to
                              that of a pinhole camera, and the results belong to the pixels of the image again; pixels
                              whose ray cannot be found count as holes */
    int planes; /* 0. 1: keep the planes of each image in its ast_depth_frame for ast_plane_map_frame, whatever `smooth`
                   is */
} ast_depth_options;

static inline void ast_depth_options_init(ast_depth_options *options) {
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->units_per_metre = 1000;
    options->farthest = (double)INFINITY;
    options->smooth = AST_SMOOTH_PLANES;
    options->filter_radius = 3;
    options->filter_epsilon = 0.005;
    options->window = 6;
    options->jump = 0.01;
    options->tv_weight = 0.2;
    options->tv_iterations = 100;
}
AST_API const char *ast_depth_options_problem(const ast_depth_options *options); /* NULL, or one sentence */

/* Like ast_stream_options_init, for a stream of the normals of depth images: `dimension` is 3, and `merge_tracked` is
 * 1, since two clusters may be pieces of one surface. The angle is not set. */
static inline void ast_depth_stream_options_init(ast_stream_options *options) {
    ast_stream_options_init(options);
    options->dimension = 3;
    options->merge_tracked = 1;
}

/* A depth converter: working memory for images of any size. After the first image of a size it allocates nothing. */
typedef struct ast_depth ast_depth;

/* Opens a depth converter on the context's threads. Close it before the context. On failure *depth is NULL. */
AST_API ast_status ast_depth_open(ast_depth **depth, ast_context *context, const ast_depth_options *options);
AST_API void ast_depth_close(ast_depth *depth); /* NULL is allowed */

/* What a conversion found in an image beside its normals: the report, and the planes. It belongs to the caller and
 * stays as it is until it is given to another conversion or closed. */
typedef struct ast_depth_frame ast_depth_frame;

/* Opens an empty frame. Close it before the context. On failure *frame is NULL. */
AST_API ast_status ast_depth_frame_open(ast_depth_frame **frame, ast_context *context);
AST_API void ast_depth_frame_close(ast_depth_frame *frame); /* NULL is allowed */

/* Converts an image. At least one of metres, points and normals must not be NULL.
 *     metres (H, W)      depth in metres, smoothed as the options say (AST_SMOOTH_TV: like AST_SMOOTH_GUIDED;
 *                        planes: not smoothed)
 *     points (H, W, 3)   the same depth back-projected
 *     normals (H, W, 3)  unit normals towards the camera
 *     frame              what the conversion found; empty if normals is NULL or the call fails. NULL: not needed
 * NaN for holes; normals are also NaN where no surface can be measured. */
AST_API ast_status ast_depth_compute(ast_depth *depth, const ast_depth_image *image, float *metres, float *points,
                                     float *normals, ast_depth_frame *frame);

/* What became of the pixels of an image. The first three counts are those of whole cells of 8 x 8 pixels, of
 * AST_SMOOTH_PLANES and AST_SMOOTH_PLANES_ONLY; 0 otherwise. With distortion the counts are those of the pinhole image.
 */
typedef struct ast_depth_report {
    size_t size;
    size_t uneven;       /* pixels that fit no plane within the noise */
    size_t small;        /* pixels on planes that are smaller than 1/480 of the image */
    size_t uncertain;    /* pixels on planes too narrow, or too far away, to determine their direction */
    size_t pixels;       /* pixels with depth: not holes, and not out of range */
    const uint8_t *late; /* (H, W), for ast_points.late. 1: the pixel has a normal, but not the certain one of a plane.
                            Valid until the frame changes. NULL if smooth is not AST_SMOOTH_PLANES */
} ast_depth_report;

/* AST_BAD_OPTION if the frame is empty. */
AST_API ast_status ast_depth_describe(const ast_depth_frame *frame, ast_depth_report *report);

/* Total-variation smoothing of any (H, W, 3) image of unit vectors, in place. NaN pixels stay NaN and separate their
 * neighbours. A cancelled call changes nothing. */
AST_API ast_status ast_normals_smooth(ast_context *context, float *normals, size_t width, size_t height, double weight,
                                      int iterations);

/* ---- Clouds and meshes ----------------------------------------------------------------------------------------- */

/* Each comment begins with the default. */
typedef struct ast_cloud_options {
    size_t size;
    int neighbours; /* 16, 3..1024. Points that a plane is fitted to, including the point itself. More neighbours give
                       less noise and rounder edges, and take longer */
    double viewpoint[3]; /* 0 0 0. Position of the scanner; normals point towards it */
    int undirected;      /* 0. 1: the sign has no meaning; the first component that is not 0 is positive */
    int adaptive;        /* 0. 1: if most points have no plane in 16 neighbours, because the noise is larger than the
                            distance between points, planes are fitted to all points within 8 times the noise */
} ast_cloud_options;

static inline void ast_cloud_options_init(ast_cloud_options *options) {
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->neighbours = 16;
}
AST_API const char *ast_cloud_options_problem(const ast_cloud_options *options); /* NULL, or one sentence */

/* The normal of the least-squares plane through the nearest neighbours of each point: the eigenvector of their
 * covariance with the smallest eigenvalue. points: (N, 3), N below 2^31; a row that contains a NaN is missing, infinity
 * is an error. Neighbours are exact: least squared distance in double, lower index first if equal; all points if there
 * are fewer. normals: (N, 3) unit vectors. curvature: (N), or NULL: the smallest eigenvalue over the sum of the three,
 * 0 (flat) to 1/3. NaN without a plane: missing rows, fewer than three points, neighbours that coincide or lie on a
 * line (up to the resolution of floats). The same bits on any number of threads and on any processor. */
AST_API ast_status ast_cloud_normals(ast_context *context, const float *points, size_t count,
                                     const ast_cloud_options *options, float *normals, float *curvature);

/* Coordinates of maps (UTM: 512702.25, 5403549.5, 301) have too many digits for floats. Returns the number to subtract
 * from all coordinates of an axis, given one of them: 0 if floats hold `value` to 1e-4 or better, otherwise `value`
 * without its fraction. */
static inline double ast_origin_of(double value) {
    double size = value < 0 ? -value : value;
    return size >= 1024 && size < 1e15 ? (double)(long long)value : 0;
}

/* Points in double, of any size, become floats relative to an origin: points: (N, 3); relative: (N, 3) = points -
 * origin, computed in double. Each number of the origin is ast_origin_of the first finite number of its axis. Give
 * `relative` to ast_cloud_normals, with a viewpoint relative to the same origin, and to ast_plane_map_cloud, with
 * options.origin. Arrays must not overlap. Pointers must not be NULL if count > 0. */
AST_API void ast_cloud_relative(const double *points, size_t count, double origin[3], float *relative);

/* A viewpoint for clouds that have none, such as maps: above the middle of the box around the points, along z, by its
 * longest side. Points with a NaN are left out; 0 0 0 if there are no others. */
AST_API void ast_cloud_above(const float *points, size_t count, double viewpoint[3]);

/* Turns the normals (N, 3) of a cloud towards a viewpoint. If the viewpoint lies in the planes of surfaces (0 0 0 in
 * the floor z = 0), so that the sides of their normals are chance, the first good one of these takes its place: the
 * middle of the box around the points; above it, as ast_cloud_above; beside that. For clouds whose scanner nobody
 * knows, after ast_cloud_normals. A point without a normal (NaN) keeps none. */
AST_API ast_status ast_cloud_orient(ast_context *context, const float *points, size_t count, float *normals,
                                    double viewpoint[3]);

/* Unit normals and areas of triangles. vertices: (V, 3). faces: (M, 3) indices from 0, counter-clockwise seen from
 * outside, which is the side that normals (M, 3) point to. A face without area, or with a vertex that contains a NaN,
 * has a normal of NaN and area 0. normals or areas (M) may be NULL. AST_BAD_DATA if the index of a vertex is out of
 * range (the message has the number of the face) or a vertex is infinite. */
AST_API ast_status ast_mesh_normals(ast_context *context, const float *vertices, size_t vertex_count,
                                    const int32_t *faces, size_t face_count, float *normals, double *areas);

/* ---- Planes ---------------------------------------------------------------------------------------------------- */

/* Directions say which way surfaces face; parallel walls share one. A plane map says which planes there are: it cuts
 * clouds, meshes and depth images into pieces of planes, with their position, area and outline.
 *
 *     ast_plane_map *map;
 *     ast_plane_options options;
 *     ast_plane_options_init(&options);
 *     if (ast_plane_map_open(&map, context, &options) != AST_OK)
 *         return 1;
 *     ast_plane_map_cloud(map, points, normals, labels, count, NULL);
 *     size_t planes;
 *     const ast_plane_info *plane = ast_plane_list(map, &planes);
 *     for (size_t i = 0; i < planes; i++)
 *         printf("%d: %g square metres\n", plane[i].id, plane[i].area);
 *     ast_plane_map_close(map);
 */
typedef struct ast_plane_map ast_plane_map;

/* Each comment begins with the default. Lengths are in the unit of the points, metres for depth images. */
typedef struct ast_plane_options {
    size_t size;
    double distance; /* 0: found. How far a point may be from its plane. Clouds: from the noise, four times the median
                        deviation of neighbours from a plane, at least a quarter of the median distance between
                        neighbours. Meshes: 1e-4 of the diagonal of the box around the vertices. Depth images: the noise
                        of the depth converter */
    double area;    /* -1: found. Smaller planes are left out. Clouds and meshes: a thousandth of the area of all; depth
                       images: 0.05 square metres */
    int undirected; /* 0. 1: the sign of normals has no meaning */
    double offset;  /* 0.1. Depth images: how far a plane may be from one of an earlier frame to count as the same */
    double origin[3]; /* 0 0 0. Clouds and meshes: where the points' 0 0 0 is, from ast_cloud_relative. It is added, in
                         double, to offsets, centroids and outlines */
} ast_plane_options;

static inline void ast_plane_options_init(ast_plane_options *options) {
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->area = -1;
    options->offset = 0.1;
}
AST_API const char *ast_plane_options_problem(const ast_plane_options *options); /* NULL, or one sentence */

/* A piece of a plane: the points p with normal . p = offset within the outline. */
typedef struct ast_plane_info {
    int32_t id;         /* clouds and meshes: 0, 1, ... from the largest area on; depth images: kept over frames */
    int32_t direction;  /* the label of most of its points, -1 without labels */
    double normal[3];   /* unit vector, to the side of the points' normals */
    double offset;      /* distance from the origin along the normal */
    double area;        /* of the part that was seen, without holes */
    double centroid[3]; /* on the plane */
    size_t count;       /* points, faces or pixels */
    double rms;         /* distance of the points from the plane */
    /* The outline: polygons, one behind the other. Polygon p is rows ends[p - 1] (0 for the first) to ends[p] - 1 of
     * the vertices, counter-clockwise seen from the side of the normal, a hole clockwise. The first is the largest. */
    const double *vertices; /* (ends[polygons - 1], 3) */
    const size_t *ends;     /* (polygons) */
    size_t polygons;        /* at least 1 */
} ast_plane_info;

/* Opens a plane map on the context's threads. Close it before the context. On failure *map is NULL. */
AST_API ast_status ast_plane_map_open(ast_plane_map **map, ast_context *context, const ast_plane_options *options);
AST_API void ast_plane_map_close(ast_plane_map *map); /* NULL is allowed */

/* The planes of a cloud: regions of neighbouring points that face the same way and lie on one plane. Labels only name
 * the directions of planes: how finely directions were clustered changes no plane. If the noise is larger than the
 * distance between points, planes grow by normals as with ast_cloud_options.adaptive. points and normals: (N, 3), as
 * ast_cloud_normals takes and gives them, or the file's own normals of any length; labels: (N) of the normals, from
 * ast_cluster, -1 for none, or NULL. plane_of (N, or NULL) receives the id of each point's plane, -1 for none. Two
 * parallel walls are two planes, and so are two pieces of one wall that do not touch. The result is the same on any
 * number of threads and on any processor. */
AST_API ast_status ast_plane_map_cloud(ast_plane_map *map, const float *points, const float *normals,
                                       const int32_t *labels, size_t count, int32_t *plane_of);

/* The planes of a mesh: faces with the same label that share edges and lie on one plane. Vertices at one place are one.
 * Arguments as in ast_mesh_normals; labels: (M) of the faces; plane_of: (M), or NULL. The area is that of the faces. */
AST_API ast_status ast_plane_map_mesh(ast_plane_map *map, const float *vertices, size_t vertex_count,
                                      const int32_t *faces, size_t face_count, const int32_t *labels,
                                      int32_t *plane_of);

/* The planes of a converted image, in metres. frame: of a converter with options.planes. labels: (H, W) of the normals
 * of the image, or NULL. pose: the 3 x 4 matrix from the camera to the world, row-major, a rotation (which may be
 * mirrored) and a position, or NULL. plane_of (H, W, or NULL) receives the id of each pixel's plane, -1 for none.
 *
 * A plane has the id that it had in the earlier frames of this map. With poses, planes are in coordinates of the world;
 * position and normal are averages of all frames that saw the plane, all other fields are from this frame, and a plane
 * that comes into view again has its old id, however often. A plane is reported when it is seen a second time, or at
 * once if it is large, or in the first frame. If a known plane is too narrow or has too many holes to be found in this
 * frame, single pixels are assigned to it, and its direction is that of earlier frames. Without poses planes are in
 * coordinates of the camera, and a plane takes the id of the nearest plane of the previous frame with the same
 * direction; frames must follow each other closely. A map gets a pose with every frame, or with none. Pieces of one
 * plane, on both sides of a column for example, are one plane with several polygons. */
AST_API ast_status ast_plane_map_frame(ast_plane_map *map, const ast_depth_frame *frame, const int32_t *labels,
                                       const double *pose, int32_t *plane_of);

/* Saves the state of a map, on which later frames depend, as bytes with a version and a checksum.
 * The pointer is valid until the next call with the map. NULL on failure (ast_message of the context). */
AST_API const void *ast_plane_map_save(ast_plane_map *map, size_t *size);

/* Replaces the state of a map by a saved one; the map has no planes until the next frame. AST_BAD_DATA, and nothing
 * changes, if the bytes are damaged, have another version, or come from a map with another offset or area. */
AST_API ast_status ast_plane_map_load(ast_plane_map *map, const void *state, size_t size);

/* The planes of the last result, in order of id. NULL and *count = 0 before the first. Valid until the next call with
 * the map. */
AST_API const ast_plane_info *ast_plane_records(const ast_plane_map *map, size_t record, size_t *count);
static inline const ast_plane_info *ast_plane_list(const ast_plane_map *map, size_t *count) {
    return ast_plane_records(map, sizeof(ast_plane_info), count);
}

/* ---- Geological directions ------------------------------------------------------------------------------------- */

/* What two angles describe. x is east, y north, z up; angles are in degrees. An azimuth is clockwise from north,
 * 0 <= azimuth < 360. The sign of a vector has no meaning. */
typedef enum ast_feature {
    AST_PLANE = 0, /* azimuth: dip direction; inclination: dip, 0 flat to 90 upright; the vector is the normal. A flat
                      plane has dip direction 0, an upright plane that of its two dip directions which is below 180 */
    AST_LINE = 1   /* azimuth: trend; inclination: plunge, 0 level to 90 downwards; the vector is the direction. An
                      upright line has trend 0, a level line that of its two trends which is below 180 */
} ast_feature;

/* The angles of a vector of any length. NaN if the vector is zero, not finite or NULL. azimuth and inclination may be
 * NULL. */
AST_API void ast_angles_of(ast_feature feature, const double vector[3], double *azimuth, double *inclination);

/* The unit vector of any two angles: upwards for AST_PLANE, downwards for AST_LINE. Does nothing if vector is NULL. */
AST_API void ast_vector_of(ast_feature feature, double azimuth, double inclination, double vector[3]);

/* ---- The axes of a scene --------------------------------------------------------------------------------------- */

/* A Manhattan frame: three orthogonal axes to which the directions of a building or a machined part are parallel. */
typedef struct ast_axes {
    size_t size;
    double rotation[3][3]; /* R, of determinant 1: R x are the coordinates of x along the axes, which are its rows */
    double rms;            /* degrees: root of the weighted mean of the squared angles between means and axes */
    size_t used;           /* number of means used */
} ast_axes;

/* Fits the frame to `count` means, (K, 3), K up to 2^20. It minimises the sum of w (1 - cos angle), where angle is the
 * angle of a mean to the nearest of the six axis directions. It assigns means to axes and rotates the frame to fit them
 * until nothing changes, from every pair of the 16 heaviest means, and keeps the best. Of the 24 ways to name the axes
 * it takes the one nearest to x, y, z. weights (K): finite and not negative, or NULL for 1. A mean that contains a NaN,
 * is zero or has weight 0 is not used. nearest (K, or NULL) receives 0..5 for +x -x +y -y +z -z of the frame, -1 for
 * means without direction. AST_BAD_DATA if no mean is used. */
AST_API ast_status ast_frame_axes(ast_context *context, const float *means, const double *weights, size_t count,
                                  ast_axes *axes, int32_t *nearest);

#ifdef __cplusplus
}
#endif

#endif
