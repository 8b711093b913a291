/* SPDX-License-Identifier: MIT
 *
 * Very many clusters in three dimensions: passes whose time does not grow with their number.
 *
 * The one idea: the sphere is cut into cells, the faces of a cube cut into four again and again. For a cell a list of
 * means is kept that provably has the winner of every point in it (docs/rules.md), and the list of a part is a part of
 * the list. Points are sorted by cell once a run, so that those of a cell stand side by side and are scored together.
 * Nothing here decides by a bound alone: labels are those of the exact scores, as everywhere.
 *
 *     cells.c         the points, sorted; geometry of a cell
 *     cells_label.c   the nearest mean of every point
 *     cells_index.c    the means, sorted by cell; the nearest of one point, while clusters come and go
 *     cells_peaks.c   points that a new mean may be nearer to than all before it: k-means++
 *
 * model/cells_pass.c runs a pass of these. */
#ifndef AST_CELLS_H
#define AST_CELLS_H

#include "scorer.h"

#include <math.h>

#define AST_CELL_LEVELS 12         /* a cell of the last one is 0.02 to 0.04 degrees wide */
#define AST_CELLS_MIN_CLUSTERS 192 /* from so many clusters on cells win (measured) */

typedef struct ast_cell {
    uint32_t face, level, u, v; /* the u-th and v-th of 2^level on face 0..5 */
    uint32_t prefix;            /* what the codes of its points begin with */
    size_t first, last;         /* its points, by place */
} ast_cell;

/* Lists of means, one for each level on the way down; and what the first of them is made from. */
typedef struct ast_cell_scratch {
    ast_mean_table list[AST_CELL_LEVELS + 1];
    ast_mean_table gathered;
    ast_scores scores; /* (AST_BLOCK) */
    uint64_t scored;   /* points compared with means since the caller last looked */
} ast_cell_scratch;

/* A table of the means, one block of 16 neighbours after the other, and what happened to them since. */
typedef struct ast_mean_index {
    size_t capacity;         /* means that there is memory for, a whole number of blocks of blocks */
    ast_mean_table sorted;   /* by cell, those of one cell in order of creation; ids are slots */
    ast_balls blocks;        /* around the means of each block, ... */
    ast_balls groups;        /* ... and of each 16 blocks */
    uint64_t *pairs;         /* (2, capacity) to sort by */
    size_t slots;            /* that there is memory for: */
    uint8_t *stale;          /* (slots) the entry is void: the cluster died or its mean was reset */
    uint8_t *listed;         /* (slots) */
    int32_t *creation_order; /* (slots) in order of creation */
    int32_t *unsorted;       /* (slots) clusters that are not in the table, */
    size_t unsorted_count;   /* so many */
    int32_t next_creation;
    bool failed; /* there was no memory to make the table anew */
} ast_mean_index;

typedef struct ast_cells {
    const ast_scorer *scorer;
    ast_pool *pool;
    bool loaded;
    size_t count;    /* points that are there */
    uint32_t *code;  /* (count) cell of the last level, sorted */
    uint32_t *point; /* (count) whose it is */
    float *columns;  /* (3, pitch) the points in that order */
    size_t pitch;
    float *best;     /* (count) the score of what `label` says; AST_NO_SCORE for nobody */
    int32_t *label;  /* (padded) by point: the cluster that it will join as things stand, or AST_NOBODY */
    uint32_t *start; /* (6 4^depth + 1) the first place of each cell of level `depth` */
    uint32_t depth;  /* of that directory */
    size_t label_capacity;
    ast_cell_scratch *scratch; /* (workers) */
    int workers;
    ast_mean_index mean_index;
} ast_cells;

/* Sorts the points, if that was not done for this run; *cells is NULL or was loaded before. false: no memory. */
bool ast_cells_load(ast_cells **cells, const ast_scorer *scorer, ast_pool *pool);
void ast_cells_free(ast_cells *cells);

/* The largest of each cell of numbers that the points have and that only fall: distances 1 - x . mu from the nearest of
 * means that come one by one. */
typedef struct ast_cell_peaks {
    const ast_cells *cells;
    float *peak; /* (cells of all levels of the directory) */
} ast_cell_peaks;

/* Compares a point with the mean: lowers its number, if that is smaller, and returns it. */
typedef float ast_lower_distance(void *data, size_t point);

bool ast_cell_peaks_open(ast_cell_peaks *peaks, const ast_cells *cells); /* false: no memory */
void ast_cell_peaks_close(ast_cell_peaks *peaks);

/* Calls `lower` for every point whose number may be larger than 1 - x . mean, and for some others. */
void ast_cell_peaks_lower(ast_cell_peaks *peaks, const float mean[3], ast_lower_distance *lower, void *data);

/* ---- steps of a pass ---- */

/* For every point from number `from` on the nearest mean of all clusters, AST_NOBODY if that does not fit; with `keep`
 * the best scores are kept. ast_cells_nearest: of all points, whether it fits or not. false: no memory. */
bool ast_cells_label(ast_cells *cells, size_t from, bool keep);
bool ast_cells_nearest(ast_cells *cells);

uint32_t ast_cell_code(const float x[3]);
ast_cell ast_cell_face(const ast_cells *cells, uint32_t face);
ast_cell ast_cell_of(const ast_cells *cells, uint32_t level, uint32_t prefix);       /* of a level of the directory */
ast_cell ast_cell_part(const ast_cells *cells, const ast_cell *cell, uint32_t part); /* 0..3 */

/* Every point of the cell is within the radius of the centre, with 2^-20 to spare. */
void ast_cell_bound(const ast_cell *cell, float centre[3], float *radius);

/* Sorts (code >> AST_DROPPED_CODE_BITS) << 32 | anything by the code, equals as they came; spare: as many. */
#define AST_DROPPED_CODE_BITS 11 /* a code has 27 */
void ast_sort_codes(uint64_t *pairs, uint64_t *spare, size_t count);

/* No point of this score or a larger one is farther away: |x - mu|^2 = |x|^2 + |mu|^2 - 2 x . mu, and lengths are 1
 * within 2^-22. Rounded up, with 2^-20 for distances in float. */
static inline float ast_distance_at_score(double score) {
    double squared = 2 - 2 * score + 0x1p-20;
    return (squared > 0 ? sqrtf((float)squared) : 0) + 0x1p-20f;
}

static inline void ast_cell_point(const ast_cells *cells, size_t place, float x[3]) {
    for (size_t d = 0; d < 3; d++)
        x[d] = cells->columns[d * cells->pitch + place];
}

/* The cluster with the exact largest score, equal ones to the first in order, but for `barred`; AST_NOBODY if none
 * fits. The other functions say what happened to the clusters since ast_mean_index_build. false: no memory. */
int32_t ast_mean_index_find(ast_cells *cells, const ast_mean_list *means, const float x[3], int32_t barred);
bool ast_mean_index_build(ast_cells *cells, const ast_mean_list *means); /* sorts the means, for a pass */
bool ast_mean_index_add(ast_cells *cells, const ast_mean_list *means, int32_t slot);
void ast_mean_index_move(ast_cells *cells, int32_t slot);
void ast_mean_index_remove(ast_cells *cells, int32_t slot);
void ast_mean_index_free(ast_mean_index *index);

/* The means, as of the beginning, that can win a point of the cell, or share its score and come first, and others near
 * it. false: no memory. */
bool ast_mean_index_gather(const ast_cells *cells, const ast_cell *cell, ast_mean_table *list);

/* Room for `count` means and what kernels write behind them; what was there is lost. false: no memory. */
bool ast_cell_list_reserve(ast_mean_table *list, size_t count);

#endif
