/* SPDX-License-Identifier: MIT
 *
 * Features, estimates, and the functionals of components. family_posterior.c has their evidence. */
#include "family_inside.h"

#include "system.h"
#include "kent.h"
#include "symmetric.h"
#include "vectors.h"
#include "watson.h"

#include <math.h>
#include <string.h>

#define MOST_KAPPA 0x1p20 /* for each of D - 1: rows of floats say no more */
#define MANY 16           /* dimensions */
#define GIRDLE_POINTS 3.0 /* a girdle has this many for each dimension: any D - 1 points lie on one */

static double log_area(size_t dimension) {
    double half = (double)dimension / 2;
    return M_LN2 + half * log(M_PI) - ast_log_gamma(half);
}

double ast_family_uniform(const ast_family *f) {
    return -log_area(f->dimension);
}

size_t ast_family_features(const ast_family *f) {
    size_t d = f->dimension;
    return f->kind == AST_FAMILY_WATSON ? d * (d + 1) / 2 : f->kind == AST_FAMILY_KENT ? AST_KENT_FEATURES : d;
}

double ast_family_numbers(const ast_family *f) {
    return (double)f->dimension - 1 + (f->kind == AST_FAMILY_KENT ? 2 : 0);
}

/* ---- Features ---------------------------------------------------------------------------------------------------- */

/* The entries of a symmetric matrix, those off the diagonal times sqrt 2. */
static void pack(size_t n, const double *matrix, double *entries) {
    size_t at = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++)
            entries[at++] = matrix[a * n + b] * (a == b ? 1 : M_SQRT2);
}

void ast_family_unpack(size_t n, const double *entries, double *matrix) {
    size_t at = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++)
            matrix[a * n + b] = matrix[b * n + a] = entries[at++] / (a == b ? 1 : M_SQRT2);
}

void ast_family_lift(const ast_family *f, const float *x, float *features) {
    size_t at = 0, n = f->dimension;
    double scale = f->kind == AST_FAMILY_KENT ? M_SQRT1_2 : 1;
    for (size_t d = 0; f->kind == AST_FAMILY_KENT && d < n; d++)
        features[at++] = (float)(scale * (double)x[d]);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++)
            features[at++] = (float)((double)x[a] * (double)x[b] * (a == b ? scale : scale * M_SQRT2));
}

/* ---- Functionals ------------------------------------------------------------------------------------------------- */

static void encode_watson(const ast_family *f, const ast_family_shape *s, double *direction, double *length) {
    size_t at = 0;
    double sign = s->kappa < 0 ? -1 : 1;
    for (size_t a = 0; a < f->dimension; a++)
        for (size_t b = 0; b <= a; b++)
            direction[at++] = sign * s->mean[a] * s->mean[b] * (a == b ? 1 : M_SQRT2);
    *length = fabs(s->kappa);
}

static void encode_kent(const ast_family_shape *s, double *direction, double *length) {
    double matrix[9];
    for (size_t d = 0; d < 3; d++)
        direction[d] = s->kappa * s->mean[d] * M_SQRT2;
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++)
            matrix[3 * a + b] = M_SQRT2 * s->beta * (s->axes[a] * s->axes[b] - s->axes[3 + a] * s->axes[3 + b]);
    pack(3, matrix, direction + 3);
    *length = ast_normalise(direction, AST_KENT_FEATURES);
    if (!(*length > 0)) {
        memset(direction, 0, AST_KENT_FEATURES * sizeof *direction);
        direction[0] = 1;
        *length = 0;
    }
}

void ast_family_encode(const ast_family *f, const ast_family_shape *s, double *direction, double *length,
                       double *constant) {
    if (f->kind == AST_FAMILY_WATSON) {
        encode_watson(f, s, direction, length);
        *constant = -log_area(f->dimension) - ast_watson_log_kummer(f->dimension, s->kappa);
    } else {
        encode_kent(s, direction, length);
        *constant = -ast_kent_moments_at(s->kappa, s->beta).log_constant - s->kappa;
    }
}

/* +-mu mu': a column of it is mu times an entry. */
static void decode_watson(const ast_family *f, const double *direction, double length, ast_family_shape *s) {
    size_t n = f->dimension, best = 0, at = 0;
    double trace = 0, largest = 0, diagonal = 0;
    for (size_t a = 0; a < n; at += ++a + 0) {
        double entry = direction[at + a];
        trace += entry;
        if (fabs(entry) > largest) {
            largest = fabs(entry);
            diagonal = entry;
            best = a;
        }
    }
    for (size_t d = 0; d < n; d++) {
        size_t high = d > best ? d : best, low = d > best ? best : d;
        s->mean[d] = direction[high * (high + 1) / 2 + low] / (d == best ? 1 : M_SQRT2) / diagonal;
    }
    ast_normalise(s->mean, n);
    s->kappa = trace < 0 ? -length : length;
    s->beta = NAN;
}

static void decode_kent(const double *direction, double length, ast_family_shape *s) {
    double matrix[9], vectors[9], values[3];
    memcpy(s->mean, direction, 3 * sizeof *direction);
    s->kappa = ast_normalise(s->mean, 3) * length * M_SQRT1_2;
    ast_family_unpack(3, direction + 3, matrix);
    ast_jacobi_eigen(3, matrix, vectors, values);
    s->beta = fmax(0, (values[0] - values[2]) / 2 * length * M_SQRT1_2);
    memcpy(s->axes, vectors, 3 * sizeof *vectors);
    memcpy(s->axes + 3, vectors + 6, 3 * sizeof *vectors);
}

void ast_family_decode(const ast_family *f, const double *direction, double length, ast_family_shape *s) {
    if (f->kind == AST_FAMILY_WATSON)
        decode_watson(f, direction, length, s);
    else
        decode_kent(direction, length, s);
}

/* ---- Estimates --------------------------------------------------------------------------------------------------- */

/* The mean of x x', with trace 1. */
static void second_moments(size_t n, double mass, const double *entries, double *matrix) {
    double trace = 0;
    ast_family_unpack(n, entries, matrix);
    for (size_t d = 0; d < n; d++)
        trace += matrix[d * n + d];
    for (size_t i = 0; i < n * n; i++)
        matrix[i] /= trace > 0 ? trace : mass;
}

/* In many dimensions reflections are faster than Jacobi's rotations. false: there is no memory. */
static bool eigen_by_reflections(size_t n, double *matrix, double *vectors, double *values) {
    double found[AST_WATSON_DIMENSION];
    ast_fault fault = {0};
    size_t order[AST_WATSON_DIMENSION];
    if (ast_symmetric_eigen(NULL, n, matrix, found, &fault) != AST_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t place = i;
        for (; place > 0 && found[order[place - 1]] < found[i]; place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
    for (size_t i = 0; i < n; i++) {
        values[i] = found[order[i]];
        memcpy(vectors + i * n, matrix + order[i] * n, n * sizeof *vectors);
    }
    return true;
}

/* Eigenvalues of the mean of x x', from large to small, and the eigenvectors in rows. */
void ast_family_axes(const ast_family *f, double mass, const double *sum, double *values, double *vectors) {
    double matrix[AST_WATSON_DIMENSION * AST_WATSON_DIMENSION];
    second_moments(f->dimension, mass, sum, matrix);
    if (f->dimension < MANY || !eigen_by_reflections(f->dimension, matrix, vectors, values)) {
        second_moments(f->dimension, mass, sum, matrix);
        ast_jacobi_eigen(f->dimension, matrix, vectors, values);
    }
    for (size_t d = 0; d < f->dimension; d++)
        values[d] = fmin(1, fmax(0, values[d]));
}

double ast_family_most_kappa(const ast_family *f) {
    return (double)(f->dimension - 1) * MOST_KAPPA;
}

/* Per point, for an axis along which the mean of t^2 is `moment`. */
static double watson_height(size_t dimension, double kappa, double moment) {
    return kappa * moment - ast_watson_log_kummer(dimension, kappa);
}

static void fit_watson(const ast_family *f, double mass, const double *sum, double known, ast_family_shape *s) {
    size_t n = f->dimension, axis = 0;
    double values[AST_WATSON_DIMENSION], vectors[AST_WATSON_DIMENSION * AST_WATSON_DIMENSION];
    double most = ast_family_most_kappa(f);
    ast_family_axes(f, mass, sum, values, vectors);
    s->kappa = isnan(known) ? fmin(most, fmax(0, ast_watson_kappa(n, values[0]))) : known;
    double girdle = fmax(-most, fmin(0, ast_watson_kappa(n, values[n - 1])));
    bool enough = n > 2 && mass >= GIRDLE_POINTS * (double)n;
    if (isnan(known) && enough && watson_height(n, girdle, values[n - 1]) > watson_height(n, s->kappa, values[0])) {
        s->kappa = girdle;
        axis = n - 1;
    }
    memcpy(s->mean, vectors + axis * n, n * sizeof *vectors);
    s->beta = NAN;
}

/* Kent (1982): g1 is the mean direction; g2 and g3 are the axes of the second moments across it. y: 1 - the mean
 * length, d: the difference of the second moments. */
void ast_kent_frame(double mass, const double *sum, ast_family_shape *s, double *y, double *d) {
    double matrix[9], linear[3], u[3] = {0}, v[3], a = 0, b = 0, c = 0;
    for (size_t i = 0; i < 3; i++)
        linear[i] = sum[i] * M_SQRT2 / mass;
    memcpy(s->mean, linear, sizeof linear);
    *y = 1 - fmin(1, ast_normalise(s->mean, 3));
    second_moments(3, mass, sum + 3, matrix);
    size_t least = fabs(s->mean[0]) < fabs(s->mean[1]) ? 0 : 1;
    least = fabs(s->mean[2]) < fabs(s->mean[least]) ? 2 : least;
    u[least] = 1;
    for (size_t i = 0; i < 3; i++)
        u[i] -= s->mean[least] * s->mean[i];
    ast_normalise(u, 3);
    for (size_t i = 0; i < 3; i++)
        v[i] = s->mean[(i + 1) % 3] * u[(i + 2) % 3] - s->mean[(i + 2) % 3] * u[(i + 1) % 3];
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            a += u[i] * matrix[3 * i + j] * u[j];
            b += u[i] * matrix[3 * i + j] * v[j];
            c += v[i] * matrix[3 * i + j] * v[j];
        }
    double turn = atan2(2 * b, a - c) / 2;
    for (size_t i = 0; i < 3; i++) {
        s->axes[i] = cos(turn) * u[i] + sin(turn) * v[i];
        s->axes[3 + i] = cos(turn) * v[i] - sin(turn) * u[i];
    }
    *d = hypot(a - c, 2 * b);
}

static void fit_kent(const ast_family *f, double mass, const double *sum, double known, ast_family_shape *s) {
    double y, d;
    ast_kent_frame(mass, sum, s, &y, &d);
    s->kappa = isnan(known) ? 0 : known;
    s->beta = 0;
    if (isnan(known))
        ast_kent_fit(fmax(y, 1 / ast_family_most_kappa(f)), d, ast_family_most_kappa(f), &s->kappa, &s->beta);
}

void ast_family_fit(const ast_family *f, double mass, const double *sum, double known, ast_family_shape *s) {
    (f->kind == AST_FAMILY_WATSON ? fit_watson : fit_kent)(f, mass, sum, known, s);
}
