/* SPDX-License-Identifier: MIT
 *
 * The rows that a map is learned from (docs/metric.md): of the distinct rows without their mean, those with the
 * smallest hashes by content. Which ones that are depends neither on the order of the rows nor on where they are: in
 * memory, behind a source, or on several ranks. */
#pragma once

#include "center.h"
#include "content.h"

#define AST_METRIC_SAMPLE 20000    /* rows whose neighbours are found, among themselves */
#define AST_METRIC_SEED 0x6d657472 /* of their hashes */

/* A row that was drawn. Of equal rows it is the one with the smallest weight, and of these the first one. */
typedef struct ast_drawn_row {
    uint64_t hash, number; /* number: among the rows of all ranks */
    double weight;
    size_t place; /* of the row in `rows` */
} ast_drawn_row;

/* Zeroed at first; to be freed in any case. */
typedef struct ast_row_sample {
    size_t dimension, most, room; /* most: rows to draw; room: rows that fit before the surplus is dropped */
    size_t count;
    ast_drawn_row *drawn; /* (room) */
    float *rows;          /* (room, D) */
    ast_content content;
    _Atomic uint64_t bound; /* larger hashes are not among the smallest */
    atomic_flag busy;
} ast_row_sample;

/* For a sample of `most` rows; count: an upper bound of the rows that will be offered. false: no memory. */
bool ast_row_sample_open(ast_row_sample *sample, size_t dimension, size_t count, size_t most);
void ast_row_sample_free(ast_row_sample *sample);

/* Offers a unit row. May be called from several threads at once. */
void ast_row_sample_offer(ast_row_sample *sample, const float *row, double weight, uint64_t number);

/* All rows were offered: `drawn` and `rows` are in the order by content, without gaps. */
void ast_row_sample_end(ast_row_sample *sample);

/* Where the rows are. */
typedef struct ast_map_input {
    ast_context *context;
    const ast_points *points; /* in memory; of a source shape and weights */
    const ast_source *source; /* or NULL */
    size_t offset, total;     /* rows before those of this rank, and of all ranks */
} ast_map_input;

/* Reads the rows once: draws the sample of rows that take part, and finds the mean of the rows without the centre (D).
 * An infinity is an error. A collective call, after which all ranks have the same sample. */
ast_status ast_draw_rows(const ast_map_input *input, const float *center, float *mean, ast_row_sample *sample);

/* drawn (sample) receives the labels of the drawn rows; labels: of the rows of this rank. A collective call. */
void ast_drawn_labels(const ast_map_input *input, const ast_row_sample *sample, const int32_t *labels, int32_t *drawn);

/* Bytes of a sample of so many rows. */
double ast_row_sample_bytes(size_t dimension, size_t count);
