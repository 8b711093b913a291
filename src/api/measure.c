/* SPDX-License-Identifier: MIT
 *
 * Entry points of the measures and of sampling: check, call, translate. */
#include "context.h"

#include "rowset.h"
#include "measures.h"
#include "memory.h"
#include "sample_shapes.h"
#include "vmf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ast_status ast_compare(ast_context *context, const int32_t *labels, const int32_t *truth, size_t count,
                       ast_agreement *agreement) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_fault *fault = &context->fault;
    ast_status status = ast_check_struct(agreement, sizeof *agreement, "agreement", fault);
    if (status == AST_OK && count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (status == AST_OK && count > 0)
        status = ast_check_pointer(truth, "truth", fault);
    status = ast_comm_agree(context->comm, status, fault);
    if (status == AST_OK)
        status = ast_agreement_of(fault, context->comm, labels, truth, count, agreement);
    return ast_leave(context, status);
}

/* Ranks must agree on the dimension and the options. */
static ast_status agree_on_options(const ast_context *context, const ast_points *points,
                                   ast_dissimilarity dissimilarity, uint64_t seed, ast_measured *given,
                                   ast_fault *fault) {
    const ast_comm *comm = context->comm;
    uint64_t mine[3] = {points->dimension, (uint64_t)dissimilarity, seed}, first[3], all;
    memcpy(first, mine, sizeof first);
    ast_comm_broadcast(comm, first, sizeof first, 0);
    given->comm = comm;
    given->before = ast_comm_before(comm, points->count, &all);
    given->all = all;
    ast_status status = AST_OK;
    if (memcmp(mine, first, sizeof mine) != 0)
        status = ast_fail(fault, AST_BAD_OPTION, "rank %d differs from rank 0 in the dimension or in an option",
                          ast_comm_rank(comm));
    return ast_comm_agree(comm, status, fault);
}

/* Loads the points. usable (count, padded to AST_LANES) becomes the labels, -1 for rows without a direction. */
static ast_status load_usable(ast_context *context, const ast_points *points, const int32_t *labels, int32_t *usable,
                              ast_rowset *loaded) {
    size_t padded = (points->count + AST_LANES - 1) / AST_LANES * AST_LANES;
    ast_status status = ast_rowset_load(loaded, context->pool, points, padded, usable, &context->fault);
    for (size_t i = 0; i < points->count && status == AST_OK; i++)
        usable[i] = usable[i] == AST_MISSING ? -1 : labels[i];
    return status;
}

static ast_status check_silhouette(const ast_points *points, const int32_t *labels, ast_dissimilarity dissimilarity,
                                   const double *silhouette, ast_fault *fault) {
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (status == AST_OK)
        status = ast_check_pointer(silhouette, "silhouette", fault);
    if (status != AST_OK)
        return status;
    if (dissimilarity != AST_COSINE && dissimilarity != AST_ANGLE && dissimilarity != AST_AXIAL_COSINE &&
        dissimilarity != AST_AXIAL_ANGLE)
        return ast_fail(fault, AST_BAD_OPTION,
                        "the dissimilarity must be AST_COSINE, AST_ANGLE, AST_AXIAL_COSINE or AST_AXIAL_ANGLE");
    return dissimilarity == AST_COSINE ? AST_OK : ast_refuse_sparse(points, "this dissimilarity", fault);
}

static ast_status measure(ast_context *context, const ast_points *points, const int32_t *labels,
                          ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled) {
    ast_fault *fault = &context->fault;
    ast_rowset loaded = {.kernels = context->kernels};
    ast_measured given = {.rows = &loaded};
    ast_status status =
        ast_comm_agree(context->comm, check_silhouette(points, labels, dissimilarity, silhouette, fault), fault);
    if (status == AST_OK && context->comm)
        status = agree_on_options(context, points, dissimilarity, seed, &given, fault);
    if (status != AST_OK)
        return status;
    int32_t *usable = ast_allocate(points->count + AST_LANES, sizeof *usable);
    loaded.offset = given.before;
    status = usable ? load_usable(context, points, labels, usable, &loaded) : ast_fail_memory(fault);
    status = ast_comm_agree(context->comm, status, fault);
    double found = 0;
    size_t used = 0;
    if (status == AST_OK)
        status = ast_silhouette_of(fault, context->pool, &given, usable, dissimilarity, seed, &found, &used);
    if (status == AST_OK)
        status = ast_comm_agree(context->comm, ast_check_cancelled(context), fault);
    if (status == AST_OK) {
        *silhouette = found;
        if (sampled)
            *sampled = used;
    }
    ast_rowset_free(&loaded);
    ast_free(usable);
    return status;
}

ast_status ast_silhouette(ast_context *context, const ast_points *points, const int32_t *labels,
                          ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled) {
    return ast_enter(context)
               ? ast_leave(context, measure(context, points, labels, dissimilarity, seed, silhouette, sampled))
               : AST_BAD_OPTION;
}

static const char *mixture_problem(const ast_mixture *m) {
    if (ast_size_problem(m, sizeof *m))
        return m ? "the mixture was not initialised: its size is not set" : "the mixture is NULL";
    return ast_problem_of(
        {m->points == 0 || m->points > INT32_MAX, "the number of points must be between 1 and 2147483647"},
        {m->dimension < 2 || m->dimension > 4096, "the dimension must be between 2 and 4096"},
        {m->clusters == 0 || m->clusters > INT32_MAX, "the number of clusters must be between 1 and 2147483647"},
        {(unsigned)m->distribution > AST_SMALL_CIRCLE, "there is no such distribution"},
        {!isfinite(m->kappa) || (m->kappa < 0 && m->distribution != AST_WATSON),
         "kappa must be a number from 0 on; only that of Watson distributions may be below 0"},
        {m->distribution == AST_KENT && m->dimension != 3, "Kent distributions have 3 dimensions"},
        {m->distribution == AST_SMALL_CIRCLE && m->dimension < 3, "small circles need at least 3 dimensions"},
        {m->distribution == AST_KENT && !(m->beta >= 0 && m->beta <= m->kappa / 2),
         "beta of Kent distributions must be between 0 and half of kappa"},
        {m->distribution == AST_BINGHAM && !(m->beta >= 0 && m->beta <= m->kappa),
         "beta of Bingham distributions must be between 0 and kappa"},
        {m->distribution == AST_SMALL_CIRCLE && !(m->radius >= 0 && m->radius <= 180),
         "the radius of small circles must be between 0 and 180 degrees"},
        {!(m->separation >= 0 && m->separation <= 180), "the separation must be between 0 and 180 degrees"},
        {(m->axial || ast_distribution_is_axial(m->distribution)) && m->separation > 90,
         "the separation of axes must be between 0 and 90 degrees"},
        {!(m->noise >= 0 && m->noise <= 1), "the share of noise must be between 0 and 1"});
}

typedef struct drawing {
    const ast_mixture *given;
    ast_pool *pool;
} drawing;

/* Calls the caller's progress function, and checks for cancellation. */
static int report_drawn(size_t drawn, void *data) {
    const drawing *d = data;
    int stop = d->given->progress ? d->given->progress(drawn, d->given->progress_data) : 0;
    return stop != 0 || ast_pool_poll(d->pool);
}

ast_status ast_sample_mixture(ast_context *context, const ast_mixture *mixture, float *points, int32_t *labels,
                              float *means) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    const char *problem = points ? mixture_problem(mixture) : "points: the pointer is NULL";
    if (problem)
        return ast_leave(context, ast_fail_option(problem, &context->fault));
    drawing drawn = {mixture, context->pool};
    ast_mixture own = *mixture;
    own.progress = report_drawn;
    own.progress_data = &drawn;
    return ast_leave(context, ast_mixture_draw(&context->fault, &own, points, labels, means));
}
