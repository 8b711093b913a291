/* SPDX-License-Identifier: MIT
 *
 * Sparse matrices as scipy.sparse.save_npz writes them: a zip archive of .npy arrays. `format` says how the rest is to
 * be read: csr and csc have indptr, indices and data, coo has row, col and data; all have a shape. Indices may be in
 * any order; numbers of one place are added up. */
#include "npy.h"
#include "registry.h"
#include "sparse.h"
#include "zip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One array of the archive. */
typedef struct npz_array {
    unsigned char *bytes; /* the member */
    ast_npy_header header;
    const unsigned char *data;
} npz_array;

typedef struct npz_reader {
    ast_zip zip;
    npz_array data, first, second; /* first: indptr or row; second: indices or col */
    char format[4];
    ast_entries entries;
} npz_reader;

static bool read_member(npz_reader *reader, const char *name, npz_array *array, size_t *size, ast_format_error *error) {
    char member[32];
    bool found;
    snprintf(member, sizeof member, "%s.npy", name);
    if (!ast_zip_read(&reader->zip, member, &array->bytes, size, &found, error))
        return false;
    return found || ast_format_fail(error,
                                    "%s: has no array '%s'; .npz files are read as scipy.sparse.save_npz writes them, "
                                    "dense arrays from the .npy files of numpy.save",
                                    reader->zip.name, name);
}

/* A list of numbers of either byte order, of `kind`s such as "iu". */
static bool read_array(npz_reader *reader, const char *name, const char *kinds, npz_array *array,
                       ast_format_error *error) {
    size_t size, offset;
    if (!read_member(reader, name, array, &size, error))
        return false;
    const char *file = reader->zip.name;
    if (!ast_npy_offset(file, array->bytes, size, &offset, error))
        return false;
    if (offset > size)
        return ast_format_fail(error, "%s: the array '%s' is cut short", file, name);
    if (!ast_npy_parse(&array->header, file, array->bytes, offset, error))
        return false;
    if (array->header.dimensions != 1 || !strchr(kinds, array->header.kind))
        return ast_format_fail(error, "%s: the array '%s' is no list of %s", file, name,
                               strchr(kinds, 'f') ? "numbers" : "whole numbers");
    if (array->header.data_size != size - offset)
        return ast_format_fail(error, "%s: the array '%s' is cut short, or has too much", file, name);
    array->data = array->bytes + offset;
    if (array->header.swapped)
        ast_scalar_swap(array->bytes + offset, array->header.elements, array->header.item);
    return true;
}

static double number(const npz_array *array, size_t at) {
    return ast_scalar_load(array->data + at * array->header.item, array->header.kind, array->header.item);
}

/* 'csr' as bytes, or as characters of four bytes with zeros in between. */
static bool read_format(npz_reader *reader, ast_format_error *error) {
    npz_array array = {0};
    size_t size, offset, length = 0;
    bool good = read_member(reader, "format", &array, &size, error) &&
                ast_npy_offset(reader->zip.name, array.bytes, size, &offset, error);
    for (size_t i = good ? offset : 0; good && i < size; i++)
        if (array.bytes[i] && length < 3)
            reader->format[length++] = (char)array.bytes[i];
    free(array.bytes);
    const char *format = reader->format;
    bool known = strcmp(format, "csr") == 0 || strcmp(format, "csc") == 0 || strcmp(format, "coo") == 0;
    if (good && !known)
        return ast_format_fail(error, "%s: is neither a csr, csc nor coo matrix; convert it with .tocsr()",
                               reader->zip.name);
    return good;
}

static bool read_shape(npz_reader *reader, ast_format_error *error) {
    npz_array shape = {0};
    bool good = read_array(reader, "shape", "iu", &shape, error);
    if (good && shape.header.elements != 2)
        good = ast_format_fail(error, "%s: the shape has %zu numbers; a matrix has two", reader->zip.name,
                               shape.header.elements);
    good = good && ast_entries_size(&reader->entries, number(&shape, 0), number(&shape, 1), error);
    free(shape.bytes);
    return good;
}

static bool add_entry(npz_reader *reader, double row, double column, size_t e, ast_format_error *error) {
    ast_entries *entries = &reader->entries;
    double value = number(&reader->data, e);
    if (!(row >= 0 && row < (double)entries->rows && column >= 0 && column < (double)entries->columns))
        return ast_format_fail(error, "%s: entry %zu is at (%.0f, %.0f), outside of the matrix of %zu x %zu",
                               entries->name, e + 1, row, column, entries->rows, entries->columns);
    if (isinf(value))
        return ast_format_fail(error, "%s: entry %zu, at (%.0f, %.0f), is infinite; numbers must be finite",
                               entries->name, e + 1, row, column);
    return ast_entries_add(entries, (ast_entry){(int32_t)row, (int32_t)column, value}, error);
}

static bool add_coordinates(npz_reader *reader, ast_format_error *error) {
    size_t count = reader->data.header.elements;
    if (reader->first.header.elements != count || reader->second.header.elements != count)
        return ast_format_fail(error, "%s: has %zu rows, %zu columns and %zu numbers; they must be equally many",
                               reader->zip.name, reader->first.header.elements, reader->second.header.elements, count);
    for (size_t e = 0; e < count; e++)
        if (!add_entry(reader, number(&reader->first, e), number(&reader->second, e), e, error))
            return false;
    return true;
}

/* Row (csc: column) i holds the entries from indptr[i] on, up to indptr[i + 1]. */
static bool add_compressed(npz_reader *reader, bool by_column, ast_format_error *error) {
    const npz_array *starts = &reader->first;
    size_t lines = by_column ? reader->entries.columns : reader->entries.rows, count = reader->data.header.elements;
    if (starts->header.elements != lines + 1 || reader->second.header.elements != count)
        return ast_format_fail(error, "%s: indptr has %zu numbers and indices %zu; %zu and %zu are needed",
                               reader->zip.name, starts->header.elements, reader->second.header.elements, lines + 1,
                               count);
    if (number(starts, 0) != 0 || number(starts, lines) != (double)count)
        return ast_format_fail(error, "%s: indptr runs from %.0f to %.0f; there are %zu numbers", reader->zip.name,
                               number(starts, 0), number(starts, lines), count);
    for (size_t i = 0, e = 0; i < lines; i++) {
        double end = number(starts, i + 1);
        if (!(end >= (double)e && end <= (double)count))
            return ast_format_fail(error, "%s: indptr falls at %s %zu", reader->zip.name, by_column ? "column" : "row",
                                   i + 1);
        for (; e < (size_t)end; e++) {
            double other = number(&reader->second, e);
            if (!add_entry(reader, by_column ? other : (double)i, by_column ? (double)i : other, e, error))
                return false;
        }
    }
    return true;
}

static bool read_arrays(npz_reader *reader, ast_format_error *error) {
    if (!read_format(reader, error) || !read_shape(reader, error))
        return false;
    bool coordinates = strcmp(reader->format, "coo") == 0;
    if (!read_array(reader, "data", "fiub", &reader->data, error) ||
        !read_array(reader, coordinates ? "row" : "indptr", "iu", &reader->first, error) ||
        !read_array(reader, coordinates ? "col" : "indices", "iu", &reader->second, error))
        return false;
    return coordinates ? add_coordinates(reader, error)
                       : add_compressed(reader, strcmp(reader->format, "csc") == 0, error);
}

bool ast_npz_open(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    if (how->columns.count > 0)
        return ast_format_fail(error, "%s: columns cannot be picked from sparse rows", bytes->name);
    npz_reader reader = {.entries = {.name = bytes->name}};
    bool good = ast_zip_open(&reader.zip, bytes, error) && read_arrays(&reader, error);
    ast_zip_close(&reader.zip);
    free(reader.data.bytes);
    free(reader.first.bytes);
    free(reader.second.bytes);
    return ast_entries_open(&reader.entries, good, how->transpose, input, error);
}
