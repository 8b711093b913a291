/* SPDX-License-Identifier: MIT
 *
 * Streams as slow, sequential code: sections 4, 5 and 10 of the project's page "The algorithms, exactly", word by
 * word. It was written from that page alone; of src/ it calls the geodesic solver and the fit of a rotation, which have
 * tests of their own. A stream whose
 * frames are axial points (ref_points_turn, each of them) follows docs/axial.md. */
#ifndef REF_STREAM_H
#define REF_STREAM_H

#include "reference/reference.h"

/* A cluster of a stream: what one frame hands to the next, and its part in the frame under way. */
typedef struct ref_cluster ref_cluster;

typedef struct ref_stream {
    ast_stream_options options;
    ref_cluster **list; /* in order: tracked by id, then those born in this frame in order of birth */
    size_t count, capacity;
    ref_cluster *gone; /* those with an id that died in this frame, linked; only for their records */
    int32_t next_id;
    double num, den;           /* of the spread that the stream learns */
    double like_num, like_den; /* of rho^2, section 11 */
    double turn[3];            /* of a rigid scene, a frame */
    int (*near)[3];            /* pairs of ids that were near at the last close, and for how many frames in a row */
    size_t near_count;
} ref_stream;

/* What became of one cluster in a frame: an ast_tracked that owns its mean. */
typedef struct ref_record {
    int32_t id;
    ast_event event;
    uint32_t age;
    size_t count;
    double weight, spread;
    float *mean;
    int32_t into;
} ref_record;

/* What one frame came to. */
typedef struct ref_frame {
    int32_t *labels; /* (N) ids */
    ref_record *records;
    size_t records_count;
    double *objectives; /* (iterations) after each pass */
    double objective;
    int iterations, converged;
    size_t clusters; /* with points */
    size_t merged;
    size_t points; /* that take part */
    double total;  /* what "N" means in bounds on the objective */
} ref_frame;

void ref_stream_open(ref_stream *stream, const ast_stream_options *options);
void ref_stream_close(ref_stream *stream);
void ref_stream_step(ref_stream *stream, const ref_points *points, ref_frame *frame);
void ref_stream_predict(const ref_stream *stream, const ref_points *points, int32_t *labels);
void ref_stream_rotate(ref_stream *stream, const double *rotation);
void ref_stream_reset(ref_stream *stream);
void ref_frame_free(ref_frame *frame);

#endif
