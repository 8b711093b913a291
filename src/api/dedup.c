/* SPDX-License-Identifier: MIT
 *
 * The entry point of ast_dedup: check, load both sets of rows, call, copy. */
#include "context.h"

#include "dedup.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct dedup_input {
    ast_rowset loaded[2];
    int32_t *labels[2];
    uint8_t *kept;
} dedup_input;

static ast_status check_options(const ast_dedup_options *o, size_t count, ast_fault *fault) {
    ast_status status = ast_check_struct(o, sizeof *o, "options", fault);
    if (status != AST_OK)
        return status;
    const char *problem = ast_problem_of(
        {isnan(o->cosine), "the cosine is not set: near rows have a cosine of at least this, -1 to 1"},
        {!(o->cosine >= -1 && o->cosine <= 1), "the cosine must be between -1 and 1"},
        {o->mode != AST_CONNECTED && o->mode != AST_STAR, "the mode must be AST_CONNECTED or AST_STAR"},
        {o->keep != AST_KEEP_FIRST && o->keep != AST_KEEP_CENTRAL && o->keep != AST_KEEP_RANKED,
         "keep must be AST_KEEP_FIRST, AST_KEEP_CENTRAL or AST_KEEP_RANKED"},
        {o->keep == AST_KEEP_RANKED && !o->rank && count > 0, "AST_KEEP_RANKED needs a rank for every row"});
    if (problem || o->keep != AST_KEEP_RANKED)
        return ast_fail_option(problem, fault);
    for (size_t i = 0; i < count; i++)
        if (isnan(o->rank[i]))
            return ast_fail_row(fault, AST_BAD_DATA, i + 1, "has a rank that is not a number");
    return AST_OK;
}

static ast_status check(const ast_points *points, const ast_dedup_options *o, const int32_t *groups,
                        const ast_dedup_report *report, ast_fault *fault) {
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK)
        status = check_options(o, points->count, fault);
    if (status == AST_OK)
        status = ast_check_struct(report, sizeof *report, "report", fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(groups, "groups", fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, "finding near-duplicates", fault);
    if (status != AST_OK || !o->against)
        return status;
    status = ast_check_points(o->against, fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(o->against, "finding near-duplicates", fault);
    if (status == AST_OK && o->against->dimension != points->dimension)
        status = ast_fail(fault, AST_BAD_DATA, "the rows have %zu components, and those to compare them with have %zu",
                          points->dimension, o->against->dimension);
    if (status == AST_OK && o->against->count > INT32_MAX - points->count)
        status = ast_fail(fault, AST_BAD_DATA, "there are more than 2147483647 rows with those to compare them with");
    return status;
}

static ast_status load(ast_context *context, const ast_points *points, size_t set, dedup_input *input) {
    size_t padded = (points->count + AST_BLOCK - 1) / AST_BLOCK * AST_BLOCK;
    ast_points plain = *points;
    plain.late = NULL;
    plain.weights = NULL;
    input->loaded[set].kernels = context->kernels;
    input->labels[set] = ast_allocate(padded + AST_BLOCK, sizeof *input->labels[set]);
    if (!input->labels[set])
        return ast_fail_memory(&context->fault);
    return ast_rowset_load(&input->loaded[set], context->pool, &plain, padded, input->labels[set], &context->fault);
}

static ast_status run(ast_context *context, dedup_input *input, const ast_dedup_options *options,
                      ast_dedup_report *report) {
    ast_dedup_call call = {.kernels = context->kernels, .pool = context->pool, .options = options, .report = report};
    call.rows.sets[0] = &input->loaded[0];
    call.rows.sets[1] = options->against ? &input->loaded[1] : NULL;
    call.labels[0] = input->labels[0];
    call.labels[1] = input->labels[1];
    call.kept = input->kept;
    ast_status status = ast_dedup_run(&call, &context->fault);
    ast_dedup_free(&call);
    return status;
}

static ast_status dedup(ast_context *context, const ast_points *points, const ast_dedup_options *options,
                        int32_t *groups, uint8_t *kept, ast_dedup_report *report) {
    double started = ast_seconds();
    dedup_input input = {0};
    ast_dedup_report found = {.size = sizeof found};
    ast_status status = check(points, options, groups, report, &context->fault);
    if (status != AST_OK)
        return status;
    input.kept = ast_allocate_zero(points->count, 1);
    status = input.kept ? load(context, points, 0, &input) : ast_fail_memory(&context->fault);
    if (status == AST_OK && options->against)
        status = load(context, options->against, 1, &input);
    if (status == AST_OK)
        status = run(context, &input, options, &found);
    if (status == AST_OK && points->count > 0) {
        memcpy(groups, input.labels[0], points->count * sizeof *groups);
        if (kept)
            memcpy(kept, input.kept, points->count);
    }
    if (status == AST_OK) {
        *report = found;
        report->seconds = ast_seconds() - started;
    }
    for (size_t s = 0; s < 2; s++) {
        ast_rowset_free(&input.loaded[s]);
        ast_free(input.labels[s]);
    }
    ast_free(input.kept);
    return status;
}

ast_status ast_dedup(ast_context *context, const ast_points *points, const ast_dedup_options *options, int32_t *groups,
                     uint8_t *kept, ast_dedup_report *report) {
    return ast_enter(context) ? ast_leave(context, dedup(context, points, options, groups, kept, report))
                              : AST_BAD_OPTION;
}
