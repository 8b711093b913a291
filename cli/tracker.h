/* SPDX-License-Identifier: MIT
 *
 * The options of a stream's clustering, for every subcommand that follows clusters through frames. */
#ifndef AST_CLI_TRACKER_H
#define AST_CLI_TRACKER_H

#include <asterism.h>

#include "options.h"
#include "passes.h"

typedef struct ast_cli_tracker {
    int method; /* an ast_stream_method */
    int update; /* -1: that of the tracker */
    int revive; /* 0: any, 1: near; -1: not given */
    int axial;
    double angle, drift, beta;     /* NaN: not given */
    size_t lifetime, max_clusters; /* 0 clusters: no limit */
} ast_cli_tracker;

extern const ast_cli_group ast_cli_tracker_group;

/* The library's options without the dimension, which only the first frame shows. */
ast_stream_options ast_cli_tracker_set(const ast_cli_tracker *tracker, const ast_cli_passes *passes);

/* What the command line alone shows: -1 to go on, or the exit code. */
int ast_cli_tracker_check(const ast_cli_tracker *tracker, const ast_cli_passes *passes);

#endif
