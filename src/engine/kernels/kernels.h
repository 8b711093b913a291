/* SPDX-License-Identifier: MIT
 *
 * The inner loops, in one table of functions for each instruction set. Kernels know points, means and scores; they know
 * no clusters. The table `base` runs anywhere and equals `avx2` in every decision that the rest of the library takes
 * from it: what a float kernel cannot decide within its error bound (ast_score_error) is left to `exact`.
 *
 * Conventions. Points of dimension 2..4 ("small") are stored as columns: x[d][i]. Larger ones are row pointers. Arrays
 * over points are padded to a multiple of AST_LANES, and kernels may read and write the padding. */
#ifndef AST_KERNELS_H
#define AST_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AST_LANES 8
#define AST_BLOCK 256                      /* points that share bounds */
#define AST_GROUPS (AST_BLOCK / AST_LANES) /* of a block: small points are scored a group at a time */
#define AST_ALL_GROUPS UINT32_MAX          /* one bit each */
#define AST_PANEL 16                       /* means in one panel of a large table */
#define AST_SMALL 4                        /* the largest dimension that is stored as columns */
#define AST_UNIT_TOLERANCE 0x1p-22         /* of a squared length: a row so close to a unit vector is taken as it is */
#define AST_NO_SCORE (-4.0f)               /* below every cosine: the best score where there is no mean */
#define AST_NOBODY (-3)                    /* the id that goes with it */

/* Means packed for the kernels, in order of cluster index (equal scores go to the first). */
typedef struct ast_table {
    size_t dimension, count, capacity; /* capacity is a multiple of AST_PANEL */
    int32_t *ids;                      /* (capacity) what the kernels write for mean k */
    float *means;                      /* small: (D, capacity); large: (capacity / AST_PANEL, D, AST_PANEL) */
    float *bias; /* large: (capacity) 0 for a mean, AST_NO_SCORE for the unused columns of the last panel */
    bool axial;  /* scores are |x . mu| */
} ast_table;

/* For each point the best score, the second best and the id of the best. */
typedef struct ast_scores {
    float *best, *second;
    int32_t *id;
} ast_scores;

/* A sparse row: its entries in order of column, no column twice. */
typedef struct ast_sparse_row {
    const float *values;
    const int32_t *columns; /* 0..D-1 */
    size_t count;
} ast_sparse_row;

/* Balls in three dimensions: centres and radii, (4, pitch). Room for AST_LANES more can be read. */
typedef struct ast_balls {
    float *columns;
    size_t pitch;
} ast_balls;

/* The key of a point: the keys of a cluster's members, added up modulo 2^64, stand for the set of them. Within a group
 * of 8 the keys are an odd random number times 1, 2, 4 .. 128: no sum of differences in one group is zero. */
static inline uint64_t ast_key(size_t point) {
    uint64_t group = (uint64_t)(point >> 3) + 0x9e3779b97f4a7c15u;
    group = (group ^ (group >> 30)) * 0xbf58476d1ce4e5b9u;
    group = (group ^ (group >> 27)) * 0x94d049bb133111ebu;
    return ((group ^ (group >> 31)) | 1) << (point & 7);
}

/* Exact sums of small points: sums[copy][slot] = {x.., count} in units of 2^-30, keys[copy][slot]. Several copies break
 * the chain of dependent additions where neighbours share a label. Both pointers are AST_BIN_MARGIN bins into their
 * arrays, so that negative labels fall into bins that nobody reads. */
#define AST_SUM_WIDTH(dimension) ((dimension) <= 3 ? 4 : 8)
#define AST_BIN_MARGIN 4
typedef struct ast_bins {
    size_t slots, copies; /* copies is 1 or 4; slots includes the margin */
    int64_t *sums;        /* (copies, slots, AST_SUM_WIDTH(D)) */
    uint64_t *keys;       /* (copies, slots) */
} ast_bins;

/* A block of small points to score. A gap is how far a point is from being undecided: min(best - second, best - fit),
 * and INFINITY for the label -1. */
typedef struct ast_small_block {
    const float *x[AST_SMALL];
    int32_t *labels;
    ast_scores scores; /* of the groups that are scored; the id of a point labelled -1 is -1 */
    uint8_t *signs; /* (AST_GROUPS) axial: one bit for each point whose product with the mean of its label is negative;
                       a point for which that has changed counts as undecided */
    float *gaps;    /* (AST_GROUPS) the smallest of each group, plus `lead` */
    float lead;
    float fit;
    float margin; /* a gap up to here does not decide */
} ast_small_block;

typedef struct ast_small_result {
    uint32_t fresh; /* one bit for each group that was scored */
    float gap;      /* the smallest of all groups, as stored */
    bool attention; /* a point may be undecided, or has a label of 0 or more and another id */
} ast_small_result;

typedef struct ast_kernels {
    const char *name;
    const struct ast_silhouette_kernels *silhouette;
    const struct ast_mixing *mixing;

    /* Tight rows of n small points into columns. Lists the points whose squared length, in double, is farther than
     * AST_UNIT_TOLERANCE from 1 or not a number. Index with the dimension, 2..4, here and below. */
    size_t (*split_columns[AST_SMALL + 1])(const float *rows, size_t n, float *const *x, uint32_t *list);

    /* Scores of n small points against every mean of the table. */
    void (*score_columns[AST_SMALL + 1])(const float *const *x, size_t n, const ast_table *table, ast_scores out);

    /* Scores the groups of a block whose gap, as stored, is at most `awake`. */
    ast_small_result (*label_block[AST_SMALL + 1])(const ast_small_block *block, const ast_table *table, float awake);

    /* Scores every group, makes the ids the labels, and adds every point, axial with its sign, to the sums of its id.
     * Stores no scores. */
    ast_small_result (*label_and_sum[AST_SMALL + 1])(const ast_small_block *block, const ast_table *table,
                                                     ast_bins *bins);

    /* The same for n rows of a large dimension, but of equal best scores any may give the id.
     * scratch: AST_ROW_SCRATCH floats, aligned to 32 bytes. */
    void (*score_rows)(const float *const *rows, size_t n, const ast_table *table, ast_scores out, float *scratch);

    /* The same for n sparse rows and a large table. Errors are those of a row's entries: ast_score_error(count). */
    void (*score_sparse)(const ast_sparse_row *rows, size_t n, const ast_table *table, ast_scores out, float *scratch);

    /* Adds n small points (a multiple of AST_LANES) to the sums of their labels. */
    void (*sum_columns[AST_SMALL + 1])(const float *const *x, const int32_t *labels, size_t n, ast_bins *bins);

    /* Adds the keys of points first..first+n, both multiples of AST_LANES, to those of their labels. */
    void (*add_keys)(const int32_t *labels, size_t n, size_t first, ast_bins *bins);

    /* Points labelled -2 take their proposal; n is a multiple of AST_LANES. */
    void (*adopt)(int32_t *labels, const int32_t *proposals, size_t n);

    /* Bit (label mod 32) of every label of 0 or more; n is a multiple of AST_LANES. */
    uint32_t (*label_mask)(const int32_t *labels, size_t n);

    /* sum[d] += sign * round(x[d] 2^30), sign +1 or -1. */
    void (*sum_row)(const float *x, size_t dimension, int sign, int64_t *sum);

    /* Marks the points of a block whose scores do not decide, in the groups that have a bit in `groups`, but for the
     * labels -1: best < fit, or best - second <= margin, or, if `changes`, id != label. One bit each; false if none. */
    bool (*screen)(ast_scores scores, const int32_t *labels, uint32_t groups, float fit, float margin, bool changes,
                   uint64_t bits[AST_BLOCK / 64]);

    /* Lists the points with min(best - second, best - fit) <= allowance, but for the labels -1. n is a multiple of
     * AST_LANES. */
    size_t (*narrow)(const float *best, const float *second, const int32_t *labels, size_t n, float fit,
                     float allowance, uint32_t *list);

    /* Joins the scores against two tables: mine becomes those against both. */
    void (*merge)(ast_scores mine, ast_scores other, size_t n);

    /* The squared length of a row in double, additions in any order: within D 2^-52 of the exact one, relatively. */
    double (*squared_length)(const float *x, size_t dimension);

    /* Dot product in double with the same additions in every table: eight partial sums, then those in order. */
    double (*steady_dot)(const float *a, const float *b, size_t dimension);

    /* Dot product in float, any order of additions. */
    float (*dot)(const float *a, const float *b, size_t dimension);

    /* Three dimensions. Of the means in `from` keeps, in order, those that can have the largest exact score, or share
     * it and come first, for some x with |x - centre| <= radius. The radius has to have 2^-20 to spare. `to` has a
     * capacity of from->count + AST_LANES at least. */
    void (*prune_means)(const ast_table *from, const float *centre, float radius, ast_table *to);

    /* Three dimensions. Lists those of the balls first..first+n that the ball of radius `reach` around the centre
     * meets: distances in float, wrong by less than 2^-20 while they are below 8. */
    size_t (*meet_balls)(const ast_balls *balls, size_t first, size_t n, const float *centre, float reach,
                         uint32_t *list);
} ast_kernels;

/* Scratch of score_rows, in floats: best, second and id in AST_LANES lanes for each row of a tile. */
#define AST_TILE_ROWS 96
#define AST_ROW_SCRATCH (3 * AST_LANES * AST_TILE_ROWS)

/* By name ("base", "avx2") or, with NULL, the best that the processor has; never NULL, falls back to base. */
const ast_kernels *ast_kernels_choose(const char *name);

/* No float score of dimension D differs from the exact one by more than this: each of the D products and D sums rounds
 * once, relative to at most |x| |mu| <= 1 + 2^-22. Two more for what the callers do with it. */
static inline float ast_score_error(size_t dimension) {
    return (float)(2 * dimension + 2) * 0x1p-24f;
}

/* The score by definition: products and sums in double, components in order. */
double ast_exact_score(const float *x, const float *mu, size_t dimension);

/* The exact scores of one point against every mean of a table: scores (count rounded up to AST_PANEL). */
void ast_exact_scores(const float *x, const ast_table *table, double *scores);

#endif
