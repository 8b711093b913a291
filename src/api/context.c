/* SPDX-License-Identifier: MIT
 *
 * Contexts, views of points, options: everything a caller has before the first call that works. */
#include "context.h"

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

ast_context *ast_open(int threads) {
    if (threads < 0 || threads > MAX_THREADS)
        return NULL;
    ast_context *context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->kernels = ast_kernels_choose(getenv("ASTERISM_ISA"));
    const char *crowd = getenv("ASTERISM_CELLS");
    context->crowd = crowd ? (size_t)strtoul(crowd, NULL, 10) : 0;
    context->pool = ast_pool_open(threads == 0 ? available_processors() : threads);
    if (!context->pool) {
        ast_close(context);
        return NULL;
    }
    return context;
}

void ast_close(ast_context *context) {
    if (!context)
        return;
    ast_labelling_free(&context->labelling);
    ast_pool_close(context->pool);
    free(context->clusters);
    free(context->means);
    ast_components_free(&context->components);
    free(context);
}

void ast_begin(ast_context *context) {
    context->fault.status = AST_OK;
    context->fault.message[0] = 0;
}

const char *ast_message(const ast_context *context) {
    return context->fault.message;
}

int ast_threads(const ast_context *context) {
    return ast_pool_threads(context->pool);
}

const char *ast_instruction_set(const ast_context *context) {
    return context->kernels->name;
}

static ast_points dense_view(const void *data, ast_type type, size_t size, size_t count, size_t dimension) {
    return (ast_points){.data = data,
                        .type = type,
                        .count = count,
                        .dimension = dimension,
                        .row_stride = (ptrdiff_t)(dimension * size),
                        .column_stride = (ptrdiff_t)size};
}

ast_points ast_points_f4(const float *data, size_t count, size_t dimension) {
    return dense_view(data, AST_F4, sizeof *data, count, dimension);
}

ast_points ast_points_f8(const double *data, size_t count, size_t dimension) {
    return dense_view(data, AST_F8, sizeof *data, count, dimension);
}

ast_points ast_points_csr(const void *data, ast_type type, const void *starts, const void *columns, ast_index index,
                          size_t count, size_t dimension) {
    return (ast_points){.data = data,
                        .type = type,
                        .count = count,
                        .dimension = dimension,
                        .starts = starts,
                        .columns = columns,
                        .index = index};
}

/* What is particular to the two kinds of views. The entries of sparse rows are looked at when they are loaded. */
static ast_status check_layout(const ast_points *points, ast_fault *fault) {
    bool sparse = points->starts != NULL;
    size_t most = sparse ? INT32_MAX : AST_MAX_DIMENSION;
    if (!sparse && !points->data && points->count > 0)
        return ast_fail(fault, AST_BAD_OPTION, "there are no points: the view or its data is NULL");
    if (points->dimension < 2 || points->dimension > most)
        return ast_fail(fault, AST_BAD_DATA, "the points have dimension %zu; %s have 2 to %zu components",
                        points->dimension, sparse ? "sparse directions" : "directions", most);
    if (sparse && points->index != AST_I4 && points->index != AST_I8)
        return ast_fail(fault, AST_BAD_OPTION, "the index type of the sparse rows is neither AST_I4 nor AST_I8");
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
    if (!points)
        return ast_fail(fault, AST_BAD_OPTION, "there are no points: the view or its data is NULL");
    ast_status status = check_layout(points, fault);
    if (status != AST_OK)
        return status;
    if (points->count > INT32_MAX)
        return ast_fail(fault, AST_BAD_DATA, "there are %zu points; at most 2147483647 fit one call", points->count);
    if (points->type != AST_F4 && points->type != AST_F8 && points->type != AST_F2 && points->type != AST_I1)
        return ast_fail(fault, AST_BAD_OPTION, "the type of the points is none of AST_F4, AST_F8, AST_F2 and AST_I1");
    for (size_t i = 0; points->weights && i < points->count; i++)
        if (!(points->weights[i] >= 0) || isinf(points->weights[i]))
            return ast_fail(fault, AST_BAD_DATA,
                            "weight %zu (counting from 1) is %g; weights must be finite and not negative", i + 1,
                            points->weights[i]);
    return AST_OK;
}

void ast_options_init(ast_options *options) {
    *options = (ast_options){.angle = NAN,
                             .max_iterations = 100,
                             .restarts = 1,
                             .seed = 1,
                             .bounds = 1,
                             .kappa = NAN,
                             .tolerance = 1e-6,
                             .concentration = 1,
                             .learning_rate = 1,
                             .learning_rate_end = 0.01};
}

static const char *mixture_problem(const ast_options *o) {
    if (!isnan(o->kappa) && !(o->kappa >= 0 && o->kappa <= MOST_KAPPA))
        return "kappa must be between 0 and 1e9, or NaN to estimate it";
    if (!(o->tolerance >= 0) || isinf(o->tolerance))
        return "the tolerance must be a number of at least 0";
    return NULL;
}

static bool positive(double x) {
    return x > 0 && isfinite(x);
}

static const char *sampler_problem(const ast_options *o) {
    if (!positive(o->concentration))
        return "the concentration must be a number above 0";
    if (!(o->kappa_median == 0 || positive(o->kappa_median)))
        return "kappa_median must be a number above 0, or 0 for 10 D";
    if (!(o->prior_kappa >= 0 && o->prior_kappa <= MOST_KAPPA))
        return "prior_kappa must be between 0 and 1e9";
    if ((o->prior_kappa > 0) != (o->prior_mean != NULL))
        return "prior_kappa and prior_mean go together: both or neither";
    if (o->shuffle && (o->method == AST_FSD || o->method == AST_CRP))
        return "samplers do not shuffle: shuffle is for AST_DP and AST_DPMEANS";
    if (o->burn_in < 0 || o->sample_every < 0)
        return "burn_in and sample_every must be at least 0";
    if (!positive(o->learning_rate) || !positive(o->learning_rate_end))
        return "both learning rates must be numbers above 0";
    return NULL;
}

const char *ast_options_problem(const ast_options *o) {
    if ((int)o->method < AST_DP || o->method > AST_MBSPKM)
        return "the method must be one of AST_DP to AST_MBSPKM";
    bool by_angle = o->method == AST_DP || o->method == AST_DPMEANS, any_number = by_angle || o->method == AST_CRP;
    if (by_angle && isnan(o->angle))
        return "the angle is not set: DP-vMF-means and DP-means need one, between 0 and 180 degrees";
    if (by_angle && !(o->angle >= 0 && o->angle <= 180))
        return "the angle must be between 0 and 180 degrees";
    if (!any_number && o->clusters == 0 && o->start != AST_GIVEN)
        return "the number of clusters is not set: this method needs one, at least 1";
    if (o->axial && o->method != AST_DP && o->method != AST_SPKM && o->method != AST_MBSPKM)
        return "axial data are for AST_DP, AST_SPKM and AST_MBSPKM";
    if (o->sample && o->method != AST_DP)
        return "a sample is for AST_DP";
    if (o->batch && o->method != AST_MBSPKM)
        return "batches are for AST_MBSPKM";
    if (o->start_points && o->method != AST_SPKM && o->method != AST_MBSPKM)
        return "start_points is for AST_SPKM and AST_MBSPKM";
    if (o->start_points && o->start_points < o->clusters)
        return "start_points must be at least the number of clusters";
    const char *problem = mixture_problem(o);
    if (!problem)
        problem = sampler_problem(o);
    if (problem)
        return problem;
    if (o->max_iterations < 1)
        return "max_iterations must be at least 1";
    if (o->restarts < 1)
        return "restarts must be at least 1";
    if (o->parallel != AST_ORDERED && o->parallel != AST_OIR && o->parallel != AST_SERIAL)
        return "parallel must be AST_ORDERED, AST_OIR or AST_SERIAL";
    if (o->start != AST_PLUSPLUS && o->start != AST_RANDOM && o->start != AST_GIVEN)
        return "start must be AST_PLUSPLUS, AST_RANDOM or AST_GIVEN";
    if (o->start == AST_GIVEN && (!o->means || o->means_count == 0))
        return "start is AST_GIVEN, but there are no means";
    if (o->start != AST_GIVEN && o->means)
        return "there are means to start from, but start is not AST_GIVEN";
    if (o->resume && o->method != AST_DP && o->method != AST_SPKM)
        return "resume is for AST_DP and AST_SPKM";
    if (o->resume && (o->sample || o->start_points))
        return "resume is for runs over all points, without sample and start_points";
    if (o->resume && !o->resume->read)
        return "the medium to resume from needs a function that reads";
    if (!by_angle && o->start == AST_GIVEN && o->clusters && o->clusters != o->means_count)
        return "the number of clusters differs from the number of means to start from";
    return NULL;
}
