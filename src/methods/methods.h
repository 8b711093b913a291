/* SPDX-License-Identifier: MIT
 *
 * The algorithms, one file each: batch.c is DP-vMF-means, kmeans.c is spherical k-means. Each runs on a labelling that
 * is loaded with points and has no clusters, and leaves its result there: labels are slots, clusters have means. */
#ifndef AST_METHODS_H
#define AST_METHODS_H

#include "labelling.h"
#include "random.h"

typedef struct ast_run {
    const ast_options *options;
    int restart;    /* 0.. */
    int iterations; /* of this run */
    int converged;
    double objective;
    uint64_t oir_restarts;
    double pass_start; /* seconds */
} ast_run;

ast_status ast_run_dp(ast_labelling *labelling, ast_run *run, ast_fault *fault);
ast_status ast_run_spkm(ast_labelling *labelling, ast_run *run, ast_fault *fault);

/* Adds the given means as clusters without points. */
ast_status ast_run_given(ast_labelling *labelling, const ast_options *options, ast_fault *fault);

/* The two halves of a pass: new labels, then new means and the report to the caller's progress function (AST_CANCELLED
 * if that wants to stop). */
ast_status ast_run_label(ast_labelling *labelling, ast_run *run, ast_pass_result *result, ast_fault *fault);
ast_status ast_run_update(ast_labelling *labelling, ast_run *run, double penalty, const ast_pass_result *result,
                          ast_fault *fault);

/* Tells the caller's progress function, if there is one: AST_CANCELLED if that wants to stop. */
ast_status ast_run_tell(const ast_run *run, const ast_progress *state, ast_fault *fault);

double ast_seconds(void);

#endif
