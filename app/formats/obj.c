/* SPDX-License-Identifier: MIT
 *
 * OBJ, Wavefront's format: v, vn and f; every other statement is passed over. A backslash at the end of a line joins it
 * with the next. Indices count from 1, or from the last one backwards; a face may name points that come later, so that
 * the largest index is remembered with its place, and compared with the number of points at the end. */
#include "solid_readers.h"

#include "number.h"

#include <stdlib.h>
#include <string.h>

typedef struct triples {
    float *values;
    size_t count, capacity;
} triples;

typedef struct obj {
    const ast_solid_file *file;
    ast_solid *solid;
    const char *at;
    triples points, normals;
    ast_faces faces;
    size_t largest; /* index of a point in a face, from 1 */
    const char *largest_at;
    bool normals_apart; /* a face gives a point the normal of another number */
} obj;

static bool read_statement(obj *reader);
static bool read_triple(obj *reader, triples *list, int slot);
static bool read_face(obj *reader);
static bool finish(obj *reader, ast_solid *solid);

bool ast_obj_solid(ast_solid *solid, const ast_solid_file *file) {
    obj reader = {.file = file, .solid = solid, .at = ast_solid_next_line(file->text, file->end)};
    bool good = true;
    while (reader.at < file->end && good) {
        good = read_statement(&reader);
        reader.at = good ? ast_solid_next_line(reader.at, file->end) : reader.at;
    }
    good = good && finish(&reader, solid);
    free(reader.points.values);
    free(reader.normals.values);
    ast_faces_free(&reader.faces);
    return good;
}

static bool too_few(const obj *reader, size_t largest) {
    return ast_solid_fail(reader->file, reader->largest_at, "the face names vertex %zu, but there are %zu, from 1",
                          largest, reader->points.count);
}

static bool finish(obj *reader, ast_solid *solid) {
    if (reader->largest > reader->points.count)
        return too_few(reader, reader->largest);
    solid->points = reader->points.values;
    solid->count = reader->points.count;
    reader->points.values = NULL;
    if (reader->normals.count == solid->count && !reader->normals_apart) {
        solid->normals = reader->normals.values;
        reader->normals.values = NULL;
    }
    ast_faces_finish(&reader->faces, solid);
    return true;
}

/* ---- Statements -------------------------------------------------------------------------------------------------- */

/* Passes over blanks, and over line ends behind a backslash. */
static const char *pass_blanks(const char *at, const char *end) {
    while (true) {
        at = ast_solid_pass_blanks(at);
        if (*at != '\\' || at + 1 >= end || !ast_solid_line_end(at[1]))
            return at;
        at = ast_solid_pass_line_end(at + 1, end);
    }
}

static bool at_end(const obj *reader) {
    return reader->at == reader->file->end || ast_solid_line_end(*reader->at) || *reader->at == '#';
}

/* The rest of the line, and of those that it goes on in. */
static const char *pass_statement(const char *at, const char *end) {
    while (true) {
        const char *stop = ast_solid_line(at, end);
        if (stop == end || stop == at || stop[-1] != '\\')
            return stop;
        at = ast_solid_pass_line_end(stop, end);
    }
}

static bool read_statement(obj *reader) {
    const char *word = reader->at, *end = ast_solid_pass_word(word, reader->file->end);
    size_t length = (size_t)(end - word);
    reader->at = end;
    if (length == 1 && *word == 'v')
        return read_triple(reader, &reader->points, 0);
    if (length == 2 && memcmp(word, "vn", 2) == 0)
        return read_triple(reader, &reader->normals, 3);
    if (length == 1 && *word == 'f')
        return read_face(reader);
    if (memchr(word, '\0', length))
        return ast_solid_fail(reader->file, word, "holds a NUL, so that this is no OBJ file");
    reader->at = pass_statement(word, reader->file->end);
    return true;
}

/* The first of its numbers is that of the slot. A fourth number, or a colour, may follow. */
static bool read_triple(obj *reader, triples *list, int slot) {
    const ast_solid_file *file = reader->file;
    if (list->count == AST_SOLID_MOST)
        return ast_solid_fail(file, reader->at, "there are more than 2^31 - 1 points");
    if (!ast_array_grow(&list->values, &list->capacity, list->count + 1, 3 * sizeof *list->values))
        return ast_format_no_memory(file->error, file->name);
    for (size_t d = 0; d < 3; d++) {
        double value;
        const char *at = pass_blanks(reader->at, file->end), *end = ast_solid_real(at, &value);
        if (!end)
            return ast_solid_no_number(file, at);
        list->values[3 * list->count + d] = ast_solid_float(reader->solid, slot + (int)d, value);
        reader->at = end;
    }
    list->count++;
    reader->at = pass_statement(reader->at, file->end);
    return true;
}

/* ---- Faces ------------------------------------------------------------------------------------------------------- */

/* An index, from 1; those below 0 count backwards from `count`. 0: there is none. */
static const char *read_index(const char *at, size_t count, size_t *index) {
    bool backwards = *at == '-';
    uint64_t number;
    at = ast_whole_parse(at + backwards, NULL, &number);
    *index = !backwards ? number : number > 0 && number <= count ? count + 1 - number : 0;
    return at && *index > 0 && *index <= AST_SOLID_MOST ? at : NULL;
}

/* a, a/b, a//c or a/b/c: point, texture, normal. */
static const char *read_corner(const obj *reader, const char *at, size_t *point, size_t *normal) {
    size_t texture;
    *normal = 0;
    at = read_index(at, reader->points.count, point);
    if (!at || *at != '/')
        return at;
    if (*++at != '/')
        at = read_index(at, AST_SOLID_MOST, &texture);
    if (!at || *at != '/')
        return at;
    at++;
    /* "1/2/" has no normal either. */
    return ast_solid_blank(*at) || ast_solid_line_end(*at) ? at : read_index(at, reader->normals.count, normal);
}

static bool no_corner(const obj *reader) {
    char excerpt[AST_EXCERPT];
    const char *end = ast_solid_pass_word(reader->at, reader->file->end);
    ast_excerpt(excerpt, reader->at, (size_t)(end - reader->at));
    return ast_solid_fail(reader->file, reader->at,
                          "'%s' is no corner of a face, such as 7, 7/1, 7//3 or -1, that names one of the "
                          "vertices",
                          excerpt);
}

static bool read_face(obj *reader) {
    const ast_solid_file *file = reader->file;
    size_t count = 0, point, normal;
    for (reader->at = pass_blanks(reader->at, file->end); !at_end(reader); count++) {
        const char *end = read_corner(reader, reader->at, &point, &normal);
        if (!end || !(ast_solid_blank(*end) || ast_solid_line_end(*end) || *end == '\\' || *end == '\0'))
            return no_corner(reader);
        if (!ast_faces_room(&reader->faces, count + 1, file))
            return false;
        reader->faces.corners[count] = (int32_t)(point - 1);
        reader->normals_apart |= normal > 0 && normal != point;
        if (point > reader->largest) {
            reader->largest = point;
            reader->largest_at = reader->at;
        }
        const char *next = pass_blanks(end, file->end);
        if (next == end && next < file->end && !ast_solid_line_end(*next))
            return no_corner(reader); /* a backslash or NUL within the line */
        reader->at = next;
    }
    const char *end = reader->at;
    reader->at = pass_statement(end, file->end);
    if (count < 3)
        return ast_solid_fail(file, end, "is a face of %zu corners; it must have 3 or more", count);
    return ast_faces_add(&reader->faces, count, file);
}
