/* SPDX-License-Identifier: MIT
 *
 * ast_cluster_source and ast_assign_source: what ast_cluster and ast_assign do, for points that are larger than
 * memory. Check, plan, run, and hand the labels over window by window. */
#include "context.h"

#include "assign.h"
#include "memory.h"
#include "methods.h"
#include "plan.h"
#include "windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART ((size_t)1 << 16) /* labels that are written together */

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static ast_status check_source(const ast_source *source, ast_fault *fault) {
    ast_status status = ast_check_struct(source, sizeof *source, "source", fault);
    if (status != AST_OK)
        return status;
    if (!source->read)
        return ast_fail(fault, AST_BAD_OPTION, "the source has no function that reads");
    ast_points points = ast_points_dense(source, source->type, 0, source->count, source->dimension);
    points.weights = source->weights;
    return ast_check_points(&points, fault);
}

static ast_status check_options(const ast_options *o, ast_fault *fault) {
    const char *problem = ast_options_problem(o);
    if (!problem && o->method != AST_DP && o->method != AST_SPKM)
        problem = "a source is for AST_DP and AST_SPKM: the other methods need all points in memory";
    if (!problem && o->restarts > 1)
        problem = "a source is for one run: restarts need all points in memory";
    if (!problem && o->shuffle)
        problem = "a source is read in its own order: shuffle needs all points in memory";
    if (!problem && o->parallel != AST_ORDERED)
        problem = "a source is read by AST_ORDERED passes: AST_OIR and AST_SERIAL need all points in memory";
    if (!problem && (o->sample || o->start_points))
        problem = "a source is read as a whole: sample and start_points need all points in memory";
    if (!problem && o->resume)
        problem = "a source is read from the start: resume needs all points in memory";
    return problem ? ast_fail(fault, AST_BAD_OPTION, "%s", problem) : AST_OK;
}

static ast_status make_plan(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                            ast_plan *plan) {
    ast_fault *fault = &context->fault;
    ast_status status = check_options(options, fault);
    if (status == AST_OK)
        status = check_source(source, fault);
    if (status == AST_OK && context->comm)
        status = ast_fail(fault, AST_BAD_OPTION, "a source is read by one process: this context has joined others");
    if (status != AST_OK)
        return status;
    if (ast_plan_make(source, options, ast_pool_threads(context->pool), memory, plan)) {
        if (context->window && context->window < source->count)
            *plan = (ast_plan){.size = sizeof *plan, .rows = context->window, .clusters = plan->clusters};
        return AST_OK;
    }
    return ast_fail(fault, AST_NO_MEMORY, "%zu bytes of memory are not enough: the least is %zu", memory, plan->least);
}

ast_status ast_plan_source(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                           ast_plan *plan) {
    ast_status status = ast_enter(context);
    if (status != AST_OK)
        return status;
    status = ast_check_struct(plan, sizeof *plan, "plan", &context->fault);
    return ast_leave(context, status == AST_OK ? make_plan(context, source, options, memory, plan) : status);
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

typedef struct call {
    ast_context *context;
    const ast_source *source;
    const ast_options *options;
    const ast_label_store *labels;
    ast_windows windows;
    ast_run run;
    ast_report report;
    ast_cluster_info *clusters;
    float *means;
} call;

/* Within a pass; 0 is the survey before the first. */
static ast_status tell(void *data, size_t left, ast_fault *fault) {
    call *c = data;
    const ast_labelling *l = &c->context->labelling;
    ast_progress state = {.iteration = c->run.pass_start > 0 ? c->run.iterations + 1 : 0,
                          .clusters = l->clusters.live,
                          .objective = NAN,
                          .seconds = ast_seconds() - c->run.pass_start,
                          .left = left};
    for (int w = 0; w < l->worker_count; w++) {
        state.changed += l->workers[w].changed;
        state.scored += l->workers[w].scored;
    }
    ast_status status = ast_run_tell(&c->run, &state, fault);
    ast_pool_poll(c->context->pool);
    return status == AST_OK ? ast_check_cancelled(c->context) : status;
}

static void set_windows(call *c, const ast_plan *plan) {
    bool whole = plan->rows >= c->source->count;
    size_t rows = whole ? (c->source->count / AST_WINDOW_STEP + 1) * AST_WINDOW_STEP : plan->rows;
    ast_windows *w = &c->windows;
    w->source = c->source;
    w->store = whole ? NULL : c->labels;
    w->rows = rows;
    w->count = whole ? 1 : (c->source->count + rows - 1) / rows;
    w->segment = ast_plan_segment(c->source);
    w->most = plan->clusters;
    w->bounds = plan->bounds != 0;
    w->axial = c->options->axial != 0;
    w->tell = tell;
    w->tell_data = c;
}

static ast_status copy_weights(call *c, ast_fault *fault) {
    size_t count = c->source->count;
    if (!c->source->weights)
        return AST_OK;
    c->windows.weights = ast_allocate(count, sizeof *c->windows.weights);
    if (!c->windows.weights)
        return ast_fail_memory(fault);
    if (count)
        memcpy(c->windows.weights, c->source->weights, count * sizeof *c->windows.weights);
    return AST_OK;
}

/* DP-vMF-means without weights need not know beforehand which rows are missing. */
static ast_status run(call *c, ast_labelling *l, ast_fault *fault) {
    bool survey = c->source->weights || c->options->method != AST_DP;
    ast_status status = copy_weights(c, fault);
    if (status == AST_OK)
        status = ast_windows_load(l, &c->windows, c->context->kernels, c->context->pool, fault);
    if (status == AST_OK && survey)
        status = ast_windows_survey(l, fault);
    if (status == AST_OK)
        status = ast_windows_weigh(l, fault);
    if (status == AST_OK)
        status = ast_check_counts(c->options, l->everyone, fault);
    return status == AST_OK ? ast_run_method(l, &c->run, fault) : status;
}

/* ---- The result -------------------------------------------------------------------------------------------------- */

/* Points of weight 0 took no part; now those of this window get the label of the cluster that suits them best. */
static void label_weightless(const call *c, ast_labelling *l) {
    const ast_cluster_list *list = &l->clusters;
    ast_worker *worker = &l->workers[0];
    for (size_t i = 0; c->windows.weights && list->live > 0 && i < l->cloud.count; i++) {
        if (c->source->weights[l->offset + i] != 0 || ast_fetch_kind(l, worker, i) == AST_ROW_MISSING)
            continue;
        double best = -INFINITY;
        for (size_t k = 0; k < list->live; k++) {
            double score =
                ast_exact_score(worker->row, list->means + (size_t)list->order[k] * list->dimension, list->dimension);
            score = l->axial ? fabs(score) : score;
            if (score > best) {
                best = score;
                l->labels[i] = list->order[k];
            }
        }
    }
}

static ast_status write_labels(const call *c, const ast_labelling *l, ast_fault *fault) {
    for (size_t first = 0; first < l->cloud.count; first += PART) {
        size_t n = l->cloud.count - first < PART ? l->cloud.count - first : PART;
        if (c->labels->write(l->offset + first, n, l->labels + first, c->labels->data) != 0)
            return ast_fail(fault, AST_NO_INPUT, "the labels from row %zu (counting from 1) on could not be written",
                            l->offset + first + 1);
    }
    return AST_OK;
}

/* Slots become labels, window by window; where points have weights they are counted as the caller does. */
static ast_status hand_over(call *c, ast_labelling *l, const int32_t *rank, ast_fault *fault) {
    const double *weights = c->source->weights;
    ast_status status = AST_OK;
    for (size_t n = 0; n < c->windows.count && status == AST_OK; n++) {
        status = ast_windows_open(l, n, fault);
        if (status == AST_OK)
            label_weightless(c, l);
        for (size_t i = 0; i < l->cloud.count && status == AST_OK; i++) {
            l->labels[i] = l->labels[i] < 0 ? -1 : rank[l->labels[i]];
            if (weights && l->labels[i] >= 0) {
                c->clusters[l->labels[i]].count++;
                c->clusters[l->labels[i]].weight += weights[l->offset + i];
            }
        }
        status = status == AST_OK ? ast_windows_fault(l, fault) : status;
        if (status == AST_OK)
            status = write_labels(c, l, fault);
    }
    return status;
}

static void describe(const call *c, const ast_labelling *l, size_t k) {
    int32_t slot = l->clusters.order[k];
    size_t dimension = l->cloud.dimension;
    ast_cluster_info *info = &c->clusters[k];
    float *mean = c->means + k * dimension;
    if (!c->source->weights)
        info->weight = (double)(info->count = (size_t)l->clusters.members[slot]);
    ast_describe_cluster(l, slot, info);
    info->share = NAN;
    info->mean = memcpy(mean, l->clusters.means + (size_t)slot * dimension, dimension * sizeof *mean);
    if (l->axial)
        ast_choose_side(mean, dimension);
}

static ast_status translate(call *c, ast_labelling *l, ast_fault *fault) {
    size_t clusters = l->clusters.live;
    int32_t *rank = ast_allocate(l->clusters.slots + 1, sizeof *rank);
    c->clusters = ast_allocate_zero(clusters, sizeof *c->clusters);
    c->means = ast_allocate(clusters * l->cloud.dimension, sizeof *c->means);
    ast_status status = rank && c->clusters && c->means ? AST_OK : ast_fail_memory(fault);
    for (size_t k = 0; k < clusters && status == AST_OK; k++)
        rank[l->clusters.order[k]] = (int32_t)k;
    if (status == AST_OK)
        status = hand_over(c, l, rank, fault);
    for (size_t k = 0; k < clusters && status == AST_OK; k++)
        describe(c, l, k);
    free(rank);
    return status;
}

static void report_run(call *c, const ast_labelling *l, double start) {
    c->report = (ast_report){.size = sizeof c->report,
                             .points = c->source->count,
                             .missing = atomic_load(&c->windows.missing),
                             .dimension = c->source->dimension,
                             .clusters = l->clusters.live,
                             .objective = c->run.objective,
                             .log_likelihood = NAN,
                             .bic = NAN,
                             .iterations = c->run.iterations,
                             .converged = c->run.converged,
                             .seconds = ast_seconds() - start,
                             .improvement = NAN};
}

static ast_status cluster(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                          const ast_label_store *labels, ast_report *report) {
    double start = ast_seconds();
    ast_fault *fault = &context->fault;
    ast_labelling *l = &context->labelling;
    ast_plan plan;
    ast_status status = make_plan(context, source, options, memory, &plan);
    if (status == AST_OK)
        status = ast_check_struct(report, sizeof *report, "report", fault);
    if (status == AST_OK)
        status = ast_check_struct(labels, sizeof *labels, "labels", fault);
    if (status == AST_OK && (!labels->write || (plan.rows < source->count && !labels->read)))
        status = ast_fail(fault, AST_BAD_OPTION, "there is nowhere to keep labels: the store lacks a write or a read");
    if (status != AST_OK)
        return status;
    call c = {.context = context, .source = source, .options = options, .labels = labels};
    c.run = (ast_run){.options = options, .log_likelihood = NAN, .bic = NAN};
    set_windows(&c, &plan);
    ast_labelling_free(l); /* what a call before has left is not in the plan */
    status = run(&c, l, fault);
    if (status == AST_OK)
        status = ast_check_cancelled(context);
    if (status == AST_OK)
        status = translate(&c, l, fault);
    if (status == AST_OK) {
        ast_components none = {0};
        report_run(&c, l, start);
        *report = c.report;
        ast_keep_clusters(context, c.clusters, c.means, c.report.clusters, &none);
    } else {
        free(c.clusters);
        free(c.means);
    }
    ast_labelling_free(l);
    ast_windows_free(&c.windows);
    return status;
}

ast_status ast_cluster_source(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                              const ast_label_store *labels, ast_report *report) {
    ast_status status = ast_enter(context);
    return status == AST_OK ? ast_leave(context, cluster(context, source, options, memory, labels, report)) : status;
}

/* ---- Known means ------------------------------------------------------------------------------------------------- */

typedef struct assignment {
    ast_labelling *l;
    ast_windows windows;
    int32_t *labels;   /* (rows of a window) */
    float *similarity; /* the same */
} assignment;

/* Rows of some 64 MiB at a time, and no more than a million. */
static size_t rows_at_a_time(const ast_source *source) {
    size_t rows = ((size_t)64 << 20) / (source->dimension * ast_type_size(source->type));
    rows = rows < ((size_t)1 << 20) ? rows : (size_t)1 << 20;
    return (rows / AST_WINDOW_STEP + 1) * AST_WINDOW_STEP;
}

static ast_status open_assignment(assignment *a, ast_context *context, const ast_assign_options *options,
                                  ast_fault *fault) {
    ast_options given = {.means = options->means, .means_count = options->means_count, .axial = options->axial};
    ast_labelling *l = a->l;
    ast_windows *w = &a->windows;
    w->rows = rows_at_a_time(w->source);
    w->count = (w->source->count + w->rows - 1) / w->rows;
    w->axial = options->axial != 0;
    w->most = SIZE_MAX;
    a->labels = ast_allocate(w->rows, sizeof *a->labels);
    a->similarity = ast_allocate(w->rows, sizeof *a->similarity);
    if (!a->labels || !a->similarity)
        return ast_fail_memory(fault);
    ast_labelling_free(l);
    ast_status status = ast_windows_load(l, w, context->kernels, context->pool, fault);
    if (status == AST_OK)
        status = ast_run_given(l, &given, fault);
    ast_labelling_set_angle(l, options->angle);
    return status;
}

static ast_status assign_window(assignment *a, ast_context *context, size_t number, const ast_taker *taker,
                                ast_fault *fault) {
    ast_labelling *l = a->l;
    const ast_source *source = a->windows.source;
    ast_status status = ast_windows_open(l, number, fault);
    size_t next = l->offset + l->cloud.count, left = source->count - next;
    if (source->expect && left > 0)
        source->expect(next, left < a->windows.rows ? left : a->windows.rows, source->data);
    if (status == AST_OK)
        status = ast_assign_points(l, a->labels, a->similarity, fault);
    if (status == AST_OK)
        status = ast_check_cancelled(context);
    if (status == AST_OK)
        status = ast_windows_fault(l, fault);
    for (size_t i = 0; i < l->cloud.count && status == AST_OK; i++)
        a->labels[i] = a->labels[i] < 0 ? -1 : a->labels[i];
    if (status == AST_OK && taker->take(l->offset, l->cloud.count, a->labels, a->similarity, taker->data) != 0)
        status = ast_fail(fault, AST_CANCELLED, "cancelled after row %zu", next);
    return status;
}

static ast_status assign(ast_context *context, const ast_source *source, const ast_assign_options *options,
                         const ast_taker *taker) {
    ast_fault *fault = &context->fault;
    ast_status status = ast_check_assign(options, fault);
    if (status == AST_OK)
        status = check_source(source, fault);
    if (status == AST_OK)
        status = ast_check_struct(taker, sizeof *taker, "taker", fault);
    if (status == AST_OK && !taker->take)
        status = ast_fail(fault, AST_BAD_OPTION, "the taker has no function that takes labels");
    if (status != AST_OK)
        return status;
    assignment a = {.l = &context->labelling, .windows = {.source = source}};
    status = open_assignment(&a, context, options, fault);
    for (size_t n = 0; n < a.windows.count && status == AST_OK; n++)
        status = assign_window(&a, context, n, taker, fault);
    free(a.labels);
    free(a.similarity);
    ast_labelling_free(a.l);
    return status;
}

ast_status ast_assign_source(ast_context *context, const ast_source *source, const ast_assign_options *options,
                             const ast_taker *taker) {
    ast_status status = ast_enter(context);
    return status == AST_OK ? ast_leave(context, assign(context, source, options, taker)) : status;
}
