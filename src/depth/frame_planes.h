/* SPDX-License-Identifier: MIT
 *
 * Planes of depth images, and their identity over frames. plane_normals.c cuts an image into patches: cells of 8 x 8
 * pixels with one plane. ast_depth_frame has the patches and the pixels. frame_patches.c computes the position of the
 * patches in the world. plane_tracks.c associates them with the planes of earlier frames; patches of one plane, for
 * example on both sides of a column, get the same track. frame_redetection.c re-detects known planes in pixels that
 * belong to no patch. frame_planes.c measures the planes of the frame. */
#pragma once

#include "frame_geometry.h"

/* ---- Patches and tracks (plane_tracks.c) ------------------------------------------------------------------------- */

/* A patch of the current frame, in coordinates of the world. */
typedef struct ast_frame_patch {
    int32_t leader;
    int32_t direction; /* label of most of its pixels, -1 for none */
    ast_plane_equation plane;
    double centre[3];
    double depth;           /* of its centre */
    double camera_distance; /* of its plane from the camera */
    double area;            /* approximate */
    double normal_error;    /* radians, if the sensor bends the plane */
    double narrow_extent;   /* standard deviation along the narrower side */
    bool normal_reliable;   /* the image has a normal for it, and not an uncertain one */
    double cells;           /* number of cells in the scatter */
    ast_scatter scatter;    /* its cells, weighted by how well their depth is known */
    double low[3], high[3]; /* box */
    int32_t track;          /* -1 for none */
    double track_distance;  /* of its centre from the plane of that track */
} ast_frame_patch;

/* How a track looked once: with poses, when it fitted badly to what it is on the whole; without, in coordinates of the
 * camera. A patch that looks like this is the same. */
typedef struct ast_plane_look {
    ast_plane_equation plane;
    double low[3], high[3];
} ast_plane_look;

/* A plane over frames. */
typedef struct ast_plane_track {
    int32_t id, direction;
    bool confirmed; /* it was seen in two frames, or it is large; others are not reported */
    ast_plane_equation plane;
    ast_scatter scatter;
    double cells;           /* number of cells in the scatter, weighted over time as the scatter is */
    double normal_error;    /* radians */
    double normal_sum[3];   /* weighted sum of the normals of its patches */
    double low[3], high[3]; /* box of what was seen of it; without poses, in the last frame */
    uint64_t last_seen;     /* number of the frame */
    ast_plane_look *looks;  /* no two of them are nearly the same */
    size_t look_count, look_room;
} ast_plane_track;

/* A box around tracks that follow one another. */
enum { AST_TRACK_BLOCK = 64 };
typedef struct ast_track_block {
    double low[3], high[3];
} ast_track_block;

/* Tracks as indices into the list of all, in their order. Initially all zero. */
typedef struct ast_nearby_tracks {
    int32_t *list; /* those that this frame may see: within AST_TRACK_REACH; without poses those that do not rest */
    size_t count, room;
    int32_t *around; /* those within a wider distance of the box */
    size_t around_count, around_room;
    double low[3], high[3];
    bool found;
    ast_track_block *blocks; /* of AST_TRACK_BLOCK tracks one after the other, in the list of all */
    size_t block_count, block_room;
    size_t blocks_hold; /* the blocks before this one are up to date */
} ast_nearby_tracks;

/* Metres, with poses: a frame looks at tracks whose box is that near to the box of its patches and the camera. A plane
 * farther away is another one, even if it is coplanar. */
#define AST_TRACK_REACH 20.0

/* Frames with planes that do not see a track, after which it rests if there are no poses. */
#define AST_TRACK_RESTS 30

typedef struct ast_plane_tracks {
    ast_plane_track *list; /* in order of ids */
    size_t count, room;
    int32_t next_id;
    uint64_t frame;     /* number of the current frame, of those with patches */
    bool has_poses;     /* whether all frames have poses */
    double offset;      /* option: how far apart planes of two frames may be to count as one */
    double area;        /* option: the smallest new plane */
    double large;       /* cells of a plane that is large without poses */
    double depth_noise; /* metres at a distance of 1 m */
    double camera[3];   /* where it is; 0 0 0 without poses */
    const ast_cloud_kernels *kernels;
    ast_nearby_tracks nearby;
} ast_plane_tracks;

/* The distance between two boxes. */
static inline double ast_gap_between(const double *low_a, const double *high_a, const double *low_b,
                                     const double *high_b) {
    double squares = 0;
    for (int c = 0; c < 3; c++) {
        double gap = fmax(low_a[c] - high_b[c], low_b[c] - high_a[c]);
        squares += gap > 0 ? gap * gap : 0;
    }
    return sqrt(squares);
}

/* Finds the tracks near the patches of a frame, adds a new one, and takes one out before it leaves the list of all; the
 * indices of later ones become less by 1. False if memory runs out. (nearby_tracks.c) */
bool ast_nearby_tracks_find(ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count);
bool ast_nearby_tracks_add(ast_plane_tracks *tracks, int32_t track);
void ast_nearby_tracks_drop(ast_nearby_tracks *nearby, int32_t track);

/* Puts tracks that were added from `first` on into their order. */
void ast_nearby_tracks_sort(ast_nearby_tracks *nearby, size_t first);

/* At the end of a frame: enlarges the boxes of blocks whose tracks have grown. False if memory runs out. */
bool ast_nearby_tracks_update_boxes(ast_plane_tracks *tracks);

/* The angle between two unit vectors. */
static inline double ast_angle_between(const double *a, const double *b) {
    double difference[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]}, sum[3] = {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
    return 2 * atan2(sqrt(ast_dot3(difference, difference)), sqrt(ast_dot3(sum, sum)));
}

/* How far a patch may be from a plane that it was not seen on before. */
double ast_tight_offset(const ast_plane_tracks *tracks, const ast_frame_patch *patch);

ast_plane_look ast_plane_look_of(const ast_plane_equation *plane, const double *low, const double *high);

/* A track that has many looks gets no more. False if memory runs out. */
bool ast_plane_track_add_look(ast_plane_track *track, const ast_plane_look *look);

/* Takes track k out of the list; the others keep their order, which is the order of ids. */
void ast_plane_tracks_drop(ast_plane_tracks *tracks, size_t k);

/* Without poses (resting_tracks.c). Patches without a track get those that they look like; each track remembers how it
 * looks; of many that rest, those unseen for longest end. The first two: false if memory runs out. */
bool ast_resting_tracks_wake(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count);
bool ast_resting_tracks_remember(ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count);
void ast_resting_tracks_limit(ast_plane_tracks *tracks);

/* Gives each patch its track, and starts new ones. False if memory runs out. */
bool ast_plane_tracks_step(ast_plane_tracks *tracks, ast_frame_patch *patches, size_t count);
void ast_plane_tracks_free(ast_plane_tracks *tracks);

/* ---- A frame (frame_planes.c) ------------------------------------------------------------------------------------ */

/* A plane of the current frame: the patches of one track. */
typedef struct ast_frame_plane {
    int32_t track;
    ast_pixel_moments moments;
    ast_plane_fit fit;       /* of s, in the image */
    double inverse_distance; /* of the plane from the camera: the length of the normal that is not normalised */
    double least_s;          /* for area and outline: the plane is not seen where its s is smaller */
    bool by_pixels; /* it has no patch, so its area is summed pixel by pixel: s may vary strongly within a cell */
    size_t first[2], last[2]; /* the box of its cells and one more on each side; last is exclusive */
    size_t first_share;       /* where its cells begin in ast_frame_work.shares */
    double totals[6];         /* over pixels: 1, square of the relative distance, area, position times area */
} ast_frame_plane;

/* The pixels of a plane that no patch shows. */
typedef struct ast_redetected_pixels {
    double count, s; /* s: the sum of their s */
    double least_s;  /* of the plane at these pixels */
} ast_redetected_pixels;

/* A plane of the world as this image sees it. */
typedef struct ast_projected_plane {
    int32_t track;
    ast_plane_fit fit;
    double camera_distance;
    ast_redetected_pixels pixels;
    bool found; /* it has pixels */
} ast_projected_plane;

/* For each pixel of a cell the number of the projected plane that it may change to, -1 for none. */
typedef int32_t ast_cell_claims[AST_CELL * AST_CELL];

/* Working memory of frame_redetection.c. Initially all zero. */
typedef struct ast_redetection {
    int32_t *leader;             /* (H, W) as in ast_depth_frame, or `cells + track` */
    int32_t *track_of;           /* (cells) of the patch that the cell belongs to, -1 for none */
    ast_projected_plane *planes; /* in view, in order of tracks */
    size_t plane_count, plane_room;
    ast_cell_claims *claims;        /* (cells) of claimed cells */
    uint8_t *claimed;               /* (cells) 1: some pixels of the cell may change */
    size_t cell_capacity;           /* cells that there is memory for */
    ast_redetected_pixels *partial; /* (rows of cells, planes) */
    size_t partial_room;
} ast_redetection;

/* Working memory. Initially all zero but for the pool and the kernels. */
typedef struct ast_frame_work {
    ast_pool *pool;
    const ast_image_kernels *kernels;
    const ast_depth_frame *frame; /* of the current call, as are the next three */
    ast_plane_tracks *tracks;
    const ast_pose *pose;
    int32_t *pixel_ids; /* ids of the planes of pixels, as the camera gave them */
    ast_frame_patch *patches;
    size_t patch_count, patch_room;
    ast_frame_plane *planes;
    size_t plane_count, plane_room;
    int32_t *plane_of; /* (cells + tracks) the plane of each leader, and of each track; -1 for none */
    int32_t *patch_of; /* (cells) the patch of each leader, -1 for none */
    size_t plane_of_room, patch_of_room;
    float *shares; /* of the pixels of each cell that lie on the plane */
    size_t share_room;
    double *partial; /* (rows of cells, planes, 6) */
    size_t partial_room;
    ast_redetection redetection;
    const int32_t *leader; /* (H, W) the patch of each pixel, or `cells + track` of a plane that no patch shows */
    ast_polygons outline;
} ast_frame_work;

/* The track of the patch that a cell leads, -1 for none. */
static inline int32_t ast_frame_track_of(const ast_frame_work *work, int32_t leader) {
    int32_t patch = leader < 0 ? -1 : work->patch_of[leader];
    return patch < 0 ? -1 : work->patches[patch].track;
}

/* Lists the patches of the image, the largest first. False if memory runs out. (frame_patches.c) */
bool ast_frame_find_patches(ast_frame_work *work);

/* Finds where the patches are in the world, and their labels. */
void ast_frame_place_patches(ast_frame_work *work, const int32_t *labels);

/* Once patches have their tracks: finds work->leader, where pixels of planes that no patch shows get `cells + track`.
 * False if memory runs out. (frame_redetection.c) */
bool ast_frame_redetect_planes(ast_frame_work *work);
void ast_redetection_free(ast_redetection *redetection);

/* The leaders `cells + track` of the pixels of a cell, each once; at most as many as pixels. Returns their number. */
size_t ast_redetected_leaders(const ast_frame_work *work, size_t cell, int32_t *leaders);

/* The leaders of patches with a track in a cell and around it, each once; at most 9. Returns their number. */
size_t ast_frame_leaders_around(const ast_frame_work *work, size_t column, size_t row, int32_t *leaders);

/* The planes of a converted image. labels and plane_of, of the image as the camera gave it, may be NULL. False if
 * memory runs out. */
bool ast_planes_of_frame(ast_frame_work *work, ast_plane_tracks *tracks, const ast_depth_frame *frame,
                         const int32_t *labels, const ast_pose *pose, ast_plane_table *table, int32_t *plane_of);
void ast_frame_work_free(ast_frame_work *work);
