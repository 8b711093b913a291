/* SPDX-License-Identifier: MIT
 *
 * A mode is found by mean shift: the mean of the directions within 12 degrees, weighted down towards the edge, is the
 * next centre. Starts are where landmarks are expected or, for new ones, the fullest cell of a grid on a cube. */
#include "landmarks_modes.h"

#include "degree.h"

#include <math.h>
#include <string.h>

#define SHIFTS 3 /* of a mean */
#define SIDE 8   /* cells along an edge of the cube */
#define CELLS (6 * SIDE * SIDE)
#define NEW_SHARE 0.02 /* of the frame, for a new landmark */
#define CONTRAST 3.0   /* density of a mode over that of the ring of the same width around it */
#define NONE (-1)      /* nearest: no landmark */
#define TAKEN (-2)     /* part of a known landmark or of a mode that was looked at */

void ast_landmarks_expect(const ast_landmark_map *map, const double *r, double (*expected)[3]) {
    for (size_t k = 0; k < map->count; k++) {
        const double *d = map->list[k].direction;
        for (int c = 0; c < 3; c++)
            expected[k][c] = r[c] * d[0] + r[3 + c] * d[1] + r[6 + c] * d[2];
    }
}

static double total_of(const ast_direction_sample *sample) {
    double total = 0;
    for (size_t i = 0; i < sample->count; i++)
        total += sample->weight[i];
    return total;
}

/* The nearest of some directions for every row, none if it is farther than `least`, a cosine. */
static void assign(const ast_direction_sample *sample, const double (*to)[3], size_t count, double least) {
    for (size_t i = 0; i < sample->count; i++) {
        double best = least;
        sample->nearest[i] = NONE;
        for (size_t k = 0; k < count; k++) {
            double cosine = ast_dot_of3(sample->x[i], to[k]);
            if (cosine > best) {
                best = cosine;
                sample->nearest[i] = (int32_t)k;
            }
        }
    }
}

/* ---- Of landmarks ------------------------------------------------------------------------------------------------ */

/* The means around `centres` become the new centres; share: rows that took part. */
static void shift(const ast_direction_sample *sample, double (*centres)[3], double *share, size_t count, double least) {
    double sums[AST_LANDMARKS][3];
    memset(sums, 0, sizeof sums);
    memset(share, 0, count * sizeof *share);
    for (size_t i = 0; i < sample->count; i++) {
        int32_t k = sample->nearest[i];
        double inside = k < 0 ? 0 : ast_dot_of3(sample->x[i], centres[k]) - least;
        if (inside <= 0)
            continue;
        double weight = sample->weight[i] * inside * inside;
        share[k] += sample->weight[i];
        for (int d = 0; d < 3; d++)
            sums[k][d] += weight * sample->x[i][d];
    }
    for (size_t k = 0; k < count; k++) {
        double length = sqrt(ast_dot_of3(sums[k], sums[k]));
        for (int d = 0; d < 3 && length > 0; d++)
            centres[k][d] = sums[k][d] / length;
    }
}

void ast_landmarks_see(const ast_landmark_map *map, const ast_direction_sample *sample, const double *rotation,
                       double wide, ast_mode *modes) {
    double centres[AST_LANDMARKS][3], share[AST_LANDMARKS], total = total_of(sample);
    double narrow = cos(AST_NARROW * AST_DEGREE), first = cos(wide * AST_DEGREE), core = cos(AST_CORE * AST_DEGREE);
    double inside[AST_LANDMARKS];
    ast_landmarks_expect(map, rotation, centres);
    assign(sample, (const double(*)[3])centres, map->count, first);
    for (int round = 0; round < SHIFTS; round++)
        shift(sample, centres, share, map->count, round ? narrow : first);
    for (int round = 0; round < SHIFTS; round++)
        shift(sample, centres, inside, map->count, core);
    for (size_t k = 0; k < map->count; k++) {
        memcpy(modes[k].direction, centres[k], sizeof centres[k]);
        modes[k].share = total > 0 ? share[k] / total : 0;
    }
}

/* ---- New ones ---------------------------------------------------------------------------------------------------- */

static size_t cell_of(const double *x) {
    int face = 0;
    for (int d = 1; d < 3; d++)
        face = fabs(x[d]) > fabs(x[face]) ? d : face;
    double size = fabs(x[face]), u = x[(face + 1) % 3] / size, v = x[(face + 2) % 3] / size;
    size_t column = (size_t)fmin((u + 1) / 2 * SIDE, SIDE - 1), row = (size_t)fmin((v + 1) / 2 * SIDE, SIDE - 1);
    return ((size_t)(2 * face + (x[face] < 0)) * SIDE + row) * SIDE + column;
}

/* The mean of the fullest cell among rows that are not taken; false if it holds too little. */
static bool fullest_cell(const ast_direction_sample *sample, double least, double *centre) {
    double weight[CELLS] = {0}, sums[CELLS][3];
    size_t best = 0;
    memset(sums, 0, sizeof sums);
    for (size_t i = 0; i < sample->count; i++) {
        if (sample->nearest[i] == TAKEN)
            continue;
        size_t cell = cell_of(sample->x[i]);
        weight[cell] += sample->weight[i];
        for (int d = 0; d < 3; d++)
            sums[cell][d] += sample->weight[i] * sample->x[i][d];
    }
    for (size_t cell = 1; cell < CELLS; cell++)
        best = weight[cell] > weight[best] ? cell : best;
    double length = sqrt(ast_dot_of3(sums[best], sums[best]));
    for (int d = 0; d < 3; d++)
        centre[d] = length > 0 ? sums[best][d] / length : 0;
    return weight[best] >= least && length > 0;
}

/* Shifts the centre over rows that are not taken; the rows around it are taken then. Returns what is inside the narrow
 * angle; `ring`: between it and twice the angle, of all rows. */
static double settle(const ast_direction_sample *sample, double *centre, double *ring) {
    double narrow = cos(AST_NARROW * AST_DEGREE), around = cos(2 * AST_NARROW * AST_DEGREE), inside = 0;
    for (int round = 0; round < 2 * SHIFTS; round++) {
        double sum[3] = {0};
        for (size_t i = 0; i < sample->count; i++) {
            double in = sample->nearest[i] == TAKEN ? 0 : ast_dot_of3(sample->x[i], centre) - narrow;
            for (int d = 0; d < 3 && in > 0; d++)
                sum[d] += sample->weight[i] * in * in * sample->x[i][d];
        }
        double length = sqrt(ast_dot_of3(sum, sum));
        for (int d = 0; d < 3 && length > 0; d++)
            centre[d] = sum[d] / length;
    }
    *ring = 0;
    for (size_t i = 0; i < sample->count; i++) {
        double cosine = ast_dot_of3(sample->x[i], centre);
        bool in = cosine >= narrow && sample->nearest[i] != TAKEN;
        inside += in ? sample->weight[i] : 0;
        *ring += cosine < narrow && cosine >= around ? sample->weight[i] : 0;
        if (in)
            sample->nearest[i] = TAKEN;
    }
    return inside;
}

size_t ast_landmarks_find_modes(const ast_direction_sample *sample, double (*known)[3], size_t known_count, size_t most,
                                ast_mode *modes) {
    double narrow = cos(AST_NARROW * AST_DEGREE), around = cos(2 * AST_NARROW * AST_DEGREE);
    double total = total_of(sample), area = (narrow - around) / (1 - narrow), centre[3], ring;
    size_t count = 0;
    assign(sample, (const double(*)[3])known, known_count, narrow);
    for (size_t i = 0; i < sample->count; i++)
        sample->nearest[i] = sample->nearest[i] == NONE ? NONE : TAKEN;
    for (size_t tries = 0; tries < 2 * most && count < most; tries++) {
        if (!fullest_cell(sample, NEW_SHARE * total / 4, centre))
            break;
        double inside = settle(sample, centre, &ring);
        if (inside < NEW_SHARE * total || inside * area < CONTRAST * ring)
            continue;
        memcpy(modes[count].direction, centre, sizeof centre);
        modes[count++].share = inside / total;
    }
    return count;
}
