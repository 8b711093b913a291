/* SPDX-License-Identifier: MIT
 *
 * Heads and tails: the exact best of many means in many dimensions, at a fraction of the products.
 *
 * The main idea: for orthonormal axes, the product of x and m is the product of their *heads*, the coordinates along
 * these axes, plus the product of their *tails*, the remainders. The latter is at most the product of the lengths of
 * the tails. So a few coordinates give an upper bound of a score. Along the principal axes of the means, tails are
 * short, and for nearly all means the upper bound is below the score of the point with its own mean. Only the other
 * means, the *candidates*, are scored in full.
 *
 * Most coordinates of a head are stored as bytes, which are multiplied twice as fast. The rounding error of the bytes
 * is known, and its part of the product is bounded by lengths, like that of the tails. If the means are spread over all
 * dimensions alike, no axes are better than others: then the bytes are those of the rows themselves.
 *
 * The labels equal those of brute force. An upper bound includes an allowance for every rounding error (`slack`), and
 * full scores are those of the kernels, with their known error.
 *
 *     principal.c   the axes
 *     heads.c       heads and tails of points and means, as floats and bytes
 *     candidates.c  scores a list of points: widths, candidates, full scores
 *     best_search.c the best of the candidates of one point
 *     stages.c      before a pass: whether heads pay, and when the axes must be recomputed
 *     stage_costs.c the cost of the stages, estimated on a sample */
#pragma once

#include "kernels.h"
#include "pool.h"
#include "mean_table.h"

#define AST_MOST_AXES 256
#define AST_MOST_BYTES 4096 /* bytes of a raw row: AST_MAX_DIMENSION */

/* Orthonormal axes, in decreasing order of the variance of the means along them. */
typedef struct ast_basis {
    size_t dimension, count; /* count: a multiple of AST_PANEL; 0: no axes */
    float *rows;             /* (count, D) */
    float *panels;           /* (count / AST_PANEL, D, AST_PANEL) */
    double skew;             /* upper bound of |V'V - 1|: the deviation from orthonormal axes */
} ast_basis;

/* Heads of the means of a table. */
struct ast_mean_heads {
    uint64_t layout;         /* as in ast_heads */
    ast_packed_means packed; /* for the first stage: the arrays are owned */
    float *last_tails;       /* (capacity) lengths of the tails after `second` coordinates */
    float *rows;             /* (capacity, second) */
    float *means;            /* (capacity, D) */
    float longest_bytes;     /* upper bound of the length of the byte coordinates of every mean */
    size_t capacity;         /* a multiple of AST_PANEL */
};

/* Heads of points in memory, kept from pass to pass. */
typedef struct ast_kept_heads {
    bool used;          /* in this pass */
    float *rows;        /* (padded, second) */
    uint64_t *versions; /* (chunks) as in ast_heads */
    size_t capacity;    /* floats that `rows` has memory for */
    size_t chunks;      /* chunks that `versions` has memory for */
} ast_kept_heads;

/* How a pass uses heads. The first stage multiplies `first` coordinates of all means, `plain` of them as floats and the
 * others as bytes. The second stage multiplies `second` coordinates of the remaining means, as floats. */
typedef struct ast_stages {
    bool raw;            /* the coordinates are those of the rows themselves; there is no second stage */
    size_t plain, first; /* first: a multiple of 4 */
    size_t second;       /* a multiple of AST_PANEL; raw: 0 */
    float unit;          /* of the means' bytes */
    float keep_within;   /* a mean is scored in full if it may come within this of the best score, which makes later
                            bounds tighter */
} ast_stages;

typedef struct ast_heads {
    bool allowed;  /* set by the caller */
    bool on;       /* in this pass */
    size_t forced; /* for tests: chooses the stages, for any number of means; 0: the cheapest stages */
    ast_basis axes;
    ast_stages stages;
    size_t kept_width; /* `second` of the kept heads of points */
    uint64_t version;  /* changes with the axes and with kept_width */
    uint64_t layout;   /* changes with `version` and with the stages */
    float slack;       /* allowance for rounding in an upper bound */
    float floor;       /* scores below this do not matter */
    ast_kept_heads kept;
    double cost_when_found; /* cost of a pass when the axes were found, per point and mean, in products of one
                               coordinate */
    int wait;               /* passes until axes are tried again, if they did not pay */
} ast_heads;

void ast_heads_free(ast_heads *heads);

/* principal.c: the principal axes of n rows (D each); starts from the present axes. false: no memory; the axes are
 * freed. */
bool ast_basis_find(ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n, size_t dimension,
                    size_t count);
void ast_basis_free(ast_basis *axes);

/* heads.c: ast_heads_project computes the first coordinates of n rows: to (n, width), width a multiple of AST_PANEL.
 * ast_head_error is an upper bound of the length of their error. ast_tail_length is the length of the remainder after
 * the first `width` coordinates of a head, rounded up; width: a multiple of 4; axes NULL: of a raw row. */
void ast_heads_project(const ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n,
                       size_t width, float *to);
double ast_head_error(const ast_basis *axes, size_t width);
float ast_tail_length(const ast_basis *axes, const float *head, size_t width);

/* The slack of an upper bound along axes: for the rounding of products, for axes that are not exactly orthonormal, and
 * for the errors of two heads. */
static inline float ast_head_slack(const ast_basis *axes, size_t width) {
    return ast_score_error(width) + (float)(axes->skew + 2.01 * ast_head_error(axes, width)) + 0x1p-20f;
}

/* Bytes per row: a multiple of 4 AST_QUADS. */
static inline size_t ast_byte_count(const ast_stages *stages) {
    size_t step = 4 * AST_QUADS;
    return (stages->first - stages->plain + step - 1) / step * step;
}

/* Updates the heads of a table's means, on the threads of the pool unless it is NULL. false: no memory. */
bool ast_mean_heads_sync(const ast_heads *heads, const ast_kernels *kernels, ast_mean_table *table, ast_pool *pool);
void ast_mean_heads_free(struct ast_mean_heads *heads);

/* ast_mean_heads_invalidate_from: mean k has changed; its panel and all later ones are recomputed.
 * ast_mean_heads_clear_entry: entry k is unused now. */
void ast_mean_heads_invalidate_from(struct ast_mean_heads *heads, size_t k);
void ast_mean_heads_clear_entry(struct ast_mean_heads *heads, size_t k);
