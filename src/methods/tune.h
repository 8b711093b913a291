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

/* The number of clusters of the finest scale: the largest peak, or a finer level that stands out and is better than a
 * coarser level behind that peak by a tenth of the range. The scatter within coarse clusters holds the means of the
 * clusters in them: a map that makes it round hides these. */
size_t ast_tune_finest_scale(const ast_tune_level *levels, size_t count);

/* Whether level i has from half to twice the clusters of the chosen one. */
bool ast_tune_is_around(const ast_tune_level *levels, size_t chosen, size_t i);

/* Of the levels around the chosen peak, the one with the largest product of excess and stability: the excess that other
 * rows would give again. Behind the last level on which halves agree, the tree splits large clusters, each half its own
 * way, while small ones still make the silhouette rise. */
size_t ast_tune_steadiest(const ast_tune_level *levels, size_t count, size_t chosen);

/* The chosen level, then those near it that are about as good by that product, the nearest first, the coarser before
 * the finer: at most `most`. Returns their number. */
size_t ast_tune_list_neighbours(const ast_tune_level *levels, size_t count, size_t chosen, size_t most, size_t *found);

/* The level to take after all when the excess of levels around the chosen one was measured on more rows (NaN: of the
 * others it was not). Of those nearly as good as the best by that product, the one whose worse neighbour has the
 * largest excess: one step before a level that splits a large cluster, the run that is recommended may split it
 * already. */
size_t ast_tune_level_by_excess(const double *excess, const ast_tune_level *levels, size_t count, size_t chosen);

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
