/* SPDX-License-Identifier: MIT
 *
 * The inner loops, in one table of functions per instruction set. Kernels know points, means and scores, not clusters.
 * The table `base` runs anywhere. It equals `avx2` and `neon` in every decision that the library takes from it: points
 * that a float kernel cannot decide within its error bound (ast_score_error) are decided by exact scores.
 *
 * Conventions: points of dimension 2..4 ("small") are stored as columns: x[d][i]. Larger points are row pointers.
 * Arrays over points are padded to a multiple of AST_LANES, and kernels may read and write the padding. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AST_LANES 8
#define AST_BLOCK 256                      /* points that share bounds */
#define AST_GROUPS (AST_BLOCK / AST_LANES) /* small points are scored one group at a time */
#define AST_ALL_GROUPS UINT32_MAX          /* one bit per group */
#define AST_EXACT_PANEL 8                  /* columns of a panel of doubles */
#define AST_PANEL 16                       /* means in one panel of a large table */
#define AST_SMALL 4                        /* the largest dimension that is stored as columns */
#define AST_UNIT_TOLERANCE 0x1p-22         /* a row whose squared length is this close to 1 counts as a unit vector */
#define AST_NO_SCORE (-4.0f)               /* below every cosine: the best score if there is no mean */
#define AST_NOBODY (-3)                    /* the id that goes with it */

/* Means packed for the kernels, in order of cluster index (equal scores go to the first). */
typedef struct ast_mean_table {
    size_t dimension, count, capacity; /* capacity is a multiple of AST_PANEL */
    int32_t *ids;                      /* (capacity) the id that kernels write for mean k */
    float *means;                      /* small: (D, capacity); large: (capacity / AST_PANEL, D, AST_PANEL) */
    float *bias; /* large: (capacity) added to the scores: 0 for a mean, AST_NO_SCORE for unused columns of the last
                    panel */
    bool axial;  /* scores are |x . mu| */
    struct ast_mean_heads *heads; /* heads of these means (heads.h); NULL: none */
} ast_mean_table;

/* For each point the best score, the second best and the id of the best. */
typedef struct ast_scores {
    float *best, *second;
    int32_t *id;
} ast_scores;

/* The scores from point i on. */
static inline ast_scores ast_scores_at(ast_scores scores, size_t i) {
    return (ast_scores){scores.best + i, scores.second + i, scores.id + i};
}

/* A sparse row: entries in order of column, each column at most once. */
typedef struct ast_sparse_row {
    const float *values;
    const int32_t *columns; /* 0..D-1 */
    size_t count;
} ast_sparse_row;

/* Balls in three dimensions: centres and radii, (4, pitch). AST_LANES more floats can be read. */
typedef struct ast_balls {
    float *columns;
    size_t pitch;
} ast_balls;

/* The key of a point. The sum of the keys of a cluster's members, modulo 2^64, represents the set of members. Within a
 * group of 8 the keys are an odd random number times 1, 2, 4 .. 128: no sum of differences within a group is zero. */
static inline uint64_t ast_key(size_t point) {
    uint64_t group = (uint64_t)(point >> 3) + 0x9e3779b97f4a7c15u;
    group = (group ^ (group >> 30)) * 0xbf58476d1ce4e5b9u;
    group = (group ^ (group >> 27)) * 0x94d049bb133111ebu;
    return ((group ^ (group >> 31)) | 1) << (point & 7);
}

/* Exact sums of small points: sums[copy][slot] = {x.., count} in units of 2^-30, keys[copy][slot]. Multiple copies
 * break the chain of dependent additions when neighbours share a label. Both pointers point AST_BIN_MARGIN bins into
 * their arrays, so that negative labels go to bins that are never read. */
#define AST_SUM_WIDTH(dimension) ((dimension) <= 3 ? 4 : 8)
#define AST_BIN_MARGIN 4
typedef struct ast_bins {
    size_t slots, copies; /* copies is 1 or 4; slots includes the margin */
    int64_t *sums;        /* (copies, slots, AST_SUM_WIDTH(D)) */
    uint64_t *keys;       /* (copies, slots) */
} ast_bins;

/* A block of small points to score. The gap of a point, min(best - second, best - fit), is its distance from being
 * undecided; it is INFINITY for the label -1. */
typedef struct ast_small_block {
    const float *x[AST_SMALL];
    int32_t *labels;
    ast_scores scores; /* of the groups that are scored; a point labelled -1 has id -1 */
    uint8_t *signs; /* (AST_GROUPS) axial: one bit per point, set if its product with the mean of its label is negative;
                       a point whose bit changes is undecided */
    float *gaps;    /* (AST_GROUPS) the smallest gap of each group, plus `drift` */
    float drift;
    float fit;
    float margin;             /* gaps up to this do not decide */
    const float *half_angles; /* label_rows: NULL, or (table->count) as of ast_half_angle_cosines */
    int32_t label_before; /* label_rows: the label of the point before the block, one of the table's ids, or below 0 */
    const uint8_t *late;  /* label_rows: NULL, or (AST_BLOCK) not 0: the point is left out and gets the label -1 */
} ast_small_block;

typedef struct ast_small_result {
    uint32_t scored_groups; /* one bit per scored group */
    float gap;              /* the smallest stored gap of all groups */
    float least;            /* the smallest best score of the scored groups' points, except label -1 */
    bool attention;         /* a point may be undecided, or has a label >= 0 and another id */
    uint32_t mask;          /* label_rows: bit (label mod 32) of every label >= 0, and maybe of `label_before` */
    size_t holes;           /* label_rows: points whose components are all NaN */
    size_t late;            /* label_rows: late points that are not holes */
} ast_small_result;

/* Rows that are not unit vectors. */
typedef struct ast_odd_rows {
    uint32_t *list; /* (n) indices of the rows */
    size_t count;   /* rows in the list */
    size_t holes;   /* rows whose components are all NaN; they are not listed */
} ast_odd_rows;

/* A mean that may be the best of a row, and an upper bound of its score (heads.h). */
typedef struct ast_mean_candidate {
    uint32_t mean;
    float upper_bound;
} ast_mean_candidate;

/* A byte is a coordinate in units of its row, rounded: -AST_BYTE..AST_BYTE. The bytes of points have AST_BYTE added. */
#define AST_BYTE 63
#define AST_QUADS 2 /* bytes are multiplied in groups of four, AST_QUADS groups at a time */

/* Heads of means for the kernels. A head is `plain` floats followed by 4 `quads` bytes. */
typedef struct ast_packed_means {
    size_t count, plain, quads;
    float *bias;    /* (capacity) 0 for a mean; AST_NO_SCORE for an unused entry */
    float *floats;  /* (capacity / AST_PANEL, plain, AST_PANEL) */
    int8_t *bytes;  /* (capacity / AST_PANEL, quads, AST_PANEL, 4) */
    int32_t *shift; /* (capacity) minus AST_BYTE times the sum of the bytes */
    float *errors;  /* (capacity) length of the rounding error of the bytes */
    float *tails;   /* (capacity) lengths of the tails */
    bool axial;
} ast_packed_means;

/* Heads of n rows, at most AST_TILE_ROWS. The upper bound of a score is
 *     product of floats + unit (product of bytes) + length (the mean's error) + tail (the mean's tail),
 * axial: with the magnitude of the products. */
typedef struct ast_head_tile {
    size_t n;
    const float *const *floats;     /* (n) */
    const uint8_t *const *bytes;    /* (n) aligned to 4 bytes */
    const float *units;             /* (n) units of the products of bytes */
    const float *lengths;           /* (n) lengths of the numbers that the bytes represent */
    const float *tails;             /* (n) */
    const float *limits;            /* (n) a mean is a candidate if its upper bound is at least this */
    ast_mean_candidate *candidates; /* (n, room) room is enough for all means */
    size_t *counts;                 /* (n) number of candidates */
    float *upper_bounds;            /* (n, room) upper bounds of all means */
    size_t room;                    /* a multiple of AST_PANEL */
} ast_head_tile;

/* The result of rounding numbers to bytes. */
typedef struct ast_bytes_made {
    int32_t sum;  /* sum of the bytes */
    float unit;   /* unit of the bytes */
    float length; /* upper bound of the length of the numbers that the bytes represent */
    float error;  /* upper bound of the length of the rounding errors */
} ast_bytes_made;

typedef struct ast_head_kernels {
    /* Rounds n numbers of a unit vector to bytes, in units of `unit`, and adds `offset`. unit 0: the largest number
     * becomes AST_BYTE. Numbers that are too large become AST_BYTE. */
    ast_bytes_made (*to_bytes)(const float *x, size_t n, float unit, int offset, uint8_t *to);

    /* Lists the candidates of each row of a tile. passed (n): the largest upper bound of the other means. scratch:
     * AST_ROW_SCRATCH floats, aligned to 32 bytes. */
    void (*list_candidates)(const ast_head_tile *tile, const ast_packed_means *means, float *passed, float *scratch);

    /* The same in steps, if limits are not known yet: store the upper bounds of all means; find the index of the first
     * largest of `count`; list those that are at least `limit` and return how many. */
    void (*store_upper_bounds)(const ast_head_tile *tile, const ast_packed_means *means);
    size_t (*largest_upper_bound)(const float *upper_bounds, size_t count);
    size_t (*select_candidates)(const float *upper_bounds, size_t count, float limit, ast_mean_candidate *candidates,
                                float *passed);

    /* Bit k of masks[r]: the product of row r (width) with column k, plus bias[k], is at least 0. 64 columns: panels
     * (64 / AST_PANEL, width, AST_PANEL), aligned as means are. n > 0. */
    void (*mask_products)(const float *const *rows, size_t n, const float *panels, size_t width, const float *bias,
                          uint64_t *masks);

    float byte_cost; /* time of a product of bytes relative to a product of floats */
} ast_head_kernels;

typedef struct ast_kernels {
    const char *name;
    const struct ast_silhouette_kernels *silhouette;
    const struct ast_mixing *mixing;
    const struct ast_direction_kernels *directions;
    ast_head_kernels heads;

    /* Splits packed rows of n small points into columns. A hole, a point whose components are all NaN, becomes zero and
     * gets the label -1, the others -2. Lists the other points whose squared length, in double, is a NaN or differs
     * from 1 by more than AST_UNIT_TOLERANCE. Index with the dimension, 2..4, here and below. */
    void (*split_columns[AST_SMALL + 1])(const float *rows, size_t n, float *const *x, int32_t *labels,
                                         ast_odd_rows *odd);

    /* Scores n small points against every mean of the table. */
    void (*score_columns[AST_SMALL + 1])(const float *const *x, size_t n, const ast_mean_table *table, ast_scores out);

    /* Scores the groups of a block whose stored gap is at most `gap_limit`. */
    ast_small_result (*label_block[AST_SMALL + 1])(const ast_small_block *block, const ast_mean_table *table,
                                                   float gap_limit);

    /* Scores every group, makes the ids the labels, and adds every point (axial: with its sign) to the sums of its id.
     * Stores no scores. */
    ast_small_result (*label_and_sum[AST_SMALL + 1])(const ast_small_block *block, const ast_mean_table *table,
                                                     ast_bins *bins);

    /* The same from packed rows of three components, without columns (block->x): holes get the label -1.
     * `scored_groups` is 0, and the sums are as they were, if a row is neither a hole nor a unit vector. A late one may
     * have another length. One float after the last row is read. */
    ast_small_result (*label_rows)(const float *rows, const ast_small_block *block, const ast_mean_table *table,
                                   ast_bins *bins);

    /* Scores n rows of a large dimension; among equal best scores, the id is any of them. scratch: AST_ROW_SCRATCH
     * floats, aligned to 32 bytes. */
    void (*score_rows)(const float *const *rows, size_t n, const ast_mean_table *table, ast_scores out, float *scratch);

    /* The same for n sparse rows and a large table. The error depends on the row's entries: ast_score_error(count). */
    void (*score_sparse)(const ast_sparse_row *rows, size_t n, const ast_mean_table *table, ast_scores out,
                         float *scratch);

    /* Products of n rows, 1..AST_PRODUCT_ROWS, with the AST_PANEL columns of a panel (D, AST_PANEL), errors as for
     * score_rows: out (AST_PRODUCT_ROWS, AST_PANEL). `rows` has AST_PRODUCT_ROWS pointers; those after n repeat. */
    void (*panel_products)(const float *const *rows, size_t n, const float *panel, size_t dimension, float *out);

    /* The largest product of each of n rows (n, D) with `count` others (count, D), into best (n); errors as for
     * score_rows. For few others, which stay in the first-level cache: score_rows computes a panel of AST_PANEL. */
    void (*best_products)(const float *rows, size_t n, const float *others, size_t count, size_t dimension,
                          float *best);

    /* Adds the products of AST_PRODUCT_ROWS rows of n numbers with the AST_EXACT_PANEL columns of a panel
     * (n, AST_EXACT_PANEL) to out (AST_PRODUCT_ROWS, AST_EXACT_PANEL), one after the other in order of n. The numbers
     * are floats, stored as doubles: the products are exact, and every table gives the same bits. */
    void (*add_exact_products)(const double *const *rows, const double *panel, size_t n, double *out);

    /* Adds n small points (a multiple of AST_LANES) to the sums of their labels. */
    void (*sum_columns[AST_SMALL + 1])(const float *const *x, const int32_t *labels, size_t n, ast_bins *bins);

    /* Adds the keys of points first..first+n-1 to those of their labels; first and n are multiples of AST_LANES. */
    void (*add_keys)(const int32_t *labels, size_t n, size_t first, ast_bins *bins);

    /* Points labelled -2 get their proposal as label; n is a multiple of AST_LANES. */
    void (*take_proposals)(int32_t *labels, const int32_t *proposals, size_t n);

    /* Sets bit (label mod 32) for every label >= 0; n is a multiple of AST_LANES. */
    uint32_t (*label_mask)(const int32_t *labels, size_t n);

    /* sum[d] += sign * round(x[d] 2^30), sign +1 or -1. */
    void (*sum_row)(const float *x, size_t dimension, int sign, int64_t *sum);

    /* Marks the points of a block that their scores do not decide, in the groups with a bit in `groups`, except label
     * -1: best < fit, or best - second <= margin, or, if `changes`, id != label. One bit per point; false if there are
     * none. */
    bool (*mark_undecided)(ast_scores scores, const int32_t *labels, uint32_t groups, float fit, float margin,
                           bool changes, uint64_t bits[AST_BLOCK / 64]);

    /* Lists the points with min(best - second, best - fit) <= allowance, except label -1. n is a multiple of
     * AST_LANES. */
    size_t (*list_undecided)(const float *best, const float *second, const int32_t *labels, size_t n, float fit,
                             float allowance, uint32_t *list);

    /* Merges the scores against two tables into `mine`. */
    void (*merge)(ast_scores mine, ast_scores other, size_t n);

    /* The squared length of a row in double, additions in any order: relative error below D 2^-52. */
    double (*squared_length)(const float *x, size_t dimension);

    /* Dot product in double with the same additions in every table: eight partial sums, then their sum in order. */
    double (*reproducible_dot)(const float *a, const float *b, size_t dimension);

    /* Dot product in float, any order of additions. */
    float (*dot)(const float *a, const float *b, size_t dimension);

    /* Three dimensions. Keeps, in order, the means of `from` that can have the largest exact score, or share it and
     * come first, for some x with |x - centre| <= radius. The radius must include a margin of 2^-20. `to` has a
     * capacity of at least from->count + AST_LANES. */
    void (*prune_means)(const ast_mean_table *from, const float *centre, float radius, ast_mean_table *to);

    /* Three dimensions. Lists the balls among first..first+n-1 that intersect the ball of radius `radius` around the
     * centre. Distances are in float, with errors below 2^-20 for distances below 8. */
    size_t (*intersecting_balls)(const ast_balls *balls, size_t first, size_t n, const float *centre, float radius,
                                 uint32_t *list);
} ast_kernels;

/* Points close to a mean are far from all others. Let a be the angle from mean k to the nearest other mean, and s the
 * score of a point with mean k. Its score with any other mean is at most cos(a - acos s), a concave function of s that
 * equals s, with slope -1, at s = cos(a / 2). So this score is at most 2 cos(a / 2) - s, and mean k wins by at least 2
 * (s - cos(a / 2)) if that is positive. ast_half_angle_cosines computes cos(a / 2), with an allowance for rounding, for
 * each mean of a small table of at most AST_HALF_ANGLE_MEANS; `others`: bit (id mod 32) of the other means that
 * count. */
#define AST_HALF_ANGLE_MEANS 32
void ast_half_angle_cosines(const ast_mean_table *table, uint32_t others, float *cosines);

/* Scratch of score_rows, in floats: best, second and id in AST_LANES lanes for each row of a tile. */
#define AST_PRODUCT_ROWS 6
#define AST_TILE_ROWS 96
#define AST_ROW_SCRATCH (3 * AST_LANES * AST_TILE_ROWS)

/* By name ("base", "avx2", "neon"), or the best for this processor if NULL. Falls back to base; never NULL. */
const ast_kernels *ast_kernels_choose(const char *name);

/* The largest difference between a float score of dimension D and the exact score: each of the D products and D sums
 * rounds once, relative to at most |x| |mu| <= 1 + 2^-22. Two more roundings are for the callers. */
static inline float ast_score_error(size_t dimension) {
    return (float)(2 * dimension + 2) * 0x1p-24f;
}

/* The score by definition: products and sums in double, components in order. */
double ast_exact_score(const float *x, const float *mu, size_t dimension);

/* The exact scores of one point against every mean of a table: scores (count rounded up to AST_PANEL). */
void ast_exact_scores(const float *x, const ast_mean_table *table, double *scores);
