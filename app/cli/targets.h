/* SPDX-License-Identifier: MIT
 *
 * The files a subcommand writes, from the look at their names to the rename, and the result it prints in between. */
#ifndef AST_CLI_TARGETS_H
#define AST_CLI_TARGETS_H

#include <formats.h>
#include <json.h>

#include "options.h"

/* A file to write. The caller keeps the array that goes into it. */
typedef struct ast_cli_target {
    const char *option, *path; /* its option's name; path NULL: not asked for */
    ast_array array;
    const char *extension; /* that the name must have; NULL: one of those for arrays, or any if it is `own` */
    bool own;              /* the subcommand writes it itself, whatever its extension: no array goes into it */
    ast_output *output;    /* while it is open */
    bool table;            /* rows of floats go into it, which can be .fvecs and .fbin too */
} ast_cli_target;

/* Whether the targets' names can be written to, and differ from each other and from `input`; `json` is whether standard
 * output is taken. */
int ast_cli_check_targets(const ast_cli_target *targets, size_t count, const char *input, int json);

/* Refuses targets that would overwrite a file that is read, also under another name. A NULL input is fine. */
int ast_cli_check_overwrite(const ast_cli_target *targets, size_t count, const char *input);

/* Whether a file can be written, so that this shows before the work rather than after it. */
int ast_cli_check_writable(const char *path);

/* Refuses a folder that is called like a file and is not there: somebody expects one file. */
int ast_cli_check_folder(const char *option, const char *folder);

/* Makes the folder that --`option` names, and those above it, where they are not there. */
int ast_cli_make_folder(const char *option, const char *folder);

/* Opens the targets that were asked for. On failure all are abandoned. From here on Ctrl-C waits for whoever asks,
 * since there may be temporary files. */
int ast_cli_open_targets(ast_cli_target *targets, size_t count);

/* Names of files for one of many runs: in the place of each name that is there (not NULL) a copy with the number before
 * its extension, labels-000017.npy, to free(). On failure all of them are still to be freed. */
int ast_cli_numbered(const char **const *names, size_t count, size_t number);

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
int ast_cli_deliver(ast_cli_target *targets, size_t count, const ast_cli_common *common,
                    const ast_cli_printer *printer);

/* The exit code after a target could not be written: 0 for standard output that nobody reads any more. */
int ast_cli_target_failed(const ast_cli_target *target, const ast_format_error *error);

/* Removes what was not put in place. */
void ast_cli_abandon_targets(ast_cli_target *targets, size_t count);

#endif
