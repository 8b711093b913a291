/* SPDX-License-Identifier: MIT
 *
 * How tune chooses (docs/tune.md): which levels of the tree of joins are looked at, which of them are peaks, and which
 * range of angles, if any, finds the clusters of a peak without merging. It sees numbers only, no points. */
#pragma once

#include "asterism.h"

#include <stdbool.h>

#define AST_TUNE_MIN_EXCESS 0.05 /* an excess below this is what draws of one distribution reach among themselves */
#define AST_TUNE_STABLE 0.5      /* halves agree from here on: 1 for equal clusters, 0 for random ones */

/* The levels to look at, `least` clusters first: all up to 20, then in steps of 12%, and `most` itself. Returns their
 * number; `levels` has room for AST_TUNE_LEVELS(most). */
#define AST_TUNE_LEVELS(most) ((most) < 400 ? (size_t)(most) : (size_t)400)
size_t ast_tune_list_levels(size_t least, size_t most, ast_tune_level *levels);

/* Marks the peaks among the levels on which two halves of the sample agree: better than the level before, at least as
 * good as the level after, and at most a tenth of the range of all below the best. Silhouette, null and stability are
 * given (NaN: all agree); the rest is filled in. `documents`: rows are sparse. */
void ast_tune_mark_peaks(ast_tune_level *levels, size_t count, bool documents);

/* Halves agree on a level unless its stability is below this one. */
double ast_tune_least_stability(const ast_tune_level *levels, size_t count);

/* Whether a level stands out from the draws. Documents have small silhouettes, and draws of one distribution are no
 * documents, which share rare words by chance: two halves of the sample must agree as well. */
bool ast_tune_stands_out(const ast_tune_level *level, bool documents);

/* The largest peak's number of clusters. */
size_t ast_tune_finest_peak(const ast_tune_level *levels, size_t count);

/* Chooses again among the levels around the chosen one, whose excess was measured on more rows (NaN: not measured). Of
 * the levels nearly as good as the best, takes the one whose worse neighbour is best: beside a level that splits a
 * large cluster, the recommended run may split it, too. */
size_t ast_tune_level_by_excess(const double *excess, size_t count, size_t chosen);

/* A range of neighbouring angles: rows first..last. */
typedef struct ast_tune_range {
    bool found;
    size_t first, last;
} ast_tune_range;

/* The level to take: the peak with the widest range of angles that find it without merging; if no peak has such a
 * range, the most stable peak, of equals the finest. */
size_t ast_tune_choose(const ast_tune_level *levels, size_t level_count, const ast_tune_angle *angles,
                       size_t angle_count, ast_tune_range *range);

/* How far a cluster is from the nearest other one, in degrees, and its weight. */
typedef struct ast_apart {
    double angle, weight;
} ast_apart;

/* The median of the angles by weight; sorts them. */
double ast_tune_median_separation(ast_apart *apart, size_t count);

/* The index of the angle in the range that is nearest to two thirds of the separation; of equals the smallest angle. */
size_t ast_tune_pick_angle(const ast_tune_angle *angles, const ast_tune_range *range, double separation);

/* Weak data: the angle whose two or more clusters have the highest silhouette; of equals the largest. Without such an
 * angle, the last one. */
size_t ast_tune_least_bad(const ast_tune_angle *angles, size_t count);
