/* SPDX-License-Identifier: MIT
 *
 * The header of an .npy file is a Python dictionary in ASCII with three keys. This file understands just as much of
 * Python as that needs, from a range of bytes that may hold anything, and reads nothing itself. */
#include "npy.h"

#include "number.h"

#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6

/* NumPy writes about 128 bytes. A longer header is refused before memory is allocated for it. */
#define HEADER_LIMIT ((size_t)1 << 20)

/* What is left of the dictionary. */
typedef struct npy_scan {
    const char *cursor, *end;
} npy_scan;

static bool parse_dictionary(npy_scan *scan, ast_npy_header *header);
static bool understand_descr(ast_npy_header *header);

bool ast_npy_offset(const char *name, const unsigned char *bytes, size_t size, size_t *offset,
                    ast_format_error *error) {
    if (size == 0)
        return ast_format_fail(error, "%s: is empty; a .npy file begins with \\x93NUMPY", name);
    if (size < MAGIC_SIZE || memcmp(bytes, MAGIC, MAGIC_SIZE) != 0)
        return ast_format_fail(error, "%s: is no .npy file: it does not begin with \\x93NUMPY", name);
    if (size < AST_NPY_PRELUDE)
        return ast_format_fail(error, "%s: is cut short: the .npy header is not complete", name);
    unsigned major = bytes[6];
    if (major < 1 || major > 3)
        return ast_format_fail(error, "%s: is .npy version %u.%u; versions 1.0, 2.0 and 3.0 can be read", name, major,
                               bytes[7]);
    size_t length = ast_little(bytes + 8, major > 1 ? 4 : 2);
    if (length > HEADER_LIMIT)
        return ast_format_fail(error, "%s: the .npy header claims to be %zu bytes long; no real one is longer than %zu",
                               name, length, HEADER_LIMIT);
    *offset = (major > 1 ? 12 : 10) + length;
    if (*offset < AST_NPY_PRELUDE)
        return ast_format_fail(error, "%s: the .npy header is empty", name);
    return true;
}

bool ast_npy_parse(ast_npy_header *header, const char *name, const unsigned char *bytes, size_t offset,
                   ast_format_error *error) {
    *header = (ast_npy_header){.offset = offset, .dimensions = -1};
    size_t skip = bytes[6] > 1 ? 12 : 10;
    npy_scan scan = {(const char *)bytes + skip, (const char *)bytes + offset};
    if (!parse_dictionary(&scan, header))
        return ast_format_fail(error,
                               "%s: the .npy header cannot be understood; it needs one type of number in 'descr', "
                               "'fortran_order', and a 'shape' of at most %d dimensions",
                               name, AST_NPY_DIMENSIONS);
    char descr[AST_EXCERPT];
    ast_excerpt(descr, header->descr, strlen(header->descr));
    if (!understand_descr(header))
        return ast_format_fail(
            error,
            "%s: holds numbers of type '%s', which cannot be read: convert the array first, for example with "
            "astype('float32')",
            name, descr);
    header->elements = 1;
    bool overflow = false;
    for (int i = 0; i < header->dimensions; i++)
        overflow |= __builtin_mul_overflow(header->elements, header->shape[i], &header->elements);
    overflow |= __builtin_mul_overflow(header->elements, header->item, &header->data_size);
    if (overflow || header->data_size > PTRDIFF_MAX - offset)
        return ast_format_fail(
            error, "%s: the .npy header promises an array larger than any memory; the file is damaged", name);
    return true;
}

void ast_npy_shape_text(const ast_npy_header *header, char text[AST_SHAPE_TEXT]) {
    size_t used = 0;
    text[used++] = '(';
    for (int i = 0; i < header->dimensions; i++)
        used += (size_t)snprintf(text + used, AST_SHAPE_TEXT - used, "%s%zu%s", i ? " " : "", header->shape[i],
                                 i + 1 < header->dimensions || i == 0 ? "," : "");
    /* (5,) keeps its comma, as Python writes it; (5, 3) has one between. */
    snprintf(text + used, AST_SHAPE_TEXT - used, ")");
}

/* "<f4": byte order, kind, bytes. "|" and "=" and nothing at all mean the machine's own order. */
static bool understand_descr(ast_npy_header *header) {
    const char *cursor = header->descr;
    char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    if (*cursor != '\0' && strchr("<>=|", *cursor)) {
        header->swapped = (*cursor == '<' || *cursor == '>') && *cursor != native;
        cursor++;
    }
    if (*cursor == '\0' || cursor[1] < '1' || cursor[1] > '8' || cursor[2] != '\0')
        return false;
    header->kind = *cursor;
    header->item = (size_t)(cursor[1] - '0');
    bool power = (header->item & (header->item - 1)) == 0;
    return (header->kind == 'f' && power && header->item >= 2) || (header->kind == 'i' && power) ||
           (header->kind == 'u' && power) || (header->kind == 'b' && header->item == 1);
}

static void skip_blanks(npy_scan *scan) {
    while (scan->cursor < scan->end &&
           (*scan->cursor == ' ' || *scan->cursor == '\t' || *scan->cursor == '\n' || *scan->cursor == '\r'))
        scan->cursor++;
}

/* Skips blanks and then the character, if it is there. */
static bool accept(npy_scan *scan, char wanted) {
    skip_blanks(scan);
    if (scan->cursor == scan->end || *scan->cursor != wanted)
        return false;
    scan->cursor++;
    return true;
}

static bool accept_word(npy_scan *scan, const char *word) {
    skip_blanks(scan);
    size_t length = strlen(word);
    if ((size_t)(scan->end - scan->cursor) < length || memcmp(scan->cursor, word, length) != 0)
        return false;
    scan->cursor += length;
    return true;
}

/* A string in either kind of quotes. One that does not fit is cut, which no known name survives. */
static bool parse_string(npy_scan *scan, char *text, size_t capacity) {
    skip_blanks(scan);
    char quote = scan->cursor < scan->end ? *scan->cursor : '\0';
    if (quote != '\'' && quote != '"')
        return false;
    scan->cursor++;
    size_t length = 0;
    for (; scan->cursor < scan->end && *scan->cursor != quote; scan->cursor++)
        if (length + 1 < capacity)
            text[length++] = *scan->cursor;
    text[length] = '\0';
    return accept(scan, quote);
}

/* A number, with the L that Python 2 wrote behind long ones. */
static bool parse_size(npy_scan *scan, size_t *size) {
    uint64_t number;
    skip_blanks(scan);
    const char *after = ast_whole_parse(scan->cursor, scan->end, &number);
    if (!after || number >= SIZE_MAX)
        return false;
    *size = (size_t)number;
    scan->cursor = after + (after < scan->end && *after == 'L');
    return true;
}

static bool parse_shape(npy_scan *scan, ast_npy_header *header) {
    if (!accept(scan, '('))
        return false;
    header->dimensions = 0;
    while (!accept(scan, ')')) {
        if (header->dimensions == AST_NPY_DIMENSIONS || !parse_size(scan, &header->shape[header->dimensions++]))
            return false;
        if (accept(scan, ','))
            continue;
        return accept(scan, ')');
    }
    return true;
}

static bool parse_bool(npy_scan *scan, bool *value) {
    *value = accept_word(scan, "True");
    return *value || accept_word(scan, "False");
}

static bool parse_entry(npy_scan *scan, ast_npy_header *header, unsigned *seen) {
    char key[16];
    if (!parse_string(scan, key, sizeof key) || !accept(scan, ':'))
        return false;
    if (strcmp(key, "descr") == 0) {
        *seen |= 1;
        return parse_string(scan, header->descr, sizeof header->descr);
    }
    if (strcmp(key, "fortran_order") == 0) {
        *seen |= 2;
        return parse_bool(scan, &header->fortran);
    }
    *seen |= 4;
    return strcmp(key, "shape") == 0 && parse_shape(scan, header);
}

static bool parse_dictionary(npy_scan *scan, ast_npy_header *header) {
    unsigned seen = 0;
    if (!accept(scan, '{'))
        return false;
    while (!accept(scan, '}')) {
        if (!parse_entry(scan, header, &seen))
            return false;
        if (!accept(scan, ',')) {
            if (!accept(scan, '}'))
                return false;
            break;
        }
    }
    skip_blanks(scan);
    /* Nothing but padding may follow. Old writers padded with NUL, so that is let through. */
    while (scan->cursor < scan->end && *scan->cursor == '\0')
        scan->cursor++;
    return seen == 7 && scan->cursor == scan->end;
}
