/* SPDX-License-Identifier: MIT
 *
 * Reads the header of a PLY file: elements, and the properties of each. Names are looked at once, here: what follows
 * knows slots. */
#include "ply.h"

#include <string.h>

/* A line of a header has no more words that matter. */
#define WORDS 8

/* A line of the header. */
typedef struct line {
    const ast_solid_file *file;
    const char *begin, *end;
    ast_word words[WORDS];
    size_t count;
} line;

static bool next_line(line *of);
static bool read_format(ast_ply_header *header, const line *of);
static bool add_element(ast_ply_header *header, const line *of);
static bool add_property(ast_ply_header *header, const line *of);
static bool complete(ast_ply_header *header, const line *of);

static bool read_line(ast_ply_header *header, const line *of) {
    if (of->count == 0 || ast_word_is(of->words[0], "comment") || ast_word_is(of->words[0], "obj_info"))
        return true;
    if (ast_word_is(of->words[0], "element"))
        return add_element(header, of);
    if (ast_word_is(of->words[0], "property"))
        return add_property(header, of);
    return ast_solid_fail(of->file, of->begin,
                          "is no line of a PLY header, such as property float x, and end_header has not come");
}

bool ast_ply_read_header(ast_ply_header *header, const ast_solid_file *file) {
    memset(header, 0, sizeof *header);
    line of = {.file = file, .end = file->text};
    const char *first = ast_solid_line(file->text, file->end);
    if (ast_solid_words(file->text, first, of.words, WORDS) != 1 || !ast_word_is(of.words[0], "ply"))
        return ast_solid_fail(file, NULL, "is no PLY file: it does not begin with a line ply");
    of.end = first;
    do {
        if (!next_line(&of))
            return false;
    } while (of.count == 0 || ast_word_is(of.words[0], "comment") || ast_word_is(of.words[0], "obj_info"));
    if (!read_format(header, &of))
        return false;
    while (next_line(&of)) {
        if (of.count > 0 && ast_word_is(of.words[0], "end_header"))
            return complete(header, &of);
        if (!read_line(header, &of))
            return false;
    }
    return false;
}

static bool next_line(line *of) {
    if (of->end == of->file->end)
        return ast_solid_fail(of->file, NULL, "is cut short: its PLY header has no line end_header");
    of->begin = ast_solid_pass_line_end(of->end, of->file->end);
    of->end = ast_solid_line(of->begin, of->file->end);
    of->count = ast_solid_words(of->begin, of->end, of->words, WORDS);
    return true;
}

static bool read_format(ast_ply_header *header, const line *of) {
    bool good = of->count == 3 && ast_word_is(of->words[0], "format") && ast_word_is(of->words[2], "1.0");
    bool little = good && ast_word_is(of->words[1], "binary_little_endian");
    header->text = good && ast_word_is(of->words[1], "ascii");
    header->swap = ast_solid_swapped(little);
    return (good && (header->text || little || ast_word_is(of->words[1], "binary_big_endian"))) ||
           ast_solid_fail(of->file, of->begin,
                          "must be format ascii 1.0, binary_little_endian 1.0 or binary_big_endian 1.0");
}

static bool add_element(ast_ply_header *header, const line *of) {
    ast_ply_element element = {.properties = header->properties + header->property_count};
    if (of->count != 3 || !ast_word_count(of->words[2], &element.count))
        return ast_solid_fail(of->file, of->begin, "must be element NAME COUNT");
    if (header->element_count == AST_PLY_ELEMENTS)
        return ast_solid_fail(of->file, of->begin, "there are more than %d elements", AST_PLY_ELEMENTS);
    if (ast_word_is(of->words[1], "vertex"))
        element.kind = AST_PLY_VERTEX;
    else if (ast_word_is(of->words[1], "face"))
        element.kind = AST_PLY_FACE;
    for (size_t i = 0; i < header->element_count && element.kind != AST_PLY_OTHER; i++)
        if (header->elements[i].kind == element.kind)
            return ast_solid_fail(of->file, of->begin, "there is such an element already");
    if (element.kind != AST_PLY_OTHER && element.count > AST_SOLID_MOST)
        return ast_solid_too_many(of->file, of->words[2]);
    header->elements[header->element_count++] = element;
    return true;
}

/* ---- Properties -------------------------------------------------------------------------------------------------- */

static bool type_of(ast_word word, bool swap, ast_solid_type *type) {
    static const struct {
        const char *name, *other;
        ast_solid_type type;
    } types[] = {{"float", "float32", {'f', 4, false}}, {"double", "float64", {'f', 8, false}},
                 {"char", "int8", {'i', 1, false}},     {"uchar", "uint8", {'u', 1, false}},
                 {"short", "int16", {'i', 2, false}},   {"ushort", "uint16", {'u', 2, false}},
                 {"int", "int32", {'i', 4, false}},     {"uint", "uint32", {'u', 4, false}},
                 {"long", "int64", {'i', 8, false}},    {"ulong", "uint64", {'u', 8, false}}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (ast_word_is(word, types[i].name) || ast_word_is(word, types[i].other)) {
            *type = types[i].type;
            type->swap = swap;
            return true;
        }
    return false;
}

static int slot_of(const ast_ply_element *element, ast_word name, bool list) {
    static const char *const names[] = {"x", "y", "z", "nx", "ny", "nz"};
    if (element->kind == AST_PLY_FACE && list &&
        (ast_word_is(name, "vertex_indices") || ast_word_is(name, "vertex_index")))
        return AST_PLY_CORNERS;
    for (int slot = 0; slot < AST_PLY_CORNERS && element->kind == AST_PLY_VERTEX && !list; slot++)
        if (ast_word_is(name, names[slot]))
            return slot;
    return AST_PLY_UNWANTED;
}

static bool known_types(ast_ply_property *property, const line *of, bool swap) {
    property->list = of->count > 1 && ast_word_is(of->words[1], "list");
    if (of->count != (property->list ? 5U : 3U))
        return ast_solid_fail(of->file, of->begin, "must be property TYPE NAME or property list TYPE TYPE NAME");
    size_t number = property->list ? 3 : 1;
    if ((!property->list || type_of(of->words[2], swap, &property->count)) &&
        type_of(of->words[number], swap, &property->type) && (!property->list || property->count.kind != 'f'))
        return true;
    return ast_solid_fail(of->file, of->begin,
                          "a type must be char, uchar, short, ushort, int, uint, float or double, and that of "
                          "a list's count a whole number");
}

static bool add_property(ast_ply_header *header, const line *of) {
    ast_ply_property property = {0};
    if (header->element_count == 0)
        return ast_solid_fail(of->file, of->begin, "a property must follow an element");
    if (header->property_count == AST_PLY_PROPERTIES)
        return ast_solid_fail(of->file, of->begin, "there are more than %d properties", AST_PLY_PROPERTIES);
    if (!known_types(&property, of, header->swap))
        return false;
    ast_ply_element *element = &header->elements[header->element_count - 1];
    property.slot = slot_of(element, of->words[of->count - 1], property.list);
    for (size_t i = 0; i < element->property_count && property.slot != AST_PLY_UNWANTED; i++)
        if (element->properties[i].slot == property.slot)
            return ast_solid_fail(of->file, of->begin, "there is such a property already");
    element->lists |= property.list;
    element->size += property.list ? property.count.item : property.type.item;
    element->property_count++;
    header->properties[header->property_count++] = property;
    return true;
}

static bool complete(ast_ply_header *header, const line *of) {
    bool slots[AST_PLY_SLOTS] = {false};
    header->body = ast_solid_pass_line_end(of->end, of->file->end);
    for (size_t i = 0; i < header->element_count; i++)
        if (header->elements[i].kind == AST_PLY_VERTEX)
            header->vertices = &header->elements[i];
    for (size_t i = 0; header->vertices && i < header->vertices->property_count; i++)
        if (header->vertices->properties[i].slot >= 0)
            slots[header->vertices->properties[i].slot] = true;
    header->normals = slots[3] && slots[4] && slots[5];
    return (slots[0] && slots[1] && slots[2]) ||
           ast_solid_fail(of->file, NULL, "its PLY header has no element vertex with properties x, y and z");
}
