/* SPDX-License-Identifier: MIT
 *
 * Where the subcommands meet the formats and the library: opening what is read, with the command's exit codes. Every
 * function returns -1 to go on, or the exit code after printing the sentence. */
#pragma once

#include <formats.h>

#include "options.h"

/* An input as typed, with the format that its name or --format says. It is looked up once, while parsing. */
struct ast_cli_input {
    const char *path; /* NULL ends a list */
    ast_file_format format;
    unsigned kinds; /* that it may be: AST_CLI_TABLE and so on */
};

/* Whether depth images are meant: the command takes no tables, or an option was typed that is for images and not for
 * tables. Then an array (.npy) is a depth image. (rules.c) */
int ast_cli_expects_depth(const ast_cli_common *common);

/* Looks up an input by its name, by the name of its format (or NULL), and by the options that were typed (rules.c). */
ast_cli_input ast_cli_look_up(const ast_cli_common *common, const char *path, const char *format);

/* How INPUT is to be read: the options that every subcommand with points has. */
typedef struct ast_cli_source {
    const char *format, *columns;
    const char *tensor, *dataset, *column; /* of files that hold several */
    const char *names; /* the column that holds a name for each row; NULL: none. Only where the subcommand has names */
    int transpose;
    int header;                                           /* an ast_header */
    int dip_direction, strike_dip, trend_plunge, azimuth; /* rows are angles in degrees: field.h */
} ast_cli_source;

extern const ast_cli_group ast_cli_source_group;
extern const char *const ast_cli_headers[]; /* the words of --header */

/* What the command line alone shows about a file of points, or about another file that is read (whose format follows
 * from its extension; `option` names it). A NULL path is fine. */
int ast_cli_check_points(const char *path, ast_file_format format, const ast_cli_source *source);
int ast_cli_check_read(const char *option, const char *path);

/* The same options as the readers of app/formats take them. */
ast_input_options ast_cli_input_options(const ast_cli_source *source);

/* Says what reading a text has left as a remark, if anything, unless --quiet was typed (`common` NULL: even then); then
 * empties it. */
void ast_cli_say_remark(const ast_cli_common *common, char remark[AST_REMARK]);

/* Reads a table that is open. */
int ast_cli_read_points(ast_input *input, const char *path, const ast_cli_source *source);

/* Read what belongs to `count` points of `input`: their weights, *weights the caller's to free(), and their names. */
int ast_cli_read_weights(const char *path, const char *input, size_t count, double **weights);
int ast_cli_read_names(const char *path, const char *input, size_t count, ast_names *names);

/* Reads the mean that rows are centred by, as --center-file writes it. *center is the caller's to free(). */
int ast_cli_read_center(const char *path, size_t dimension, float **center);

/* Reads means for points of `dimension` components. *means is the caller's to free(). */
int ast_cli_read_means(const char *path, size_t dimension, float **means, size_t *count);

/* Reads one label a point. *labels is the caller's to free(). */
int ast_cli_read_labels(const char *path, int32_t **labels, size_t *count);

/* What a sentence calls a file: its name, or "standard input". */
const char *ast_cli_name(const char *path);

/* For ast_set_cancel: whether a signal asked to stop. */
int ast_cli_cancel(void *data);

/* Opens a context on the threads that were asked for. */
int ast_cli_open_context(const ast_cli_common *common, ast_context **context);

/* For a run that a signal has stopped before anything was put in place: the exit code. */
int ast_cli_stopped(void);

/* For points of which none has a direction. */
int ast_cli_no_usable_row(const char *input);

/* The exit code of a call of the library on the file `input`, with its sentence printed; -1 if it went well. `input` is
 * NULL where no file takes part, so that a bad option is the command line's fault alone. */
int ast_cli_status(ast_status status, const ast_context *context, const char *input);
