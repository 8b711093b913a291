/* SPDX-License-Identifier: MIT
 *
 * The components of a mixture of von Mises-Fisher distributions (components.c), and the scores of all points with all
 * components, a tile at a time (tiles.c).
 *
 *     p(x) = sum_k weight_k C_D(kappa_k) exp(kappa_k mean_k . x) */
#pragma once

#include "edit.h"
#include "family.h"
#include "mixing.h"
#include "system.h"

#include <math.h>

typedef struct ast_components {
    size_t count, capacity, dimension;
    bool background;   /* a uniform component comes after the others: its kappa is 0, and it is no cluster */
    double *means;     /* (K, D) unit vectors; with a background all arrays have one more row */
    double *kappas;    /* (K) */
    double *weights;   /* (K) shares; 0 or more */
    double *offsets;   /* (K) log weight_k + log C_D(kappa_k): see ast_components_prepare */
    ast_family family; /* of the components. Unless it is von Mises-Fisher, rows are features (D of them), and means and
                          kappas are the functionals of the components ... */
    double *constants; /* (K) ... with these constants in place of log C_D(kappa_k) */
} ast_components;

static inline bool ast_components_are_vmf(const ast_components *components) {
    return components->family.kind == AST_FAMILY_VMF;
}

/* Component k becomes that of this shape. Not for von Mises-Fisher. */
void ast_components_set_shape(ast_components *components, size_t k, const ast_family_shape *shape);

/* The number of components, the background included. */
static inline size_t ast_components_all(const ast_components *components) {
    return components->count + components->background;
}

/* Memory for `count` components of this dimension and a background; all count as used, their numbers are undefined. */
bool ast_components_open(ast_components *components, size_t count, size_t dimension);
void ast_components_free(ast_components *components);

/* Memory for so many; those in use stay. */
bool ast_components_reserve(ast_components *components, size_t capacity);

/* Computes the offsets. */
void ast_components_prepare(ast_components *components);

/* log C_D(kappa): the log density of a vMF distribution without its exponential. */
double ast_log_constant(size_t dimension, double kappa);

/* The largest kappa that is estimated: the rounding of floats hides a larger one. */
static inline double ast_kappa_limit(size_t dimension) {
    return (double)(dimension - 1) * 0x1p22;
}

/* Makes component k cluster k of the labelling, for all k, and sums up their points. */
ast_status ast_components_to_clusters(const ast_components *components, ast_labelling *labelling, ast_fault *fault);

/* Copies what is in use, and the family; `to` has room for it. */
void ast_components_copy(ast_components *to, const ast_components *from);

/* Removes component k; the others keep their order. */
void ast_components_remove(ast_components *components, size_t k);

/* Adds a background of this share; the shares of the others shrink. */
void ast_components_add_background(ast_components *components, double share);

/* Points with label `count`, whose best component is the background, lose their labels. Returns how many. */
size_t ast_components_unlabel(const ast_components *components, ast_labelling *labelling);

/* Removes the components that no point has; the others keep their order, and labels are renumbered. */
ast_status ast_components_drop_empty(ast_components *components, ast_labelling *labelling, ast_fault *fault);

/* Removes the components that no point has, and makes the others the clusters of the labelling. */
ast_status ast_components_keep_used(ast_components *components, ast_labelling *labelling, ast_fault *fault);

/* ---- tiles.c ---- */

#define AST_MIXTURE_DIMENSION 65536 /* of components, at most */
#define AST_TILE_MOST 128           /* points in a tile */

/* Memory of one thread, for the scores of a tile. */
typedef struct ast_tile_memory {
    float *x;              /* large dimensions: (D, tile) */
    double *logits;        /* (K, tile) */
    float *cumulative;     /* (K, AST_LANES) */
    double *sums;          /* (K, D + 1) of a chunk, in multiples of the unit of the sums */
    int64_t *integer_sums; /* (K, D + 1) of all chunks of this thread, the same as integers */
    double most[AST_TILE_MOST], total[AST_TILE_MOST], weight[AST_TILE_MOST];
} ast_tile_memory;

/* All points in tiles; a task of the pool is a chunk of them. */
typedef struct ast_tiles {
    ast_labelling_view v;
    const ast_mixing *kernels;
    size_t components;       /* that there is room for */
    size_t tile;             /* points in one: as many as stay in a first-level cache, and a divisor of the chunk */
    ast_tile_memory *memory; /* (threads) */
    int threads;
} ast_tiles;

/* sums: with memory for the sums of the components, which are zero. */
bool ast_tiles_open(ast_tiles *tiles, ast_labelling *labelling, size_t components, bool sums);
void ast_tiles_free(ast_tiles *tiles);

/* Calls the visitor for the tile at every point `first`, on all threads. false: cancelled. */
typedef void ast_tile_visitor(void *data, ast_tile_memory *memory, size_t chunk, size_t first);
bool ast_tiles_each(const ast_tiles *tiles, ast_tile_visitor *visit, void *data);

/* The tile that starts at a point. Missing points are zeros. */
ast_tile ast_tile_at(const ast_tiles *tiles, size_t first, ast_tile_memory *memory);

/* The same, and its logits against the components; or their memberships in place of the logits, and for each point the
 * largest logit (most) and the sum of exp(logit - most) (total). */
ast_tile ast_tile_logits(const ast_tiles *tiles, size_t first, const ast_components *components,
                         ast_tile_memory *memory);
void ast_tile_memberships(const ast_tiles *tiles, size_t first, const ast_components *components,
                          ast_tile_memory *memory);
