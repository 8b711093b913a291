/* SPDX-License-Identifier: MIT
 *
 * PLY, Stanford's polygon format: element after element, of which the vertices and the faces are used. The header
 * promises how many there are of each; it is believed as far as the bytes go. */
#include "ply.h"

#include <stdlib.h>

static bool check_promises(const ast_ply *ply, ast_format_error *error);
static bool check_end(const ast_ply *ply, ast_format_error *error);
static bool read_elements(ast_ply *ply, ast_format_error *error);

bool ast_ply_solid(ast_solid *solid, const ast_solid_file *file, ast_format_error *error) {
    ast_ply_header *header = malloc(sizeof *header);
    if (!header)
        return ast_format_no_memory(error, file->name);
    ast_ply ply = {.header = header, .file = file, .solid = solid};
    bool good = ast_ply_read_header(header, file, error) && check_promises(&ply, error) &&
                ast_solid_make_points(solid, (size_t)header->vertices->count, header->normals, file->name, error);
    ply.at = good ? header->body : NULL;
    good = good && read_elements(&ply, error) && check_end(&ply, error);
    if (good)
        ast_faces_finish(&ply.faces, solid);
    ast_faces_free(&ply.faces);
    free(header);
    return good;
}

float *ast_ply_place(const ast_ply *ply, int slot) {
    if (slot < 0 || slot >= AST_PLY_CORNERS)
        return NULL;
    float *triples = slot < 3 ? ply->solid->points : ply->solid->normals;
    return triples ? triples + slot % 3 : NULL;
}

static bool read_elements(ast_ply *ply, ast_format_error *error) {
    const ast_ply_header *header = ply->header;
    for (size_t i = 0; i < header->element_count; i++)
        if (header->elements[i].property_count > 0 &&
            !(header->text ? ast_ply_text : ast_ply_binary)(ply, &header->elements[i], error))
            return false;
    return true;
}

/* All elements together must fit: a binary row has its size or more, a number in text a digit and a blank. */
static bool check_promises(const ast_ply *ply, ast_format_error *error) {
    const ast_ply_header *header = ply->header;
    size_t bytes = (size_t)(ply->file->end - header->body), left = header->text ? bytes + 1 : bytes;
    for (size_t i = 0; i < header->element_count; i++) {
        const ast_ply_element *element = &header->elements[i];
        size_t row = header->text ? 2 * element->property_count : element->size;
        if (row > 0 && element->count > left / row)
            return ast_format_fail(error,
                                   "%s: the %zu bytes behind its header cannot hold the %llu elements that it "
                                   "promises",
                                   ply->file->name, bytes, (unsigned long long)element->count);
        left -= row * (size_t)element->count;
    }
    return true;
}

static bool check_end(const ast_ply *ply, ast_format_error *error) {
    const ast_solid_file *file = ply->file;
    const char *at = ast_solid_next_line(ply->at, file->end);
    if (at == file->end)
        return true;
    if (ply->header->text)
        return ast_solid_fail_line(file, at, error, "follows the last element that the header promises");
    return ast_format_fail(error, "%s: at byte %zu: %zu bytes follow the last element that the header promises",
                           file->name, (size_t)(ply->at - file->text), (size_t)(file->end - ply->at));
}
