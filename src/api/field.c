/* SPDX-License-Identifier: MIT
 *
 * Entry points of asterism_field.h: check, load, call. The words of field notebooks need no context
 * (src/sphere/field_words.c). */
#include "context.h"

#include "memory.h"
#include "orientation.h"
#include "rowset.h"

#include <math.h>
#include <stdlib.h>

/* Directions of a view, and memory that belongs to them. */
typedef struct loaded {
    ast_directions of;
    double *weights;
} loaded;

static void free_loaded(loaded *d) {
    ast_free_all(d->of.at, d->weights);
}

static ast_status check(const ast_points *points, const char *what, ast_fault *fault) {
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, what, fault);
    if (status == AST_OK && points->dimension != 3)
        status = ast_fail(fault, AST_BAD_OPTION, "%s needs directions in three dimensions, not %zu", what,
                          points->dimension);
    return status == AST_OK && points->weights ? ast_check_weights(points->weights, points->count, fault) : status;
}

/* Unit vectors in double, without missing rows and those of weight 0. */
static bool copy_rows(loaded *d, const ast_points *points, const ast_rowset *rows, const int32_t *labels) {
    d->of.at = ast_allocate(points->count, sizeof *d->of.at);
    d->weights = ast_allocate(points->count, sizeof *d->weights);
    if (!d->of.at || !d->weights)
        return false;
    for (size_t i = 0; i < points->count; i++) {
        double weight = points->weights ? points->weights[i] : 1, *x = d->of.at[d->of.count], square = 0;
        if (labels[i] == AST_MISSING || weight == 0)
            continue;
        for (int c = 0; c < 3; c++) {
            x[c] = (double)rows->column[c][i];
            square += x[c] * x[c];
        }
        for (int c = 0; c < 3; c++)
            x[c] /= sqrt(square);
        d->weights[d->of.count++] = weight;
    }
    d->of.weights = points->weights ? d->weights : NULL;
    return true;
}

static ast_status load(ast_context *context, const ast_points *points, loaded *d) {
    ast_fault *fault = &context->fault;
    size_t padded = (points->count + AST_LANES - 1) / AST_LANES * AST_LANES;
    ast_rowset rows = {.kernels = context->kernels};
    ast_points view = *points;
    view.weights = NULL; /* scaled ones would lose digits */
    *d = (loaded){{0}, NULL};
    int32_t *labels = ast_allocate(padded + AST_LANES, sizeof *labels);
    ast_status status =
        labels ? ast_rowset_load(&rows, context->pool, &view, padded, labels, fault) : ast_fail_memory(fault);
    if (status == AST_OK)
        ast_rowset_fill(&rows, context->pool);
    if (status == AST_OK && !copy_rows(d, points, &rows, labels))
        status = ast_fail_memory(fault);
    ast_rowset_free(&rows);
    ast_free(labels);
    return status;
}

ast_status ast_orientation_of(ast_context *context, const ast_points *points, int axial, ast_orientation *orientation) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_fault *fault = &context->fault;
    loaded d = {{0}, NULL};
    ast_status status = ast_check_struct(orientation, sizeof *orientation, "orientation", fault);
    if (status == AST_OK)
        status = check(points, "the orientation tensor", fault);
    if (status == AST_OK)
        status = load(context, points, &d);
    if (status == AST_OK)
        ast_orientation_find(&d.of, axial, orientation);
    free_loaded(&d);
    return ast_leave(context, status);
}

/* ---- Common means ------------------------------------------------------------------------------------------------ */

static ast_status check_options(const ast_common_mean_options *o, size_t count, ast_fault *fault) {
    ast_status status = ast_check_struct(o, sizeof *o, "options", fault);
    if (status == AST_OK && count < 2)
        status = ast_fail(fault, AST_BAD_OPTION, "a comparison needs at least two sets, not %zu", count);
    if (status == AST_OK && (o->simulations < 100 || o->simulations > 1000000))
        status = ast_fail(fault, AST_BAD_OPTION, "the number of simulations must be between 100 and 1000000, not %d",
                          o->simulations);
    return status;
}

/* Rows are counted in each set. */
static ast_status fail_in_set(ast_fault *fault, size_t set) {
    char message[sizeof fault->message];
    size_t row = fault->row;
    memcpy(message, fault->message, sizeof message);
    ast_status status = ast_fail(fault, AST_BAD_DATA, "set %zu (counting from 1): %.400s", set, message);
    fault->row = row;
    return status;
}

static ast_status load_sets(ast_context *context, const ast_points *sets, size_t count, loaded *all) {
    ast_fault *fault = &context->fault;
    ast_status status = AST_OK;
    for (size_t s = 0; s < count && status == AST_OK; s++) {
        status = check(&sets[s], "a comparison of sets", fault);
        if (status == AST_OK && sets[s].weights)
            status = ast_fail(fault, AST_BAD_OPTION, "a comparison of sets takes no weights");
        if (status == AST_OK)
            status = load(context, &sets[s], &all[s]);
        if (status == AST_BAD_DATA && fault->row)
            status = fail_in_set(fault, s + 1);
        if (status == AST_OK && all[s].of.count < 2)
            status = ast_fail(fault, AST_BAD_DATA, "set %zu (counting from 1) has %zu direction%s, and 2 are needed",
                              s + 1, all[s].of.count, all[s].of.count == 1 ? "" : "s");
    }
    return status;
}

static ast_status compare(ast_context *context, const ast_points *sets, size_t count,
                          const ast_common_mean_options *options, ast_set_mean *each, ast_common_mean *result) {
    loaded *all = ast_allocate_zero(count, sizeof *all);
    ast_directions *of = ast_allocate(count, sizeof *of);
    ast_status status = all && of ? load_sets(context, sets, count, all) : ast_fail_memory(&context->fault);
    ast_common_mean found = {.size = result->size};
    for (size_t s = 0; s < count && status == AST_OK; s++)
        of[s] = all[s].of;
    if (status == AST_OK)
        status = ast_common_mean_find(context->pool, of, count, options, each, &found, &context->fault);
    if (status == AST_OK)
        *result = found;
    for (size_t s = 0; all && s < count; s++)
        free_loaded(&all[s]);
    ast_free_all(all, of);
    return status;
}

ast_status ast_common_mean_of(ast_context *context, const ast_points *sets, size_t count,
                              const ast_common_mean_options *options, ast_set_mean *each, ast_common_mean *result) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_fault *fault = &context->fault;
    ast_status status = check_options(options, count, fault);
    if (status == AST_OK)
        status = ast_check_pointer(sets, "sets", fault);
    if (status == AST_OK)
        status = ast_check_struct(result, sizeof *result, "result", fault);
    if (status == AST_OK)
        status = compare(context, sets, count, options, each, result);
    return ast_leave(context, status);
}
