/* SPDX-License-Identifier: MIT
 *
 * The parts of an output: where it really goes, the temporary file that is moved there, and its name. */
#ifndef ASTERISM_FORMATS_OUTPUT_H
#define ASTERISM_FORMATS_OUTPUT_H

#include "formats.h"

#include "platform.h"

/* As given to ast_output_open; "standard output" for "-". */
const char *ast_output_name(const ast_output *output);

/* ---- output_path.c: where an output goes ------------------------------------------------------------------------- */

typedef enum ast_output_kind {
    AST_OUTPUT_STDOUT,
    AST_OUTPUT_MEMORY, /* no file at all */
    AST_OUTPUT_DIRECT, /* a device or pipe: written in place */
    AST_OUTPUT_FILE    /* absent or a regular file: replaced by a rename */
} ast_output_kind;

typedef struct ast_output_path {
    ast_output_kind kind;
    char *target; /* the file itself, links followed; NULL for standard output */
    char *folder; /* of the file, for the temporary one; NULL if not a file */
    bool exists;
    mode_t mode; /* of an existing file */
    uid_t user;
    gid_t group;
} ast_output_path;

/* Finds it, and makes sure that it may be written as far as that can be told. */
bool ast_output_path_find(ast_output_path *found, const char *path, ast_format_error *error);
void ast_output_path_free(ast_output_path *found);

/* ---- temporary.c: a file that exists for nobody else until it is moved into place ---------------------------------
 */

typedef struct ast_temporary {
    int descriptor;     /* -1: closed */
    bool named;         /* it has its name, so it must be removed */
    bool sole;          /* the name is the target's own */
    const char *folder; /* the caller's; it ends in a slash */
    char *name;
} ast_temporary;

/* Makes it in `folder` (which ends in a slash, and outlives it), with the permissions that the umask gives to new
 * files. `unnamed` asks for one that has no name yet and vanishes with the process however that ends, where the file
 * system can do that. False and errno on failure, here and below. */
bool ast_temporary_open(ast_temporary *temporary, const char *folder, bool unnamed);

/* Gives it the name that every temporary file of this target has: one that a killed process left there is replaced.
 * `target` is in the folder. It has no name yet; otherwise, and if that name would be too long, nothing changes. */
void ast_temporary_for(ast_temporary *temporary, const char *target);

/* Gives it its name already now, where others are to write into it too. */
bool ast_temporary_name(ast_temporary *temporary);

/* Closes it; it has a name from now on. */
bool ast_temporary_close(ast_temporary *temporary);

/* Renames the closed file. */
bool ast_temporary_move(ast_temporary *temporary, const char *target);

/* Removes what is left of it. */
void ast_temporary_drop(ast_temporary *temporary);

#endif
