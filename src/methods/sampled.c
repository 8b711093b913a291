/* SPDX-License-Identifier: MIT
 *
 * DP-vMF-means over a sample: finds the clusters of some points, drawn by the seed, then visits all points once, in
 * order, as in a first pass from given means. Points far from every mean start new clusters. */
#include "methods.h"

#include "subset.h"

/* The clusters of the sample become clusters without points. */
static ast_status find_clusters(ast_labelling *l, ast_run *run, ast_fault *fault) {
    const ast_options *o = run->options;
    ast_subset sample = {0};
    uint64_t stream = ast_draw_stream(run->restart, AST_DRAW_SAMPLE);
    ast_status status = ast_subset_load_drawn(&sample, l, o->seed, stream, o->dp.sample, fault);
    if (status == AST_OK)
        status = ast_run_dp(sample.labelling, run, fault);
    if (status == AST_OK)
        status = ast_subset_add_means_of(l, ast_view_of(sample.labelling).clusters, fault);
    ast_subset_free(&sample);
    return status;
}

ast_status ast_run_dp_sampled(ast_labelling *l, ast_run *run, double lambda, ast_fault *fault) {
    ast_pass_result pass;
    ast_status status = find_clusters(l, run, fault);
    if (status == AST_OK)
        status = ast_run_label(l, run, &pass, fault);
    if (status == AST_OK)
        status = ast_run_update(l, run, lambda, &pass, fault);
    return status == AST_OK ? ast_run_measure_improvement(l, run, lambda, fault) : status;
}
