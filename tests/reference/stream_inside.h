/* SPDX-License-Identifier: MIT
 *
 * What the files of the reference of streams share: stream.c has the passes of a frame, stream_close.c its end,
 * stream_merge.c what becomes one at the end, stream_rigid.c how the scene turns. */
#ifndef REF_STREAM_INSIDE_H
#define REF_STREAM_INSIDE_H

#include "reference/stream.h"

#define EPS 0x1p-20  /* a sum shorter than this a member has no direction */
#define SCALE 0x1p30 /* sums are whole numbers of its inverse */

typedef enum role {
    BORN,    /* in this frame */
    TRACKED, /* from an earlier frame, DDP */
    GIVEN    /* from the frame before, sDP: a cluster of count 0 that the first pass may fill */
} role;

struct ref_cluster {
    role role;
    int32_t id;    /* -1 until a born cluster survives its frame */
    float *m;      /* (D) m_k: the mean before this frame */
    double weight; /* w_k */
    uint32_t dt;   /* frames since it last had points, 1 or more */
    double *raw;   /* (D) the direction of its last data, as floats, and how many there were; 0: none yet */
    double raw_count;
    double num, den; /* of its own spread */
    double rows;     /* behind the mean */
    /* In the frame under way: */
    float *mean;    /* (D) mu_k */
    size_t members; /* the running count */
    double beta;    /* of its transition */
    int dead, absorbed;
    int32_t into;      /* the id that it is part of from now on; -1: none */
    int64_t *sum;      /* (D) */
    double length;     /* |sum| */
    double value;      /* its part in the objective */
    double f;          /* f*, tracked clusters with points */
    const float *last; /* one of its members */
    ref_cluster *next; /* in the list of those gone */
};

/* What stays the same over a frame. */
typedef struct setting {
    const ref_points *points;
    size_t dimension;
    double angle, lambda, q;
    int nearest;          /* scores are cosines */
    double rho_square;    /* section 11 */
    int revive_needs_fit; /* a point that does not fit where a cluster was cannot revive it */
    uint32_t lifetime;
} setting;

/* The squared spread of a cluster, from what was learnt so far; and beta of the frame that comes. */
double ref_spread_square(const ref_stream *stream, const ref_cluster *cluster);
double ref_current_beta(const ref_stream *stream, const ref_cluster *cluster);

/* Section 11: whether scores are cosines, and r_n. */
int ref_nearest(const ast_stream_options *options);
double ref_rho_square(const ref_stream *stream);
double ref_reliability(double rows, double rho_square);

/* Clusters that are pieces of others give them their points: labels (N) are places in the list. Born ones go. */
void ref_absorb_pieces(ref_stream *stream, const setting *s, int32_t *labels);

/* The mean of a cluster by its sum, and what goes with it. */
void ref_update_mean(const setting *s, ref_cluster *cluster);

/* Section 10: clusters that were near each other three frames in a row become one. records (count) are those of the
 * list. */
void ref_merge_tracked(ref_stream *stream, const setting *s, ref_record *records);

/* Section 10, --rigid: turns all clusters before a frame; learns from it how. */
void ref_turn_all(ref_stream *stream);
void ref_learn_turn(ref_stream *stream, const setting *s);

/* The close of a frame: ids, weights, ages, deaths, records. */
void ref_close_frame(ref_stream *stream, const setting *s, ref_frame *frame);

double ref_radians(double degrees);
void ref_cluster_free(ref_cluster *cluster);
int ref_has_direction(const ref_cluster *cluster);

/* Takes the dead out of the list; labels (points) follow, if there are any. */
void ref_drop_dead(ref_stream *stream, int32_t *labels, size_t points);

#endif
