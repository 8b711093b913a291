/* SPDX-License-Identifier: MIT
 *
 * Rows of points: files are opened once, and then read whole or, if they are binary tables, as their rows are needed.
 * Reading rows maps nothing, so that a limit on the address space does not matter, and needs no position in the file,
 * so that threads do not wait for each other. */
#include "registry.h"

#include "platform.h"

#include <stdlib.h>
#include <string.h>

/* An open file. */
typedef struct input_file {
    ast_bytes bytes;
    bool known; /* a regular file of a binary format: `table` has been read from its header */
    ast_file_table table;
    size_t first, count; /* the number of its first row among those of all files; its rows */
    size_t odd;          /* the row whose dimension is another one, if that is the reason */
    int reason;          /* why rows could not be read, as ast_table_rows; 0: they could */
} input_file;

struct ast_opened {
    ast_resolved how;
    size_t row;        /* bytes */
    const char *wrong; /* why rows cannot be read one by one, or NULL */
    size_t count;
    input_file files[];
};

static bool allocate_files(ast_input *input, size_t count, ast_format_error *error);
static bool add_file(ast_input *input, const ast_input_file *given, bool several, ast_format_error *error);
static bool read_header(ast_input *input, input_file *file, ast_format_error *error);

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

bool ast_input_begin(ast_input *input, const ast_input_file *files, size_t count, const ast_input_options *options,
                     ast_format_error *error) {
    ast_input_options how = options ? *options : (ast_input_options){0};
    if (files[0].format.row)
        how.known = files[0].format;
    *input = (ast_input){0};
    bool good = allocate_files(input, count, error) && ast_resolve(&input->opened->how, files[0].path, &how, error);
    for (size_t i = 0; i < count && good; i++)
        good = add_file(input, &files[i], count > 1, error);
    if (!good)
        ast_input_close(input);
    return good;
}

bool ast_input_open(ast_input *input, const char *path, const ast_input_options *options, ast_format_error *error) {
    return ast_input_begin(input, &(ast_input_file){.path = (char *)path}, 1, options, error) &&
           ast_input_read(input, error);
}

bool ast_input_open_memory(ast_input *input, const char *name, const void *memory, size_t size,
                           const ast_input_options *options, ast_format_error *error) {
    ast_resolved how;
    ast_bytes bytes;
    *input = (ast_input){0};
    if (!ast_resolve(&how, name, options, error))
        return false;
    bool good = ast_bytes_open_memory(&bytes, name, memory, size, how.compressed, error) &&
                ast_input_read_bytes(input, &bytes, &how, error);
    ast_columns_free(&how.columns);
    return good;
}

static void close_files(ast_input *input) {
    struct ast_opened *opened = input->opened;
    for (size_t i = 0; opened && i < opened->count; i++) {
        ast_table_close(&opened->files[i].table);
        ast_bytes_close(&opened->files[i].bytes);
    }
    if (opened)
        ast_columns_free(&opened->how.columns);
    free(opened);
    input->opened = NULL;
}

void ast_input_close(ast_input *input) {
    close_files(input);
    ast_body_free(&input->body);
    ast_names_free(&input->names);
    *input = (ast_input){0};
}

void ast_input_replace(ast_input *input, float *values, size_t count, size_t dimension) {
    ast_names names = input->names;
    input->names = (ast_names){0};
    ast_input_close(input);
    input->names = names;
    input->points = ast_points_f4(values, count, dimension);
    input->body.owned = values;
}

static bool allocate_files(ast_input *input, size_t count, ast_format_error *error) {
    input->opened = calloc(1, sizeof *input->opened + count * sizeof(input_file));
    return input->opened || ast_format_fail(error, "there is not enough memory for a list of %zu files", count);
}

/* Whether the file just opened can be read as one with the files before it, whose rows are `all`. */
static bool joins(const ast_input *input, const ast_source *all, const char *name, ast_format_error *error) {
    const ast_source *own = &input->source;
    const struct ast_opened *opened = input->opened;
    const char *first = opened->files[0].bytes.name;
    if (opened->wrong)
        return ast_format_fail(error,
                               "%s: is %s; files that are read as one must be in C order and in this machine's byte "
                               "order",
                               name, opened->wrong);
    if (input->height)
        return ast_format_fail(error, "%s: is an image, H x W x D; files that are read as one must be tables, N x D",
                               name);
    if (all->count > 0 && own->dimension != all->dimension)
        return ast_format_fail(error, "%s: has points of %zu dimensions, but %s has points of %zu", name,
                               own->dimension, first, all->dimension);
    if (all->count > 0 && own->type != all->type)
        return ast_format_fail(error,
                               "%s: holds numbers of type %s, but %s holds %s; files that are read as one must "
                               "have one type",
                               name, ast_number_type_of(own->type)->name, first, ast_number_type_of(all->type)->name);
    return true;
}

/* Opens a file, and reads the header of a regular file of a binary format. */
static bool add_file(ast_input *input, const ast_input_file *given, bool several, ast_format_error *error) {
    struct ast_opened *opened = input->opened;
    input_file *file = &opened->files[opened->count];
    ast_source all = input->source;
    const char *path = given->path;
    if (several && ast_format_has_rows(given->format) && given->format.row != opened->how.format)
        return ast_format_fail(error, "%s: is no .%s, as %s is; files that are read as one must have one format", path,
                               opened->how.format->name, opened->files[0].bytes.name);
    if (!ast_bytes_open(&file->bytes, path, opened->how.compressed, AST_NO_STOP, error))
        return false;
    opened->count++;
    input->size = file->bytes.size;
    file->known = opened->how.format->table && file->bytes.sized;
    file->first = all.count;
    if (several && !file->known)
        return ast_format_fail(error, "%s: is no regular file of a binary format, whose rows could be read one by one",
                               path);
    if (!file->known)
        return true;
    if (!read_header(input, file, error) || (several && !joins(input, &all, path, error)))
        return false;
    input->source.count += all.count;
    return true;
}

/* ---- Reading whole ----------------------------------------------------------------------------------------------- */

static bool finish(ast_input *input, const ast_resolved *how, const char *name, ast_format_error *error) {
    if (how->columns.names && input->names.count == 0 && input->points.count > 0)
        return ast_format_fail(error, "%s: is %s, which has no column of names; only text and .parquet have one", name,
                               how->format->name);
    return input->points.count > 0 || how->empty || ast_format_fail(error, "%s: has no row of numbers", name);
}

bool ast_input_read_bytes(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    const char *name = bytes->name;
    bool good = how->format->open(input, bytes, how, error) && finish(input, how, name, error);
    ast_bytes_close(bytes);
    if (!good)
        ast_input_close(input);
    return good;
}

bool ast_input_read(ast_input *input, ast_format_error *error) {
    const ast_resolved *how = &input->opened->how;
    input_file *file = &input->opened->files[0];
    ast_bytes *bytes = &file->bytes;
    bytes->allowed = file->known ? 0 : input->allowed;
    bool good = (file->known ? ast_table_read(input, &file->table, bytes, how, error)
                             : how->format->open(input, bytes, how, error)) &&
                finish(input, how, bytes->name, error);
    if (good)
        close_files(input); /* a mapping outlives its descriptor */
    else
        ast_input_close(input);
    return good;
}

bool ast_input_read_rows(ast_input *input, size_t first, size_t count, ast_format_error *error) {
    const ast_source *source = &input->source;
    size_t row = input->opened->row;
    input->body.owned = malloc((count + 1) * row);
    if (!input->body.owned)
        return ast_format_fail(error, "%s: there is no memory for %zu points of %zu dimensions",
                               input->opened->files[0].bytes.name, count, source->dimension);
    if (source->read(first, count, input->body.owned, source->data) != 0)
        return ast_input_failed(input, error) ? false : ast_format_no_memory(error, "the input");
    input->points = ast_points_view(input->body.owned, source->type, count, source->dimension, (ptrdiff_t)row,
                                    (ptrdiff_t)(row / source->dimension));
    return true;
}

/* ---- Reading by rows --------------------------------------------------------------------------------------------- */

/* The file that holds the row. */
static input_file *file_of(struct ast_opened *opened, size_t row) {
    size_t low = 0, high = opened->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (opened->files[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    return &opened->files[low];
}

/* How many of `count` rows from `first` on are in the file. */
static size_t rows_in(const input_file *file, size_t first, size_t count) {
    size_t left = file->count - (first - file->first);
    return count < left ? count : left;
}

static int read_rows(size_t first, size_t count, void *place, void *data) {
    struct ast_opened *opened = data;
    int reason = 0;
    for (size_t part; count > 0 && !reason; first += part, count -= part) {
        input_file *file = file_of(opened, first);
        size_t odd = 0;
        part = rows_in(file, first, count);
        reason = ast_table_rows(&file->table, &file->bytes, first - file->first, part, place, &odd);
        if (reason) {
            __atomic_store_n(&file->odd, odd, __ATOMIC_RELAXED);
            __atomic_store_n(&file->reason, reason, __ATOMIC_RELAXED);
        }
        place = (char *)place + part * opened->row;
    }
    return reason != 0;
}

/* Starts reading ahead. Errors show when the rows are read. */
static void expect_rows(size_t first, size_t count, void *data) {
    struct ast_opened *opened = data;
    for (size_t part; count > 0; first += part, count -= part) {
        const input_file *file = file_of(opened, first);
        const ast_file_table *table = &file->table;
        part = rows_in(file, first, count);
        if (!table->decoder)
            ast_read_ahead(file->bytes.descriptor, table->offset + (uint64_t)(first - file->first) * table->row_stride,
                           (uint64_t)part * table->row_stride);
    }
}

static bool read_header(ast_input *input, input_file *file, ast_format_error *error) {
    ast_file_table *table = &file->table;
    struct ast_opened *opened = input->opened;
    if (!opened->how.format->table(table, &file->bytes, &opened->how, error) ||
        !ast_table_names(input, table, &opened->how, error))
        return false;
    size_t item = ast_number_type_of(table->type)->item;
    input->height = table->height;
    input->width = table->width;
    input->unmapped = table->decoder != NULL;
    opened->wrong = table->column_stride != item ? "in Fortran order, whose rows are all over the file"
                    : table->swapped             ? "not in this machine's byte order"
                                                 : NULL;
    opened->row = table->dimension * item;
    file->count = table->count;
    input->source = (ast_source){.size = sizeof(ast_source),
                                 .count = file->count,
                                 .dimension = table->dimension,
                                 .type = table->type,
                                 .read = read_rows,
                                 .expect = expect_rows,
                                 .data = opened};
    return true;
}

bool ast_input_by_rows(const ast_input *input, ast_format_error *error) {
    const struct ast_opened *opened = input->opened;
    const char *wrong = opened->wrong               ? opened->wrong
                        : opened->how.transpose     ? "to be transposed"
                        : opened->how.columns.count ? "to be read in some of its columns"
                                                    : NULL;
    if (!wrong)
        return true;
    return ast_format_fail(error,
                           "%s: does not fit into memory and is %s; a table larger than memory must be in C order and "
                           "in this machine's byte order, with all its columns",
                           opened->files[0].bytes.name, wrong);
}

const char *ast_input_row_file(const ast_input *input, size_t row, size_t *own) {
    const input_file *file = file_of(input->opened, row);
    *own = row - file->first;
    return file->bytes.name;
}

static bool explain(const input_file *file, ast_format_error *error) {
    const char *name = file->bytes.name;
    if (file->reason == AST_ROWS_CUT)
        return ast_format_fail(error, "%s: was cut short while it was read", name);
    if (file->reason == AST_ROWS_DAMAGED)
        return ast_table_damaged(&file->table, &file->bytes, error);
    if (file->reason == AST_ROWS_UNEQUAL)
        return ast_table_unequal(&file->table, &file->bytes, file->odd, error);
    return ast_format_fail(error, "%s: cannot be read: %s", name, strerror(file->reason));
}

bool ast_input_failed(const ast_input *input, ast_format_error *error) {
    for (size_t i = 0; input->opened && i < input->opened->count; i++)
        if (input->opened->files[i].reason) {
            explain(&input->opened->files[i], error);
            return true;
        }
    return false;
}
