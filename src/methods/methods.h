/* SPDX-License-Identifier: MIT
 *
 * The algorithms, one file each: batch.c is DP-vMF-means and sampled.c the same over a sample, kmeans.c spherical
 * k-means, levels.c the same in levels and minibatch.c its mini-batch variant, mixture.c a mixture by EM. Each method
 * runs on a labelling that is loaded with points and has no clusters, and leaves its result there: labels are slots,
 * clusters have means. A method with a distribution for each cluster leaves the distributions in the run. */
#pragma once

#include "components.h"
#include "edit.h"
#include "grouped.h"
#include "merge.h"
#include "random.h"

/* Hashes of the labels after the passes of a run: a run whose labels repeat would repeat itself. */
typedef struct ast_history {
    uint64_t *label_hashes;
    size_t count, capacity;
} ast_history;

/* Adds a hash; *repeats: it was there before. */
ast_status ast_history_add(ast_history *history, uint64_t label_hash, bool *repeats, ast_fault *fault);
void ast_history_free(ast_history *history);

/* Which earlier labels end a run when they come again. */
typedef enum ast_repeats {
    AST_REPEATS_ANY,  /* those of any earlier pass: the run would repeat itself */
    AST_REPEATS_LAST, /* those of the pass before */
    AST_REPEATS_NONE
} ast_repeats;

typedef struct ast_run {
    const ast_options *options; /* NULL: a frame of a stream, which reports no progress */
    ast_parallel parallel;
    int restart;        /* 0.. */
    int iterations;     /* of this run */
    int max_iterations; /* the loop ends at this number */
    ast_repeats repeats;
    int converged;
    double objective;
    double log_likelihood, bic;         /* NaN where the method has none */
    double improvement;                 /* what one more iteration over all points would add; NaN: not measured */
    double level_misplaced, level_loss; /* as in ast_report; NaN: one level */
    uint64_t oir_restarts;
    double pass_start;   /* seconds */
    size_t start_points; /* size of the sample for k-means++; 0: all points */
    bool resumed;        /* the labelling has the clusters and labels of an earlier run, which this run continues */
    const struct ast_groups *groups; /* rows of one group never share a cluster; NULL: no groups */
    ast_history history;             /* of the passes, or of the last pass if that is enough */
    bool merging;                    /* the method is over; clusters are merged or dissolved */
    size_t clusters_before_merge;
    size_t outliers;           /* points of dissolved clusters that fit nowhere */
    float *thresholds;         /* (slots) similarities below which rows became outliers, or NULL. The caller frees it */
    float *fits;               /* (slots) the same, without outliers; or NULL. The caller frees it */
    double resultant;          /* ast_overall_resultant, before points became outliers */
    double weight_unit;        /* the smallest weight as given, in which clusters count theirs; 1 without weights */
    ast_tree_of_run tree;      /* if the options ask for it. The caller frees it */
    ast_family family;         /* of the mixture whose features the rows are */
    ast_components components; /* cluster k is component k; none where the method has none. The caller frees them */
    double *cluster_posterior; /* (cluster_posterior_count) of a sampler: how often k clusters occurred. The caller
                                  frees it */
    size_t cluster_posterior_count;
    double effective_samples; /* of a sampler: independent sweeps that its chain is worth; NaN otherwise */
    bool stationary;          /* of a sampler: the halves of its chain agree */
} ast_run;

/* A run that has not begun. */
ast_run ast_run_begin(const ast_options *options, int restart);

/* The resultant of all points with a label: |sum| / weight, 0..1; axial: the sum of the squared entries of the mean of
 * x x', NaN above 16 dimensions. NaN without clusters. A collective call. */
ast_status ast_overall_resultant(ast_labelling *labelling, double *resultant, ast_fault *fault);

/* Takes the labels of rows that options.outliers asks to take out, or finds the thresholds for options.calibrate. */
ast_status ast_run_outliers(ast_labelling *labelling, ast_run *run, ast_fault *fault);

/* The loop of all methods with a rule (batch.c): label, update, until nothing changes. penalty: of a cluster. */
ast_status ast_iterate(ast_labelling *labelling, ast_run *run, double penalty, ast_fault *fault);

ast_status ast_run_dp(ast_labelling *labelling, ast_run *run, ast_fault *fault);
ast_status ast_run_dp_sampled(ast_labelling *labelling, ast_run *run, double lambda, ast_fault *fault);
ast_status ast_run_spkm(ast_labelling *labelling, ast_run *run, ast_fault *fault);
ast_status ast_run_levels(ast_labelling *labelling, ast_run *run, ast_fault *fault); /* ast_run_spkm in levels */
ast_status ast_run_movmf(ast_labelling *labelling, ast_run *run, ast_fault *fault);
ast_status ast_run_mbspkm(ast_labelling *labelling, ast_run *run, ast_fault *fault);

/* The rule of DP-vMF-means, and the nearest mean: an empty cluster takes a point (k-means), stays empty (nearest), or
 * is dropped (merging). */
extern const ast_rule ast_dp_rule, ast_kmeans_rule, ast_nearest_rule, ast_merging_rule;

/* Starts: clusters without points, added to the labelling. ast_start_clusters adds those that the options of spherical
 * k-means name; ast_start_and_assign also labels every point with the nearest. */
ast_status ast_start_clusters(ast_labelling *labelling, const ast_run *run, ast_fault *fault);
ast_status ast_start_and_assign(ast_labelling *labelling, ast_run *run, ast_fault *fault);

/* k-means++ among all points, or (minibatch.c) among run->start_points of them. */
ast_status ast_start_plusplus(ast_labelling *labelling, const ast_run *run, ast_random *random, ast_fault *fault);
ast_status ast_start_sampled(ast_labelling *labelling, const ast_run *run, ast_random *random, ast_fault *fault);

/* Adds the means of options.start, normalised, as clusters without points. A collective call. */
ast_status ast_start_given(ast_labelling *labelling, const ast_options *options, ast_fault *fault);

/* Adds the hash of the pass's labels to the history of the run; *repeats: it was there before. */
ast_status ast_run_remember(ast_labelling *labelling, ast_run *run, const ast_pass_result *pass, bool *repeats,
                            ast_fault *fault);

/* The two halves of a pass: new labels, then new means and the report to the caller's progress function (AST_CANCELLED
 * if it asks to stop). */
ast_status ast_run_label(ast_labelling *labelling, ast_run *run, ast_pass_result *result, ast_fault *fault);
ast_status ast_run_update(ast_labelling *labelling, ast_run *run, double penalty, const ast_pass_result *result,
                          ast_fault *fault);
/* Its second part, for methods that set the means by themselves: counts the pass, and reports it to the caller. */
ast_status ast_run_count_pass(ast_labelling *labelling, ast_run *run, double penalty, const ast_pass_result *result,
                              ast_fault *fault);

/* J: what the clusters add to the objective, and a penalty for each cluster. */
double ast_objective(const ast_labelling *labelling, double penalty);

/* The end of a method that learned means: all points get the nearest mean, empty clusters take a point, and the means
 * become those of their points. */
ast_status ast_run_final_pass(ast_labelling *labelling, ast_run *run, ast_fault *fault);

/* Measures how much one more iteration over all points would add to the objective, for a result that looked at some
 * points only: run->improvement. Nothing else changes. penalty: of a cluster. */
ast_status ast_run_measure_improvement(ast_labelling *labelling, ast_run *run, double penalty, ast_fault *fault);

/* Calls the caller's progress function, if there is one. AST_CANCELLED if it asks to stop. ast_run_report_pass is for
 * methods without passes of the labelling, which count their iterations themselves. */
ast_status ast_run_report_progress(const ast_run *run, const ast_progress *state, ast_fault *fault);
ast_status ast_run_report_pass(const ast_run *run, size_t clusters, size_t changed, size_t scored, double objective,
                               ast_fault *fault);
