/* SPDX-License-Identifier: MIT
 *
 * The progress line on stderr during a long call, and the check whether a signal asked to stop. */
#pragma once

#include <asterism.h>

#include "options.h"

typedef struct ast_cli_progress {
    size_t points;  /* for the share that changed */
    size_t runs;    /* restarts that will be made; 0: not known */
    size_t passes;  /* that each of them makes; 0: not known */
    int show;       /* whether there is a line at all */
    int width;      /* of the line that is shown */
    double started; /* seconds of a monotonic clock */
    double last;    /* when the line was last written */
} ast_cli_progress;

/* Seconds of a clock that only goes forward. */
double ast_cli_now(void);

/* Before the call. */
void ast_cli_progress_start(ast_cli_progress *progress, const ast_cli_common *common, size_t points);

/* The callback for ast_options.progress; `data` is the ast_cli_progress. It cancels once a signal has asked for it. */
int ast_cli_progress_step(const ast_progress *state, void *data);

/* The line of a command that makes one thing after the other, such as frames or points, with the time that is left, as
 * the time so far suggests. */
void ast_cli_progress_left(ast_cli_progress *progress, size_t done, size_t count, const char *what);

/* The same where things take unequal time: `share` of it, 0 to 1, is over. */
void ast_cli_progress_share(ast_cli_progress *progress, size_t done, size_t count, const char *what, double share);

/* The line of a stream, after a frame; `done` frames were taken, `left` are to come, SIZE_MAX: not known. */
void ast_cli_progress_frame(ast_cli_progress *progress, const ast_frame *frame, uint64_t done, size_t left);

/* The callback for ast_mixture.progress, as the one above. */
int ast_cli_progress_drawn(size_t drawn, void *data);

/* Erases the line. */
void ast_cli_progress_end(ast_cli_progress *progress);
