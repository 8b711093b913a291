/* SPDX-License-Identifier: MIT
 *
 * Shared by the methods: given starts, the two halves of a pass, and the report to the caller. */
#include "methods.h"

ast_status ast_run_method(ast_labelling *l, ast_run *run, ast_fault *fault) {
    switch (run->options->method) {
    case AST_SPKM:
        return ast_run_spkm(l, run, fault);
    case AST_MOVMF:
        return ast_run_movmf(l, run, fault);
    case AST_FSD:
        return ast_run_fsd(l, run, fault);
    case AST_CRP:
        return ast_run_crp(l, run, fault);
    case AST_MBSPKM:
        return ast_run_mbspkm(l, run, fault);
    case AST_OSPKM:
        return ast_run_ospkm(l, run, fault);
    case AST_DPMEANS:
        return ast_run_dpmeans(l, run, fault);
    default:
        return ast_run_dp(l, run, fault);
    }
}

static ast_status add_given(ast_labelling *l, const ast_options *options, ast_fault *fault) {
    ast_points given = ast_points_f4(options->start.means, options->start.means_count, l->rows.dimension);
    for (size_t k = 0; k < options->start.means_count; k++) {
        float *mean = l->workers[0].chunk.rows.row;
        ast_row_kind kind = ast_read_row(&given, k, mean);
        if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE)
            return ast_fail(fault, AST_BAD_DATA,
                            "mean %zu (counting from 1) of the start has no direction: it holds %s", k + 1,
                            kind == AST_ROW_INFINITE ? "an infinity" : "a NaN, or zeros only");
        if (ast_clusters_add(&l->clusters, mean, UINT32_MAX) < 0)
            return ast_fail_memory(fault);
    }
    return AST_OK;
}

ast_status ast_run_given(ast_labelling *l, const ast_options *options, ast_fault *fault) {
    return ast_comm_agree(l->ranks.comm, add_given(l, options, fault), fault);
}

ast_status ast_run_label(ast_labelling *l, ast_run *run, ast_pass_result *result, ast_fault *fault) {
    run->pass_start = ast_seconds();
    ast_status status = ast_labelling_pass(l, run->options->parallel, result, fault);
    run->oir_restarts += result->restarts;
    return status;
}

ast_status ast_run_settle(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_pass_result pass;
    ast_status status = ast_run_label(l, run, &pass, fault);
    if (status == AST_OK)
        status = ast_labelling_fill_empty(l, fault);
    return status == AST_OK ? ast_labelling_update(l, fault) : status;
}

ast_status ast_run_update(ast_labelling *l, ast_run *run, double penalty, const ast_pass_result *result,
                          ast_fault *fault) {
    ast_status status = ast_labelling_update(l, fault);
    return status == AST_OK ? ast_run_note(l, run, penalty, result, fault) : status;
}

ast_status ast_run_note(ast_labelling *l, ast_run *run, double penalty, const ast_pass_result *result,
                        ast_fault *fault) {
    run->iterations++;
    run->objective = ast_clusters_objective(&l->clusters) + penalty * (double)l->clusters.live;
    ast_progress state = {.restart = run->restart,
                          .iteration = run->iterations,
                          .clusters = l->clusters.live,
                          .changed = result->changed,
                          .scored = result->scored,
                          .products = result->products,
                          .objective = run->objective,
                          .seconds = ast_seconds() - run->pass_start,
                          .last = !run->merging && (run->converged || run->iterations == run->options->max_iterations),
                          .merging = run->merging};
    return ast_labelling_defer(l, ast_run_tell(run, &state, fault));
}

ast_status ast_run_remember(ast_labelling *l, ast_run *run, bool *repeats, ast_fault *fault) {
    uint64_t print = run->iterations == 0 ? 0 : ast_labelling_print(l);
    return ast_labelling_defer(l, ast_history_add(&run->history, print, repeats, fault));
}

ast_status ast_run_tell_pass(const ast_run *run, size_t clusters, size_t changed, size_t scored, double objective,
                             ast_fault *fault) {
    ast_progress state = {.restart = run->restart,
                          .iteration = run->iterations,
                          .clusters = clusters,
                          .changed = changed,
                          .scored = scored,
                          .objective = objective,
                          .seconds = ast_seconds() - run->pass_start};
    return ast_run_tell(run, &state, fault);
}

ast_status ast_run_tell(const ast_run *run, const ast_progress *state, ast_fault *fault) {
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
