/* SPDX-License-Identifier: MIT
 *
 * Very many clusters in three dimensions: passes whose time does not grow with the number of clusters.
 *
 * The main idea: the sphere is divided into cells: each face of a cube is a cell, and every cell is divided into four.
 * Each cell has a list of means that provably includes the winner of every point in the cell (docs/rules.md), and the
 * list of a part is a sublist of the list of its cell. Points are sorted by cell once a run, so the points of a cell
 * are adjacent and are scored together. No bound decides a label: labels are those of the exact scores, as everywhere.
 *
 *     cells.c         the points, sorted; geometry of a cell
 *     cells_label.c   the nearest mean of every point
 *     cells_index.c   the means, sorted by cell; the nearest of one point, while clusters come and go
 *     cells_maxima.c  points that may be nearer to a new mean than to all earlier ones: k-means++
 *
 * model/cells_pass.c runs a pass with cells. */
#pragma once

#include "scorer.h"

#include <math.h>

#define AST_CELL_LEVELS 12         /* a cell of the last level is 0.02 to 0.04 degrees wide */
#define AST_CELLS_MIN_CLUSTERS 192 /* from this number of clusters on cells are faster (measured) */

typedef struct ast_cell {
    uint32_t face, level, u, v; /* column u and row v of the 2^level by 2^level cells of face 0..5 */
    uint32_t prefix;            /* the leading bits of the codes of its points */
    size_t first, last;         /* its points: positions in the sorted order */
} ast_cell;

/* Lists of means of one thread: one per level. */
typedef struct ast_cell_scratch {
    ast_mean_table list[AST_CELL_LEVELS + 1];
    ast_mean_table nearby_means;
    ast_scores scores; /* (AST_BLOCK) */
    uint64_t scored;   /* points compared with means; the caller resets it */
} ast_cell_scratch;

/* The means sorted by cell, in blocks of 16 neighbours, and the changes since they were sorted. */
typedef struct ast_mean_index {
    size_t capacity;         /* means that there is memory for, a multiple of 256 */
    ast_mean_table sorted;   /* by cell, then in order of creation; ids are slots */
    ast_balls blocks;        /* balls around the means of each block */
    ast_balls groups;        /* balls around the means of each 16 blocks */
    uint64_t *pairs;         /* (2, capacity) sort keys */
    size_t slots;            /* slots that there is memory for */
    uint8_t *stale;          /* (slots) 1 if the entry in `sorted` is invalid: the cluster died or its mean was reset */
    uint8_t *listed;         /* (slots) 1 if the slot is in `unsorted` */
    int32_t *creation_order; /* (slots) rank in the order of creation */
    int32_t *unsorted;       /* (slots) clusters that are not in `sorted` */
    size_t unsorted_count;   /* number of clusters in `unsorted` */
    int32_t next_creation;
    bool failed; /* there was no memory to sort the means again */
} ast_mean_index;

typedef struct ast_cells {
    const ast_scorer *scorer;
    ast_pool *pool;
    bool loaded;
    size_t count;    /* points that are not missing */
    uint32_t *code;  /* (count) code of the cell of the last level, sorted */
    uint32_t *point; /* (count) the point at this position */
    float *columns;  /* (3, pitch) the points in sorted order */
    size_t pitch;
    float *best;     /* (count) score with the cluster `label`; AST_NO_SCORE for AST_NOBODY */
    int32_t *label;  /* (padded) by point: the cluster that the point will join unless means change, or AST_NOBODY */
    uint32_t *start; /* (6 4^depth + 1) directory: the first position of each cell of level `depth` */
    uint32_t depth;  /* level of the directory */
    size_t label_capacity;
    ast_cell_scratch *scratch; /* (workers) */
    int workers;
    ast_mean_index mean_index;
} ast_cells;

/* Sorts the points, unless they were sorted in this run. *cells is NULL or was loaded before. false: no memory. */
bool ast_cells_load(ast_cells **cells, const ast_scorer *scorer, ast_pool *pool);
void ast_cells_free(ast_cells *cells);

/* The largest distance per cell, where the distance of a point is 1 - x . mu to the nearest mean so far. Means are
 * added one by one, so distances only decrease. */
typedef struct ast_cell_maxima {
    const ast_cells *cells;
    float *largest; /* (cells of all levels of the directory) */
} ast_cell_maxima;

/* Compares a point with the new mean: lowers its distance if the mean is nearer, and returns the distance. */
typedef float ast_lower_distance(void *data, size_t point);

bool ast_cell_maxima_open(ast_cell_maxima *maxima, const ast_cells *cells); /* false: no memory */
void ast_cell_maxima_close(ast_cell_maxima *maxima);

/* Calls `lower` for every point whose distance may exceed 1 - x . mean, and for some others. */
void ast_cell_maxima_lower(ast_cell_maxima *maxima, const float mean[3], ast_lower_distance *lower, void *data);

/* ---- steps of a pass ---- */

/* ast_cells_nearest_within_angle finds the nearest mean of every point from `from` on, AST_NOBODY if it does not fit;
 * with `keep_scores` it also stores the best scores. ast_cells_nearest finds the nearest mean of all points, whether it
 * fits or not. false: no memory. */
bool ast_cells_nearest_within_angle(ast_cells *cells, size_t from, bool keep_scores);
bool ast_cells_nearest(ast_cells *cells);

/* The code of the cell of the last level that contains x. The cell of a whole face, the cell with these leading bits at
 * a level (at most that of the directory), and one of the four parts of a cell. */
uint32_t ast_cell_code(const float x[3]);
ast_cell ast_cell_face(const ast_cells *cells, uint32_t face);
ast_cell ast_cell_of(const ast_cells *cells, uint32_t level, uint32_t prefix);
ast_cell ast_cell_part(const ast_cells *cells, const ast_cell *cell, uint32_t part); /* 0..3 */

/* A ball that contains every point of the cell, with a margin of 2^-20. */
void ast_cell_bound(const ast_cell *cell, float centre[3], float *radius);

/* Sorts pairs (code >> AST_DROPPED_CODE_BITS) << 32 | value by code; stable. spare (count): working memory. */
#define AST_DROPPED_CODE_BITS 11 /* a code has 27 bits */
void ast_sort_codes(uint64_t *pairs, uint64_t *spare, size_t count);

/* Upper bound of the distance between a point and a mean with this score or a larger one: |x - mu|^2 = |x|^2 + |mu|^2 -
 * 2 x . mu, and lengths are 1 within 2^-22. Rounded up, with 2^-20 for distances in float. */
static inline float ast_distance_at_score(double score) {
    double squared = 2 - 2 * score + 0x1p-20;
    return (squared > 0 ? sqrtf((float)squared) : 0) + 0x1p-20f;
}

static inline void ast_cell_point(const ast_cells *cells, size_t place, float x[3]) {
    for (size_t d = 0; d < 3; d++)
        x[d] = cells->columns[d * cells->pitch + place];
}

/* ast_mean_index_find returns the cluster with the largest exact score except `barred`, the first in order of creation
 * among equals; AST_NOBODY if no cluster fits. ast_mean_index_build sorts the means at the start of a pass. The others
 * report changes since: a new cluster, a cluster with a new mean, a removed cluster. false: no memory. */
int32_t ast_mean_index_find(ast_cells *cells, const ast_mean_list *means, const float x[3], int32_t barred);
bool ast_mean_index_build(ast_cells *cells, const ast_mean_list *means);
bool ast_mean_index_add(ast_cells *cells, const ast_mean_list *means, int32_t slot);
void ast_mean_index_move(ast_cells *cells, int32_t slot);
void ast_mean_index_remove(ast_cells *cells, int32_t slot);
void ast_mean_index_free(ast_mean_index *index);

/* Lists the sorted means that can win a point of the cell or tie for it, and others near the cell. false: no memory. */
bool ast_mean_index_gather(const ast_cells *cells, const ast_cell *cell, ast_mean_table *list);

/* Memory for `count` means and for what kernels write after them; the old contents are lost. false: no memory. */
bool ast_cell_list_reserve(ast_mean_table *list, size_t count);
