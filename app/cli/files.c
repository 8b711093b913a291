/* SPDX-License-Identifier: MIT
 *
 * Opening files and the library for the subcommands, and turning what goes wrong into sentences and exit codes. What
 * the names alone show is wrong usage; what shows only on opening them is a failure. */
#include "files.h"

#include <platform.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "interrupt.h"
#include "terminal.h"

const char *const ast_cli_headers[] = {"auto", "yes", "no", NULL}; /* in the order of ast_header */

#define AT(field) offsetof(ast_cli_source, field)
static const ast_cli_option options_table[] = {
    {"format", AST_CLI_TEXT, "NAME",
     "npy, csv, tsv, txt, dat, mtx, npz, fbin, u8bin, i8bin, fvecs, bvecs or safetensors, each also with .gz; h5; "
     "parquet; pcd, ply, obj, stl, las or xyz: needed for standard input, otherwise the extension decides; kitti: a "
     ".bin scan of KITTI",
     AT(format), .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_DEPTH & ~AST_CLI_SEVERAL},
    {"tensor", AST_CLI_TEXT, "NAME", "the tensor of a .safetensors file, if the file has several of two dimensions",
     AT(tensor), .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL},
    {"dataset", AST_CLI_TEXT, "PATH",
     "the dataset of an .h5 file, such as /train, if the file has several of two dimensions", AT(dataset),
     .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL},
    {"column", AST_CLI_TEXT, "NAME",
     "the column of lists of a .parquet file, if the file has several; also the dataset of an .h5 file or the tensor "
     "of a .safetensors file",
     AT(column), .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL, .excludes = "tensor dataset"},
    {"columns", AST_CLI_TEXT, "LIST",
     "columns to read: numbers from 1 on, or names in the header of a text, such as 2-101, 1,3,5-7 or dec,inc",
     AT(columns), .inputs = AST_CLI_POINTS | AST_CLI_CLOUD,
     .more = "They are read in this order. Numbers and names can be mixed. Of an .xyz cloud they are x, y and z, and "
             "with six columns the normal."},
    {"header", AST_CLI_CHOICE, "WHEN",
     "whether the first line of a text names the columns: yes, no, or auto: it does if it has text and no number, or "
     "counts the columns",
     AT(header), .choices = ast_cli_headers, .standard = "auto",
     .more = "A first column of whole numbers that go up by one, under an empty name or without a header, is an index: "
             "it is left out, and a line says so. --columns keeps it."},
    {"transpose", AST_CLI_FLAG, NULL, "the columns of the file are the points, not its rows", AT(transpose),
     .inputs = AST_CLI_POINTS | AST_CLI_SPARSE},
    {"dip-direction", AST_CLI_FLAG, NULL,
     "two columns, dip direction and dip of a plane in degrees: they become its pole (x east, y north, z "
     "up)",
     AT(dip_direction), .excludes = "strike-dip trend-plunge azimuth",
     .more = "Poles are axial: see --axial. docs/field.md says how angles may be written."},
    {"strike-dip", AST_CLI_FLAG, NULL,
     "two columns, strike (right-hand rule) and dip of a plane in degrees: they become its pole", AT(strike_dip),
     .excludes = "trend-plunge azimuth", .more = "The dip direction is the strike plus 90 degrees."},
    {"trend-plunge", AST_CLI_FLAG, NULL,
     "two columns, trend and plunge of a line in degrees: they become its direction, downwards", AT(trend_plunge),
     .excludes = "azimuth", .more = "A negative plunge points up."},
    {"azimuth", AST_CLI_FLAG, NULL,
     "one column, an azimuth in degrees clockwise from north: it becomes a direction in the plane (x east, y north)",
     AT(azimuth), .more = "Strikes alone, lineaments and currents. Two-ended ones are axial: see --axial."},
    {0}};

const ast_cli_group ast_cli_source_group = {
    .title = "Options for tables of points", .options = options_table, .inputs = AST_CLI_POINTS};

static int same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

const char *ast_cli_name(const char *path) {
    return same(path, "-") ? "standard input" : path;
}

ast_input_options ast_cli_input_options(const ast_cli_source *source) {
    return (ast_input_options){.format = source->format,
                               .columns = source->columns,
                               .tensor = source->tensor,
                               .dataset = source->dataset,
                               .column = source->column,
                               .transpose = source->transpose,
                               .names = source->names,
                               .words = ast_cli_field_words(source),
                               .check_header = ast_cli_field_notation(source) ? NULL : ast_cli_field_check_header,
                               .header = (ast_header)source->header};
}

void ast_cli_say_remark(const ast_cli_common *common, char remark[AST_REMARK]) {
    if (remark[0] && !(common && common->quiet))
        ast_cli_say("%s", remark);
    remark[0] = '\0';
}

/* ---- What the names show ----------------------------------------------------------------------------------------- */

/* If the name has no known format, the file may be missing, or it may be a folder. A wrong extension is wrong usage,
 * whether there is such a file or not; the rest takes a look at the disk. */
static int refuse(const char *path, const char *before, const char *problem) {
    struct stat file;
    bool there = stat(path, &file) == 0;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    if (!there && (!dot || dot == name))
        return ast_cli_fail("%s%s: cannot be opened: %s", before, path, strerror(errno));
    if (there && S_ISDIR(file.st_mode))
        return ast_cli_fail("%s%s is a folder, and one file is needed here", before, path);
    return ast_cli_misuse("%s%s", before, problem);
}

int ast_cli_check_points(const char *path, ast_file_format format, const ast_cli_source *source) {
    ast_format_error error;
    if (source->columns && !ast_columns_check(source->columns, &error))
        return ast_cli_misuse("--columns: %s", error.text);
    ast_input_options options = ast_cli_input_options(source);
    options.known = format;
    if (same(path, "-") && !source->format)
        return ast_cli_misuse("standard input needs --format NAME, such as --format csv");
    if (source->format && !ast_input_check("-", &options, &error)) /* it can only be the format's fault */
        return ast_cli_misuse("--format: %s", error.text);
    if (path && !ast_input_check(path, &options, &error))
        return refuse(path, "", error.text);
    return -1;
}

int ast_cli_check_read(const char *option, const char *path) {
    ast_format_error error;
    if (same(path, "-"))
        return ast_cli_misuse("--%s needs the name of a file: only the points can come from standard input", option);
    char before[64];
    snprintf(before, sizeof before, "--%s: ", option);
    if (path && !ast_input_check(path, NULL, &error))
        return refuse(path, before, error.text);
    return -1;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

int ast_cli_read_points(ast_input *input, const char *path, const ast_cli_source *source) {
    ast_format_error error;
    if (!ast_input_read(input, &error))
        return ast_cli_fail("%s", error.text);
    if (!ast_cli_field_notation(source))
        return -1;
    if (input->points.starts)
        return ast_cli_fail("%s holds sparse rows; tables of angles are dense", ast_cli_name(path));
    ast_points points = input->points;
    float *vectors = NULL;
    size_t capacity = 0;
    int code = ast_cli_field_points(source, ast_cli_name(path), &points, &vectors, &capacity);
    if (code < 0)
        ast_input_replace(input, vectors, points.count, points.dimension);
    else
        free(vectors);
    return code;
}

int ast_cli_read_weights(const char *path, const char *input, size_t count, double **weights) {
    ast_format_error error;
    size_t read;
    char remark[AST_REMARK] = "";
    if (!ast_read_numbers(path, &(ast_input_options){.remark = remark}, weights, &read, &error))
        return ast_cli_fail("%s", error.text);
    ast_cli_say_remark(NULL, remark);
    if (read != count)
        return ast_cli_fail("%s has %zu weights, but %s has %zu points", path, read, ast_cli_name(input), count);
    int counts = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = (*weights)[i];
        if (!isfinite(weight) || weight < 0)
            return ast_cli_fail("%s: weight %zu is %g; weights must be finite and not negative", path, i + 1, weight);
        counts |= weight > 0;
    }
    if (!counts)
        return ast_cli_fail("%s: every weight is 0; at least one point must count", path);
    return -1;
}

int ast_cli_read_names(const char *path, const char *input, size_t count, ast_names *names) {
    ast_format_error error;
    if (!ast_read_names(path, names, &error))
        return ast_cli_fail("%s", error.text);
    if (names->count != count)
        return ast_cli_fail("%s has %zu name%s, but %s has %zu row%s", path, names->count, names->count == 1 ? "" : "s",
                            ast_cli_name(input), count, count == 1 ? "" : "s");
    return -1;
}

int ast_cli_read_center(const char *path, size_t dimension, float **center) {
    ast_format_error error;
    size_t rows, columns;
    if (!ast_read_matrix(path, NULL, center, &rows, &columns, &error))
        return ast_cli_fail("%s", error.text);
    if (rows != 1 || columns != dimension)
        return ast_cli_fail("%s is %zu x %zu; the centre of points of %zu dimensions is 1 x %zu", path, rows, columns,
                            dimension, dimension);
    for (size_t d = 0; d < dimension; d++)
        if (!isfinite((*center)[d]))
            return ast_cli_fail("%s: component %zu of the centre is not finite", path, d + 1);
    return -1;
}

static int is_direction(const float *row, size_t dimension) {
    double square = 0;
    for (size_t d = 0; d < dimension; d++)
        square += (double)row[d] * (double)row[d];
    return square > 0 && isfinite(square);
}

int ast_cli_read_means(const char *path, size_t dimension, float **means, size_t *count) {
    ast_format_error error;
    size_t columns;
    char remark[AST_REMARK] = "";
    if (!ast_read_matrix(path, &(ast_input_options){.remark = remark}, means, count, &columns, &error))
        return ast_cli_fail("%s", error.text);
    ast_cli_say_remark(NULL, remark);
    if (columns != dimension)
        return ast_cli_fail("%s has means of %zu dimensions, but the points have %zu", path, columns, dimension);
    for (size_t i = 0; i < *count; i++) {
        if (!is_direction(*means + i * dimension, dimension))
            return ast_cli_fail("%s: mean %zu is no direction: it is zero, or holds a NaN or an infinity", path, i + 1);
    }
    return -1;
}

int ast_cli_read_labels(const char *path, int32_t **labels, size_t *count) {
    ast_format_error error;
    char remark[AST_REMARK] = "";
    bool good = ast_read_labels(path, &(ast_input_options){.remark = remark}, labels, count, &error);
    ast_cli_say_remark(NULL, remark);
    return ast_cli_outcome(good, &error);
}

/* ---- The library ------------------------------------------------------------------------------------------------- */

int ast_cli_cancel(void *data) {
    (void)data;
    return ast_cli_interrupted();
}

int ast_cli_open_context(const ast_cli_common *common, ast_context **context) {
    ast_status status = ast_open(context, (int)common->threads);
    if (status == AST_OK)
        return ast_set_cancel(*context, ast_cli_cancel, NULL) == AST_OK ? -1 : AST_CLI_FAILED;
    return ast_cli_fail(status == AST_NO_THREADS ? "the threads could not be started; try --threads 1"
                                                 : "there is not enough memory to start");
}

int ast_cli_stopped(void) {
    return ast_cli_end(AST_CLI_SIGNAL + ast_cli_interrupted(), "stopped; nothing was written");
}

int ast_cli_no_usable_row(const char *input) {
    return ast_cli_fail("%s has no usable row: every one is zero or holds a NaN", ast_cli_name(input));
}

int ast_cli_status(ast_status status, const ast_context *context, const char *input) {
    if (status == AST_OK)
        return -1;
    if (status == AST_CANCELLED)
        return ast_cli_stopped();
    return ast_cli_end(status == AST_BAD_OPTION && !input ? AST_CLI_USAGE : AST_CLI_FAILED, "%s%s%s",
                       input ? ast_cli_name(input) : "", input ? ": " : "", ast_message(context));
}
