/* SPDX-License-Identifier: MIT
 *
 * The main idea: all four are drawn by rejection, so draws are exact.
 *
 * - Watson and Bingham have the density exp(-w), w = sum_j loss_j x_j^2 >= 0, up to a factor. The envelope is an
 *   angular central Gaussian distribution (Kent, Ganeiber and Mardia 2018): y_j normal with the variance
 *   1 / (1 + 2 loss_j / b), x = y / |y|, whose density is (1 + 2 w / b)^(-D/2). For every b the ratio is largest at
 *   w = (D - b) / 2; it is least there if sum_j 1 / (b + 2 loss_j) = 1.
 * - Kent's exp(kappa t + beta (x_1^2 - x_2^2)), t the cosine to the mean, is exp(-kappa (1 - t)^2 / 2) <= 1 times the
 *   Bingham distribution with the losses 0, kappa / 2 - beta, kappa / 2 + beta, since
 *   t = 1 - (1 - t^2) / 2 - (1 - t)^2 / 2.
 * - A small circle (Bingham and Mardia 1978) is exp(-kappa (t - cos radius)^2) in the cosine t to the pole. With the
 *   weight (1 - t^2)^((D-3)/2) of the sphere this is log-concave in t, and lies below two of its tangents and its
 *   maximum. The rest of x is uniform. */
#include "sample_shapes.h"

#include "degree.h"
#include "memory.h"
#include "vmf.h"

#include <math.h>
#include <stdlib.h>

#define HALVINGS 200 /* of a bracket: down to neighbouring doubles */
#define DROP 1.0     /* of the log density from its maximum to where the tangents touch it */

/* ---- Watson, Bingham, Kent --------------------------------------------------------------------------------------- */

/* Losses along each axis, the least of which is 0. */
static void set_losses(ast_shape_sampler *s, const ast_mixture *mixture) {
    for (size_t d = 0; d < s->dimension; d++)
        s->loss[d] = d == 0 ? fmax(0, -s->kappa) : fmax(0, s->kappa);
    if (s->kind == AST_BINGHAM)
        s->loss[1] = s->kappa - mixture->beta;
    if (s->kind == AST_KENT) {
        s->loss[1] = s->kappa / 2 - mixture->beta;
        s->loss[2] = s->kappa / 2 + mixture->beta;
    }
}

/* b with sum_j 1 / (b + 2 loss_j) = 1: between 0 and D. */
static double find_b(const ast_shape_sampler *s) {
    double low = 0, high = (double)s->dimension;
    for (int i = 0; i < HALVINGS; i++) {
        double b = (low + high) / 2, sum = 0;
        for (size_t d = 0; d < s->dimension; d++)
            sum += 1 / (b + 2 * s->loss[d]);
        *(sum > 1 ? &low : &high) = b;
    }
    return high;
}

static void draw_bingham(ast_random *random, const ast_shape_sampler *s, double *x) {
    double dimension = (double)s->dimension, shift = (dimension - s->b) / 2 - dimension / 2 * log(dimension / s->b);
    for (;;) {
        double squares = 0, w = 0;
        for (size_t d = 0; d < s->dimension; d++) {
            x[d] = s->scale[d] * ast_random_normal(random);
            squares += x[d] * x[d];
        }
        for (size_t d = 0; d < s->dimension && squares > 0; d++) {
            x[d] /= sqrt(squares);
            w += s->loss[d] * (x[d] * x[d]);
        }
        double accepted = dimension / 2 * log1p(2 * w / s->b) - w + shift;
        if (squares > 0 && log1p(-ast_random_uniform(random)) <= accepted)
            return;
    }
}

/* 1 - t is sin^2 / (1 + t): it keeps its digits near the mean. */
static void draw_kent(ast_random *random, const ast_shape_sampler *s, double *x) {
    double away;
    do {
        draw_bingham(random, s, x);
        away = x[0] > 0 ? (x[1] * x[1] + x[2] * x[2]) / (1 + x[0]) : 1 - x[0];
    } while (log1p(-ast_random_uniform(random)) > -s->kappa * away * away / 2);
}

/* ---- Small circles ----------------------------------------------------------------------------------------------- */

static double height_at(const ast_shape_sampler *s, double t) {
    double half = ((double)s->dimension - 3) / 2, away = t - s->cosine;
    return -s->kappa * away * away + (half > 0 ? half * log1p(-t * t) : 0);
}

static double slope_at(const ast_shape_sampler *s, double t) {
    double half = ((double)s->dimension - 3) / 2;
    return -2 * s->kappa * (t - s->cosine) - (half > 0 ? 2 * half * t / (1 - t * t) : 0);
}

/* Where the log density is DROP below its maximum, on the side that ends at `end`; NaN: it is higher up to the end. */
static double find_touch(const ast_shape_sampler *s, double end) {
    double top = height_at(s, s->mode), inner = s->mode, outer = end;
    if (height_at(s, end) > top - DROP)
        return NAN;
    for (int i = 0; i < HALVINGS; i++) {
        double t = (inner + outer) / 2;
        *(height_at(s, t) > top - DROP ? &inner : &outer) = t;
    }
    return inner;
}

static void find_envelope(ast_shape_sampler *s) {
    double low = fmin(0, s->cosine), high = fmax(0, s->cosine), top;
    for (int i = 0; i < HALVINGS && s->dimension > 3; i++) {
        double t = (low + high) / 2;
        *(slope_at(s, t) > 0 ? &low : &high) = t;
    }
    s->mode = s->dimension > 3 ? low : s->cosine;
    top = height_at(s, s->mode);
    for (int side = 0; side < 2; side++) {
        s->ends[side] = find_touch(s, side ? 1 : -1);
        s->flat[side] = side ? 1 : -1;
        if (isnan(s->ends[side]))
            continue;
        s->slope[side] = slope_at(s, s->ends[side]);
        s->flat[side] = s->ends[side] + (top - height_at(s, s->ends[side])) / s->slope[side];
    }
}

/* A cosine below the envelope, and the log of the envelope there over its maximum. */
static double draw_below(ast_random *random, const ast_shape_sampler *s, double *height) {
    double mass[3] = {0, 0, s->flat[1] - s->flat[0]}, shrink[2] = {0, 0}, most = 1;
    for (int side = 0; side < 2; side++)
        if (!isnan(s->ends[side])) { /* exponential from the flat part to the pole */
            double length = fabs((side ? 1 : -1) - s->flat[side]), rate = fabs(s->slope[side]);
            shrink[side] = -expm1(-rate * length);
            mass[side] = shrink[side] / rate;
        }
    double u = ast_random_uniform(random) * (mass[0] + mass[1] + mass[2]), v = ast_random_uniform(random);
    int side = u < mass[0] ? 0 : 1;
    *height = 0;
    if (u >= mass[0] + mass[1])
        return s->flat[0] + v * mass[2];
    double away = -log1p(-v * shrink[side]) / fabs(s->slope[side]);
    *height = -away * fabs(s->slope[side]);
    return fmin(most, fmax(-most, s->flat[side] + (side ? away : -away)));
}

static void draw_circle(ast_random *random, const ast_shape_sampler *s, double *x) {
    double t, height, top = height_at(s, s->mode);
    do
        t = draw_below(random, s, &height);
    while (!(log1p(-ast_random_uniform(random)) <= height_at(s, t) - top - height));
    double across = sqrt((1 - t) * (1 + t));
    ast_uniform_direction(random, s->dimension - 1, x + 1);
    for (size_t d = 1; d < s->dimension; d++)
        x[d] *= across;
    x[0] = t;
}

/* ------------------------------------------------------------------------------------------------------------------ */

bool ast_shape_sampler_open(ast_shape_sampler *s, const ast_mixture *mixture) {
    *s = (ast_shape_sampler){.kind = mixture->distribution, .dimension = mixture->dimension, .kappa = mixture->kappa};
    if (s->kind == AST_SMALL_CIRCLE) {
        s->cosine = cos(mixture->radius * AST_DEGREE);
        find_envelope(s);
        return true;
    }
    if (!ast_replace_arrays(AST_REQUEST(s->loss, s->dimension), AST_REQUEST(s->scale, s->dimension)))
        return false;
    set_losses(s, mixture);
    s->b = find_b(s);
    for (size_t d = 0; d < s->dimension; d++)
        s->scale[d] = 1 / sqrt(1 + 2 * s->loss[d] / s->b);
    return true;
}

void ast_shape_sampler_close(ast_shape_sampler *s) {
    ast_free_all(s->loss, s->scale);
}

void ast_shape_sample(ast_random *random, const ast_shape_sampler *s, double *x) {
    (s->kind == AST_SMALL_CIRCLE ? draw_circle : s->kind == AST_KENT ? draw_kent : draw_bingham)(random, s, x);
}
