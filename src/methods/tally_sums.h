/* SPDX-License-Identifier: MIT
 *
 * The sums of a set of points in one iteration of spherical k-means (asterism_tally.h). They depend on the set alone,
 * so that sets can be joined in any order. Beside the sums there are the rows of the few points that an iteration may
 * need because a cluster is empty or has a single point.
 *
 * Let E of K clusters be empty. Filling them takes E points and skips at most K - E others, each the last one of its
 * cluster: so the K worst points are enough, and none are needed if E = 0. A cluster that is left with one point had at
 * most E + 1, of which the nearest is left. Both lists follow from those of the parts: the union of two sets has no
 * more empty clusters than either, and no cluster has fewer points. */
#pragma once

#include "asterism_tally.h"
#include "labelling.h"

/* A point that is kept with its row. */
typedef struct ast_kept_point {
    uint64_t point; /* its number among all */
    double score;   /* with its mean: the cosine, axial: its magnitude */
    double weight;  /* divided by the smallest */
    int32_t label;
    uint32_t opposite; /* axial: 1 if -row was added, the row being the canonical one */
} ast_kept_point;

typedef struct ast_kept_point_list {
    ast_kept_point *items;
    float *rows; /* (count, D) */
    size_t count;
} ast_kept_point_list;

/* The sums of a set of points. Sums, weights and members are borrowed from a list of clusters, or from elsewhere. */
typedef struct ast_tally_sums {
    int64_t *sums, *weights, *members; /* (K, D), (K), (K) */
    ast_kept_point_list worst;         /* in order of score, then of number: min(K, points) if a cluster is empty */
    ast_kept_point_list nearest;       /* in order of label: of each cluster with 1..E+1 points */
    uint64_t points, missing, changed;
    uint64_t label_hash; /* of the labels */
} ast_tally_sums;

/* Frees the two lists. */
void ast_tally_free(ast_tally_sums *sums);

/* How many of the K clusters have no member. */
size_t ast_tally_empty(const int64_t *members, size_t clusters);

/* The sums of the points of a labelling after its first pass; its first point is number `first` of all. The caller
 * frees the lists, the rest is borrowed from the labelling. false: no memory. */
bool ast_tally_gather(ast_labelling *labelling, uint64_t first, ast_tally_sums *part);

/* Adds a part to `all`, both against K means of dimension D. false: no memory, and nothing changed. */
bool ast_tally_join(ast_tally_sums *all, const ast_tally_sums *part, size_t clusters, size_t dimension);

/* Empty clusters take the points that fit worst. moves: (E) what happened. There are as many points as clusters. */
void ast_tally_fill(ast_tally_sums *all, ast_cluster_list *clusters, ast_tally_move *moves);

/* The means of all clusters, after that. */
void ast_tally_means(const ast_tally_sums *all, ast_cluster_list *clusters, const ast_tally_move *moves, size_t moved);
