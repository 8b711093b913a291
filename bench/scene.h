/* SPDX-License-Identifier: MIT
 *
 * Frames for streams: directions in three dimensions that turn, vanish and come back, generated from a seed. */
#ifndef BENCH_SCENE_H
#define BENCH_SCENE_H

#include "bench.h"

#include <random.h>

#define BENCH_AXES 6
#define BENCH_EXTRAS 10 /* directions that are tracked but not visible */
#define BENCH_MAX_DIRECTIONS (BENCH_AXES + BENCH_EXTRAS)

typedef struct bench_scene {
    int count;
    double at[BENCH_MAX_DIRECTIONS][3];
    int hidden[BENCH_MAX_DIRECTIONS];
} bench_scene;

/* +x -x +y -y +z -z, turned about the axis (1, 1, 1). */
void bench_scene_axes(bench_scene *scene, double degrees);

/* The same, each at its place on its meridian, 0 degrees at -(1, 1, 1), where a direction may be born because only one
 * at a time is there. Directions 0..extras-1 end in a ring around (1, 1, 1), which all axes pass at 54.7 degrees; the
 * axes follow. `colatitude` (extras + BENCH_AXES): degrees. */
void bench_scene_meridians(bench_scene *scene, int extras, const double *colatitude);
double bench_scene_colatitude(int extras, int direction); /* where it ends */

/* Draws the points, each from a random visible direction. `truth` (count): its number, or NULL. */
void bench_scene_draw(const bench_scene *scene, ast_random *random, double kappa, float *points, uint8_t *truth,
                      size_t count);

#endif
