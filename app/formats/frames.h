/* SPDX-License-Identifier: MIT
 *
 * Frames one after the other: tables of points or depth images, from files, folders and standard input. A list says
 * which files there are, and is made once; an iterator reads them. The one idea: threads of its own read, so that
 * images are decoded ahead, several at a time, and so that a caller that waits for a pipe can be interrupted.
 *
 *     ast_frame_list list = {0};
 *     ast_frame_list_add(&list, "hallway/depth", ast_format_of("hallway/depth", NULL), AST_AS_NAMED, &error);
 *     ast_frames *frames = ast_frames_open(&list, NULL, &error);
 *     ast_input_frame frame;
 *     while (ast_frames_next(frames, &frame, &error) > 0)
 *         ast_depth_compute(depth, &frame.image, NULL, NULL, normals, NULL);
 *     ast_frames_close(frames);
 *     ast_frame_list_free(&list);
 */
#ifndef ASTERISM_FORMATS_FRAMES_H
#define ASTERISM_FORMATS_FRAMES_H

#include "images.h"

/* ---- Folders --------------------------------------------------------------------------------------------------- */

/* strcmp, except that runs of digits compare as numbers: frame9 before frame10. A total order on byte strings. */
int ast_natural_compare(const char *a, const char *b);

typedef struct ast_folder {
    char **paths; /* folder/name, in natural order */
    size_t count, capacity;
    size_t entries, dangling; /* all that the folder has, links among it that lead nowhere */
} ast_folder;

/* Lists the files of a folder (no subfolders, no names that begin with a dot). An empty list is no failure. */
bool ast_folder_list(ast_folder *folder, const char *path, ast_format_error *error);
void ast_folder_free(ast_folder *folder);

bool ast_is_folder(const char *path);

/* Makes a folder, and those above it, where they are not there. */
bool ast_folder_make(const char *path, ast_format_error *error);

/* folder/name, to free(); NULL without memory. */
char *ast_path_within(const char *folder, const char *name);

/* Whether two names, of which `b` may be NULL, lead to one regular file. */
bool ast_same_file(const char *a, const char *b);

/* ---- Which files ----------------------------------------------------------------------------------------------- */

/* Stands for "the whole file" where frames of a file have a number. */
#define AST_WHOLE UINT64_MAX

struct ast_nyu;

/* Zeroed at first, but for the options. */
typedef struct ast_frame_list {
    bool one_scene; /* option: of a data set only scene `scene` is added */
    uint64_t scene;
    const char *format; /* option: the format of tables in folders by its name; NULL: their extensions decide */
    const char *except; /* option: a file that is left out of folders, or NULL */
    bool number_times;  /* option: names that are whole numbers are times too, not only those with a decimal point */
    bool strict;        /* option: a depth.txt that names a file that is not there is a failure */
    bool arrays;        /* option: where a folder has no other images, its .npy and .pcd files are depth images */
    ast_input_file *files;
    size_t count, capacity;
    size_t absent;       /* files that a depth.txt names and that are not there: they are left out */
    char *first_absent;  /* the first of them, or NULL */
    bool depth;          /* they are depth images; otherwise tables of points */
    bool scenes;         /* they are scenes of a data set, whose units are known */
    bool timed;          /* all come from folders with a depth.txt */
    bool misused;        /* after a failure: the command line is wrong, whatever the files hold */
    const char *first;   /* private: the first input */
    struct ast_nyu *nyu; /* private: the open data set, unless an iterator has it */
} ast_frame_list;

/* What an input is taken for. */
typedef enum ast_frame_kind {
    AST_AS_NAMED,  /* what its name, or the content of the folder, suggests */
    AST_AS_TABLES, /* tables of points, whatever the name */
    AST_AS_DEPTH   /* depth images, whatever the name */
} ast_frame_kind;

/* Adds an input, whose format was looked up. Nothing but a depth.txt and a data set is opened, and a folder is read
 * once. An input is one of these:
 *
 * - A file, or "-" for standard input: depth images if the format says so, otherwise a table, .npy if it is standard
 *   input and the format is unknown.
 * - A folder with a depth.txt, as the TUM RGB-D benchmark has them: lines "time file", # for comments. The frames are
 *   the files, found from the folder, in that order; those that are not there are left out, but not all.
 * - A folder with a subfolder "depth" that has images: those.
 * - A folder with more images than tables, or with images called NAME.depth.png, or that is `except` and has images:
 *   its .png and .pgm files in natural order, those called NAME.depth.png if there are any, otherwise all but those
 *   whose name has "color", "colour" or "rgb" in it, unless all have. With `arrays`, if it has no image but .npy and
 * .pcd: those.
 * - Any other folder: its tables.
 * - A file that ends in .mat, which must be the only input: the scenes of the NYU v2 data set (nyu.h).
 *
 * All inputs of a list are of one kind. A folder without a file of either kind adds nothing, but an empty one, or one
 * whose links all lead nowhere, is a failure. On failure too the list is to be freed.
 */
bool ast_frame_list_add(ast_frame_list *list, const char *input, ast_file_format format, ast_frame_kind kind,
                        ast_format_error *error);

/* Adds what the bytes of a depth.txt name; `name` is its own, and its files are found from `folder`. */
bool ast_frame_list_tum(ast_frame_list *list, const char *folder, const char *name, const unsigned char *bytes,
                        size_t size, ast_format_error *error);

/* The units per metre of depth that the inputs suggest, or 0. */
double ast_frame_list_scale(const ast_frame_list *list);

void ast_frame_list_free(ast_frame_list *list);

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

/* A text file, or an N x D .npy, is one frame; a T x N x D .npy is T of them. Standard input holds any number of .npy
 * arrays of either kind, one behind the other, or raw frames without a header. A mapped array is not copied; from a
 * pipe one frame is read at a time (the whole array only if it is in Fortran order). Frames without points are fine. */
typedef struct ast_frames ast_frames;

/* Zeroed: nothing special. */
typedef struct ast_frames_options {
    ast_input_options table;          /* how tables are read, but for their format */
    size_t raw_points, raw_dimension; /* not 0: standard input is raw tables of this size, float32 in the machine's
                                         byte order */
    size_t raw_width, raw_height;     /* not 0: every file is raw depth images of this size, 16-bit little-endian */
    bool raw_floats;                  /* of floats, little-endian, instead */
    double depth_scale;               /* units per metre of images of floats; 0: they hold metres */
    bool go_on;                       /* after an image file that cannot be read, the next call takes the next file */
    int (*interrupted)(void);         /* asked a few times a second while a frame does not come; not 0: stop waiting.
                                         May be NULL */
} ast_frames_options;

typedef struct ast_input_frame {
    ast_points points;     /* of a table */
    ast_depth_image image; /* of a depth image; both are valid until the next call, as the names are */
    double units;          /* per metre, of an image of floats; 0: as the file has them */
    const char *source;    /* its name: the file's, with #17 behind it where a file has many frames */
    const char *path;      /* the file; "-" for standard input */
    uint64_t number;       /* within the file, from 0, where a file may have many frames; otherwise AST_WHOLE */
    uint64_t index;        /* among all frames, skipped ones included */
} ast_input_frame;

/* NULL on failure. The list must outlive the iterator; `options` may be NULL. */
ast_frames *ast_frames_open(ast_frame_list *list, const ast_frames_options *options, ast_format_error *error);

/* How many frames there are, or SIZE_MAX where only reading shows it: tables, and raw frames. */
size_t ast_frames_count(const ast_frames *frames);

/* Whether depth images have a number in their file, because the file holds many: raw images and scenes. */
bool ast_frames_numbered(const ast_frames *frames);

/* Passes over the next `count` files, or all there are. They are not even opened, unless they are tables whose frames
 * must be `counted` for the index of what follows. Only before the first frame is asked for, as below. */
bool ast_frames_skip_files(ast_frames *frames, size_t count, bool counted, ast_format_error *error);

/* Passes over the next `count` frames of the file whose turn it is, or over all that are left in it. */
bool ast_frames_skip(ast_frames *frames, uint64_t count, ast_format_error *error);

/* 1 and the next frame; 0 after the last, and when interrupted; -1 and a sentence if it cannot be read, after all the
 * whole frames before it. After 0 or -1 there is nothing more to come, unless the options say to go on. */
int ast_frames_next(ast_frames *frames, ast_input_frame *frame, ast_format_error *error);

/* Ends the threads, wherever they are, also if one waits for standard input. NULL is fine. */
void ast_frames_close(ast_frames *frames);

/* Whether a file of tables holds exactly one frame. False if the file cannot be read. */
bool ast_frames_single(const ast_input_file *file);

#endif
