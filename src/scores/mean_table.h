/* SPDX-License-Identifier: MIT
 *
 * Filling the tables of means that the kernels read. */
#ifndef AST_MEAN_TABLE_H
#define AST_MEAN_TABLE_H

#include "kernels.h"

/* Keeps the memory; the dimension is fixed from the first clear. */
void ast_mean_table_clear(ast_mean_table *table, size_t dimension, bool axial);
bool ast_mean_table_append(ast_mean_table *table, const float *mean,
                           int32_t id); /* false: no memory, table as before */
void ast_mean_table_free(ast_mean_table *table);

/* Large dimensions: another mean in the place of number k; nobody there, whom no score and no id stand for; and a table
 * that is another one's copy, false: no memory. */
void ast_mean_table_replace(ast_mean_table *table, size_t k, const float *mean);
void ast_mean_table_clear_entry(ast_mean_table *table, size_t k);
bool ast_mean_table_copy(ast_mean_table *table, const ast_mean_table *from);

#endif
