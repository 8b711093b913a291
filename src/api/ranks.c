/* SPDX-License-Identifier: MIT
 *
 * A context as one of several ranks. */
#include "asterism_ranks.h"

#include "checksum.h"
#include "context.h"

ast_status ast_join(ast_context *context, const ast_comm *comm) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_status status = comm ? ast_check_struct(comm, sizeof *comm, "comm", &context->fault) : AST_OK;
    if (status == AST_OK && comm &&
        (comm->ranks < 1 || comm->rank < 0 || comm->rank >= comm->ranks || !comm->sum || !comm->broadcast))
        status = ast_fail(&context->fault, AST_BAD_OPTION,
                          "rank must be between 0 and ranks - 1, and both functions must be set");
    if (status == AST_OK) {
        context->comm = comm && comm->ranks > 1 ? comm : NULL;
        ast_labelling_clear(context->labelling); /* its memory must not differ from rank to rank */
    }
    return ast_leave(context, status);
}

/* What several ranks cannot do. */
static ast_status check_method(const ast_options *o, ast_fault *fault) {
    const char *problem = ast_problem_of(
        {o->method != AST_DP && o->method != AST_SPKM,
         "several ranks work on AST_DP and AST_SPKM; other methods need one"},
        {o->parallel != AST_ORDERED, "several ranks run ordered passes: parallel must be AST_ORDERED"},
        {o->dp.sample || o->start.points, "several ranks look at all points: sample and start.points need one"},
        {o->kmeans.levels > 1, "levels need one rank"},
        {o->dp.order != AST_ORDER_GIVEN || (o->method == AST_DP && o->restarts > 1),
         "several ranks visit the points as given: other orders and restarts of AST_DP need one"});
    return ast_fail_option(problem, fault);
}

/* A checksum of everything that the ranks must agree on. */
static uint64_t options_checksum(const ast_points *points, const ast_options *o) {
    const uint64_t all[] = {points->dimension,
                            points->weights != NULL,
                            o->resume != NULL,
                            o->method,
                            o->clusters,
                            (uint64_t)o->max_iterations,
                            (uint64_t)o->restarts,
                            o->seed,
                            (uint64_t)o->axial,
                            o->start.by,
                            o->start.means_count,
                            (uint64_t)o->center,
                            o->representatives,
                            o->metric,
                            o->map != NULL,
                            o->merge.by,
                            o->merge.count,
                            (uint64_t)o->merge.tree,
                            (uint64_t)o->merge.any_angle};
    const double numbers[] = {o->angle, o->merge.angle, o->merge.min_size, o->rounding};
    uint64_t sum = ast_checksum_add(ast_checksum(all, sizeof all), numbers, sizeof numbers);
    return o->start.means ? ast_checksum_add(sum, o->start.means,
                                             o->start.means_count * points->dimension * sizeof *o->start.means)
                          : sum;
}

ast_status ast_ranks_agree(ast_context *context, const ast_points *points, const ast_options *options,
                           ast_status status, size_t *offset, size_t *total) {
    const ast_comm *comm = context->comm;
    ast_fault *fault = &context->fault;
    if (status == AST_OK)
        status = check_method(options, fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, "a run on several ranks", fault);
    status = ast_comm_agree(comm, status, fault);
    if (status != AST_OK)
        return status;
    uint64_t all, mine = options_checksum(points, options), first = mine;
    *offset = ast_comm_before(comm, points->count, &all);
    *total = all;
    ast_comm_broadcast(comm, &first, sizeof first, 0);
    if (first != mine)
        status =
            ast_fail(fault, AST_BAD_OPTION,
                     "rank %d differs from rank 0 in the dimension, in having weights or in an option", comm->rank);
    else if (all > INT32_MAX)
        status = ast_fail(fault, AST_BAD_DATA, "there are %zu points; at most 2147483647 fit one call", (size_t)all);
    return ast_comm_agree(comm, status, fault);
}
