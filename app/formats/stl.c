/* SPDX-License-Identifier: MIT
 *
 * STL: triangles, each with three points of its own, in text or in binary. The word "solid" decides nothing: binary
 * files begin with it too. What decides is the size, which a binary file's count of facets gives to the byte. */
#include "solid_readers.h"

#include "bytes.h"

#include <stdlib.h>
#include <string.h>

enum { PRELUDE = 84, FACET = 50, NORMAL = 12 }; /* bytes: 80 of anything and the count; a facet; its normal */

static size_t facets_of(const ast_solid_file *file);
static bool is_text(const ast_solid_file *file);
static bool read_binary(ast_solid *solid, const ast_solid_file *file);
static bool read_text(ast_solid *solid, const ast_solid_file *file);

bool ast_stl_solid(ast_solid *solid, const ast_solid_file *file) {
    bool good = is_text(file) ? read_text(solid, file) : read_binary(solid, file);
    if (!good)
        return false;
    solid->face_count = solid->count / 3;
    solid->faces = malloc(solid->count * sizeof *solid->faces + 1);
    for (size_t i = 0; i < solid->count && solid->faces; i++)
        solid->faces[i] = (int32_t)i;
    return solid->faces || ast_format_no_memory(file->error, file->name);
}

/* ---- Binary ------------------------------------------------------------------------------------------------------ */

static size_t facets_of(const ast_solid_file *file) {
    return ast_little(file->text + PRELUDE - 4, 4);
}

/* Text begins with solid, and has no NUL in what would be the header of a binary file. */
static bool is_text(const ast_solid_file *file) {
    size_t size = (size_t)(file->end - file->text);
    if (size >= PRELUDE && size == PRELUDE + FACET * facets_of(file))
        return false;
    const char *at = ast_solid_next_line(file->text, file->end);
    return strncasecmp(at, "solid", 5) == 0 && !memchr(file->text, '\0', size < PRELUDE ? size : PRELUDE);
}

static bool read_binary(ast_solid *solid, const ast_solid_file *file) {
    size_t size = (size_t)(file->end - file->text);
    if (size < PRELUDE)
        return ast_solid_fail(file, NULL,
                              "is no STL file: it neither begins with solid nor has the %d bytes of a header", PRELUDE);
    size_t facets = facets_of(file);
    if (size != PRELUDE + FACET * facets)
        return ast_solid_fail(file, NULL, "promises %zu facets, which take %zu bytes behind its header, but has %zu",
                              facets, FACET * facets, size - PRELUDE);
    if (3 * facets > AST_SOLID_MOST)
        return ast_solid_fail(file, NULL, "has %zu facets; at most 2^31 / 3 can be read", facets);
    if (!ast_solid_make_points(solid, 3 * facets, false, file))
        return false;
    const char *from = file->text + PRELUDE + NORMAL;
    ast_solid_type type = {'f', 4, ast_solid_swapped(true)};
    for (size_t i = 0; i < facets; i++, from += FACET)
        for (int d = 0; d < 3; d++)
            ast_solid_gather(solid, d, 3 * i, from + 4 * d, 12, 3, type);
    return true;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

typedef struct text {
    const ast_solid_file *file;
    ast_solid *solid;
    const char *at;
    float *points;
    size_t count, capacity; /* in points */
} text;

static const char *next_word(text *reader) {
    return reader->at = ast_solid_next_line(reader->at, reader->file->end);
}

/* Whether this word comes next; if so it is passed over. */
static bool take(text *reader, const char *word) {
    const char *at = next_word(reader);
    size_t length = strlen(word);
    if (strncasecmp(at, word, length) != 0 || ast_solid_pass_word(at, reader->file->end) != at + length)
        return false;
    reader->at = at + length;
    return true;
}

static bool expect(text *reader, const char *word) {
    char excerpt[AST_EXCERPT];
    if (take(reader, word))
        return true;
    const char *at = reader->at, *end = ast_solid_pass_word(at, reader->file->end);
    if (at == reader->file->end)
        return ast_solid_fail(reader->file, at, "the file is cut short: it ends where '%s' is needed", word);
    ast_excerpt(excerpt, at, (size_t)(end - at));
    return ast_solid_fail(reader->file, at, "has '%s' where '%s' is needed", excerpt, word);
}

static bool read_vertex(text *reader) {
    if (!expect(reader, "vertex"))
        return false;
    float *place = reader->points + 3 * reader->count++;
    for (int d = 0; d < 3; d++) {
        double value;
        const char *at = next_word(reader), *end = ast_solid_real(at, &value);
        if (!end)
            return ast_solid_no_number(reader->file, at);
        place[d] = ast_solid_float(reader->solid, d, value);
        reader->at = end;
    }
    return true;
}

/* Behind the word facet. Its normal is not looked at. */
static bool read_facet(text *reader) {
    if (reader->count + 3 > AST_SOLID_MOST)
        return ast_solid_fail(reader->file, reader->at, "there are more than 2^31 / 3 facets");
    if (!ast_array_grow(&reader->points, &reader->capacity, reader->count + 3, 3 * sizeof *reader->points))
        return ast_format_no_memory(reader->file->error, reader->file->name);
    if (take(reader, "normal"))
        for (int d = 0; d < 3; d++)
            reader->at = ast_solid_pass_word(next_word(reader), reader->file->end);
    bool good = expect(reader, "outer") && expect(reader, "loop");
    for (int corner = 0; corner < 3 && good; corner++)
        good = read_vertex(reader);
    return good && expect(reader, "endloop") && expect(reader, "endfacet");
}

/* A name may follow solid and endsolid, up to the end of the line. A file may have several. */
static bool read_solids(text *reader) {
    while (next_word(reader) < reader->file->end) {
        if (!expect(reader, "solid"))
            return false;
        reader->at = ast_solid_line(reader->at, reader->file->end);
        while (take(reader, "facet"))
            if (!read_facet(reader))
                return false;
        if (!expect(reader, "endsolid"))
            return false;
        reader->at = ast_solid_line(reader->at, reader->file->end);
    }
    return true;
}

static bool read_text(ast_solid *solid, const ast_solid_file *file) {
    text reader = {.file = file, .solid = solid, .at = file->text};
    bool good = read_solids(&reader);
    solid->points = reader.points;
    solid->count = reader.count;
    return good;
}
