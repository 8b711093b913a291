/* SPDX-License-Identifier: MIT
 *
 * One depth image after the other, in the caller's own thread. */
#ifndef ASTERISM_FORMATS_DEPTH_READER_H
#define ASTERISM_FORMATS_DEPTH_READER_H

#include "depth_list.h"
#include "image_readers.h"
#include "nyu.h"

typedef struct ast_depth_reader {
    ast_depth_list list;
    size_t width, height; /* of raw frames; 0: images */
    int stop;             /* reading fails when this descriptor can be read; -1: there is none */
    size_t position;      /* of the next file, or of the raw one that is open */
    uint64_t index;       /* of the next frame */
    uint64_t skip;        /* raw frames to be read over */
    bool open;            /* a raw input */
    ast_bytes bytes;
    uint64_t number;         /* of the next frame in it */
    ast_image_buffer buffer; /* for the bytes of an image */
    ast_nyu *nyu;            /* the data set whose scenes are read, once the first one was */
    float *metres;           /* of a scene */
} ast_depth_reader;

/* Where a frame came from. */
typedef struct ast_depth_origin {
    const ast_depth_item *item;
    uint64_t number, index; /* as in ast_depth_frame */
} ast_depth_origin;

/* Passes over frames: images are not opened, raw frames are read over by the next call. */
void ast_depth_reader_skip(ast_depth_reader *reader, uint64_t count);

/* 1 and the next frame, 0 after the last, -1 and a sentence. */
int ast_depth_reader_next(ast_depth_reader *reader, ast_depth_pixels *pixels, ast_depth_origin *origin,
                          ast_format_error *error);

/* Frees the list too. */
void ast_depth_reader_close(ast_depth_reader *reader);

#endif
