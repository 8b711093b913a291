/* SPDX-License-Identifier: MIT
 *
 * The stability of a level: two random halves of the sample are clustered, the means of each half label the whole
 * sample, and the labels are compared (adjusted Rand index). Pieces of a cluster, and topics that are pairs of near
 * copies, differ from half to half; clusters that are there do not. Copies of a row are in the same half. */
#include "tune_call.h"

#include "memory.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 2000   /* points: so many have one pair of halves, fewer have more pairs, of which the mean counts */
#define MOST_SPLITS 5 /* pairs of halves */
#define FEW_ROWS 40   /* different rows: halves of so few have other clusters, and faces of a part few directions */

typedef struct comparison {
    ast_tune_set halves[2];
    ast_tune_cut cuts[2];
    int32_t *labels[2]; /* (count) of the sample */
} comparison;

/* Which half a row is in: copies, which are neighbours, in the same. side: (count) */
static void deal(const ast_tune_set *set, int split, uint8_t *side) {
    size_t dimension = set->points.dimension, bytes = dimension * sizeof *set->rows;
    ast_random random;
    ast_random_seed(&random, AST_TUNE_SEED, 1000 + (uint64_t)split);
    for (size_t i = 0; i < set->points.count; i++) {
        const float *row = set->rows + i * dimension;
        bool copy = i > 0 && memcmp(row, row - dimension, bytes) == 0;
        side[i] = copy ? side[i - 1] : (uint8_t)(ast_random_u64(&random) >> 63);
    }
}

static bool gather(const ast_tune_set *set, const uint8_t *side, uint8_t which, ast_tune_set *half) {
    size_t dimension = set->points.dimension, count = 0, next = 0;
    for (size_t i = 0; i < set->points.count; i++)
        count += side[i] == which;
    if (!ast_tune_set_open(half, count, dimension, set->weights != NULL))
        return false;
    for (size_t i = 0; i < set->points.count; i++) {
        if (side[i] != which)
            continue;
        memcpy(half->rows + next * dimension, set->rows + i * dimension, dimension * sizeof *half->rows);
        if (half->weights)
            half->weights[next] = set->weights[i];
        next++;
    }
    return true;
}

static ast_status open_halves(ast_tuning *t, int split, size_t most, comparison *c) {
    const ast_tune_set *set = &t->sample;
    uint8_t *side = ast_allocate(set->points.count, sizeof *side);
    if (!side)
        return ast_fail_memory(t->fault);
    deal(set, split, side);
    ast_status status = AST_OK;
    for (uint8_t h = 0; h < 2 && status == AST_OK; h++) {
        c->labels[h] = ast_allocate(set->points.count, sizeof *c->labels[h]);
        if (!c->labels[h] || !gather(set, side, h, &c->halves[h]))
            status = ast_fail_memory(t->fault);
        if (status == AST_OK && c->halves[h].points.count > 0) {
            status = ast_tune_grow_tree(t, &c->halves[h], t->report->leaf_angle);
            if (status == AST_OK)
                status = ast_tune_cut_open(t, &c->halves[h], most, &c->cuts[h]);
        }
    }
    ast_free(side);
    return status;
}

static void close_halves(comparison *c) {
    for (int h = 0; h < 2; h++) {
        ast_tune_cut_close(&c->cuts[h]);
        ast_tune_set_free(&c->halves[h]);
        ast_free(c->labels[h]);
    }
}

/* The agreement of the halves at one level: 0 if one of them has not so many clusters. */
static ast_status compare(ast_tuning *t, comparison *c, size_t clusters, double *agreement) {
    const ast_points *points = &t->sample.points;
    ast_agreement found = {.size = sizeof found};
    ast_status status = AST_OK;
    *agreement = 0;
    for (int h = 0; h < 2 && status == AST_OK; h++) {
        if (clusters > c->halves[h].leaf_count)
            return AST_OK;
        status = ast_tune_cut_at(t, &c->cuts[h], clusters);
        ast_assign_options to = ast_assign_to(c->cuts[h].means, c->cuts[h].clusters);
        to.axial = c->cuts[h].axial;
        if (status == AST_OK)
            status = ast_tune_take_fault(t, ast_assign(t->inner, points, &to, c->labels[h], NULL));
    }
    if (status == AST_OK)
        status = ast_tune_take_fault(t, ast_compare(t->inner, c->labels[0], c->labels[1], points->count, &found));
    *agreement = found.ari;
    return status;
}

static ast_status add_split(ast_tuning *t, int split, double share) {
    ast_tuned *tuned = t->tuned;
    comparison c = {0};
    ast_status status = open_halves(t, split, tuned->levels[tuned->level_count - 1].clusters, &c);
    for (size_t i = 0; i < tuned->level_count && status == AST_OK; i++) {
        double agreement;
        status = compare(t, &c, tuned->levels[i].clusters, &agreement);
        tuned->levels[i].stability += share * agreement;
        if (status == AST_OK)
            status = ast_tune_step(t);
    }
    close_halves(&c);
    return status;
}

int ast_tune_splits(const ast_tuning *t) {
    size_t splits = ENOUGH / t->sample.points.count;
    return splits < 1 ? 1 : splits > MOST_SPLITS ? MOST_SPLITS : (int)splits;
}

/* Whether the sample is of few different rows, of which halves say nothing. */
static bool too_few(const ast_tune_set *set) {
    size_t bytes = set->points.dimension * sizeof *set->rows, distinct = set->points.count > 0;
    for (size_t i = 1; i < set->points.count && distinct < FEW_ROWS; i++)
        distinct +=
            memcmp(set->rows + i * set->points.dimension, set->rows + (i - 1) * set->points.dimension, bytes) != 0;
    return distinct < FEW_ROWS;
}

ast_status ast_tune_measure_stability(ast_tuning *t) {
    int splits = ast_tune_splits(t);
    ast_status status = AST_OK;
    if (too_few(&t->sample))
        return AST_OK; /* the stabilities stay NaN: all levels agree */
    for (size_t i = 0; i < t->tuned->level_count; i++)
        t->tuned->levels[i].stability = 0;
    for (int split = 0; split < splits && status == AST_OK; split++)
        status = add_split(t, split, 1.0 / splits);
    return status;
}
