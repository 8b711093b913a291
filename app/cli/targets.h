/* SPDX-License-Identifier: MIT
 *
 * The files a subcommand writes, from the look at their names to the rename, and the result it prints in between. */
#pragma once

#include <json.h>

#include "options.h"

/* A file to write. The subcommand keeps the array that goes into it. */
struct ast_cli_target {
    const char *option, *path;
    unsigned writes; /* AST_CLI_WRITES_ARRAY and so on */
    ast_array array;
    ast_output *output; /* while it is open */
};

/* The target of an option, and its output; NULL if the option was not typed. */
ast_cli_target *ast_cli_target_of(const ast_cli_common *common, const char *option);
ast_output *ast_cli_output_of(const ast_cli_common *common, const char *option);

/* Sets the array that ast_cli_deliver writes to the file of an option. Does nothing if the option was not typed. */
void ast_cli_fill_target(const ast_cli_common *common, const char *option, ast_array array);

/* Whether the targets' names can be written to, and differ from each other, from `input` and from the files that other
 * options name. */
int ast_cli_check_targets(const ast_cli_common *common, const char *input);

/* Refuses targets that would overwrite a file that is read, also under another name. */
int ast_cli_check_overwrite(const ast_cli_common *common, const char *input);
int ast_cli_check_target(const ast_cli_target *target, const char *input); /* one of them; NULL is allowed */

/* Refuses two options whose file or folder is the same, under whatever names; NULL is allowed. */
int ast_cli_check_apart(const char *option, const char *path, const char *other_option, const char *other);

/* Whether a file can be written, so that this shows before the work rather than after it. */
int ast_cli_check_writable(const char *path);

/* Refuses a folder that is called like a file and is not there: somebody expects one file. */
int ast_cli_check_folder(const char *option, const char *folder);

/* Makes the folder that --`option` names, and those above it, where they are not there. */
int ast_cli_make_folder(const char *option, const char *folder);

/* Opens the targets. From here on Ctrl-C does not end the process at once, but makes ast_cli_interrupted true, so that
 * temporary files are removed. */
int ast_cli_open_targets(const ast_cli_common *common);

/* How a result is printed. */
typedef struct ast_cli_printer {
    void (*json)(const void *work, ast_text *json); /* the members of one object */
    void (*table)(const void *work);                /* for people */
    const void *work;
} ast_cli_printer;

/* Prints the result as the common options ask: the exit code, 0 included. */
int ast_cli_print(const ast_cli_common *common, const ast_cli_printer *printer);

/* The end of a run: the targets are written, so that every write error shows before any of them is put in place, then
 * the result is printed (unless standard output is a target), since that can fail too, and the targets are put in
 * place unless a signal asked to stop. The exit code, 0 included. */
int ast_cli_deliver(const ast_cli_common *common, const ast_cli_printer *printer);

/* The exit code after a target could not be written: 0 for standard output that nobody reads any more. */
int ast_cli_target_failed(const ast_cli_target *target, const ast_format_error *error);

/* Removes what was not put in place; ast_cli_run does so at the end. */
void ast_cli_abandon_targets(const ast_cli_common *common);
