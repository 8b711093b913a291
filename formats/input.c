/* SPDX-License-Identifier: MIT
 *
 * Rows of points: files are opened once, and then read whole or, where they are .npy, as their rows are needed. Reading
 * rows maps nothing, so that a limit on the address space does not matter, and needs no position in the file, so that
 * threads do not wait for each other. */
#include "columns.h"
#include "npy.h"
#include "registry.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An open file. */
typedef struct input_file {
    ast_bytes bytes;
    bool known; /* `header` is read: a regular .npy file */
    ast_npy_header header;
    size_t first, count; /* the number of its first row among those of all files; its rows */
    int reason;          /* errno of what could not be read, -1 if the file ended there; 0: nothing */
} input_file;

struct ast_opened {
    ast_resolved how;
    size_t row;        /* bytes */
    const char *wrong; /* why rows cannot be read one by one, or NULL */
    size_t count;
    input_file files[];
};

static bool begin(ast_input *input, size_t count, ast_format_error *error);
static bool add_file(ast_input *input, const char *path, bool several, ast_format_error *error);
static bool understand(ast_input *input, input_file *file, ast_format_error *error);

void ast_input_options_init(ast_input_options *options) {
    *options = (ast_input_options){0};
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

bool ast_input_begin(ast_input *input, const char *const *paths, size_t count, const ast_input_options *options,
                     ast_format_error *error) {
    *input = (ast_input){0};
    bool good = begin(input, count, error) && ast_resolve(&input->opened->how, paths[0], options, error);
    for (size_t i = 0; i < count && good; i++)
        good = add_file(input, paths[i], count > 1, error);
    if (!good)
        ast_input_close(input);
    return good;
}

bool ast_input_open(ast_input *input, const char *path, const ast_input_options *options, ast_format_error *error) {
    return ast_input_begin(input, &path, 1, options, error) && ast_input_read(input, error);
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
    for (size_t i = 0; opened && i < opened->count; i++)
        ast_bytes_close(&opened->files[i].bytes);
    if (opened)
        ast_columns_free(&opened->how.columns);
    free(opened);
    input->opened = NULL;
}

void ast_input_close(ast_input *input) {
    close_files(input);
    free(input->owned);
    if (input->mapped)
        munmap(input->mapped, input->mapped_size);
    *input = (ast_input){0};
}

void ast_input_replace(ast_input *input, float *values, size_t count, size_t dimension) {
    const char *format = input->format;
    ast_input_close(input);
    input->points = ast_points_f4(values, count, dimension);
    input->format = format;
    input->owned = values;
}

static bool begin(ast_input *input, size_t count, ast_format_error *error) {
    input->opened = calloc(1, sizeof *input->opened + count * sizeof(input_file));
    return input->opened || ast_format_fail(error, "there is not enough memory for a list of %zu files", count);
}

static const char *type_name(ast_type type) {
    return type == AST_I1 ? "i1" : type == AST_F2 ? "f2" : type == AST_F4 ? "f4" : "f8";
}

/* Whether a file goes with those before it, of which `all` tells. */
static bool joins(const ast_input *input, const ast_source *all, const char *name, ast_format_error *error) {
    const ast_source *own = &input->source;
    const struct ast_opened *opened = input->opened;
    const char *first = opened->files[0].bytes.name;
    if (opened->wrong)
        return ast_format_fail(error,
                               "%s: is %s; files that are read as one must be .npy in C order and in this machine's "
                               "byte order",
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
                               name, type_name(own->type), first, type_name(all->type));
    return true;
}

/* Opens a file; what a regular .npy file holds is known from its header. */
static bool add_file(ast_input *input, const char *path, bool several, ast_format_error *error) {
    struct ast_opened *opened = input->opened;
    input_file *file = &opened->files[opened->count];
    ast_source all = input->source;
    if (!ast_bytes_open(&file->bytes, path, opened->how.compressed, AST_NO_STOP, error))
        return false;
    opened->count++;
    input->size = file->bytes.size;
    file->known = opened->how.format->open == ast_npy_open && file->bytes.sized;
    file->first = all.count;
    if (several && !file->known)
        return ast_format_fail(error, "%s: is no regular .npy file, whose rows could be read one by one", path);
    if (!file->known)
        return true;
    if (!understand(input, file, error) || (several && !joins(input, &all, path, error)))
        return false;
    input->source.count += all.count;
    return true;
}

/* ---- Reading whole ----------------------------------------------------------------------------------------------- */

static bool finish(ast_input *input, const ast_resolved *how, const char *name, ast_format_error *error) {
    input->format = how->format->name;
    return input->points.count > 0 || how->empty || ast_format_fail(error, "%s: has no row of numbers", name);
}

bool ast_input_read_bytes(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    const char *name = bytes->name;
    bool good =
        how->format->open(input, bytes, &how->columns, how->transpose, error) && finish(input, how, name, error);
    ast_bytes_close(bytes);
    if (!good)
        ast_input_close(input);
    return good;
}

bool ast_input_read(ast_input *input, ast_format_error *error) {
    const ast_resolved *how = &input->opened->how;
    input_file *file = &input->opened->files[0];
    ast_bytes *bytes = &file->bytes;
    bool good = (file->known ? ast_npy_read(input, &file->header, bytes, &how->columns, how->transpose, error)
                             : how->format->open(input, bytes, &how->columns, how->transpose, error)) &&
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
    input->owned = malloc((count + 1) * row);
    if (!input->owned)
        return ast_format_fail(error, "%s: there is no memory for %zu points of %zu dimensions",
                               input->opened->files[0].bytes.name, count, source->dimension);
    if (source->read(first, count, input->owned, source->data) != 0)
        return ast_input_failed(input, error) ? false : ast_format_no_memory(error, "the input");
    input->points = ast_points_view(input->owned, source->type, count, source->dimension, (ptrdiff_t)row,
                                    (ptrdiff_t)(row / source->dimension));
    return true;
}

/* ---- Reading by rows --------------------------------------------------------------------------------------------- */

/* Of the file that holds the row: the last that begins no later. */
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

/* How many of `count` rows from `first` on are in the file, and where they begin. */
static size_t rows_in(const struct ast_opened *opened, const input_file *file, size_t first, size_t count, off_t *at) {
    size_t own = first - file->first, left = file->count - own;
    *at = (off_t)(file->header.offset + (uint64_t)own * opened->row);
    return count < left ? count : left;
}

static int read_rows(size_t first, size_t count, void *place, void *data) {
    struct ast_opened *opened = data;
    int reason = 0;
    for (size_t part; count > 0 && !reason; first += part, count -= part) {
        input_file *file = file_of(opened, first);
        off_t at;
        part = rows_in(opened, file, first, count, &at);
        reason = ast_read_at(file->bytes.descriptor, (uint64_t)at, place, part * opened->row);
        if (reason)
            __atomic_store_n(&file->reason, reason, __ATOMIC_RELAXED);
        place = (char *)place + part * opened->row;
    }
    return reason != 0;
}

/* The disk may begin: what comes of it is seen when the rows are read. */
static void expect_rows(size_t first, size_t count, void *data) {
    struct ast_opened *opened = data;
    for (size_t part; count > 0; first += part, count -= part) {
        const input_file *file = file_of(opened, first);
        off_t at;
        part = rows_in(opened, file, first, count, &at);
        (void)posix_fadvise(file->bytes.descriptor, at, (off_t)((uint64_t)part * opened->row), POSIX_FADV_WILLNEED);
    }
}

static bool understand(ast_input *input, input_file *file, ast_format_error *error) {
    const ast_npy_header *header = &file->header;
    struct ast_opened *opened = input->opened;
    if (!ast_npy_read_header(&file->header, &file->bytes, error) ||
        !ast_npy_check(header, &opened->how.columns, file->bytes.name, error))
        return false;
    bool image = header->dimensions == 3;
    size_t dimension = header->shape[header->dimensions - 1];
    input->height = image ? header->shape[0] : 0;
    input->width = image ? header->shape[1] : 0;
    opened->wrong = header->fortran   ? "in Fortran order, whose rows are all over the file"
                    : header->swapped ? "not in this machine's byte order"
                                      : NULL;
    opened->row = dimension * header->item;
    file->count = header->elements / dimension;
    input->source = (ast_source){.size = sizeof(ast_source),
                                 .count = file->count,
                                 .dimension = dimension,
                                 .type = ast_npy_type(header),
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
                           "%s: does not fit into memory and is %s; what is larger than memory must be an .npy in C "
                           "order and in this machine's byte order, with all its columns",
                           opened->files[0].bytes.name, wrong);
}

const char *ast_input_row_file(const ast_input *input, size_t row, size_t *own) {
    const input_file *file = file_of(input->opened, row);
    *own = row - file->first;
    return file->bytes.name;
}

bool ast_input_failed(const ast_input *input, ast_format_error *error) {
    for (size_t i = 0; input->opened && i < input->opened->count; i++) {
        const input_file *file = &input->opened->files[i];
        if (file->reason < 0)
            ast_format_fail(error, "%s: was cut short while it was read", file->bytes.name);
        else if (file->reason)
            ast_format_fail(error, "%s: cannot be read: %s", file->bytes.name, strerror(file->reason));
        if (file->reason)
            return true;
    }
    return false;
}
