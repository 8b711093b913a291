/* SPDX-License-Identifier: MIT
 *
 * The constants were chosen on labelled words and digits; docs/tune.md shows how the answer depends on them. */
#include "tune.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define TOLERANCE 0.1 /* of the range of all levels: a peak may be so far below the best */
#define PLATEAU 1.25  /* the largest angle of a range over its smallest one, at least */
#define SHARE                                                                                                          \
    (2.0 / 3) /* of the separation: below a half, points between two clusters fit neither; from one on, each           \
                 mean fits the other cluster; this is the harmonic mean of the two */
#define STABLE_SHARE 0.6 /* where halves agree on no level, as with ten rows a cluster, from this share of the most */
#define NEARLY 0.98      /* of the best level's excess */
#define ABOUT 0.9        /* of the chosen level's product of excess and stability */
#define DOCUMENTS_EXCESS 0.01 /* least excess of documents: single words reach this without topics */
#define ALL_TO 20             /* every number of clusters up to this one is a level, ... */
#define GROWTH 1.12           /* ... and then each is so much larger than the one before */

size_t ast_tune_list_levels(size_t least, size_t most, ast_tune_level *levels) {
    size_t count = 0, room = AST_TUNE_LEVELS(most);
    double next = ALL_TO;
    for (size_t clusters = 2; clusters <= most && count < room;) {
        if (clusters >= least)
            levels[count++] = (ast_tune_level){
                .clusters = clusters, .silhouette = NAN, .null = NAN, .excess = NAN, .stability = NAN, .null_any = NAN};
        if (clusters == most)
            break;
        if (clusters < ALL_TO) {
            clusters++;
        } else {
            next *= GROWTH;
            clusters = (size_t)lround(next);
        }
        if (clusters > most)
            clusters = most;
    }
    return count;
}

double ast_tune_least_stability(const ast_tune_level *levels, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, levels[i].stability);
    return most >= AST_TUNE_STABLE ? AST_TUNE_STABLE : STABLE_SHARE * most;
}

/* The levels of which one can be chosen, those on which halves agree. Returns their number. */
static size_t list_candidates(ast_tune_level *levels, size_t count, ast_tune_level **candidates) {
    double least = ast_tune_least_stability(levels, count);
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (!(levels[i].stability < least))
            candidates[found++] = &levels[i];
    return found;
}

bool ast_tune_stands_out(const ast_tune_level *level, bool documents) {
    if (!documents)
        return level->silhouette - level->null_any >= AST_TUNE_MIN_EXCESS;
    return level->excess >= DOCUMENTS_EXCESS && !(level->stability < AST_TUNE_STABLE);
}

void ast_tune_mark_peaks(ast_tune_level *levels, size_t count, bool documents) {
    ast_tune_level *candidates[AST_TUNE_LEVELS(SIZE_MAX)];
    double highest = -INFINITY, lowest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        levels[i].excess = levels[i].silhouette - levels[i].null;
        levels[i].peak = levels[i].local_peak = 0;
    }
    size_t found = list_candidates(levels, count, candidates);
    for (size_t i = 0; i < found; i++) {
        highest = fmax(highest, candidates[i]->excess);
        lowest = fmin(lowest, candidates[i]->excess);
    }
    for (size_t i = 0; i < found; i++) {
        double excess = candidates[i]->excess;
        bool local =
            (i == 0 || excess > candidates[i - 1]->excess) && (i + 1 == found || excess >= candidates[i + 1]->excess);
        candidates[i]->peak = local && excess >= highest - TOLERANCE * (highest - lowest);
        candidates[i]->local_peak = local && ast_tune_stands_out(candidates[i], documents);
    }
}

size_t ast_tune_finest_scale(const ast_tune_level *levels, size_t count) {
    double highest = -INFINITY, lowest = INFINITY, valley = INFINITY;
    size_t finest = 0;
    for (size_t i = 0; i < count; i++) {
        highest = fmax(highest, levels[i].excess);
        lowest = fmin(lowest, levels[i].excess);
    }
    for (size_t i = 0; i < count; i++) {
        valley = fmin(valley, levels[i].excess);
        bool rises = levels[i].local_peak && levels[i].excess - valley >= TOLERANCE * (highest - lowest);
        if (!levels[i].peak && !rises)
            continue;
        finest = levels[i].clusters;
        valley = levels[i].excess;
    }
    return finest;
}

size_t ast_tune_finest_peak(const ast_tune_level *levels, size_t count) {
    size_t largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = levels[i].peak ? levels[i].clusters : largest;
    return largest;
}

/* The excess of the worse neighbour; a level at an end has one. */
static double worse_neighbour(const double *excess, size_t count, size_t i) {
    double before = i > 0 ? excess[i - 1] : NAN, after = i + 1 < count ? excess[i + 1] : NAN;
    return fmin(before, after);
}

/* The part of the excess that other rows would give again. */
static double repeatable(double excess, const ast_tune_level *level) {
    return isnan(level->stability) ? excess : excess * level->stability;
}

size_t ast_tune_level_by_excess(const double *excess, const ast_tune_level *levels, size_t count, size_t chosen) {
    double highest = repeatable(excess[chosen], &levels[chosen]), safest = -INFINITY;
    size_t settled = chosen;
    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, repeatable(excess[i], &levels[i]));
    for (size_t i = 0; i < count; i++) {
        double worse = worse_neighbour(excess, count, i);
        if (!(repeatable(excess[i], &levels[i]) >= NEARLY * highest) || worse <= safest)
            continue;
        safest = worse;
        settled = i;
    }
    return settled;
}

bool ast_tune_is_around(const ast_tune_level *levels, size_t chosen, size_t i) {
    return 2 * levels[i].clusters >= levels[chosen].clusters && levels[i].clusters <= 2 * levels[chosen].clusters;
}

size_t ast_tune_steadiest(const ast_tune_level *levels, size_t count, size_t chosen) {
    double least = ast_tune_least_stability(levels, count);
    size_t best = chosen;
    for (size_t i = 0; i < count; i++)
        if (ast_tune_is_around(levels, chosen, i) && !(levels[i].stability < least) &&
            repeatable(levels[i].excess, &levels[i]) > repeatable(levels[best].excess, &levels[best]))
            best = i;
    return best;
}

size_t ast_tune_list_neighbours(const ast_tune_level *levels, size_t count, size_t chosen, size_t most, size_t *found) {
    double least = ABOUT * repeatable(levels[chosen].excess, &levels[chosen]);
    size_t listed = 0;
    found[listed++] = chosen;
    for (size_t step = 1; step < count && listed < most; step++) {
        size_t near[2] = {chosen - step, chosen + step}; /* below 0: beyond count */
        for (int side = 0; side < 2 && listed < most; side++)
            if (near[side] < count && ast_tune_is_around(levels, chosen, near[side]) &&
                repeatable(levels[near[side]].excess, &levels[near[side]]) >= least)
                found[listed++] = near[side];
    }
    return listed;
}

static double width_of(const ast_tune_angle *angles, ast_tune_range range) {
    return range.found ? angles[range.first].angle / fmax(angles[range.last].angle, 1e-3) : 0;
}

/* The widest range of neighbouring angles with so many clusters and silhouettes of at least `least`. */
static ast_tune_range find_range(const ast_tune_angle *angles, size_t count, size_t clusters, double least) {
    ast_tune_range best = {0};
    for (size_t i = 0; i < count; i++) {
        size_t end = i;
        while (end < count && angles[end].clusters == clusters && angles[end].silhouette >= least)
            end++;
        if (end == i)
            continue;
        ast_tune_range range = {true, i, end - 1};
        if (width_of(angles, range) >= PLATEAU && width_of(angles, range) > width_of(angles, best))
            best = range;
        i = end - 1;
    }
    return best;
}

size_t ast_tune_choose(const ast_tune_level *levels, size_t level_count, const ast_tune_angle *angles,
                       size_t angle_count, ast_tune_range *range) {
    double highest = -INFINITY, lowest = INFINITY, steadiest = -INFINITY;
    size_t chosen = 0;
    for (size_t i = 0; i < level_count; i++) {
        highest = fmax(highest, levels[i].silhouette);
        lowest = fmin(lowest, levels[i].silhouette);
    }
    *range = (ast_tune_range){0};
    for (size_t i = 0; i < level_count; i++) {
        if (!levels[i].peak)
            continue;
        ast_tune_range own =
            find_range(angles, angle_count, levels[i].clusters, levels[i].silhouette - TOLERANCE * (highest - lowest));
        bool wider = width_of(angles, own) > width_of(angles, *range),
             firmer = !range->found && !(levels[i].stability < steadiest);
        if (wider || firmer) {
            chosen = i;
            *range = own;
            steadiest = levels[i].stability;
        }
    }
    return chosen;
}

static int by_angle(const void *a, const void *b) {
    double x = ((const ast_apart *)a)->angle, y = ((const ast_apart *)b)->angle;
    return x < y ? -1 : x > y;
}

double ast_tune_median_separation(ast_apart *apart, size_t count) {
    double all = 0, seen = 0;
    size_t k = 0;
    qsort(apart, count, sizeof *apart, by_angle);
    for (size_t i = 0; i < count; i++)
        all += apart[i].weight;
    while (k + 1 < count && 2 * (seen + apart[k].weight) < all)
        seen += apart[k++].weight;
    return count ? apart[k].angle : NAN;
}

size_t ast_tune_pick_angle(const ast_tune_angle *angles, const ast_tune_range *range, double separation) {
    size_t nearest = range->first;
    for (size_t i = range->first; i <= range->last; i++)
        if (fabs(angles[i].angle - SHARE * separation) <= fabs(angles[nearest].angle - SHARE * separation))
            nearest = i;
    return nearest;
}

size_t ast_tune_least_bad(const ast_tune_angle *angles, size_t count) {
    size_t best = count ? count - 1 : 0;
    double highest = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (angles[i].clusters > 1 && angles[i].silhouette > highest) {
            best = i;
            highest = angles[i].silhouette;
        }
    }
    return best;
}
