/* SPDX-License-Identifier: MIT
 *
 * ast_neighbours: gathers the rows that have a direction, searches them, and returns the numbers of the caller's rows.
 */
#include "context.h"
#include "memory.h"
#include "neighbours.h"
#include "rowset.h"

#include <math.h>
#include <stdlib.h>

/* The rows with a direction. */
typedef struct gathered {
    const ast_points *points;
    size_t count;
    uint32_t *numbers; /* (count) of the caller's rows */
    float *rows;       /* (count, D) */
} gathered;

static ast_status gather(gathered *g, ast_pool *pool, ast_fault *fault) {
    const ast_points *p = g->points;
    g->numbers = ast_allocate(p->count, sizeof *g->numbers);
    g->rows = ast_allocate(p->count * p->dimension, sizeof *g->rows);
    if (!g->numbers || !g->rows)
        return ast_fail_memory(fault);
    for (size_t i = 0; i < p->count; i++) {
        ast_row_kind kind = ast_read_row(p, i, g->rows + g->count * p->dimension);
        if (kind == AST_ROW_INFINITE)
            return ast_fail_infinite(fault, i + 1);
        if (kind != AST_ROW_MISSING)
            g->numbers[g->count++] = (uint32_t)i;
        if (i % 4096 == 0 && ast_pool_poll(pool))
            return ast_fail_cancelled(fault);
    }
    return AST_OK;
}

static void hand_over(const gathered *g, size_t each, const uint32_t *found, const double *scores, size_t k,
                      int32_t *neighbours, double *cosines) {
    for (size_t i = 0; i < g->points->count * k; i++) {
        neighbours[i] = -1;
        cosines[i] = NAN;
    }
    for (size_t i = 0; i < g->count; i++)
        for (size_t n = 0; n < each; n++) {
            neighbours[g->numbers[i] * k + n] = (int32_t)g->numbers[found[i * each + n]];
            cosines[g->numbers[i] * k + n] = scores[i * each + n];
        }
}

static ast_status search(ast_context *context, gathered *g, size_t k, int32_t *neighbours, double *cosines) {
    size_t each = g->count > k ? k : g->count > 0 ? g->count - 1 : 0;
    uint32_t *found = ast_allocate(g->count * each, sizeof *found);
    double *scores = ast_allocate(g->count * each, sizeof *scores);
    ast_status status = found && scores ? AST_OK : ast_fail_memory(&context->fault);
    const ast_neighbour_search given = {.kernels = context->kernels,
                                        .pool = context->pool,
                                        .rows = g->rows,
                                        .count = g->count,
                                        .dimension = g->points->dimension,
                                        .each = each};
    if (status == AST_OK && each)
        status = ast_nearest_rows(&given, found, scores, &context->fault);
    if (status == AST_OK)
        hand_over(g, each, found, scores, k, neighbours, cosines);
    ast_free(found);
    ast_free(scores);
    return status;
}

static ast_status neighbours_of(ast_context *context, const ast_points *points, size_t k, int32_t *neighbours,
                                double *cosines) {
    ast_fault *fault = &context->fault;
    gathered g = {.points = points};
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, "a search for neighbours", fault);
    if (status == AST_OK && k == 0)
        status = ast_fail(fault, AST_BAD_OPTION, "the number of neighbours must be at least 1");
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(neighbours, "neighbours", fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(cosines, "cosines", fault);
    if (status == AST_OK)
        status = gather(&g, context->pool, fault);
    if (status == AST_OK)
        status = search(context, &g, k, neighbours, cosines);
    ast_free(g.numbers);
    ast_free(g.rows);
    return status;
}

ast_status ast_neighbours(ast_context *context, const ast_points *points, size_t k, int32_t *neighbours,
                          double *cosines) {
    return ast_enter(context) ? ast_leave(context, neighbours_of(context, points, k, neighbours, cosines))
                              : AST_BAD_OPTION;
}
