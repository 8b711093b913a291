/* SPDX-License-Identifier: MIT
 *
 * Objects as bytes: a head that begins with a magic number, a version and the size of everything, 8 bytes each; then
 * the contents, and a checksum over all of it. Numbers are as the machine has them; the magic number shows another byte
 * order. */
#pragma once

#include "fault.h"

typedef struct ast_saved_format {
    uint64_t magic;
    int version;
    size_t head;            /* bytes of the head */
    size_t unit;            /* the size is a multiple of it */
    const char *name;       /* the noun of the sentences */
    const char *no_magic;   /* the sentence for bytes without the magic number */
    const char *on_version; /* the end of the sentence about another version */
} ast_saved_format;

/* Whether the bytes are complete: AST_BAD_DATA if not. */
ast_status ast_saved_check(const ast_saved_format *format, const void *bytes, size_t size, ast_fault *fault);

/* The size of the first of several objects, as its head says, or `size` if there are fewer bytes than that. */
size_t ast_saved_size_of_first(const void *bytes, size_t size);

/* ast_saved_put copies the bytes to `at`. ast_saved_close writes the checksum of the bytes from `start` to `at`. Both
 * return where the next byte goes. */
unsigned char *ast_saved_put(unsigned char *at, const void *bytes, size_t size);
unsigned char *ast_saved_close(const unsigned char *start, unsigned char *at);
