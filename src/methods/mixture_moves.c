/* SPDX-License-Identifier: MIT
 *
 * The second part of the search for a number of components. A descent from many components joins near ones before EM
 * has told them apart. So EM, without joins, also runs from
 *
 * - few components: groups of pieces by k-means++ for every K up to MOST_COARSE;
 * - the best components with one of them split across its widest axis;
 * - the best components with two of them joined, whatever F is before EM;
 *
 * and the largest F is kept, until no split and no join raises it. Pieces are the clusters that the search starts from:
 * a start is made of their masses and sums, so that it costs no pass. Work, in products of a pass, is bounded. */
#include "mixture_search.h"

#include "memory.h"
#include "random.h"
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COARSE 6   /* components of a coarse start */
#define COARSE_STARTS 4 /* for each number of them */
#define LLOYD_PASSES 20 /* over the pieces */
#define AXIS_STEPS 20   /* of the power iteration */
#define LEAST_WORK 2e9  /* products that these moves may cost; or a quarter of the descent's */
#define LEAST_GAIN 1e-6 /* of F */

/* ---- Groups of pieces ---- */

static const double *piece_sum(const ast_mixture_search *s, size_t i) {
    return s->pieces.sums + i * s->prior.dimension;
}

static void unit_mean(const ast_mixture_search *s, const double *sum, double *mean) {
    memcpy(mean, sum, s->prior.dimension * sizeof *mean);
    ast_normalise(mean, s->prior.dimension);
}

/* Masses and sums of the groups, 0 to count - 1; a piece of group `count` belongs to the background. */
static void sum_groups(ast_mixture_search *s, size_t count) {
    size_t dimension = s->prior.dimension;
    s->count = count;
    s->hard = false;
    memset(s->mass, 0, (count + 1) * sizeof *s->mass);
    memset(s->sums, 0, count * dimension * sizeof *s->sums);
    for (size_t i = 0; i < s->pieces.count; i++) {
        size_t k = s->pieces.group[i];
        s->mass[k] += s->pieces.mass[i];
        for (size_t d = 0; d < dimension && k < count; d++)
            ast_search_sum(s, k)[d] += piece_sum(s, i)[d];
    }
    if (s->m.c->background)
        s->mass[count] = fmax(s->mass[count], s->points * AST_FIRST_SHARE / 2);
}

/* Groups by the best of the components. */
static void group_by_components(ast_mixture_search *s) {
    const ast_components *c = s->m.c;
    for (size_t i = 0; i < s->pieces.count; i++) {
        double most = -INFINITY;
        for (size_t k = 0; k < ast_components_all(c); k++) {
            double along = ast_dot(c->means + k * c->dimension, piece_sum(s, i), c->dimension);
            double score = s->pieces.mass[i] * c->offsets[k] + c->kappas[k] * along;
            if (score > most) {
                most = score;
                s->pieces.group[i] = k;
            }
        }
    }
}

/* ---- Coarse groups: k-means over the pieces ---- */

/* k-means++: the next mean is a piece, in proportion to what it loses with the means so far. */
static void seed_means(ast_mixture_search *s, size_t count, ast_random *random) {
    size_t dimension = s->prior.dimension, chosen = (size_t)ast_random_below(random, s->pieces.count);
    double *loss = s->pieces.scratch;
    for (size_t k = 0; k < count; k++) {
        double total = 0;
        unit_mean(s, piece_sum(s, chosen), s->pieces.means + k * dimension);
        for (size_t i = 0; i < s->pieces.count; i++) {
            double along = ast_dot(piece_sum(s, i), s->pieces.means + k * dimension, dimension);
            double now = fmax(0, s->pieces.mass[i] - along);
            loss[i] = k == 0 ? now : fmin(loss[i], now);
            total += loss[i];
        }
        double left = total * ast_random_uniform(random);
        for (chosen = 0; chosen + 1 < s->pieces.count && left >= loss[chosen]; chosen++)
            left -= loss[chosen];
    }
}

static void group_by_means(ast_mixture_search *s, size_t count) {
    size_t dimension = s->prior.dimension;
    for (size_t i = 0; i < s->pieces.count; i++) {
        double most = -INFINITY;
        for (size_t k = 0; k < count; k++) {
            double along = ast_dot(piece_sum(s, i), s->pieces.means + k * dimension, dimension);
            s->pieces.group[i] = along > most ? k : s->pieces.group[i];
            most = fmax(most, along);
        }
    }
}

static void find_coarse_groups(ast_mixture_search *s, size_t count, ast_random *random) {
    seed_means(s, count, random);
    for (int pass = 0; pass < LLOYD_PASSES; pass++) {
        group_by_means(s, count);
        sum_groups(s, count);
        for (size_t k = 0; k < count; k++)
            if (s->mass[k] > 0)
                unit_mean(s, ast_search_sum(s, k), s->pieces.means + k * s->prior.dimension);
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Half of the pieces, those farthest from their mean, go to the background. */
static void keep_cores(ast_mixture_search *s, size_t count) {
    size_t dimension = s->prior.dimension;
    double *away = s->pieces.scratch, *sorted = away + s->pieces.count;
    for (size_t i = 0; i < s->pieces.count; i++)
        away[i] = 1 - ast_dot(piece_sum(s, i), s->pieces.means + s->pieces.group[i] * dimension, dimension) /
                          s->pieces.mass[i];
    memcpy(sorted, away, s->pieces.count * sizeof *sorted);
    qsort(sorted, s->pieces.count, sizeof *sorted, by_value);
    for (size_t i = 0; i < s->pieces.count; i++)
        if (away[i] > sorted[s->pieces.count / 2])
            s->pieces.group[i] = count;
}

/* ---- One component in two, two in one ---- */

/* What a piece adds across the mean of its group. */
static void across(const ast_mixture_search *s, size_t i, const double *mean, double *rest) {
    double along = ast_dot(piece_sum(s, i), mean, s->prior.dimension);
    for (size_t d = 0; d < s->prior.dimension; d++)
        rest[d] = piece_sum(s, i)[d] - along * mean[d];
}

/* The widest axis of group k about its mean, by power iteration from the piece that is farthest across. */
static void find_axis(const ast_mixture_search *s, size_t k, const double *mean, double *axis) {
    size_t dimension = s->prior.dimension;
    double *rest = s->scratch, *next = rest + dimension, most = -1;
    for (size_t i = 0; i < s->pieces.count; i++) {
        if (s->pieces.group[i] != k)
            continue;
        across(s, i, mean, rest);
        double square = ast_dot(rest, rest, dimension) / s->pieces.mass[i];
        if (square > most)
            memcpy(axis, rest, dimension * sizeof *axis);
        most = fmax(most, square);
    }
    for (int step = 0; step < AXIS_STEPS && ast_normalise(axis, dimension) > 0; step++) {
        memset(next, 0, dimension * sizeof *next);
        for (size_t i = 0; i < s->pieces.count; i++) {
            if (s->pieces.group[i] != k)
                continue;
            across(s, i, mean, rest);
            double part = ast_dot(rest, axis, dimension) / s->pieces.mass[i];
            for (size_t d = 0; d < dimension; d++)
                next[d] += part * rest[d];
        }
        memcpy(axis, next, dimension * sizeof *axis);
    }
}

/* The half of group k beyond its mean becomes group `count`; the background moves up. false: it has no two halves. */
static bool split_group(ast_mixture_search *s, size_t k, size_t count) {
    double *mean = s->scratch + 2 * s->prior.dimension, *axis = mean + s->prior.dimension;
    size_t left = 0, right = 0;
    sum_groups(s, count);
    unit_mean(s, ast_search_sum(s, k), mean);
    find_axis(s, k, mean, axis);
    for (size_t i = 0; i < s->pieces.count; i++) {
        size_t *group = &s->pieces.group[i];
        bool beyond = *group == k && ast_dot(piece_sum(s, i), axis, s->prior.dimension) > 0;
        left += *group == k && !beyond;
        right += beyond;
        *group = beyond ? count : *group == count ? count + 1 : *group;
    }
    return left > 0 && right > 0;
}

/* Group b joins group a, a < b; the groups above b move down, the background with them. */
static void join_groups(ast_mixture_search *s, size_t a, size_t b) {
    for (size_t i = 0; i < s->pieces.count; i++) {
        size_t *group = &s->pieces.group[i];
        *group = *group == b ? a : *group - (*group > b);
    }
}

/* ---- The moves ---- */

/* Restores the best components, and groups the pieces by them. */
static void take_best(ast_mixture_search *s) {
    ast_components_copy(s->m.c, &s->best);
    s->prior = s->best_prior;
    group_by_components(s);
}

/* EM from the groups; *better: the best F became larger. */
static ast_status settle_groups(ast_mixture_search *s, size_t count, bool *better, ast_fault *fault) {
    double before = s->best_evidence;
    sum_groups(s, count);
    ast_status status = ast_search_converge(s, fault);
    if (status == AST_OK && s->evidence > before + LEAST_GAIN) {
        ast_search_keep(s);
        *better = true;
    }
    return status;
}

static bool may_work(const ast_mixture_search *s) {
    return s->work < s->most_work;
}

static ast_status try_coarse(ast_mixture_search *s, bool *better, ast_fault *fault) {
    ast_status status = AST_OK;
    ast_random random;
    ast_random_seed(&random, s->m.run->options->seed, (uint64_t)s->m.run->restart);
    size_t most = (size_t)fmin(MOST_COARSE, fmin((double)s->room, (double)s->pieces.count));
    for (size_t count = 2; count <= most && count <= s->best.count + 2; count++)
        for (int start = 0; start < COARSE_STARTS && may_work(s) && status == AST_OK; start++) {
            s->prior = s->best_prior;
            find_coarse_groups(s, count, &random);
            if (s->m.c->background && start % 2)
                keep_cores(s, count);
            status = settle_groups(s, count, better, fault);
        }
    return status;
}

static ast_status try_splits(ast_mixture_search *s, bool *better, ast_fault *fault) {
    ast_status status = AST_OK;
    size_t count = s->best.count;
    for (size_t k = 0; k < count && !*better && count + 1 <= s->room && may_work(s) && status == AST_OK; k++) {
        take_best(s);
        if (split_group(s, k, count))
            status = settle_groups(s, count + 1, better, fault);
    }
    return status;
}

static ast_status try_joins(ast_mixture_search *s, bool *better, ast_fault *fault) {
    ast_status status = AST_OK;
    size_t count = s->best.count;
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count && !*better && may_work(s) && status == AST_OK; b++) {
            take_best(s);
            join_groups(s, a, b);
            status = settle_groups(s, count - 1, better, fault);
        }
    return status;
}

ast_status ast_search_try_moves(ast_mixture_search *s, ast_fault *fault) {
    bool better = false;
    ast_status status = AST_OK;
    s->most_work = fmax(LEAST_WORK, s->work / 4);
    s->work = 0;
    if (s->best.count <= MOST_COARSE)
        status = try_coarse(s, &better, fault);
    for (better = true; better && status == AST_OK;) {
        better = false;
        status = try_splits(s, &better, fault);
        if (status == AST_OK && !better)
            status = try_joins(s, &better, fault);
    }
    return status;
}
