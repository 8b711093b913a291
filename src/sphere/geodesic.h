/* SPDX-License-Identifier: MIT
 *
 * Where the mean of a cluster lies on the great circle between where it was and where its points are now: the angular
 * problem of the dependent Dirichlet process vMF mixture. Angles are in radians. */
#ifndef AST_GEODESIC_H
#define AST_GEODESIC_H

#include <stddef.h>
#include <stdint.h>

/* The maximiser of f = w cos(theta) + dt beta cos(phi) + a cos(eta), subject to theta + dt phi + eta = zeta. */
typedef struct ast_geodesic {
    double theta;   /* from the old mean to where the walk starts */
    double phi;     /* one of the dt steps of the walk; 0 if dt is 0 */
    double eta;     /* from the data's direction to the new mean */
    double losses;  /* w (1 - cos theta) + dt beta (1 - cos phi) + a (1 - cos eta): f* = w + dt beta + a - losses */
    int iterations; /* Newton steps */
} ast_geodesic;

/* zeta 0..pi between the old mean and the data's direction; w, beta >= 0, infinity included; a > 0 the length of the
 * data's sum; dt frames since the cluster last had points. Never NaN for such arguments. */
void ast_geodesic_solve(double zeta, double w, double beta, uint32_t dt, double a, ast_geodesic *out);

/* The data's direction u (D, a unit vector) turned by eta towards m (D), of which it is zeta away, rounded once to
 * float in mu (D). m = -u leaves the great circle open: it is the one through the axis e_j, j the lowest index of least
 * |u_j|, made orthogonal to u. */
void ast_geodesic_mean(size_t dimension, const double *u, const float *m, double eta, double zeta, float *mu);

/* The angle between two unit vectors (D), 0..pi: 2 atan2(|x - m|, |x + m|) in double, accurate at both ends. */
double ast_angle_between(const float *x, const float *m, size_t dimension);

/* The same where one is in double and the other one's length is 1 only up to float rounding. */
double ast_angle_from(const double *u, const float *m, size_t dimension);

#endif
