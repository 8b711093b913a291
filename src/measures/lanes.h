/* SPDX-License-Identifier: MIT
 *
 * Dot products of LANES points at a time with one vector, in double: tile (D, LANES) holds the points transposed. Two
 * numbers to a register is what every 64-bit processor has; the order of the additions is that of the components. */
#ifndef AST_LANES_H
#define AST_LANES_H

#include <stddef.h>

#define LANES 8

typedef double lane_pair __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) void lanes_dot(const double *tile, const double *vector, size_t dimension,
                                                            double *dots) {
    const lane_pair *x = __builtin_assume_aligned(tile, 16);
    lane_pair *out = __builtin_assume_aligned(dots, 16);
    lane_pair a = x[0] * vector[0], b = x[1] * vector[0], c = x[2] * vector[0], d = x[3] * vector[0];
    for (size_t i = 1; i < dimension; i++) {
        x += LANES / 2;
        a += x[0] * vector[i];
        b += x[1] * vector[i];
        c += x[2] * vector[i];
        d += x[3] * vector[i];
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

#endif
