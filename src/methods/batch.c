/* SPDX-License-Identifier: MIT
 *
 * DP-vMF-means (Straub et al., CVPR 2015, section 4): clusters of directions, as many as the angle asks for.
 *
 * It climbs
 *     J = sum_k sum_{i in k} x_i . mu_k + lambda K,    lambda = cos(phi) - 1,
 * by visiting the points in order, each joining the cluster of the largest score x_i . mu_k, or founding one (with mean
 * x_i) if none reaches cos(phi); then every mean becomes the normalised sum of its members; and again, until nobody
 * moves. How a pass over the points is run on many threads with the result of one is the labelling's affair. */
#include "methods.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* Labels that were there before will be there again: the run has come to a cycle. */
static bool seen_before(const uint64_t *prints, int count, uint64_t print) {
    for (int i = 0; i < count; i++)
        if (prints[i] == print)
            return true;
    return false;
}

static ast_status iterate(ast_labelling *l, ast_run *run, uint64_t *prints, ast_fault *fault) {
    const double lambda = ast_cosine(run->options->angle) - 1;
    while (!run->converged && run->iterations < run->options->max_iterations) {
        ast_pass_result pass;
        ast_status status = ast_run_label(l, run, &pass, fault);
        if (status != AST_OK)
            return status;
        uint64_t print = run->iterations == 0 ? 0 : ast_labelling_print(l);
        run->converged = pass.changed == 0 || seen_before(prints, run->iterations, print);
        prints[run->iterations] = print;
        run->print_count = (size_t)run->iterations + 1;
        status = ast_run_update(l, run, lambda, &pass, fault);
        if (status != AST_OK)
            return status;
    }
    return AST_OK;
}

ast_status ast_run_dp_all(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_labelling_set_angle(l, run->options->angle);
    ast_status status = run->resumed ? AST_OK : ast_run_given(l, run->options, fault);
    uint64_t *prints = ast_allocate((size_t)run->options->max_iterations, sizeof *prints);
    if (status == AST_OK && !prints)
        status = ast_fail_memory(fault);
    status = ast_comm_agree(l->comm, status, fault);
    if (status == AST_OK) {
        if (run->print_count > 0)
            memcpy(prints, run->prints, run->print_count * sizeof *prints);
        run->prints = prints;
        status = iterate(l, run, prints, fault);
    }
    run->prints = NULL;
    free(prints);
    return status;
}
