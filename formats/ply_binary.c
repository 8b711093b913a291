/* SPDX-License-Identifier: MIT
 *
 * The body of a PLY file in binary, of either byte order. Vertices without lists have rows of one size and are gathered
 * column by column; everything else is walked through, property by property. */
#include "ply.h"

#include <string.h>

/* Rows whose columns are gathered before the next: they stay in the cache meanwhile. */
#define BLOCK 1024

static void gather_vertices(ast_ply *ply, const ast_ply_element *element);
static bool walk_row(ast_ply *ply, const ast_ply_element *element, size_t row, ast_format_error *error);
static size_t plain_triangles(ast_ply *ply, const ast_ply_element *element, ast_format_error *error);
static bool cut_short(const ast_ply *ply, const ast_ply_element *element, uint64_t row, ast_format_error *error);

bool ast_ply_binary(ast_ply *ply, const ast_ply_element *element, ast_format_error *error) {
    if (!element->lists) {
        if (element->count > (size_t)(ply->file->end - ply->at) / element->size)
            return cut_short(ply, element, (size_t)(ply->file->end - ply->at) / element->size, error);
        if (element->kind == AST_PLY_VERTEX)
            gather_vertices(ply, element);
        ply->at += element->size * (size_t)element->count;
        return true;
    }
    for (uint64_t row = plain_triangles(ply, element, error); row < element->count; row++)
        if (!walk_row(ply, element, (size_t)row, error))
            return false;
    return true;
}

static bool cut_short(const ast_ply *ply, const ast_ply_element *element, uint64_t row, ast_format_error *error) {
    static const char *const names[] = {"other elements", "vertices", "faces"};
    return ast_format_fail(error, "%s: is cut short: at byte %zu, %llu of its %llu %s are there", ply->file->name,
                           (size_t)(ply->at - ply->file->text), (unsigned long long)row,
                           (unsigned long long)element->count, names[element->kind]);
}

static void gather_vertices(ast_ply *ply, const ast_ply_element *element) {
    for (size_t first = 0; first < element->count; first += BLOCK) {
        size_t left = (size_t)element->count - first, count = left < BLOCK ? left : BLOCK;
        const char *from = ply->at + first * element->size;
        for (size_t i = 0; i < element->property_count; i++) {
            const ast_ply_property *property = &element->properties[i];
            float *place = ast_ply_place(ply, property->slot);
            if (place)
                ast_solid_gather(place + 3 * first, from, element->size, count, property->type);
            from += property->type.item;
        }
    }
}

/* ---- Rows that differ in size ------------------------------------------------------------------------------------ */

static bool read_corners(ast_ply *ply, size_t row, size_t count, ast_solid_type type, ast_format_error *error) {
    size_t offset = (size_t)(ply->at - ply->file->text);
    if (count < 3)
        return ast_format_fail(error, "%s: at byte %zu: face %zu has %zu corners; it must have 3 or more",
                               ply->file->name, offset, row, count);
    if (!ast_faces_room(&ply->faces, count, ply->file->name, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        double number = ast_solid_load(ply->at + i * type.item, type);
        if (!ast_ply_corner(ply, number, &ply->faces.corners[i]))
            return ast_format_fail(error, "%s: at byte %zu: face %zu names vertex %.0f, but there are %zu, from 0",
                                   ply->file->name, offset + i * type.item, row, number, ply->solid->count);
    }
    return ast_faces_add(&ply->faces, count, ply->file->name, error);
}

/* The list at ply->at; its count has been seen to be there. */
static bool walk_list(ast_ply *ply, const ast_ply_element *element, const ast_ply_property *property, size_t row,
                      ast_format_error *error) {
    double count = ast_solid_load(ply->at, property->count);
    size_t item = property->type.item, left = (size_t)(ply->file->end - ply->at) - property->count.item;
    if (count < 0)
        return ast_format_fail(error, "%s: at byte %zu: a list cannot have %.0f numbers", ply->file->name,
                               (size_t)(ply->at - ply->file->text), count);
    if (count * (double)item > (double)left)
        return cut_short(ply, element, row, error);
    ply->at += property->count.item;
    if (property->slot == AST_PLY_CORNERS && !read_corners(ply, row, (size_t)count, property->type, error))
        return false;
    ply->at += (size_t)count * item;
    return true;
}

static bool walk_row(ast_ply *ply, const ast_ply_element *element, size_t row, ast_format_error *error) {
    for (size_t i = 0; i < element->property_count; i++) {
        const ast_ply_property *property = &element->properties[i];
        size_t size = property->list ? property->count.item : property->type.item;
        if ((size_t)(ply->file->end - ply->at) < size)
            return cut_short(ply, element, row, error);
        if (property->list) {
            if (!walk_list(ply, element, property, row, error))
                return false;
            continue;
        }
        float *place = ast_ply_place(ply, property->slot);
        if (place)
            place[3 * row] = (float)ast_solid_load(ply->at, property->type);
        ply->at += size;
    }
    return true;
}

/* What most files have: faces that are nothing but a list of 32-bit numbers, counted by a byte, in this machine's byte
 * order. Reads as many of them as are good triangles; the walk goes on from there. Returns how many. */
static size_t plain_triangles(ast_ply *ply, const ast_ply_element *element, ast_format_error *error) {
    const ast_ply_property *property = &element->properties[0];
    size_t row = 0;
    if (element->property_count != 1 || property->slot != AST_PLY_CORNERS || property->count.item != 1 ||
        property->type.kind == 'f' || property->type.item != 4 || property->type.swap)
        return 0;
    for (; row < element->count && ply->file->end - ply->at >= 13 && *ply->at == 3; row++, ply->at += 13) {
        uint32_t corners[3];
        memcpy(corners, ply->at + 1, sizeof corners);
        if (corners[0] >= ply->solid->count || corners[1] >= ply->solid->count || corners[2] >= ply->solid->count ||
            !ast_faces_room(&ply->faces, 3, ply->file->name, error))
            break;
        memcpy(ply->faces.corners, corners, sizeof corners);
        if (!ast_faces_add(&ply->faces, 3, ply->file->name, error))
            break;
    }
    return row;
}
