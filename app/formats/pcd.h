/* SPDX-License-Identifier: MIT
 *
 * The header of a PCD file. */
#ifndef ASTERISM_FORMATS_PCD_H
#define ASTERISM_FORMATS_PCD_H

#include "solid_readers.h"

enum { AST_PCD_FIELDS = 256 };

typedef enum ast_pcd_data { AST_PCD_ASCII, AST_PCD_BINARY, AST_PCD_COMPRESSED } ast_pcd_data;

typedef struct ast_pcd_field {
    int slot; /* 0 to 2: x, y, z; 3 to 5: its normal; -1: anything else */
    ast_solid_type type;
    size_t count;  /* numbers a point */
    size_t offset; /* in a binary row, in bytes */
} ast_pcd_field;

typedef struct ast_pcd_header {
    ast_pcd_field fields[AST_PCD_FIELDS];
    size_t field_count;
    size_t row;                                  /* bytes */
    size_t numbers;                              /* a row */
    const ast_pcd_field *slots[AST_SOLID_SLOTS]; /* NULL: there is none */
    bool normals;
    size_t points, rows; /* rows: HEIGHT */
    ast_pcd_data data;
    const char *body;
} ast_pcd_header;

/* The size and the viewpoint go into the solid. */
bool ast_pcd_read_header(ast_pcd_header *header, ast_solid *solid, const ast_solid_file *file);

/* ---- lzf.c: the compression inside PCD files ----------------------------------------------------------------------
 */

/* Three bytes stand for at most 264: nothing that is larger than this many times its input can come out of it. */
#define AST_LZF_GROWTH 88

/* Decompresses all of the input; false unless just `size` bytes come out. */
bool ast_lzf_decompress(unsigned char *place, size_t size, const unsigned char *input, size_t input_size);

#endif
