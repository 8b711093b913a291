/* SPDX-License-Identifier: MIT
 *
 * The mean of a cluster on the great circle between its old mean and the direction of its new points: the angular
 * problem of the dependent Dirichlet process vMF mixture. Angles are in radians. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The maximiser of f = w cos(theta) + dt beta cos(phi) + a cos(eta), subject to theta + dt phi + eta = zeta. */
typedef struct ast_geodesic {
    double theta;   /* between the old mean and the start of the walk */
    double phi;     /* one of the dt steps of the walk; 0 if dt is 0 */
    double eta;     /* between the direction of the data and the new mean */
    double loss;    /* w (1 - cos theta) + dt beta (1 - cos phi) + a (1 - cos eta): f* = w + dt beta + a - loss */
    int iterations; /* Newton steps */
} ast_geodesic;

/* zeta: 0..pi, between the old mean and the direction of the data. w, beta: >= 0 or infinity. a > 0: the length of the
 * data's sum. dt: frames since the cluster last had points. The result is never NaN for such arguments. */
void ast_geodesic_solve(double zeta, double w, double beta, uint32_t dt, double a, ast_geodesic *out);

/* mu (D) becomes the direction of the data u (D, a unit vector), rotated by eta towards m (D) and rounded once to
 * float; zeta is the angle between u and m. If m = -u, the great circle is the one through the axis e_j made orthogonal
 * to u, where j is the lowest index of the smallest |u_j|. */
void ast_geodesic_mean(size_t dimension, const double *u, const float *m, double eta, double zeta, float *mu);

/* The angle between two unit vectors (D), 0..pi: 2 atan2(|x - m|, |x + m|) in double, accurate at both ends. */
double ast_angle_between(const float *x, const float *m, size_t dimension);

/* The same if u is in double and the length of m is 1 only up to float rounding. */
double ast_angle_from(const double *u, const float *m, size_t dimension);
