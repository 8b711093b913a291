/* SPDX-License-Identifier: MIT
 *
 * Fills the tables of means that the kernels read. */
#pragma once

#include "kernels.h"

/* Makes the table empty and keeps its memory. The dimension must not change after the first call. */
void ast_mean_table_clear(ast_mean_table *table, size_t dimension, bool axial);
/* Adds a mean at the end. false: no memory; the table is unchanged. */
bool ast_mean_table_append(ast_mean_table *table, const float *mean, int32_t id);
void ast_mean_table_free(ast_mean_table *table);

/* Large dimensions only. ast_mean_table_replace overwrites mean k. ast_mean_table_clear_entry makes entry k unused: no
 * score and no id refer to it. ast_mean_table_copy copies a table; false: no memory. */
void ast_mean_table_read(const ast_mean_table *table, size_t k, float *mean);
void ast_mean_table_replace(ast_mean_table *table, size_t k, const float *mean);
void ast_mean_table_clear_entry(ast_mean_table *table, size_t k);
bool ast_mean_table_copy(ast_mean_table *table, const ast_mean_table *from);
