/* SPDX-License-Identifier: MIT
 *
 * The options of cluster that only mixtures, samplers and online k-means know, and what these write beside labels and
 * means: memberships, samples and the trace of the passes. */
#ifndef AST_CLI_MIXTURES_H
#define AST_CLI_MIXTURES_H

#include <asterism.h>

#include "progress.h"
#include "targets.h"

typedef struct ast_cli_mixtures {
    int hard;
    double kappa, tolerance, concentration, kappa_median, prior_kappa, learning_rate, learning_rate_end;
    size_t burn_in, sample_every;
    const char *prior_mean, *memberships, *samples, *trace;
} ast_cli_mixtures;

extern const ast_cli_group ast_cli_mixtures_group;

/* Everything but the prior's mean into the options of the library. */
void ast_cli_mixtures_apply(const ast_cli_mixtures *given, ast_options *options);

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

#endif
