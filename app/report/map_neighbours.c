/* SPDX-License-Identifier: MIT
 *
 * Dense rows: the library finds them. Sparse rows: over the columns, so that only rows that share one are met. */
#include "map_neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "projection.h"

/* ---- Dense ------------------------------------------------------------------------------------------------------- */

static bool find_dense(const ast_points *points, const uint32_t *rows, size_t count, size_t k, int threads,
                       int (*stop)(void *data), void *data, int32_t *neighbours) {
    size_t dimension = points->dimension;
    float *own = malloc((count * dimension + 1) * sizeof *own);
    double *row = malloc((dimension + 1) * sizeof *row), *cosines = malloc((count * k + 1) * sizeof *cosines);
    ast_context *context = NULL;
    bool good = own && row && cosines && ast_open(&context, threads) == AST_OK;
    for (size_t i = 0; good && i < count; i++) {
        ast_unit_row(points, rows[i], row);
        for (size_t d = 0; d < dimension; d++)
            own[i * dimension + d] = (float)row[d];
    }
    if (good) {
        ast_points view = ast_points_f4(own, count, dimension);
        ast_set_cancel(context, stop, data);
        good = ast_neighbours(context, &view, k, neighbours, cosines) == AST_OK;
    }
    ast_close(context);
    free(own);
    free(row);
    free(cosines);
    return good;
}

/* ---- Sparse ------------------------------------------------------------------------------------------------------ */

/* The entries of the rows by column. */
typedef struct columns {
    size_t *starts; /* (D + 1) */
    uint32_t *rows; /* of each entry: its row, 0..count - 1, in order */
    double *values; /* of the unit row */
} columns;

static double value_at(const ast_points *points, size_t entry) {
    return ((const double *)points->data)[entry]; /* as the readers of sparse rows make them */
}

static double length_of(const ast_points *points, size_t row) {
    double square = 0;
    for (size_t e = ast_points_index(points, points->starts, row);
         e < ast_points_index(points, points->starts, row + 1); e++)
        square += value_at(points, e) * value_at(points, e);
    return sqrt(square);
}

static bool sort_columns(columns *of, const ast_points *points, const uint32_t *rows, size_t count) {
    size_t entries = 0;
    of->starts = calloc(points->dimension + 1, sizeof *of->starts);
    for (size_t i = 0; of->starts && i < count; i++)
        for (size_t e = ast_points_index(points, points->starts, rows[i]);
             e < ast_points_index(points, points->starts, rows[i] + 1); e++, entries++)
            of->starts[ast_points_index(points, points->columns, e)]++;
    of->rows = malloc((entries + 1) * sizeof *of->rows);
    of->values = malloc((entries + 1) * sizeof *of->values);
    if (!of->starts || !of->rows || !of->values)
        return false;
    for (size_t d = 1; d <= points->dimension; d++)
        of->starts[d] += of->starts[d - 1];
    for (size_t i = count; i-- > 0;) { /* the ends of the columns become their beginnings */
        double length = length_of(points, rows[i]);
        for (size_t e = ast_points_index(points, points->starts, rows[i]);
             e < ast_points_index(points, points->starts, rows[i] + 1); e++) {
            size_t place = --of->starts[ast_points_index(points, points->columns, e)];
            of->rows[place] = (uint32_t)i;
            of->values[place] = value_at(points, e) / length;
        }
    }
    return true;
}

/* The k highest of the scores (count) but the row's own; rows without a score share no column with it. */
static void choose(const double *scores, size_t count, size_t own, size_t k, int32_t *best) {
    size_t found = 0;
    for (size_t j = 0; j < count; j++) {
        size_t place = found;
        if (j == own || scores[j] <= 0 || (found == k && scores[j] <= scores[best[k - 1]]))
            continue;
        if (found == k)
            place--;
        else
            found++;
        for (; place > 0 && scores[j] > scores[best[place - 1]]; place--)
            best[place] = best[place - 1];
        best[place] = (int32_t)j;
    }
    for (; found < k; found++)
        best[found] = -1;
}

static bool find_sparse(const ast_points *points, const uint32_t *rows, size_t count, size_t k, int (*stop)(void *data),
                        void *data, int32_t *neighbours) {
    columns by = {0};
    double *scores = malloc((count + 1) * sizeof *scores);
    bool good = sort_columns(&by, points, rows, count) && scores;
    for (size_t i = 0; good && i < count; i++) {
        memset(scores, 0, count * sizeof *scores);
        for (size_t e = ast_points_index(points, points->starts, rows[i]);
             e < ast_points_index(points, points->starts, rows[i] + 1); e++) {
            size_t column = ast_points_index(points, points->columns, e);
            for (size_t at = by.starts[column]; at < by.starts[column + 1]; at++)
                scores[by.rows[at]] += value_at(points, e) * by.values[at];
        }
        choose(scores, count, i, k, neighbours + i * k);
        good = !stop || !stop(data);
    }
    free(by.starts);
    free(by.rows);
    free(by.values);
    free(scores);
    return good;
}

bool ast_map_neighbours(const ast_points *points, const uint32_t *rows, size_t count, size_t k, int threads,
                        int (*stop)(void *data), void *data, int32_t *neighbours) {
    return points->starts ? find_sparse(points, rows, count, k, stop, data, neighbours)
                          : find_dense(points, rows, count, k, threads, stop, data, neighbours);
}
