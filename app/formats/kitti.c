/* SPDX-License-Identifier: MIT
 *
 * The scans of the KITTI data sets: four little-endian floats a point, x, y, z and the reflectance, and nothing else.
 * A .bin file can be anything, so the format has to be named: --format kitti. */
#include "solid_readers.h"

enum { POINT = 16 }; /* bytes */

bool ast_kitti_solid(ast_solid *solid, const ast_solid_file *file) {
    ast_solid_file bytes = *file;
    bytes.binary = true;
    size_t size = (size_t)(file->end - file->text), count = size / POINT;
    if (size % POINT != 0)
        return ast_solid_fail(&bytes, NULL, "is no KITTI scan: its %zu bytes are no whole number of points of %d bytes",
                              size, POINT);
    if (count > AST_SOLID_MOST)
        return ast_solid_fail(&bytes, NULL, "has %zu points; at most 2^31 - 1 can be read", count);
    if (!ast_solid_make_points(solid, count, false, &bytes))
        return false;
    ast_solid_column columns[AST_SOLID_SLOTS] = {{0}};
    for (size_t c = 0; c < AST_SOLID_SLOTS; c++)
        columns[c] = (ast_solid_column){4 * (c % 3), {'f', 4, ast_solid_swapped(true)}};
    ast_solid_gather_rows(solid, file->text, POINT, count, columns);
    return true;
}
