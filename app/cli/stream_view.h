/* SPDX-License-Identifier: MIT
 *
 * What people watch of a stream: the live view while it runs, and the report at its end. */
#pragma once

#include <recording.h>

#include "pages.h"

typedef struct ast_cli_tracking ast_cli_tracking;

/* What the command line says. */
typedef struct ast_cli_stream_view_settings {
    size_t view; /* the port; 0: any; SIZE_MAX: there is no live view */
    const char *bind;
    int view_end; /* 0: stay, 1: exit; -1: by whether a terminal is there */
} ast_cli_stream_view_settings;

extern const ast_cli_group ast_cli_stream_view_group;

/* A run; zeroed at first, so that it can be closed at any point. */
typedef struct ast_cli_stream_view {
    ast_recording *recording; /* NULL: nobody watches */
    ast_live *live;           /* NULL: there is no live view */
    char *line, *title;
    uint64_t frames;
    double seconds; /* of clustering */
} ast_cli_stream_view;

/* Before the first frame. The words of the command line go into the report. */
int ast_cli_stream_view_open(ast_cli_tracking *tracking);

/* Takes the current frame. */
int ast_cli_stream_view_frame(ast_cli_tracking *tracking);

/* After the last frame, `code` being what the run came to: a run that a signal has stopped has a report of what it saw,
 * one that failed has none. The live view goes on until a signal if it is to stay. Returns the code. */
int ast_cli_stream_view_end(ast_cli_tracking *tracking, int code);

void ast_cli_stream_view_close(ast_cli_stream_view *view);
