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

void ast_landmarks_expected_directions(const ast_landmark_map *map, const double *r, double (*expected)[3]) {
    for (size_t k = 0; k < map->count; k++) {
        const double *d = map->list[k].direction;
        for (int c = 0; c < 3; c++)
            expected[k][c] = r[c] * d[0] + r[3 + c] * d[1] + r[6 + c] * d[2];
    }
}

double ast_landmarks_weigh(const ast_frame_directions *sample, const double *centre, double from, double below) {
    const float to[3] = {(float)centre[0], (float)centre[1], (float)centre[2]};
    return sample->kernels->weigh_ring(&sample->rows, to, (float)from, (float)below);
}

/* The nearest of some directions for each row, `count` if all are farther than `least`, a cosine. */
static void assign(const ast_frame_directions *sample, const ast_weighted_directions *rows, const double (*to)[3],
                   size_t count, double least) {
    float centres[AST_LANDMARKS][3];
    for (size_t k = 0; k < count; k++)
        for (int d = 0; d < 3; d++)
            centres[k][d] = (float)to[k][d];
    sample->kernels->find_nearest(rows, (const float(*)[3])centres, count, (float)least, sample->nearest);
}

static void copy_row(const ast_weighted_directions *from, size_t i, const ast_weighted_directions *to, size_t j) {
    for (int d = 0; d < 3; d++)
        to->x[d][j] = from->x[d][i];
    to->weight[j] = from->weight[i];
}

/* The mean of the rows around the centre becomes the centre. Returns the rows that took part. */
static double shift(const ast_frame_directions *sample, const ast_weighted_directions *rows, double *centre,
                    double least) {
    const float old[3] = {(float)centre[0], (float)centre[1], (float)centre[2]};
    double sums[4];
    sample->kernels->sum_cap(rows, old, (float)least, sums);
    double length = sqrt(ast_dot_of3(sums, sums));
    for (int d = 0; d < 3 && length > 0; d++)
        centre[d] = sums[d] / length;
    return sums[3];
}

/* ---- Of landmarks ------------------------------------------------------------------------------------------------ */

void ast_landmarks_divide(const ast_landmark_map *map, const ast_frame_directions *sample, const double *rotation,
                          double wide, size_t *ends) {
    double centres[AST_LANDMARKS][3];
    size_t next = 0;
    ast_landmarks_expected_directions(map, rotation, centres);
    assign(sample, &sample->rows, (const double(*)[3])centres, map->count, cos(wide * AST_DEGREE));
    memset(ends, 0, (map->count + 1) * sizeof *ends);
    for (size_t i = 0; i < sample->rows.count; i++)
        ends[sample->nearest[i]]++;
    for (size_t k = 0; k <= map->count; k++) {
        size_t rows = ends[k];
        ends[k] = next; /* the first, and after the loop below the end */
        next += rows;
    }
    for (size_t i = 0; i < sample->rows.count; i++)
        copy_row(&sample->rows, i, &sample->parts, ends[sample->nearest[i]]++);
}

void ast_landmarks_find_in_frame(const ast_landmark_map *map, const ast_frame_directions *sample, const size_t *ends,
                                 const double *rotation, double wide, ast_mode *modes) {
    double centres[AST_LANDMARKS][3], total = sample->total, share = 0;
    double narrow = cos(AST_NARROW * AST_DEGREE), first = cos(wide * AST_DEGREE), core = cos(AST_CORE * AST_DEGREE);
    size_t begin = 0;
    ast_landmarks_expected_directions(map, rotation, centres);
    for (size_t k = 0; k < map->count; begin = ends[k++]) {
        const ast_weighted_directions *all = &sample->parts;
        const ast_weighted_directions rows = {
            {all->x[0] + begin, all->x[1] + begin, all->x[2] + begin}, all->weight + begin, ends[k] - begin};
        for (int round = 0; round < SHIFTS; round++)
            share = shift(sample, &rows, centres[k], round ? narrow : first);
        for (int round = 0; round < SHIFTS; round++)
            shift(sample, &rows, centres[k], core);
        memcpy(modes[k].direction, centres[k], sizeof centres[k]);
        modes[k].share = total > 0 ? share / total : 0;
    }
}

/* ---- New ones ---------------------------------------------------------------------------------------------------- */

/* Without a branch: neighbours are on different faces. */
static int32_t cell_of(const ast_weighted_directions *rows, size_t i) {
    static const int after[] = {1, 2, 0, 1};
    const float x[3] = {rows->x[0][i], rows->x[1][i], rows->x[2][i]};
    const float size[3] = {fabsf(x[0]), fabsf(x[1]), fabsf(x[2])};
    float larger = size[1] > size[0] ? size[1] : size[0], largest = size[2] > larger ? size[2] : larger;
    int face = size[2] > larger ? 2 : size[1] > size[0];
    float scale = SIDE / (2 * largest), half = 0.5f * SIDE;
    int32_t column = (int32_t)(x[after[face]] * scale + half), row = (int32_t)(x[after[face + 1]] * scale + half);
    column = column < SIDE ? column : SIDE - 1;
    row = row < SIDE ? row : SIDE - 1;
    return ((2 * face + (x[face] < 0)) * SIDE + row) * SIDE + column;
}

/* The mean of the fullest cell among the rows of the parts; false if it holds too little. */
static bool fullest_cell(const ast_frame_directions *sample, double least, double *centre) {
    const ast_weighted_directions *rows = &sample->parts;
    int32_t *cells = sample->nearest, best = 0;
    float weight[CELLS] = {0};
    double sum[3] = {0};
    for (size_t i = 0; i < rows->count; i++) {
        cells[i] = cell_of(rows, i);
        weight[cells[i]] += rows->weight[i];
    }
    for (int32_t cell = 1; cell < CELLS; cell++)
        best = weight[cell] > weight[best] ? cell : best;
    if ((double)weight[best] < least)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        for (int d = 0; d < 3 && cells[i] == best; d++)
            sum[d] += (double)(rows->weight[i] * rows->x[d][i]);
    double length = sqrt(ast_dot_of3(sum, sum));
    for (int d = 0; d < 3; d++)
        centre[d] = length > 0 ? sum[d] / length : 0;
    return length > 0;
}

/* Keeps the rows that `assign` has found to be near none of `count` directions. Returns their number. */
static size_t keep_others(const ast_frame_directions *sample, const ast_weighted_directions *rows, size_t count) {
    int32_t *list = sample->nearest;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) { /* without a branch: kept <= i */
        bool other = list[i] == (int32_t)count;
        list[kept] = (int32_t)i;
        kept += other;
    }
    for (size_t i = 0; i < kept; i++)
        copy_row(rows, (size_t)list[i], &sample->parts, i);
    return kept;
}

size_t ast_landmarks_find_modes(ast_frame_directions *sample, double (*known)[3], size_t known_count, size_t most,
                                ast_mode *modes) {
    double narrow = cos(AST_NARROW * AST_DEGREE), around = cos(2 * AST_NARROW * AST_DEGREE);
    double total = sample->total, area = (narrow - around) / (1 - narrow), centre[1][3];
    ast_weighted_directions *others = &sample->parts;
    size_t count = 0;
    assign(sample, &sample->rows, (const double(*)[3])known, known_count, narrow);
    others->count = keep_others(sample, &sample->rows, known_count);
    for (size_t tries = 0; tries < 2 * most && count < most; tries++) {
        if (!fullest_cell(sample, NEW_SHARE * total / 4, centre[0]))
            break;
        for (int round = 0; round < 2 * SHIFTS; round++)
            shift(sample, others, centre[0], narrow);
        double ring = ast_landmarks_weigh(sample, centre[0], around, narrow), inside = 0;
        assign(sample, others, (const double(*)[3])centre, 1, narrow);
        for (size_t i = 0; i < others->count; i++)
            inside += sample->nearest[i] == 0 ? (double)others->weight[i] : 0;
        others->count = keep_others(sample, others, 1);
        if (inside < NEW_SHARE * total || inside * area < CONTRAST * ring)
            continue;
        memcpy(modes[count].direction, centre, sizeof centre[0]);
        modes[count++].share = inside / total;
    }
    return count;
}
