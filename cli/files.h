/* SPDX-License-Identifier: MIT
 *
 * Where the subcommands meet the formats: opening what is read and written, with the command's exit codes. Every
 * function returns -1 to go on, or the exit code after printing the sentence. */
#ifndef AST_CLI_FILES_H
#define AST_CLI_FILES_H

#include <formats.h>

#include "options.h"

/* How INPUT is to be read: the options that every subcommand with points has. */
typedef struct ast_cli_source {
    const char *format, *columns;
    int transpose;
} ast_cli_source;

/* Their rows in the table of a subcommand whose settings hold an ast_cli_source named `source`. */
/* clang-format off */
#define AST_CLI_SOURCE_OPTIONS(settings)                                                                               \
    {"format", AST_CLI_TEXT, "NAME",                                                                                   \
     "npy, csv, tsv or txt, each also with .gz: needed for\n"                                                          \
     "standard input, otherwise the extension decides",                                                                \
     offsetof(settings, source.format), 0, 0, NULL},                                                                   \
    {"columns", AST_CLI_TEXT, "LIST", "columns to read, counted from 1, such as 2-101 or 1,3,5-7",                     \
     offsetof(settings, source.columns), 0, 0, NULL},                                                                  \
    {"transpose", AST_CLI_FLAG, NULL, "the columns of the file are the points, not its rows",                          \
     offsetof(settings, source.transpose), 0, 0, NULL}
/* clang-format on */

/* What the command line alone shows about a file of points, or about another file that is read (whose format follows
 * from its extension; `option` names it). A NULL path is fine. */
int ast_cli_check_points(const char *path, const ast_cli_source *source);
int ast_cli_check_read(const char *option, const char *path);

/* A file to write: `option` is its option's name. */
typedef struct ast_cli_target {
    const char *option, *path; /* path NULL: not asked for */
} ast_cli_target;

/* Whether the targets' names can be written to, and differ from each other and from `input`; `json` is whether standard
 * output is taken. */
int ast_cli_check_targets(const ast_cli_target *targets, size_t count, const char *input, int json);

/* Whether the targets leave a file alone that is read, under whichever name. A NULL input is fine. */
int ast_cli_check_kept(const ast_cli_target *targets, size_t count, const char *input);

/* Whether one of the targets is standard output. */
int ast_cli_writes_stdout(const ast_cli_target *targets, size_t count);

int ast_cli_open_points(ast_input *input, const char *path, const ast_cli_source *source);

/* Reads the weights of `count` points. *weights is the caller's to free(). */
int ast_cli_read_weights(const char *path, const char *input, size_t count, double **weights);

/* Reads means for points of `dimension` components. *means is the caller's to free(). */
int ast_cli_read_means(const char *path, size_t dimension, float **means, size_t *count);

/* Reads one label a point. *labels is the caller's to free(). */
int ast_cli_read_labels(const char *path, int32_t **labels, size_t *count);

/* What a sentence calls a file: its name, or "standard input". */
const char *ast_cli_name(const char *path);

/* Opens the targets that were asked for; the others become NULL. On failure all are abandoned. From here on Ctrl-C
 * waits for whoever asks, since there may be temporary files. */
int ast_cli_open_targets(const ast_cli_target *targets, size_t count, ast_output **outputs);

/* Writes out what the outputs hold, so that every write error shows before any of them is put in place. */
int ast_cli_finish_targets(ast_output **outputs, size_t count);

/* Puts the outputs in place, unless a signal asked to stop: the exit code, 0 included. */
int ast_cli_commit_targets(ast_output **outputs, size_t count);

/* Opens a context on the threads that were asked for. */
int ast_cli_open_context(const ast_cli_common *common, ast_context **context);

/* For points of which none has a direction. */
int ast_cli_no_usable_row(const char *input);

/* The exit code of a call of the library on the file `input`, with its sentence printed; -1 if it went well. `input` is
 * NULL where no file takes part, so that a bad option is the command line's fault alone. */
int ast_cli_status(ast_status status, const ast_context *context, const char *input);

#endif
