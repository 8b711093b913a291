/* SPDX-License-Identifier: MIT
 *
 * DP-vMF-means (Straub et al., CVPR 2015, section 4): clusters directions; the angle decides the number of clusters.
 *
 * Given unit vectors x_1 .. x_N and an angle phi, it increases the objective
 *
 *     J = sum_k sum_{i in k} x_i . mu_k + lambda K,    lambda = cos(phi) - 1,
 *
 * over the labels, the unit vectors mu_k and the number K of clusters. Two steps alternate until no label changes:
 *
 *     label   visit the points in order; each joins the cluster of the largest x_i . mu_k or starts one: the rule
 *     update  mu_k = s_k / |s_k|,  s_k = sum of the points of cluster k
 *
 * Neither step lowers J. tests/reference/reference.c is the same in its plainest form. Here the label step is
 * ast_labelling_pass: it scores points on many threads and calls the rule for those that scores do not decide. The
 * labels are those of visiting all points one after the other. */
#include "methods.h"

/* The rule for a point x (the paper's assignment of z_i). Joining cluster k adds x . mu_k to J, a new cluster with mean
 * x adds 1 + lambda = cos(phi): so x joins the best cluster if the score is at least cos(phi). A cluster whose only
 * point is x is taken out before x is looked at; if nothing else fits, x gets it back, with x as its mean. Exact ties
 * go to the older cluster. candidates->limit is cos(phi) - 2^-20: duplicates must not split by rounding. */
static ast_verdict decide(void *unused, const ast_candidates *candidates) {
    (void)unused;
    ast_verdict v = ast_nearest_candidate(candidates);
    bool fits = v.to != AST_NOBODY && v.score >= candidates->limit;
    v.action = fits ? AST_JOIN : ast_unfit_action(candidates->singleton);
    return v;
}

const ast_rule ast_dp_rule = {.decide = decide, .unfit = AST_UNFIT_START};

/* The loop of every method with a rule. Converged: no point changed its cluster, or the labels are those of an earlier
 * pass, so that the run would repeat itself. penalty: what a cluster adds to J. */
ast_status ast_iterate(ast_labelling *l, ast_run *run, double penalty, ast_fault *fault) {
    ast_status status = AST_OK;
    while (status == AST_OK && !run->converged && run->iterations < run->max_iterations) {
        ast_pass_result pass;
        bool repeats = false;
        status = ast_run_label(l, run, &pass, fault); /* label: decides all z_i by the rule; sums s_k */
        if (status == AST_OK)
            status = ast_run_remember(l, run, &pass, &repeats, fault); /* repeats: an earlier pass had these labels */
        run->converged = status == AST_OK && (pass.changed == 0 || repeats);
        if (status == AST_OK)
            status = ast_run_update(l, run, penalty, &pass, fault); /* update: mu_k and J; reports to the caller */
    }
    return status;
}

ast_status ast_run_dp(ast_labelling *l, ast_run *run, ast_fault *fault) {
    const double lambda = ast_cosine(run->options->angle) - 1;
    const size_t sample = run->options->dp.sample;
    ast_labelling_set_rule(l, &ast_dp_rule, run->options->angle);
    if (sample > 0 && sample < ast_view_of(l).present)
        return ast_run_dp_sampled(l, run, lambda, fault);
    ast_status status =
        run->resumed ? AST_OK : ast_start_given(l, run->options, fault); /* means to start from, if any */
    if (status == AST_OK && run->groups)
        return ast_iterate_grouped(l, run, AST_GROUPED_DP, lambda, fault);
    return status == AST_OK ? ast_iterate(l, run, lambda, fault) : status;
}
