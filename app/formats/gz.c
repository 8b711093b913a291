/* SPDX-License-Identifier: MIT
 *
 * gzip, streamed. A file may consist of several members, as `cat a.gz b.gz` makes them; one that ends inside a member
 * is an error, because a table cut short would otherwise look like a smaller table. Without zlib only the sentence
 * that says so remains. The members of zip archives are the same without the wrapper. */
#include "bytes.h"

#include <stdlib.h>

#ifndef AST_HAVE_ZLIB

struct ast_gz *ast_gz_open(const char *name, bool raw, ast_format_error *error) {
    (void)raw;
    ast_format_fail(error, "%s: this build has no zlib and reads no compressed files; unpack it first, with gunzip",
                    name);
    return NULL;
}

bool ast_gz_read(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error) {
    (void)buffer, (void)capacity;
    *got = 0;
    return ast_format_fail(error, "%s: this build has no zlib and reads no compressed files", bytes->name);
}

void ast_gz_close(struct ast_gz *gz) {
    (void)gz;
}

#else

#include <zlib.h>

#ifndef AST_GZ_BUFFER
#define AST_GZ_BUFFER (1 << 16)
#endif

struct ast_gz {
    z_stream stream;
    bool inside; /* a member that has begun and not ended; true before the first */
    bool raw;    /* one member without a wrapper */
    unsigned char input[AST_GZ_BUFFER];
};

/* 15: the largest window; 16: the gzip wrapper, not zlib's own. */
#define GZIP_WINDOW (15 + 16)
#define RAW_WINDOW (-15)

struct ast_gz *ast_gz_open(const char *name, bool raw, ast_format_error *error) {
    struct ast_gz *gz = calloc(1, sizeof *gz);
    if (gz && inflateInit2(&gz->stream, raw ? RAW_WINDOW : GZIP_WINDOW) != Z_OK) {
        free(gz);
        gz = NULL;
    }
    if (!gz) {
        ast_format_no_memory(error, name);
        return NULL;
    }
    gz->inside = true;
    gz->raw = raw;
    return gz;
}

void ast_gz_close(struct ast_gz *gz) {
    if (gz)
        inflateEnd(&gz->stream);
    free(gz);
}

/* Makes sure that there is input; *ended where the file rightly ends. */
static bool feed(ast_bytes *bytes, bool *ended, ast_format_error *error) {
    struct ast_gz *gz = bytes->gz;
    *ended = false;
    if (gz->stream.avail_in > 0)
        return true;
    size_t got;
    if (!ast_bytes_read_raw(bytes, gz->input, sizeof gz->input, &got, error))
        return false;
    gz->stream.next_in = gz->input;
    gz->stream.avail_in = (uInt)got;
    *ended = got == 0;
    bytes->damaged |= *ended && gz->inside;
    if (bytes->damaged)
        return ast_format_fail(error, "%s: the compressed data end too early; the file was cut short", bytes->name);
    return true;
}

bool ast_gz_read(ast_bytes *bytes, void *buffer, size_t capacity, size_t *got, ast_format_error *error) {
    struct ast_gz *gz = bytes->gz;
    uInt room = capacity < ((size_t)1 << 30) ? (uInt)capacity : (uInt)1 << 30;
    bool ended = false;
    gz->stream.next_out = buffer;
    gz->stream.avail_out = room;
    while (gz->stream.avail_out > 0 && !(gz->raw && !gz->inside)) {
        if (!feed(bytes, &ended, error))
            return false;
        if (ended)
            break;
        gz->inside = true;
        int result = inflate(&gz->stream, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            gz->inside = false;
            if (!gz->raw)
                inflateReset(&gz->stream);
        } else if (result == Z_MEM_ERROR) {
            return ast_format_no_memory(error, bytes->name);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            bytes->damaged = true;
            return ast_format_fail(error, "%s: the compressed data are damaged, or no gzip data (%s)", bytes->name,
                                   gz->stream.msg ? gz->stream.msg : "unknown reason");
        }
    }
    *got = room - gz->stream.avail_out;
    return true;
}

#endif
