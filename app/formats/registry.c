/* SPDX-License-Identifier: MIT
 *
 * One table of formats, and the way from a path and options to the right reader. What can be judged without the file
 * is judged in `ast_resolve`, so that checking and opening cannot disagree. */
#include "registry.h"

#include <string.h>

/* The text formats share a reader: files called .csv are separated by blanks often enough that the name is no guide.
 * Only .tsv says what separates, so that its cells can be empty and have blanks in them. */
static const ast_format formats[] = {
    {"npy", AST_HOLDS_TABLE, ast_npy_open, ast_npy_values, .table = ast_npy_table},
    {"csv", AST_HOLDS_TABLE, ast_text_open, .values = ast_text_values},
    {"tsv", AST_HOLDS_TABLE, ast_text_open, .values = ast_text_values, .separator = '\t'},
    {"txt", AST_HOLDS_TABLE, ast_text_open, .values = ast_text_values},
    {"dat", AST_HOLDS_TABLE, ast_text_open, .values = ast_text_values},
    {"mtx", AST_HOLDS_SPARSE, .open = ast_mtx_open},
    {"npz", AST_HOLDS_SPARSE, .open = ast_npz_open},
    {"fbin", AST_HOLDS_TABLE, ast_table_open, .table = ast_dense_table, .promise = ast_dense_promise, .type = AST_F4},
    {"u8bin", AST_HOLDS_TABLE, ast_table_open, .table = ast_dense_table, .promise = ast_dense_promise, .type = AST_U1},
    {"i8bin", AST_HOLDS_TABLE, ast_table_open, .table = ast_dense_table, .promise = ast_dense_promise, .type = AST_I1},
    {"fvecs", AST_HOLDS_TABLE, ast_table_open, .table = ast_dense_table, .promise = ast_dense_promise, .type = AST_F4,
     .counted = true},
    {"bvecs", AST_HOLDS_TABLE, ast_table_open, .table = ast_dense_table, .promise = ast_dense_promise, .type = AST_U1,
     .counted = true},
    {"safetensors", AST_HOLDS_TABLE, ast_table_open, .table = ast_safetensors_table,
     .promise = ast_safetensors_promise},
    {"h5", AST_HOLDS_TABLE, ast_table_open, .table = ast_hdf5_table, .promise = ast_whole_promise},
    {"hdf5", AST_HOLDS_TABLE, ast_table_open, .table = ast_hdf5_table, .promise = ast_whole_promise},
    {"parquet", AST_HOLDS_TABLE, ast_table_open, .table = ast_parquet_table, .promise = ast_whole_promise},
    {"pcd", AST_HOLDS_CLOUD, .solid = ast_pcd_solid},
    {"ply", AST_HOLDS_SOLID, .solid = ast_ply_solid},
    {"obj", AST_HOLDS_SOLID, .solid = ast_obj_solid},
    {"stl", AST_HOLDS_MESH, .solid = ast_stl_solid},
    {"las", AST_HOLDS_CLOUD, .solid = ast_las_solid},
    {"laz", AST_HOLDS_CLOUD, .solid = ast_las_solid}, /* says that it is compressed */
    {"xyz", AST_HOLDS_CLOUD, .solid = ast_xyz_solid},
    {"kitti", AST_HOLDS_CLOUD, .solid = ast_kitti_solid},
    {"png", .holds = AST_HOLDS_DEPTH}, /* images.c tells images apart by their first bytes */
    {"pgm", .holds = AST_HOLDS_DEPTH},
    {"pfm", .holds = AST_HOLDS_DEPTH},
    {"tiff", .holds = AST_HOLDS_DEPTH},
    {"tif", .holds = AST_HOLDS_DEPTH},
    {"mat", .holds = AST_HOLDS_SCENES},
};
#define FORMATS (sizeof formats / sizeof *formats)
#define IMAGES (AST_HOLDS_DEPTH | AST_HOLDS_SCENES)
#define FORMAT_NAMES                                                                                                   \
    "npy, csv, tsv, txt, dat, fbin, u8bin, i8bin, fvecs, bvecs or safetensors, each also with .gz, h5 and parquet"
#define SOLID_NAMES " (sparse rows: mtx and npz; 3-D files: pcd, ply, obj, stl, las, xyz and kitti)"

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
        good = how.format->values(values, &bytes, &how, error);
        ast_bytes_close(&bytes);
    }
    ast_columns_free(&how.columns);
    return good;
}

/* The row of the extension of a path, or of a name without a dot; images cannot be compressed. NULL: there is none. */
static const ast_format *find_row(const char *text, bool is_path, bool compressed) {
    size_t length = strlen(text) - (compressed ? strlen(".gz") : 0);
    for (const ast_format *row = formats; row < formats + FORMATS; row++) {
        size_t size = strlen(row->name);
        bool fits = is_path ? length > size + 1 && text[length - size - 1] == '.' : length == size;
        if (fits && strncasecmp(text + length - size, row->name, size) == 0)
            return compressed && row->holds & IMAGES ? NULL : row;
    }
    return NULL;
}

ast_file_format ast_format_of(const char *path, const char *name) {
    bool packed = ast_has_extension(path, ".gz"), named = name && ast_has_extension(name, ".gz");
    const ast_format *row = find_row(path, true, packed);
    if (name && !(row && row->holds & IMAGES))
        row = find_row(name, false, named);
    return (ast_file_format){.row = row, .holds = row ? row->holds : 0, .compressed = packed || named};
}

bool ast_format_has_rows(ast_file_format format) {
    return format.row && format.row->table && !format.compressed;
}

static bool no_format(const char *path, const char *name, ast_format_error *error) {
    if (name)
        return ast_format_fail(error, "'%.60s' is no known format; there are " FORMAT_NAMES SOLID_NAMES, name);
    if (strcmp(path, "-") == 0)
        return ast_format_fail(error, "standard input has no extension, so the format must be given: " FORMAT_NAMES);
    if (ast_has_extension(path, ".bin"))
        return ast_format_fail(error, "%s: can be anything by its name; --format kitti reads scans of KITTI", path);
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
    if (options->header != AST_HEADER_AUTO && how->format->open != ast_text_open)
        return ast_format_fail(error, "--header is for text, such as .csv, and %s is none", path);
    if (options->column && !tensors && !datasets && how->format->table != ast_parquet_table)
        return ast_format_fail(error,
                               "--column is for .parquet, .h5 and .safetensors files, and %s is none; text takes "
                               "--columns",
                               path);
    how->member = options->column ? options->column : tensors ? options->tensor : options->dataset;
    return true;
}

bool ast_resolve(ast_resolved *how, const char *path, const ast_input_options *options, ast_format_error *error) {
    ast_input_options defaults = {0};
    if (!options)
        options = &defaults;
    ast_file_format format = options->known.row ? options->known : ast_format_of(path, options->format);
    *how = (ast_resolved){format.row,
                          .compressed = format.compressed,
                          .transpose = options->transpose,
                          .empty = options->empty,
                          .header = options->header,
                          .remark = options->remark,
                          .check_header = options->transpose ? NULL : options->check_header,
                          .words = options->transpose ? NULL : options->words};
    if (!how->format || how->format->holds & IMAGES)
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
