/* SPDX-License-Identifier: MIT
 *
 * ast_memberships: points against the components of the last result. Only the caller's array is N x K. */
#include "center.h"

#include <math.h>

typedef struct belonging {
    ast_tiles tiles;
    const ast_components *components;
    float *memberships;  /* (N, K) or NULL */
    double *log_density; /* (N) or NULL */
} belonging;

static void write_point(const belonging *b, const ast_tile_memory *m, size_t i, size_t at, bool missing) {
    size_t count = b->components->count, n = b->tiles.tile;
    for (size_t k = 0; b->memberships && k < count; k++)
        b->memberships[i * count + k] = missing ? NAN : (float)m->logits[k * n + at];
    if (b->log_density)
        b->log_density[i] = missing ? NAN : m->most[at] + log(m->total[at]);
}

static void belong_chunk(void *data, size_t chunk, int worker) {
    const belonging *b = data;
    const ast_labelling_view v = ast_view_of(b->tiles.labelling);
    ast_tile_memory *memory = &b->tiles.memory[worker];
    size_t first = chunk * v.rows->chunk, last = first + v.rows->chunk, n = b->tiles.tile;
    last = last < v.rows->count ? last : v.rows->count;
    for (size_t i = first; i < last; i += n) {
        ast_tile tile = ast_tile_at(&b->tiles, i, memory);
        ast_tile_logits(&b->tiles, &tile, b->components, memory);
        b->tiles.kernels->normalise(memory->logits, ast_components_all(b->components), n, memory->most, memory->total);
        for (size_t at = 0; at < n && i + at < last; at++)
            write_point(b, memory, i + at, at, v.labels[i + at] == AST_MISSING);
    }
}

static ast_status check(const ast_context *context, const ast_points *points, ast_fault *fault) {
    const ast_components *components = &context->last.components;
    if (components->count == 0)
        return ast_fail(fault, AST_BAD_OPTION, "there are no components: memberships need the result of a mixture");
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, "ast_memberships", fault);
    if (status == AST_OK && points->dimension != components->dimension)
        return ast_fail(fault, AST_BAD_DATA, "the points have dimension %zu, but the components %zu", points->dimension,
                        components->dimension);
    return status;
}

static ast_status belong(ast_context *context, const ast_points *points, float *memberships, double *log_density) {
    ast_fault *fault = &context->fault;
    ast_status status = check(context, points, fault);
    if (status != AST_OK)
        return status;
    ast_centred centred = {0};
    const float *center = context->last.center;
    if (center)
        status = ast_subtract_points(context, points, center, &centred);
    ast_labelling *l = context->labelling;
    ast_labelling_input input = {
        .kernels = context->kernels, .pool = context->pool, .points = center ? &centred.points : points};
    belonging b = {.components = &context->last.components, .memberships = memberships, .log_density = log_density};
    if (status == AST_OK)
        status = ast_labelling_load(l, &input, fault);
    if (status == AST_OK && !ast_tiles_open(&b.tiles, l, ast_components_all(b.components), false))
        status = ast_fail_memory(fault);
    if (status == AST_OK)
        status = ast_pool_run_cancellable(context->pool, ast_view_of(l).rows->chunks, belong_chunk, &b)
                     ? AST_OK
                     : ast_check_cancelled(context);
    else
        ast_labelling_clear(l);
    ast_tiles_free(&b.tiles);
    ast_centred_free(&centred);
    return status;
}

ast_status ast_memberships(ast_context *context, const ast_points *points, float *memberships, double *log_density) {
    return ast_enter(context) ? ast_leave(context, belong(context, points, memberships, log_density)) : AST_BAD_OPTION;
}
