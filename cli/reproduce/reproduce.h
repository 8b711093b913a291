/* SPDX-License-Identifier: MIT
 *
 * The paper's experiments, one file each: they run, fill a folder with figures and tables, and print their numbers
 * beside the paper's. Functions return -1 to go on, or the exit code after printing the sentence. */
#ifndef AST_CLI_REPRODUCE_H
#define AST_CLI_REPRODUCE_H

#include <asterism.h>
#include <formats.h>

#include "../camera.h"
#include "../options.h"
#include "../pages.h"

typedef struct ast_reproduce_settings {
    ast_cli_common common;
    ast_cli_camera camera;
    const char *what, *output, *input, *mat, *frames, *report;
    ast_chart_page *page; /* of the report, which gets every figure and table; NULL: none is asked for */
    int experiment;       /* which */
    size_t runs;
    int quick;
    size_t samplers; /* runs of the FSD sampler */
    double angle;
} ast_reproduce_settings;

int ast_reproduce_synthetic(const ast_reproduce_settings *given);
int ast_reproduce_stream(const ast_reproduce_settings *given);
int ast_reproduce_nyu(const ast_reproduce_settings *given);

/* Writes the file `name` of the output folder, and puts the figure or table into the report. */
int ast_reproduce_file(const ast_reproduce_settings *given, const char *name, ast_cli_writer *write, const void *data);

/* The same without the report: for what is kept to go on from. */
int ast_reproduce_keep(const ast_reproduce_settings *given, const char *name, ast_cli_writer *write, const void *data);

/* Mean and standard deviation of numbers that come one by one. */
typedef struct ast_moments {
    size_t count;
    double mean, squares; /* Welford's */
} ast_moments;

void ast_moments_add(ast_moments *moments, double value);
double ast_moments_deviation(const ast_moments *moments); /* of a sample: over n - 1; 0 of one */

#endif
