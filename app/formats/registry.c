/* SPDX-License-Identifier: MIT
 *
 * One table of formats, and the way from a path and options to the right reader. What can be judged without the file
 * is judged in `ast_resolve`, so that checking and opening cannot disagree. */
#include "registry.h"

#include <string.h>

/* The text formats share a reader: files called .csv are separated by blanks often enough that the name is no guide.
 * Only .tsv says what separates, so that its cells can be empty and have blanks in them. */
static const ast_format formats[] = {
    {"npy", ".npy", ast_npy_open, ast_npy_values, .table = ast_npy_table},
    {"csv", ".csv", ast_text_open, .values = ast_text_values},
    {"tsv", ".tsv", ast_tsv_open, .values = ast_tsv_values},
    {"txt", ".txt", ast_text_open, .values = ast_text_values},
    {"dat", ".dat", ast_text_open, .values = ast_text_values},
    {"mtx", ".mtx", .open = ast_mtx_open},
    {"npz", ".npz", .open = ast_npz_open},
    {"fbin", ".fbin", ast_table_open, .table = ast_dense_table, .type = AST_F4},
    {"u8bin", ".u8bin", ast_table_open, .table = ast_dense_table, .type = AST_U1},
    {"i8bin", ".i8bin", ast_table_open, .table = ast_dense_table, .type = AST_I1},
    {"fvecs", ".fvecs", ast_table_open, .table = ast_dense_table, .type = AST_F4, .counted = true},
    {"bvecs", ".bvecs", ast_table_open, .table = ast_dense_table, .type = AST_U1, .counted = true},
    {"safetensors", ".safetensors", ast_table_open, .table = ast_safetensors_table},
    {"h5", ".h5", ast_table_open, .table = ast_hdf5_table},
    {"hdf5", ".hdf5", ast_table_open, .table = ast_hdf5_table},
    {"pcd", ".pcd", .solid = ast_pcd_solid},
    {"ply", ".ply", .solid = ast_ply_solid},
    {"obj", ".obj", .solid = ast_obj_solid},
    {"stl", ".stl", .solid = ast_stl_solid},
};
#define FORMATS (sizeof formats / sizeof *formats)
#define FORMAT_NAMES                                                                                                   \
    "npy, csv, tsv, txt, dat, fbin, u8bin, i8bin, fvecs, bvecs or safetensors, each also with .gz, and h5"
#define SOLID_NAMES " (sparse rows: mtx and npz; 3-D files: pcd, ply, obj and stl)"

bool ast_input_check(const char *path, const ast_input_options *options, ast_format_error *error) {
    ast_resolved how;
    if (!ast_resolve(&how, path, options, error))
        return false;
    ast_columns_free(&how.columns);
    return true;
}

void ast_points_transpose(ast_points *points) {
    ast_points turned = *points;
    turned.count = points->dimension;
    turned.dimension = points->count;
    turned.row_stride = points->column_stride;
    turned.column_stride = points->row_stride;
    *points = turned;
}

bool ast_values_read(ast_values *values, const char *path, const ast_input_options *options, ast_format_error *error) {
    ast_resolved how;
    ast_bytes bytes;
    *values = (ast_values){0};
    if (!ast_resolve(&how, path, options, error))
        return false;
    if (!how.format->values) {
        ast_columns_free(&how.columns);
        return ast_format_fail(error, "%s: holds %s; a list of numbers is needed, .npy or text", path,
                               how.format->table ? "rows of points" : "sparse rows");
    }
    bool good = ast_bytes_open(&bytes, path, how.compressed, AST_NO_STOP, error);
    if (good) {
        good = how.format->values(values, &bytes, &how.columns, error);
        ast_bytes_close(&bytes);
    }
    ast_columns_free(&how.columns);
    return good;
}

static bool ends_with(const char *text, size_t length, const char *ending) {
    size_t size = strlen(ending);
    return length > size && strncasecmp(text + length - size, ending, size) == 0;
}

static const ast_format *format_called(const char *name, size_t length) {
    for (size_t i = 0; i < FORMATS; i++)
        if (strlen(formats[i].name) == length && strncasecmp(formats[i].name, name, length) == 0)
            return &formats[i];
    return NULL;
}

static const ast_format *format_of_path(const char *path, size_t length) {
    for (size_t i = 0; i < FORMATS; i++)
        if (ends_with(path, length, formats[i].extension))
            return &formats[i];
    return NULL;
}

/* By its name, or where that is NULL by the extension of the path; NULL: there is none. */
static const ast_format *find_format(const char *path, const char *name, bool *compressed) {
    const char *text = name ? name : path;
    size_t length = strlen(text);
    bool packed = ast_has_extension(text, ".gz");
    *compressed = packed || ast_has_extension(path, ".gz");
    length -= packed ? 3 : 0;
    return name ? format_called(name, length) : format_of_path(path, length);
}

const ast_format *ast_solid_format(const char *path, const char *name, bool *compressed) {
    const ast_format *format = find_format(path, name, compressed);
    return format && format->solid ? format : NULL;
}

const char *ast_table_format(const char *path) {
    bool compressed;
    const ast_format *format = find_format(path, NULL, &compressed);
    return format && format->table && !compressed ? format->name : NULL;
}

static bool no_format(const char *path, const char *name, ast_format_error *error) {
    if (name)
        return ast_format_fail(error, "'%.60s' is no known format; there are " FORMAT_NAMES SOLID_NAMES, name);
    if (strcmp(path, "-") == 0)
        return ast_format_fail(error, "standard input has no extension, so the format must be given: " FORMAT_NAMES);
    return ast_format_fail(error, "%s: the extension names no known format; there are " FORMAT_NAMES SOLID_NAMES, path);
}

/* A file of another format has no tensors or datasets to choose from. */
static bool choose_member(ast_resolved *how, const char *path, const ast_input_options *options,
                          ast_format_error *error) {
    bool tensors = how->format->table == ast_safetensors_table, datasets = how->format->table == ast_hdf5_table;
    if (options->tensor && !tensors)
        return ast_format_fail(error, "--tensor is for .safetensors files, and %s is none", path);
    if (options->dataset && !datasets)
        return ast_format_fail(error, "--dataset is for .h5 and .hdf5 files, and %s is none", path);
    how->member = tensors ? options->tensor : options->dataset;
    return true;
}

bool ast_resolve(ast_resolved *how, const char *path, const ast_input_options *options, ast_format_error *error) {
    ast_input_options defaults = {0};
    if (!options)
        options = &defaults;
    *how = (ast_resolved){.transpose = options->transpose, .empty = options->empty};
    how->format = find_format(path, options->format, &how->compressed);
    if (!how->format)
        return no_format(path, options->format, error);
    if (!how->format->open)
        return ast_format_fail(
            error, "%s: is a 3-D file, which has places and no table of directions; a table is needed: " FORMAT_NAMES,
            path);
    if (!choose_member(how, path, options, error) || !ast_columns_parse(&how->columns, options->columns, error))
        return false;
    how->columns.names = options->names;
    return true;
}
