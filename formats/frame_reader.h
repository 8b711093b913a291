/* SPDX-License-Identifier: MIT
 *
 * One frame after the other from a list of files, in the caller's own thread. */
#ifndef ASTERISM_FORMATS_FRAME_READER_H
#define ASTERISM_FORMATS_FRAME_READER_H

#include "frames.h"
#include "image_readers.h"
#include "nyu.h"
#include "table_frames.h"

typedef struct ast_frame_reader {
    ast_frame_list *list;
    ast_frames_options options;
    int stop;                /* as for ast_bytes_open */
    size_t position;         /* of the next file, or of the one that is open */
    uint64_t index;          /* of the next frame among all */
    uint64_t number;         /* of the next frame in the open file */
    bool open;               /* a file of raw depth images */
    ast_bytes bytes;         /* of that file */
    ast_table_frames *table; /* the open file of tables, or NULL */
    ast_buffer buffer;       /* the bytes of an image */
    ast_nyu *nyu;            /* the data set whose scenes are read */
    float *metres;           /* of a scene */
} ast_frame_reader;

/* A frame that was read. */
typedef struct ast_read_frame {
    ast_depth_pixels pixels; /* memory that is used again */
    ast_points points;       /* of a table, valid until the next one is read */
    const ast_frame_file *file;
    uint64_t number, index; /* as in ast_input_frame */
} ast_read_frame;

bool ast_frame_reader_skip_files(ast_frame_reader *reader, size_t count, bool counted, ast_format_error *error);
bool ast_frame_reader_skip(ast_frame_reader *reader, uint64_t count, ast_format_error *error);

/* 1 and the next frame, 0 after the last, -1 and a sentence. */
int ast_frame_reader_next(ast_frame_reader *reader, ast_read_frame *frame, ast_format_error *error);
void ast_frame_reader_close(ast_frame_reader *reader);

#endif
