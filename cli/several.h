/* SPDX-License-Identifier: MIT
 *
 * Several .npy files, or a folder of them, as one table: their rows one behind the other. Files of other kinds come
 * one at a time. Functions that return an int return -1 to go on, or the exit code after printing the sentence. */
#ifndef AST_CLI_SEVERAL_H
#define AST_CLI_SEVERAL_H

#include <formats.h>

#include "targets.h"

/* Zeroed at first. */
typedef struct ast_cli_several {
    char **paths;
    size_t count; /* 0: there is one input, as ever */
    char *name;   /* what sentences call them */
} ast_cli_several;

/* What the inputs (NULL-terminated) of the subcommand called `command` are: one, or files that are read as one. *input
 * becomes its name, or what sentences call them. */
int ast_cli_several_take(ast_cli_several *several, const char *command, const char *const *inputs, const char **input);
void ast_cli_several_free(ast_cli_several *several);

/* As ast_cli_check_kept, for each of the files. */
int ast_cli_several_kept(const ast_cli_several *several, const ast_cli_target *targets, size_t count);

bool ast_cli_several_open(const ast_cli_several *several, ast_rows *rows, ast_format_error *error);

/* Reads those of the rows that are this rank's, from number *first on, into `points`; *data is the caller's to free().
 * On several ranks *look tells these files from others. */
int ast_cli_several_read(ast_rows *rows, const char *name, ast_points *points, void **data, size_t *first,
                         uint64_t *look);

/* As ast_cli_status: a row that the library's sentence begins with is named by its file and its number there. */
int ast_cli_several_status(const ast_rows *rows, ast_status status, const ast_context *context, const char *input);

#endif
