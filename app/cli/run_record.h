/* SPDX-License-Identifier: MIT
 *
 * What a run of cluster leaves behind besides labels and means: samples, and the trace of the passes. */
#pragma once

#include "progress.h"
#include "targets.h"

/* What a run leaves behind, pass by pass. Zeroed at first. */
typedef struct ast_cli_record {
    ast_cli_progress *progress; /* that is told as well */
    int passes_wanted, samples_wanted;
    size_t points;
    ast_progress *passes;
    size_t pass_count, pass_room;
    int32_t *samples; /* (samples, N) of the run that is kept: the last one begun */
    size_t sample_count, sample_room;
    int failed; /* there was no memory for more */
} ast_cli_record;

/* The callback for ast_options.progress. */
int ast_cli_record_step(const ast_progress *state, void *data);
void ast_cli_record_free(ast_cli_record *record);

/* Writes the trace as CSV. */
bool ast_cli_write_trace(const ast_cli_record *record, ast_output *output, ast_format_error *error);
