/* SPDX-License-Identifier: MIT
 *
 * tf-idf: a number x in column j becomes x log(N / n_j), where N is the number of rows with a number other than 0 and
 * n_j that of rows with one in column j. What every row has counts nothing; rows that have nothing else are missing
 * then. */
#include "sparse.h"

#include <math.h>
#include <stdlib.h>

#include "files.h"
#include "terminal.h"

static const ast_cli_option options[] = {
    {"tf-idf", AST_CLI_FLAG, NULL,
     "counts: multiply each by log(N / n), N the number of rows that are not empty and n the number of "
     "rows with this column",
     offsetof(ast_cli_sparse, tf_idf),
     .more = "The counts are those of the file that is read: weight new documents before you assign them to known "
             "means."},
    {0}};

const ast_cli_group ast_cli_sparse_group = {
    .title = "Options for sparse rows",
    .options = options,
    .inputs = AST_CLI_SPARSE,
    .more =
        "Sparse rows (.mtx, .npz) are mostly documents as counts of terms. They are for the methods `dp`, `spkm` and "
        "`mbspkm` without --axial, for `assign`, and for the silhouette by cosine. Labels are those of the same "
        "rows given densely."};

/* In how many rows each column is, and how many rows there are. */
static size_t count_rows(const ast_points *points, const double *values, uint32_t *rows_with) {
    size_t rows = 0;
    for (size_t i = 0; i < points->count; i++) {
        int any = 0;
        for (size_t e = ast_points_index(points, points->starts, i);
             e < ast_points_index(points, points->starts, i + 1); e++)
            if (values[e] != 0) {
                rows_with[ast_points_index(points, points->columns, e)]++;
                any = 1;
            }
        rows += (size_t)any;
    }
    return rows;
}

int ast_cli_sparse_apply(const ast_cli_sparse *sparse, const char *path, ast_input *input) {
    const ast_points *points = &input->points;
    if (!sparse->tf_idf)
        return -1;
    if (!points->starts)
        return ast_cli_fail("%s holds dense rows; --tf-idf is for sparse ones (.mtx, .npz)", ast_cli_name(path));
    double *values = input->body.owned; /* the readers of sparse rows put them first, in double */
    uint32_t *rows_with = calloc(points->dimension, sizeof *rows_with);
    if (!rows_with)
        return ast_cli_fail("%s: there is no memory for %zu columns", ast_cli_name(path), points->dimension);
    size_t rows = count_rows(points, values, rows_with);
    for (size_t e = 0; e < ast_points_index(points, points->starts, points->count); e++) {
        uint32_t with = rows_with[ast_points_index(points, points->columns, e)];
        values[e] *= with > 0 ? log((double)rows / (double)with) : 0;
    }
    free(rows_with);
    return -1;
}
