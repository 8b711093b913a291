/* SPDX-License-Identifier: MIT
 *
 * PLY, Stanford's polygon format: element after element, of which the vertices and the faces are used. The header
 * promises how many there are of each; it is believed as far as the bytes go. The body is text, an element per line, or
 * binary of either byte order: both are walked through number by number, except for what most binary files hold, rows
 * of one size and triangles, which are read faster. */
#include "ply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is being read. */
typedef struct ply {
    const ast_ply_header *header;
    const ast_solid_file *file;
    ast_solid *solid;
    ast_faces faces;
    const char *at;
    const ast_ply_element *element; /* that is being read */
    uint64_t row;
} ply;

static bool check_promises(const ply *p);
static bool check_end(const ply *p);
static bool read_element(ply *p);

bool ast_ply_solid(ast_solid *solid, const ast_solid_file *file) {
    ast_ply_header *header = malloc(sizeof *header);
    if (!header)
        return ast_format_no_memory(file->error, file->name);
    ast_solid_file body = *file;
    ply p = {.header = header, .file = &body, .solid = solid};
    bool good = ast_ply_read_header(header, file);
    body.binary = !header->text;
    good = good && check_promises(&p) &&
           ast_solid_make_points(solid, (size_t)header->vertices->count, header->normals, file);
    p.at = header->body;
    for (size_t i = 0; good && i < header->element_count; i++) {
        p.element = &header->elements[i];
        good = p.element->property_count == 0 || read_element(&p);
    }
    good = good && check_end(&p);
    if (good)
        ast_faces_finish(&p.faces, solid);
    ast_faces_free(&p.faces);
    free(header);
    return good;
}

/* All elements together must fit: a binary row has its size or more, a number in text a digit and a blank. */
static bool check_promises(const ply *p) {
    const ast_ply_header *header = p->header;
    size_t bytes = (size_t)(p->file->end - header->body), left = header->text ? bytes + 1 : bytes;
    for (size_t i = 0; i < header->element_count; i++) {
        const ast_ply_element *element = &header->elements[i];
        size_t row = header->text ? 2 * element->property_count : element->size;
        if (row > 0 && element->count > left / row)
            return ast_solid_fail(p->file, NULL,
                                  "the %zu bytes behind its header cannot hold the %llu elements that it "
                                  "promises",
                                  bytes, (unsigned long long)element->count);
        left -= row * (size_t)element->count;
    }
    return true;
}

/* ---- Sentences --------------------------------------------------------------------------------------------------- */

static bool cut_short(const ply *p, uint64_t row) {
    static const char *const names[] = {"other elements", "vertices", "faces"};
    char place[40] = "";
    if (!p->header->text)
        snprintf(place, sizeof place, "at byte %zu, ", (size_t)(p->at - p->file->text));
    return ast_solid_fail(p->file, NULL, "is cut short: %s%llu of its %llu %s are there", place,
                          (unsigned long long)row, (unsigned long long)p->element->count, names[p->element->kind]);
}

static bool check_end(const ply *p) {
    const char *at = ast_solid_next_line(p->at, p->file->end);
    if (at == p->file->end)
        return true;
    if (p->header->text)
        return ast_solid_fail(p->file, at, "follows the last element that the header promises");
    return ast_solid_fail(p->file, p->at, "%zu bytes follow the last element that the header promises",
                          (size_t)(p->file->end - p->at));
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static bool next_number(ply *p, ast_solid_type type, double *value) {
    if (!p->header->text) {
        if ((size_t)(p->file->end - p->at) < type.item)
            return cut_short(p, p->row);
        *value = ast_solid_load(p->at, type);
        p->at += type.item;
        return true;
    }
    const char *at = ast_solid_pass_blanks(p->at), *end = ast_solid_real(at, value);
    if (!end && (ast_solid_line_end(*at) || at == p->file->end))
        return ast_solid_fail(p->file, at, "ends before all properties of the element are there");
    p->at = end;
    return end || ast_solid_no_number(p->file, at);
}

static bool read_corners(ply *p, size_t count, ast_solid_type type) {
    unsigned long long face = p->row;
    if (count < 3)
        return ast_solid_fail(p->file, p->at, "face %llu has %zu corners; it must have 3 or more", face, count);
    if (!ast_faces_room(&p->faces, count, p->file))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *at = p->at;
        double number;
        if (!next_number(p, type, &number))
            return false;
        bool known = number >= 0 && number < (double)p->solid->count;
        int32_t corner = known ? (int32_t)number : 0;
        if (!known || (double)corner != number)
            return ast_solid_fail(p->file, at, "face %llu names vertex %.0f, but there are %zu, from 0", face, number,
                                  p->solid->count);
        p->faces.corners[i] = corner;
    }
    return ast_faces_add(&p->faces, count, p->file);
}

/* The count of a list is compared with the bytes that are left before it is believed. */
static bool read_list(ply *p, const ast_ply_property *property) {
    const char *begin = p->at;
    double count, unwanted;
    if (!next_number(p, property->count, &count))
        return false;
    double left = (double)(p->file->end - p->at), needed = count * (p->header->text ? 2 : property->type.item);
    if (count >= 0 && needed > left && !p->header->text)
        return cut_short(p, p->row);
    if (!(count >= 0 && needed <= left))
        return ast_solid_fail(p->file, begin, "a list cannot have %.0f numbers", count);
    if (property->slot == AST_PLY_CORNERS)
        return read_corners(p, (size_t)count, property->type);
    for (size_t i = 0; i < (size_t)count; i++)
        if (!next_number(p, property->type, &unwanted))
            return false;
    return true;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static bool read_row(ply *p) {
    for (size_t i = 0; i < p->element->property_count; i++) {
        const ast_ply_property *property = &p->element->properties[i];
        double value = 0;
        if (property->list ? !read_list(p, property) : !next_number(p, property->type, &value))
            return false;
        if (!property->list && property->slot < AST_SOLID_SLOTS)
            ast_solid_store(p->solid, property->slot, (size_t)p->row, value);
    }
    return true;
}

/* A line of text. */
static bool read_line(ply *p) {
    p->at = ast_solid_next_line(p->at, p->file->end);
    if (p->at == p->file->end)
        return cut_short(p, p->row);
    if (p->element->kind == AST_PLY_OTHER) {
        p->at = ast_solid_line(p->at, p->file->end);
        return true;
    }
    if (!read_row(p))
        return false;
    p->at = ast_solid_pass_blanks(p->at);
    return ast_solid_line_end(*p->at) || p->at == p->file->end ||
           ast_solid_fail(p->file, p->at, "has more numbers than the element has properties");
}

/* Binary vertices without lists: rows of one size are gathered column by column. */
static void gather_vertices(const ply *p) {
    const ast_ply_element *element = p->element;
    ast_solid_column columns[AST_SOLID_SLOTS] = {{0}};
    size_t offset = 0;
    for (size_t i = 0; i < element->property_count; i++) {
        const ast_ply_property *property = &element->properties[i];
        if (property->slot >= 0 && property->slot < AST_SOLID_SLOTS)
            columns[property->slot] = (ast_solid_column){offset, property->type};
        offset += property->type.item;
    }
    ast_solid_gather_rows(p->solid, p->at, element->size, (size_t)element->count, columns);
}

/* Faces that are nothing but a list of 32-bit numbers, counted by a byte, in this machine's byte order: reads as many
 * of them as are good triangles. */
static void read_triangles(ply *p) {
    const ast_ply_property *property = &p->element->properties[0];
    size_t points = p->solid->count;
    if (p->element->property_count != 1 || property->slot != AST_PLY_CORNERS || property->count.item != 1 ||
        property->type.kind == 'f' || property->type.item != 4 || property->type.swap)
        return;
    for (; p->row < p->element->count && p->file->end - p->at >= 13 && *p->at == 3; p->row++, p->at += 13) {
        uint32_t corners[3];
        memcpy(corners, p->at + 1, sizeof corners);
        if (corners[0] >= points || corners[1] >= points || corners[2] >= points ||
            !ast_faces_room(&p->faces, 3, p->file))
            return;
        memcpy(p->faces.corners, corners, sizeof corners);
        if (!ast_faces_add(&p->faces, 3, p->file))
            return;
    }
}

static bool read_element(ply *p) {
    const ast_ply_element *element = p->element;
    p->row = 0;
    if (!p->header->text && !element->lists) {
        size_t there = (size_t)(p->file->end - p->at) / element->size;
        if (element->count > there)
            return cut_short(p, there);
        if (element->kind == AST_PLY_VERTEX)
            gather_vertices(p);
        p->at += element->size * (size_t)element->count;
        return true;
    }
    if (!p->header->text)
        read_triangles(p);
    for (; p->row < element->count; p->row++)
        if (!(p->header->text ? read_line : read_row)(p))
            return false;
    return true;
}
