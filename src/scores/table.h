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

/* Large dimensions: another mean in the place of number k; nobody there, whom no score and no id stand for; and a table
 * that is another one's copy, false: no memory. */
void ast_table_replace(ast_table *table, size_t k, const float *mean);
void ast_table_vacate(ast_table *table, size_t k);
bool ast_table_copy(ast_table *table, const ast_table *from);

#endif
