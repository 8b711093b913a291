/* SPDX-License-Identifier: MIT
 *
 * An ast_tune that is under way. The points that it looks at are a sample of the caller's, or draws of distributions
 * without clusters that are fitted to the sample; both are a tune_set and go through the same steps. The
 * steps are calls of the library with a context of their own, so that the caller's keeps its last result until the end.
 */
#pragma once

#include "context.h"
#include "metric.h"
#include "tune.h"

#define AST_TUNE_SEED 1 /* of orders and draws: the recommendation does not depend on the caller's seed */
#define AST_TUNE_MAX_COLUMNS (1 << 17) /* of sparse rows: the draws are dense at first */

/* Distributions without clusters. */
typedef enum ast_null {
    AST_NULL_ONE,
    AST_NULL_NOISE,
    AST_NULL_CIRCLE,
    AST_NULL_ARC,
    AST_NULL_CLOUD,
    AST_NULLS
} ast_null;

/* Points in memory, normalised, in the order of content; axial: canonical. */
typedef struct ast_tune_set {
    ast_points points;    /* a view of what follows */
    float *rows;          /* (count, D) */
    double *weights;      /* (count) or NULL */
    int32_t *leaves;      /* (count) of the tree */
    ast_tree_join *joins; /* (leaf_count - 1) */
    size_t leaf_count;
} ast_tune_set;

/* The rows of a sparse sample before their dimension was reduced. */
typedef struct ast_tune_sparse_rows {
    ast_points points; /* a view of what follows; count 0: they were not reduced */
    float *values;
    int32_t *starts, *columns;
} ast_tune_sparse_rows;

/* What the last ast_tune found: the reason in its report, and the records. */
typedef struct ast_tuned {
    ast_tune_angle *angles;
    size_t angle_count, angles_planned;
    ast_tune_level *levels;
    size_t level_count;
    ast_null *nulls; /* (levels) whose draws have the largest silhouette */
    char reason[400];
} ast_tuned;

void ast_tuned_free(ast_tuned *tuned);

/* A level of the tree of a set, after its points joined their nearest mean a few times. */
typedef struct ast_tune_cut {
    const ast_tune_set *set;
    bool axial;
    size_t clusters;
    int32_t *labels, *nearest; /* (count) */
    int32_t *group;            /* (2 leaves) */
    float *means;              /* (clusters, D) */
    double *sums;              /* (clusters, D) */
} ast_tune_cut;

typedef struct ast_tuning {
    ast_context *context; /* the caller's */
    ast_context *inner;
    ast_fault *fault; /* of the caller's context */
    const ast_points *points;
    const ast_tune_options *options;
    ast_tune_report *report;
    ast_tuned *tuned;
    ast_tune_set sample;
    ast_tune_sparse_rows entries;
    float *unmapped; /* (count, D) the rows of the sample before the metric; NULL: it is plain */
    ast_fitted_metric metric;
    size_t map_clusters;   /* of the sample, that the map was learned from; 0: from neighbours */
    size_t present;        /* rows that take part */
    double rounding;       /* degrees that angles were rounded to; 0: none */
    ast_mixture noise;     /* one cluster in noise, fitted to the sample; size 0: not yet */
    ast_null highest;      /* what the chosen level is compared with */
    size_t most_clusters;  /* a run with more is cancelled; 0: never */
    bool too_many;         /* a run was cancelled for that */
    size_t steps, planned; /* for the progress function */
    bool stopped;          /* the progress function asked to stop */
} ast_tuning;

/* tune_nulls.c: draws a set with as many rows as the sample has; whether this null distribution applies to the points;
 * its name in a sentence. */
ast_status ast_tune_draw_null(ast_tuning *tuning, ast_null kind, int number, ast_tune_set *set);
bool ast_null_applies(const ast_tuning *tuning, ast_null kind);
const char *ast_null_name(ast_null kind);

/* tune_sample.c */
ast_status ast_tune_open_sample(ast_tuning *tuning);
ast_status ast_tune_open_larger(ast_tuning *tuning, ast_tune_set *set); /* rows before the metric */
void ast_tune_set_free(ast_tune_set *set);

/* A set of `count` rows without any yet; false: no memory. Free it in any case. */
bool ast_tune_set_open(ast_tune_set *set, size_t count, size_t dimension, bool weighted);

/* tune_span.c, for sparse rows. ast_tune_reduce_dimension replaces n rows with more than n components by rows of n
 * components with the same dot products: trees, levels and silhouettes depend on nothing else.
 * ast_tune_keep_sparse_rows keeps the rows of the sample before that, for the runs of the sweep.
 * ast_tune_original_points returns them, or the sample's own points if they were not replaced. */
ast_status ast_tune_reduce_dimension(ast_tuning *tuning, ast_tune_set *set);
ast_status ast_tune_keep_sparse_rows(ast_tuning *tuning);
const ast_points *ast_tune_original_points(const ast_tuning *tuning);
void ast_tune_sparse_rows_free(ast_tune_sparse_rows *entries);

/* tune_levels.c. ast_tune_grow_tree finds the leaves at an angle, and their tree; ast_tune_find_best_by_evidence the
 * level with the largest evidence (*limit: its number of clusters); ast_tune_evidence computes the evidence of labels
 * of the sample. ast_tune_measure_levels measures the silhouettes of all levels: of the sample, or of a draw of this
 * kind, of which the largest silhouette of all draws is kept. */
ast_status ast_tune_grow_tree(ast_tuning *tuning, ast_tune_set *set, double angle);
ast_status ast_tune_find_best_by_evidence(ast_tuning *tuning, const ast_tune_set *set, size_t *limit, double *evidence);
ast_status ast_tune_evidence(ast_tuning *tuning, const int32_t *labels, size_t clusters, double *evidence);
ast_status ast_tune_measure_levels(ast_tuning *tuning, const ast_tune_set *set, ast_null kind);

/* The cut with so many clusters, at most `most` and the number of leaves: its labels and means. Close the cut in any
 * case. */
ast_status ast_tune_cut_open(ast_tuning *tuning, const ast_tune_set *set, size_t most, ast_tune_cut *cut);
ast_status ast_tune_cut_at(ast_tuning *tuning, ast_tune_cut *cut, size_t clusters);
void ast_tune_cut_close(ast_tune_cut *cut);

/* The silhouette of the cut with so many clusters; -1 if there are not so many leaves. */
ast_status ast_tune_measure_level(ast_tuning *tuning, ast_tune_cut *cut, size_t clusters, double *silhouette);

/* tune_recheck.c: of the levels around the chosen one of the sample, the one that stands out most among more rows, if
 * there are more, and that the recommended run finds. */
ast_status ast_tune_recheck_level(ast_tuning *tuning, size_t *chosen);

/* tune_stability.c: the number of pairs of halves of the sample, and the stability of every level over them. */
int ast_tune_splits(const ast_tuning *tuning);
ast_status ast_tune_measure_stability(ast_tuning *tuning);

/* tune_cloud.c: the largest silhouette at a level of draws of one cloud with the sample's covariance; with the local
 * metric each has one of its own. */
ast_status ast_tune_measure_cloud(ast_tuning *tuning, size_t clusters, double *silhouette);

/* tune_metric.c. ast_tune_open_metric decides whether the metric is local; if so, it learns the map from all points and
 * maps the sample. ast_tune_refine_metric learns the map again, from the clusters of the sample (labels: (count))
 * instead of its neighbours. */
ast_status ast_tune_open_metric(ast_tuning *tuning);
ast_status ast_tune_refine_metric(ast_tuning *tuning, const int32_t *labels);
void ast_tune_close_metric(ast_tuning *tuning);

/* tune.c: the options of a run at an angle, in content order; a run; the silhouette of its labels, NaN with one
 * cluster.
 */
ast_options ast_tune_run_options(ast_tuning *tuning, double angle);
ast_status ast_tune_run(ast_tuning *tuning, const ast_points *points, const ast_options *options, int32_t *labels,
                        ast_report *report);
ast_status ast_tune_silhouette(ast_tuning *tuning, const ast_points *points, const int32_t *labels, size_t clusters,
                               double *silhouette);

/* Passes the status on; after a failure, copies the sentence of the inner context to the caller's. */
ast_status ast_tune_take_fault(ast_tuning *tuning, ast_status status);

/* Counts one of the planned steps, and reports progress. AST_CANCELLED if the caller asked to stop. */
ast_status ast_tune_step(ast_tuning *tuning);
