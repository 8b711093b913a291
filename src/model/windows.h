/* SPDX-License-Identifier: MIT
 *
 * Points that are larger than memory.
 *
 * The one idea: visiting the points of a file part by part, in order, is the sequential rule itself. So the labelling
 * stays what it is, and only two things change. Rows are read when a thread needs them, a chunk at a time or, where
 * bounds tell which points may have changed, some of a chunk (points/reader.c). And where labels have no room either, the
 * labelling has those of one *window* of points at a time; the others are with the caller (ast_label_store). With one window
 * everything that is known of points is kept from pass to pass, as in memory; with several nothing but their labels. */
#ifndef AST_WINDOWS_H
#define AST_WINDOWS_H

#include "labelling.h"

#define AST_WINDOW_STEP 4096 /* windows are a multiple of this many points: of every chunk, and of blocks of seeding   \
                              */

typedef struct ast_windows {
    ast_reader reader;
    const ast_label_store *store; /* NULL: one window */
    size_t rows;                  /* of a window: a multiple of AST_WINDOW_STEP; the last may have fewer */
    size_t count;                 /* number of windows */
    size_t current;               /* whose points the labelling has; SIZE_MAX: none */
    size_t written;               /* windows whose labels the store has */
    size_t segment;               /* chunks between two calls of `tell` */
    size_t most;                  /* clusters that there is memory for */
    bool bounds;                  /* one window, and memory for what is known of each point */
    bool axial;
    bool plain;      /* the label array holds other numbers now, which have no signs */
    bool eager;      /* most rows of a pass are read: it pays to announce them */
    double *weights; /* (N) or NULL: the caller's to free, divided by the smallest */
    uint64_t *keys;  /* (slots) of the labels of the first pass */
    size_t key_capacity;
    uint64_t last_read; /* rows, up to the end of the last pass */
    _Atomic bool full;  /* there were too many clusters */
    ast_status (*tell)(void *data, size_t left, ast_fault *fault); /* on the caller's thread; AST_CANCELLED */
    void *tell_data;
} ast_windows;

/* Prepares a labelling, which is zeroed memory, for these windows: source, store, rows and so on are set. */
ast_status ast_windows_load(ast_labelling *labelling, ast_windows *windows, const ast_kernels *kernels, ast_pool *pool,
                            ast_fault *fault);
void ast_windows_free(ast_windows *windows);

/* Finds the missing rows of all windows: `present` and `everyone` are known then. Where this is not called the first
 * pass does it, and weights cannot be used. */
ast_status ast_windows_survey(ast_labelling *labelling, ast_fault *fault);
ast_status ast_windows_weigh(ast_labelling *labelling, ast_fault *fault);

/* The number of windows, the points of one (padded), and the points of all. Points in memory are one window. */
static inline size_t ast_windows_count(const ast_labelling *l) {
    return l->windows ? l->windows->count : 1;
}
static inline size_t ast_windows_rows(const ast_labelling *l) {
    return l->windows ? l->windows->rows : l->rows.padded;
}
static inline size_t ast_windows_points(const ast_labelling *l) {
    return l->windows ? l->windows->reader.source->count : l->rows.count;
}

/* Makes window `number` the one that the labelling has; and gives its labels to the store, if there are others. With
 * points in memory nothing happens. */
ast_status ast_windows_open(ast_labelling *labelling, size_t number, ast_fault *fault);
ast_status ast_windows_save(ast_labelling *labelling, ast_fault *fault);

/* Whether there is no memory for another cluster; noted, if so. */
bool ast_windows_full(ast_labelling *labelling);

/* What ended the run: too many clusters, or a row; AST_OK: neither. */
ast_status ast_windows_status(ast_windows *windows, ast_fault *fault);

#endif
