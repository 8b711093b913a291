/* SPDX-License-Identifier: MIT
 *
 * The windows in which a labelling holds its points.
 *
 * The main idea: the sequential rule visits points in order, so it can visit the points of a file part by part. A
 * labelling over a file differs in two things only. First, a thread reads rows when it needs them: a chunk at a time,
 * or some rows of a chunk if bounds tell which points may have changed (points/reader.c). Second, if the labels of all
 * points do not fit into memory, the labelling holds the labels of one *window* of points at a time, and the caller
 * stores the others (ast_label_store). Rows in memory are one window. With one window the labelling keeps bounds of
 * each point from pass to pass; with several windows it keeps only the labels. */
#pragma once

#include "labelling.h"

typedef struct ast_windows {
    ast_reader reader;  /* without a source if rows are in memory */
    size_t points;      /* of all windows */
    size_t rows;        /* of a window, padded; the last window may have fewer */
    size_t count;       /* number of windows */
    size_t current;     /* the open window; SIZE_MAX: none is open */
    size_t first;       /* number of the first point of the open window */
    size_t written;     /* windows whose labels the store has */
    bool plain;         /* the label array holds other numbers now, without signs */
    bool eager;         /* a pass reads most rows, so it announces them to the source */
    uint64_t last_read; /* rows read up to the end of the last pass */
    _Atomic bool full;  /* there were too many clusters */
} ast_windows;

/* Loads the source of the input. */
ast_status ast_windows_load(ast_labelling *labelling, ast_fault *fault);

/* Makes rows in memory one window. */
void ast_windows_one(ast_windows *windows, size_t points, size_t padded);

/* Saves the labels of the open window if there are several windows. Returns AST_OK, or why rows of a source could not
 * be read. Does nothing if rows are in memory. */
ast_status ast_windows_save(ast_labelling *labelling, ast_fault *fault);

/* Tells the source that the window after the open one is read next. */
void ast_windows_announce_next(const ast_windows *windows);

/* After a pass: decides whether the next pass announces its rows to the source, segment by segment (`eager`). It does
 * so unless bounds spared the last pass three quarters of the rows. */
void ast_windows_plan_announcing(ast_labelling *labelling);

/* Whether there is no memory for another cluster. If so, notes it for ast_windows_failure. */
bool ast_windows_refuse_cluster(ast_labelling *labelling);

/* Why the run ended: a cluster was refused, or a row cannot be used; AST_OK: neither. */
ast_status ast_windows_failure(ast_labelling *labelling, ast_fault *fault);
