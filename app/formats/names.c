/* SPDX-License-Identifier: MIT
 *
 * Names of rows: a text with one name per line. */
#include "formats.h"

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

bool ast_read_names(const char *path, ast_names *names, ast_format_error *error) {
    unsigned char *bytes;
    size_t size, mark;
    *names = (ast_names){0};
    if (!ast_read_file(path, &bytes, &size, error))
        return false;
    const char *at = (const char *)bytes, *end = at + size;
    mark = size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    bool good = true;
    if (memchr(bytes, 0, size))
        good = ast_format_fail(error, "%s: is no text: it holds a byte 0; names are text, one per line", path);
    for (at += mark; at < end && good;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        bool cr = length > 0 && at[length - 1] == '\r'; /* which ends lines on other systems */
        good = ast_names_add(names, strndup(at, length - cr)) || ast_format_no_memory(error, path);
        at += length + 1;
    }
    free(bytes);
    if (!good)
        ast_names_free(names);
    return good;
}
