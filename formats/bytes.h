/* SPDX-License-Identifier: MIT
 *
 * Where a reader's bytes come from: a file, standard input, a pipe, memory, or any of them through gzip. */
#ifndef ASTERISM_FORMATS_BYTES_H
#define ASTERISM_FORMATS_BYTES_H

#include "formats.h"

struct ast_gz;

typedef struct ast_bytes {
    const char *name;            /* of the file, for sentences; the caller's */
    int descriptor;              /* -1: memory */
    const unsigned char *memory; /* NULL: a file */
    size_t position;             /* in memory */
    bool sized;                  /* a regular file or memory, uncompressed: `size` is known and true */
    uint64_t size;
    struct ast_gz *gz; /* NULL: not compressed */
    bool watched;      /* reading waits for `stop` too */
    int stop;
} ast_bytes;

/* `path` "-" is standard input, which is not closed afterwards. */
bool ast_bytes_open(ast_bytes *bytes, const char *path, bool compressed, ast_format_error *error);
bool ast_bytes_open_memory(ast_bytes *bytes, const char *name, const void *memory, size_t size, bool compressed,
                           ast_format_error *error);

/* As ast_bytes_open, but reading fails as soon as the descriptor `stop` can be read or its other end is closed: a
 * thread that waits for a pipe can be ended. Opening waits for nobody either. */
bool ast_bytes_open_watched(ast_bytes *bytes, const char *path, int stop, ast_format_error *error);

/* Reads until `capacity` bytes are there or the input ends: *got below `capacity` means that it has ended. */
bool ast_bytes_read(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error);

/* Fine on a zeroed or half-opened one. */
void ast_bytes_close(ast_bytes *bytes);

/* For gz.c: as ast_bytes_read, but before decompression, and possibly fewer bytes; none means the end. */
bool ast_bytes_read_raw(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error);

/* gz.c. Opening returns NULL on failure; reading may yield fewer bytes, and none means the end. */
struct ast_gz *ast_gz_open(const char *name, ast_format_error *error);
bool ast_gz_read(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error);
void ast_gz_close(struct ast_gz *gz);

#endif
