/* SPDX-License-Identifier: MIT
 *
 * Clusters that are tracked over a stream, as one frame sees them: where each was, how sure that is, and for how long
 * it has had no points. A tracked cluster without points is a candidate for every point x, with the score
 * (docs/rules.md and methods/stream.c)
 *
 *     J_k = 1 + dt_k Q - losses
 *     losses = min w (1 - cos theta) + dt beta (1 - cos phi) + (1 - cos eta),    theta + phi + eta = zeta,
 *
 * where zeta is the angle between x and m_k. As (1 - cos t) / t^2 falls with t, the losses are at least
 *
 *     W (1 - cos zeta),    1 / W = 1 / w + dt / beta + 1.
 *
 * So J_k is at most 1 + dt_k Q - W (1 - x . m_k), which is linear in a dot product. That shows for nearly every point,
 * without a Newton step, that no cluster without points can win it (unseen_bounds.c). */
#ifndef AST_TRACKS_H
#define AST_TRACKS_H

#include "clusters.h"

/* Which of the clusters with points is nearest to an unseen one. */
typedef struct ast_neighbour {
    int32_t slot;        /* -1: not known */
    double cosine;       /* of its mean and m_k; -4 if no cluster has points */
    double unseen_bound; /* from this score on the unseen one cannot win */
} ast_neighbour;

typedef struct ast_tracks {
    size_t count, capacity, dimension; /* tracked clusters are slots 0..count-1, in order of id */
    double q;                          /* Q = lambda / lifetime */
    bool candidates;                   /* may clusters without points win at all */
    bool axial;                        /* x and -x are the same */
    double limit;                      /* a score fits from here */
    bool revive_needs_fit;             /* points that do not fit m_k cannot revive it */
    float *m;                          /* (count, D) where each was */
    double *w;                         /* (count) how sure that is */
    double *beta;                      /* (count) of the transition */
    uint32_t *dt;                      /* (count) frames since it last had points */
    uint8_t *unseen;                   /* (count) has no points now */
    ast_neighbour *near;               /* (count) of those that are unseen, as of the last ast_tracks_unseen_bound */
    size_t previous_capacity;          /* slots that the following have memory for */
    uint8_t *met;                      /* (slots) it had points then, */
    float *previous_means;             /* (slots, D) and this mean */
    int32_t *changed;                  /* (slots) list of those that are not as they were */
    size_t changed_count;              /* at the last ast_tracks_unseen_bound; SIZE_MAX: there was no memory to tell */
    float *pairs; /* (capacity, AST_MASK_BITS) as `unseen_bound`, of each cluster and the mean of a slot */
} ast_tracks;

bool ast_tracks_reserve(ast_tracks *tracks, size_t count, size_t dimension);
void ast_tracks_free(ast_tracks *tracks);

/* Starts a frame: everybody unseen. */
void ast_tracks_begin(ast_tracks *tracks);

/* J_k of a point. */
double ast_tracks_score(const ast_tracks *tracks, size_t k, const float *x);

/* Whether a point may revive cluster k at all: with `revive_needs_fit` it has to fit m_k, however long ago that was. */
bool ast_tracks_within(const ast_tracks *tracks, size_t k, const float *x);

/* Whether unseen cluster k might score `best` or more for the point. Takes no Newton step. */
bool ast_tracks_may_win(const ast_tracks *tracks, size_t k, const float *x, double best);

/* Functions of the rule, whose data are an ast_tracks. Whether any unseen cluster might score `best` or more for the
 * point; from which score on with a cluster that has points no unseen one can win, at the cost of what has changed
 * since the last call; and the geodesic mean of point x alone into mu (D). */
bool ast_tracks_unseen_can_win(void *tracks, const float *x, double best);
float ast_tracks_unseen_bound(void *tracks, const ast_cluster_list *clusters);
void ast_tracks_revive(void *tracks, int32_t slot, const float *x, float *mu);

/* After ast_tracks_unseen_bound, where there are no more slots than bits: the same for each slot, for points whose best
 * score is that with its mean. */
void ast_tracks_unseen_bound_of(void *tracks, const ast_cluster_list *clusters, float of[AST_MASK_BITS]);

/* The geodesic mean of the cluster's sum into mu (D); false: the sum is zero. */
bool ast_tracks_mean(const ast_tracks *tracks, const ast_cluster_list *clusters, size_t k, float *mu);

/* The losses of the geodesic from m_k to the cluster's sum, and its length; 0 and the length where the sum is zero. */
double ast_tracks_geodesic_losses(const ast_tracks *tracks, const ast_cluster_list *clusters, size_t k, double *length);

#endif
