/* SPDX-License-Identifier: MIT
 *
 * Reads the header of a PCD file: lines of a keyword and words, the last of them DATA. What it says is checked in
 * itself here, and against the size of the file in pcd.c. */
#include "pcd.h"

#include <string.h>

/* No field of more numbers is sensible, and sizes of rows stay far from overflow. */
#define COUNT_MOST 1000000

/* The lines of a header, as words; those that are not there have none. */
typedef enum keyword { FIELDS, SIZE, TYPE, COUNT, WIDTH, HEIGHT, VIEWPOINT, POINTS, DATA, VERSION, KEYWORDS } keyword;

static const char *const keywords[KEYWORDS] = {"FIELDS", "SIZE",      "TYPE",   "COUNT", "WIDTH",
                                               "HEIGHT", "VIEWPOINT", "POINTS", "DATA",  "VERSION"};

typedef struct line {
    const char *begin, *end; /* behind the keyword; NULL: not there */
} line;

typedef struct scan {
    const ast_solid_file *file;
    line lines[KEYWORDS];
    const char *body;
} scan;

static bool scan_lines(scan *found);
static bool read_fields(ast_pcd_header *header, const scan *found);
static bool read_size(ast_pcd_header *header, const scan *found);
static bool read_viewpoint(ast_solid *solid, const scan *found);
static bool read_data(ast_pcd_header *header, const scan *found);
static bool lay_out(ast_pcd_header *header, const ast_solid_file *file);

bool ast_pcd_read_header(ast_pcd_header *header, ast_solid *solid, const ast_solid_file *file) {
    scan found = {.file = file};
    memset(header, 0, sizeof *header);
    return scan_lines(&found) && read_fields(header, &found) && read_size(header, &found) &&
           read_viewpoint(solid, &found) && read_data(header, &found) && lay_out(header, file);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static keyword keyword_of(ast_word word) {
    int i = 0;
    while (i < KEYWORDS && !ast_word_is(word, keywords[i]))
        i++;
    return (keyword)i;
}

/* Older versions write COLUMNS for FIELDS. */
static bool scan_lines(scan *found) {
    const ast_solid_file *file = found->file;
    const char *at = file->text;
    while (!found->lines[DATA].begin) {
        ast_word word;
        const char *end = ast_solid_line(at, file->end);
        if (ast_solid_words(at, end, &word, 1) > 0 && *word.text != '#') {
            keyword which = ast_word_is(word, "COLUMNS") ? FIELDS : keyword_of(word);
            if (which == KEYWORDS)
                return ast_solid_fail(file, at,
                                      "is no line of a PCD header, such as FIELDS x y z, and DATA has not come");
            if (found->lines[which].begin)
                return ast_solid_fail(file, at, "%s comes a second time", keywords[which]);
            found->lines[which] = (line){word.text + word.length, end};
        }
        if (end == file->end && !found->lines[DATA].begin)
            return ast_solid_fail(file, NULL, "is cut short: its PCD header has no line DATA");
        at = ast_solid_pass_line_end(end, file->end);
    }
    found->body = at;
    return true;
}

/* The words of a line, at most `most` of them. */
static bool words_of(const scan *found, keyword which, ast_word *words, size_t most, size_t *count) {
    const line *of = &found->lines[which];
    *count = 0;
    if (!of->begin)
        return ast_solid_fail(found->file, NULL, "its PCD header has no line %s", keywords[which]);
    *count = ast_solid_words(of->begin, of->end, words, most);
    return *count <= most || ast_solid_fail(found->file, of->begin, "%s has %zu words; at most %zu can be read",
                                            keywords[which], *count, most);
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static int slot_of(ast_word name) {
    static const char *const names[AST_SOLID_SLOTS] = {"x", "y", "z", "normal_x", "normal_y", "normal_z"};
    int slot = AST_SOLID_SLOTS - 1;
    while (slot >= 0 && !ast_word_is(name, names[slot]))
        slot--;
    return slot;
}

/* One word for each field: SIZE, TYPE or COUNT. */
static bool words_for_fields(const scan *found, keyword which, ast_word *words, size_t fields) {
    size_t count;
    if (!words_of(found, which, words, AST_PCD_FIELDS, &count))
        return false;
    return count == fields || ast_solid_fail(found->file, found->lines[which].begin, "%s has %zu words for %zu fields",
                                             keywords[which], count, fields);
}

static bool read_names(ast_pcd_header *header, const scan *found, ast_word *words) {
    const char *at = found->lines[FIELDS].begin;
    if (!words_of(found, FIELDS, words, AST_PCD_FIELDS, &header->field_count))
        return false;
    for (size_t i = 0; i < header->field_count; i++) {
        int slot = header->fields[i].slot = slot_of(words[i]);
        if (slot >= 0 && header->slots[slot])
            return ast_solid_fail(found->file, at, "FIELDS has '%.*s' twice", (int)words[i].length, words[i].text);
        if (slot >= 0)
            header->slots[slot] = &header->fields[i];
    }
    if (!header->slots[0] || !header->slots[1] || !header->slots[2])
        return ast_solid_fail(found->file, at, "FIELDS must have x, y and z");
    header->normals = header->slots[3] && header->slots[4] && header->slots[5];
    return true;
}

static bool read_types(ast_pcd_header *header, const scan *found, ast_word *words) {
    uint64_t item;
    if (!words_for_fields(found, SIZE, words, header->field_count))
        return false;
    for (size_t i = 0; i < header->field_count; i++) {
        if (!ast_word_count(words[i], &item) || (item != 1 && item != 2 && item != 4 && item != 8))
            return ast_solid_fail(found->file, found->lines[SIZE].begin, "the SIZE of field %zu must be 1, 2, 4 or 8",
                                  i + 1);
        header->fields[i].type.item = (uint8_t)item;
    }
    if (!words_for_fields(found, TYPE, words, header->field_count))
        return false;
    for (size_t i = 0; i < header->field_count; i++) {
        ast_solid_type *type = &header->fields[i].type;
        type->kind = ast_word_is(words[i], "F") ? 'f' : ast_word_is(words[i], "I") ? 'i' : 'u';
        type->swap = ast_solid_swapped(true);
        if ((type->kind == 'u' && !ast_word_is(words[i], "U")) || (type->kind == 'f' && type->item < 4))
            return ast_solid_fail(found->file, found->lines[TYPE].begin,
                                  "the TYPE of field %zu must be F (of 4 or 8 bytes), U or I", i + 1);
    }
    return true;
}

static bool read_counts(ast_pcd_header *header, const scan *found, ast_word *words) {
    bool there = found->lines[COUNT].begin != NULL;
    if (there && !words_for_fields(found, COUNT, words, header->field_count))
        return false;
    for (size_t i = 0; i < header->field_count; i++) {
        ast_pcd_field *field = &header->fields[i];
        uint64_t count = 1;
        if (there && (!ast_word_count(words[i], &count) || count == 0 || count > COUNT_MOST))
            return ast_solid_fail(found->file, found->lines[COUNT].begin, "the COUNT of field %zu must be 1 to %d",
                                  i + 1, COUNT_MOST);
        if (field->slot >= 0 && count != 1)
            return ast_solid_fail(found->file, found->lines[COUNT].begin, "the COUNT of a coordinate must be 1");
        field->count = (size_t)count;
    }
    return true;
}

static bool read_fields(ast_pcd_header *header, const scan *found) {
    ast_word words[AST_PCD_FIELDS];
    return read_names(header, found, words) && read_types(header, found, words) && read_counts(header, found, words);
}

static bool lay_out(ast_pcd_header *header, const ast_solid_file *file) {
    for (size_t i = 0; i < header->field_count; i++) {
        header->fields[i].offset = header->row;
        header->row += header->fields[i].count * header->fields[i].type.item;
        header->numbers += header->fields[i].count;
    }
    return header->points <= AST_SOLID_MOST ||
           ast_solid_fail(file, NULL, "promises %zu points; at most 2^31 - 1 can be read", header->points);
}

/* ---- The rest ---------------------------------------------------------------------------------------------------- */

static bool read_number(const scan *found, keyword which, size_t *number) {
    ast_word word;
    size_t count;
    uint64_t value;
    if (!words_of(found, which, &word, 1, &count))
        return false;
    if (count != 1 || !ast_word_count(word, &value))
        return ast_solid_fail(found->file, found->lines[which].begin, "%s must be a whole number", keywords[which]);
    *number = (size_t)value;
    return value <= AST_SOLID_MOST || ast_solid_too_many(found->file, word);
}

/* The oldest versions have POINTS alone, others may do without it. */
static bool read_size(ast_pcd_header *header, const scan *found) {
    size_t width = 0, height = 1;
    bool sized = found->lines[WIDTH].begin || !found->lines[POINTS].begin;
    if (sized && !read_number(found, WIDTH, &width))
        return false;
    if (sized && found->lines[HEIGHT].begin && !read_number(found, HEIGHT, &height))
        return false;
    size_t product = width * height; /* of 31 bits each */
    header->points = product;
    header->rows = height;
    if (!found->lines[POINTS].begin)
        return true;
    if (!read_number(found, POINTS, &header->points))
        return false;
    return !sized || header->points == product ||
           ast_solid_fail(found->file, found->lines[POINTS].begin, "POINTS is %zu, but WIDTH x HEIGHT is %zu x %zu",
                          header->points, width, height);
}

static bool read_viewpoint(ast_solid *solid, const scan *found) {
    ast_word words[7];
    size_t count;
    if (!found->lines[VIEWPOINT].begin)
        return true;
    if (!words_of(found, VIEWPOINT, words, 7, &count))
        return false;
    solid->has_viewpoint = true;
    for (size_t i = 0; i < count; i++) {
        double value;
        if (!ast_solid_real(words[i].text, &value) || value - value != 0)
            return ast_solid_no_number(found->file, words[i].text);
        if (i < 3)
            solid->viewpoint[i] = value;
    }
    return count == 7 || ast_solid_fail(found->file, found->lines[VIEWPOINT].begin,
                                        "VIEWPOINT has %zu numbers; it must be tx ty tz qw qx qy qz", count);
}

static bool read_data(ast_pcd_header *header, const scan *found) {
    ast_word word;
    size_t count;
    if (!words_of(found, DATA, &word, 1, &count))
        return false;
    if (count == 1 && ast_word_is(word, "ascii"))
        header->data = AST_PCD_ASCII;
    else if (count == 1 && ast_word_is(word, "binary"))
        header->data = AST_PCD_BINARY;
    else if (count == 1 && ast_word_is(word, "binary_compressed"))
        header->data = AST_PCD_COMPRESSED;
    else
        return ast_solid_fail(found->file, found->lines[DATA].begin, "DATA must be ascii, binary or binary_compressed");
    header->body = found->body;
    return true;
}
