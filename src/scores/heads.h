/* SPDX-License-Identifier: MIT
 *
 * Heads and tails: the exact best of many means in many dimensions, at a fraction of the products.
 *
 * The main idea: for orthonormal axes, the product of x and m is that of their *heads*, the coordinates along these
 * axes, plus that of their *tails*, what is left. The second is at most the product of the tails' lengths. So a few
 * coordinates give the most that a score can be, its *upper_bound*. Along the principal axes of the means tails are
 * short, and the upper_bound of nearly all means is below the score that a point has with its own mean. Only the
 * others, its *candidates*, are scored in full.
 *
 * Most coordinates of a head are read as bytes, which are multiplied twice as fast. What a byte leaves of a coordinate
 * is known, and its part of the product is bounded by lengths like that of the tails. Where means are spread over all
 * dimensions alike, no axes are better than others: then the bytes are those of the rows as they are.
 *
 * The labels are those of brute force. The upper_bound includes an allowance for every rounding on the way (`slack`),
 * and scores in full are those of the kernels, with their known error.
 *
 *     principal.c   the axes
 *     heads.c       heads and tails of points and means, as floats and bytes
 *     candidates.c      scores a list of points: widths, candidates, full scores
 *     best_search.c     the best of the candidates of one point
 *     stages.c      before a pass: whether it pays, and when the axes must be found anew
 *     stage_costs.c      what the stages would cost, measured on a sample */
#ifndef AST_HEADS_H
#define AST_HEADS_H

#include "kernels.h"
#include "pool.h"
#include "mean_table.h"

#define AST_MOST_AXES 256
#define AST_MOST_BYTES 4096 /* of a row that is read as it is: as many as AST_MAX_DIMENSION */

/* Orthonormal axes, those along which the means differ most first. */
typedef struct ast_basis {
    size_t dimension, count; /* count: a multiple of AST_PANEL; 0: there are none */
    float *rows;             /* (count, D) */
    float *panels;           /* (count / AST_PANEL, D, AST_PANEL) */
    double skew;             /* how far they are from orthonormal: an upper bound of |V'V - 1| */
} ast_basis;

/* Heads of the means of a table, as far as they were asked for. */
struct ast_mean_heads {
    uint64_t layout;                                    /* as in ast_heads */
    ast_packed_means packed;                            /* for the first stage; points into the arrays below */
    float *bias, *floats, *errors, *tails, *last_tails; /* tails: behind `first` and behind `second` coordinates */
    int8_t *bytes;
    int32_t *shift;
    float *rows;     /* (capacity, second) */
    float *means;    /* (capacity, D) */
    float longest;   /* at least the length of every mean's coordinates that are bytes */
    size_t capacity; /* a multiple of AST_PANEL */
};

/* Heads of points in memory, kept from pass to pass. */
typedef struct ast_kept_heads {
    bool used;          /* in this pass */
    float *rows;        /* (padded, second) */
    uint64_t *versions; /* (chunks) as in ast_heads */
    size_t capacity;    /* floats that `rows` has memory for */
    size_t chunks;      /* that `versions` has memory for */
} ast_kept_heads;

/* How a pass uses heads. The first stage looks at `first` coordinates of all means, `plain` of them as floats and the
 * others as bytes; the second stage at `second` coordinates of the means that are left, as floats. */
typedef struct ast_stages {
    bool raw;            /* the coordinates are those of the rows themselves, and there is no second stage */
    size_t plain, first; /* first: a multiple of 4, */
    size_t second;       /* of AST_PANEL; raw: 0 */
    float unit;          /* of the means' bytes */
    float keep_within;   /* how far below the best score a mean is still scored in full, for the sake of later bounds */
} ast_stages;

typedef struct ast_heads {
    bool allowed;  /* by the caller */
    bool on;       /* in this pass */
    size_t forced; /* for tests: as the first width, with any number of means; 0: as measured */
    ast_basis axes;
    ast_stages stages;
    size_t kept_width; /* `second` of the heads of points that are kept */
    uint64_t version;  /* of axes and kept_width together */
    uint64_t layout;   /* of these and the stages */
    float slack;       /* of a upper_bound, for rounding */
    float floor;       /* scores below do not matter, whoever has them */
    ast_kept_heads kept;
    double price; /* of the axes, when they were found: the time per point and mean, in products of one coordinate */
    int wait;     /* passes until axes are tried again, where they do not pay */
} ast_heads;

void ast_heads_free(ast_heads *heads);

/* principal.c: axes of n rows (D each), warm from the axes that are there. false: no memory, and no axes. */
bool ast_basis_find(ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n, size_t dimension,
                    size_t count);
void ast_basis_free(ast_basis *axes);

/* heads.c: the first coordinates of n rows, to (n, width), width a multiple of AST_PANEL; the length of their error, at
 * most; and the length of what lies behind the first coordinates of a head, rounded up (width: a multiple of 4; axes
 * NULL: of a row as it is). */
void ast_heads_project(const ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n,
                       size_t width, float *to);
double ast_head_error(const ast_basis *axes, size_t width);
float ast_tail_length(const ast_basis *axes, const float *head, size_t width);

/* The slack of a upper_bound along axes: for the rounding of products, for axes that are not quite orthonormal, and for
 * the errors of two heads. */
static inline float ast_head_slack(const ast_basis *axes, size_t width) {
    return ast_score_error(width) + (float)(axes->skew + 2.01 * ast_head_error(axes, width)) + 0x1p-20f;
}

/* Bytes of a row that is read as bytes, a multiple of 4 AST_QUADS. */
static inline size_t ast_byte_count(const ast_stages *stages) {
    size_t step = 4 * AST_QUADS;
    return (stages->first - stages->plain + step - 1) / step * step;
}

/* Brings the heads of a table's means up to date, on the threads of the pool if there is one. false: no memory. */
bool ast_mean_heads_sync(const ast_heads *heads, const ast_kernels *kernels, ast_mean_table *table, ast_pool *pool);
void ast_mean_heads_free(struct ast_mean_heads *heads);

/* Mean k of the table is another one now; or nobody. */
void ast_mean_heads_invalidate_from(struct ast_mean_heads *heads, size_t k);
void ast_mean_heads_clear_entry(struct ast_mean_heads *heads, size_t k);

#endif
