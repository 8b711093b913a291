/* SPDX-License-Identifier: MIT
 *
 * Sequences of depth images: files, folders, TUM RGB-D folders and raw frames on standard input, as one source. The one
 * idea: a thread of its own reads and decodes ahead, so that the next frame is ready when this one has been dealt with.
 *
 *     const char *inputs[] = {"hallway/depth", NULL};
 *     ast_depth_frames *frames = ast_depth_frames_open(inputs, NULL, &error);
 *     ast_depth_frame frame;
 *     while (ast_depth_frames_next(frames, &frame, &error) > 0)
 *         ast_depth_compute(depth, &frame.image, NULL, NULL, normals);
 *     ast_depth_frames_close(frames);
 */
#ifndef ASTERISM_FORMATS_DEPTH_FRAMES_H
#define ASTERISM_FORMATS_DEPTH_FRAMES_H

#include "images.h"

typedef struct ast_depth_frames ast_depth_frames;

/* Zeroed: images, and nobody who interrupts. */
typedef struct ast_depth_frames_options {
    size_t raw_width, raw_height; /* not 0: every input is raw frames of this size, 16-bit little-endian, one behind
                                     the other, without a header */
    bool one_scene;               /* of a data set only scene `scene` is wanted, counted from 0 */
    uint64_t scene;
    int (*interrupted)(void); /* asked a few times a second while a frame does not come; not 0: stop waiting. May be
                                 NULL */
} ast_depth_frames_options;

/* Stands for "the whole file" where frames of a raw input or a data set have a number. */
#define AST_DEPTH_WHOLE UINT64_MAX

typedef struct ast_depth_frame {
    ast_depth_image image; /* valid until the next call, as the names are */
    const char *source;    /* its name: the file's, with #17 behind it for raw frames and scenes */
    const char *path;      /* the file; "-" for standard input */
    uint64_t number;       /* within a raw input or a data set, from 0; otherwise AST_DEPTH_WHOLE */
    uint64_t index;        /* among all frames of the source, skipped ones included */
    double seconds;        /* its time stamp, in a TUM folder; otherwise NaN */
} ast_depth_frame;

/* Whether this input is depth images, for a command that takes tables of points too: a name that ends in .png, .pgm
 * or .mat (the NYU v2 data set: nyu.h); a folder with a depth.txt, or a subfolder "depth" with such files, or with more
 * such files than tables. */
bool ast_depth_input(const char *path);

/* Lists the inputs (NULL-terminated), and opens and decodes nothing yet. An input is
 *     a file (PNG or PGM, whatever its name), or "-" for one on standard input;
 *     a folder with a depth.txt, as the TUM RGB-D benchmark has them: lines "time file", # for comments; the frames
 *     are the files, found from the folder, in that order;
 *     a folder with a subfolder "depth" that has images: those;
 *     any other folder: its .png and .pgm files in natural order;
 *     a file that ends in .mat, which must be the only input: the scenes of the NYU v2 data set, in units of
 *     1 / ast_depth_frames_scale metres; that file is opened, for the number of its scenes.
 * `options` may be NULL. NULL on failure. */
ast_depth_frames *ast_depth_frames_open(const char *const *inputs, const ast_depth_frames_options *options,
                                        ast_format_error *error);

/* How many frames there are, or SIZE_MAX where only reading shows it (raw frames). */
size_t ast_depth_frames_count(const ast_depth_frames *frames);

/* The path of frame `index`, which is below the count, and the count is known. */
const char *ast_depth_frames_path(const ast_depth_frames *frames, size_t index);

/* The units of a metre that the inputs suggest: 5000 if all of them are folders with a depth.txt or they are
 * scenes; otherwise 0. */
double ast_depth_frames_scale(const ast_depth_frames *frames);

/* Whether the frames are scenes of a data set, whose units are no guess. */
bool ast_depth_frames_scenes(const ast_depth_frames *frames);

/* Passes over the next `count` frames, or all there are. Images are not even opened; raw frames are read over. Only
 * before the first frame is asked for. */
void ast_depth_frames_skip(ast_depth_frames *frames, uint64_t count);

/* 1 and the next frame; 0 after the last, and when interrupted; -1 and a sentence if it cannot be read, after all the
 * whole frames before it. After 0 or -1 there is nothing more to come. */
int ast_depth_frames_next(ast_depth_frames *frames, ast_depth_frame *frame, ast_format_error *error);

/* Ends the thread, wherever it is, also if it waits for standard input. NULL is fine. */
void ast_depth_frames_close(ast_depth_frames *frames);

#endif
