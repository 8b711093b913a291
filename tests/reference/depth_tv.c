/* SPDX-License-Identifier: MIT */
#include "reference/depth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct vectors {
    size_t width, height;
    const double *given;
    double *u, *ahead, *px, *py; /* (H, W, 3) */
} vectors;

/* Whether the pixel and its neighbour at an offset are both there. */
static int joined(const vectors *s, ptrdiff_t u, ptrdiff_t v, int du, int dv) {
    ptrdiff_t x = u + du, y = v + dv, width = (ptrdiff_t)s->width, height = (ptrdiff_t)s->height;
    if (u < 0 || v < 0 || x < 0 || y < 0 || u >= width || v >= height || x >= width || y >= height)
        return 0;
    return !isnan(s->given[3 * (v * width + u)]) && !isnan(s->given[3 * (y * width + x)]);
}

static void dual_step(vectors *s, size_t u, size_t v, double sigma, double weight) {
    size_t at = 3 * (v * s->width + u);
    int right = joined(s, (ptrdiff_t)u, (ptrdiff_t)v, 1, 0), down = joined(s, (ptrdiff_t)u, (ptrdiff_t)v, 0, 1);
    double squared = 0;
    for (size_t c = at; c < at + 3; c++) {
        if (right)
            s->px[c] += sigma * (s->ahead[c + 3] - s->ahead[c]);
        if (down)
            s->py[c] += sigma * (s->ahead[c + 3 * s->width] - s->ahead[c]);
        squared += s->px[c] * s->px[c] + s->py[c] * s->py[c];
    }
    for (size_t c = at; c < at + 3 && squared > weight * weight; c++) {
        s->px[c] *= weight / sqrt(squared);
        s->py[c] *= weight / sqrt(squared);
    }
}

static void primal_step(vectors *s, size_t u, size_t v, double tau) {
    size_t at = 3 * (v * s->width + u);
    double next[3], squared = 0;
    for (size_t c = 0; c < 3; c++) {
        const double *px = s->px + at + c, *py = s->py + at + c;
        double divergence = *px + *py - (u > 0 ? px[-3] : 0) - (v > 0 ? py[-3 * (ptrdiff_t)s->width] : 0);
        next[c] = s->u[at + c] + tau * (divergence + s->given[at + c]);
        squared += next[c] * next[c];
    }
    for (size_t c = 0; c < 3; c++) {
        s->ahead[at + c] = 2 * next[c] / sqrt(squared) - s->u[at + c];
        s->u[at + c] = next[c] / sqrt(squared);
    }
}

void ref_normals_smooth(double *normals, size_t width, size_t height, double weight, int iterations) {
    size_t n = 3 * width * height;
    double *memory = calloc(4 * n, sizeof *memory);
    if (!memory)
        abort();
    vectors s = {width, height, memory, normals, memory + n, memory + 2 * n, memory + 3 * n};
    memcpy(memory, normals, n * sizeof *memory);
    memcpy(s.ahead, normals, n * sizeof *memory);
    for (int i = 0; i < iterations; i++) {
        for (size_t p = 0; p < width * height; p++)
            if (!isnan(s.given[3 * p]))
                dual_step(&s, p % width, p / width, 1.2, weight);
        for (size_t p = 0; p < width * height; p++)
            if (!isnan(s.given[3 * p]))
                primal_step(&s, p % width, p / width, 0.1);
    }
    free(memory);
}

double ref_normals_energy(const float *normals, const float *given, size_t width, size_t height, double weight) {
    double energy = 0;
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++) {
            const float *n = normals + 3 * (v * width + u), *g = given + 3 * (v * width + u);
            double change = 0, distance = 0;
            for (int c = 0; c < 3 && !isnan(n[0]); c++) {
                double x = u + 1 < width && !isnan(n[3]) ? n[3 + c] - n[c] : 0;
                double y = v + 1 < height && !isnan(n[3 * width]) ? n[3 * width + (size_t)c] - n[c] : 0;
                change += x * x + y * y;
                distance += (n[c] - g[c]) * (n[c] - g[c]);
            }
            energy += weight * sqrt(change) + distance / 2;
        }
    return energy;
}
