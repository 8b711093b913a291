/* SPDX-License-Identifier: MIT
 *
 * Entry points of models: of a result, of arrays, of bytes. */
#include "model.h"

#include "lifted.h"

#include "memory.h"
#include "scorer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is possible -------------------------------------------------------------------------------------------- */

static bool is_mixture(const ast_model_info *m) {
    return m->method == AST_MOVMF || m->method == AST_FSD || m->method == AST_CRP;
}

static bool are_unit(const float *rows, size_t count, size_t dimension) {
    for (size_t k = 0; k < count; k++) {
        double squared = 0;
        for (size_t d = 0; d < dimension; d++)
            squared += (double)rows[k * dimension + d] * (double)rows[k * dimension + d];
        if (!(fabs(squared - 1) < 1e-3))
            return false;
    }
    return true;
}

static bool are_ids(const ast_model_info *m) {
    for (size_t k = 0; m->ids && k < m->clusters; k++)
        if (m->ids[k] < 0 || m->ids[k] >= m->next_id || (k > 0 && m->ids[k] <= m->ids[k - 1]))
            return false;
    return m->ids ? m->next_id > 0 : m->next_id >= 0 && (size_t)m->next_id >= m->clusters;
}

/* Whether all numbers of an array, which may be NULL, are finite and within low..high. */
static bool are_within(const double *numbers, size_t count, double low, double high) {
    for (size_t k = 0; numbers && k < count; k++)
        if (!isfinite(numbers[k]) || numbers[k] < low || numbers[k] > high)
            return false;
    return true;
}

static bool are_cosines(const float *numbers, size_t count) {
    for (size_t k = 0; numbers && k < count; k++)
        if (isnan(numbers[k]))
            return false;
    return true;
}

static bool are_finite(const float *numbers, size_t count) {
    for (size_t k = 0; numbers && k < count; k++)
        if (!isfinite(numbers[k]))
            return false;
    return true;
}

static const char *array_problem(const ast_model_info *m) {
    size_t k = m->clusters;
    return ast_problem_of(
        {!are_unit(m->means, k, m->dimension), "a mean is no unit vector"},
        {!are_ids(m), "the ids do not increase from 0 to below next_id"},
        {m->shares && !m->kappas, "the components have shares, but no kappas"},
        {m->shares &&
             (!are_within(m->shares, k, 0, 1) || !are_within(m->kappas, k, m->axial ? -HUGE_VAL : 0, HUGE_VAL)),
         "a component has an impossible share or kappa"},
        {m->betas && !are_within(m->betas, k, 0, HUGE_VAL), "a component has an impossible beta"},
        {m->axes && !are_unit(m->axes, 2 * k, 3), "an axis of a component is no unit vector"},
        {m->lengths && !are_within(m->lengths, k, 0, 1 + 1e-6), "a mean has an impossible length"},
        {!are_cosines(m->thresholds, k) || !are_cosines(m->fits, k), "a threshold is NaN"},
        {!are_finite(m->center, m->dimension) || !are_finite(m->mapped_center, m->dimension), "a centre is not finite"},
        {m->matrix && !are_finite(m->matrix, m->dimension * m->dimension), "the matrix is not finite"});
}

const char *ast_model_problem(const ast_model_info *m) {
    const char *problem = ast_problem_of(
        {(int)m->method < 0 || (int)m->method >= AST_MODEL_METHODS, "there is no such method"},
        {m->dimension < 2 || m->dimension > INT32_MAX, "the dimension must be between 2 and 2147483647"},
        {m->clusters < 1 || m->clusters > INT32_MAX, "there must be at least one cluster"},
        {!isnan(m->angle) && !(m->angle >= 0 && m->angle <= 180), "the angle must be between 0 and 180 degrees"},
        {!isnan(m->background) && !(m->background >= 0 && m->background <= 1 && m->shares),
         "the background must be a share from 0 to 1, beside those of components"},
        {m->axial && m->center, "axial rows cannot be centred"},
        {!m->matrix != !m->mapped_center || (m->matrix && !m->center), "a metric has a matrix and two centres"},
        {(m->shares && !is_mixture(m)) || (m->lengths && m->method != AST_DPMEANS) ||
             (m->shares && m->axial && m->method != AST_MOVMF) || !m->betas != !m->axes ||
             (m->betas && (!m->shares || m->axial || m->method != AST_MOVMF || m->dimension != 3)),
         "its arrays are not those of its method"},
        {(m->lengths || m->center) && m->dimension > AST_MOST_DIMENSION, "centres have at most 4096 dimensions"},
        {m->shares && m->dimension > AST_MIXTURE_DIMENSION, "components have at most 65536 dimensions"},
        {!m->means, "there are no means"});
    return problem ? problem : array_problem(m);
}

/* ---- The model of a result --------------------------------------------------------------------------------------- */

/* Arrays that a result keeps for its model. */
static ast_status fill(ast_result *last, ast_fault *fault) {
    size_t count = last->report.clusters;
    bool ready = ast_replace_arrays(AST_REQUEST(last->model.counts, count), AST_REQUEST(last->model.kappas, count),
                                    AST_REQUEST(last->model.shares, count), AST_REQUEST(last->model.lengths, count),
                                    AST_REQUEST(last->model.betas, count));
    for (size_t k = 0; ready && k < count; k++) {
        const ast_cluster_info *cluster = &last->clusters[k];
        last->model.counts[k] = cluster->count;
        last->model.kappas[k] = cluster->kappa;
        last->model.shares[k] = cluster->share;
        last->model.lengths[k] = cluster->resultant;
        last->model.betas[k] = cluster->beta;
    }
    return ready ? AST_OK : ast_fail_memory(fault);
}

static ast_status describe_result(ast_context *context, ast_model_info *info) {
    ast_result *last = &context->last;
    ast_fault *fault = &context->fault;
    ast_status status = ast_check_struct(info, sizeof *info, "info", fault);
    if (status == AST_OK && last->report.clusters == 0)
        return ast_fail(fault, AST_BAD_DATA, "there is no model: no cluster was found");
    if (status == AST_OK)
        status = fill(last, fault);
    if (status != AST_OK)
        return status;
    bool kent = last->components.count && last->components.family.kind == AST_FAMILY_KENT;
    *info = (ast_model_info){.size = sizeof *info,
                             .method = last->method,
                             .dimension = last->report.dimension,
                             .clusters = last->report.clusters,
                             .axial = last->axial,
                             .angle = ast_is_by_angle(last->method) ? last->angle : (double)NAN,
                             .background = last->report.background,
                             .next_id = last->lineage.ids ? last->lineage.next_id : (int32_t)last->report.clusters,
                             .ids = last->lineage.ids,
                             .fits = last->fits,
                             .means = last->means,
                             .counts = last->model.counts,
                             .kappas = last->model.kappas,
                             .shares = last->components.count ? last->model.shares : NULL,
                             .lengths = last->method == AST_DPMEANS ? last->model.lengths : NULL,
                             .thresholds = last->thresholds,
                             .betas = kent ? last->model.betas : NULL,
                             .axes = kent ? last->axes : NULL,
                             .center = last->metric.matrix ? last->metric.center : last->center,
                             .matrix = last->metric.matrix,
                             .mapped_center = last->metric.mapped_center};
    return AST_OK;
}

ast_status ast_model_of_result(ast_context *context, ast_model_info *info) {
    return ast_enter(context) ? ast_leave(context, describe_result(context, info)) : AST_BAD_OPTION;
}

/* ---- A model ----------------------------------------------------------------------------------------------------- */

static void free_model(ast_model *model) {
    ast_components_free(&model->components);
    ast_free_all(model->bytes, (void *)model->names, model);
}

/* Of a mixture, and of means within the sphere, whose squared distance is 1 + l^2 - 2 l x.m. */
bool ast_model_make_components(ast_model *model) {
    const ast_model_info *m = &model->info;
    ast_components *c = &model->components;
    if (!m->shares && !m->lengths)
        return true;
    bool vmf = !m->shares || (!m->axial && !m->betas);
    c->family = (ast_family){vmf ? AST_FAMILY_VMF : m->axial ? AST_FAMILY_WATSON : AST_FAMILY_KENT, m->dimension, 0};
    if (!ast_components_open(c, m->clusters, ast_family_features(&c->family)))
        return false;
    for (size_t i = 0; vmf && i < m->clusters * m->dimension; i++)
        c->means[i] = (double)m->means[i];
    for (size_t k = 0; k < m->clusters; k++) {
        c->kappas[k] = m->shares ? m->kappas[k] : m->lengths[k];
        c->weights[k] = m->shares ? m->shares[k] : 0;
    }
    if (!vmf)
        ast_lift_components(m, c);
    if (m->shares && !isnan(m->background)) {
        ast_components_add_background(c, m->background);
        memcpy(c->weights, m->shares, m->clusters * sizeof *c->weights); /* they are shares of everything already */
    }
    if (m->shares)
        ast_components_prepare(c);
    for (size_t k = 0; m->lengths && k < m->clusters; k++)
        c->offsets[k] = -m->lengths[k] * m->lengths[k] / 2;
    return true;
}

static ast_status finish(ast_model **made, ast_model *model, ast_status status) {
    ast_fault *fault = &model->context->fault;
    if (status == AST_OK)
        status = ast_model_read(model, fault);
    if (status == AST_OK && !ast_model_make_components(model))
        status = ast_fail_memory(fault);
    if (status == AST_OK)
        *made = model;
    else
        free_model(model);
    return status;
}

static ast_status make(ast_model **made, ast_context *context, const ast_model_info *info) {
    ast_fault *fault = &context->fault;
    ast_status status = ast_check_struct(info, sizeof *info, "info", fault);
    if (status == AST_OK)
        status = ast_fail_option(ast_model_problem(info), fault);
    ast_model *model = status == AST_OK ? ast_allocate_zero(1, sizeof *model) : NULL;
    if (!model)
        return status == AST_OK ? ast_fail_memory(fault) : status;
    model->context = context;
    return finish(made, model, ast_model_write(info, &model->bytes, &model->size, fault));
}

static ast_status load(ast_model **made, ast_context *context, const void *bytes, size_t size) {
    ast_fault *fault = &context->fault;
    ast_status status = ast_check_pointer(bytes, "bytes", fault);
    ast_model *model = status == AST_OK ? ast_allocate_zero(1, sizeof *model) : NULL;
    if (!model)
        return status == AST_OK ? ast_fail_memory(fault) : status;
    *model = (ast_model){.context = context, .bytes = ast_allocate(size, 1), .size = size};
    if (model->bytes)
        memcpy(model->bytes, bytes, size);
    return finish(made, model, model->bytes ? AST_OK : ast_fail_memory(fault));
}

ast_status ast_model_open(ast_model **model, ast_context *context, const ast_model_info *info) {
    if (model)
        *model = NULL;
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_status status = ast_check_pointer(model, "model", &context->fault);
    return ast_leave(context, status == AST_OK ? make(model, context, info) : status);
}

ast_status ast_model_load(ast_model **model, ast_context *context, const void *bytes, size_t size) {
    if (model)
        *model = NULL;
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_status status = ast_check_pointer(model, "model", &context->fault);
    return ast_leave(context, status == AST_OK ? load(model, context, bytes, size) : status);
}

void ast_model_close(ast_model *model) {
    if (model && !ast_in_callback(model->context, __func__))
        free_model(model);
}

ast_status ast_model_view(const ast_model *model, ast_model_info *info) {
    if (!ast_enter(model ? model->context : NULL))
        return AST_BAD_OPTION;
    ast_status status = ast_check_struct(info, sizeof *info, "info", &model->context->fault);
    if (status == AST_OK)
        *info = model->info;
    return ast_leave(model->context, status);
}

const void *ast_model_save(const ast_model *model, size_t *size) {
    if (!ast_enter(model ? model->context : NULL))
        return NULL;
    ast_status status = ast_check_pointer(size, "size", &model->context->fault);
    if (status == AST_OK)
        *size = model->size;
    return ast_leave(model->context, status) == AST_OK ? model->bytes : NULL;
}
