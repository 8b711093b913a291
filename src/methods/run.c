/* SPDX-License-Identifier: MIT
 *
 * Shared by the methods: given starts, the two halves of a pass, the labels of earlier passes, reports to the caller.
 */
#include "methods.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

ast_run ast_run_begin(const ast_options *options, int restart) {
    return (ast_run){.options = options,
                     .parallel = options->parallel,
                     .max_iterations = options->max_iterations,
                     .restart = restart,
                     .log_likelihood = NAN,
                     .bic = NAN,
                     .improvement = NAN,
                     .level_misplaced = NAN,
                     .level_loss = NAN,
                     .effective_samples = NAN};
}

ast_status ast_history_add(ast_history *h, uint64_t label_hash, bool *repeats, ast_fault *fault) {
    *repeats = false;
    for (size_t i = 0; i < h->count && !*repeats; i++)
        *repeats = h->label_hashes[i] == label_hash;
    if (!ast_reserve(&h->label_hashes, &h->capacity, h->count, h->count + 1, sizeof *h->label_hashes))
        return ast_fail_memory(fault);
    h->label_hashes[h->count++] = label_hash;
    return AST_OK;
}

void ast_history_free(ast_history *h) {
    ast_free(h->label_hashes);
    *h = (ast_history){0};
}

ast_status ast_start_given(ast_labelling *l, const ast_options *options, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    ast_points given = ast_points_f4(options->start.means, options->start.means_count, v.rows->dimension);
    float *mean = ast_allocate(given.dimension, sizeof *mean);
    ast_status status = mean ? AST_OK : ast_fail_memory(fault);
    for (size_t k = 0; k < given.count && status == AST_OK; k++) {
        ast_row_kind kind = ast_read_row(&given, k, mean);
        if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE)
            status =
                ast_fail(fault, AST_BAD_DATA, "mean %zu (counting from 1) of the start has no direction: it holds %s",
                         k + 1, kind == AST_ROW_INFINITE ? "an infinity" : "a NaN, or zeros only");
        else
            status = ast_labelling_add_means(l, mean, 1, fault);
    }
    ast_free(mean);
    return ast_comm_agree(v.comm, status, fault);
}

ast_status ast_run_label(ast_labelling *l, ast_run *run, ast_pass_result *result, ast_fault *fault) {
    run->pass_start = ast_seconds();
    ast_status status = ast_labelling_pass(l, run->parallel, result, fault);
    run->oir_restarts += result->restarts;
    return status;
}

ast_status ast_run_final_pass(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_pass_result pass;
    ast_status status = ast_run_label(l, run, &pass, fault);
    return status == AST_OK ? ast_labelling_update(l, fault) : status;
}

ast_status ast_run_measure_improvement(ast_labelling *l, ast_run *run, double penalty, ast_fault *fault) {
    ast_snapshot *before = ast_labelling_snapshot(l);
    ast_status status = before ? ast_run_final_pass(l, run, fault) : ast_fail_memory(fault);
    if (status == AST_OK)
        run->improvement = ast_objective(l, penalty) - run->objective;
    if (before)
        ast_labelling_restore(l, before);
    ast_free(before);
    return status;
}

ast_status ast_run_update(ast_labelling *l, ast_run *run, double penalty, const ast_pass_result *result,
                          ast_fault *fault) {
    ast_status status = ast_labelling_update(l, fault);
    return status == AST_OK ? ast_run_count_pass(l, run, penalty, result, fault) : status;
}

double ast_objective(const ast_labelling *l, double penalty) {
    const ast_cluster_list *c = ast_view_of(l).clusters;
    return ast_clusters_objective(c) + penalty * (double)c->live;
}

ast_status ast_run_count_pass(ast_labelling *l, ast_run *run, double penalty, const ast_pass_result *result,
                              ast_fault *fault) {
    run->iterations++;
    if (!run->options)
        return AST_OK;
    run->objective = ast_objective(l, penalty);
    ast_progress state = {.restart = run->restart,
                          .iteration = run->iterations,
                          .clusters = ast_view_of(l).clusters->live,
                          .changed = result->changed,
                          .scored = result->scored,
                          .products = result->products,
                          .objective = run->objective,
                          .seconds = ast_seconds() - run->pass_start,
                          .last = !run->merging && (run->converged || run->iterations == run->max_iterations),
                          .merging = run->merging};
    return ast_labelling_set_pending(l, ast_run_report_progress(run, &state, fault));
}

ast_status ast_run_remember(ast_labelling *l, ast_run *run, const ast_pass_result *pass, bool *repeats,
                            ast_fault *fault) {
    if (run->repeats == AST_REPEATS_NONE)
        return AST_OK;
    ast_history *history = &run->history;
    if (run->repeats == AST_REPEATS_LAST && history->count > 1) { /* forgets all but the last */
        history->label_hashes[0] = history->label_hashes[history->count - 1];
        history->count = 1;
    }
    return ast_labelling_set_pending(l, ast_history_add(history, pass->label_hash, repeats, fault));
}

ast_status ast_run_report_pass(const ast_run *run, size_t clusters, size_t changed, size_t scored, double objective,
                               ast_fault *fault) {
    ast_progress state = {.restart = run->restart,
                          .iteration = run->iterations,
                          .clusters = clusters,
                          .changed = changed,
                          .scored = scored,
                          .objective = objective,
                          .seconds = ast_seconds() - run->pass_start};
    return ast_run_report_progress(run, &state, fault);
}

ast_status ast_run_report_progress(const ast_run *run, const ast_progress *state, ast_fault *fault) {
    const ast_options *options = run->options;
    if (!options->progress || options->progress(state, options->progress_data) == 0)
        return AST_OK;
    if (state->left > 0 && state->iteration > 0)
        return ast_fail(fault, AST_CANCELLED, "cancelled in pass %d", state->iteration);
    if (state->left > 0)
        return ast_fail(fault, AST_CANCELLED, "cancelled before the first pass");
    if (state->iteration == 0)
        return ast_fail(fault, AST_CANCELLED, "cancelled after start %zu of %zu", state->clusters, options->clusters);
    return ast_fail(fault, AST_CANCELLED, "cancelled after pass %d", state->iteration);
}
