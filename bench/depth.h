/* SPDX-License-Identifier: MIT
 *
 * Depth frames of 640 x 480: each step from a PNG file to labels separately, and all of them together. */
#ifndef BENCH_DEPTH_H
#define BENCH_DEPTH_H

#include "axes.h"
#include "goals.h"
#include "scene.h"
#include "series.h"

#include <asterism_depth.h>
#include <images.h>

#define BENCH_DEPTH_FRAMES 128 /* of a scene, at most */
#define BENCH_DEPTH_COUNTS 8   /* of threads */

enum {
    BENCH_DEPTH_ICSL,    /* a hand-held camera in a corridor, in ../shared/data, if the data is there; */
    BENCH_DEPTH_TUM,     /* another around a cabinet, two thirds of a second between its frames; */
    BENCH_DEPTH_ICL,     /* a ray-traced office with the noise of a Kinect */
    BENCH_DEPTH_HALLWAY, /* the ray-cast hallway */
    BENCH_DEPTH_SCENES
};

/* Times of a frame. The input of each step is in memory when it begins. */
enum {
    BENCH_STAGE_POINTS,     /* back-projection alone */
    BENCH_STAGE_FILTER,     /* the guided filter: depth in metres */
    BENCH_STAGE_PLAIN,      /* normals without smoothing */
    BENCH_STAGE_NORMALS,    /* guided filter and normals */
    BENCH_STAGE_TV,         /* the same plus total variation; every BENCH_TV_STEP-th frame */
    BENCH_STAGE_PIXELS,     /* clustering of the guided normals, in a separate stream */
    BENCH_STAGE_PLANES,     /* normals of planes, the default of the command */
    BENCH_STAGE_CLUSTERING, /* of these */
    BENCH_STAGE_LABELS,     /* normals of planes, clustering */
    BENCH_STAGE_KEPT,       /* normals of planes, which are kept for the next stage */
    BENCH_STAGE_OUTLINES,   /* these planes with ids and outlines; with poses where there are any */
    BENCH_STAGE_FILES,      /* from PNG files to labels, while the next frame is decoded */
    BENCH_STAGES
};

#define BENCH_TV_STEP 32

const char *bench_stage_name(int stage);

typedef struct bench_depth_scene {
    const char *name;
    bool recorded; /* not made by us */
    ast_camera camera;
    double units; /* of depth, per metre */
    int frames;
    ast_depth_pixels frame[BENCH_DEPTH_FRAMES];
    bool posed;
    double pose[BENCH_DEPTH_FRAMES][12];
    char *file[BENCH_DEPTH_FRAMES + 1]; /* the same as PNG; NULL after the last, and from the start without libpng */
    char *made_in;                      /* a folder to remove with the files; NULL: the files are not ours */
    bench_series decoding;              /* one thread, one file after the other */
    bench_samples all_decoded;
} bench_depth_scene;

/* A scene on a number of threads. */
typedef struct bench_depth_run {
    const bench_depth_scene *scene;
    int threads;
    const bench_axes *bare;
    bench_series stage[BENCH_STAGES];
    bench_samples all_labelled; /* from files */
    bench_series load, passes;  /* within the clustering; the rest is outside of both */
    bench_series in_bare;       /* clustering, in units of the bare passes just before: they share the machine's mood */
    int iterations[BENCH_DEPTH_FRAMES];
    double scored[BENCH_DEPTH_FRAMES];  /* in units of the frame's points that are not missing */
    double missing[BENCH_DEPTH_FRAMES]; /* share of the pixels */
    int unconverged;
    uint64_t labels_hash, planes_hash; /* of all frames */
    uint64_t last_hash, files_hash; /* of the last frame, from memory and from files: hashing all would give the decoder
                                       time to get ahead */
} bench_depth_run;

typedef struct bench_depths {
    float *points, means[3 * BENCH_AXES]; /* of the bare pass */
    int scene_count, bare_count, run_count;
    bench_depth_scene scene[BENCH_DEPTH_SCENES];
    bench_axes bare[BENCH_DEPTH_COUNTS];
    bench_depth_run run[BENCH_DEPTH_SCENES * BENCH_DEPTH_COUNTS];
} bench_depths;

/* Only `share` of the frames; `data`: the folder that may contain icsl_hallway/depth and others. */
void bench_depths_open(bench_depths *depths, double share, const char *data, const int *threads, int thread_counts,
                       int repetitions);
void bench_depths_repeat(bench_depths *depths); /* one more repetition of everything, in turn */
void bench_depths_free(bench_depths *depths);   /* also for a zeroed one */

/* Opens a scene: 1, or 0 if it is not there. Its frames are in memory and on disk. */
int bench_depth_scene_open(bench_depth_scene *scene, int which, double share, const char *data, int repetitions);
void bench_depth_scene_free(bench_depth_scene *scene);
void bench_depth_scene_decode(bench_depth_scene *scene); /* one more repetition of decoding alone */

/* Writes the frames of the first available scene, `share` of them: DIR/depth_000.npy and so on, (H, W) metres, 0 for
 * holes, and DIR/depth_camera.npy, fx fy cx cy. */
void bench_depths_write_frames(double share, const char *data, const char *folder);

void bench_depths_print(const bench_depths *depths);
void bench_depths_goals(const bench_depths *depths, bench_goals *goals);
void bench_depths_write(const bench_depths *depths, ast_text *json);
int bench_depths_agree(const bench_depths *depths); /* the labels: over threads, memory and files */

#endif
