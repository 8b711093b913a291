/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a 3-D file of one format. */
#ifndef ASTERISM_TESTS_FUZZ_SOLIDS_H
#define ASTERISM_TESTS_FUZZ_SOLIDS_H

#include "fuzz.h"
#include "solids.h"

#include <math.h>

/* A point or a normal is there as a whole, or is not there. */
static inline void check_triples(const float *triples, size_t count) {
    for (size_t i = 0; i < count; i++, triples += 3) {
        bool there = isfinite(triples[0]);
        for (int d = 0; d < 3; d++)
            require(there ? isfinite(triples[d]) : isnan(triples[d]));
    }
}

/* columns: of .xyz, or NULL. */
static inline int as_solid_of(const char *format, const char *columns, const uint8_t *bytes, size_t size) {
    ast_solid solid;
    ast_format_error error = {""};
    ast_file_format how = ast_format_of("fuzz", format);
    how.columns = columns;
    bool good = ast_solid_read_memory(&solid, "fuzz", how, bytes, size, &error);
    if (!good) {
        require(strncmp(error.text, "fuzz: ", 6) == 0 && strchr(error.text, '\n') == NULL);
        require(!solid.points && !solid.normals && !solid.faces);
        return 0;
    }
    require(solid.count > 0);
    check_triples(solid.points, solid.count);
    if (solid.normals)
        check_triples(solid.normals, solid.count);
    for (size_t i = 0; i < 3 * solid.face_count; i++)
        require(solid.faces[i] >= 0 && (size_t)solid.faces[i] < solid.count);
    ast_solid_free(&solid);
    return 0;
}

static inline int as_solid(const char *format, const uint8_t *bytes, size_t size) {
    return as_solid_of(format, NULL, bytes, size);
}

#endif
