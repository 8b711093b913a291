/* SPDX-License-Identifier: MIT
 *
 * Numbers of any type and byte order out of binary rows. The one idea: the type is looked at once a column, not once a
 * number, and the loop for each type is the same function with another way to load. */
#include "solid_readers.h"

#include "npy.h"

#include <asterism_depth.h>
#include <math.h>
#include <string.h>

/* Rows whose columns are gathered before the next: they stay in the cache meanwhile. */
#define BLOCK 1024

double ast_solid_load(const void *place, ast_solid_type type) {
    unsigned char bytes[8];
    memcpy(bytes, place, type.item);
    if (type.swap)
        ast_scalar_swap(bytes, 1, type.item);
    return ast_scalar_load(bytes, type.kind, type.item);
}

/* Where the numbers of a slot go: that of point 0. */
static float *place_of(const ast_solid *solid, int slot) {
    float *triples = slot < 0 || slot >= AST_SOLID_SLOTS ? NULL : slot < 3 ? solid->points : solid->normals;
    return triples ? triples + slot % 3 : NULL;
}

float ast_solid_float(ast_solid *solid, int slot, double value) {
    if (slot >= 3)
        return (float)value;
    if (!solid->origin_known[slot] && isfinite(value)) {
        solid->origin_known[slot] = true;
        solid->origin[slot] = ast_origin_of(value);
    }
    return (float)(value - solid->origin[slot]);
}

void ast_solid_store(ast_solid *solid, int slot, size_t point, double value) {
    float *place = place_of(solid, slot);
    if (place)
        place[3 * point] = ast_solid_float(solid, slot, value);
}

typedef double load_function(const char *place, bool swap);

static double load_float(const char *place, bool swap) {
    uint32_t bits;
    float number;
    memcpy(&bits, place, sizeof bits);
    bits = swap ? __builtin_bswap32(bits) : bits;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}

static double load_double(const char *place, bool swap) {
    uint64_t bits;
    double number;
    memcpy(&bits, place, sizeof bits);
    bits = swap ? __builtin_bswap64(bits) : bits;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline __attribute__((always_inline)) void gather(float *place, const char *from, size_t stride, size_t count,
                                                         load_function *load, bool swap, double origin) {
    for (size_t i = 0; i < count; i++, place += 3, from += stride)
        *place = (float)(load(from, swap) - origin);
}

void ast_solid_gather_rows(ast_solid *solid, const char *from, size_t row, size_t count,
                           const ast_solid_column columns[AST_SOLID_SLOTS]) {
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t part = count - first < BLOCK ? count - first : BLOCK;
        for (int slot = 0; slot < AST_SOLID_SLOTS; slot++)
            ast_solid_gather(solid, slot, first, from + first * row + columns[slot].offset, row, part,
                             columns[slot].type);
    }
}

/* The origin of a column of doubles, of which `count` come next. */
static double origin_of(ast_solid *solid, int slot, const char *from, size_t stride, size_t count, bool swap) {
    if (slot >= 3)
        return 0;
    for (size_t i = 0; i < count && !solid->origin_known[slot]; i++)
        ast_solid_float(solid, slot, load_double(from + i * stride, swap));
    return solid->origin[slot];
}

/* Coordinates are floats and doubles; whole numbers are rare enough to take the slow way. */
void ast_solid_gather(ast_solid *solid, int slot, size_t first, const char *from, size_t stride, size_t count,
                      ast_solid_type type) {
    float *place = place_of(solid, slot);
    if (!place)
        return;
    place += 3 * first;
    if (type.kind == 'f' && type.item == 4 && type.swap)
        gather(place, from, stride, count, load_float, true, 0);
    else if (type.kind == 'f' && type.item == 4)
        gather(place, from, stride, count, load_float, false, 0);
    else if (type.kind == 'f' && type.swap)
        gather(place, from, stride, count, load_double, true, origin_of(solid, slot, from, stride, count, true));
    else if (type.kind == 'f')
        gather(place, from, stride, count, load_double, false, origin_of(solid, slot, from, stride, count, false));
    else
        for (size_t i = 0; i < count; i++)
            ast_solid_store(solid, slot, first + i, ast_solid_load(from + i * stride, type));
}
