/* SPDX-License-Identifier: MIT
 *
 * Labels, tables and vectors as .npy or text, by the extension of the output. It writes bytes into an ast_output and
 * knows nothing of files. */
#include "output.h"

#include "message.h"

#include <stdio.h>
#include <string.h>

#define NPY_ALIGNMENT 64 /* NumPy's own: the numbers begin at a multiple of it */

/* What the extension asks for. */
typedef struct text_style {
    const char *extension;
    char separator; /* '\0': .npy */
} text_style;

static const text_style styles[] = {{".npy", '\0'}, {".csv", ','}, {".tsv", '\t'}, {".txt", ' '}};

/* NULL for an unknown extension; none at all, as for standard output and devices, is text. */
static const text_style *style_of(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    if (!dot)
        return &styles[3];
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (strcasecmp(dot, styles[i].extension) == 0)
            return &styles[i];
    return NULL;
}

bool ast_output_check(const char *path, ast_format_error *error) {
    return style_of(path) ||
           ast_format_fail(error, "%s: files can be written with the extensions .npy, .csv, .tsv and .txt", path);
}

static bool style_for(const ast_output *output, const text_style **style, ast_format_error *error) {
    *style = style_of(ast_output_name(output));
    return *style || ast_output_check(ast_output_name(output), error);
}

/* A version 1.0 header; `columns` 0 makes an array of one dimension. */
static bool write_header(ast_output *output, char kind, size_t rows, size_t columns, ast_format_error *error) {
    char header[256], shape[64];
    const char *order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<" : ">";
    if (columns > 0)
        snprintf(shape, sizeof shape, "(%zu, %zu)", rows, columns);
    else
        snprintf(shape, sizeof shape, "(%zu,)", rows);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    int length = snprintf(header + 10, sizeof header - 10, "{'descr': '%s%c4', 'fortran_order': False, 'shape': %s, }",
                          order, kind, shape);
    size_t size = ((size_t)length + 11 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    memset(header + 10 + length, ' ', size - 10 - (size_t)length);
    header[size - 1] = '\n';
    header[8] = (char)((size - 10) & 255);
    header[9] = (char)((size - 10) >> 8);
    return ast_output_write(output, header, size, error);
}

bool ast_write_labels(ast_output *output, const int32_t *labels, size_t count, ast_format_error *error) {
    const text_style *style;
    if (!style_for(output, &style, error))
        return false;
    if (style->separator == '\0')
        return write_header(output, 'i', count, 0, error) &&
               ast_output_write(output, labels, count * sizeof *labels, error);
    for (size_t i = 0; i < count; i++) {
        char line[16];
        int length = snprintf(line, sizeof line, "%d\n", labels[i]);
        if (!ast_output_write(output, line, (size_t)length, error))
            return false;
    }
    return true;
}

/* Nine digits bring every float back. Whatever the program's locale makes of the decimal point, a file has a dot. */
static size_t print_float(char text[32], float value, char after) {
    size_t length = (size_t)snprintf(text, 30, "%.9g", (double)value);
    size_t point = strspn(text, "+-0123456789");
    size_t odd = strcspn(text + point, "0123456789e");
    if (odd > 0 && point + odd < length && text[point] != '.') {
        text[point] = '.';
        memmove(text + point + 1, text + point + odd, length - point - odd + 1);
        length -= odd - 1;
    }
    text[length] = after;
    return length + 1;
}

static bool write_rows(ast_output *output, const float *values, size_t rows, size_t columns, char separator,
                       ast_format_error *error) {
    for (size_t i = 0; i < rows; i++)
        for (size_t d = 0; d < columns; d++) {
            char text[32];
            size_t length = print_float(text, *values++, d + 1 < columns ? separator : '\n');
            if (!ast_output_write(output, text, length, error))
                return false;
        }
    return true;
}

static bool write_floats(ast_output *output, const float *values, size_t rows, size_t columns, bool table,
                         ast_format_error *error) {
    const text_style *style;
    if (!style_for(output, &style, error))
        return false;
    if (style->separator == '\0')
        return write_header(output, 'f', rows, table ? columns : 0, error) &&
               ast_output_write(output, values, rows * columns * sizeof *values, error);
    return write_rows(output, values, rows, columns, style->separator, error);
}

bool ast_write_matrix(ast_output *output, const float *values, size_t rows, size_t columns, ast_format_error *error) {
    return write_floats(output, values, rows, columns, true, error);
}

bool ast_write_floats(ast_output *output, const float *values, size_t count, ast_format_error *error) {
    return write_floats(output, values, count, 1, false, error);
}
