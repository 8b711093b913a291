/* SPDX-License-Identifier: MIT
 *
 * One frame after the other from a list of files, in the caller's own thread. */
#ifndef ASTERISM_FORMATS_FRAME_READER_H
#define ASTERISM_FORMATS_FRAME_READER_H

#include "frames.h"
#include "image_readers.h"
#include "nyu.h"

/* ---- table_frames.c: the frames of one file of tables -------------------------------------------------------------
 */

typedef struct ast_table_frames ast_table_frames;

/* NULL on failure. `stop` is as for ast_bytes_open. */
ast_table_frames *ast_table_frames_open(const ast_input_file *file, const ast_frames_options *options, int stop,
                                        ast_format_error *error);

/* Whether frames have a number in the file, because the file may hold more than one frame. */
bool ast_table_frames_numbered(const ast_table_frames *frames);

/* Passes over the next `count` frames, or all that are left where the file says how many there are: how many. */
bool ast_table_frames_skip(ast_table_frames *frames, uint64_t count, uint64_t *skipped, ast_format_error *error);

/* 1 and a view of the next frame, valid until the next call; 0 after the last; -1 and a sentence on failure, such as
 * for a frame that is cut short. */
int ast_table_frames_next(ast_table_frames *frames, ast_points *points, ast_format_error *error);

void ast_table_frames_close(ast_table_frames *frames); /* NULL is fine */

/* ---- frame_reader.c: the frames of all files ----------------------------------------------------------------------
 */

typedef struct ast_frame_reader {
    ast_frame_list *list;
    ast_frames_options options;
    int stop;                /* as for ast_bytes_open */
    size_t position;         /* of the next file, or of the one that is open */
    uint64_t index;          /* of the next frame among all */
    uint64_t number;         /* of the next frame in the open file */
    ast_table_frames *table; /* the open file of tables or of raw depth images, or NULL */
    ast_buffer buffer;       /* the bytes of an image */
    ast_nyu *nyu;            /* the data set whose scenes are read */
    float *metres;           /* of a scene */
} ast_frame_reader;

/* A frame that was read. */
typedef struct ast_read_frame {
    ast_depth_pixels pixels; /* memory that is used again */
    ast_points points;       /* of a table, valid until the next one is read */
    const ast_input_file *file;
    uint64_t number, index; /* as in ast_input_frame */
} ast_read_frame;

bool ast_frame_reader_skip_files(ast_frame_reader *reader, size_t count, bool counted, ast_format_error *error);
bool ast_frame_reader_skip(ast_frame_reader *reader, uint64_t count, ast_format_error *error);

/* Whether frames are image files, one each, which any number of threads may read at a time: ast_frame_reader_take says
 * which is next, 1 or 0 after the last, and ast_frame_reader_image reads that one. */
bool ast_frame_reader_parallel(const ast_frame_reader *reader);
int ast_frame_reader_take(ast_frame_reader *reader, ast_read_frame *frame);
bool ast_frame_reader_image(const ast_frame_reader *reader, ast_buffer *buffer, ast_read_frame *frame,
                            ast_format_error *error);

/* 1 and the next frame, 0 after the last, -1 and a sentence. */
int ast_frame_reader_next(ast_frame_reader *reader, ast_read_frame *frame, ast_format_error *error);
void ast_frame_reader_close(ast_frame_reader *reader);

#endif
