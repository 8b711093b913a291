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
    bool damaged;      /* reading failed because the compressed bytes are */
    uint64_t allowed;  /* bytes of memory that reading may take; 0: any */
    int stop;          /* a descriptor that ends all waiting once it can be read, or AST_NO_STOP */
} ast_bytes;

#define AST_NO_STOP (-1)

/* `path` "-" is standard input, which is not closed afterwards. Reading fails as soon as the descriptor `stop` can be
 * read or its other end is closed, so that a thread that waits for a pipe can be ended. With `stop`, opening a named
 * pipe does not wait for its writer. */
bool ast_bytes_open(ast_bytes *bytes, const char *path, bool compressed, int stop, ast_format_error *error);
bool ast_bytes_open_memory(ast_bytes *bytes, const char *name, const void *memory, size_t size, bool compressed,
                           ast_format_error *error);

/* Reads until `capacity` bytes are there or the input ends: *got below `capacity` means that it has ended. */
bool ast_bytes_read(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error);

/* Memory for bytes, reused from one input to the next; zeroed at first, its place freed with free(). */
typedef struct ast_buffer {
    unsigned char *place;
    size_t capacity, filled;
} ast_buffer;

/* Reads until the buffer holds `size` bytes or the input ends (buffer->filled below `size`). What the buffer holds
 * already stays. The memory grows by doubling as bytes arrive, because no promised size is believed, up to
 * bytes->allowed. */
bool ast_bytes_fill(ast_bytes *bytes, ast_buffer *buffer, size_t size, ast_format_error *error);

/* Refuses a promise of more bytes than may be in memory. PTRDIFF_MAX is no promise. */
bool ast_bytes_budget(const ast_bytes *bytes, uint64_t promised, ast_format_error *error);

/* Fine on a zeroed or half-opened one. */
void ast_bytes_close(ast_bytes *bytes);

/* For gz.c: as ast_bytes_read, but before decompression, and possibly fewer bytes; none means the end. */
bool ast_bytes_read_raw(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error);

/* A number of up to eight bytes, the lowest byte first. */
uint64_t ast_little(const void *bytes, size_t size);
void ast_put_little(void *bytes, uint64_t number, size_t size);

/* gz.c. Opening returns NULL on failure; reading may yield fewer bytes, and none means the end. */
struct ast_gz *ast_gz_open(const char *name, bool raw,
                           ast_format_error *error); /* raw: deflated, without gzip's header */
bool ast_gz_read(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error);
void ast_gz_close(struct ast_gz *gz);

#endif
