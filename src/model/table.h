/* SPDX-License-Identifier: MIT
 *
 * Filling the tables of means that the kernels read. */
#ifndef AST_MODEL_TABLE_H
#define AST_MODEL_TABLE_H

#include "kernels.h"

/* Keeps the memory; the dimension is fixed from the first clear. */
void ast_table_clear(ast_table *table, size_t dimension, bool axial);
bool ast_table_append(ast_table *table, const float *mean, int32_t id); /* false: no memory, table as before */
void ast_table_free(ast_table *table);

#endif
