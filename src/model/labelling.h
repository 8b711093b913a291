/* SPDX-License-Identifier: MIT
 *
 * The model: points, their labels, and the clusters with their exact sums. This header is the way into the room;
 * the struct itself is in inside.h, which only this room includes.
 *
 * A method sets a rule, then repeats a pass (labels) and an update (means). A pass has the result of visiting the
 * points one after the other, whatever the threads, the ranks or the source of the rows.
 *
 *     labelling.h   load, rule, pass, update; nearest, sums, each_chunk; snapshot and restore; the read-only view
 *     edit.h        labels and clusters that a method sets by itself, between passes
 *     rule.h        what a method decides: the label of a point that fast scores leave open
 *     clusters.h    the list of clusters, as the view shows it
 *     seeds.h       starts of k-means; checkpoint_labels.h: labels of an earlier run
 *
 * With several ranks every function that returns a status is a collective call. */
#ifndef AST_LABELLING_H
#define AST_LABELLING_H

#include "asterism.h"
#include "clusters.h"
#include "comm.h"
#include "pool.h"
#include "rule.h"
#include "scorer.h"

typedef struct ast_labelling ast_labelling;

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* Windows are a multiple of this many points, and so of every chunk. */
#define AST_WINDOW_STEP 4096

/* Called on the caller's thread between two segments of a source; `left`: rows to come. AST_CANCELLED to stop. */
typedef ast_status ast_segment_report(void *data, size_t left, ast_fault *fault);

/* The points of a run: in memory, or behind a source. Everything but kernels and pool may be zero. */
typedef struct ast_labelling_input {
    const ast_kernels *kernels;
    ast_pool *pool;
    const ast_points *points; /* rows in memory; NULL if there is a source */
    const ast_source *source;
    const uint32_t *order; /* (N) of visits; NULL: as given */
    const uint8_t *late;   /* (N) as in ast_points, or NULL. Such rows are left out */
    double *weights;       /* (N) in order of visit, or NULL. They are divided by the smallest. Weight 0: left out */
    bool axial;
    bool fused;           /* small dense rows in memory may be loaded by the first pass, chunk by chunk */
    bool unbounded;       /* every pass scores every point */
    bool headless;        /* ... against every mean, over all components */
    size_t cells_from;    /* so many clusters in three dimensions are searched by cells; 0: as measured */
    size_t heads;         /* coordinates of the first stage of pruning; 0: as measured */
    const ast_comm *comm; /* NULL: one process. Weights are there on all ranks or on none */
    size_t offset;        /* points of the ranks before this one */
    /* Only with a source: */
    const ast_label_store *store; /* NULL: one window */
    size_t window;                /* rows of a window: a multiple of AST_WINDOW_STEP */
    size_t segment;               /* chunks between two calls of `report` */
    size_t max_clusters;          /* clusters that there is memory for */
    bool survey;                  /* find the missing rows before the first pass; needed for weights */
    ast_segment_report *report;   /* or NULL */
    void *report_data;
} ast_labelling_input;

/* An empty labelling, NULL without memory. ast_labelling_clear frees what it holds and leaves it empty. */
ast_labelling *ast_labelling_new(void);
void ast_labelling_clear(ast_labelling *labelling);
void ast_labelling_free(ast_labelling *labelling);

/* Loads the points; there are no clusters yet. Reuses the memory of an earlier load. After a failure only clear, free
 * and another load may follow. The arrays of the input must live as long as the labelling uses them. */
ast_status ast_labelling_load(ast_labelling *labelling, const ast_labelling_input *input, ast_fault *fault);

/* Points that were loaded without weights get theirs, in such a unit (weights.h); weight 0 leaves a point out.
 * NULL: the array is gone, and no pass follows. */
void ast_labelling_weigh(ast_labelling *labelling, const double *weights, double unit);

/* ---- What others may read ---------------------------------------------------------------------------------------- */

/* Labels are slots of clusters: AST_MISSING for a point that takes no part, AST_UNLABELLED before the first pass.
 * Points stand in the order of visit. Of a source, rows and labels are those of the open window. */
typedef struct ast_labelling_view {
    const ast_rowset *rows;
    const ast_cluster_list *clusters;
    const int32_t *labels; /* (padded) */
    const uint8_t *signs;  /* (padded / AST_LANES) axial: whether a point counts as -x */
    size_t present;        /* points that take part: of these rows, */
    size_t everyone;       /* of all ranks */
    size_t missing;        /* rows without a direction, of all ranks; of a source: as far as it was read */
    double limit;          /* a score fits from here: cos(angle) - 2^-20 */
    ast_pool *pool;
    const ast_comm *comm;
    size_t windows;      /* number of windows; rows in memory are one */
    size_t window_rows;  /* memory for labels that a window needs */
    size_t window_first; /* number of the first point of the open window */
    size_t points;       /* of all windows */
} ast_labelling_view;

/* The input of another labelling like this one: the same kernels, threads and pruning for other points in memory. */
ast_labelling_input ast_labelling_input_like(const ast_labelling *labelling, const ast_points *points);

/* Pointers of the view hold until the labelling is loaded again or cleared; numbers are those of the moment. */
ast_labelling_view ast_view_of(const ast_labelling *labelling);

/* Opens window `number` of a source, whose rows the view shows from then on; saves the labels of the one before. */
ast_status ast_labelling_open_window(ast_labelling *labelling, size_t number, ast_fault *fault);

/* Tells a source which window is read next. */
void ast_labelling_announce(const ast_labelling *labelling, size_t number);

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

typedef struct ast_pass_result {
    size_t changed;      /* points that changed their cluster */
    uint64_t scored;     /* points that were compared with every mean */
    uint64_t products;   /* full scores of a point with a mean that this took */
    uint64_t restarts;   /* of the oir schedule */
    uint64_t label_hash; /* equal labels of two passes have equal hashes; that of the first pass is 0 */
} ast_pass_result;

/* The rule, and the angle in degrees within which a score fits; NaN: always (a fixed number of clusters). */
void ast_labelling_set_rule(ast_labelling *labelling, const ast_rule *rule, double angle);

/* Labels every point by the rule and gathers the sums. Then: gives every cluster the mean of its members. */
ast_status ast_labelling_pass(ast_labelling *labelling, ast_parallel how, ast_pass_result *result, ast_fault *fault);
ast_status ast_labelling_update(ast_labelling *labelling, ast_fault *fault);

/* The work of the pass so far, for a report within it. */
void ast_labelling_progress(const ast_labelling *labelling, ast_pass_result *result);

/* A failure of this rank, which the others hear of in the next pass (one process: at once). */
ast_status ast_labelling_set_pending(ast_labelling *labelling, ast_status status);

/* After the last pass: what was deferred, or else `status`; all ranks agree. */
ast_status ast_labelling_finish(ast_labelling *labelling, ast_status status, ast_fault *fault);

/* ---- Primitives over all points ---------------------------------------------------------------------------------- */

/* The nearest mean of points of the open window. Equal scores go to the first mean of the table. */
typedef struct ast_nearest_query {
    int32_t *labels; /* (padded) receives the slot, AST_NOBODY if the score is below the limit of the view */
    float *scores;   /* all points: (count) receives the exact score, NaN for missing points; or NULL */
    /* Some points instead of all that are not missing, and some means instead of all: */
    const uint8_t *rows;         /* (count) whether to look at a point; NULL: all points, all means */
    const ast_mean_table *means; /* which are means of clusters; ids are their slots */
    uint8_t *signs;              /* axial: (padded / AST_LANES) receives whether the score is negative; or NULL */
} ast_nearest_query;
ast_status ast_labelling_nearest(ast_labelling *labelling, const ast_nearest_query *query, ast_fault *fault);

/* The sums of some rows by their labels. Each row counts once, whatever its weight. */
typedef struct ast_sums {
    size_t slots;     /* there is memory for */
    int64_t *sums;    /* (slots, D) in units of 1 / AST_SUMS_UNIT */
    int64_t *members; /* (slots) */
} ast_sums;
#define AST_SUMS_UNIT 0x1p30

/* labels (padded): a slot of the clusters there are, below 0: the row does not count; signs as in the view. Start with
 * {0}; ast_sums_free frees the memory. */
ast_status ast_labelling_sums(ast_labelling *labelling, const int32_t *labels, const uint8_t *signs, ast_sums *sums,
                              ast_fault *fault);
void ast_sums_free(ast_sums *sums);

/* Visits points first..last-1, one chunk. `memory` holds the buffers of thread `worker`, with which rows are read. */
typedef void ast_chunk_visitor(void *data, ast_chunk *memory, size_t first, size_t last, int worker);

/* Calls the visitor for every chunk of the open window, on all threads. */
ast_status ast_labelling_each_chunk(ast_labelling *labelling, ast_chunk_visitor *visit, void *data, ast_fault *fault);

/* The memory in which the calling thread reads single rows, between passes. */
ast_row_buffer *ast_labelling_row_buffer(ast_labelling *labelling);

/* The result at this moment: labels, clusters, sums. Restoring takes back all passes since. NULL: no memory. */
typedef struct ast_snapshot ast_snapshot;
ast_snapshot *ast_labelling_snapshot(const ast_labelling *labelling);
void ast_labelling_restore(ast_labelling *labelling, const ast_snapshot *snapshot);
void ast_snapshot_free(ast_snapshot *snapshot);

#endif
