/* SPDX-License-Identifier: MIT
 *
 * Contexts, and the checks of points, options and structs that entry points share. */
#include "memory.h"
#include "previous.h"
#include "tune_call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 256
#define MOST_KAPPA 1e9

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

const char *ast_version(void) {
    return TEXT(AST_VERSION_MAJOR) "." TEXT(AST_VERSION_MINOR) "." TEXT(AST_VERSION_PATCH);
}

static int available_processors(void) {
    int count = ast_system_processors();
    return count > MAX_THREADS ? MAX_THREADS : count;
}

ast_status ast_open(ast_context **opened, int threads) {
    if (!opened)
        return AST_BAD_OPTION;
    *opened = NULL;
    if (threads < 0 || threads > MAX_THREADS)
        return AST_BAD_OPTION;
    ast_context *context = ast_allocate_zero(1, sizeof *context);
    if (!context)
        return AST_NO_MEMORY;
    context->kernels = ast_kernels_choose(getenv("ASTERISM_ISA"));
    const char *cells = getenv("ASTERISM_CELLS"); /* for tests: see ast_context */
    context->cells_from = cells ? (size_t)strtoul(cells, NULL, 10) : 0;
    const char *heads = getenv("ASTERISM_HEADS");
    context->heads = heads ? (size_t)strtoul(heads, NULL, 10) : 0;
    context->labelling = ast_labelling_new();
    ast_status status = context->labelling
                            ? ast_pool_open(&context->pool, threads == 0 ? available_processors() : threads)
                            : AST_NO_MEMORY;
    if (status == AST_OK)
        *opened = context;
    else
        ast_close(context);
    return status;
}

void ast_close(ast_context *context) {
    if (!context || ast_in_callback(context, __func__))
        return;
    ast_labelling_free(context->labelling);
    ast_pool_close(context->pool);
    ast_result_free(&context->last);
    ast_tuned_free(context->tuned);
    ast_kdtree_free(&context->tree);
    ast_free(context);
}

/* ---- Beginning and end of a call --------------------------------------------------------------------------------- */

bool ast_in_callback(ast_context *context, const char *function) {
    if (context->busy)
        ast_fail(&context->fault, AST_BAD_OPTION,
                 "%s was called from a callback of the same context; a context makes one call at a time", function);
    return context->busy;
}

bool ast_enter_call(ast_context *context, const char *function) {
    if (!context || ast_in_callback(context, function))
        return false;
    context->fault = (ast_fault){.status = AST_OK};
    context->busy = true;
    ast_pool_set_watch(context->pool, context->cancel, context->cancel_data);
    return true;
}

ast_status ast_leave(ast_context *context, ast_status status) {
    context->busy = false;
    if (status == AST_OK) /* a callback may have left the sentence of a call that was refused */
        context->fault = (ast_fault){.status = AST_OK};
    return status;
}

ast_status ast_allocate_handle(void *handle, size_t size, ast_context *context, const char *problem,
                               const char *function) {
    void **opened = handle;
    if (opened)
        *opened = NULL;
    if (!ast_enter_call(context, function))
        return AST_BAD_OPTION;
    if (problem)
        return ast_leave(context, ast_fail(&context->fault, AST_BAD_OPTION, "%s", problem));
    *opened = ast_allocate_zero(1, size);
    return ast_leave(context, *opened ? AST_OK : ast_fail_memory(&context->fault));
}

ast_status ast_check_cancelled(ast_context *context) {
    return ast_pool_cancelled(context->pool) ? ast_fail_cancelled(&context->fault) : AST_OK;
}

ast_status ast_check_pointer(const void *pointer, const char *name, ast_fault *fault) {
    return pointer ? AST_OK : ast_fail(fault, AST_BAD_OPTION, "%s: the pointer is NULL", name);
}

const char *ast_size_problem(const void *given, size_t size) {
    size_t own;
    if (!given)
        return "the options are NULL";
    memcpy(&own, given, sizeof own);
    return own == size ? NULL : "the options were not initialised: their size is not set";
}

ast_status ast_check_struct(const void *given, size_t size, const char *name, ast_fault *fault) {
    if (!given)
        return ast_check_pointer(given, name, fault);
    return ast_size_problem(given, size)
               ? ast_fail(fault, AST_BAD_OPTION, "%s: the size of the struct is not set", name)
               : AST_OK;
}

const void *ast_records_of_size(const void *array, size_t length, size_t own, size_t asked, size_t *count) {
    bool known = array && count && asked == own;
    if (count)
        *count = known ? length : 0;
    return known ? array : NULL;
}

ast_status ast_set_cancel(ast_context *context, ast_cancel *cancel, void *data) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    context->cancel = cancel;
    context->cancel_data = data;
    return ast_leave(context, AST_OK);
}

const char *ast_message(const ast_context *context) {
    return context ? context->fault.message : "the context is NULL";
}

size_t ast_fault_row(const ast_context *context) {
    return context ? context->fault.row : 0;
}

int ast_threads(const ast_context *context) {
    return context ? ast_pool_threads(context->pool) : 0;
}

const char *ast_instruction_set(const ast_context *context) {
    return context ? context->kernels->name : "";
}

/* ---- Points and options ------------------------------------------------------------------------------------------ */

/* What is particular to the two kinds of views. The entries of sparse rows are looked at when they are loaded. */
static ast_status check_layout(const ast_points *points, ast_fault *fault) {
    bool sparse = points->starts != NULL;
    size_t most = sparse ? INT32_MAX : AST_MOST_DIMENSION;
    if (!sparse && !points->data && points->count > 0)
        return ast_fail(fault, AST_BAD_OPTION, "the data of the points is NULL");
    if (points->dimension < 2 || points->dimension > most)
        return ast_fail(fault, AST_BAD_DATA, "the points have dimension %zu; %s have 2 to %zu components",
                        points->dimension, sparse ? "sparse directions" : "directions", most);
    if (sparse && points->index != AST_I4 && points->index != AST_I8)
        return ast_fail(fault, AST_BAD_OPTION, "the index type of the sparse rows is neither AST_I4 nor AST_I8");
    if (sparse && (!points->data || !points->columns) &&
        ast_index_at(points->starts, points->index, points->count) > ast_index_at(points->starts, points->index, 0))
        return ast_fail(fault, AST_BAD_OPTION, "the data or the columns of the sparse points are NULL");
    return AST_OK;
}

ast_status ast_refuse_sparse(const ast_points *points, const char *what, ast_fault *fault) {
    if (!points || !points->starts)
        return AST_OK;
    return ast_fail(fault, AST_BAD_OPTION,
                    "%s does not take sparse rows, which are for DP-vMF-means, spherical k-means, mixtures of directed "
                    "rows, labelling with known means and the silhouette by cosine; give the rows densely",
                    what);
}

#define MOST_WEIGHT 1e100

/* Of points: squares of the sums of their weights must be numbers. */
static ast_status check_sizes(const double *weights, size_t count, ast_fault *fault) {
    ast_status status = ast_check_weights(weights, count, fault);
    for (size_t i = 0; weights && i < count && status == AST_OK; i++)
        if (weights[i] > MOST_WEIGHT)
            status = ast_fail(fault, AST_BAD_DATA, "weight %zu (counting from 1) is %g; weights must be at most 1e+100",
                              i + 1, weights[i]);
    return status;
}

ast_status ast_check_points(const ast_points *points, ast_fault *fault) {
    ast_status status = ast_check_struct(points, sizeof *points, "points", fault);
    if (status == AST_OK)
        status = check_layout(points, fault);
    if (status != AST_OK)
        return status;
    if (points->count > INT32_MAX)
        return ast_fail(fault, AST_BAD_DATA, "there are %zu points; at most 2147483647 fit one call", points->count);
    if (points->rotation)
        return ast_fail(fault, AST_BAD_OPTION, "points.rotation is for streams; this call takes rows as they are");
    if ((unsigned)points->type > AST_B2)
        return ast_fail(fault, AST_BAD_OPTION,
                        "the type of the points is none of AST_F4, AST_F8, AST_F2, AST_I1, AST_U1 and AST_B2");
    return check_sizes(points->weights, points->count, fault);
}

ast_status ast_check_weights(const double *weights, size_t count, ast_fault *fault) {
    for (size_t i = 0; weights && i < count; i++)
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return ast_fail(fault, AST_BAD_DATA,
                            "weight %zu (counting from 1) is %g; weights must be finite and not negative", i + 1,
                            weights[i]);
    return AST_OK;
}

ast_labelling_input ast_resident_input(const ast_context *context, const ast_points *points, bool axial) {
    return (ast_labelling_input){.kernels = context->kernels,
                                 .pool = context->pool,
                                 .points = points,
                                 .axial = axial,
                                 .cells_from = context->cells_from,
                                 .heads = context->heads};
}

const char *ast_first_problem(const ast_requirement *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i].broken)
            return list[i].problem;
    return NULL;
}

ast_status ast_fail_option(const char *problem, ast_fault *fault) {
    return problem ? ast_fail(fault, AST_BAD_OPTION, "%s", problem) : AST_OK;
}

static bool positive(double x) {
    return x > 0 && isfinite(x);
}

static bool not_negative(double x) {
    return x >= 0 && isfinite(x);
}

static const char *metric_problem(const ast_options *o) {
    bool local = o->metric == AST_METRIC_LOCAL, learned = local && !o->map;
    return ast_problem_of(
        {!local && o->metric != AST_METRIC_PLAIN, "the metric must be AST_METRIC_PLAIN or AST_METRIC_LOCAL"},
        {!local && o->map, "a map is for AST_METRIC_LOCAL"},
        {local && o->method != AST_DP && o->method != AST_SPKM && o->method != AST_MBSPKM && o->method != AST_MOVMF,
         "the metric is for AST_DP, AST_SPKM, AST_MBSPKM and AST_MOVMF"},
        {local && o->axial, "axial rows cannot be mapped: x and -x would differ"},
        {learned && o->start.by == AST_GIVEN, "means to start from need the map that their rows had"},
        {learned && o->resume, "a run that learns a metric cannot be resumed: give it a map that was learned"});
}

static const char *mixture_problem(const ast_options *o) {
    double kappa = o->mixture.kappa;
    return ast_problem_of({!isnan(kappa) && !(kappa >= 0 && kappa <= MOST_KAPPA),
                           "kappa must be between 0 and 1e9, or NaN to estimate it"},
                          {!not_negative(o->mixture.tolerance), "the tolerance must be a number of at least 0"},
                          {(o->mixture.auto_clusters || o->mixture.background) && o->method != AST_MOVMF,
                           "auto_clusters and background are for AST_MOVMF"},
                          {o->mixture.shape != AST_COMPONENT_ROUND && o->mixture.shape != AST_COMPONENT_KENT,
                           "the shape must be AST_COMPONENT_ROUND or AST_COMPONENT_KENT"},
                          {o->mixture.shape == AST_COMPONENT_KENT && (o->method != AST_MOVMF || o->axial || o->metric),
                           "AST_COMPONENT_KENT is for AST_MOVMF, without axial and metric"},
                          {o->mixture.auto_clusters && o->mixture.hard,
                           "auto_clusters is for soft memberships: hard needs a number of clusters"});
}

static const char *sampler_problem(const ast_options *o) {
    double median = o->sampler.kappa_median, kappa = o->sampler.prior_kappa;
    return ast_problem_of(
        {!positive(o->sampler.concentration), "the concentration must be a number above 0"},
        {median != 0 && !positive(median), "kappa_median must be a number above 0, or 0 for 10 D"},
        {!(kappa >= 0 && kappa <= MOST_KAPPA), "prior_kappa must be between 0 and 1e9"},
        {(kappa > 0) != (o->sampler.prior_mean != NULL), "prior_kappa and prior_mean go together: both or neither"},
        {o->sampler.burn_in < 0 || o->sampler.sample_every < 0, "burn_in and sample_every must be at least 0"},
        {!positive(o->online.learning_rate) || !positive(o->online.learning_rate_end),
         "both learning rates must be numbers above 0"});
}

static const char *order_and_merge_problem(const ast_options *o) {
    bool merges = o->merge.by != AST_MERGE_NONE || o->merge.tree || o->merge.min_size != 0;
    return ast_problem_of(
        {o->dp.order != AST_ORDER_GIVEN && o->dp.order != AST_ORDER_CONTENT && o->dp.order != AST_ORDER_RANDOM,
         "order must be AST_ORDER_GIVEN, AST_ORDER_CONTENT or AST_ORDER_RANDOM"},
        {o->dp.order != AST_ORDER_GIVEN && o->method != AST_DP && o->method != AST_DPMEANS,
         "order is for AST_DP and AST_DPMEANS: the other methods do not depend on the order of the points"},
        {(int)o->merge.by < AST_MERGE_NONE || o->merge.by > AST_MERGE_COUNT,
         "merge must be one of AST_MERGE_NONE to AST_MERGE_COUNT"},
        {merges && o->method != AST_DP && o->method != AST_SPKM,
         "merge, tree and min_size are for AST_DP and AST_SPKM"},
        {o->merge.by == AST_MERGE_ANGLE && !(o->merge.angle >= 0 && o->merge.angle <= 180),
         "merge.angle must be between 0 and 180 degrees"},
        {o->merge.by == AST_MERGE_COUNT && o->merge.count == 0, "merge.count must be at least 1"},
        {o->merge.leaves && !o->merge.tree, "leaves are those of a tree: set tree too"},
        {o->rounding < 0 || o->rounding > 45, "rounding must be between 0 and 45 degrees, or NaN"},
        {!not_negative(o->merge.min_size), "min_size must be a number of at least 0"},
        {!isnan(o->outliers) && !isinf(o->outliers) && !(o->outliers >= 0 && o->outliers <= 1),
         "outliers must be a share from 0 to 1, or infinity"},
        {o->outliers == -INFINITY || (!isnan(o->outliers) && o->resume),
         "outliers must be a share or infinity, and a run with them cannot be resumed"});
}

static const char *method_problem(const ast_options *o) {
    bool by_angle = ast_is_by_angle(o->method),
         any_number = by_angle || o->method == AST_FSD || o->method == AST_CRP || o->mixture.auto_clusters,
         axes = o->method == AST_DP || o->method == AST_SPKM || o->method == AST_MBSPKM || o->method == AST_MOVMF;
    return ast_problem_of(
        {(int)o->method < AST_DP || o->method > AST_MBSPKM, "the method must be one of AST_DP to AST_MBSPKM"},
        {by_angle && isnan(o->angle),
         "the angle is not set: DP-vMF-means and DP-means need one, between 0 and 180 degrees"},
        {by_angle && !(o->angle >= 0 && o->angle <= 180), "the angle must be between 0 and 180 degrees"},
        {!any_number && o->clusters == 0 && o->start.by != AST_GIVEN,
         "the number of clusters is not set: this method needs one, at least 1"},
        {o->axial && !axes, "axial data are for AST_DP, AST_SPKM, AST_MBSPKM and AST_MOVMF"},
        {o->axial && o->center, "axial rows cannot be centred: x and -x would differ"},
        {metric_problem(o) != NULL, metric_problem(o)}, {o->dp.sample && o->method != AST_DP, "a sample is for AST_DP"},
        {o->minibatch.points && o->method != AST_MBSPKM, "batches are for AST_MBSPKM"},
        {o->kmeans.levels < 1 || o->kmeans.levels > 4, "levels must be between 1 and 4"},
        {o->kmeans.levels > 1 && o->method != AST_SPKM, "levels are for AST_SPKM"},
        {o->kmeans.levels > 1 && (o->start.by == AST_GIVEN || o->start.points),
         "levels draw their own starts: start.means and start.points are for one level"},
        {o->start.points && o->method != AST_SPKM && o->method != AST_MBSPKM,
         "start.points is for AST_SPKM and AST_MBSPKM"},
        {o->start.points && o->start.points < o->clusters, "start.points must be at least the number of clusters"});
}

static const char *run_problem(const ast_options *o) {
    bool given = o->start.by == AST_GIVEN;
    bool mixture = o->method == AST_MOVMF || o->method == AST_FSD || o->method == AST_CRP;
    return ast_problem_of(
        {o->groups && o->method != AST_DP && o->method != AST_SPKM, "groups are for AST_DP and AST_SPKM"},
        {o->groups && o->axial, "groups are not for axial points"},
        {o->groups && (o->resume || o->merge.tree || o->dp.sample || o->kmeans.levels > 1),
         "groups are for runs over all points, without resume, tree, sample and levels"},
        {o->groups && o->previous && o->previous->model, "groups are not for runs that go on from a model"},
        {o->previous && mixture, "a previous run is for methods without components"},
        {o->previous && ast_previous_problem(o), ast_previous_problem(o)},
        {o->max_iterations < 1, "max_iterations must be at least 1"}, {o->restarts < 1, "restarts must be at least 1"},
        {o->parallel != AST_ORDERED && o->parallel != AST_OIR && o->parallel != AST_SERIAL,
         "parallel must be AST_ORDERED, AST_OIR or AST_SERIAL"},
        {o->start.by != AST_PLUSPLUS && o->start.by != AST_RANDOM && !given,
         "start must be AST_PLUSPLUS, AST_RANDOM or AST_GIVEN"},
        {given && (!o->start.means || o->start.means_count == 0), "start is AST_GIVEN, but there are no means"},
        {!given && o->start.means, "there are means to start from, but start is not AST_GIVEN"},
        {o->resume && o->method != AST_DP && o->method != AST_SPKM, "resume is for AST_DP and AST_SPKM"},
        {o->resume && o->merge.tree && o->restarts > 1,
         "a checkpoint keeps no trees of runs that are over: resume with tree is for one run"},
        {o->resume && (o->dp.sample || o->start.points || o->kmeans.levels > 1),
         "resume is for runs over all points, without sample, start.points and levels"},
        {o->resume && ast_size_problem(o->resume, sizeof *o->resume),
         "the storage to resume from was not initialised: its size is not set"},
        {o->resume && !ast_size_problem(o->resume, sizeof *o->resume) && !o->resume->read,
         "the storage to resume from needs a function that reads"},
        {!ast_is_by_angle(o->method) && given && o->clusters && o->clusters != o->start.means_count,
         "the number of clusters differs from the number of means to start from"});
}

const char *ast_options_problem(const ast_options *o) {
    static const char *(*const groups[])(const ast_options *) = {method_problem, mixture_problem, sampler_problem,
                                                                 order_and_merge_problem, run_problem};
    const char *problem = ast_size_problem(o, sizeof *o);
    for (size_t i = 0; !problem && i < sizeof groups / sizeof *groups; i++)
        problem = groups[i](o);
    return problem;
}
