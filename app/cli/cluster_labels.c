/* SPDX-License-Identifier: MIT
 *
 * The labels of asterism cluster: in memory, distributed over ranks, or out of core. If the input is read in parts,
 * final labels are written as they come; labels that do not fit into memory are kept in a scratch file until then. */
#include "cluster.h"

#include <stdlib.h>

#include "ranks.h"
#include "terminal.h"

typedef ast_cli_cluster_job job;

enum { PART = 1 << 16 }; /* labels that are copied at a time */

/* ---- Read in parts ----------------------------------------------------------------------------------------------- */

/* Final labels, in order. */
static int write_final(size_t first, size_t count, const int32_t *labels, void *data) {
    job *work = data;
    const double *weights = work->points.weights;
    ast_cli_parts *parts = &work->parts;
    for (size_t i = 0; i < count; i++)
        work->total += weights && labels[i] >= 0 ? weights[first + i] : 0;
    ast_output *output = ast_cli_output_of(&work->given->common, "labels");
    if (!output)
        return 0;
    ast_array array = ast_cli_directions_array(&work->directions, labels, NULL);
    parts->failed = !ast_write_array_part(output, array, first, count, &parts->error);
    return parts->failed;
}

static int write_scratch(size_t first, size_t count, const int32_t *labels, void *data) {
    ast_scratch *scratch = &((job *)data)->parts.scratch;
    return ast_scratch_write(scratch, (uint64_t)first * sizeof *labels, labels, count * sizeof *labels);
}

static int read_scratch(size_t first, size_t count, int32_t *labels, void *data) {
    ast_scratch *scratch = &((job *)data)->parts.scratch;
    return ast_scratch_read(scratch, (uint64_t)first * sizeof *labels, labels, count * sizeof *labels);
}

int ast_cli_cluster_store(job *work, ast_label_store *store) {
    ast_format_error error;
    bool whole = work->parts.plan.rows >= work->points.count;
    *store = (ast_label_store){sizeof *store, .write = whole ? write_final : write_scratch,
                               .read = whole ? NULL : read_scratch, .data = work};
    ast_cli_target *target = ast_cli_target_of(&work->given->common, "labels");
    if (target)
        target->writes = AST_CLI_WRITES_OWN; /* not by ast_cli_deliver */
    return ast_cli_outcome(whole || ast_scratch_open(&work->parts.scratch, target ? target->path : NULL, &error),
                           &error);
}

/* The sentence of a call that failed. */
static int explain(const job *work, ast_status status) {
    ast_format_error error;
    const ast_cli_parts *parts = &work->parts;
    if (status == AST_NO_INPUT && parts->failed)
        return ast_cli_target_failed(ast_cli_target_of(&work->given->common, "labels"), &parts->error);
    if (status == AST_NO_INPUT && ast_scratch_failed(&parts->scratch, &error))
        return ast_cli_fail("%s", error.text);
    return ast_cli_directions_status(&work->directions, status, work->context, work->given->input);
}

/* Copies the final labels from the scratch file to the target. */
static int copy_labels(job *work) {
    int32_t *labels = malloc(PART * sizeof *labels);
    int failed = !labels;
    for (size_t first = 0; first < work->points.count && !failed; first += PART) {
        size_t left = work->points.count - first, count = left < PART ? left : PART;
        failed = read_scratch(first, count, labels, work) || write_final(first, count, labels, work);
    }
    free(labels);
    if (!labels)
        return ast_cli_fail("there is no memory to write labels");
    return failed ? explain(work, AST_NO_INPUT) : -1;
}

int ast_cli_cluster_store_status(job *work, ast_status status) {
    int code = explain(work, status);
    return code < 0 && work->directions.in_parts && work->parts.plan.rows < work->points.count ? copy_labels(work)
                                                                                               : code;
}

/* ---- Several ranks ----------------------------------------------------------------------------------------------- */

int ast_cli_cluster_slice(void *data) {
    job *work = data;
    ast_points *points = &work->points;
    const ast_cli_directions *d = &work->directions;
    work->all = d->all;
    if (!ast_cli_ranks())
        return -1;
    if (points->starts)
        return ast_cli_agree(ast_cli_fail("%s has sparse rows, which work on one rank: start it without mpirun",
                                          ast_cli_name(work->given->input)));
    int code = d->joined ? ast_cli_same_rows(d->all, points->dimension, d->rows_hash, work->given->input)
                         : ast_cli_same_points(points, work->given->input);
    if (code >= 0)
        return code;
    if (d->joined) { /* the points are this rank's already */
        work->first = d->first;
        points->weights = points->weights ? points->weights + d->first : NULL;
    } else {
        ast_cli_cut(points, &work->first);
    }
    return ast_cli_agree(ast_cli_status(ast_join(work->context, ast_cli_ranks()), work->context, work->given->input));
}

static double add_weights(double so_far, const void *data) {
    const job *work = data;
    for (size_t i = 0; i < work->points.count; i++)
        so_far += work->labels[i] >= 0 ? work->points.weights[i] : 0;
    return so_far;
}

int ast_cli_cluster_total(void *data) {
    job *work = data;
    if (!work->points.weights)
        work->total = (double)(work->report.points - work->report.missing);
    else if (!work->directions.in_parts) /* otherwise they were added up as they were written */
        work->total = ast_cli_sum_in_turn(add_weights, work);
    return -1;
}

/* The leaves of all ranks, on the first one. */
static int gather_leaves(job *work) {
    const ast_comm *ranks = ast_cli_ranks();
    uint64_t *part = malloc(PART * sizeof *part);
    int32_t *all = ast_cli_is_first_rank() ? malloc((work->all + 1) * sizeof *all) : NULL;
    bool ready = part && (all || !ast_cli_is_first_rank());
    int code = ast_cli_agree(ready ? -1 : ast_cli_fail("there is no memory for %zu leaves", work->all));
    for (size_t first = 0; code < 0 && first < work->all; first += PART) {
        size_t left = work->all - first, count = left < PART ? left : PART;
        for (size_t i = 0; i < count; i++) {
            size_t own = first + i - work->first; /* wraps for rows before this rank's */
            part[i] = own < work->points.count ? (uint64_t)(work->leaves[own] + 1) : 0;
        }
        ranks->sum(ranks->data, part, count);
        for (size_t i = 0; all && i < count; i++)
            all[first + i] = (int32_t)part[i] - 1;
    }
    free(part);
    if (code >= 0 || !all) {
        free(all);
        return code;
    }
    free(work->leaves);
    work->leaves = all;
    return -1;
}

int ast_cli_cluster_rank_leaves(void *data) {
    job *work = data;
    ast_cli_target *target = ast_cli_target_of(&work->given->common, "leaf-labels");
    if (!ast_cli_ranks() || !work->leaves)
        return -1;
    if (!target)
        return gather_leaves(work);
    target->writes = AST_CLI_WRITES_OWN; /* it is written here */
    return ast_cli_write_ranks(target->output, target->path,
                               ast_cli_directions_array(&work->directions, work->leaves, NULL), work->first,
                               work->points.count);
}

int ast_cli_cluster_rank_labels(void *data) {
    job *work = data;
    ast_cli_target *target = ast_cli_target_of(&work->given->common, "labels");
    if (!ast_cli_ranks() || !target)
        return -1;
    target->writes = AST_CLI_WRITES_OWN; /* not by ast_cli_deliver */
    return ast_cli_write_ranks(target->output, target->path,
                               ast_cli_directions_array(&work->directions, work->labels, NULL), work->first,
                               work->points.count);
}
