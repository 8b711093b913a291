/* SPDX-License-Identifier: MIT
 *
 * Planes of depth images, and their identity over frames. planes.c cuts an image into patches: cells of 8 x 8 pixels
 * with one plane. ast_depth_frame has the patches and the pixels. frame_patches.c finds where the patches are in the
 * world, and plane_tracks.c the planes of earlier frames that they are part of; patches of one plane, on both sides of
 * a column for example, become one. frame_recall.c finds planes that no patch shows. frame_planes.c measures the planes
 * of the frame. */
#ifndef AST_FRAME_PLANES_H
#define AST_FRAME_PLANES_H

#include "frame_geometry.h"

/* ---- Patches and tracks (plane_tracks.c) ------------------------------------------------------------------------- */

/* A patch of the current frame. Planes, middles and scatter are in the world. */
typedef struct ast_frame_patch {
    int32_t leader;
    int32_t direction;   /* label of most of its pixels, -1 for none */
    ast_flat flat;       /* in the world */
    double at[3];        /* its middle */
    double depth;        /* of its middle */
    double distance;     /* of its plane from the camera */
    double area;         /* about */
    double error;        /* of the normal, radians: if the sensor bends the plane */
    double extent;       /* standard deviation along the narrower side */
    bool sure;           /* the error is small enough for a normal of its own */
    double cells;        /* of the scatter */
    ast_scatter scatter; /* its cells, weighted by how well their depth is known */
    double low[3], high[3];
    int32_t track; /* -1 for none */
    double away;   /* of its middle from that track's plane */
} ast_frame_patch;

/* A plane over frames. */
typedef struct ast_plane_track {
    int32_t id, direction;
    ast_flat flat;
    ast_scatter scatter;
    double cells; /* in the scatter, as it is weighted over time */
    double error; /* of its own normal, radians */
    double towards[3];
    double low[3], high[3]; /* box of what was seen; without poses, in the last frame */
    uint64_t seen;          /* the frame in which it was last seen */
} ast_plane_track;

typedef struct ast_plane_tracks {
    ast_plane_track *list;
    size_t count, room;
    int32_t next; /* id */
    uint64_t frame;
    bool world;    /* of all frames */
    double offset; /* options: how far apart planes of two frames may be, and the smallest new one */
    double area;
    double epsilon; /* noise: metres at a distance of 1 m */
    const ast_cloud_kernels *kernels;
} ast_plane_tracks;

/* Gives each patch its track, and starts new ones. False if memory runs out. */
bool ast_plane_tracks_step(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count);
void ast_plane_tracks_free(ast_plane_tracks *tracks);

/* ---- A frame (frame_planes.c) ------------------------------------------------------------------------------------ */

/* A plane of the current frame. */
typedef struct ast_frame_plane {
    int32_t track;
    ast_patch sums;
    ast_plane fit;            /* of s, in the image */
    double length;            /* of the normal that is not of length 1: 1 / distance of the plane from the camera */
    double least;             /* of s, for area and outline: beyond it the plane is not seen */
    bool by_pixels;           /* no patch shows it; s may change much within a cell */
    size_t first[2], last[2]; /* cells: the box of its cells, and one more on each side */
    size_t cells;             /* where its counts begin */
    double sums_of[6];        /* over pixels: 1, square of the relative distance, area, position times area */
} ast_frame_plane;

/* Pixels of a plane that no patch shows. */
typedef struct ast_recall_sum {
    double pixels, s;
    double least; /* s of the plane there */
} ast_recall_sum;

/* A plane of the world as this image sees it. */
typedef struct ast_known_view {
    int32_t track;
    ast_plane plane;
    double distance; /* from the camera */
    ast_recall_sum sum;
    bool found; /* it has pixels */
} ast_known_view;

/* The view that each pixel of a cell may change to, -1 for none. */
typedef int32_t ast_cell_claims[AST_CELL * AST_CELL];

/* Working memory of frame_recall.c. Initially all zero. */
typedef struct ast_recall {
    int32_t *leader;   /* (H, W) as in ast_depth_frame, or `cells + track` */
    int32_t *track_of; /* (cells) of the patch that the cell belongs to, -1 for none */
    size_t leader_room, track_of_room;
    ast_known_view *list; /* the planes in view, in order of tracks */
    size_t views, list_room;
    ast_cell_claims *claims; /* (cells) of claimed ones */
    uint8_t *claimed;        /* (cells) */
    size_t claims_room, claimed_room;
    ast_recall_sum *sums; /* (rows of cells, views) */
    size_t sums_room;
} ast_recall;

/* Working memory. Initially all zero but for the pool and the kernels. */
typedef struct ast_frame_work {
    ast_pool *pool;
    const ast_image_kernels *kernels;
    ast_frame_patch *patches;
    size_t patch_count, patch_room;
    ast_frame_plane *planes;
    size_t plane_count, plane_room;
    int32_t *plane_of; /* (cells + tracks) of the leaders, and of the planes in ast_recall: the plane, -1 for none */
    int32_t *patch_of; /* (cells) of the leaders: the patch, -1 for none */
    size_t plane_of_room, patch_of_room;
    float *shares; /* of the pixels of each cell that lie on the plane */
    size_t share_room;
    double *partial; /* (rows of cells, planes, 6) */
    size_t partial_room;
    ast_recall recall;
    const int32_t *leader; /* (H, W) the patch of each pixel, or `cells + track` of a plane that no patch shows */
    ast_polygons outline;
} ast_frame_work;

/* The track of the patch that a cell leads, -1 for none. */
static inline int32_t ast_frame_track(const ast_frame_work *work, int32_t leader) {
    int32_t patch = leader < 0 ? -1 : work->patch_of[leader];
    return patch < 0 ? -1 : work->patches[patch].track;
}

/* Lists the patches of the image, from the one with most pixels on. False if memory runs out. (frame_patches.c) */
bool ast_frame_find_patches(ast_frame_work *work, const ast_depth_frame *frame);

/* Where they are in the world, and their labels. */
void ast_frame_place_patches(ast_frame_work *work, const ast_depth_frame *frame, const int32_t *labels,
                             const ast_pose *pose);

/* Once patches have their tracks: finds work->leader, where pixels of planes that no patch shows get `cells + track`.
 * False if memory runs out. (frame_recall.c) */
bool ast_frame_recall(ast_frame_work *work, const ast_plane_tracks *tracks, const ast_depth_frame *frame,
                      const ast_pose *pose);
void ast_recall_free(ast_recall *recall);

/* The leaders of such pixels in a cell, each once; at most as many as pixels. Returns their number. */
size_t ast_recall_leaders(const ast_frame_work *work, const ast_depth_frame *frame, size_t cell, int32_t *leaders);

/* The planes of a converted image. labels and plane_of, of the image as the camera gave it, may be NULL. False if
 * memory runs out. */
bool ast_planes_of_frame(ast_frame_work *work, ast_plane_tracks *tracks, const ast_depth_frame *frame,
                         const int32_t *labels, const ast_pose *pose, ast_plane_table *table, int32_t *plane_of);
void ast_frame_work_free(ast_frame_work *work);

#endif
