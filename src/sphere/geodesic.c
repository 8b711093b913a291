/* SPDX-License-Identifier: MIT
 *
 * The geodesic problem of the streaming method (the paper's section on the dependent Dirichlet process). This file
 * knows angles and weights, not clusters.
 *
 * The main idea: at the maximum, weight times sine is the same for all three angles. So the angle psi of the smallest
 * weight determines the others, which are at most a right angle. Their sum G(psi) is concave, so Newton's method climbs
 * from psi = 0 to the right root without overshooting, even if psi exceeds a right angle. */
#include "geodesic.h"

#include <assert.h>
#include <math.h>

#define MAX_STEPS 64

/* One kind of angle: `times` angles of this weight. */
typedef struct term {
    double weight, times, ratio; /* ratio: smallest weight / weight, 0..1 */
    double *angle;
} term;

static int solve_psi(double zeta, const term *terms, int count, int smallest, double *psi);
static double angle_of(double ratio, double psi);
static double loss(double weight, double angle);

void ast_geodesic_solve(double zeta, double w, double beta, uint32_t dt, double a, ast_geodesic *out) {
    assert(zeta >= 0 && w >= 0 && beta >= 0 && a > 0);
    *out = (ast_geodesic){0};
    zeta = fmin(M_PI, fmax(0, zeta));
    term terms[3] = {{w, 1, 1, &out->theta}, {a, 1, 1, &out->eta}, {beta, dt, 1, &out->phi}};
    int count = dt > 0 ? 3 : 2, smallest = 0;
    for (int j = 1; j < count; j++)
        if (terms[j].weight < terms[smallest].weight)
            smallest = j;
    /* The limits need no branches: an infinite weight has ratio 0 and so angle 0; if the smallest weight is 0, all
     * larger weights have ratio 0. Equal weights, even if both are 0 or infinite, have ratio 1. */
    for (int j = 0; j < count; j++)
        if (terms[j].weight != terms[smallest].weight)
            terms[j].ratio = terms[smallest].weight / terms[j].weight;
    double psi;
    out->iterations = solve_psi(zeta, terms, count, smallest, &psi);
    for (int j = 0; j < count; j++)
        *terms[j].angle = j == smallest ? psi : angle_of(terms[j].ratio, psi);
    out->loss = loss(w, out->theta) + dt * loss(beta, out->phi) + loss(a, out->eta);
}

/* sin(angle) = ratio sin(psi), at most a right angle. atan2 instead of asin: near a right angle asin loses half the
 * digits. */
static double angle_of(double ratio, double psi) {
    double across = ratio * sin(psi), cosine = ratio * cos(psi);
    return atan2(across, sqrt((1 - ratio) * (1 + ratio) + cosine * cosine));
}

/* w (1 - cos angle) without cancellation. An infinite weight has angle 0 and loss 0. */
static double loss(double weight, double angle) {
    double half = sin(angle / 2);
    return angle == 0 ? 0 : 2 * weight * half * half;
}

/* G and its derivative at psi. */
static double sum_of_angles(const term *terms, int count, int smallest, double psi, double *slope) {
    double sum = terms[smallest].times * psi;
    *slope = terms[smallest].times;
    for (int j = 0; j < count; j++) {
        if (j == smallest)
            continue;
        double ratio = terms[j].ratio, cosine = ratio * cos(psi);
        double length = sqrt((1 - ratio) * (1 + ratio) + cosine * cosine);
        sum += terms[j].times * atan2(ratio * sin(psi), length);
        *slope += length > 0 ? terms[j].times * cosine / length : 0;
    }
    return sum;
}

/* Solves G(psi) = zeta from below. Only rounding can make a step negative; that ends the iteration. */
static int solve_psi(double zeta, const term *terms, int count, int smallest, double *psi) {
    double highest = terms[smallest].times > 1 ? M_PI_2 : M_PI;
    *psi = 0;
    for (int step = 1; step <= MAX_STEPS; step++) {
        double slope, missing = zeta - sum_of_angles(terms, count, smallest, *psi, &slope);
        if (!(missing > 0 && slope > 0))
            return step - 1;
        double next = fmin(highest, *psi + missing / slope);
        if (!(next > *psi))
            return step - 1;
        *psi = next;
    }
    return MAX_STEPS;
}

/* ---- On vectors ------------------------------------------------------------------------------------------------ */

/* Returns the length of m - sign u without its component along u; *along becomes that component. */
static double tangent_length(size_t dimension, const double *u, const float *m, double sign, double *along) {
    double dot = 0, square = 0;
    for (size_t d = 0; d < dimension; d++)
        dot += (m[d] - sign * u[d]) * u[d];
    for (size_t d = 0; d < dimension; d++) {
        double t = m[d] - sign * u[d] - dot * u[d];
        square += t * t;
    }
    *along = dot;
    return sqrt(square);
}

/* m is antipodal to u: rotates towards e_j instead, which is never close to u or -u because u_j^2 <= 1/D. */
static void rotate_towards_axis(size_t dimension, const double *u, double eta, float *mu) {
    size_t axis = 0;
    for (size_t d = 1; d < dimension; d++)
        if (fabs(u[d]) < fabs(u[axis]))
            axis = d;
    double length = sqrt((1 - u[axis]) * (1 + u[axis])), scale = sin(eta) / length;
    for (size_t d = 0; d < dimension; d++) {
        double t = (d == axis ? 1 : 0) - u[axis] * u[d];
        mu[d] = (float)(cos(eta) * u[d] + scale * t);
    }
}

void ast_geodesic_mean(size_t dimension, const double *u, const float *m, double eta, double zeta, float *mu) {
    /* The tangent is taken from m - u, or from m + u beyond a right angle: the shorter one keeps more digits. */
    double sign = zeta <= M_PI_2 ? 1 : -1, along;
    double length = tangent_length(dimension, u, m, sign, &along);
    if (eta == 0) {
        for (size_t d = 0; d < dimension; d++)
            mu[d] = (float)u[d];
    } else if (zeta >= M_PI || !(length > 0)) {
        rotate_towards_axis(dimension, u, eta, mu);
    } else {
        double cosine = cos(eta), scale = sin(eta) / length;
        for (size_t d = 0; d < dimension; d++)
            mu[d] = (float)(cosine * u[d] + scale * (m[d] - sign * u[d] - along * u[d]));
    }
}

double ast_angle_between(const float *x, const float *m, size_t dimension) {
    double difference = 0, sum = 0;
    for (size_t d = 0; d < dimension; d++) {
        double minus = (double)x[d] - m[d], plus = (double)x[d] + m[d];
        difference += minus * minus;
        sum += plus * plus;
    }
    return 2 * atan2(sqrt(difference), sqrt(sum));
}

double ast_angle_from(const double *u, const float *m, size_t dimension) {
    double square = 0, difference = 0, sum = 0;
    for (size_t d = 0; d < dimension; d++)
        square += (double)m[d] * m[d];
    double scale = 1 / sqrt(square);
    for (size_t d = 0; d < dimension; d++) {
        double minus = u[d] - scale * m[d], plus = u[d] + scale * m[d];
        difference += minus * minus;
        sum += plus * plus;
    }
    return 2 * atan2(sqrt(difference), sqrt(sum));
}
