/* SPDX-License-Identifier: MIT
 *
 * Spherical k-means (Dhillon and Modha 2001). K is given. It increases
 *
 *     J = sum_k sum_{i in k} x_i . mu_k
 *
 * by giving every point to the mean of the largest cosine, then setting mu_k = s_k / |s_k|, s_k the sum of the points
 * of cluster k. It starts from k-means++, from random points or from given means. A cluster that loses all its points
 * takes the point that fits its own cluster worst. */
#include "methods.h"

#include "seeds.h"

#include <math.h>

/* The rule: the nearest mean, of equal ones the first. No cluster is born, and an empty cluster takes a point. */
static ast_verdict decide(void *unused, const ast_candidates *candidates) {
    (void)unused;
    return ast_nearest_candidate(candidates);
}

const ast_rule ast_kmeans_rule = {.decide = decide, .emptied = AST_EMPTIED_FILLED};
const ast_rule ast_nearest_rule = {.decide = decide};
const ast_rule ast_merging_rule = {.decide = decide, .emptied = AST_EMPTIED_DROPPED};

/* Reports each start that was drawn. */
static ast_status report_start(const void *data, double seconds, size_t clusters, uint64_t scored, ast_fault *fault) {
    const ast_run *run = data;
    ast_progress state = {.restart = run->restart, .clusters = clusters, .scored = scored, .seconds = seconds};
    return ast_run_report_progress(run, &state, fault);
}

ast_status ast_start_plusplus(ast_labelling *l, const ast_run *run, ast_random *random, ast_fault *fault) {
    return ast_seed_plusplus(l, run->options->clusters, random, report_start, run, fault);
}

ast_status ast_start_clusters(ast_labelling *l, const ast_run *run, ast_fault *fault) {
    const ast_options *options = run->options;
    ast_random random;
    ast_random_seed(&random, options->seed, (uint64_t)run->restart);
    if (options->start.by == AST_GIVEN)
        return ast_start_given(l, options, fault);
    if (options->start.by == AST_RANDOM)
        return ast_seed_random(l, options->clusters, &random, fault);
    if (run->start_points && run->start_points < ast_view_of(l).present)
        return ast_start_sampled(l, run, &random, fault);
    return ast_start_plusplus(l, run, &random, fault);
}

ast_status ast_start_and_assign(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_pass_result pass;
    ast_labelling_set_rule(l, &ast_nearest_rule, NAN);
    ast_status status = ast_start_clusters(l, run, fault);
    return status == AST_OK ? ast_run_label(l, run, &pass, fault) : status;
}

/* Only the labels of the pass before end the run: a point that leaves a cluster empty may fill it again. */
ast_status ast_run_spkm(ast_labelling *l, ast_run *run, ast_fault *fault) {
    if (run->options->kmeans.levels > 1)
        return ast_run_levels(l, run, fault);
    ast_labelling_set_rule(l, &ast_kmeans_rule, NAN);
    run->repeats = AST_REPEATS_LAST;
    ast_status status = run->resumed ? AST_OK : ast_start_clusters(l, run, fault);
    if (status == AST_OK && run->groups)
        return ast_iterate_grouped(l, run, AST_GROUPED_FIXED, 0, fault);
    return status == AST_OK ? ast_iterate(l, run, 0, fault) : status;
}
