/* SPDX-License-Identifier: MIT
 *
 * Contexts, views of points, options: everything a caller has before the first call that works. */
#include "tune_call.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 256
#define MOST_KAPPA 1e9

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

const char *ast_version(void) {
    return TEXT(AST_VERSION_MAJOR) "." TEXT(AST_VERSION_MINOR) "." TEXT(AST_VERSION_PATCH);
}

/* Processors that this process may use: fewer than the machine has, in a container. */
static int available_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : count;
}

ast_status ast_open(ast_context **opened, int threads) {
    if (!opened)
        return AST_BAD_OPTION;
    *opened = NULL;
    if (threads < 0 || threads > MAX_THREADS)
        return AST_BAD_OPTION;
    ast_context *context = calloc(1, sizeof *context);
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
    free(context);
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

ast_status ast_open_call(void *handle, size_t size, ast_context *context, const char *problem, const char *function) {
    void **opened = handle;
    if (opened)
        *opened = NULL;
    if (!ast_enter_call(context, function))
        return AST_BAD_OPTION;
    if (problem)
        return ast_leave(context, ast_fail(&context->fault, AST_BAD_OPTION, "%s", problem));
    *opened = calloc(1, size);
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

const void *ast_records(const void *array, size_t length, size_t own, size_t asked, size_t *count) {
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
    size_t most = sparse ? INT32_MAX : AST_MAX_DIMENSION;
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
    return ast_fail(
        fault, AST_BAD_OPTION,
        "%s does not take sparse rows, which are for AST_DP, AST_SPKM, AST_MBSPKM, ast_assign and ast_silhouette by "
        "cosine; give the rows densely",
        what);
}

ast_status ast_check_points(const ast_points *points, ast_fault *fault) {
    ast_status status = ast_check_struct(points, sizeof *points, "points", fault);
    if (status == AST_OK)
        status = check_layout(points, fault);
    if (status != AST_OK)
        return status;
    if (points->count > INT32_MAX)
        return ast_fail(fault, AST_BAD_DATA, "there are %zu points; at most 2147483647 fit one call", points->count);
    if ((unsigned)points->type > AST_B2)
        return ast_fail(fault, AST_BAD_OPTION,
                        "the type of the points is none of AST_F4, AST_F8, AST_F2, AST_I1, AST_U1 and AST_B2");
    return ast_check_weights(points->weights, points->count, fault);
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

static const char *mixture_problem(const ast_options *o) {
    if (!isnan(o->mixture.kappa) && !(o->mixture.kappa >= 0 && o->mixture.kappa <= MOST_KAPPA))
        return "kappa must be between 0 and 1e9, or NaN to estimate it";
    if (!(o->mixture.tolerance >= 0) || isinf(o->mixture.tolerance))
        return "the tolerance must be a number of at least 0";
    if ((o->mixture.auto_clusters || o->mixture.background) && o->method != AST_MOVMF)
        return "auto_clusters and background are for AST_MOVMF";
    if (o->mixture.auto_clusters && o->mixture.hard)
        return "auto_clusters is for soft memberships: hard needs a number of clusters";
    return NULL;
}

static bool positive(double x) {
    return x > 0 && isfinite(x);
}

static const char *sampler_problem(const ast_options *o) {
    if (!positive(o->sampler.concentration))
        return "the concentration must be a number above 0";
    if (!(o->sampler.kappa_median == 0 || positive(o->sampler.kappa_median)))
        return "kappa_median must be a number above 0, or 0 for 10 D";
    if (!(o->sampler.prior_kappa >= 0 && o->sampler.prior_kappa <= MOST_KAPPA))
        return "prior_kappa must be between 0 and 1e9";
    if ((o->sampler.prior_kappa > 0) != (o->sampler.prior_mean != NULL))
        return "prior_kappa and prior_mean go together: both or neither";
    if (o->sampler.burn_in < 0 || o->sampler.sample_every < 0)
        return "burn_in and sample_every must be at least 0";
    if (!positive(o->online.learning_rate) || !positive(o->online.learning_rate_end))
        return "both learning rates must be numbers above 0";
    return NULL;
}

static const char *order_problem(const ast_options *o) {
    if (o->dp.order != AST_ORDER_GIVEN && o->dp.order != AST_ORDER_CONTENT && o->dp.order != AST_ORDER_RANDOM)
        return "order must be AST_ORDER_GIVEN, AST_ORDER_CONTENT or AST_ORDER_RANDOM";
    if (o->dp.order != AST_ORDER_GIVEN && o->method != AST_DP && o->method != AST_DPMEANS)
        return "order is for AST_DP and AST_DPMEANS: the other methods do not depend on the order of the points";
    return NULL;
}

static const char *merge_problem(const ast_options *o) {
    bool merges = o->merge.by != AST_MERGE_NONE || o->merge.tree || o->merge.min_size != 0;
    if ((int)o->merge.by < AST_MERGE_NONE || o->merge.by > AST_MERGE_COUNT)
        return "merge must be one of AST_MERGE_NONE to AST_MERGE_COUNT";
    if (merges && o->method != AST_DP && o->method != AST_SPKM)
        return "merge, tree and min_size are for AST_DP and AST_SPKM";
    if (o->merge.by == AST_MERGE_ANGLE && !(o->merge.angle >= 0 && o->merge.angle <= 180))
        return "merge.angle must be between 0 and 180 degrees";
    if (o->merge.by == AST_MERGE_COUNT && o->merge.count == 0)
        return "merge.count must be at least 1";
    if (o->merge.leaves && !o->merge.tree)
        return "leaves are those of a tree: set tree too";
    if (!(o->merge.min_size >= 0) || isinf(o->merge.min_size))
        return "min_size must be a number of at least 0";
    return NULL;
}

const char *ast_options_problem(const ast_options *o) {
    if (ast_size_problem(o, sizeof *o))
        return ast_size_problem(o, sizeof *o);
    if ((int)o->method < AST_DP || o->method > AST_MBSPKM)
        return "the method must be one of AST_DP to AST_MBSPKM";
    bool by_angle = o->method == AST_DP || o->method == AST_DPMEANS,
         any_number = by_angle || o->method == AST_FSD || o->method == AST_CRP || o->mixture.auto_clusters;
    if (by_angle && isnan(o->angle))
        return "the angle is not set: DP-vMF-means and DP-means need one, between 0 and 180 degrees";
    if (by_angle && !(o->angle >= 0 && o->angle <= 180))
        return "the angle must be between 0 and 180 degrees";
    if (!any_number && o->clusters == 0 && o->start.by != AST_GIVEN)
        return "the number of clusters is not set: this method needs one, at least 1";
    if (o->axial && o->method != AST_DP && o->method != AST_SPKM && o->method != AST_MBSPKM)
        return "axial data are for AST_DP, AST_SPKM and AST_MBSPKM";
    if (o->axial && o->center)
        return "axial rows cannot be centred: x and -x would differ";
    if (o->dp.sample && o->method != AST_DP)
        return "a sample is for AST_DP";
    if (o->minibatch.points && o->method != AST_MBSPKM)
        return "batches are for AST_MBSPKM";
    if (o->start.points && o->method != AST_SPKM && o->method != AST_MBSPKM)
        return "start.points is for AST_SPKM and AST_MBSPKM";
    if (o->start.points && o->start.points < o->clusters)
        return "start.points must be at least the number of clusters";
    const char *problem = mixture_problem(o);
    if (!problem)
        problem = sampler_problem(o);
    if (!problem)
        problem = order_problem(o);
    if (!problem)
        problem = merge_problem(o);
    if (problem)
        return problem;
    if (o->max_iterations < 1)
        return "max_iterations must be at least 1";
    if (o->restarts < 1)
        return "restarts must be at least 1";
    if (o->parallel != AST_ORDERED && o->parallel != AST_OIR && o->parallel != AST_SERIAL)
        return "parallel must be AST_ORDERED, AST_OIR or AST_SERIAL";
    if (o->start.by != AST_PLUSPLUS && o->start.by != AST_RANDOM && o->start.by != AST_GIVEN)
        return "start must be AST_PLUSPLUS, AST_RANDOM or AST_GIVEN";
    if (o->start.by == AST_GIVEN && (!o->start.means || o->start.means_count == 0))
        return "start is AST_GIVEN, but there are no means";
    if (o->start.by != AST_GIVEN && o->start.means)
        return "there are means to start from, but start is not AST_GIVEN";
    if (o->resume && o->method != AST_DP && o->method != AST_SPKM)
        return "resume is for AST_DP and AST_SPKM";
    if (o->resume && o->merge.tree && o->restarts > 1)
        return "a checkpoint keeps no trees of runs that are over: resume with tree is for one run";
    if (o->resume && (o->dp.sample || o->start.points))
        return "resume is for runs over all points, without sample and start.points";
    if (o->resume && ast_size_problem(o->resume, sizeof *o->resume))
        return "the storage to resume from was not initialised: its size is not set";
    if (o->resume && !o->resume->read)
        return "the storage to resume from needs a function that reads";
    if (!by_angle && o->start.by == AST_GIVEN && o->clusters && o->clusters != o->start.means_count)
        return "the number of clusters differs from the number of means to start from";
    return NULL;
}
