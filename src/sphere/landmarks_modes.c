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
#define TOGETHER 8     /* rows that are compared at once */

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

/* Two rows side by side, in GCC's vector extensions, and which of the two; sphere has no kernels of its own. */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_mask __attribute__((vector_size(16)));

static inline pair choose(pair_mask mask, pair yes, pair no) {
    return (pair)((mask & (pair_mask)yes) | (~mask & (pair_mask)no));
}

/* The nearest of some directions for rows first..first+n-1, none if it is farther than `least`, a cosine. */
static void assign_together(const ast_direction_sample *sample, size_t first, size_t n, const double (*to)[3],
                            size_t count, double least) {
    pair x[3][TOGETHER / 2] = {0}, best[TOGETHER / 2], nearest[TOGETHER / 2];
    for (size_t j = 0; j < n; j++)
        for (int d = 0; d < 3; d++)
            x[d][j / 2][j % 2] = sample->x[first + j][d];
    for (size_t j = 0; j < TOGETHER / 2; j++) {
        best[j] = (pair){least, least};
        nearest[j] = (pair){NONE, NONE};
    }
    for (size_t k = 0; k < count; k++) {
        const double number = (double)k;
        for (size_t j = 0; j < TOGETHER / 2; j++) {
            pair cosine = x[0][j] * to[k][0] + x[1][j] * to[k][1] + x[2][j] * to[k][2]; /* as ast_dot_of3 */
            pair_mask nearer = cosine > best[j];
            nearest[j] = choose(nearer, (pair){number, number}, nearest[j]);
            best[j] = choose(nearer, cosine, best[j]);
        }
    }
    for (size_t j = 0; j < n; j++)
        sample->nearest[first + j] = (int32_t)nearest[j / 2][j % 2];
}

static void assign(const ast_direction_sample *sample, const double (*to)[3], size_t count, double least) {
    for (size_t i = 0; i < sample->count; i += TOGETHER) {
        size_t left = sample->count - i;
        assign_together(sample, i, left < TOGETHER ? left : TOGETHER, to, count, least);
    }
}

/* ---- Of landmarks ------------------------------------------------------------------------------------------------ */

/* Lists the rows of each landmark in their order: those of landmark k are list[ends[k - 1]..ends[k] - 1]. */
static void list_rows(const ast_direction_sample *sample, size_t count, size_t *ends) {
    size_t next = 0;
    memset(ends, 0, count * sizeof *ends);
    for (size_t i = 0; i < sample->count; i++)
        if (sample->nearest[i] >= 0)
            ends[sample->nearest[i]]++;
    for (size_t k = 0; k < count; k++) {
        size_t rows = ends[k];
        ends[k] = next; /* the first, and after the loop below the end */
        next += rows;
    }
    for (size_t i = 0; i < sample->count; i++)
        if (sample->nearest[i] >= 0)
            sample->list[ends[sample->nearest[i]]++] = (uint32_t)i;
}

/* The mean of the listed rows around the centre becomes the centre. Returns the rows that took part. */
static double shift(const ast_direction_sample *sample, double *centre, const uint32_t *list, size_t count,
                    double least) {
    double sum[3] = {0}, share = 0;
    for (size_t i = 0; i < count; i++) {
        const double *x = sample->x[list[i]];
        double inside = ast_dot_of3(x, centre) - least;
        if (inside <= 0)
            continue;
        double weight = sample->weight[list[i]] * inside * inside;
        share += sample->weight[list[i]];
        for (int d = 0; d < 3; d++)
            sum[d] += weight * x[d];
    }
    double length = sqrt(ast_dot_of3(sum, sum));
    for (int d = 0; d < 3 && length > 0; d++)
        centre[d] = sum[d] / length;
    return share;
}

void ast_landmarks_see(const ast_landmark_map *map, const ast_direction_sample *sample, const double *rotation,
                       double wide, ast_mode *modes) {
    double centres[AST_LANDMARKS][3], total = total_of(sample), share = 0;
    double narrow = cos(AST_NARROW * AST_DEGREE), first = cos(wide * AST_DEGREE), core = cos(AST_CORE * AST_DEGREE);
    size_t ends[AST_LANDMARKS], begin = 0;
    ast_landmarks_expect(map, rotation, centres);
    assign(sample, (const double(*)[3])centres, map->count, first);
    list_rows(sample, map->count, ends);
    for (size_t k = 0; k < map->count; begin = ends[k++]) {
        const uint32_t *list = sample->list + begin;
        for (int round = 0; round < SHIFTS; round++)
            share = shift(sample, centres[k], list, ends[k] - begin, round ? narrow : first);
        for (int round = 0; round < SHIFTS; round++)
            shift(sample, centres[k], list, ends[k] - begin, core);
        memcpy(modes[k].direction, centres[k], sizeof centres[k]);
        modes[k].share = total > 0 ? share / total : 0;
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

/* The mean of the fullest cell among the listed rows; false if it holds too little. */
static bool fullest_cell(const ast_direction_sample *sample, size_t listed, double least, double *centre) {
    double weight[CELLS] = {0}, sums[CELLS][3];
    size_t best = 0;
    memset(sums, 0, sizeof sums);
    for (size_t l = 0; l < listed; l++) {
        size_t i = sample->list[l], cell = cell_of(sample->x[i]);
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

/* Shifts the centre over the listed rows. Returns what is inside the narrow angle; `ring`: between it and twice the
 * angle, of all rows. */
static double settle(const ast_direction_sample *sample, size_t listed, double *centre, double *ring) {
    double narrow = cos(AST_NARROW * AST_DEGREE), around = cos(2 * AST_NARROW * AST_DEGREE), inside = 0;
    for (int round = 0; round < 2 * SHIFTS; round++)
        shift(sample, centre, sample->list, listed, narrow);
    *ring = 0;
    for (size_t i = 0; i < sample->count; i++) {
        double cosine = ast_dot_of3(sample->x[i], centre);
        *ring += cosine < narrow && cosine >= around ? sample->weight[i] : 0;
    }
    for (size_t l = 0; l < listed; l++)
        inside += ast_dot_of3(sample->x[sample->list[l]], centre) >= narrow ? sample->weight[sample->list[l]] : 0;
    return inside;
}

/* Takes the rows within the narrow angle of the centre off the list. Returns the length of the list. */
static size_t take_off(const ast_direction_sample *sample, size_t listed, const double *centre) {
    double narrow = cos(AST_NARROW * AST_DEGREE);
    size_t left = 0;
    for (size_t l = 0; l < listed; l++)
        if (!(ast_dot_of3(sample->x[sample->list[l]], centre) >= narrow))
            sample->list[left++] = sample->list[l];
    return left;
}

size_t ast_landmarks_find_modes(const ast_direction_sample *sample, double (*known)[3], size_t known_count, size_t most,
                                ast_mode *modes) {
    double narrow = cos(AST_NARROW * AST_DEGREE), around = cos(2 * AST_NARROW * AST_DEGREE);
    double total = total_of(sample), area = (narrow - around) / (1 - narrow), centre[3], ring;
    size_t count = 0, listed = 0;
    assign(sample, (const double(*)[3])known, known_count, narrow);
    for (size_t i = 0; i < sample->count; i++) /* rows of no known landmark */
        if (sample->nearest[i] == NONE)
            sample->list[listed++] = (uint32_t)i;
    for (size_t tries = 0; tries < 2 * most && count < most; tries++) {
        if (!fullest_cell(sample, listed, NEW_SHARE * total / 4, centre))
            break;
        double inside = settle(sample, listed, centre, &ring);
        listed = take_off(sample, listed, centre);
        if (inside < NEW_SHARE * total || inside * area < CONTRAST * ring)
            continue;
        memcpy(modes[count].direction, centre, sizeof centre);
        modes[count++].share = inside / total;
    }
    return count;
}
