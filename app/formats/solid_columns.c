/* SPDX-License-Identifier: MIT
 *
 * Numbers of any type and byte order out of binary rows. The one idea: the type is looked at once a column, not once a
 * number, and the loop for each type is the same function with another way to load. */
#include "solid_readers.h"

#include "npy.h"

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

float *ast_solid_place(const ast_solid *solid, int slot) {
    float *triples = slot < 0 || slot > 5 ? NULL : slot < 3 ? solid->points : solid->normals;
    return triples ? triples + slot % 3 : NULL;
}

typedef float load_function(const char *place, bool swap);

static float load_float(const char *place, bool swap) {
    uint32_t bits;
    float number;
    memcpy(&bits, place, sizeof bits);
    bits = swap ? __builtin_bswap32(bits) : bits;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static float load_double(const char *place, bool swap) {
    uint64_t bits;
    double number;
    memcpy(&bits, place, sizeof bits);
    bits = swap ? __builtin_bswap64(bits) : bits;
    memcpy(&number, &bits, sizeof number);
    return (float)number;
}

static inline __attribute__((always_inline)) void gather(float *place, const char *from, size_t stride, size_t count,
                                                         load_function *load, bool swap) {
    for (size_t i = 0; i < count; i++, place += 3, from += stride)
        *place = load(from, swap);
}

void ast_solid_gather_rows(const ast_solid *solid, const char *from, size_t row, size_t count,
                           const ast_solid_column columns[AST_SOLID_SLOTS]) {
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t part = count - first < BLOCK ? count - first : BLOCK;
        for (int slot = 0; slot < AST_SOLID_SLOTS; slot++) {
            float *place = ast_solid_place(solid, slot);
            if (place)
                ast_solid_gather(place + 3 * first, from + first * row + columns[slot].offset, row, part,
                                 columns[slot].type);
        }
    }
}

/* Coordinates are floats and doubles; whole numbers are rare enough to take the slow way. */
void ast_solid_gather(float *place, const char *from, size_t stride, size_t count, ast_solid_type type) {
    if (type.kind == 'f' && type.item == 4 && type.swap)
        gather(place, from, stride, count, load_float, true);
    else if (type.kind == 'f' && type.item == 4)
        gather(place, from, stride, count, load_float, false);
    else if (type.kind == 'f' && type.swap)
        gather(place, from, stride, count, load_double, true);
    else if (type.kind == 'f')
        gather(place, from, stride, count, load_double, false);
    else
        for (size_t i = 0; i < count; i++)
            place[3 * i] = (float)ast_solid_load(from + i * stride, type);
}
