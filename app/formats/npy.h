/* SPDX-License-Identifier: MIT
 *
 * NumPy's .npy files: the header, checked, and the numbers behind it. */
#ifndef ASTERISM_FORMATS_NPY_H
#define ASTERISM_FORMATS_NPY_H

#include "table.h"

#define AST_NPY_DIMENSIONS 8
#define AST_NPY_PRELUDE 12 /* bytes that are enough to know where the numbers begin */

typedef struct ast_npy_header {
    char kind;      /* 'f' float, 'i' integer, 'u' unsigned, 'b' bool */
    char descr[16]; /* as written, such as "<f4", for sentences */
    size_t item;    /* bytes of one number: floats 2, 4, 8; integers 1, 2, 4, 8; bool 1 */
    bool swapped;   /* not in the machine's byte order */
    bool fortran;   /* the first index varies fastest */
    int dimensions; /* 0..8 */
    size_t shape[AST_NPY_DIMENSIONS];
    size_t elements;  /* the product of the shape */
    size_t data_size; /* elements * item */
    size_t offset;    /* of the numbers in the file */
} ast_npy_header;

/* Where the numbers begin, from the first AST_NPY_PRELUDE bytes (fewer if the file is shorter). */
bool ast_npy_offset(const char *name, const unsigned char *bytes, size_t size, size_t *offset, ast_format_error *error);

/* Understands the header from all `offset` bytes before the numbers. Sizes that do not fit size_t are refused. */
bool ast_npy_parse(ast_npy_header *header, const char *name, const unsigned char *bytes, size_t offset,
                   ast_format_error *error);

/* The shape as Python writes it: "(1000, 3)". */
#define AST_SHAPE_TEXT 192
void ast_npy_shape_text(const ast_npy_header *header, char text[AST_SHAPE_TEXT]);

/* Reads the header and, where the size of the input is known, checks that just the promised bytes follow. *ended
 * becomes whether the input ends here, where arrays follow one another; NULL: there must be an array. */
bool ast_npy_read_header(ast_npy_header *header, ast_bytes *bytes, bool *ended, ast_format_error *error);

/* The type of an array that can be points. */
ast_type ast_npy_type(const ast_npy_header *header);

/* Reads what follows the header: maps or borrows it where possible. `header` has at least one element; nothing may
 * follow the `last` array. */
bool ast_npy_read_body(ast_body *body, const ast_npy_header *header, ast_bytes *bytes, bool last,
                       ast_format_error *error);

/* ---- scalar.c: single numbers of every .npy type ----------------------------------------------------------------- */

/* The number at `place`, which need not be aligned: kind and item as in ast_npy_header, in the machine's byte order;
 * kind 'B' is bfloat16.
 * Exact but for integers beyond 2^53, which are rounded. */
double ast_scalar_load(const void *place, char kind, size_t item);

/* Reverses the bytes of each of `count` numbers. */
void ast_scalar_swap(void *data, size_t count, size_t item);

/* All numbers of an array as doubles, in C order whatever the order in the file. */
void ast_scalar_flatten(double *numbers, const void *data, const ast_npy_header *header);

#endif
