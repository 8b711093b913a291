/* SPDX-License-Identifier: MIT
 *
 * Labels, tables and vectors as .npy, text, .fvecs or .fbin, by the extension of the output. It writes bytes into an
 * ast_output and knows nothing of files. */
#include "bytes.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

#define NPY_ALIGNMENT 64 /* NumPy's own: the numbers begin at a multiple of it */

/* What the extension asks for. */
typedef struct text_style {
    const char *extension;
    char separator; /* '\0': binary */
    bool table;     /* for tables of floats only */
} text_style;

static const text_style styles[] = {{".npy", '\0', false}, {".csv", ',', false},   {".tsv", '\t', false},
                                    {".txt", ' ', false},  {".fvecs", '\0', true}, {".fbin", '\0', true}};

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

bool ast_output_check(const char *path, bool table, ast_format_error *error) {
    const text_style *style = style_of(path);
    if (style && (table || !style->table))
        return true;
    return ast_format_fail(error, "%s: %s can be written with the extensions .npy, .csv, .tsv%s", path,
                           style ? "this output" : "files", table ? ", .txt, .fvecs and .fbin" : " and .txt");
}

/* A version 1.0 header. */
static bool write_header(ast_output *output, const ast_array *array, ast_format_error *error) {
    char header[256], shape[80];
    const char *order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<" : ">";
    int used = snprintf(shape, sizeof shape, "(%zu,", array->sizes[0]);
    for (size_t i = 1; i < array->dimensions; i++)
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%s%zu", i > 1 ? ", " : " ", array->sizes[i]);
    snprintf(shape + used, sizeof shape - (size_t)used, ")");
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    int length = snprintf(header + 10, sizeof header - 10, "{'descr': '%s%c4', 'fortran_order': False, 'shape': %s, }",
                          order, array->reals ? 'f' : 'i', shape);
    size_t size = ((size_t)length + 11 + NPY_ALIGNMENT - 1) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    memset(header + 10 + length, ' ', size - 10 - (size_t)length);
    header[size - 1] = '\n';
    ast_put_little(header + 8, size - 10, 2);
    return ast_output_write(output, header, size, error);
}

/* Nine digits restore every float. The decimal point is a dot, whatever the locale prints. */
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

static bool write_text(ast_output *output, const ast_array *array, size_t first, size_t count, char separator,
                       ast_format_error *error) {
    size_t columns = array->dimensions > 1 ? array->sizes[array->dimensions - 1] : 1;
    for (size_t i = 0; i < count; i++) {
        char text[32], after = (first + i + 1) % columns ? separator : '\n';
        size_t length = array->reals ? print_float(text, array->reals[i], after)
                                     : (size_t)snprintf(text, sizeof text, "%d%c", array->integers[i], after);
        if (!ast_output_write(output, text, length, error))
            return false;
    }
    return true;
}

/* Numbers of four bytes, the lowest first. */
static bool write_little(ast_output *output, const void *numbers, size_t count, ast_format_error *error) {
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return ast_output_write(output, numbers, 4 * count, error);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        uint32_t number;
        memcpy(&number, (const char *)numbers + 4 * i, sizeof number);
        number = __builtin_bswap32(number);
        good = ast_output_write(output, &number, sizeof number, error);
    }
    return good;
}

/* .fbin has the numbers of rows and columns at its start, .fvecs the number of columns before each row. */
static bool write_rows(ast_output *output, const ast_array *array, size_t first, size_t count, bool counted,
                       ast_format_error *error) {
    uint32_t sizes[2] = {(uint32_t)array->sizes[0], (uint32_t)array->sizes[1]};
    size_t columns = array->sizes[1];
    bool good = counted || first > 0 || write_little(output, sizes, 2, error);
    if (!counted)
        return good && write_little(output, array->reals, count, error);
    for (size_t i = 0, part; i < count && good; i += part) {
        size_t within = (first + i) % columns;
        part = columns - within < count - i ? columns - within : count - i;
        good = (within > 0 || write_little(output, sizes + 1, 1, error)) &&
               write_little(output, array->reals + i, part, error);
    }
    return good;
}

bool ast_write_array_part(ast_output *output, ast_array part, size_t first, size_t count, ast_format_error *error) {
    const char *name = ast_output_name(output);
    const text_style *style = style_of(name);
    bool table = part.reals && part.dimensions == 2;
    if (!style || (style->table && !table))
        return ast_output_check(name, table, error);
    if (style->table)
        return write_rows(output, &part, first, count, ast_has_extension(name, ".fvecs"), error);
    if (style->separator)
        return write_text(output, &part, first, count, style->separator, error);
    return (first > 0 || write_header(output, &part, error)) &&
           ast_output_write(output, part.reals ? (const void *)part.reals : part.integers, 4 * count, error);
}

bool ast_write_array(ast_output *output, ast_array array, ast_format_error *error) {
    size_t count = 1;
    for (size_t i = 0; i < array.dimensions; i++)
        count *= array.sizes[i];
    return ast_write_array_part(output, array, 0, count, error);
}
