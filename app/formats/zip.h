/* SPDX-License-Identifier: MIT
 *
 * Just as much of zip archives as .npz files need: members by name, stored or deflated, in memory. */
#ifndef ASTERISM_FORMATS_ZIP_H
#define ASTERISM_FORMATS_ZIP_H

#include "bytes.h"

typedef struct ast_zip {
    const char *name;     /* of the file, for sentences */
    unsigned char *bytes; /* the whole file */
    size_t size;
    size_t directory, members; /* where the central directory begins, and how many members it lists */
} ast_zip;

/* Reads the whole file and finds its directory. */
bool ast_zip_open(ast_zip *zip, ast_bytes *bytes, ast_format_error *error);
void ast_zip_close(ast_zip *zip); /* fine on a zeroed one */

/* Reads the bytes of a member; the caller frees *bytes. If there is no member of that name, *found is false and the
 * function returns true. */
bool ast_zip_read(const ast_zip *zip, const char *member, unsigned char **bytes, size_t *size, bool *found,
                  ast_format_error *error);

#endif
