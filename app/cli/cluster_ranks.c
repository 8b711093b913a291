/* SPDX-License-Identifier: MIT
 *
 * asterism cluster on several ranks: what it cannot do there, and each rank's part of the points and of the labels. */
#include "cluster.h"

#include "cli.h"
#include "ranks.h"
#include "terminal.h"

typedef ast_cli_cluster_job job;

int ast_cli_cluster_slice(job *work) {
    ast_points *points = &work->points;
    const ast_cli_directions *d = &work->directions;
    work->all = d->all;
    if (!ast_cli_ranks())
        return -1;
    if (points->starts)
        return ast_cli_fail(AST_CLI_FAILED, "%s has sparse rows, which work on one rank: start it without mpirun",
                            ast_cli_name(work->given->input));
    int code = d->joined ? ast_cli_same_rows(d->all, points->dimension, d->look, work->given->input)
                         : ast_cli_same_points(points, work->given->input);
    if (code >= 0)
        return code;
    if (d->joined) { /* the points are this rank's already */
        work->first = d->first;
        points->weights = points->weights ? points->weights + d->first : NULL;
    } else {
        ast_cli_cut(points, &work->first);
    }
    return ast_cli_status(ast_join(work->context, ast_cli_ranks()), work->context, work->given->input);
}

static double add_weights(double so_far, const void *data) {
    const job *work = data;
    for (size_t i = 0; i < work->points.count; i++)
        so_far += work->labels[i] >= 0 ? work->points.weights[i] : 0;
    return so_far;
}

double ast_cli_cluster_total(const job *work) {
    if (work->directions.in_parts) /* they were added up as they were written */
        return work->total;
    if (!work->points.weights)
        return (double)(work->report.points - work->report.missing);
    return ast_cli_sum_in_turn(add_weights, work);
}

int ast_cli_cluster_labels(job *work) {
    ast_cli_target *target = &work->targets[AST_CLI_LABELS];
    if (!ast_cli_ranks() || !target->path)
        return -1;
    target->own = true; /* it is written here */
    return ast_cli_write_ranks(target->output, target->path,
                               ast_cli_directions_array(&work->directions, work->labels, NULL), work->first,
                               work->points.count);
}
