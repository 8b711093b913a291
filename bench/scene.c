/* SPDX-License-Identifier: MIT
 *
 * Directions and the points around them. */
#include "scene.h"

#include "degree.h"

#include <math.h>
#include <string.h>

/* Degrees: the radius of the ring of extra directions; closer neighbours would take each other's points. */
#define RING 14.0

/* An orthonormal frame whose third vector is the axis (1, 1, 1). */
static const double across[2][3] = {{0.81649658092772603, -0.40824829046386302, -0.40824829046386302},
                                    {0, 0.70710678118654752, -0.70710678118654752}};
static const double along = 0.57735026918962576;

/* The direction at an angle from (1, 1, 1), on a meridian. */
static void place(double *out, double colatitude, double longitude) {
    double s = sin(colatitude * AST_DEGREE), c = cos(colatitude * AST_DEGREE);
    double x = s * cos(longitude * AST_DEGREE), y = s * sin(longitude * AST_DEGREE);
    for (int d = 0; d < 3; d++)
        out[d] = x * across[0][d] + y * across[1][d] + c * along;
}

/* For +x -x +y -y +z -z: the positive axes are at 54.7 degrees from (1, 1, 1), the negative ones opposite. */
static double axis_longitude(int axis) {
    int pair = axis / 2;
    return 120.0 * pair + (axis % 2 ? 180 : 0);
}

static double axis_colatitude(int axis) {
    double near = acos(along) / AST_DEGREE;
    return axis % 2 ? 180 - near : near;
}

void bench_scene_axes(bench_scene *scene, double degrees) {
    *scene = (bench_scene){.count = BENCH_AXES};
    for (int k = 0; k < BENCH_AXES; k++)
        place(scene->at[k], axis_colatitude(k), axis_longitude(k) + degrees);
}

double bench_scene_colatitude(int extras, int direction) {
    return direction < extras ? 180 - RING : 180 - axis_colatitude(direction - extras);
}

void bench_scene_meridians(bench_scene *scene, int extras, const double *colatitude) {
    *scene = (bench_scene){.count = extras + BENCH_AXES};
    for (int k = 0; k < scene->count; k++)
        place(scene->at[k], 180 - colatitude[k], k < extras ? 360.0 * k / extras : axis_longitude(k - extras));
}

/* ---- Points ----------------------------------------------------------------------------------------------------- */

typedef struct basis {
    double of[3][3]; /* two vectors across, then the direction */
} basis;

static basis basis_of(const double *direction) {
    basis b = {0};
    double *u = b.of[0], *v = b.of[1], length = 0;
    int least = 0;
    memcpy(b.of[2], direction, sizeof b.of[2]);
    for (int d = 1; d < 3; d++)
        least = fabs(direction[d]) < fabs(direction[least]) ? d : least;
    for (int d = 0; d < 3; d++) {
        u[d] = (d == least) - direction[least] * direction[d];
        length += u[d] * u[d];
    }
    for (int d = 0; d < 3; d++)
        u[d] /= sqrt(length);
    for (int d = 0; d < 3; d++)
        v[d] = direction[(d + 1) % 3] * u[(d + 2) % 3] - direction[(d + 2) % 3] * u[(d + 1) % 3];
    return b;
}

/* For D = 3 the distribution of the cosine to the mean has a closed inverse. */
static void draw(ast_random *random, const basis *b, double kappa, float *out) {
    double u = 1 - ast_random_uniform(random), turn = 360 * AST_DEGREE * ast_random_uniform(random);
    double z = 1 + log(u + (1 - u) * exp(-2 * kappa)) / kappa;
    double r = sqrt(fmax(0, 1 - z * z)), x = r * cos(turn), y = r * sin(turn);
    for (int d = 0; d < 3; d++)
        out[d] = (float)(x * b->of[0][d] + y * b->of[1][d] + z * b->of[2][d]);
}

void bench_scene_draw(const bench_scene *scene, ast_random *random, double kappa, float *points, uint8_t *truth,
                      size_t count) {
    basis bases[BENCH_MAX_DIRECTIONS];
    int visible[BENCH_MAX_DIRECTIONS], seen = 0;
    for (int k = 0; k < scene->count; k++)
        if (!scene->hidden[k]) {
            bases[seen] = basis_of(scene->at[k]);
            visible[seen++] = k;
        }
    for (size_t i = 0; seen && i < count; i++) {
        size_t k = (size_t)ast_random_below(random, (uint64_t)seen);
        draw(random, &bases[k], kappa, points + 3 * i);
        if (truth)
            truth[i] = (uint8_t)visible[k];
    }
}
