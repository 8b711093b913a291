/* SPDX-License-Identifier: MIT
 *
 * Section 1 of the specification: how a row becomes a point, what a score is, and when it fits. */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIT_EPS 0x1p-20 /* how far below cos(phi) a score still fits */

/* ---- Scores and angles, section 1 ------------------------------------------------------------------------------ */

double ref_score(const float *x, const float *mean, size_t dimension) {
    double score = 0;
    for (size_t d = 0; d < dimension; d++)
        score += (double)x[d] * (double)mean[d]; /* the product of two floats is exact in double */
    return score;
}

double ref_closeness(int axial, const float *x, const float *mean, size_t dimension) {
    double score = ref_score(x, mean, dimension);
    return axial ? fabs(score) : score;
}

int32_t ref_sign(int axial, const float *x, const float *mean, size_t dimension) {
    return axial && ref_score(x, mean, dimension) < 0 ? -1 : 1;
}

double ref_cosine(double angle) {
    if (angle == 0)
        return 1;
    if (angle == 60)
        return 0.5;
    if (angle == 90)
        return 0;
    if (angle == 120)
        return -0.5;
    if (angle == 180)
        return -1;
    return cos(angle * M_PI / 180);
}

int ref_fits(double score, double angle) {
    return score >= ref_cosine(angle) - FIT_EPS;
}

/* ---- Points, section 1 ----------------------------------------------------------------------------------------- */

static double squared_length(const double *row, size_t dimension) {
    double squares = 0;
    for (size_t d = 0; d < dimension; d++)
        squares += row[d] * row[d];
    return squares;
}

int ref_normalise(const double *row, size_t dimension, int wide, float *unit) {
    double largest = 0;
    memset(unit, 0, dimension * sizeof *unit);
    for (size_t d = 0; d < dimension; d++) {
        if (isnan(row[d]))
            return 0;
        largest = fmax(largest, fabs(row[d]));
    }
    if (largest == 0)
        return 0;
    if (fabs(squared_length(row, dimension) - 1) <= 0x1p-22) {
        for (size_t d = 0; d < dimension; d++)
            unit[d] = (float)row[d]; /* as it is */
        return 1;
    }
    double *scaled = ref_take(dimension, sizeof *scaled);
    for (size_t d = 0; d < dimension; d++)
        scaled[d] = wide ? row[d] / largest : row[d]; /* squares of doubles may leave the range, of floats never */
    double length = sqrt(squared_length(scaled, dimension));
    for (size_t d = 0; d < dimension; d++)
        unit[d] = (float)(scaled[d] / length);
    free(scaled);
    return 1;
}

static double half_to_double(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
        size = fraction ? NAN : INFINITY;
    return bits & 0x8000 ? -size : size;
}

static double element(const ast_points *view, size_t i, size_t d) {
    const char *at = view->data;
    at += (ptrdiff_t)i * view->row_stride + (ptrdiff_t)d * view->column_stride;
    double f8;
    float f4;
    uint16_t f2;
    switch (view->type) {
    case AST_F8:
        memcpy(&f8, at, sizeof f8);
        return f8;
    case AST_F4:
        memcpy(&f4, at, sizeof f4);
        return f4;
    default:
        memcpy(&f2, at, sizeof f2);
        return half_to_double(f2);
    }
}

static int holds_infinity(const double *row, size_t dimension) {
    for (size_t d = 0; d < dimension; d++)
        if (isinf(row[d]))
            return 1;
    return 0;
}

/* Divides the weights by the smallest positive one and finds the scale of the sums: 2^30 where every point counts the
 * same, otherwise the largest power of two with which no sum leaves 2^62. Missing rows have no part in either. */
static void read_weights(ref_points *points, const double *weights) {
    double smallest = INFINITY, largest = 0;
    int zeros = 0;
    for (size_t i = 0; i < points->count; i++) {
        if (points->missing[i])
            continue;
        double w = weights ? weights[i] : 1;
        points->weight[i] = w;
        zeros |= w == 0;
        largest = fmax(largest, w);
        if (w > 0)
            smallest = fmin(smallest, w);
    }
    for (size_t i = 0; i < points->count; i++) {
        if (points->weight[i] > 0) {
            points->weight[i] /= smallest;
            points->total += points->weight[i];
            points->used++;
        }
    }
    points->shift = 30;
    points->equal = points->used == 0 || smallest == largest;
    if (points->equal && !zeros)
        return;
    int exponent;
    double fraction = frexp(points->total, &exponent); /* total = fraction 2^exponent, 1/2 <= fraction < 1 */
    points->shift = 62 - exponent + (fraction == 0.5); /* total 2^shift <= 2^62, and one more would be too much */
}

void ref_points_read(ref_points *points, const ast_points *view) {
    size_t dimension = view->dimension;
    memset(points, 0, sizeof *points);
    points->count = view->count;
    points->dimension = dimension;
    points->infinite = -1;
    points->x = ref_take(view->count * dimension, sizeof *points->x);
    points->weight = ref_take(view->count, sizeof *points->weight);
    points->missing = ref_take(view->count, sizeof *points->missing);
    double *row = ref_take(dimension, sizeof *row);
    for (size_t i = 0; i < view->count; i++) {
        for (size_t d = 0; d < dimension; d++)
            row[d] = element(view, i, d);
        if (points->infinite < 0 && holds_infinity(row, dimension))
            points->infinite = (ptrdiff_t)i;
        points->missing[i] = !ref_normalise(row, dimension, view->type == AST_F8, points->x + i * dimension);
        points->missed += (size_t)points->missing[i];
    }
    free(row);
    read_weights(points, view->weights);
}

void ref_negate(float *v, size_t dimension) {
    for (size_t d = 0; d < dimension; d++)
        v[d] = -v[d];
}

void ref_turn_mean(float *mean, size_t dimension) {
    size_t largest = 0;
    for (size_t d = 1; d < dimension; d++)
        if (fabsf(mean[d]) > fabsf(mean[largest]))
            largest = d;
    if (mean[largest] < 0)
        ref_negate(mean, dimension);
}

void ref_points_turn(ref_points *points) {
    points->axial = 1;
    for (size_t i = 0; i < points->count; i++) {
        float *x = points->x + i * points->dimension;
        size_t d = 0;
        while (d < points->dimension && x[d] == 0)
            d++;
        if (d < points->dimension && x[d] < 0)
            ref_negate(x, points->dimension);
    }
}

void ref_points_free(ref_points *points) {
    free(points->x);
    free(points->weight);
    free(points->missing);
    memset(points, 0, sizeof *points);
}

void *ref_take(size_t count, size_t size) {
    void *block = calloc(count > 0 ? count : 1, size);
    if (!block) {
        fputs("the reference ran out of memory\n", stderr);
        abort();
    }
    return block;
}
