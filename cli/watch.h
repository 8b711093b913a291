/* SPDX-License-Identifier: MIT
 *
 * What people watch of a stream: the live view while it runs, and the report at its end. Every function returns -1 to
 * go on, or the exit code after printing the sentence. */
#ifndef AST_CLI_WATCH_H
#define AST_CLI_WATCH_H

#include <recording.h>

#include "follow.h"
#include "serving.h"

/* What the command line says. */
typedef struct ast_cli_watch_settings {
    const char *report;
    size_t view; /* the port; 0: any; SIZE_MAX: there is no live view */
    const char *bind;
    int view_end; /* 0: stay, 1: exit; -1: by whether a terminal is there */
} ast_cli_watch_settings;

extern const ast_cli_group ast_cli_watch_group;

/* A run; zeroed at first, so that it can be closed at any point. */
typedef struct ast_cli_watch {
    const ast_cli_watch_settings *given;
    ast_recording *recording; /* NULL: nobody watches */
    ast_output *output;       /* of the report */
    ast_live *live;           /* NULL: there is no live view */
    char *line, *title;
    uint64_t frames;
    double seconds; /* of clustering */
} ast_cli_watch;

int ast_cli_watch_check(const ast_cli_watch_settings *given);

/* Before the first frame. The words of the command line go into the report. */
int ast_cli_watch_open(ast_cli_watch *watch, const ast_cli_watch_settings *given, const ast_cli_command *command,
                       int argc, char **argv, const ast_cli_follow *follow);

/* Takes the current frame. `picture` lies below the clusters, without their colours; NULL: the depth does. */
int ast_cli_watch_frame(ast_cli_watch *watch, const ast_cli_follow *follow, const ast_picture *picture);

/* After the last frame, `code` being what the run came to: a run that a signal has stopped has a report of what it saw,
 * one that failed has none. The live view goes on until a signal if it is to stay. Returns the code. */
int ast_cli_watch_end(ast_cli_watch *watch, int code);

void ast_cli_watch_close(ast_cli_watch *watch);

#endif
