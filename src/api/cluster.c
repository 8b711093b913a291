/* SPDX-License-Identifier: MIT
 *
 * ast_cluster and ast_cluster_source: check, load, run, keep the best run. The two differ in their checks and in the
 * ast_input that they fill in; everything else is one path. Restarts, shuffles and weights become points in an order,
 * with weights relative to the smallest. result.c turns the labelling into the caller's result. */
#include "call.h"

#include "memory.h"
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static ast_status check_counts(const ast_options *o, size_t present, ast_fault *fault) {
    size_t wanted = o->start == AST_GIVEN ? o->means_count : o->clusters;
    bool fixed = o->method != AST_DP && o->method != AST_DPMEANS;
    if (!fixed || wanted <= present || (wanted == 1 && o->method == AST_CRP))
        return AST_OK;
    if (present == 0)
        return ast_fail(fault, AST_BAD_DATA, "there is no usable row: every one is zero or holds a NaN");
    return ast_fail(fault, AST_BAD_DATA, "%zu clusters are asked for, but there %s only %zu usable point%s", wanted,
                    present == 1 ? "is" : "are", present, present == 1 ? "" : "s");
}

/* Means have all columns, however few the entries. What cannot be is refused before it is tried: memory is granted that
 * is not there, and taking it lasts. A column takes a number in the mean and the sum of each cluster, of which there is
 * memory for a few at first, and in the tables of means, one for all threads and one for each, which come in panels. */
static ast_status check_columns(const ast_context *context, const ast_points *points, const ast_options *options,
                                ast_fault *fault) {
    size_t known = options->start == AST_GIVEN ? options->means_count : options->clusters;
    double clusters = options->method == AST_DP || known == 0 ? 1 : (double)known;
    double table = ceil(clusters / AST_PANEL) * AST_PANEL * sizeof(float) * (1 + ast_pool_threads(context->pool));
    double lists = fmax(clusters, AST_FEW_SLOTS) * (sizeof(float) + sizeof(int64_t));
    double needed = (double)points->dimension * (lists + table), memory = ast_machine_memory();
    if (memory == 0 || needed <= memory)
        return AST_OK;
    return ast_fail(
        fault, AST_NO_MEMORY,
        "the points have %zu columns: %.0f cluster%s of them take%s %.0f GB, and this machine has %.0f; leave "
        "empty columns out",
        points->dimension, clusters, clusters > 1 ? "s" : "", clusters > 1 ? "" : "s", needed / 1e9, memory / 1e9);
}

/* Sparse rows are for the methods that need nothing but scores. */
static ast_status check_sparse(const ast_context *context, const ast_points *points, const ast_options *options,
                               ast_fault *fault) {
    if (!points->starts)
        return AST_OK;
    if (options->method != AST_DP && options->method != AST_SPKM && options->method != AST_MBSPKM)
        return ast_refuse_sparse(points, "this method", fault);
    return options->axial ? ast_refuse_sparse(points, "axial clustering", fault)
                          : check_columns(context, points, options, fault);
}

/* The arguments that both calls have. */
static ast_status check_call(const ast_context *context, const ast_points *points, const ast_options *options,
                             const ast_report *report, ast_fault *fault) {
    const char *problem = ast_options_problem(options);
    if (problem)
        return ast_fail(fault, AST_BAD_OPTION, "%s", problem);
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK)
        status = ast_check_struct(report, sizeof *report, "report", fault);
    if (status == AST_OK && points->weights && (options->method == AST_FSD || options->method == AST_CRP))
        return ast_fail(fault, AST_BAD_OPTION, "samplers count every point once: weights are for the other methods");
    return status == AST_OK ? check_sparse(context, points, options, fault) : status;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* The order of this restart, and the weights in that order: a copy, since they are scaled. */
static ast_status prepare_order(ast_call *c, int restart, ast_fault *fault) {
    const double *given = c->points->weights;
    size_t count = c->points->count;
    bool ordered = c->options->method == AST_DP || c->options->method == AST_DPMEANS;
    bool shuffle = c->options->shuffle || (restart > 0 && ordered);
    if (shuffle) {
        ast_random random;
        if (!c->order)
            c->order = ast_allocate(count, sizeof *c->order);
        if (!c->order)
            return ast_fail_memory(fault);
        ast_random_seed(&random, c->options->seed, (uint64_t)restart << 32 | 1);
        ast_random_permutation(&random, c->order, count);
    }
    if (given && !c->weights)
        c->weights = ast_allocate(count, sizeof *c->weights);
    for (size_t i = 0; c->weights && i < count; i++)
        c->weights[i] = given[c->order ? c->order[i] : i];
    c->input.order = c->order;
    c->input.weights = c->weights;
    return c->weights || !given ? AST_OK : ast_fail_memory(fault);
}

/* Rows of a source, within a pass; iteration 0 is the survey before the first. */
static ast_status tell(void *data, size_t left, ast_fault *fault) {
    const ast_call *c = data;
    const ast_labelling *l = &c->context->labelling;
    const ast_run *run = c->run;
    ast_pass_result work = {0};
    ast_count_work(l, &work);
    ast_progress state = {.iteration = run->pass_start > 0 ? run->iterations + 1 : 0,
                          .clusters = l->clusters.live,
                          .changed = work.changed,
                          .scored = work.scored,
                          .objective = NAN,
                          .seconds = ast_seconds() - run->pass_start,
                          .left = left};
    return ast_run_tell(run, &state, fault);
}

static bool is_better(const ast_call *c, const ast_run *run) {
    return run->restart == 0 || run->objective > c->report.objective;
}

static void report_run(ast_call *c, const ast_run *run, size_t clusters) {
    c->report = (ast_report){.size = sizeof c->report,
                             .points = c->total,
                             .missing = ast_labelling_missing(&c->context->labelling),
                             .dimension = c->context->labelling.rows.dimension,
                             .clusters = clusters,
                             .objective = run->objective,
                             .log_likelihood = run->log_likelihood,
                             .bic = run->bic,
                             .iterations = run->iterations,
                             .converged = run->converged,
                             .oir_restarts = run->oir_restarts,
                             .improvement = run->improvement};
}

/* One restart; its result is kept if it is the best so far. */
static ast_status run_once(ast_call *c, ast_labelling *l, int restart, ast_fault *fault) {
    ast_run run = {.options = c->options, .restart = restart, .log_likelihood = NAN, .bic = NAN, .improvement = NAN};
    run.start_points = c->options->start_points;
    c->run = &run;
    ast_status status = ast_labelling_load(l, &c->input, fault);
    if (status == AST_OK)
        status = check_counts(c->options, l->everyone, fault);
    if (status == AST_OK && c->resume)
        status = ast_resume_take(c, l, &run, fault);
    if (status == AST_OK)
        status = ast_run_method(l, &run, fault);
    c->run = NULL;
    ast_resume_free(c);
    ast_history_free(&run.history);
    if (status == AST_OK)
        status = ast_labelling_settle(l, ast_check_cancelled(c->context), fault);
    if (status == AST_OK && is_better(c, &run)) {
        ast_components_free(&c->components);
        c->components = run.components;
        run.components = (ast_components){0};
        status = ast_call_result(c, l, fault);
        report_run(c, &run, l->clusters.live);
    }
    ast_components_free(&run.components);
    return status;
}

static ast_status run_restarts(ast_call *c, ast_fault *fault) {
    int restart = 0;
    ast_labelling *l = &c->context->labelling;
    ast_status status = c->options->resume ? ast_resume_open(c, &restart, fault) : AST_OK;
    for (; status == AST_OK && restart < c->options->restarts; restart++) {
        status = ast_comm_agree(c->context->comm, prepare_order(c, restart, fault), fault);
        if (status == AST_OK)
            status = run_once(c, l, restart, fault);
        if (status != AST_OK)
            ast_labelling_free(l);
    }
    return status;
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

static ast_input describe_input(const ast_context *context, const ast_points *points, const ast_options *options) {
    return (ast_input){.kernels = context->kernels,
                       .pool = context->pool,
                       .points = points,
                       .axial = options->axial != 0,
                       .unbounded = options->bounds == 0,
                       .crowd = context->crowd,
                       .comm = context->comm};
}

/* Runs a call that was checked, and hands its result to the context and the caller. */
static ast_status run_call(ast_call *c, double start, ast_report *report) {
    ast_context *context = c->context;
    ast_fault *fault = &context->fault;
    context->call = c;
    ast_status status = run_restarts(c, fault);
    context->call = NULL;
    ast_resume_free(c);
    if (status == AST_OK) {
        ast_keep_clusters(context, c->clusters, c->means, c->report.clusters, &c->components);
        c->clusters = NULL;
        c->means = NULL;
        *report = c->report;
        report->seconds = ast_seconds() - start;
    }
    ast_labelling_release(&context->labelling);
    void *memory[] = {c->order, c->weights, c->clusters, c->means};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    ast_components_free(&c->components);
    return status;
}

static ast_status cluster(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                          ast_report *report) {
    double start = ast_seconds();
    ast_fault *fault = &context->fault;
    ast_call c = {.context = context, .points = points, .options = options};
    ast_status status = check_call(context, points, options, report, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (context->comm)
        status = ast_ranks_meet(context, points, options, status, &c.input.offset, &c.total);
    if (status != AST_OK)
        return status;
    size_t offset = c.input.offset;
    c.input = describe_input(context, points, options);
    c.input.offset = offset;
    c.total = context->comm ? c.total : points->count;
    bool several = options->restarts > 1; /* one run writes labels only when nothing can fail any more */
    c.labels = several ? ast_allocate(points->count, sizeof *c.labels) : labels;
    status = ast_comm_agree(context->comm, c.labels || points->count == 0 ? AST_OK : ast_fail_memory(fault), fault);
    if (status == AST_OK)
        status = run_call(&c, start, report);
    if (status == AST_OK && several && points->count)
        memcpy(labels, c.labels, points->count * sizeof *labels);
    if (several)
        free(c.labels);
    return status;
}

ast_status ast_cluster(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                       ast_report *report) {
    ast_status status = ast_enter(context);
    return status == AST_OK ? ast_leave(context, cluster(context, points, options, labels, report)) : status;
}

/* The plan says which labels are in memory. AST_DP without weights need not know the missing rows before its passes. */
static ast_input plan_input(ast_call *c, const ast_source *source, const ast_plan *plan) {
    bool whole = plan->rows >= source->count;
    ast_input in = describe_input(c->context, NULL, c->options);
    in.source = source;
    in.unbounded = plan->bounds == 0;
    in.store = whole ? NULL : c->store;
    in.window = whole ? (source->count / AST_WINDOW_STEP + 1) * AST_WINDOW_STEP : plan->rows;
    in.segment = ast_plan_segment(source);
    in.most = plan->clusters;
    in.survey = source->weights || c->options->method != AST_DP;
    in.tell = tell;
    in.tell_data = c;
    return in;
}

static ast_status cluster_source(ast_context *context, const ast_source *source, const ast_options *options,
                                 size_t memory, const ast_label_store *labels, ast_report *report) {
    double start = ast_seconds();
    ast_fault *fault = &context->fault;
    ast_plan plan;
    ast_status status = ast_plan_call(context, source, options, memory, &plan);
    if (status != AST_OK)
        return status;
    ast_points shape = ast_source_shape(source);
    status = check_call(context, &shape, options, report, fault);
    if (status == AST_OK)
        status = ast_check_struct(labels, sizeof *labels, "labels", fault);
    if (status == AST_OK && (!labels->write || (plan.rows < source->count && !labels->read)))
        status = ast_fail(fault, AST_BAD_OPTION, "there is nowhere to keep labels: the store lacks a write or a read");
    if (status != AST_OK)
        return status;
    ast_call c = {.context = context, .points = &shape, .options = options, .store = labels, .total = source->count};
    c.input = plan_input(&c, source, &plan);
    return run_call(&c, start, report);
}

ast_status ast_cluster_source(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                              const ast_label_store *labels, ast_report *report) {
    ast_status status = ast_enter(context);
    return status == AST_OK ? ast_leave(context, cluster_source(context, source, options, memory, labels, report))
                            : status;
}
