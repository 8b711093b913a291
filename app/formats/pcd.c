/* SPDX-License-Identifier: MIT
 *
 * PCD, the Point Cloud Library's format: points as text, as binary rows, or as binary columns that LZF has compressed.
 * Binary numbers are little-endian. Before memory is asked for, the header's promise is compared with the bytes that
 * are there. */
#include "pcd.h"

#include "bytes.h"

#include <stdlib.h>

static bool read_text(ast_solid *solid, const ast_pcd_header *header, const ast_solid_file *file);
static bool read_binary(ast_solid *solid, const ast_pcd_header *header, const ast_solid_file *file);
static bool read_compressed(ast_solid *solid, const ast_pcd_header *header, const ast_solid_file *file);

bool ast_pcd_solid(ast_solid *solid, const ast_solid_file *file) {
    ast_pcd_header header;
    if (!ast_pcd_read_header(&header, solid, file))
        return false;
    solid->rows = header.rows;
    if (header.data == AST_PCD_ASCII)
        return read_text(solid, &header, file);
    ast_solid_file body = *file;
    body.binary = true;
    return (header.data == AST_PCD_BINARY ? read_binary : read_compressed)(solid, &header, &body);
}

static bool cannot_hold(const ast_pcd_header *header, const ast_solid_file *file) {
    return ast_solid_fail(file, NULL, "the %zu bytes behind its header cannot hold the %zu points that it promises",
                          (size_t)(file->end - header->body), header->points);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* One line; `slots` is where each number of it goes. */
static bool read_line(ast_solid *solid, const char **line, const int *slots, const ast_pcd_header *header, size_t point,
                      const ast_solid_file *file) {
    const char *at = *line;
    double value;
    for (size_t i = 0; i < header->numbers; i++) {
        at = ast_solid_pass_blanks(at);
        const char *end = slots[i] >= 0 ? ast_solid_real(at, &value) : ast_solid_pass_word(at, file->end);
        if (!end || end == at)
            return ast_solid_line_end(*at) || at == file->end
                       ? ast_solid_fail(file, at, "has %zu numbers; a point has %zu", i, header->numbers)
                       : ast_solid_no_number(file, at);
        if (slots[i] >= 0)
            ast_solid_store(solid, slots[i], point, value);
        at = end;
    }
    at = ast_solid_pass_blanks(at);
    *line = at;
    return ast_solid_line_end(*at) || at == file->end ||
           ast_solid_fail(file, at, "has more than the %zu numbers of a point", header->numbers);
}

static bool read_lines(ast_solid *solid, const int *slots, const ast_pcd_header *header, const ast_solid_file *file) {
    const char *at = header->body;
    for (size_t i = 0; i < header->points; i++) {
        at = ast_solid_next_line(at, file->end);
        if (at == file->end)
            return ast_solid_fail(file, NULL, "is cut short: %zu of its %zu points are there", i, solid->count);
        if (!read_line(solid, &at, slots, header, i, file))
            return false;
    }
    at = ast_solid_next_line(at, file->end);
    return at == file->end ||
           ast_solid_fail(file, at, "follows the %zu points that the header promises", header->points);
}

/* A number takes at least a digit and a blank. */
static bool read_text(ast_solid *solid, const ast_pcd_header *header, const ast_solid_file *file) {
    size_t bytes = (size_t)(file->end - header->body);
    if (header->points > (bytes + 1) / 2 / header->numbers)
        return cannot_hold(header, file);
    if (!ast_solid_make_points(solid, header->points, header->normals, file))
        return false;
    int *slots = malloc(header->numbers * sizeof *slots);
    if (!slots)
        return ast_format_no_memory(file->error, file->name);
    size_t column = 0;
    for (size_t i = 0; i < header->field_count; i++) {
        int slot = header->fields[i].slot;
        for (size_t k = 0; k < header->fields[i].count; k++) /* a slot has one number */
            slots[column++] = slot < 3 || header->normals ? slot : -1;
    }
    bool good = read_lines(solid, slots, header, file);
    free(slots);
    return good;
}

/* ---- Binary ------------------------------------------------------------------------------------------------------ */

/* Zeros and blanks behind the points are padding: writers round up to pages. */
static bool check_end(const char *at, const ast_solid_file *file) {
    const char *from = at;
    while (at < file->end && (*at == '\0' || ast_solid_blank(*at) || ast_solid_line_end(*at)))
        at++;
    return at == file->end ||
           ast_solid_fail(file, from, "%zu bytes follow the points that it promises", (size_t)(file->end - from));
}

static bool read_binary(ast_solid *solid, const ast_pcd_header *header, const ast_solid_file *file) {
    if (header->points > (size_t)(file->end - header->body) / header->row)
        return cannot_hold(header, file);
    if (!ast_solid_make_points(solid, header->points, header->normals, file))
        return false;
    ast_solid_column columns[AST_SOLID_SLOTS] = {{0}};
    for (int slot = 0; slot < AST_SOLID_SLOTS; slot++)
        if (header->slots[slot])
            columns[slot] = (ast_solid_column){header->slots[slot]->offset, header->slots[slot]->type};
    ast_solid_gather_rows(solid, header->body, header->row, header->points, columns);
    return check_end(header->body + header->points * header->row, file);
}

/* ---- Compressed -------------------------------------------------------------------------------------------------- */

/* What the two sizes before the compressed bytes say. */
static bool check_sizes(const ast_pcd_header *header, const ast_solid_file *file, size_t *packed, size_t *size) {
    size_t follow = (size_t)(file->end - header->body);
    if (follow < 8)
        return ast_solid_fail(file, NULL, "is cut short: the sizes of its compressed points are not there");
    *packed = ast_little(header->body, 4);
    *size = ast_little(header->body + 4, 4);
    if (*packed > follow - 8)
        return ast_solid_fail(file, NULL, "is cut short: %zu of its %zu compressed bytes are there", follow - 8,
                              *packed);
    if (*size != header->points * header->row)
        return ast_solid_fail(file, NULL,
                              "has %zu bytes of compressed points, but its header promises %zu points of %zu "
                              "bytes",
                              *size, header->points, header->row);
    return *size <= AST_LZF_GROWTH * *packed || cannot_hold(header, file);
}

static bool read_compressed(ast_solid *solid, const ast_pcd_header *header, const ast_solid_file *file) {
    size_t packed = 0, size = 0, count = header->points;
    if (!check_sizes(header, file, &packed, &size))
        return false;
    if (!ast_solid_make_points(solid, count, header->normals, file))
        return false;
    unsigned char *bytes = malloc(size + 1);
    if (!bytes)
        return ast_format_no_memory(file->error, file->name);
    bool good = ast_lzf_decompress(bytes, size, (const unsigned char *)header->body + 8, packed);
    if (!good)
        ast_solid_fail(file, header->body + 8, "its compressed points are damaged");
    /* Column after column: a field's numbers of all points stand together. */
    for (int slot = 0; slot < AST_SOLID_SLOTS && good; slot++) {
        const ast_pcd_field *field = header->slots[slot];
        if (field)
            ast_solid_gather(solid, slot, 0, (char *)bytes + field->offset * count, field->type.item, count,
                             field->type);
    }
    free(bytes);
    return good && check_end(header->body + 8 + packed, file);
}
