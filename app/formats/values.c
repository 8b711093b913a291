/* SPDX-License-Identifier: MIT
 *
 * Labels, weights and means, and files of our own: read whole into the caller's hands. */
#include "registry.h"

#include "npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *shown(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool ast_read_labels(const char *path, const ast_input_options *options, int32_t **labels, size_t *count,
                     ast_format_error *error) {
    ast_values values;
    *labels = NULL;
    *count = 0;
    if (!ast_values_read(&values, path, options, error))
        return false;
    /* Labels are narrower than doubles, so they are made in place, front to back. */
    char *place = (char *)values.numbers;
    for (size_t i = 0; i < values.count; i++) {
        double number = values.numbers[i];
        bool good = number >= INT32_MIN && number <= INT32_MAX && number == floor(number);
        if (!good) {
            free(values.numbers);
            return ast_format_fail(error, "%s: number %zu is %.9g; labels are whole numbers from %d to %d", shown(path),
                                   i + 1, number, INT32_MIN, INT32_MAX);
        }
        int32_t label = (int32_t)number;
        memcpy(place + i * sizeof label, &label, sizeof label);
    }
    void *shrunk = realloc(values.numbers, values.count * sizeof **labels);
    *labels = shrunk ? shrunk : (void *)place;
    *count = values.count;
    return true;
}

bool ast_read_numbers(const char *path, const ast_input_options *options, double **numbers, size_t *count,
                      ast_format_error *error) {
    ast_values values;
    *numbers = NULL;
    *count = 0;
    if (!ast_values_read(&values, path, options, error))
        return false;
    if (!values.vector) {
        free(values.numbers);
        return ast_format_fail(error, "%s: is a table; a single column or row of numbers is needed", shown(path));
    }
    *numbers = values.numbers;
    *count = values.count;
    return true;
}

static double number_at(const char *place, ast_type type) {
    return ast_scalar_load(place, ast_number_type_of(type)->kind, ast_number_type_of(type)->item);
}

bool ast_read_matrix(const char *path, const ast_input_options *options, float **values, size_t *rows, size_t *columns,
                     ast_format_error *error) {
    ast_input input;
    *values = NULL;
    *rows = *columns = 0;
    if (!ast_input_open(&input, path, options, error))
        return false;
    if (input.points.starts) {
        ast_input_close(&input);
        return ast_format_fail(error, "%s: holds sparse rows; a dense table is needed, such as .npy or .csv",
                               shown(path));
    }
    if (input.height > 0) {
        ast_input_close(&input);
        return ast_format_fail(error, "%s: is an array of three dimensions; a table needs two, rows and columns",
                               shown(path));
    }
    const ast_points *points = &input.points;
    float *place = *values = malloc(points->count * points->dimension * sizeof(float));
    for (size_t i = 0; place && i < points->count; i++) {
        const char *row = (const char *)points->data + (ptrdiff_t)i * points->row_stride;
        for (size_t d = 0; d < points->dimension; d++)
            *place++ = (float)number_at(row + (ptrdiff_t)d * points->column_stride, points->type);
    }
    if (*values) {
        *rows = points->count;
        *columns = points->dimension;
    }
    ast_input_close(&input);
    return *values || ast_format_no_memory(error, shown(path));
}

size_t ast_points_index(const ast_points *points, const void *array, size_t at) {
    return points->index == AST_I8 ? (size_t)((const int64_t *)array)[at] : (size_t)((const int32_t *)array)[at];
}

static void sparse_row(const ast_points *points, size_t index, double *row) {
    size_t item = ast_number_type_of(points->type)->item, end = ast_points_index(points, points->starts, index + 1);
    memset(row, 0, points->dimension * sizeof *row);
    for (size_t e = ast_points_index(points, points->starts, index); e < end; e++)
        row[ast_points_index(points, points->columns, e)] =
            number_at((const char *)points->data + e * item, points->type);
}

void ast_points_row(const ast_points *points, size_t index, double *row) {
    if (points->starts) {
        sparse_row(points, index, row);
        return;
    }
    const char *place = (const char *)points->data + (ptrdiff_t)index * points->row_stride;
    for (size_t d = 0; d < points->dimension; d++)
        row[d] = number_at(place + (ptrdiff_t)d * points->column_stride, points->type);
}

bool ast_read_file(const char *path, unsigned char **bytes, size_t *size, ast_format_error *error) {
    ast_bytes file;
    *bytes = NULL;
    *size = 0;
    if (!ast_bytes_open(&file, path, false, AST_NO_STOP, error))
        return false;
    bool good = file.sized || ast_format_fail(error, "%s: is no regular file", shown(path));
    size_t got = 0;
    if (good) {
        *bytes = malloc((size_t)file.size + 1);
        good = *bytes ? ast_bytes_read(&file, *bytes, (size_t)file.size, &got, error)
                      : ast_format_no_memory(error, shown(path));
    }
    ast_bytes_close(&file);
    if (good)
        *size = got;
    else
        free(*bytes), *bytes = NULL;
    return good;
}
