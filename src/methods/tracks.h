/* SPDX-License-Identifier: MIT
 *
 * Tracked clusters, as one frame of a stream sees them: the last mean of each, its weight, and the number of frames
 * without points. A tracked cluster without points is a candidate for every point x, with the score
 * (docs/rules.md and methods/stream.c)
 *
 *     J_k = 1 + dt_k Q - losses
 *     losses = min w (1 - cos theta) + dt beta (1 - cos phi) + (1 - cos eta),    theta + phi + eta = zeta,
 *
 * where zeta is the angle between x and m_k. As (1 - cos t) / t^2 falls with t, the losses are at least
 *
 *     W (1 - cos zeta),    1 / W = 1 / w + dt / beta + 1.
 *
 * So J_k is at most 1 + dt_k Q - W (1 - x . m_k), which is linear in a dot product. The score AST_SCORE_NEAREST is this
 * with W = 1. For nearly every point this bound
 * shows, without a Newton step, that no cluster without points wins (unseen_bounds.c). */
#pragma once

#include "clusters.h"

/* The cluster with points that is nearest to an unseen one. */
typedef struct ast_neighbour {
    int32_t slot;        /* -1: not known */
    double cosine;       /* of its mean and m_k; -4 if no cluster has points */
    double unseen_bound; /* an unseen cluster cannot win a point whose best score is at least this */
} ast_neighbour;

typedef struct ast_tracks {
    size_t count, capacity, dimension; /* tracked clusters are slots 0..count-1, in order of id */
    double q;                          /* Q = lambda / lifetime */
    bool unseen_may_win;               /* clusters without points are candidates */
    bool axial;                        /* x and -x are the same */
    double limit;                      /* a score fits from here */
    bool revive_needs_fit;             /* points that do not fit m_k cannot revive it */
    bool nearest;                      /* scores are cosines with the mean (reliability.c) */
    double *limits;                    /* (count) a score with this cluster fits from here; at most `limit` */
    float *m;                          /* (count, D) the last mean, as expected in this frame */
    double *w;                         /* (count) the weight w_k */
    double *beta;                      /* (count) of the transition */
    uint32_t *dt;                      /* (count) frames since it last had points */
    uint8_t *unseen;                   /* (count) has no points now */
    uint8_t *locked;                   /* (count) the mean stays m_k */
    ast_neighbour *near;               /* (count) of those that are unseen, as of the last ast_tracks_unseen_bound */
    size_t previous_capacity;          /* slots that the following have memory for */
    uint8_t *had_points;               /* (slots) at the last ast_tracks_unseen_bound, */
    float *previous_means;             /* (slots, D) and the mean then */
    int32_t *changed;                  /* (changed_count) slots that differed from the call before */
    size_t changed_count;              /* SIZE_MAX: there was no memory to compare */
    float *pair_bounds; /* (capacity, AST_MASK_BITS) unseen_bound of each cluster and the mean of a slot */
} ast_tracks;

/* Memory for so many clusters; numbers that were there may be lost. */
bool ast_tracks_reserve(ast_tracks *tracks, size_t count, size_t dimension);
void ast_tracks_free(ast_tracks *tracks);

/* Starts a frame: all are unseen. */
void ast_tracks_begin(ast_tracks *tracks);

/* J_k of a point. */
double ast_tracks_score(const ast_tracks *tracks, size_t k, const float *x);

/* Whether a point may revive cluster k at all: with `revive_needs_fit` it has to fit m_k, however long ago that was. */
bool ast_tracks_may_revive(const ast_tracks *tracks, size_t k, const float *x);

/* Whether unseen cluster k might score `best` or more for the point, and fit unless `nearest`. Takes no Newton step. */
bool ast_tracks_may_win(const ast_tracks *tracks, size_t k, const float *x, double best);

/* Functions of the rule, whose data are an ast_tracks. Whether any unseen cluster might score `best` or more for the
 * point; the score with a cluster that has points from which on no unseen cluster can win (only what changed since the
 * last call is computed); and the geodesic mean of point x alone into mu (D). */
bool ast_tracks_unseen_can_win(void *tracks, const float *x, double best);
float ast_tracks_unseen_bound(void *tracks, const ast_cluster_list *clusters);
void ast_tracks_revive(void *tracks, int32_t slot, const float *x, float *mu);

/* After ast_tracks_unseen_bound, if there are no more slots than bits: the same bound per slot, for points whose best
 * score is with the mean of that slot. */
void ast_tracks_unseen_bound_of(void *tracks, const ast_cluster_list *clusters, float of[AST_MASK_BITS]);

/* The geodesic mean of the cluster's sum into mu (D); false: the sum is zero. */
bool ast_tracks_mean(const ast_tracks *tracks, const ast_cluster_list *clusters, size_t k, float *mu);

/* The losses of the geodesic from m_k to the cluster's sum, and its length; 0 and the length where the sum is zero. */
double ast_tracks_geodesic_losses(const ast_tracks *tracks, const ast_cluster_list *clusters, size_t k, double *length);
