/* SPDX-License-Identifier: MIT
 *
 * ast_cluster and ast_cluster_source: check, load, run, keep the best run. The two differ in their checks and in the
 * ast_labelling_input that they fill in; the rest is the same. result.c turns the labelling into the caller's
 * result. Before the run, ast_cluster_call handles four options. A previous run and a metric have their own files,
 * which call it again (previous.c, mapped.c). Centring and the features of a mixture replace the points of the run. */
#include "call.h"

#include "baselines.h"
#include "center.h"
#include "content.h"
#include "late.h"
#include "lifted.h"
#include "mean_error.h"
#include "memory.h"
#include "metric.h"
#include "plan.h"
#include "previous.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static ast_status check_counts(const ast_call *c) {
    const ast_options *o = c->options;
    size_t present = c->v.everyone, wanted = o->start.by == AST_GIVEN ? o->start.means_count : o->clusters;
    if (ast_is_by_angle(o->method) || wanted <= present || (wanted == 1 && o->method == AST_CRP))
        return AST_OK;
    if (present == 0)
        return ast_fail(c->fault, AST_BAD_DATA, "there is no usable row: every one is zero or holds a NaN");
    return ast_fail(c->fault, AST_BAD_DATA, "%zu clusters are asked for, but there %s only %zu usable point%s", wanted,
                    present == 1 ? "is" : "are", present, present == 1 ? "" : "s");
}

/* Means are dense, however few the entries. Too many columns are refused before memory is allocated, because Linux
 * grants memory that it does not have. A column takes one number in the mean and in the sum of each cluster, and one in
 * each table of means: one table for all threads and one per thread, in panels. */
static ast_status check_columns(const ast_call *c) {
    const ast_options *o = c->options;
    size_t known = o->start.by == AST_GIVEN ? o->start.means_count : o->clusters;
    double clusters = o->method == AST_DP || known == 0 ? 1 : (double)known;
    double table = ceil(clusters / AST_PANEL) * AST_PANEL * sizeof(float) * (1 + ast_pool_threads(c->context->pool));
    double lists = fmax(clusters, AST_INITIAL_SLOTS) * (sizeof(float) + sizeof(int64_t));
    double needed = (double)c->points->dimension * (lists + table), memory = ast_machine_memory();
    if (memory == 0 || needed <= memory)
        return AST_OK;
    return ast_fail(
        c->fault, AST_NO_MEMORY,
        "the points have %zu columns: %.0f cluster%s of them take%s %.0f GB, and this machine has %.0f; leave "
        "empty columns out",
        c->points->dimension, clusters, clusters > 1 ? "s" : "", clusters > 1 ? "" : "s", needed / 1e9, memory / 1e9);
}

/* Sparse rows are for the methods that need nothing but scores, and mixtures. */
static ast_status check_sparse(const ast_call *c) {
    const ast_options *o = c->options;
    bool scores_only =
        o->method == AST_DP || o->method == AST_SPKM || o->method == AST_MBSPKM || o->method == AST_MOVMF;
    const char *refused = o->metric      ? "a metric"
                          : o->center    ? "centring"
                          : !scores_only ? "this method"
                          : o->axial     ? "axial clustering"
                                         : NULL;
    if (!c->points->starts)
        return AST_OK;
    if (o->method == AST_MOVMF && c->points->dimension > AST_MIXTURE_DIMENSION)
        return ast_fail(c->fault, AST_BAD_DATA, "the points have %zu columns; mixtures of sparse rows have at most %d",
                        c->points->dimension, AST_MIXTURE_DIMENSION);
    return refused ? ast_refuse_sparse(c->points, refused, c->fault) : check_columns(c);
}

/* What needs all points in memory, on one rank. */
static ast_status check_places(const ast_call *c) {
    const ast_options *o = c->options;
    bool by_copies = o->merge.by == AST_MERGE_EVIDENCE || o->merge.by == AST_MERGE_COUNT;
    if (!c->store && !c->context->comm)
        return AST_OK;
    if (!isnan(o->outliers))
        return ast_fail(c->fault, AST_BAD_OPTION, "outliers need all points in memory, on one rank");
    if (o->previous)
        return ast_fail(c->fault, AST_BAD_OPTION, "a previous run is for points in memory, on one rank");
    if (by_copies && isnan(o->rounding) && c->points->dimension <= 3)
        return ast_fail(c->fault, AST_BAD_OPTION,
                        "rounded angles are looked for among rows in memory, on one rank: rounding must be a number");
    return AST_OK;
}

/* Checks the arguments of both calls. */
static ast_status check_call(const ast_call *c, const ast_report *report) {
    const ast_points *points = c->points;
    const ast_options *o = c->options;
    ast_status status = ast_fail_option(ast_options_problem(o), c->fault);
    if (status == AST_OK)
        status = ast_check_points(points, c->fault);
    if (status == AST_OK)
        status = ast_check_struct(report, sizeof *report, "report", c->fault);
    if (status == AST_OK && points->weights && (o->method == AST_FSD || o->method == AST_CRP))
        return ast_fail(c->fault, AST_BAD_OPTION, "samplers count every point once: weights are for the other methods");
    if (status == AST_OK && o->groups && (c->store || c->context->comm || points->starts || points->late))
        return ast_fail(c->fault, AST_BAD_OPTION,
                        "groups are for dense points in memory, on one rank, none of them late");
    if (status == AST_OK && points->late && (points->starts || o->center || o->metric))
        return ast_fail(c->fault, AST_BAD_OPTION, "late rows must be dense, and cannot be centred or mapped");
    if (status == AST_OK)
        status = check_places(c);
    if (status == AST_OK)
        status = ast_family_check(o, points, c->fault);
    return status == AST_OK ? check_sparse(c) : status;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* Finds the order in which this restart visits the rows. c->order stays NULL if it is the given order. */
static ast_status find_order(ast_call *c, int restart) {
    const ast_options *o = c->options;
    bool ordered = o->method == AST_DP || o->method == AST_DPMEANS;
    size_t count = c->points->count;
    if (!ordered || (restart == 0 && o->dp.order == AST_ORDER_GIVEN))
        return AST_OK;
    if (!c->order)
        c->order = ast_allocate(count, sizeof *c->order);
    if (!c->order)
        return ast_fail_memory(c->fault);
    if (restart > 0 || o->dp.order == AST_ORDER_CONTENT)
        return ast_order_by_content(c->points, c->points->weights, o->axial != 0, o->seed + (uint64_t)restart,
                                    c->context->pool, c->order, c->fault);
    ast_random random;
    ast_random_seed(&random, o->seed, 1);
    ast_random_permutation(&random, c->order, count);
    return AST_OK;
}

/* The order of this restart, and a copy of the weights in that order, which the labelling scales. */
static ast_status prepare_order(ast_call *c, int restart) {
    const double *given = c->points->weights;
    size_t count = c->points->count;
    ast_status status = find_order(c, restart);
    if (status != AST_OK)
        return status;
    if (given && !c->weights)
        c->weights = ast_allocate(count, sizeof *c->weights);
    for (size_t i = 0; c->weights && i < count; i++)
        c->weights[i] = given[c->order ? c->order[i] : i];
    c->input.order = c->order;
    c->input.weights = c->weights;
    return c->weights || !given ? AST_OK : ast_fail_memory(c->fault);
}

/* Reports progress within a pass over a source; iteration 0 is the survey before the first pass. */
static ast_status report_segment(void *data, const ast_pass_result *work, size_t left, ast_fault *fault) {
    const ast_call *c = data;
    const ast_run *run = c->run;
    ast_progress state = {.iteration = run->pass_start > 0 ? run->iterations + 1 : 0,
                          .clusters = ast_view_of(c->l).clusters->live,
                          .changed = work->changed,
                          .scored = work->scored,
                          .objective = NAN,
                          .seconds = ast_seconds() - run->pass_start,
                          .left = left};
    return ast_run_report_progress(run, &state, fault);
}

ast_report ast_call_report(const ast_call *c, const ast_run *run) {
    const ast_labelling_view *v = &c->v;
    bool all_out = run->outliers > 0 && v->clusters->live == 0; /* rows of weight 0 have no cluster left, either */
    return (ast_report){.size = sizeof(ast_report),
                        .points = c->total,
                        .missing = v->missing,
                        .dimension = v->rows->dimension,
                        .clusters = v->clusters->live,
                        .objective = run->objective,
                        .log_likelihood = run->log_likelihood,
                        .bic = run->bic,
                        .iterations = run->iterations,
                        .converged = run->converged,
                        .oir_restarts = run->oir_restarts,
                        .improvement = run->improvement,
                        .level_misplaced = run->level_misplaced,
                        .level_loss = run->level_loss,
                        .merged = run->clusters_before_merge,
                        .outliers = all_out ? c->total - v->missing : run->outliers,
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
static ast_status run_stages(ast_call *c, ast_run *run) {
    ast_status status = c->resume ? ast_resume_restore(c, run) : AST_OK;
    if (status == AST_OK)
        status = methods[run->options->method](c->l, run, c->fault);
    run->clusters_before_merge = c->v.clusters->live;
    run->merging = true;
    if (status == AST_OK)
        status = ast_run_merge(c->l, run, c->fault);
    if (status == AST_OK)
        status = ast_overall_resultant(c->l, &run->resultant, c->fault);
    if (status == AST_OK)
        status = ast_run_dissolve(c->l, run, c->fault);
    bool whole = !c->store && !c->context->comm;
    return status == AST_OK && whole ? ast_run_outliers(c->l, run, c->fault) : status;
}

/* The uniformity of all points, the same for every restart. The sums of clusters lack the points of a background. */
static void test_uniformity(ast_call *c, const ast_run *run, const ast_result *r) {
    bool background = r->components.background, added = c->points->weights || background;
    double n = r->effective + (added ? 0 : (double)r->report.outliers);
    double resultant = background && r->report.outliers ? (double)NAN : run->resultant;
    c->uniformity = c->options->axial ? ast_bingham(r->report.dimension, n, resultant, &c->uniformity_p)
                                      : ast_rayleigh(r->report.dimension, n, resultant, &c->uniformity_p);
}

/* In the order of the clusters. */
static ast_status keep_thresholds(const ast_call *c, const float *of_slots, float **kept, size_t clusters) {
    if (!of_slots)
        return AST_OK;
    *kept = ast_allocate(clusters, sizeof **kept);
    for (size_t k = 0; *kept && k < clusters; k++)
        (*kept)[k] = of_slots[c->v.clusters->order[k]];
    return *kept ? AST_OK : ast_fail_memory(c->fault);
}

/* Moves the result of a run into the list of results. */
static ast_status keep_result(ast_call *c, ast_run *run) {
    ast_result *r = &c->results[run->restart];
    bool several = c->options->restarts > 1;
    *r = (ast_result){.components = run->components,
                      .tree = run->tree,
                      .posterior = run->cluster_posterior,
                      .report = ast_call_report(c, run),
                      .labels = several ? ast_allocate(c->points->count, sizeof *r->labels) : c->labels};
    run->cluster_posterior = NULL;
    run->components = (ast_components){0};
    run->tree = (ast_tree_of_run){0};
    bool ready = !several || r->labels;
    ast_status status = ast_comm_agree(c->context->comm, ready ? AST_OK : ast_fail_memory(c->fault), c->fault);
    if (status == AST_OK && several) /* before points of weight 0 get their labels */
        status = ast_restart_measure(c, r);
    if (status == AST_OK)
        status = ast_call_result(c, r);
    if (status == AST_OK)
        status = keep_thresholds(c, run->thresholds, &r->thresholds, r->report.clusters);
    if (status == AST_OK)
        status = keep_thresholds(c, run->fits, &r->fits, r->report.clusters);
    if (status == AST_OK)
        test_uniformity(c, run, r);
    if (!several)
        r->labels = NULL; /* the caller's */
    if (run->restart > 0 && r->report.objective > c->results[c->best].report.objective)
        c->best = run->restart;
    return status;
}

static ast_status run_once(ast_call *c, int restart) {
    ast_run run = ast_run_begin(c->options, restart);
    run.start_points = c->options->start.points;
    run.family = run.components.family = c->family;
    c->run = &run;
    ast_status status = ast_labelling_load(c->l, &c->input, c->fault);
    c->v = ast_view_of(c->l);
    if (status == AST_OK)
        status = check_counts(c);
    run.weight_unit = c->v.least_weight;
    run.groups = c->options->groups ? &c->groups : NULL;
    if (status == AST_OK && run.groups && !ast_groups_open(&c->groups, c->options->groups, c->order, c->points->count))
        status = ast_fail_memory(c->fault);
    if (status == AST_OK)
        status = run_stages(c, &run);
    c->run = NULL;
    c->v = ast_view_of(c->l);
    ast_resume_free(c);
    ast_history_free(&run.history);
    if (status == AST_OK)
        status = ast_labelling_finish(c->l, ast_check_cancelled(c->context), c->fault);
    if (status == AST_OK)
        status = keep_result(c, &run);
    ast_components_free(&run.components);
    ast_tree_free(&run.tree);
    ast_free_all(run.thresholds, run.fits, run.cluster_posterior);
    return status;
}

static ast_status run_restarts(ast_call *c) {
    int restart = 0;
    ast_status status = c->options->resume ? ast_resume_open(c, &restart) : AST_OK;
    for (; status == AST_OK && restart < c->options->restarts; restart++) {
        status = ast_comm_agree(c->context->comm, prepare_order(c, restart), c->fault);
        if (status == AST_OK)
            status = run_once(c, restart);
        if (status != AST_OK)
            ast_labelling_clear(c->l);
    }
    return status == AST_OK && c->options->restarts > 1 ? ast_restarts_choose(c) : status;
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
static ast_status label_late(const ast_call *c, ast_result *r) {
    const ast_options *o = c->options;
    size_t clusters = r->report.clusters;
    _Atomic size_t *counts = ast_allocate_zero(clusters, sizeof *counts);
    ast_status status = ast_comm_agree(c->context->comm, counts ? AST_OK : ast_fail_memory(c->fault), c->fault);
    ast_late late = {.kernels = c->context->kernels,
                     .points = c->points,
                     .means = r->means,
                     .count = clusters,
                     .axial = o->axial != 0,
                     .limit = ast_is_by_angle(o->method) ? ast_least_score(o->angle) : -INFINITY,
                     .labels = r->labels ? r->labels : c->labels,
                     .counts = counts};
    if (status == AST_OK)
        ast_label_late(&late, c->context->pool);
    for (size_t k = 0; k <= clusters && status == AST_OK; k++) {
        uint64_t got = k < clusters ? counts[k] : late.unassigned;
        ast_comm_allreduce(c->context->comm, &got, 1);
        *(k < clusters ? &r->clusters[k].count : &r->report.outliers) += (size_t)got;
    }
    ast_free(counts);
    return status;
}

/* What a model of the result needs besides. Where small clusters were dissolved and nothing was merged, a row fits a
 * cluster within the angle. */
static ast_status keep_for_model(const ast_call *c, ast_result *r) {
    const ast_options *o = c->options;
    bool limited = o->method == AST_DP && o->merge.min_size > 0 && o->merge.by == AST_MERGE_NONE;
    r->method = o->method;
    r->axial = o->axial != 0;
    r->angle = o->angle;
    if (!limited || r->thresholds)
        return AST_OK;
    r->thresholds = ast_allocate(r->report.clusters, sizeof *r->thresholds);
    for (size_t k = 0; r->thresholds && k < r->report.clusters; k++)
        r->thresholds[k] = (float)ast_least_score(o->angle);
    return r->thresholds ? AST_OK : ast_fail_memory(c->fault);
}

/* Labels and leaves of the best restart go to the caller, the rest to the context. Cannot fail. */
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
    c->results = ast_allocate_zero((size_t)c->options->restarts, sizeof *c->results);
    ast_status status = ast_comm_agree(context->comm, c->results ? AST_OK : ast_fail_memory(c->fault), c->fault);
    context->call = c;
    if (status == AST_OK)
        status = run_restarts(c);
    context->call = NULL;
    ast_resume_free(c);
    if (status == AST_OK && c->input.late)
        status = label_late(c, &c->results[c->best]);
    if (status == AST_OK)
        status = ast_comm_agree(context->comm, keep_for_model(c, &c->results[c->best]), c->fault);
    if (status == AST_OK && c->family.kind != AST_FAMILY_VMF) {
        ast_result *best = &c->results[c->best];
        status = ast_unlift_result(c, c->given, best->labels ? best->labels : c->labels, best);
    }
    if (status == AST_OK)
        hand_over(c, start, report);
    if (c->input.source) /* the memory for a source is planned call by call */
        ast_labelling_clear(c->l);
    for (int i = 0; c->results && i < c->options->restarts; i++)
        ast_result_free(&c->results[i]);
    ast_free_all(c->results, c->order, c->weights);
    ast_groups_free(&c->groups);
    return status;
}

static ast_call begin_call(ast_context *context, const ast_points *points, const ast_options *options) {
    return (ast_call){
        .context = context, .fault = &context->fault, .l = context->labelling, .points = points, .options = options};
}

ast_status ast_cluster_call(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                            ast_report *report) {
    double start = ast_seconds();
    ast_call c = begin_call(context, points, options);
    c.labels = labels;
    ast_status status = check_call(&c, report);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", c.fault);
    if (context->comm)
        status = ast_ranks_agree(context, points, options, status, &c.input.offset, &c.total);
    if (status != AST_OK)
        return status;
    if (options->previous)
        return ast_cluster_keeping_ids(context, points, options, labels, report);
    size_t offset = c.input.offset;
    c.total = context->comm ? c.total : points->count;
    if (options->metric) {
        const ast_map_input input = {context, points, NULL, offset, c.total};
        return ast_cluster_mapped(&input, options, labels, report);
    }
    ast_transformed_rows centred = {0};
    if (options->center) {
        status = ast_center_points(context, points, c.total, &centred);
        c.points = &centred.points;
        c.centred = &centred;
    }
    ast_options own;
    float *lifted_means = NULL;
    ast_transformed_rows lifted = {0};
    c.family = ast_family_of(options, points->dimension);
    if (status == AST_OK && c.family.kind != AST_FAMILY_VMF) {
        c.given = c.points;
        status = ast_lift_points(context, c.given, &c.family, &lifted);
        if (status == AST_OK)
            status = ast_lift_options(c.given, options, &c.family, &own, &lifted_means, context);
        c.points = &lifted.points;
        c.options = &own;
    }
    c.input = describe_input(context, c.points, options);
    c.input.axial = c.input.axial && c.family.kind == AST_FAMILY_VMF;
    c.input.offset = offset;
    if (status == AST_OK)
        status = run_call(&c, start, report);
    ast_free(lifted_means);
    ast_transformed_rows_free(&lifted);
    ast_transformed_rows_free(&centred);
    return status;
}

ast_status ast_cluster(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                       ast_report *report) {
    return ast_enter(context) ? ast_leave(context, ast_cluster_call(context, points, options, labels, report))
                              : AST_BAD_OPTION;
}

/* The plan determines which labels are in memory. AST_DP without weights needs no survey of missing rows. */
static ast_labelling_input plan_input(ast_call *c, const ast_source *source, const ast_plan *plan) {
    bool one_window = plan->rows >= source->count;
    ast_labelling_input in = describe_input(c->context, NULL, c->options);
    in.source = source;
    in.unbounded = plan->bounds == 0;
    in.headless = plan->heads == 0;
    in.store = one_window ? NULL : c->store;
    in.window = one_window ? (source->count / AST_WINDOW_STEP + 1) * AST_WINDOW_STEP : plan->rows;
    in.segment = ast_plan_segment_chunks(source);
    in.max_clusters = plan->clusters;
    in.survey = source->weights || c->options->method != AST_DP;
    in.report = report_segment;
    in.report_data = c;
    return in;
}

ast_status ast_cluster_planned(ast_context *context, const ast_source *source, const ast_options *options,
                               const ast_plan *plan, const ast_label_store *labels, ast_report *report) {
    double start = ast_seconds();
    ast_fault *fault = &context->fault;
    ast_points shape = ast_source_shape(source);
    ast_call c = begin_call(context, &shape, options);
    c.store = labels;
    c.total = source->count;
    ast_status status = check_call(&c, report);
    if (status == AST_OK)
        status = ast_check_struct(labels, sizeof *labels, "labels", fault);
    if (status == AST_OK && (!labels->write || (plan->rows < source->count && !labels->read)))
        status = ast_fail(fault, AST_BAD_OPTION, "there is nowhere to keep labels: the store lacks a write or a read");
    if (status != AST_OK)
        return status;
    if (options->metric)
        return ast_cluster_mapped_source(context, source, options, plan, labels, report);
    ast_transformed_rows centred = {0};
    if (options->center) {
        status = ast_center_source(context, source, &centred);
        c.centred = &centred;
    }
    c.input = plan_input(&c, options->center ? &centred.source : source, plan);
    if (status == AST_OK)
        status = run_call(&c, start, report);
    ast_transformed_rows_free(&centred);
    return status;
}

static ast_status cluster_source(ast_context *context, const ast_source *source, const ast_options *options,
                                 size_t memory, const ast_label_store *labels, ast_report *report) {
    ast_plan plan;
    ast_status status = ast_plan_call(context, source, options, memory, &plan);
    return status == AST_OK ? ast_cluster_planned(context, source, options, &plan, labels, report) : status;
}

ast_status ast_cluster_source(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                              const ast_label_store *labels, ast_report *report) {
    return ast_enter(context) ? ast_leave(context, cluster_source(context, source, options, memory, labels, report))
                              : AST_BAD_OPTION;
}
