/* SPDX-License-Identifier: MIT
 *
 * Rows of an .npy file that is larger than memory, or of several files that are one table, read as they are needed.
 * Nothing is mapped, so that a limit on the address space does not matter, and reading needs no position, so that
 * threads do not wait for each other. */
#include "columns.h"
#include "message.h"
#include "npy.h"
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the file that holds the row: the last that begins no later. */
static ast_rows_file *file_of(const ast_rows *rows, size_t row) {
    size_t low = 0, high = rows->file_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (rows->files[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    return &rows->files[low];
}

/* How many of `count` rows from `first` on are in the file, and where they begin. */
static size_t rows_in(const ast_rows *rows, const ast_rows_file *file, size_t first, size_t count, off_t *at) {
    size_t own = first - file->first, left = file->count - own;
    *at = (off_t)(file->offset + (uint64_t)own * rows->row);
    return count < left ? count : left;
}

static int read_bytes(ast_rows_file *file, void *bytes, size_t size, off_t at) {
    for (size_t done = 0; done < size;) {
        ssize_t part = pread(file->descriptor, (char *)bytes + done, size - done, at + (off_t)done);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0) {
            __atomic_store_n(&file->reason, part < 0 ? errno : -1, __ATOMIC_RELAXED);
            return 1;
        }
        done += (size_t)part;
    }
    return 0;
}

static int read_rows(size_t first, size_t count, void *place, void *data) {
    const ast_rows *rows = data;
    int failed = 0;
    for (size_t part; count > 0 && !failed; first += part, count -= part) {
        ast_rows_file *file = file_of(rows, first);
        off_t at;
        part = rows_in(rows, file, first, count, &at);
        failed = read_bytes(file, place, part * rows->row, at);
        place = (char *)place + part * rows->row;
    }
    return failed;
}

/* The disk may begin: what comes of it is seen when the rows are read. */
static void expect_rows(size_t first, size_t count, void *data) {
    const ast_rows *rows = data;
    for (size_t part; count > 0; first += part, count -= part) {
        const ast_rows_file *file = file_of(rows, first);
        off_t at;
        part = rows_in(rows, file, first, count, &at);
        (void)posix_fadvise(file->descriptor, at, (off_t)((uint64_t)part * rows->row), POSIX_FADV_WILLNEED);
    }
}

const char *ast_rows_place(const ast_rows *rows, size_t row, size_t *own) {
    const ast_rows_file *file = file_of(rows, row);
    *own = row - file->first;
    return file->name;
}

bool ast_rows_suit(const ast_rows *rows, const ast_input_options *options, ast_format_error *error) {
    const char *wrong = rows->wrong                     ? rows->wrong
                        : options && options->transpose ? "to be transposed"
                        : options && options->columns   ? "to be read in some of its columns"
                                                        : NULL;
    if (!wrong)
        return true;
    return ast_format_fail(error,
                           "%s: does not fit into memory and is %s; what is larger than memory must be an .npy in C "
                           "order and in this machine's byte order, with all its columns",
                           rows->files[0].name, wrong);
}

static bool understand(ast_rows *rows, ast_rows_file *file, ast_bytes *bytes, ast_format_error *error) {
    ast_npy_header header;
    ast_columns none = {0};
    if (!bytes->sized || bytes->descriptor < 0)
        return ast_format_fail(error, "%s: is no regular file, whose rows could be read one by one", file->name);
    if (!ast_npy_read_header(&header, bytes, error) || !ast_npy_check(&header, &none, file->name, error))
        return false;
    bool image = header.dimensions == 3;
    size_t dimension = header.shape[header.dimensions - 1];
    rows->height = image ? header.shape[0] : 0;
    rows->width = image ? header.shape[1] : 0;
    rows->wrong = header.fortran   ? "in Fortran order, whose rows are all over the file"
                  : header.swapped ? "not in this machine's byte order"
                                   : NULL;
    rows->row = dimension * header.item;
    rows->source = (ast_source){.size = sizeof(ast_source),
                                .count = header.elements / dimension,
                                .dimension = dimension,
                                .type = ast_npy_type(&header),
                                .read = read_rows,
                                .expect = expect_rows};
    file->offset = header.offset;
    file->count = rows->source.count;
    return true;
}

static const char *type_name(ast_type type) {
    return type == AST_I1 ? "i1" : type == AST_F2 ? "f2" : type == AST_F4 ? "f4" : "f8";
}

/* Whether the file goes with those before it. */
static bool joins(const ast_rows *rows, const ast_rows *one, const char *name, ast_format_error *error) {
    const ast_source *all = &rows->source, *own = &one->source;
    const char *first = rows->files[0].name;
    if (one->wrong)
        return ast_format_fail(error,
                               "%s: is %s; files that are read as one must be .npy in C order and in this machine's "
                               "byte order",
                               name, one->wrong);
    if (one->height)
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

static bool add_file(ast_rows *rows, const char *path, bool several, ast_format_error *error) {
    ast_rows_file *file = &rows->files[rows->file_count];
    ast_rows one = {0};
    ast_bytes bytes;
    *file = (ast_rows_file){.descriptor = -1, .name = strdup(path), .first = rows->source.count};
    if (!file->name)
        return ast_format_no_memory(error, path);
    rows->file_count++;
    if (!ast_bytes_open(&bytes, file->name, false, error))
        return false;
    bool good = understand(&one, file, &bytes, error) && (!several || joins(rows, &one, file->name, error));
    if (good) {
        one.source.count += rows->source.count;
        one.files = rows->files;
        one.file_count = rows->file_count;
        *rows = one;
        file->descriptor = bytes.descriptor; /* it stays open */
        bytes.descriptor = -1;
    }
    ast_bytes_close(&bytes);
    return good;
}

bool ast_rows_open_all(ast_rows *rows, const char *const *paths, size_t count, ast_format_error *error) {
    *rows = (ast_rows){0};
    rows->files = calloc(count, sizeof *rows->files);
    bool good = rows->files || ast_format_no_memory(error, paths[0]);
    for (size_t i = 0; i < count && good; i++)
        good = add_file(rows, paths[i], count > 1, error);
    rows->source.data = rows;
    if (!good)
        ast_rows_close(rows);
    return good;
}

bool ast_rows_open(ast_rows *rows, const char *path, ast_format_error *error) {
    return ast_rows_open_all(rows, &path, 1, error);
}

bool ast_rows_failed(const ast_rows *rows, ast_format_error *error) {
    for (size_t i = 0; i < rows->file_count; i++) {
        const ast_rows_file *file = &rows->files[i];
        if (file->reason < 0)
            ast_format_fail(error, "%s: was cut short while it was read", file->name);
        else if (file->reason)
            ast_format_fail(error, "%s: cannot be read: %s", file->name, strerror(file->reason));
        if (file->reason)
            return true;
    }
    return false;
}

void ast_rows_close(ast_rows *rows) {
    for (size_t i = 0; i < rows->file_count; i++) {
        if (rows->files[i].descriptor >= 0)
            close(rows->files[i].descriptor);
        free(rows->files[i].name);
    }
    free(rows->files);
    *rows = (ast_rows){0};
}
