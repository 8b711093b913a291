/* SPDX-License-Identifier: MIT
 *
 * ast_memberships: points against the components of the last result. Only the caller's array is N x K. */
#include "lifted.h"
#include "metric.h"

#include <math.h>

typedef struct membership_job {
    ast_tiles tiles;
    const ast_components *components;
    float *memberships;  /* (N, K) or NULL */
    double *log_density; /* (N) or NULL */
} membership_job;

static void write_point(const membership_job *b, const ast_tile_memory *m, size_t i, size_t at, bool missing) {
    size_t count = b->components->count, n = b->tiles.tile;
    for (size_t k = 0; b->memberships && k < count; k++)
        b->memberships[i * count + k] = missing ? NAN : (float)m->logits[k * n + at];
    if (b->log_density)
        b->log_density[i] = missing ? NAN : m->most[at] + log(m->total[at]);
}

static void write_tile(void *data, ast_tile_memory *memory, size_t chunk, size_t first) {
    const membership_job *b = data;
    const ast_labelling_view *v = &b->tiles.v;
    (void)chunk;
    ast_tile_memberships(&b->tiles, first, b->components, memory);
    for (size_t at = 0; at < b->tiles.tile && first + at < v->rows->count; at++)
        write_point(b, memory, first + at, at, v->labels[first + at] == AST_MISSING);
}

static ast_status check(const ast_context *context, const ast_points *points, ast_fault *fault) {
    const ast_components *components = &context->last.components;
    if (components->count == 0)
        return ast_fail(fault, AST_BAD_OPTION, "there are no components: memberships need the result of a mixture");
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK && (context->last.center || !ast_components_are_vmf(components)))
        status = ast_refuse_sparse(points, "a mixture of centred or mapped rows, or of axes,", fault);
    size_t dimension = ast_components_are_vmf(components) ? components->dimension : components->family.dimension;
    if (status == AST_OK && points->dimension != dimension)
        return ast_fail(fault, AST_BAD_DATA, "the points have dimension %zu, but the components %zu", points->dimension,
                        dimension);
    return status;
}

static ast_status find_memberships(ast_context *context, const ast_points *points, float *memberships,
                                   double *log_density) {
    ast_fault *fault = &context->fault;
    ast_status status = check(context, points, fault);
    if (status != AST_OK)
        return status;
    ast_transformed_rows centred = {0};
    const float *center = context->last.center;
    bool mapped = context->last.metric.matrix != NULL;
    if (mapped)
        status = ast_map_points(context, points, &context->last.metric.map, &centred);
    else if (center)
        status = ast_subtract_points(context, points, center, &centred);
    if (status == AST_OK && !ast_components_are_vmf(&context->last.components)) {
        const ast_points rows = centred.rows ? centred.points : *points;
        status = ast_lift_points(context, &rows, &context->last.components.family, &centred);
    }
    ast_labelling *l = context->labelling;
    ast_labelling_input input = {
        .kernels = context->kernels, .pool = context->pool, .points = centred.rows ? &centred.points : points};
    membership_job b = {
        .components = &context->last.components, .memberships = memberships, .log_density = log_density};
    if (status == AST_OK)
        status = ast_labelling_load(l, &input, fault);
    if (status == AST_OK && !ast_tiles_open(&b.tiles, l, ast_components_all(b.components), false))
        status = ast_fail_memory(fault);
    if (status != AST_OK)
        ast_labelling_clear(l);
    else if (!ast_tiles_each(&b.tiles, write_tile, &b))
        status = ast_fail_cancelled(fault);
    ast_tiles_free(&b.tiles);
    ast_transformed_rows_free(&centred);
    return status;
}

ast_status ast_memberships(ast_context *context, const ast_points *points, float *memberships, double *log_density) {
    return ast_enter(context) ? ast_leave(context, find_memberships(context, points, memberships, log_density))
                              : AST_BAD_OPTION;
}
