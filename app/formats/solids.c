/* SPDX-License-Identifier: MIT
 *
 * What all 3-D files have in common: they are seen whole, in memory with a NUL behind, and what is NaN is
 * missing, what is infinite an error. The readers are in pcd.c, ply.c, obj.c,
 * stl.c, las.c, kitti.c and xyz.c; which of them it is, the registry says. */
#include "solid_readers.h"

#include "platform.h"
#include "bytes.h"
#include "registry.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The bytes of a file, however they came. */
typedef struct contents {
    char *bytes; /* with a NUL behind */
    size_t size;
    size_t mapped; /* 0: from malloc */
} contents;

static bool read_bytes(ast_solid *solid, ast_bytes *bytes, ast_file_format format, ast_format_error *error);
static bool decode(ast_solid *solid, const ast_format *format, const ast_solid_file *file);

static bool check_format(const char *name, ast_file_format format, ast_format_error *error) {
    return format.holds & AST_HOLDS_SOLID ||
           ast_format_fail(error, "%s: is no 3-D file by its name; there are .pcd, .ply, .obj, .stl, .las and .xyz",
                           name);
}

bool ast_solid_read(ast_solid *solid, const char *path, ast_file_format format, ast_format_error *error) {
    ast_bytes bytes;
    *solid = (ast_solid){0};
    return check_format(path, format, error) && ast_bytes_open(&bytes, path, format.compressed, AST_NO_STOP, error) &&
           read_bytes(solid, &bytes, format, error);
}

bool ast_solid_read_memory(ast_solid *solid, const char *name, ast_file_format format, const void *memory, size_t size,
                           ast_format_error *error) {
    ast_bytes bytes;
    *solid = (ast_solid){0};
    return check_format(name, format, error) && ast_bytes_open_memory(&bytes, name, memory, size, false, error) &&
           read_bytes(solid, &bytes, format, error);
}

void ast_solid_free(ast_solid *solid) {
    free(solid->points);
    free(solid->normals);
    free(solid->faces);
    *solid = (ast_solid){0};
}

/* ---- For the readers --------------------------------------------------------------------------------------------- */

bool ast_solid_fail(const ast_solid_file *file, const char *at, const char *format, ...) {
    size_t line = 1;
    for (const char *c = file->text; at && c < at; c++)
        line += *c == '\n' || (*c == '\r' && c[1] != '\n');
    char what[sizeof file->error->text], place[40] = "";
    if (at)
        snprintf(place, sizeof place,
                 file->binary ? "at byte %zu: " : "line %zu: ", file->binary ? (size_t)(at - file->text) : line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return ast_format_fail(file->error, "%s: %s%s", file->name, place, what);
}

bool ast_solid_make_points(ast_solid *solid, size_t count, bool normals, const ast_solid_file *file) {
    solid->count = count;
    solid->points = malloc(3 * count * sizeof *solid->points + 1);
    solid->normals = normals ? malloc(3 * count * sizeof *solid->normals + 1) : NULL;
    return (solid->points && (solid->normals || !normals)) || ast_format_no_memory(file->error, file->name);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* A NUL follows the file. False where it cannot be mapped; it can be read then. */
static bool map_file(contents *whole, const ast_bytes *bytes) {
    if (!bytes->sized || bytes->memory || bytes->size == 0 || bytes->size > SIZE_MAX / 2)
        return false;
    ast_mapping map;
    if (!ast_map_file(&map, bytes->descriptor, (size_t)bytes->size, true))
        return false;
    *whole = (contents){map.place, (size_t)bytes->size, map.size};
    return true;
}

static bool load(contents *whole, ast_bytes *bytes, ast_format_error *error) {
    ast_buffer buffer = {0};
    if (map_file(whole, bytes))
        return true;
    bool good = ast_bytes_fill(bytes, &buffer, SIZE_MAX, error);
    *whole = (contents){.bytes = (char *)buffer.place, .size = buffer.filled};
    if (good) /* the input has ended before the buffer was full */
        whole->bytes[whole->size] = '\0';
    return good;
}

static void let_go(contents *whole) {
    if (whole->mapped)
        ast_unmap(&(ast_mapping){whole->bytes, whole->mapped});
    else
        free(whole->bytes);
}

/* Closes the bytes. */
static bool read_bytes(ast_solid *solid, ast_bytes *bytes, ast_file_format format, ast_format_error *error) {
    contents whole = {0};
    bool good = load(&whole, bytes, error);
    if (good) {
        ast_solid_file file = {bytes->name, whole.bytes, whole.bytes + whole.size, .columns = format.columns,
                               .error = error};
        good = decode(solid, format.row, &file);
    }
    let_go(&whole);
    ast_bytes_close(bytes);
    return good;
}

/* ---- What every reader leaves to do ------------------------------------------------------------------------------ */

/* Makes triples that hold a NaN missing. Returns the first that is infinite instead, or count. A number that is not
 * finite becomes NaN when multiplied by zero, any other zero. */
static size_t clean(float *triples, size_t count) {
    for (size_t i = 0; i < count; i++, triples += 3) {
        if (triples[0] * 0 + triples[1] * 0 + triples[2] * 0 == 0)
            continue;
        if (!isnan(triples[0]) && !isnan(triples[1]) && !isnan(triples[2]))
            return i;
        triples[0] = triples[1] = triples[2] = NAN;
    }
    return count;
}

static bool all_finite(const ast_solid *solid, const ast_solid_file *file) {
    size_t point = clean(solid->points, solid->count);
    size_t normal = solid->normals ? clean(solid->normals, solid->count) : solid->count;
    if (point < solid->count)
        return ast_solid_fail(file, NULL,
                              "vertex %zu (counting from 1) is infinite or too large for a float; coordinates must be "
                              "finite, or NaN where a point is missing",
                              point + 1);
    return normal == solid->count ||
           ast_solid_fail(file, NULL,
                          "the normal of vertex %zu (counting from 1) is infinite or too large for a float; it must be "
                          "finite, or NaN where it is missing",
                          normal + 1);
}

static bool decode(ast_solid *solid, const ast_format *format, const ast_solid_file *file) {
    if (file->text == file->end)
        return ast_solid_fail(file, NULL, "is empty");
    bool good = format->solid(solid, file);
    if (good && solid->count == 0)
        good = ast_solid_fail(file, NULL, "has not a single point");
    good = good && all_finite(solid, file);
    if (!good)
        ast_solid_free(solid);
    return good;
}
