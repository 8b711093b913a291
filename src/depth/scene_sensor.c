/* SPDX-License-Identifier: MIT
 *
 * Turns exact depth into the output of a structured-light sensor. The sensor measures disparity, d = fx b / z: the
 * shift, in pixels, of the projector's pattern; the projector is b to the right of the camera. Over a flat surface,
 * however slanted, disparity is a linear function of the pixel, so a step in it is an edge of an object.
 *
 * Noise is drawn from counters (seed, frame, pixel), so it does not depend on threads or order. */
#include "scene.h"

#include "random.h"

#include <math.h>

#define BASELINE 0.075 /* metres between projector and camera, as in the first Kinect and the Xtion */
#define STEPS 8        /* steps of disparity per pixel */

/* The range of these sensors: nearer, the pattern leaves the image; farther, one step of disparity is 20 cm or more,
 * too coarse to measure a surface. */
#define NEAREST 0.5
#define FARTHEST 8.0

/* Disparity between neighbours, in pixels, that makes an edge: three steps. A flat surface stays below it while it is
 * more than 0.2 m (b / EDGE) beside the camera. */
#define EDGE 0.375

#define GRAZING2 0.03015368960704583 /* cos(80 degrees)^2: at larger angles too little of the pattern comes back */

static bool is_grazing(double x, double y, const ast_hit *hit);
static bool is_edge(const ast_hallway *hallway, size_t row, size_t column, const ast_hit *hits);
static double measured(const ast_hallway *hallway, uint64_t key, double depth);

/* Rounded to millimetres; 0 if out of range. */
static uint16_t millimetres(double depth) {
    double value = depth * 1000 + 0.5;
    return value < UINT16_MAX + 1.0 ? (uint16_t)value : 0;
}

/* Scans from the right, the side of the projector: a pixel is in shadow if a pixel to its right covers the same
 * position of the pattern. Without noise the depth is exact, and there are no shadows. */
void ast_scene_sense_row(const ast_hallway *hallway, size_t index, size_t row, const ast_hit *hits, uint16_t *depth,
                         int32_t *truth) {
    const ast_hit *here = hits + row * hallway->width;
    const ast_camera *camera = &hallway->camera;
    uint64_t key = ast_mix64(ast_mix64(hallway->seed) + index) + row * hallway->width;
    double taken = INFINITY, y = ((double)row - camera->cy) / camera->fy;
    for (size_t u = hallway->width; u-- > 0;) {
        double pattern = (double)u - camera->fx * BASELINE / here[u].depth, x = ((double)u - camera->cx) / camera->fx;
        bool hole =
            hallway->noise && (pattern >= taken || is_grazing(x, y, &here[u]) || is_edge(hallway, row, u, hits));
        taken = pattern < taken ? pattern : taken;
        depth[u] = hole ? 0 : millimetres(hallway->noise ? measured(hallway, key + u, here[u].depth) : here[u].depth);
        if (truth)
            truth[u] = depth[u] > 0 ? here[u].direction : -1;
    }
}

/* ---- Holes ------------------------------------------------------------------------------------------------------ */

/* For the ray (x, y, 1). */
static bool is_grazing(double x, double y, const ast_hit *hit) {
    double facing = (double)hit->normal_dot_ray;
    return facing * facing < GRAZING2 * (1 + x * x + y * y);
}

static bool is_step(const ast_hallway *hallway, const ast_hit *a, const ast_hit *b) {
    /* |fx b / z1 - fx b / z2| > EDGE without divisions */
    return hallway->camera.fx * BASELINE * fabs(a->depth - b->depth) > EDGE * a->depth * b->depth;
}

/* Whether one of the four neighbours is across an edge. */
static bool is_edge(const ast_hallway *hallway, size_t row, size_t column, const ast_hit *hits) {
    size_t width = hallway->width;
    const ast_hit *hit = hits + row * width + column;
    return (column > 0 && is_step(hallway, hit, hit - 1)) || (column + 1 < width && is_step(hallway, hit, hit + 1)) ||
           (row > 0 && is_step(hallway, hit, hit - width)) ||
           (row + 1 < hallway->height && is_step(hallway, hit, hit + width));
}

/* ---- Noise ------------------------------------------------------------------------------------------------------ */

/* A normal variable for a counter: the sum of 64 coins plus a uniform variable that fills the gaps between its values.
 * Exact on every machine; its fourth moment differs from the normal one by one percent. */
static double normal(uint64_t key) {
    uint64_t coins = ast_mix64(key), fill = ast_mix64(coins ^ 0xd1b54a32d192ed03u);
    double sum = (double)(__builtin_popcountll(coins) - 32) + (double)(fill >> 11) * 0x1p-53 - 0.5;
    return sum * 0.24935149047701483; /* its variance is 16 + 1/12 */
}

/* The depth with the noise of Nguyen, Izadi and Lovell (2012), rounded to steps of disparity; 0 if out of range. */
static double measured(const ast_hallway *hallway, uint64_t key, double depth) {
    double deviation = 0.0012 + 0.0019 * (depth - 0.4) * (depth - 0.4);
    double noisy = depth + deviation * normal(key);
    double scale = STEPS * BASELINE * hallway->camera.fx;
    double steps = floor(scale / noisy + 0.5);
    double seen = scale / steps;
    return steps >= 1 && seen >= NEAREST && seen <= FARTHEST ? seen : 0;
}
