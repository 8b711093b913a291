/* SPDX-License-Identifier: MIT
 *
 * Columns of Arrow tables. */
#pragma once

#include "asterism_arrow.h"

#include "fault.h"

typedef enum ast_arrow_list { AST_ARROW_FIXED, AST_ARROW_LIST, AST_ARROW_LARGE } ast_arrow_list;

/* The column of points of a schema. */
typedef struct ast_arrow_column {
    size_t place; /* among the children of a struct; SIZE_MAX: the array is the column itself */
    ast_arrow_list list;
    size_t width; /* numbers of a list of fixed size */
    ast_type type;
    size_t element; /* bytes of a number */
} ast_arrow_column;

/* Finds the column of this name, or the only one if `name` is NULL. */
ast_status ast_arrow_find_column(const struct ArrowSchema *schema, const char *name, ast_arrow_column *column,
                                 ast_fault *fault);
