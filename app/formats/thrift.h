/* SPDX-License-Identifier: MIT
 *
 * Thrift's compact protocol, in which Parquet writes its metadata. Reading never goes beyond the end; malformed bytes
 * set `bad`, and everything after them reads as zero. */
#ifndef ASTERISM_FORMATS_THRIFT_H
#define ASTERISM_FORMATS_THRIFT_H

#include "formats.h"

typedef struct ast_thrift {
    const unsigned char *at, *end;
    bool bad;
} ast_thrift;

/* A field of a struct. */
typedef struct ast_thrift_field {
    int id, type;
} ast_thrift_field;

enum {
    AST_THRIFT_TRUE = 1,
    AST_THRIFT_FALSE,
    AST_THRIFT_I8,
    AST_THRIFT_I16,
    AST_THRIFT_I32,
    AST_THRIFT_I64,
    AST_THRIFT_DOUBLE,
    AST_THRIFT_BINARY,
    AST_THRIFT_LIST,
    AST_THRIFT_SET,
    AST_THRIFT_MAP,
    AST_THRIFT_STRUCT
};

/* Steps to the next field; the first time with a zeroed field. False at the end of the struct. What a field holds must
 * then be read or skipped. */
bool ast_thrift_next(ast_thrift *thrift, ast_thrift_field *field);
void ast_thrift_skip(ast_thrift *thrift, int type);

/* An integer of any size. */
int64_t ast_thrift_integer(ast_thrift *thrift, int type);

/* The bytes are where they were read from. */
const unsigned char *ast_thrift_binary(ast_thrift *thrift, int type, size_t *size);

/* How many elements follow, all of one type: at most as many as there are bytes. */
size_t ast_thrift_list(ast_thrift *thrift, int type, int *element);

#endif
