/* SPDX-License-Identifier: MIT
 *
 * Names of rows: a text with one name per line. */
#include "bytes.h"

#include "platform.h"

#include <stdlib.h>
#include <string.h>

void ast_names_free(ast_names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
    *names = (ast_names){0};
}

bool ast_names_add(ast_names *names, char *name) {
    bool good = name && ast_array_grow(&names->list, &names->capacity, names->count + 1, sizeof *names->list);
    if (good)
        names->list[names->count++] = name;
    else
        free(name);
    return good;
}

static bool read_all(const char *path, ast_buffer *buffer, ast_format_error *error) {
    ast_bytes file;
    if (!ast_bytes_open(&file, path, ast_has_extension(path, ".gz"), AST_NO_STOP, error))
        return false;
    bool good = ast_bytes_fill(&file, buffer, SIZE_MAX / 2, error);
    ast_bytes_close(&file);
    return good;
}

bool ast_read_names(const char *path, ast_names *names, ast_format_error *error) {
    ast_buffer buffer = {0};
    *names = (ast_names){0};
    bool good = read_all(path, &buffer, error);
    const char *at = (const char *)buffer.place, *end = at + buffer.filled;
    size_t mark = good && buffer.filled >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (good && buffer.filled && memchr(at, 0, buffer.filled))
        good = ast_format_fail(error, "%s: is no text: it holds a byte 0; names are text, one per line", path);
    for (at += mark; at < end && good;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        bool cr = length > 0 && at[length - 1] == '\r'; /* which ends lines on other systems */
        good = ast_names_add(names, strndup(at, length - cr)) || ast_format_no_memory(error, path);
        at += length + 1;
    }
    free(buffer.place);
    if (!good)
        ast_names_free(names);
    return good;
}
