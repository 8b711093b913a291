/* SPDX-License-Identifier: MIT
 *
 * --state of asterism cluster: the file that a run is kept in while it lasts, and that a later one goes on from. What
 * the bytes mean is the library's affair (ast_checkpoint). On several ranks all of them make every
 * call. */
#pragma once

#include <formats.h>

#include "run_record.h"

/* Zeroed at first, so that it can be closed at any point. */
typedef struct ast_cli_checkpoint {
    const char *path;
    int durable;
    ast_context *context;
    ast_cli_record *record; /* what else happens after a pass */
    size_t restarts;
    /* What to go on from, if there is something. */
    ast_storage found;
    int opened, descriptor;
    /* What was written. */
    int pass;     /* the last pass that was written; 0: none by this run */
    double began; /* when the run began, in seconds */
    double when;  /* when the state was last written, or the run began */
    double cost;  /* seconds that the last write took */
    int stopped;  /* the signal that asked to stop, on whichever rank */
    double asked; /* when this rank saw a signal first; 0: it saw none */
    int code;     /* of a failure to write; 0: none */
    ast_output *output;
    char name[4096]; /* of the temporary file, for ranks that have no output */
    ast_format_error error;
} ast_cli_checkpoint;

/* Opens the file if it is there, and sees whether it can be written. */
int ast_cli_checkpoint_open(ast_cli_checkpoint *state, const char *path);

/* The callback for ast_options.progress; `data` is the ast_cli_checkpoint. Writes the state after the last pass, when a
 * signal asked to stop, and otherwise so often that a kill costs little and so seldom that it takes a twentieth of the
 * time at most. */
int ast_cli_checkpoint_step(const ast_progress *progress, void *data);

/* For ast_set_cancel. After a signal a short pass ends and is written; a longer one is cancelled, and the state of the
 * pass before it stays. */
int ast_cli_checkpoint_cancel(void *data);

/* The exit code if ast_cluster stopped because of the state; otherwise -1. */
int ast_cli_checkpoint_verdict(const ast_cli_checkpoint *state, ast_status status);

void ast_cli_checkpoint_close(ast_cli_checkpoint *state);
