/* SPDX-License-Identifier: MIT
 *
 * The model: points, their labels, and the clusters with their exact sums. This header is the interface of the room;
 * the struct itself is in inside.h, which only this room includes.
 *
 * A method loads points and sets a rule. Then it repeats two steps: a pass labels the points, an update computes the
 * means. A pass gives the same labels as visiting the points one after the other, whatever the number of threads and
 * ranks and the source of the rows.
 *
 *     labelling.h   load, rule, pass, update; nearest, sums, each_chunk; snapshot and restore; the read-only view
 *     edit.h        labels and clusters that a method sets by itself, between passes
 *     rule.h        what a method decides: the label of a point that float scores leave open
 *     clusters.h    the list of clusters that the view shows
 *     seeds.h       starts of k-means; checkpoint_labels.h: labels of an earlier run
 *
 * With several ranks, every function that returns a status is a collective call. */
#pragma once

#include "asterism.h"
#include "clusters.h"
#include "comm.h"
#include "pool.h"
#include "rule.h"
#include "scorer.h"

typedef struct ast_labelling ast_labelling;

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* The points of a window are a multiple of this, and so of every chunk. */
#define AST_WINDOW_STEP 4096

typedef struct ast_pass_result {
    size_t changed;      /* points that changed their cluster */
    uint64_t scored;     /* points that were compared with every mean */
    uint64_t products;   /* full scores of a point with a mean that this took */
    uint64_t restarts;   /* of the oir schedule */
    uint64_t label_hash; /* passes with equal labels have equal hashes; 0 for the first pass */
} ast_pass_result;

/* Called on the caller's thread after each segment of a source but the last. `work`: of the pass so far; `left`: rows
 * to come. AST_CANCELLED ends the pass. */
typedef ast_status ast_segment_report(void *data, const ast_pass_result *work, size_t left, ast_fault *fault);

/* The points of a run: in memory, or behind a source. Only kernels, pool and one of points and source are required. */
typedef struct ast_labelling_input {
    const ast_kernels *kernels;
    ast_pool *pool;
    const ast_points *points; /* rows in memory; NULL if there is a source */
    const ast_source *source;
    const uint32_t *order; /* (N) the row that is visited i-th; NULL: rows are visited as given */
    const uint8_t *late;   /* (N) as in ast_points, or NULL. These rows take no part */
    double *weights;       /* (N) in order of visit, or NULL. The load divides them by the smallest. Points of weight 0
                              take no part */
    bool axial;
    bool load_in_pass;    /* the first pass may load small dense rows in memory, chunk by chunk */
    bool unbounded;       /* every pass scores every point */
    bool headless;        /* ... against every mean, over all components */
    size_t cells_from;    /* from so many clusters on, in three dimensions, passes use cells; 0: a measured default */
    size_t heads;         /* coordinates of the first stage of pruning; 0: chosen by measured costs */
    const ast_comm *comm; /* NULL: one process. Either all ranks have weights or none */
    size_t offset;        /* number of points of the ranks before this one */
    /* Only with a source: */
    const ast_label_store *store; /* NULL: one window */
    size_t window;                /* rows of a window: a multiple of AST_WINDOW_STEP */
    size_t segment;               /* chunks between two calls of `report` */
    size_t max_clusters;          /* clusters that there is memory for */
    bool survey;                  /* find the missing rows before the first pass; required with weights */
    ast_segment_report *report;   /* or NULL */
    void *report_data;
} ast_labelling_input;

/* Creates an empty labelling; NULL: no memory. ast_labelling_clear frees its memory and leaves it empty. */
ast_labelling *ast_labelling_new(void);
void ast_labelling_clear(ast_labelling *labelling);
void ast_labelling_free(ast_labelling *labelling);

/* Loads the points, without clusters. Reuses the memory of an earlier load. After a failure only clear, free and
 * another load are allowed. The caller keeps the arrays of the input as long as the labelling uses them. */
ast_status ast_labelling_load(ast_labelling *labelling, const ast_labelling_input *input, ast_fault *fault);

/* Sets the weights of points that were loaded without, and the unit of sums (weights.h). Points of weight 0 take no
 * part. NULL: the labelling forgets the array; no pass may follow. */
void ast_labelling_weigh(ast_labelling *labelling, const double *weights, double unit);

/* ---- The read-only view ------------------------------------------------------------------------------------------ */

/* Points are in the order of visit. Rows and labels of a source are those of the open window. A label is the slot of a
 * cluster, or
 *
 * - AST_MISSING (-1): the point takes no part: its row has no direction, its weight is 0, or, in a finished result, it
 *   is an outlier;
 * - AST_UNLABELLED (-2): the point has no cluster yet;
 * - AST_NOBODY (-3): only from ast_labelling_nearest: no mean fits. */
typedef struct ast_labelling_view {
    const ast_rowset *rows;
    const ast_cluster_list *clusters;
    const int32_t *labels; /* (padded) */
    const uint8_t *signs;  /* (padded / AST_LANES) axial: whether a point counts as -x */
    size_t present;        /* points of this rank that take part */
    size_t everyone;       /* points of all ranks that take part */
    double least_weight;   /* the smallest weight of all points that take part, as given; 1 without weights */
    size_t missing;        /* rows without a direction, of all ranks; of a source: among the rows read so far */
    double limit;          /* the smallest score that fits: cos(angle) - 2^-20 */
    ast_pool *pool;
    const ast_comm *comm;
    ast_row_buffer *buffer; /* in which the calling thread reads single rows, between passes */
    size_t windows;         /* number of windows; rows in memory are one */
    size_t window_rows;     /* labels of a window, padded */
    size_t window_first;    /* number of the first point of the open window */
    size_t points;          /* of all windows */
} ast_labelling_view;

/* The input of another labelling like this one: the same kernels, threads and pruning for other points in memory. */
ast_labelling_input ast_labelling_input_like(const ast_labelling *labelling, const ast_points *points);

/* The pointers of the view are valid until the labelling is loaded again or cleared. Its numbers do not follow changes.
 */
ast_labelling_view ast_view_of(const ast_labelling *labelling);

/* Opens window `number` of a source. The view shows its rows and labels from then on. Does not save the labels of the
 * window before: a pass does. */
ast_status ast_labelling_open_window(ast_labelling *labelling, size_t number, ast_fault *fault);

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* Sets the rule of passes, and the angle in degrees within which a point fits a mean, in passes and in
 * ast_labelling_nearest. NaN: every point fits, and the number of clusters is fixed. A method without passes sets
 * ast_nearest_rule. */
void ast_labelling_set_rule(ast_labelling *labelling, const ast_rule *rule, double angle);

/* Labels every point by the rule, and computes the sums of the clusters. */
ast_status ast_labelling_pass(ast_labelling *labelling, ast_parallel how, ast_pass_result *result, ast_fault *fault);

/* Sets the mean of every cluster to the direction of its sum. */
ast_status ast_labelling_update(ast_labelling *labelling, ast_fault *fault);

/* A failure of this rank between passes. With several ranks, keeps it for the next pass, which reports it to all ranks,
 * and returns AST_OK; otherwise returns it. */
ast_status ast_labelling_set_pending(ast_labelling *labelling, ast_status status);

/* After the last pass: all ranks return the pending failure of the lowest failing rank, or `status`. */
ast_status ast_labelling_finish(ast_labelling *labelling, ast_status status, ast_fault *fault);

/* ---- Primitives over all points ---------------------------------------------------------------------------------- */

/* Finds the nearest mean of points of the open window; it fits if it is within the angle that was set with the rule. Of
 * equal scores the first mean wins. A point whose label is AST_MISSING keeps it: a method that leaves a point out for
 * one pass only labels it AST_UNLABELLED. */
typedef struct ast_nearest_query {
    int32_t *labels; /* (padded) receives the slot; AST_NOBODY: no mean fits */
    float *scores;   /* all points: (count) receives the exact score, NaN for missing points; or NULL */
    /* For some points and some means instead of all: */
    const uint8_t *rows;         /* (count) whether to label a point; NULL: all points, all means */
    const ast_mean_table *means; /* means of clusters; the ids are their slots */
    uint8_t *signs;              /* axial: (padded / AST_LANES) receives whether the score is negative; or NULL */
} ast_nearest_query;
ast_status ast_labelling_nearest(ast_labelling *labelling, const ast_nearest_query *query, ast_fault *fault);

/* The sums of rows by their labels. Start with {0}; ast_sums_free frees the arrays. */
typedef struct ast_sums {
    size_t slots;     /* that the arrays have memory for */
    int64_t *sums;    /* (slots, D) in units of 1 / AST_SUMS_UNIT */
    int64_t *weights; /* (slots) */
    int64_t *members; /* (slots) number of rows */
    uint64_t *keys;   /* (slots) as in ast_cluster_list */
    uint8_t *touched; /* (slots) set for every slot that got rows; others stay as they were */
} ast_sums;
#define AST_SUMS_UNIT 0x1p30

/* Sums of rows by labels that are not those of the labelling: begin; add the rows of the open window by these labels
 * (padded; slots of clusters, below 0: the row does not count) and signs as in the view; end with the status so far, a
 * collective call after which the sums are those of all ranks. Each row counts once, whatever its weight. */
ast_status ast_labelling_sums_begin(ast_labelling *labelling, ast_sums *sums, ast_fault *fault);
ast_status ast_labelling_sums_add(ast_labelling *labelling, const int32_t *labels, const uint8_t *signs, ast_sums *sums,
                                  ast_fault *fault);
ast_status ast_labelling_sums_end(ast_labelling *labelling, ast_sums *sums, ast_status status, ast_fault *fault);
void ast_sums_free(ast_sums *sums);

/* Visits points first..last-1: one chunk. `memory` has the number of the thread and its buffers, with which it reads
 * rows. */
typedef void ast_chunk_visitor(void *data, ast_chunk *memory, size_t first, size_t last);

/* Calls the visitor for every chunk of the open window, on all threads. */
ast_status ast_labelling_each_chunk(ast_labelling *labelling, ast_chunk_visitor *visit, void *data, ast_fault *fault);

/* Copies the result at this moment: labels, clusters, sums. Restoring undoes all passes since. NULL: no memory. Release
 * with ast_free(). */
typedef struct ast_snapshot ast_snapshot;
ast_snapshot *ast_labelling_snapshot(const ast_labelling *labelling);
void ast_labelling_restore(ast_labelling *labelling, const ast_snapshot *snapshot);
