/* SPDX-License-Identifier: MIT
 *
 * A stream of frames: what is remembered between them. */
#ifndef AST_METHODS_STREAM_H
#define AST_METHODS_STREAM_H

#include "history.h"
#include "joins.h"
#include "edit.h"
#include "late.h"
#include "tracks.h"

/* How far members lie from the direction of their cluster: num / den, in radians squared. The frames' parts are added,
 * and what was learned before counts less with each of them. */
typedef struct ast_spread {
    double num, den;
} ast_spread;

/* One cluster between frames. Vectors are in arrays beside it. */
typedef struct ast_track {
    int32_t id;
    uint32_t dt;       /* frames since it last had points, at least 1 */
    double weight;     /* w_k */
    double n_prev;     /* points when it last had some */
    ast_spread spread; /* of this cluster alone */
} ast_track;

/* Working memory of stream_late.c. */
typedef struct ast_stream_late {
    int32_t *names;         /* (records) the id, -1 if no late row gets it */
    _Atomic size_t *counts; /* (records) late rows that it got */
    size_t capacity;
} ast_stream_late;

/* What is told of the last frame. */
typedef struct ast_record_list {
    ast_tracked *list;
    float *means; /* (capacity, D) */
    size_t count, capacity;
} ast_record_list;

struct ast_stream {
    ast_context *context;
    ast_fault *fault;
    const ast_kernels *kernels;
    ast_pool *pool;
    ast_stream_options options;
    uint64_t frame;
    int32_t next_id;
    ast_spread spread; /* of all clusters together */
    double turn[3];    /* rigid: how the scene turns per frame, as a rotation vector */

    size_t count, capacity; /* tracked clusters, in order of id */
    ast_track *track;
    float *m;  /* (count, D) means */
    double *u; /* (count, D) direction of the last data */

    ast_tracks tracks; /* the same, as a frame sees it */
    ast_labelling *labelling;
    ast_joins joins;     /* pairs of clusters that may be one */
    ast_history history; /* of the passes of a frame */
    int32_t *id_of;      /* (slots) */
    size_t id_capacity;
    ast_stream_late late;
    ast_record_list records;
    unsigned char *state; /* the last saved */
    size_t state_capacity;
};

/* The passes of one frame: labels are slots afterwards. Slots 0..count-1 are the tracked clusters. */
ast_status ast_stream_frame(ast_stream *stream, const ast_points *points, ast_frame *report);

/* What the frame taught: ids, weights, ages, deaths, records. false: no memory, and nothing changed. */
bool ast_stream_close_frame(ast_stream *stream);

bool ast_stream_reserve(ast_stream *stream, size_t count);
bool ast_stream_reserve_records(ast_stream *stream, size_t count);

/* stream_late.c: memory for the records of a frame; after it has closed, what late rows are labelled by; and when they
 * have labels, what is told of them. */
bool ast_stream_reserve_late(ast_stream *stream, size_t records);
void ast_stream_begin_late(ast_stream *stream, const ast_points *points, int32_t *labels, ast_late *late);
void ast_stream_end_late(ast_stream *stream, const ast_late *late, ast_frame *report);

/* Forgets the cluster at `index` of the list; records stay. */
void ast_stream_forget(ast_stream *stream, size_t index);

/* The record of an id in the frame that is being closed. */
ast_tracked *ast_stream_record(ast_stream *stream, int32_t id);

/* The squared spread of a cluster in radians: its own, shrunk to that of all clusters (stream_spread.c). */
double ast_stream_spread(const ast_stream *stream, const ast_spread *own);

/* beta of the transition of a cluster with that spread: given, or (spread / drift)^2. */
double ast_stream_beta(const ast_stream *stream, const ast_spread *own);

/* What the frame says about the spread of one cluster; and, at the close, about those of all. */
ast_spread ast_stream_spread_of(const ast_stream *stream, int32_t slot);
void ast_stream_learn_spreads(ast_stream *stream);

/* Rigid (stream_rigid.c): turns the means of all clusters (count, D) as the frame expects them; at the close, takes
 * them over and learns the next turn from the clusters that were seen in two successive frames. */
void ast_stream_rotate_means(const ast_stream *stream, float *m);
void ast_stream_learn_rotation(ast_stream *stream);

/* Whether clusters become one; the cosine of two means, axial its magnitude. */
bool ast_stream_merges(const ast_stream *stream);
double ast_stream_closeness(const ast_stream *stream, const float *a, const float *b);

/* Before a frame is closed: clusters born in it that are pieces of older ones give them their points (stream_pieces.c).
 * false: no memory, and nothing changed. */
bool ast_stream_absorb_pieces(ast_stream *stream);

/* Merging (stream_joins.c). Which clusters with points are near each other, before the frame is closed; false: no
 * memory, and nothing changed. Then, at the end of the close, pairs that were near for long enough become one. */
bool ast_stream_find_near(ast_stream *stream);
void ast_stream_join(ast_stream *stream);

/* The weight w_k of a tracked cluster after a frame in which the sum of its points has that length. */
double ast_stream_next_weight(const ast_stream *stream, size_t k, double length);

/* AST_POSTERIOR or AST_PAPER: as the options say, or as the tracker has it. */
ast_weight_update ast_stream_weight_update(const ast_stream *stream);

#endif
