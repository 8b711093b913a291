/* SPDX-License-Identifier: MIT
 *
 * asterism cluster on an input that is larger than memory: the same run, read in parts. Labels go into their file when
 * they are known; where they have no room in memory they are kept in a file without a name until then. */
#include "cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "interrupt.h"
#include "ranks.h"
#include "terminal.h"

typedef ast_cli_cluster_settings settings;
typedef ast_cli_cluster_job job;

enum { PART = 1 << 16 }; /* labels that are copied at a time */

/* ---- Labels ------------------------------------------------------------------------------------------------------ */

/* Labels that are what they will be, in order. */
static int write_direct(size_t first, size_t count, const int32_t *labels, void *data) {
    job *work = data;
    const double *weights = work->points.weights;
    ast_cli_parts *parts = &work->parts;
    for (size_t i = 0; i < count; i++)
        work->total += weights && labels[i] >= 0 ? weights[first + i] : 0;
    ast_output *output = work->targets[AST_CLI_LABELS].output;
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

/* The sentence of a call that failed. */
static int explain(job *work, ast_status status) {
    ast_format_error error;
    const ast_cli_parts *parts = &work->parts;
    if (status == AST_NO_INPUT && parts->failed)
        return ast_cli_target_failed(&work->targets[AST_CLI_LABELS], &parts->error);
    if (status == AST_NO_INPUT && ast_scratch_failed(&parts->scratch, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    return ast_cli_directions_status(&work->directions, status, work->context, work->given->input);
}

/* From the file without a name to where they belong. */
static int copy_labels(job *work) {
    int32_t *labels = malloc(PART * sizeof *labels);
    int failed = !labels;
    for (size_t first = 0; first < work->points.count && !failed; first += PART) {
        size_t left = work->points.count - first, count = left < PART ? left : PART;
        failed = read_scratch(first, count, labels, work) || write_direct(first, count, labels, work);
    }
    free(labels);
    if (!labels)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory to write labels");
    return failed ? explain(work, AST_NO_INPUT) : -1;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static void announce(const job *work) {
    const ast_plan *plan = &work->parts.plan;
    char text[4][AST_CLI_BYTES];
    if (work->given->common.quiet)
        return;
    fprintf(stderr, "%s is read in parts: memory budget %s, at most %s is used; a pass reads %s", work->given->input,
            ast_cli_bytes((double)work->directions.allowed, text[0]), ast_cli_bytes((double)plan->memory, text[1]),
            ast_cli_bytes((double)plan->pass_bytes, text[2]));
    if (plan->label_bytes)
        fprintf(stderr, ", and reads and writes %s of labels", ast_cli_bytes((double)plan->label_bytes, text[3]));
    fprintf(stderr, "%s\n", plan->bounds ? " at most" : "");
}

/* Weights are in memory before the plan is made. */
int ast_cli_larger_plan(job *work) {
    ast_cli_parts *parts = &work->parts;
    ast_source *source = &work->directions.input.source;
    size_t held = work->weights ? work->points.count * sizeof *work->weights : 0, allowed = work->directions.allowed;
    char text[2][AST_CLI_BYTES];
    source->weights = work->points.weights;
    parts->memory = allowed > held ? allowed - held : 0;
    parts->plan.size = sizeof parts->plan;
    ast_status status = ast_plan_source(work->context, source, &work->options, parts->memory, &parts->plan);
    if (status == AST_NO_MEMORY)
        return ast_cli_fail(AST_CLI_FAILED, "%s needs at least %s of memory, and the budget is %s", work->given->input,
                            ast_cli_bytes((double)(parts->plan.least + held), text[0]),
                            ast_cli_bytes((double)allowed, text[1]));
    parts->plan.memory += held;
    return ast_cli_status(status, work->context, work->given->input);
}

int ast_cli_larger_check(const job *work) {
    char text[AST_CLI_BYTES];
    const char *what = ast_cli_blocked(&work->given->common, AST_CLI_IN_PARTS);
    if (!what && isinf(work->given->options.angle))
        what = "--angle auto";
    if (!what)
        return -1;
    ast_cli_bytes((double)work->directions.allowed, text);
    return ast_cli_fail(AST_CLI_FAILED,
                        "%s does not fit into the memory budget of %s, and %s needs all of it in memory; cluster some "
                        "of the rows and label the file with assign",
                        work->given->input, text, what);
}

int ast_cli_larger_run(job *work) {
    ast_cli_parts *parts = &work->parts;
    bool whole = parts->plan.rows >= work->points.count;
    ast_format_error error;
    announce(work);
    if (!whole && !ast_scratch_open(&parts->scratch, work->given->labels, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    work->report.size = sizeof work->report;
    ast_label_store store = {sizeof store, .write = whole ? write_direct : write_scratch,
                             .read = whole ? NULL : read_scratch, .data = work};
    work->targets[AST_CLI_LABELS].own = true; /* it is written here */
    ast_status status = ast_cluster_source(work->context, &work->directions.input.source, &work->options, parts->memory,
                                           &store, &work->report);
    ast_cli_progress_end(&work->progress);
    if (work->record.failed)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory to keep the trace");
    if (status == AST_OK && ast_cli_interrupted())
        status = AST_CANCELLED;
    if (status == AST_OK && work->report.missing == work->report.points)
        return ast_cli_cluster_nothing(work->given);
    int code = explain(work, status);
    if (code < 0 && !whole)
        code = copy_labels(work);
    if (!work->points.weights)
        work->total = (double)(work->report.points - work->report.missing);
    return code;
}
