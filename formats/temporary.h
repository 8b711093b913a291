/* SPDX-License-Identifier: MIT
 *
 * A file that exists for nobody else until it is moved into place. */
#ifndef ASTERISM_FORMATS_TEMPORARY_H
#define ASTERISM_FORMATS_TEMPORARY_H

#include <stdbool.h>

typedef struct ast_temporary {
    int descriptor; /* -1: closed */
    bool named;     /* it has its name, so it must be removed */
    bool sole;      /* the name is the target's own */
    char *name;
} ast_temporary;

/* Makes it in `folder` (which ends in a slash), with the permissions that the umask gives to new files. `unnamed` asks
 * for one that has no name yet and vanishes with the process however that ends, where the file system can do that.
 * False and errno on failure, here and below. */
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
