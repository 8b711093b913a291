/* SPDX-License-Identifier: MIT
 *
 * The windows in which a labelling holds its points.
 *
 * The main idea: visiting the points of a file part by part, in order, is the sequential rule itself. So a labelling
 * over a file differs in two things only. Rows are read when a thread needs them, a chunk at a time or, if bounds tell
 * which points may have changed, some rows of a chunk (points/reader.c). And if the labels of all points do not fit
 * into memory, the labelling holds those of one *window* of points at a time; the caller stores the others
 * (ast_label_store). Rows in memory are one window. With one window the labelling keeps from pass to pass what it knows
 * of each point; with several it keeps the labels only. */
#ifndef AST_ROW_WINDOWS_H
#define AST_ROW_WINDOWS_H

#include "labelling.h"

typedef struct ast_windows {
    ast_reader reader;            /* without a source: rows are in memory */
    const ast_label_store *store; /* NULL: one window */
    size_t points;                /* of all windows */
    size_t rows;                  /* of a window, padded; the last may have fewer */
    size_t count;                 /* number of windows */
    size_t current;               /* whose points the labelling has; SIZE_MAX: none */
    size_t first;                 /* the number of its first point */
    size_t written;               /* windows whose labels the store has */
    size_t segment, most;         /* as in ast_labelling_input */
    bool kept;                    /* one window, and memory for the scores of each point */
    bool plain;                   /* the label array holds other numbers now, which have no signs */
    bool eager;                   /* most rows of a pass are read: it pays to announce them */
    double *weights;              /* as in ast_labelling_input */
    uint64_t *keys;               /* (slots) of the labels of the first pass */
    size_t key_capacity;
    uint64_t last_read; /* rows, up to the end of the last pass */
    _Atomic bool full;  /* there were too many clusters */
    ast_segment_report *report;
    void *report_data;
} ast_windows;

/* A source becomes the rows of a labelling, which is zeroed memory; and rows in memory become one window. */
ast_status ast_windows_load(ast_labelling *labelling, const ast_labelling_input *input, ast_fault *fault);
void ast_windows_one(ast_windows *windows, size_t points, size_t padded);

/* Saves the labels of the open window, if there are others; AST_OK, or why rows of a source could not be read. Does
 * nothing with rows in memory. */
ast_status ast_windows_save(ast_labelling *labelling, ast_fault *fault);

/* Tells a source that `count` rows from `first` on are read next. */
void ast_windows_announce(const ast_windows *windows, size_t first, size_t count);

/* Whether there is no memory for another cluster; noted, if so. */
bool ast_windows_is_full(ast_labelling *labelling);

/* Why the run ended: too many clusters, or a row; AST_OK: neither. */
ast_status ast_windows_failure(ast_windows *windows, ast_fault *fault);

#endif
