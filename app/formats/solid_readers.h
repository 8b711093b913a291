/* SPDX-License-Identifier: MIT
 *
 * What solids.c and the readers of clouds and meshes share: the file as bytes in memory, words and numbers of its text,
 * columns of its binary rows, and faces that come one by one. */
#ifndef ASTERISM_FORMATS_SOLID_READERS_H
#define ASTERISM_FORMATS_SOLID_READERS_H

#include "solids.h"

/* Indices of points are int32. */
#define AST_SOLID_MOST ((uint64_t)INT32_MAX)

/* A whole file, and how to speak of it. */
typedef struct ast_solid_file {
    const char *name;       /* for sentences */
    const char *text, *end; /* *end is a NUL, which no number and no word runs over */
    bool binary;            /* sentences name a byte, not a line */
    const char *columns;    /* of .xyz: those that are wanted, or NULL */
    ast_format_error *error;
} ast_solid_file;

/* The readers. Each fills in the solid; on failure it leaves in it what ast_solid_free can free. */
typedef bool ast_solid_function(ast_solid *solid, const ast_solid_file *file);
ast_solid_function ast_pcd_solid, ast_ply_solid, ast_obj_solid, ast_stl_solid, ast_las_solid, ast_kitti_solid,
    ast_xyz_solid;

/* ---- solids.c ---------------------------------------------------------------------------------------------------- */

/* The sentence "NAME: line 17: ..." or "NAME: at byte 4711: ..." about what stands at `at`; NULL: "NAME: ...". */
bool ast_solid_fail(const ast_solid_file *file, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Places for `count` points, and as many normals. The caller has seen that the file has the bytes for them. */
bool ast_solid_make_points(ast_solid *solid, size_t count, bool normals, const ast_solid_file *file);

/* ---- solid_text.c ------------------------------------------------------------------------------------------------ */

static inline bool ast_solid_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\v' || byte == '\f';
}

static inline bool ast_solid_line_end(char byte) {
    return byte == '\n' || byte == '\r';
}

static inline const char *ast_solid_pass_blanks(const char *at) {
    while (ast_solid_blank(*at))
        at++;
    return at;
}

/* Where the line ends, or the file. */
const char *ast_solid_line(const char *at, const char *end);

/* What follows the line end at `at`: "\n", "\r" or "\r\n". */
static inline const char *ast_solid_pass_line_end(const char *at, const char *end) {
    if (at < end && *at == '\r')
        at++;
    else if (at < end)
        return at + 1;
    return at < end && *at == '\n' ? at + 1 : at;
}

/* The first byte of the next line that is not blank, behind its blanks; `end` if there is none. */
const char *ast_solid_next_line(const char *at, const char *end);

/* Reads a number of any kind, "nan" and "inf" too, up to a blank or the line's end. NULL if there is none. */
const char *ast_solid_real(const char *at, double *value);

/* Passes over what stands before the next blank or line end. */
const char *ast_solid_pass_word(const char *at, const char *end);

/* The sentence about what stands at `at` instead of a number. */
bool ast_solid_no_number(const ast_solid_file *file, const char *at);

typedef struct ast_word {
    const char *text;
    size_t length;
} ast_word;

/* Splits a line at its blanks. How many words there are; those beyond `most` are counted, but left out. */
size_t ast_solid_words(const char *begin, const char *end, ast_word *words, size_t most);

/* Whether they are equal but for upper and lower case. */
bool ast_word_is(ast_word word, const char *text);

/* A whole number in decimal. */
bool ast_word_count(ast_word word, uint64_t *value);

/* The sentence about a number of points or faces that is beyond AST_SOLID_MOST. */
bool ast_solid_too_many(const ast_solid_file *file, ast_word number);

/* ---- solid_columns.c --------------------------------------------------------------------------------------------- */

/* Numbers of a binary row: 'f' of 4 or 8 bytes, 'i' or 'u' of 1, 2, 4 or 8. */
typedef struct ast_solid_type {
    char kind;
    uint8_t item;
    bool swap; /* the other byte order */
} ast_solid_type;

double ast_solid_load(const void *place, ast_solid_type type);

/* The float of a slot, 0 to 2 for x, y, z and 3 to 5 for the normal. A coordinate is relative to the solid's origin,
 * which the first finite one of its axis sets. */
float ast_solid_float(ast_solid *solid, int slot, double value);

/* Puts the number of a slot of a point in its place. Does nothing for any other slot, or if there are no normals. */
void ast_solid_store(ast_solid *solid, int slot, size_t point, double value);

/* Where the numbers of each slot are in a binary row. */
enum { AST_SOLID_SLOTS = 6 };
typedef struct ast_solid_column {
    size_t offset;
    ast_solid_type type;
} ast_solid_column;

/* Points, and normals if there are any, from `count` rows of `row` bytes. */
void ast_solid_gather_rows(ast_solid *solid, const char *from, size_t row, size_t count,
                           const ast_solid_column columns[AST_SOLID_SLOTS]);

/* The number at from + i stride becomes that of the slot of point first + i, for i below count. Floats are taken as
 * they are. */
void ast_solid_gather(ast_solid *solid, int slot, size_t first, const char *from, size_t stride, size_t count,
                      ast_solid_type type);

/* Whether this machine has to turn numbers of that byte order around. */
static inline bool ast_solid_swapped(bool little) {
    return little != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* ---- polygons.c -------------------------------------------------------------------------------------------------- */

/* Faces as they come; zeroed at first. */
typedef struct ast_faces {
    int32_t *triangles; /* (count, 3) */
    size_t count, capacity;
    int32_t *corners; /* of the face that is being read */
    size_t corner_capacity;
    struct ast_polygon *large; /* those with more than three corners */
    size_t large_count, large_capacity;
} ast_faces;

/* faces->corners gets room for `count` of them. */
bool ast_faces_room(ast_faces *faces, size_t count, const ast_solid_file *file);

/* Adds the face whose `count` corners, three or more, stand in faces->corners. */
bool ast_faces_add(ast_faces *faces, size_t count, const ast_solid_file *file);

/* Hands the faces over to the solid, whose points are there, and cuts concave polygons well. */
void ast_faces_finish(ast_faces *faces, ast_solid *solid);
void ast_faces_free(ast_faces *faces);

#endif
