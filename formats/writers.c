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

/* An array of up to three dimensions. */
typedef struct extent {
    size_t count, dimensions, sizes[3];
} extent;

static extent extent_of(size_t dimensions, size_t first, size_t second, size_t third) {
    return (extent){first * second * third, dimensions, {first, second, third}};
}

/* A version 1.0 header. */
static bool write_header(ast_output *output, char kind, const extent *size_of, ast_format_error *error) {
    char header[256], shape[80];
    const char *order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<" : ">";
    int used = snprintf(shape, sizeof shape, "(%zu,", size_of->sizes[0]);
    for (size_t i = 1; i < size_of->dimensions; i++)
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%s%zu", i > 1 ? ", " : " ", size_of->sizes[i]);
    snprintf(shape + used, sizeof shape - (size_t)used, ")");
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

/* Labels number `first` and on. */
static bool write_lines(ast_output *output, const int32_t *labels, size_t first, size_t count, size_t columns,
                        char separator, ast_format_error *error) {
    for (size_t i = 0; i < count; i++) {
        char text[16];
        int length = snprintf(text, sizeof text, "%d%c", labels[i], (first + i + 1) % columns ? separator : '\n');
        if (!ast_output_write(output, text, (size_t)length, error))
            return false;
    }
    return true;
}

/* Text has a row for each index but the last. */
static bool write_integers(ast_output *output, const int32_t *labels, extent size, ast_format_error *error) {
    const text_style *style;
    if (!style_for(output, &style, error))
        return false;
    if (style->separator == '\0')
        return write_header(output, 'i', &size, error) &&
               ast_output_write(output, labels, size.count * sizeof *labels, error);
    size_t columns = size.dimensions > 1 ? size.sizes[size.dimensions - 1] : 1;
    return write_lines(output, labels, 0, size.count, columns, style->separator, error);
}

bool ast_write_label_head(ast_output *output, size_t rows, size_t columns, ast_format_error *error) {
    const text_style *style;
    extent size = columns ? extent_of(2, rows, columns, 1) : extent_of(1, rows, 1, 1);
    return style_for(output, &style, error) && (style->separator || write_header(output, 'i', &size, error));
}

bool ast_write_label_part(ast_output *output, const int32_t *labels, size_t first, size_t count, size_t columns,
                          ast_format_error *error) {
    const text_style *style;
    if (!style_for(output, &style, error))
        return false;
    return style->separator ? write_lines(output, labels, first, count, columns ? columns : 1, style->separator, error)
                            : ast_output_write(output, labels, count * sizeof *labels, error);
}

bool ast_write_labels(ast_output *output, const int32_t *labels, size_t count, ast_format_error *error) {
    return write_integers(output, labels, extent_of(1, count, 1, 1), error);
}

bool ast_write_label_image(ast_output *output, const int32_t *labels, size_t height, size_t width,
                           ast_format_error *error) {
    return write_integers(output, labels, extent_of(2, height, width, 1), error);
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

static bool write_floats(ast_output *output, const float *values, extent size, ast_format_error *error) {
    const text_style *style;
    if (!style_for(output, &style, error))
        return false;
    if (style->separator == '\0')
        return write_header(output, 'f', &size, error) &&
               ast_output_write(output, values, size.count * sizeof *values, error);
    size_t columns = size.dimensions > 1 ? size.sizes[size.dimensions - 1] : 1;
    return write_rows(output, values, columns ? size.count / columns : 0, columns, style->separator, error);
}

bool ast_write_value_head(ast_output *output, size_t rows, size_t columns, ast_format_error *error) {
    const text_style *style;
    extent size = columns ? extent_of(2, rows, columns, 1) : extent_of(1, rows, 1, 1);
    return style_for(output, &style, error) && (style->separator || write_header(output, 'f', &size, error));
}

bool ast_write_value_part(ast_output *output, const float *values, size_t first, size_t count, size_t columns,
                          ast_format_error *error) {
    const text_style *style;
    if (!style_for(output, &style, error))
        return false;
    if (style->separator == '\0')
        return ast_output_write(output, values, count * sizeof *values, error);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        char text[32];
        bool ends = columns == 0 || (first + i + 1) % columns == 0;
        good = ast_output_write(output, text, print_float(text, values[i], ends ? '\n' : style->separator), error);
    }
    return good;
}

bool ast_write_matrix(ast_output *output, const float *values, size_t rows, size_t columns, ast_format_error *error) {
    return write_floats(output, values, extent_of(2, rows, columns, 1), error);
}

bool ast_write_floats(ast_output *output, const float *values, size_t count, ast_format_error *error) {
    return write_floats(output, values, extent_of(1, count, 1, 1), error);
}

bool ast_write_normals(ast_output *output, const float *normals, size_t height, size_t width, ast_format_error *error) {
    return write_floats(output, normals, extent_of(3, height, width, 3), error);
}
