/* SPDX-License-Identifier: MIT
 *
 * Starts of spherical k-means, drawn in parts. Each part keeps its rows with the smallest hashes: these contain the
 * rows with the smallest hashes of all points. */
#include "tally.h"

#include "seeds.h"

#include <string.h>

static ast_status check(const ast_points *points, size_t count, const float *drawn, const size_t *found,
                        ast_fault *fault) {
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK)
        status = ast_check_pointer(drawn, "drawn", fault);
    if (status == AST_OK)
        status = ast_check_pointer(found, "found", fault);
    if (status == AST_OK && points->weights)
        status =
            ast_fail(fault, AST_BAD_OPTION, "all rows are equally likely to be drawn: the points must have no weights");
    if (status == AST_OK && (count == 0 || count > INT32_MAX))
        status = ast_fail(fault, AST_BAD_OPTION, "count is %zu; 1 to 2147483647 rows can be drawn", count);
    return status;
}

/* Where rows are used again, because there are no more different ones, the first one comes again. */
static size_t count_different(const ast_cluster_list *c) {
    size_t bytes = c->dimension * sizeof *c->means, different = 1;
    while (different < c->live && memcmp(c->means, c->means + different * c->dimension, bytes) != 0)
        different++;
    return different;
}

static ast_status draw(ast_context *context, const ast_points *points, size_t count, uint64_t seed, int axial,
                       float *drawn, size_t *found) {
    ast_labelling *l = context->labelling;
    ast_labelling_input input = ast_resident_input(context, points, axial != 0);
    ast_status status = ast_labelling_load(l, &input, &context->fault);
    *found = 0;
    if (status != AST_OK || ast_view_of(l).present == 0)
        return status;
    ast_random random;
    ast_random_seed(&random, seed, 0);
    status = ast_seed_random(l, count, &random, &context->fault);
    if (status != AST_OK)
        return status;
    const ast_cluster_list *starts = ast_view_of(l).clusters;
    *found = count_different(starts);
    memcpy(drawn, starts->means, *found * points->dimension * sizeof *drawn);
    return AST_OK;
}

ast_status ast_tally_draw(ast_context *context, const ast_points *points, size_t count, uint64_t seed, int axial,
                          float *drawn, size_t *found) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_status status = check(points, count, drawn, found, &context->fault);
    if (status == AST_OK)
        status = draw(context, points, count, seed, axial, drawn, found);
    if (status != AST_OK)
        ast_labelling_clear(context->labelling);
    return ast_leave(context, status);
}
