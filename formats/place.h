/* SPDX-License-Identifier: MIT
 *
 * Where an output really goes. */
#ifndef ASTERISM_FORMATS_PLACE_H
#define ASTERISM_FORMATS_PLACE_H

#include "formats.h"

#include <sys/types.h>

typedef enum ast_place_kind {
    AST_PLACE_STDOUT,
    AST_PLACE_MEMORY, /* no file at all */
    AST_PLACE_DIRECT, /* a device or pipe: written in place */
    AST_PLACE_FILE    /* absent or a regular file: replaced by a rename */
} ast_place_kind;

typedef struct ast_place {
    ast_place_kind kind;
    char *target; /* the file itself, links followed; NULL for standard output */
    char *folder; /* of the file, for the temporary one; NULL if not a file */
    bool exists;
    mode_t mode; /* of an existing file */
    uid_t user;
    gid_t group;
} ast_place;

/* Finds it, and makes sure that it may be written as far as that can be told. */
bool ast_place_find(ast_place *place, const char *path, ast_format_error *error);
void ast_place_free(ast_place *place);

#endif
