/* SPDX-License-Identifier: MIT
 *
 * ast_cluster and ast_cluster_source: check, load, run, keep the best run. The two differ in their checks and in the
 * ast_labelling_input that they fill in; everything else is one path. Restarts, shuffles and weights become points in
 * an order, with weights relative to the smallest. result.c turns the labelling into the caller's result. */
#include "call.h"

#include "baselines.h"
#include "center.h"
#include "content.h"
#include "late.h"
#include "mean_error.h"
#include "memory.h"
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static ast_status check_counts(const ast_options *o, size_t present, ast_fault *fault) {
    size_t wanted = o->start.by == AST_GIVEN ? o->start.means_count : o->clusters;
    bool fixed = o->method != AST_DP && o->method != AST_DPMEANS;
    if (!fixed || wanted <= present || (wanted == 1 && o->method == AST_CRP))
        return AST_OK;
    if (present == 0)
        return ast_fail(fault, AST_BAD_DATA, "there is no usable row: every one is zero or holds a NaN");
    return ast_fail(fault, AST_BAD_DATA, "%zu clusters are asked for, but there %s only %zu usable point%s", wanted,
                    present == 1 ? "is" : "are", present, present == 1 ? "" : "s");
}

/* Means are dense, however few the entries. Too many columns are refused before memory is allocated, because Linux
 * grants memory that it does not have. A column takes one number in the mean and in the sum of each cluster, and one in
 * each table of means: one table for all threads and one per thread, in panels. */
static ast_status check_columns(const ast_context *context, const ast_points *points, const ast_options *options,
                                ast_fault *fault) {
    size_t known = options->start.by == AST_GIVEN ? options->start.means_count : options->clusters;
    double clusters = options->method == AST_DP || known == 0 ? 1 : (double)known;
    double table = ceil(clusters / AST_PANEL) * AST_PANEL * sizeof(float) * (1 + ast_pool_threads(context->pool));
    double lists = fmax(clusters, AST_INITIAL_SLOTS) * (sizeof(float) + sizeof(int64_t));
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
    if (options->center)
        return ast_refuse_sparse(points, "centring", fault);
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
    if (status == AST_OK && points->late && (points->starts || options->center))
        return ast_fail(fault, AST_BAD_OPTION, "late rows must be dense, and cannot be centred");
    return status == AST_OK ? check_sparse(context, points, options, fault) : status;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* The order in which this restart visits the rows, in c->order; as they are given if that stays NULL. */
static ast_status find_order(ast_call *c, int restart, ast_fault *fault) {
    const ast_options *o = c->options;
    bool ordered = o->method == AST_DP || o->method == AST_DPMEANS;
    size_t count = c->points->count;
    if (!ordered || (restart == 0 && o->dp.order == AST_ORDER_GIVEN))
        return AST_OK;
    if (!c->order)
        c->order = ast_allocate(count, sizeof *c->order);
    if (!c->order)
        return ast_fail_memory(fault);
    if (restart > 0 || o->dp.order == AST_ORDER_CONTENT)
        return ast_order_by_content(c->points, c->points->weights, o->axial != 0, o->seed + (uint64_t)restart,
                                    c->context->pool, c->order, fault);
    ast_random random;
    ast_random_seed(&random, o->seed, 1);
    ast_random_permutation(&random, c->order, count);
    return AST_OK;
}

/* The order of this restart, and the weights in that order: a copy, since they are scaled. */
static ast_status prepare_order(ast_call *c, int restart, ast_fault *fault) {
    const double *given = c->points->weights;
    size_t count = c->points->count;
    ast_status status = find_order(c, restart, fault);
    if (status != AST_OK)
        return status;
    if (given && !c->weights)
        c->weights = ast_allocate(count, sizeof *c->weights);
    for (size_t i = 0; c->weights && i < count; i++)
        c->weights[i] = given[c->order ? c->order[i] : i];
    c->input.order = c->order;
    c->input.weights = c->weights;
    return c->weights || !given ? AST_OK : ast_fail_memory(fault);
}

/* The smallest weight of the points that take part, as given. */
static double weight_unit(const ast_call *c, const ast_labelling *l) {
    const ast_labelling_view v = ast_view_of(l);
    const double *weights = c->points->weights;
    double smallest = INFINITY;
    for (size_t i = 0; weights && !c->store && i < v.rows->count; i++) {
        double weight = weights[c->order ? c->order[i] : i];
        smallest = v.labels[i] != AST_MISSING && weight < smallest ? weight : smallest;
    }
    return isfinite(smallest) ? smallest : 1;
}

/* Rows of a source, within a pass; iteration 0 is the survey before the first. */
static ast_status tell(void *data, const ast_pass_result *work, size_t left, ast_fault *fault) {
    const ast_call *c = data;
    const ast_run *run = c->run;
    ast_progress state = {.iteration = run->pass_start > 0 ? run->iterations + 1 : 0,
                          .clusters = ast_view_of(c->context->labelling).clusters->live,
                          .changed = work->changed,
                          .scored = work->scored,
                          .objective = NAN,
                          .seconds = ast_seconds() - run->pass_start,
                          .left = left};
    return ast_run_report_progress(run, &state, fault);
}

/* Rows of weight 0 take no part in sizes; they are outliers if there is no cluster left for them. */
static size_t outliers_of(const ast_run *run, const ast_labelling *l) {
    const ast_labelling_view v = ast_view_of(l);
    return run->outliers > 0 && v.clusters->live == 0 ? v.rows->count - v.missing : run->outliers;
}

static ast_report report_of(const ast_call *c, const ast_run *run, const ast_labelling *l) {
    const ast_labelling_view v = ast_view_of(l);
    return (ast_report){.size = sizeof(ast_report),
                        .points = c->total,
                        .missing = v.missing,
                        .dimension = v.rows->dimension,
                        .clusters = v.clusters->live,
                        .objective = run->objective,
                        .log_likelihood = run->log_likelihood,
                        .bic = run->bic,
                        .iterations = run->iterations,
                        .converged = run->converged,
                        .oir_restarts = run->oir_restarts,
                        .improvement = run->improvement,
                        .merged = run->clusters_before_merge,
                        .outliers = outliers_of(run, l),
                        .silhouette = NAN,
                        .stability = NAN,
                        .background = run->components.background ? run->components.weights[run->components.count] : NAN,
                        .effective_samples = run->effective_samples,
                        .settled = run->stationary,
                        .cluster_posterior = run->cluster_posterior,
                        .cluster_posterior_count = run->cluster_posterior_count};
}

typedef ast_status run_method(ast_labelling *labelling, ast_run *run, ast_fault *fault);

static run_method *const methods[] = {
    [AST_DP] = ast_run_dp,   [AST_SPKM] = ast_run_spkm, [AST_MBSPKM] = ast_run_mbspkm,   [AST_MOVMF] = ast_run_movmf,
    [AST_FSD] = ast_run_fsd, [AST_CRP] = ast_run_crp,   [AST_DPMEANS] = ast_run_dpmeans, [AST_OSPKM] = ast_run_ospkm,
};

/* The method, then what the options ask for after it has converged. */
static ast_status run_stages(ast_call *c, ast_labelling *l, ast_run *run, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    ast_status status = c->resume ? ast_resume_take(c, l, run, fault) : AST_OK;
    if (status == AST_OK)
        status = methods[run->options->method](l, run, fault);
    run->clusters_before_merge = v.clusters->live;
    run->merging = true;
    if (status == AST_OK && !c->store)
        status = ast_run_merge(l, run, fault);
    if (status == AST_OK)
        status = ast_overall_resultant(l, &run->resultant, fault);
    return status == AST_OK ? ast_run_dissolve(l, run, fault) : status;
}

/* Of all points: every restart finds the same. The sums of clusters lack the points of a background. */
static void test_uniformity(ast_call *c, const ast_run *run, const ast_result *r) {
    bool background = r->components.background, added = c->points->weights || background;
    double n = r->effective + (added ? 0 : (double)r->report.outliers);
    double resultant = background && r->report.outliers ? (double)NAN : run->resultant;
    c->uniformity = c->options->axial ? ast_bingham(r->report.dimension, n, resultant, &c->uniformity_p)
                                      : ast_rayleigh(r->report.dimension, n, resultant, &c->uniformity_p);
}

/* Takes the result of a restart over; frees those that cannot be the one to keep. */
static ast_status keep_result(ast_call *c, ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_result *r = &c->results[run->restart];
    bool several = c->options->restarts > 1;
    ast_report report = report_of(c, run, l);
    r->components = run->components;
    r->tree = run->tree;
    r->posterior = run->cluster_posterior;
    run->cluster_posterior = NULL;
    run->components = (ast_components){0};
    run->tree = (ast_tree_of_run){0};
    r->labels = several ? ast_allocate(c->points->count, sizeof *r->labels) : c->labels;
    bool ready = !several || r->labels;
    ast_status status = ast_comm_agree(c->context->comm, ready ? AST_OK : ast_fail_memory(fault), fault);
    r->report = report;
    if (status == AST_OK && several) /* before points of weight 0 get their labels */
        status = ast_restart_measure(c, l, r, fault);
    if (status == AST_OK)
        status = ast_call_result(c, l, r, fault);
    if (status == AST_OK)
        test_uniformity(c, run, r);
    if (!several)
        r->labels = NULL; /* the caller's */
    if (run->restart > 0 && r->report.objective > c->results[c->best].report.objective)
        c->best = run->restart;
    return status;
}

static ast_status run_once(ast_call *c, ast_labelling *l, int restart, ast_fault *fault) {
    ast_run run = ast_run_begin(c->options, restart);
    run.start_points = c->options->start.points;
    c->run = &run;
    ast_status status = ast_labelling_load(l, &c->input, fault);
    if (status == AST_OK)
        status = check_counts(c->options, ast_view_of(l).everyone, fault);
    run.weight_unit = weight_unit(c, l);
    if (status == AST_OK)
        status = run_stages(c, l, &run, fault);
    c->run = NULL;
    ast_resume_free(c);
    ast_history_free(&run.history);
    if (status == AST_OK)
        status = ast_labelling_finish(l, ast_check_cancelled(c->context), fault);
    if (status == AST_OK)
        status = keep_result(c, l, &run, fault);
    ast_components_free(&run.components);
    free(run.cluster_posterior);
    ast_tree_free(&run.tree);
    return status;
}

static ast_status run_restarts(ast_call *c, ast_fault *fault) {
    int restart = 0;
    ast_labelling *l = c->context->labelling;
    ast_status status = c->options->resume ? ast_resume_open(c, &restart, fault) : AST_OK;
    for (; status == AST_OK && restart < c->options->restarts; restart++) {
        status = ast_comm_agree(c->context->comm, prepare_order(c, restart, fault), fault);
        if (status == AST_OK)
            status = run_once(c, l, restart, fault);
        if (status != AST_OK)
            ast_labelling_clear(l);
    }
    return status == AST_OK && c->options->restarts > 1 ? ast_restarts_choose(c, fault) : status;
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

static ast_labelling_input describe_input(const ast_context *context, const ast_points *points,
                                          const ast_options *options) {
    ast_labelling_input input = ast_resident_input(context, points, options->axial != 0);
    input.unbounded = input.headless = options->bounds == 0;
    input.comm = context->comm;
    input.late = points ? points->late : NULL;
    return input;
}

/* The late rows of this rank. */
static ast_status label_late(const ast_call *c, ast_result *r, ast_fault *fault) {
    const ast_options *o = c->options;
    size_t clusters = r->report.clusters;
    bool by_angle = o->method == AST_DP || o->method == AST_DPMEANS;
    _Atomic size_t *counts = ast_allocate_zero(clusters, sizeof *counts);
    ast_status status = ast_comm_agree(c->context->comm, counts ? AST_OK : ast_fail_memory(fault), fault);
    ast_late late = {.kernels = c->context->kernels,
                     .points = c->points,
                     .means = r->means,
                     .count = clusters,
                     .axial = o->axial != 0,
                     .limit = by_angle ? ast_least_score(o->angle) : -INFINITY,
                     .labels = r->labels ? r->labels : c->labels,
                     .counts = counts};
    if (status == AST_OK)
        ast_label_late(&late, c->context->pool);
    for (size_t k = 0; k <= clusters && status == AST_OK; k++) {
        uint64_t got = k < clusters ? counts[k] : late.unassigned;
        ast_comm_allreduce(c->context->comm, &got, 1);
        *(k < clusters ? &r->clusters[k].count : &r->report.outliers) += (size_t)got;
    }
    free(counts);
    return status;
}

/* Labels and leaves of the best restart go to the caller, all else to the context. Nothing can fail any more. */
static void hand_over(ast_call *c, double start, ast_report *report) {
    ast_result *best = &c->results[c->best];
    size_t count = c->points->count;
    if (best->labels && count)
        memcpy(c->labels, best->labels, count * sizeof *c->labels);
    if (best->tree.leaves && count)
        memcpy(c->options->merge.leaves, best->tree.leaves, count * sizeof *c->options->merge.leaves);
    if (c->centred) {
        best->report.center = best->center = c->centred->center;
        c->centred->center = NULL;
    }
    *report = best->report;
    report->rayleigh = c->uniformity;
    report->rayleigh_p = c->uniformity_p;
    report->seconds = ast_seconds() - start;
    ast_keep_result(c->context, best);
}

/* Runs a call that was checked, and hands its result to the context and the caller. */
static ast_status run_call(ast_call *c, double start, ast_report *report) {
    ast_context *context = c->context;
    ast_fault *fault = &context->fault;
    c->results = ast_allocate_zero((size_t)c->options->restarts, sizeof *c->results);
    ast_status status = ast_comm_agree(context->comm, c->results ? AST_OK : ast_fail_memory(fault), fault);
    context->call = c;
    if (status == AST_OK)
        status = run_restarts(c, fault);
    context->call = NULL;
    ast_resume_free(c);
    if (status == AST_OK && c->input.late)
        status = label_late(c, &c->results[c->best], fault);
    if (status == AST_OK)
        hand_over(c, start, report);
    if (c->input.source) /* the memory for a source is planned call by call */
        ast_labelling_clear(context->labelling);
    for (int i = 0; c->results && i < c->options->restarts; i++)
        ast_result_free(&c->results[i]);
    ast_free_all(c->results, c->order, c->weights);
    return status;
}

static ast_status cluster(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                          ast_report *report) {
    double start = ast_seconds();
    ast_fault *fault = &context->fault;
    ast_call c = {.context = context, .points = points, .options = options, .labels = labels};
    ast_status status = check_call(context, points, options, report, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (context->comm)
        status = ast_ranks_agree(context, points, options, status, &c.input.offset, &c.total);
    if (status != AST_OK)
        return status;
    size_t offset = c.input.offset;
    c.total = context->comm ? c.total : points->count;
    ast_centred centred = {0};
    if (options->center) {
        status = ast_center_points(context, points, c.total, &centred);
        c.points = &centred.points;
        c.centred = &centred;
    }
    c.input = describe_input(context, c.points, options);
    c.input.offset = offset;
    if (status == AST_OK)
        status = run_call(&c, start, report);
    ast_centred_free(&centred);
    return status;
}

ast_status ast_cluster(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                       ast_report *report) {
    return ast_enter(context) ? ast_leave(context, cluster(context, points, options, labels, report)) : AST_BAD_OPTION;
}

/* The plan says which labels are in memory. AST_DP without weights need not know the missing rows before its passes. */
static ast_labelling_input plan_input(ast_call *c, const ast_source *source, const ast_plan *plan) {
    bool whole = plan->rows >= source->count;
    ast_labelling_input in = describe_input(c->context, NULL, c->options);
    in.source = source;
    in.unbounded = plan->bounds == 0;
    in.headless = plan->heads == 0;
    in.store = whole ? NULL : c->store;
    in.window = whole ? (source->count / AST_WINDOW_STEP + 1) * AST_WINDOW_STEP : plan->rows;
    in.segment = ast_plan_segment_chunks(source);
    in.max_clusters = plan->clusters;
    in.survey = source->weights || c->options->method != AST_DP;
    in.report = tell;
    in.report_data = c;
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
    ast_centred centred = {0};
    if (options->center) {
        status = ast_center_source(context, source, &centred);
        c.centred = &centred;
    }
    c.input = plan_input(&c, options->center ? &centred.source : source, &plan);
    if (status == AST_OK)
        status = run_call(&c, start, report);
    ast_centred_free(&centred);
    return status;
}

ast_status ast_cluster_source(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                              const ast_label_store *labels, ast_report *report) {
    return ast_enter(context) ? ast_leave(context, cluster_source(context, source, options, memory, labels, report))
                              : AST_BAD_OPTION;
}
