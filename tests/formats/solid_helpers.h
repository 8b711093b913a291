/* SPDX-License-Identifier: MIT
 *
 * What the tests of 3-D files share. Files are called part.ply and so on after their format. */
#ifndef ASTERISM_TESTS_FORMATS_SOLID_HELPERS_H
#define ASTERISM_TESTS_FORMATS_SOLID_HELPERS_H

#include "helpers.h"
#include "solids.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a string constant, which may hold NULs. */
#define BYTES(text) (text), sizeof(text) - 1

/* Reads it or fails the test. */
static inline ast_solid read_solid(const char *format, const void *bytes, size_t size) {
    ast_solid solid;
    ast_format_error error;
    if (!ast_solid_read_memory(&solid, "part", ast_format_of("part", format), bytes, size, &error))
        fail_msg("%s", error.text);
    return solid;
}

/* Equal, or both NaN. */
static inline void expect_floats(const float *numbers, const float *expected, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(numbers[i] == expected[i] || (isnan(numbers[i]) && isnan(expected[i]))))
            fail_msg("number %zu is %g, not %g", i, (double)numbers[i], (double)expected[i]);
}

/* points: (count, 3); faces: (face_count, 3), or NULL. */
static inline void expect_solid(const char *format, const void *bytes, size_t size, size_t count, const float *points,
                                const float *normals, size_t face_count, const int32_t *faces) {
    ast_solid solid = read_solid(format, bytes, size);
    assert_int_equal(solid.count, count);
    expect_floats(solid.points, points, 3 * count);
    assert_int_equal(solid.normals != NULL, normals != NULL);
    if (normals)
        expect_floats(solid.normals, normals, 3 * count);
    assert_int_equal(solid.face_count, face_count);
    if (faces)
        assert_memory_equal(solid.faces, faces, 3 * face_count * sizeof *faces);
    ast_solid_free(&solid);
}

/* Fails the test unless it cannot be read and the sentence contains `part`. */
static inline void expect_bad_solid(const char *format, const void *bytes, size_t size, const char *part) {
    ast_solid solid;
    ast_format_error error = {""};
    if (ast_solid_read_memory(&solid, "part", ast_format_of("part", format), bytes, size, &error))
        fail_msg("read, but a problem was expected: %s", part);
    if (strncmp(error.text, "part: ", 6) != 0 || !strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("the sentence \"%s\" does not contain \"%s\"", error.text, part);
    assert_true(!solid.points && !solid.normals && !solid.faces && solid.count == 0);
}

#endif
