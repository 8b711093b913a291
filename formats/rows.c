/* SPDX-License-Identifier: MIT
 *
 * Rows of an .npy file that is larger than memory, read as they are needed. Nothing is mapped, so that a limit on the
 * address space does not matter, and reading needs no position, so that threads do not wait for each other. */
#include "columns.h"
#include "message.h"
#include "npy.h"
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_rows(size_t first, size_t count, void *rows, void *data) {
    ast_rows *file = data;
    size_t size = count * file->row, done = 0;
    off_t at = (off_t)(file->offset + (uint64_t)first * file->row);
    while (done < size) {
        ssize_t part = pread(file->descriptor, (char *)rows + done, size - done, at + (off_t)done);
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

/* The disk may begin: what comes of it is seen when the rows are read. */
static void expect_rows(size_t first, size_t count, void *data) {
    const ast_rows *file = data;
    off_t at = (off_t)(file->offset + (uint64_t)first * file->row);
    (void)posix_fadvise(file->descriptor, at, (off_t)((uint64_t)count * file->row), POSIX_FADV_WILLNEED);
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
                           rows->name, wrong);
}

static bool understand(ast_rows *rows, ast_bytes *bytes, ast_format_error *error) {
    ast_npy_header header;
    ast_columns none = {0};
    if (!bytes->sized || bytes->descriptor < 0)
        return ast_format_fail(error, "%s: is no regular file, and does not fit into memory", rows->name);
    if (!ast_npy_read_header(&header, bytes, error) || !ast_npy_check(&header, &none, rows->name, error))
        return false;
    bool image = header.dimensions == 3;
    size_t dimension = header.shape[header.dimensions - 1];
    rows->height = image ? header.shape[0] : 0;
    rows->width = image ? header.shape[1] : 0;
    rows->wrong = header.fortran   ? "in Fortran order, whose rows are all over the file"
                  : header.swapped ? "not in this machine's byte order"
                                   : NULL;
    rows->offset = header.offset;
    rows->row = dimension * header.item;
    rows->source = (ast_source){.count = header.elements / dimension,
                                .dimension = dimension,
                                .type = ast_npy_type(&header),
                                .read = read_rows,
                                .expect = expect_rows,
                                .data = rows};
    return true;
}

bool ast_rows_open(ast_rows *rows, const char *path, ast_format_error *error) {
    ast_bytes bytes;
    *rows = (ast_rows){.descriptor = -1};
    rows->name = strdup(path);
    if (!rows->name)
        return ast_format_no_memory(error, path);
    if (!ast_bytes_open(&bytes, path, false, error)) {
        ast_rows_close(rows);
        return false;
    }
    bool good = understand(rows, &bytes, error);
    if (good) {
        rows->descriptor = bytes.descriptor; /* it stays open */
        bytes.descriptor = -1;
    }
    ast_bytes_close(&bytes);
    if (!good)
        ast_rows_close(rows);
    return good;
}

bool ast_rows_failed(const ast_rows *rows, ast_format_error *error) {
    if (!rows->reason)
        return false;
    if (rows->reason < 0)
        ast_format_fail(error, "%s: was cut short while it was read", rows->name);
    else
        ast_format_fail(error, "%s: cannot be read: %s", rows->name, strerror(rows->reason));
    return true;
}

void ast_rows_close(ast_rows *rows) {
    if (rows->name && rows->descriptor >= 0)
        close(rows->descriptor);
    free(rows->name);
    *rows = (ast_rows){.descriptor = -1};
}
