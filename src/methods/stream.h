/* SPDX-License-Identifier: MIT
 *
 * A stream of frames: what is remembered between them. */
#ifndef AST_METHODS_STREAM_H
#define AST_METHODS_STREAM_H

#include "history.h"
#include "labelling.h"
#include "tracks.h"

/* One cluster between frames. Vectors are in arrays beside it. */
typedef struct ast_track {
    int32_t id;
    uint32_t dt;   /* frames since it last had points, at least 1 */
    double weight; /* w_k */
    double n_prev; /* points when it last had some */
} ast_track;

/* Working memory of stream_late.c. */
typedef struct ast_stream_late {
    int32_t *names;         /* (records) the id, -1 if no point of the frame belongs to it */
    _Atomic size_t *counts; /* (records) late rows that it got */
    size_t capacity;
} ast_stream_late;

struct ast_stream {
    ast_context *context;
    ast_fault *fault;
    const ast_kernels *kernels;
    ast_pool *pool;
    ast_stream_options options;
    uint64_t frame;
    int32_t next_id;
    double spread_num, spread_den; /* what the stream has learned of the spread, in radians squared */

    size_t count, capacity; /* tracked clusters, in order of id */
    ast_track *track;
    float *m;  /* (count, D) means */
    double *u; /* (count, D) direction of the last data */

    ast_tracks tracks; /* the same, as a frame sees it */
    ast_labelling labelling;
    ast_history history; /* of the passes of a frame */
    int32_t *id_of;      /* (slots) */
    size_t id_capacity;
    ast_tracked *records; /* of the last frame */
    float *record_means;
    size_t record_count, record_capacity;
    ast_stream_late late;
    unsigned char *state; /* the last saved */
    size_t state_capacity;
};

/* The passes of one frame: labels are slots afterwards. Slots 0..count-1 are the tracked clusters. */
ast_status ast_stream_frame(ast_stream *stream, const ast_points *points, ast_frame *report);

/* What the frame taught: ids, weights, ages, deaths, records. false: no memory, and nothing changed. */
bool ast_stream_close_frame(ast_stream *stream);

bool ast_stream_reserve(ast_stream *stream, size_t count);

/* stream_late.c: memory for the records of a frame; then the labels of the late rows, after it has closed. */
bool ast_stream_reserve_late(ast_stream *stream, size_t records);
void ast_stream_label_late(ast_stream *stream, const ast_points *points, int32_t *labels, ast_frame *report);

/* AST_POSTERIOR or AST_PAPER: as the options say, or as the tracker has it. */
ast_weight_update ast_stream_weight_update(const ast_stream *stream);

#endif
