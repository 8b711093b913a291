/* SPDX-License-Identifier: MIT
 *
 * Larger sets, for tests of speed-ups that small cases do not reach, and the hash of their labels. */
#include "cases.h"

#include "random.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ref_make_unit(double *v, size_t dimension) {
    double squares = 0;
    for (size_t j = 0; j < dimension; j++)
        squares += v[j] * v[j];
    for (size_t j = 0; j < dimension && squares > 0; j++)
        v[j] /= sqrt(squares);
}

void ref_random_direction(ast_random *random, double *v, size_t dimension) {
    for (size_t j = 0; j < dimension; j++)
        v[j] = ast_random_normal(random);
    ref_make_unit(v, dimension);
}

/* Direction k of n, evenly over the sphere (a Fibonacci lattice): 30 of them are some 33 degrees apart. */
static void even_direction(double *v, size_t k, size_t n) {
    double z = 1 - (2 * (double)k + 1) / (double)n, turn = (double)k * M_PI * (3 - sqrt(5));
    v[0] = sqrt(1 - z * z) * cos(turn);
    v[1] = sqrt(1 - z * z) * sin(turn);
    v[2] = z;
}

static void store(float *x, double *v, size_t dimension) {
    ref_make_unit(v, dimension);
    for (size_t j = 0; j < dimension; j++)
        x[j] = (float)v[j];
}

void ref_fill_clustered(float *x, size_t count, size_t dimension, size_t clusters, double spread, double noise,
                        uint64_t seed) {
    ast_random random;
    double *centres = ref_take(clusters * dimension, sizeof *centres), *v = ref_take(dimension, sizeof *v);
    ast_random_seed(&random, seed, 1);
    for (size_t k = 0; k < clusters; k++) {
        if (dimension == 3)
            even_direction(centres + k * dimension, k, clusters);
        else
            ref_random_direction(&random, centres + k * dimension, dimension);
    }
    for (size_t i = 0; i < count; i++) {
        const double *centre = centres + ast_random_below(&random, clusters) * dimension;
        int stray = ast_random_uniform(&random) < noise;
        for (size_t j = 0; j < dimension; j++)
            v[j] = (stray ? 0 : centre[j]) + (stray ? 1 : spread) * ast_random_normal(&random);
        store(x + i * dimension, v, dimension);
    }
    free(centres);
    free(v);
}

void ref_fill_image(float *x, size_t height, size_t width, double noise, uint64_t seed) {
    enum { WALLS = 12 };
    double wall[WALLS][3], corner[WALLS][2], v[3];
    ast_random random;
    ast_random_seed(&random, seed, 2);
    for (int k = 0; k < WALLS; k++) {
        ref_random_direction(&random, wall[k], 3);
        corner[k][0] = (double)height * ast_random_uniform(&random);
        corner[k][1] = (double)width * ast_random_uniform(&random);
    }
    for (size_t i = 0; i < height * width; i++) {
        double row = (double)(i / width), column = (double)(i % width), nearest = INFINITY;
        int own = 0;
        for (int k = 0; k < WALLS; k++) {
            double away = hypot(row - corner[k][0], column - corner[k][1]);
            if (away < nearest) {
                nearest = away;
                own = k;
            }
        }
        int stray = ast_random_uniform(&random) < noise;
        for (int j = 0; j < 3; j++)
            v[j] = (stray ? 0 : wall[own][j]) + (stray ? 1 : 0.08) * ast_random_normal(&random);
        store(x + i * 3, v, 3);
    }
}

uint64_t ref_hash(const int32_t *labels, size_t count) {
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = ast_mix64(hash ^ (uint32_t)labels[i]);
    return hash;
}

uint64_t ref_hash_floats(uint64_t hash, const float *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = ast_mix64(hash ^ (isnan(x[i]) ? 0x7fc00000u : bits));
    }
    return hash;
}
