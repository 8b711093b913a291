/* SPDX-License-Identifier: MIT
 *
 * Heads and tails: the exact best of many means in many dimensions, at a fraction of the products.
 *
 * The main idea: for orthonormal axes, the product of x and m is that of their *heads*, the coordinates along these
 * axes, plus that of their *tails*, what is left. The second is at most the product of the tails' lengths. So a few
 * coordinates give the most that a score can be, its *reach*. Along the principal axes of the means tails are short,
 * and the reach of nearly all means is below the score that a point has with its own mean. Only the others, its
 * *rivals*, are scored in full.
 *
 * The labels are those of brute force. The reach includes an allowance for every rounding on the way (`slack`), and
 * scores in full are those of the kernels, with their known error.
 *
 *     principal.c   the axes
 *     heads.c       heads and tails of points and means
 *     rivals.c      scores a list of points: widths, rivals, full scores
 *     stages.c      whether it pays, with how many coordinates, and when the axes must be found anew */
#ifndef AST_HEADS_H
#define AST_HEADS_H

#include "kernels.h"
#include "table.h"

#define AST_MOST_AXES 256

/* Orthonormal axes, those along which the means differ most first. */
typedef struct ast_basis {
    size_t dimension, count; /* count: a multiple of AST_PANEL; 0: there are none */
    float *rows;             /* (count, D) */
    float *panels;           /* (count / AST_PANEL, D, AST_PANEL) */
    double skew;             /* how far they are from orthonormal: an upper bound of |V'V - 1| */
} ast_basis;

/* Heads of the means of a table, as far as they were asked for. */
struct ast_mean_heads {
    uint64_t version; /* as in ast_heads */
    size_t count;     /* of the table's means that are here */
    size_t width;     /* that tails[0] stand for */
    ast_table panels; /* the heads; ids are numbers of means */
    float *rows;      /* (capacity, second) the heads once more */
    float *means;     /* (capacity, D) */
    float *tails[2];  /* (capacity) lengths behind `width` coordinates, and behind all */
    size_t capacity;
};

/* Heads of points in memory, kept from pass to pass. */
typedef struct ast_kept_heads {
    float *rows;        /* (padded, second); NULL: found anew for each pass */
    uint64_t *versions; /* (chunks) as in ast_heads */
    size_t capacity;    /* floats that `rows` has memory for */
    size_t chunks;      /* that `versions` has memory for */
} ast_kept_heads;

/* How a pass uses heads: a product over `first` coordinates for all means, then over `second` for those left. */
typedef struct ast_heads {
    bool allowed;  /* by the caller */
    bool on;       /* in this pass */
    size_t forced; /* for tests: as the first width, with any number of means; 0: as measured */
    ast_basis axes;
    size_t first, second; /* first: a multiple of 4; second: of AST_PANEL */
    bool seedless;        /* points without a label are not scored with the mean of the largest reach first */
    uint64_t version;     /* of axes and `second` together */
    float slack;          /* of a reach, for rounding */
    float spare; /* how far below the best score a mean is still scored in full, for the sake of later bounds */
    float floor; /* scores below do not matter, whoever has them */
    ast_kept_heads kept;
    double price; /* of the axes, when they were found: the time per point and mean, in products of one coordinate */
    int wait;     /* passes until the next attempt, where it does not pay */
} ast_heads;

void ast_heads_free(ast_heads *heads);

/* principal.c: axes of n rows (D each), warm from the axes that are there. false: no memory, and no axes. */
bool ast_basis_find(ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n, size_t dimension,
                    size_t count);
void ast_basis_free(ast_basis *axes);

/* heads.c: the first coordinates of n rows, to (n, width), width a multiple of AST_PANEL; and the length of what lies
 * behind the first coordinates of a head, rounded up. */
void ast_heads_project(const ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n,
                       size_t width, float *to);
float ast_tail_length(const ast_basis *axes, const float *head, size_t width);

/* Brings the heads of a table's means up to date. false: no memory. */
bool ast_mean_heads_sync(const ast_heads *heads, const ast_kernels *kernels, ast_table *table);
void ast_mean_heads_free(struct ast_mean_heads *heads);

/* Mean k of the table is another one now; or nobody. */
void ast_mean_heads_forget(struct ast_mean_heads *heads, size_t k);
void ast_mean_heads_vacate(struct ast_mean_heads *heads, size_t k);

#endif
