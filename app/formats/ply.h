/* SPDX-License-Identifier: MIT
 *
 * The header of a PLY file. */
#ifndef ASTERISM_FORMATS_PLY_H
#define ASTERISM_FORMATS_PLY_H

#include "solid_readers.h"

enum { AST_PLY_ELEMENTS = 64, AST_PLY_PROPERTIES = 1024 };

/* What is wanted of a property: a coordinate is 0 to 2, one of a normal 3 to 5. */
enum { AST_PLY_CORNERS = 6, AST_PLY_SLOTS = 7, AST_PLY_UNWANTED = -1 };

typedef struct ast_ply_property {
    int slot;
    bool list;
    ast_solid_type type;  /* of the number, or of each in the list */
    ast_solid_type count; /* of a list: the number before it */
} ast_ply_property;

typedef enum ast_ply_kind { AST_PLY_OTHER, AST_PLY_VERTEX, AST_PLY_FACE } ast_ply_kind;

typedef struct ast_ply_element {
    ast_ply_kind kind;
    uint64_t count;
    const ast_ply_property *properties;
    size_t property_count;
    bool lists;  /* it has lists, so that rows differ in size */
    size_t size; /* bytes of a binary row, or the least that one takes */
} ast_ply_element;

typedef struct ast_ply_header {
    bool text;
    bool swap;
    ast_ply_element elements[AST_PLY_ELEMENTS];
    size_t element_count;
    ast_ply_property properties[AST_PLY_PROPERTIES];
    size_t property_count;
    const ast_ply_element *vertices; /* there is one */
    bool normals;                    /* the vertices have them */
    const char *body;
} ast_ply_header;

bool ast_ply_read_header(ast_ply_header *header, const ast_solid_file *file);

#endif
