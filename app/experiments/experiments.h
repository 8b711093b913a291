/* SPDX-License-Identifier: MIT
 *
 * The paper's experiments, one file each. An experiment runs, fills a folder with figures and tables, and prints its
 * numbers beside the paper's.
 *
 * The room knows neither options nor terminals nor signals. The command hands over a plan and the few functions that
 * only the command can supply. Functions return -1 to go on, or the exit code after the sentence was printed. */
#pragma once

#include <frames.h>
#include <page.h>

/* How a result is printed: the members of one JSON object, or a table for people. */
typedef struct ast_experiment_printer {
    void (*json)(const void *work, ast_text *json);
    void (*table)(const void *work);
} ast_experiment_printer;

/* What the command does for an experiment. */
typedef struct ast_experiment_command {
    /* Prints the sentence and returns `code`. */
    int (*fail)(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /* The exit code of a call of the library, with its sentence printed; -1 if it went well. */
    int (*status)(ast_status status, const ast_context *context, const char *input);
    /* The exit code of the signal that asked to stop, or 0. */
    int (*stopped)(void);
    /* Seconds of a clock that only goes forward. */
    double (*now)(void);
    /* The progress line: `share` of the time, 0 to 1, is over. */
    void (*progress)(void *data, size_t done, size_t count, const char *what, double share);
    /* Prints the result of `work`: the exit code, 0 included. */
    int (*print)(void *data, const ast_experiment_printer *printer, const void *work);
    /* The next frame of the input; *found is 0 after the last, and after a signal. */
    int (*next)(void *data, ast_input_frame *frame, int *found);
    /* The normals of the frame's pixels, row by row; and these turned into the world, in place. */
    int (*normals)(void *data, ast_points *normals);
    int (*turn)(void *data);
} ast_experiment_command;

/* The plan: what the command line says, resolved. */
typedef struct ast_experiment {
    const ast_experiment_command *command;
    void *data; /* of the functions of the command */
    ast_context *context;
    uint64_t seed;
    const char *output;   /* the folder */
    ast_chart_page *page; /* of the report, which gets every figure and table; NULL: no report */
    int quick;
    size_t runs, restarts;   /* synthetic: data sets; restarts of the comparison; 0: the usual number */
    size_t samplers;         /* synthetic: data sets that the samplers get too */
    double angle;            /* stream: degrees */
    const char *input;       /* stream, nyu: for sentences */
    size_t frames;           /* that the input has */
    const size_t *numbers;   /* nyu: of the scenes among those of the data set */
    bool poses;              /* the input has them */
    const char *truths;      /* the folder of true labels beside the input, or NULL */
    ast_depth_options depth; /* how normals are made */
    const char *smoothing;   /* the same in a word */
    const char *depths;      /* nyu: what the depths of a data set are, "raw" or "filled-in"; NULL: images */
} ast_experiment;

int ast_experiment_synthetic(const ast_experiment *plan);
int ast_experiment_stream(const ast_experiment *plan);
int ast_experiment_nyu(const ast_experiment *plan);

/* ---- What the experiments share (shared.c) ----------------------------------------------------------------------- */

/* Makes the output folder. */
int ast_experiment_folder(const ast_experiment *plan);

/* Writes the file `name` of the output folder, and puts the figure or table into the report. */
int ast_experiment_file(const ast_experiment *plan, const char *name, ast_page_writer *write, const void *data);

/* The same without the report. */
int ast_experiment_keep(const ast_experiment *plan, const char *name, ast_page_writer *write, const void *data);

/* Points with a label in each of two labellings, counted. */
typedef struct ast_overlap {
    int32_t one, other;
    uint64_t count;
} ast_overlap;

typedef struct ast_overlaps {
    ast_overlap *list; /* to free() */
    size_t count, room;
    size_t guess; /* the pair that was counted last */
} ast_overlaps;

/* Counts a point. False if memory runs out. */
bool ast_overlaps_add(ast_overlaps *overlaps, int32_t one, int32_t other);

/* Pairs labels: the largest overlap whose labels are both free, and so on. The pairs move to the front; returns how
 * many there are. */
size_t ast_overlaps_match(ast_overlaps *overlaps);

/* Mean and standard deviation of numbers that come one by one. */
typedef struct ast_moments {
    size_t count;
    double mean, squares; /* Welford's */
} ast_moments;

void ast_moments_add(ast_moments *moments, double value);
double ast_moments_deviation(const ast_moments *moments); /* of a sample: over n - 1; 0 of one */
