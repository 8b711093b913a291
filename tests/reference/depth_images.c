/* SPDX-License-Identifier: MIT */
#include "reference/depth.h"

#include <math.h>

#define RADIAN (180 / M_PI)

uint16_t ref_plane_value(const double *n, double distance, const ast_depth_options *options, double u, double v,
                         double noise, ast_random *random) {
    const ast_camera *camera = &options->camera;
    double slope = n[0] * (u - camera->cx) / camera->fx + n[1] * (v - camera->cy) / camera->fy + n[2];
    double z = slope < 0 ? -distance / slope : INFINITY;
    if (noise > 0)
        z += noise * (0.0012 + 0.0019 * (z - 0.4) * (z - 0.4)) * ast_random_normal(random);
    double value = rint(z * options->units_per_metre);
    return value >= 1 && value <= UINT16_MAX ? (uint16_t)value : 0;
}

void ref_facing(double *n, double tilt, ast_random *random) {
    double angle = 2 * M_PI * ast_random_uniform(random), z = cos(tilt / RADIAN * sqrt(ast_random_uniform(random)));
    n[0] = sqrt(1 - z * z) * cos(angle);
    n[1] = sqrt(1 - z * z) * sin(angle);
    n[2] = -z;
}

void ref_depth_image(uint16_t *values, size_t width, size_t height, const ast_depth_options *options,
                     ast_random *random) {
    double plane[3][3], distance[3], noise = ast_random_uniform(random) < 0.5 ? 0 : 2 * ast_random_uniform(random);
    double scattered = ast_random_uniform(random) < 0.5 ? 0 : 0.2 * ast_random_uniform(random);
    int nonsense = ast_random_below(random, 8) == 0, areas = ast_random_below(random, 2) == 0;
    size_t column = (size_t)ast_random_below(random, width + 1), row = (size_t)ast_random_below(random, height + 1);
    size_t size = (size_t)ast_random_below(random, 9);
    for (int p = 0; p < 3; p++) {
        ref_facing(plane[p], 75, random);
        distance[p] = 0.3 + 5 * ast_random_uniform(random);
    }
    for (size_t v = 0; v < height; v++)
        for (size_t u = 0; u < width; u++) {
            int p = u < column ? 0 : v < row ? 1 : 2;
            uint16_t value = ref_plane_value(plane[p], distance[p], options, (double)u, (double)v, noise, random);
            if (nonsense)
                value = (uint16_t)ast_random_below(random, 65536);
            if (ast_random_uniform(random) < scattered || (areas && (u / 8 + v / 8) % 9 == size))
                value = 0;
            values[v * width + u] = value;
        }
}

double ref_degrees(const float *a, const double *b) {
    double cross[3], dot = 0;
    for (int c = 0; c < 3; c++) {
        int d = (c + 1) % 3, e = (c + 2) % 3;
        cross[c] = a[d] * b[e] - a[e] * b[d];
        dot += a[c] * b[c];
    }
    return atan2(sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]), dot) * RADIAN;
}
