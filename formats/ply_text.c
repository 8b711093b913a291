/* SPDX-License-Identifier: MIT
 *
 * The body of a PLY file in text: an element a line. */
#include "ply.h"

static bool next_row(ast_ply *ply, const ast_ply_element *element, uint64_t row, ast_format_error *error);
static bool read_row(ast_ply *ply, const ast_ply_element *element, size_t row, ast_format_error *error);

bool ast_ply_text(ast_ply *ply, const ast_ply_element *element, ast_format_error *error) {
    for (uint64_t row = 0; row < element->count; row++) {
        if (!next_row(ply, element, row, error))
            return false;
        if (element->kind == AST_PLY_OTHER)
            ply->at = ast_solid_line(ply->at, ply->file->end);
        else if (!read_row(ply, element, (size_t)row, error))
            return false;
    }
    return true;
}

static bool next_row(ast_ply *ply, const ast_ply_element *element, uint64_t row, ast_format_error *error) {
    static const char *const names[] = {"other elements", "vertices", "faces"};
    ply->at = ast_solid_next_line(ply->at, ply->file->end);
    return ply->at < ply->file->end ||
           ast_format_fail(error, "%s: is cut short: %llu of its %llu %s are there", ply->file->name,
                           (unsigned long long)row, (unsigned long long)element->count, names[element->kind]);
}

/* The next number of the line. */
static bool next_number(ast_ply *ply, double *value, ast_format_error *error) {
    const char *at = ast_solid_pass_blanks(ply->at), *end = ast_solid_real(ply->file, at, value);
    if (!end && (ast_solid_line_end(*at) || at == ply->file->end))
        return ast_solid_fail_line(ply->file, at, error, "ends before all properties of the element are there");
    ply->at = end;
    return end || ast_solid_no_number(ply->file, at, error);
}

static bool read_corners(ast_ply *ply, size_t count, ast_format_error *error) {
    if (count < 3)
        return ast_solid_fail_line(ply->file, ply->at, error, "is a face of %zu corners; it must have 3 or more",
                                   count);
    if (!ast_faces_room(&ply->faces, count, ply->file->name, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        double number;
        if (!next_number(ply, &number, error))
            return false;
        if (!ast_ply_corner(ply, number, &ply->faces.corners[i]))
            return ast_solid_fail_line(ply->file, ply->at, error,
                                       "the face names vertex %.0f, but there are %zu, from 0", number,
                                       ply->solid->count);
    }
    return ast_faces_add(&ply->faces, count, ply->file->name, error);
}

/* Its count is compared with the bytes that are left before it is believed. */
static bool read_list(ast_ply *ply, int slot, ast_format_error *error) {
    double count, unwanted;
    if (!next_number(ply, &count, error))
        return false;
    size_t left = (size_t)(ply->file->end - ply->at);
    if (!(count >= 0 && 2 * count <= (double)left))
        return ast_solid_fail_line(ply->file, ply->at, error, "a list cannot have %.0f numbers", count);
    if (slot == AST_PLY_CORNERS)
        return read_corners(ply, (size_t)count, error);
    for (size_t i = 0; i < (size_t)count; i++)
        if (!next_number(ply, &unwanted, error))
            return false;
    return true;
}

static bool read_row(ast_ply *ply, const ast_ply_element *element, size_t row, ast_format_error *error) {
    for (size_t i = 0; i < element->property_count; i++) {
        const ast_ply_property *property = &element->properties[i];
        double value;
        if (property->list ? !read_list(ply, property->slot, error) : !next_number(ply, &value, error))
            return false;
        float *place = property->list ? NULL : ast_ply_place(ply, property->slot);
        if (place)
            place[3 * row] = (float)value;
    }
    ply->at = ast_solid_pass_blanks(ply->at);
    return ast_solid_line_end(*ply->at) || ply->at == ply->file->end ||
           ast_solid_fail_line(ply->file, ply->at, error, "has more numbers than the element has properties");
}
