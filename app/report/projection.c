/* SPDX-License-Identifier: MIT
 *
 * The three leading eigenvectors of sum x x^T over unit vectors x: the orientation tensor about the origin, not about
 * the mean, so that an axis counts the same with either sign and visible angles are angles at the centre of the sphere.
 * Subspace iteration with a few spare directions, because a matrix of D x D = 4096 x 4096 would be too large and the
 * third and fourth eigenvalue may be close. It uses only sums, products and roots in a fixed order, so that the bits
 * are the same everywhere. */
#include "projection.h"

#include "sampling.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 8, SWEEPS = 30, MOST_PASSES = 60, SEEN = 3 };
#define MOST_NUMBERS ((size_t)1 << 22) /* of the sample: at most about 0.1 s per pass */
#define LEAST_ROWS ((size_t)1000)
#define SETTLED 1e-9 /* relative to the number of points: shares are shown with three digits */

/* The state of the iteration. */
typedef struct search {
    size_t rows, dimension, width; /* width: number of directions, BLOCK or D */
    float *sample;                 /* (rows, D) unit vectors */
    double *now, *next;            /* (width, D) */
    double gram[BLOCK][BLOCK];     /* now S now^T */
    double values[BLOCK];          /* its eigenvalues, largest first */
    double turn[BLOCK][BLOCK];     /* its eigenvectors, rows */
} search;

bool ast_unit_row(const ast_points *points, size_t index, double *row) {
    double square = 0;
    ast_points_row(points, index, row);
    for (size_t d = 0; d < points->dimension; d++)
        square += row[d] * row[d];
    if (!(square > 0) || !isfinite(square))
        return false;
    for (size_t d = 0; d < points->dimension; d++)
        row[d] /= sqrt(square);
    return true;
}

float *ast_centred_rows(const ast_points *points, const float *center) {
    size_t dimension = points->dimension;
    float *rows = malloc((points->count * dimension + 1) * sizeof *rows);
    double *row = malloc(dimension * sizeof *row);
    for (size_t i = 0; rows && row && i < points->count; i++) {
        bool there = ast_unit_row(points, i, row);
        for (size_t d = 0; d < dimension; d++)
            rows[i * dimension + d] = there ? (float)(row[d] - (double)center[d]) : NAN;
    }
    free(row);
    if (row)
        return rows;
    free(rows);
    return NULL;
}

static double dot(const double *a, const double *b, size_t size) {
    double sum = 0;
    for (size_t d = 0; d < size; d++)
        sum += a[d] * b[d];
    return sum;
}

/* ---- The iteration ----------------------------------------------------------------------------------------------- */

/* next = now S, and gram = now S now^T, in one pass over the sample. */
static void multiply(search *of) {
    size_t size = of->dimension;
    for (size_t i = 0; i < of->width * size; i++)
        of->next[i] = 0;
    for (size_t i = 0; i < BLOCK * BLOCK; i++)
        (&of->gram[0][0])[i] = 0;
    for (size_t i = 0; i < of->rows; i++) {
        const float *x = of->sample + i * size;
        double along[BLOCK];
        for (size_t b = 0; b < of->width; b++) {
            const double *v = of->now + b * size;
            along[b] = 0;
            for (size_t d = 0; d < size; d++)
                along[b] += v[d] * (double)x[d];
            double *w = of->next + b * size;
            for (size_t d = 0; d < size; d++)
                w[d] += along[b] * (double)x[d];
        }
        for (size_t a = 0; a < of->width; a++) {
            for (size_t b = 0; b < of->width; b++)
                of->gram[a][b] += along[a] * along[b];
        }
    }
}

/* One rotation of Jacobi's method: makes gram[p][q] zero. */
static void rotate(search *of, size_t p, size_t q) {
    double(*g)[BLOCK] = of->gram;
    double theta = (g[q][q] - g[p][p]) / (2 * g[p][q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (size_t k = 0; k < of->width; k++) {
        double a = g[k][p], b = g[k][q];
        g[k][p] = c * a - s * b;
        g[k][q] = s * a + c * b;
    }
    for (size_t k = 0; k < of->width; k++) {
        double a = g[p][k], b = g[q][k];
        g[p][k] = c * a - s * b;
        g[q][k] = s * a + c * b;
        a = of->turn[p][k];
        b = of->turn[q][k];
        of->turn[p][k] = c * a - s * b;
        of->turn[q][k] = s * a + c * b;
    }
}

static void swap_rows(search *of, size_t a, size_t b) {
    double value = of->values[a];
    of->values[a] = of->values[b];
    of->values[b] = value;
    for (size_t k = 0; k < of->width; k++) {
        double entry = of->turn[a][k];
        of->turn[a][k] = of->turn[b][k];
        of->turn[b][k] = entry;
    }
}

/* The eigenvalues and eigenvectors of gram, largest first. */
static void diagonalise(search *of) {
    for (size_t a = 0; a < of->width; a++) {
        for (size_t b = 0; b < of->width; b++)
            of->turn[a][b] = a == b;
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (size_t p = 0; p < of->width; p++) {
            for (size_t q = p + 1; q < of->width; q++) {
                if (fabs(of->gram[p][q]) > 1e-15 * (double)of->rows)
                    rotate(of, p, q);
            }
        }
    }
    for (size_t a = 0; a < of->width; a++)
        of->values[a] = of->gram[a][a];
    for (size_t a = 0; a < of->width; a++) {
        for (size_t b = a + 1; b < of->width; b++) {
            if (of->values[b] > of->values[a])
                swap_rows(of, a, b);
        }
    }
}

/* Gram-Schmidt, done twice because of rounding. A row in the span of the rows before becomes zero and stays zero. */
static void orthonormalise(double *rows, size_t count, size_t size) {
    for (size_t b = 0; b < count; b++) {
        double *row = rows + b * size, before = sqrt(dot(row, row, size));
        for (int again = 0; again < 2; again++) {
            for (size_t a = 0; a < b; a++) {
                double part = dot(row, rows + a * size, size);
                for (size_t d = 0; d < size; d++)
                    row[d] -= part * rows[a * size + d];
            }
        }
        double length = sqrt(dot(row, row, size));
        for (size_t d = 0; d < size; d++)
            row[d] = length > 1e-12 * before ? row[d] / length : 0;
    }
}

/* now = turn now, column by column. */
static void turn_rows(const search *of, double *rows) {
    for (size_t d = 0; d < of->dimension; d++) {
        double column[BLOCK];
        for (size_t b = 0; b < of->width; b++)
            column[b] = rows[b * of->dimension + d];
        for (size_t b = 0; b < of->width; b++) {
            double sum = 0;
            for (size_t a = 0; a < of->width; a++)
                sum += of->turn[b][a] * column[a];
            rows[b * of->dimension + d] = sum;
        }
    }
}

static void iterate(search *of) {
    double last[SEEN] = {0, 0, 0};
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        multiply(of);
        diagonalise(of);
        turn_rows(of, of->now);
        turn_rows(of, of->next);
        double change = 0;
        for (int k = 0; k < SEEN; k++) {
            change += fabs(of->values[k] - last[k]);
            last[k] = of->values[k];
        }
        if (change <= SETTLED * (double)of->rows)
            return;
        double *old = of->now;
        of->now = of->next;
        of->next = old;
        orthonormalise(of->now, of->width, of->dimension);
    }
}

/* ---- From points to the projection ------------------------------------------------------------------------------- */

static void take_sample(search *of, const ast_points *points, size_t wanted, double *row) {
    ast_sampling sampling = {1};
    for (size_t i = 0, open = wanted; i < points->count; i++) {
        if (!ast_sampling_takes(&sampling, points->count - i, open))
            continue;
        open--;
        if (!ast_unit_row(points, i, row))
            continue;
        for (size_t d = 0; d < of->dimension; d++)
            of->sample[of->rows * of->dimension + d] = (float)row[d];
        of->rows++;
    }
}

static void start(search *of) {
    ast_sampling sampling = {2};
    for (size_t i = 0; i < of->width * of->dimension; i++)
        of->now[i] = (double)ast_sampling_below(&sampling, 2001) - 1000;
    orthonormalise(of->now, of->width, of->dimension);
}

/* Makes the largest component of each direction positive: a rounding error should not flip the picture. */
static void keep(ast_projection *projection, const search *of) {
    for (size_t k = 0; k < SEEN; k++) {
        const double *from = of->now + k * of->dimension;
        size_t largest = 0;
        for (size_t d = 0; d < of->dimension; d++)
            largest = fabs(from[d]) > fabs(from[largest]) ? d : largest;
        double sign = from[largest] < 0 ? -1 : 1;
        for (size_t d = 0; d < of->dimension; d++)
            projection->basis[k * of->dimension + d] = sign * from[d];
        projection->explained[k] = of->rows ? of->values[k] / (double)of->rows : 0;
    }
}

bool ast_projection_find(ast_projection *projection, const ast_points *points, ast_format_error *error) {
    size_t size = points->dimension, wanted = MOST_NUMBERS / (size ? size : 1);
    projection->dimension = size;
    if (size <= SEEN)
        return true;
    wanted = wanted < LEAST_ROWS ? LEAST_ROWS : wanted;
    wanted = wanted < points->count ? wanted : points->count;
    search of = {.dimension = size, .width = size < BLOCK ? size : BLOCK};
    projection->basis = malloc(SEEN * size * sizeof *projection->basis);
    of.sample = malloc((wanted * size + 1) * sizeof *of.sample);
    double *room = malloc((2 * of.width + 1) * size * sizeof *room);
    bool good = projection->basis && of.sample && room;
    if (good) {
        of.now = room;
        of.next = room + of.width * size;
        take_sample(&of, points, wanted, room);
        start(&of);
        iterate(&of);
        keep(projection, &of);
    }
    free(of.sample);
    free(room);
    return good || ast_format_fail(error, "there is not enough memory for the principal directions");
}

void ast_projection_free(ast_projection *projection) {
    free(projection->basis);
    *projection = (ast_projection){0};
}

/* ---- Seeing ------------------------------------------------------------------------------------------------------ */

static void to_length_one(double xyz[3]) {
    double length = sqrt(xyz[0] * xyz[0] + xyz[1] * xyz[1] + xyz[2] * xyz[2]);
    for (int k = 0; k < SEEN; k++)
        xyz[k] = length > 1e-12 ? xyz[k] / length : 0;
}

void ast_projection_along(const ast_projection *projection, const double *direction, double xyz[3]) {
    size_t size = projection->dimension;
    for (size_t k = 0; k < SEEN; k++) {
        if (projection->basis)
            xyz[k] = dot(projection->basis + k * size, direction, size);
        else
            xyz[k] = k < size ? direction[k] : 0;
    }
}

void ast_projection_see(const ast_projection *projection, const double *direction, double xyz[3]) {
    ast_projection_along(projection, direction, xyz);
    to_length_one(xyz);
}

void ast_projection_see_mean(const ast_projection *projection, const float *mean, double xyz[3]) {
    size_t size = projection->dimension;
    for (size_t k = 0; k < SEEN; k++) {
        xyz[k] = !projection->basis && k < size ? (double)mean[k] : 0;
        for (size_t d = 0; projection->basis && d < size; d++)
            xyz[k] += projection->basis[k * size + d] * (double)mean[d];
    }
    to_length_one(xyz);
}
