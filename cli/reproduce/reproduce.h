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

typedef struct ast_reproduce_settings {
    ast_cli_common common;
    ast_cli_camera camera;
    const char *what, *output, *input, *mat, *frames;
    size_t runs;
    int quick;
    size_t samplers; /* runs of the FSD sampler */
    double angle;
} ast_reproduce_settings;

int ast_reproduce_synthetic(const ast_reproduce_settings *given);
int ast_reproduce_stream(const ast_reproduce_settings *given);
int ast_reproduce_nyu(const ast_reproduce_settings *given);

/* Writes the file `name` of the output folder. */
typedef bool ast_reproduce_writer(const void *data, ast_output *output, ast_format_error *error);
int ast_reproduce_file(const ast_reproduce_settings *given, const char *name, ast_reproduce_writer *write,
                       const void *data);

/* Mean and standard deviation of numbers that come one by one. */
typedef struct ast_moments {
    size_t count;
    double mean, squares; /* Welford's */
} ast_moments;

void ast_moments_add(ast_moments *moments, double value);
double ast_moments_deviation(const ast_moments *moments); /* of a sample: over n - 1; 0 of one */

#endif
