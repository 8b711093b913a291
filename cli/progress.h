/* SPDX-License-Identifier: MIT
 *
 * What happens while a long call runs: a line on stderr that people watch, and Ctrl-C, which cancels the call instead
 * of killing the process, so that nothing half-written stays behind. */
#ifndef AST_CLI_PROGRESS_H
#define AST_CLI_PROGRESS_H

#include <asterism.h>

#include "options.h"

typedef struct ast_cli_progress {
    size_t points;  /* for the share that changed */
    int show;       /* whether there is a line at all */
    int width;      /* of the line that stands now */
    double started; /* seconds of a monotonic clock */
    double last;    /* when the line was last written */
} ast_cli_progress;

/* Starts to watch: from here on the first SIGINT or SIGTERM asks to stop, and a second one kills. */
void ast_cli_progress_start(ast_cli_progress *progress, const ast_cli_common *common, size_t points);

/* The callback for ast_options.progress; `data` is the ast_cli_progress. */
int ast_cli_progress_step(const ast_progress *state, void *data);

/* Erases the line. */
void ast_cli_progress_end(ast_cli_progress *progress);

/* The number of the signal that asked to stop, or 0. */
int ast_cli_interrupted(void);

#endif
