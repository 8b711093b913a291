/* SPDX-License-Identifier: MIT
 *
 * The components of a mixture of von Mises-Fisher distributions, and what the methods that have them share: all points
 * against all components a tile at a time (tiles.c), and the way from components and labels to a result (components.c).
 *
 *     p(x) = sum_k weight_k C_D(kappa_k) exp(kappa_k mean_k . x) */
#ifndef AST_COMPONENTS_H
#define AST_COMPONENTS_H

#include "edit.h"
#include "mixing.h"

#include <math.h>

typedef struct ast_components {
    size_t count, capacity, dimension;
    bool background; /* a uniform component comes after the others: its kappa is 0, and it is no cluster */
    double *means;   /* (K, D) unit vectors; with a background all arrays have one more row */
    double *kappas;  /* (K) */
    double *weights; /* (K) shares; 0 or more */
    double *offsets; /* (K) log weight_k + log C_D(kappa_k): see ast_components_prepare */
} ast_components;

/* All of them, the background too. */
static inline size_t ast_components_all(const ast_components *components) {
    return components->count + components->background;
}

/* Memory for `count` components of this dimension and a background, count of them in use; all that was there is lost.
 */
bool ast_components_open(ast_components *components, size_t count, size_t dimension);
void ast_components_free(ast_components *components);

/* Memory for so many, keeping those in use. */
bool ast_components_reserve(ast_components *components, size_t capacity);

/* Computes the offsets. */
void ast_components_prepare(ast_components *components);

/* log C_D(kappa): the log density of a vMF distribution without its exponential. */
double ast_log_constant(size_t dimension, double kappa);

/* log Gamma(x), without the global that lgamma writes. */
static inline double ast_log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* No kappa is estimated above this: points are floats, and a cosine of floats says no more about how close they are. */
static inline double ast_kappa_limit(size_t dimension) {
    return (double)(dimension - 1) * 0x1p22;
}

/* Makes the components the clusters of the labelling and counts the labels anew, so that a result can be read from it:
 * cluster k is component k. */
ast_status ast_components_to_clusters(const ast_components *components, ast_labelling *labelling, ast_fault *fault);

/* Copies what is in use; `to` has room for it. */
void ast_components_copy(ast_components *to, const ast_components *from);

/* Takes the component out; the others keep their order. */
void ast_components_remove(ast_components *components, size_t k);

/* Adds a background of this share; the shares of the others shrink. */
void ast_components_add_background(ast_components *components, double share);

/* Points whose best component is the background, which a label of `count` says, lose their labels. Returns how many. */
size_t ast_components_unlabel(const ast_components *components, ast_labelling *labelling);

/* Forgets components that no label names; labels and the order of the others follow. */
ast_status ast_components_drop_empty(ast_components *components, ast_labelling *labelling, ast_fault *fault);

/* Both: the clusters are the components that have points, with their sums. */
ast_status ast_components_recount(ast_components *components, ast_labelling *labelling, ast_fault *fault);

/* ---- tiles.c ---- */

#define AST_TILE_MOST 128 /* points in a tile */

/* What a thread needs to see all scores of some points. */
typedef struct ast_tile_memory {
    float *x;                      /* large dimensions: (D, tile) */
    double *logits;                /* (K, tile) */
    float *cumulative;             /* (K, AST_LANES) */
    double *most, *total, *weight; /* (tile) */
    double *sums;                  /* (K, D + 1) of a task, in multiples of the grain */
    int64_t *integer_sums;         /* (K, D + 1) of all its tasks, the same as integers */
} ast_tile_memory;

/* All points in tiles; a task of the pool is a chunk of them. */
typedef struct ast_tiles {
    ast_labelling *labelling;
    const ast_mixing *kernels;
    size_t components;       /* that there is room for */
    size_t tile;             /* points in one: as many as stay in a first-level cache, and a divisor of the chunk */
    ast_tile_memory *memory; /* (threads) */
    int threads;
} ast_tiles;

bool ast_tiles_open(ast_tiles *tiles, ast_labelling *labelling, size_t components, bool sums);
void ast_tiles_free(ast_tiles *tiles);

/* The tile that starts at a point. Missing points are zeros. */
ast_tile ast_tile_at(const ast_tiles *tiles, size_t first, ast_tile_memory *memory);

/* Its logits against the components. */
void ast_tile_logits(const ast_tiles *tiles, const ast_tile *tile, const ast_components *components,
                     ast_tile_memory *memory);

#endif
