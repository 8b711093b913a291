/* SPDX-License-Identifier: MIT
 *
 * Clusters that are tracked over a stream, as one frame sees them: where each was, how sure that is, and for how long
 * it has had no points. A tracked cluster without points is a candidate for every point, with the score J_k = 1 + dt_k
 * Q - [losses of the geodesic from m_k to the point] (ALGORITHMS section 4). J_k depends on the point only through its
 * angle to m_k and falls as that grows, so a small table of bounds per cluster tells for nearly every point that none
 * of them can win. */
#ifndef AST_TRACKS_H
#define AST_TRACKS_H

#include "clusters.h"

#define AST_ANGLE_STEPS 72 /* of 2.5 degrees each: the resolution of the bounds */

typedef struct ast_tracks {
    size_t count, capacity, dimension; /* tracked clusters are slots 0..count-1, in order of id */
    double beta, q;                    /* of the transition; Q = lambda / lifetime */
    bool candidates;                   /* may clusters without points win at all */
    double limit;                      /* a score fits from here */
    float *m;                          /* (count, D) where each was */
    double *w;                         /* (count) how sure that is */
    uint32_t *dt;                      /* (count) frames since it last had points */
    uint8_t *unseen;                   /* (count) has no points now */
    uint8_t *tabled;                   /* (count) the bounds are there */
    float *bounds; /* (count, AST_ANGLE_STEPS + 1) J at multiples of the step; -4 where it does not fit */
    float cosine[AST_ANGLE_STEPS + 1]; /* of the multiples */
} ast_tracks;

bool ast_tracks_reserve(ast_tracks *tracks, size_t count, size_t dimension);
void ast_tracks_free(ast_tracks *tracks);

/* Starts a frame: everybody unseen, no bounds yet. */
void ast_tracks_begin(ast_tracks *tracks);

/* J_k of a point, and no less than it in less time. */
double ast_tracks_score(const ast_tracks *tracks, size_t k, const float *x);

/* Whether an unseen cluster might score `best` or more for the point. */
bool ast_tracks_threaten(ast_tracks *tracks, const float *x, double best);

/* From this score on with a cluster that has points, no unseen one can win; `live` slots in `order` are the clusters.
 */
float ast_tracks_safe(ast_tracks *tracks, const ast_cluster_list *clusters);

/* The geodesic mean of point x alone, or of the cluster's sum, into mu (D); false: the sum is zero. */
void ast_tracks_revive(const ast_tracks *tracks, size_t k, const float *x, float *mu);
bool ast_tracks_mean(const ast_tracks *tracks, const ast_cluster_list *clusters, size_t k, float *mu);

/* The losses of the geodesic from m_k to the cluster's sum, and its length; 0 and the length where the sum is zero. */
double ast_tracks_losses(const ast_tracks *tracks, const ast_cluster_list *clusters, size_t k, double *length);

#endif
