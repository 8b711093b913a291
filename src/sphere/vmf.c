/* SPDX-License-Identifier: MIT
 *
 * Density, expected resultant and maximum-likelihood kappa of the von Mises-Fisher distribution, for any dimension and
 * any kappa. sample.c draws from it.
 *
 * The main idea: with nu = D/2 - 1 and r = sqrt(nu^2 + kappa^2), all three follow from I_nu(kappa). The ascending
 * series has only positive terms and is short for small r. Debye's uniform expansion is a series in 1/r and practically
 * exact for large r, whether nu or kappa is large. Together they cover the plane. Neither overflows, because they
 * compute log I_nu and I_{nu+1} / I_nu, never I_nu. */
#include "vmf.h"

#include "system.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>

/* For r >= 32 the terms of Debye's expansion fall below 1e-15 within DEBYE_TERMS; below it the series needs at most
 * about 80 terms, and its sum stays below exp(32). */
#define DEBYE_FROM 32.0
#define DEBYE_TERMS 14
#define FAR 1e5

typedef ast_vmf_shape shape;

static shape shape_at(size_t dimension, double kappa);
static double linearised(double dimension, double resultant, double complement);

double ast_vmf_log_density(size_t dimension, double kappa, double cosine) {
    if (dimension < 2 || !(kappa >= 0))
        return NAN;
    if (isinf(kappa)) /* all mass at the mean */
        return cosine == 1 ? INFINITY : -INFINITY;
    return kappa * (cosine - 1) + shape_at(dimension, kappa).log_density_at_mean;
}

double ast_vmf_resultant(size_t dimension, double kappa) {
    if (dimension < 2 || !(kappa >= 0))
        return NAN;
    return isinf(kappa) ? 1 : shape_at(dimension, kappa).resultant;
}

/* Solves A_D(kappa) = R. Banerjee et al. (2005) approximate the inverse by R (D - R^2) / (1 - R^2), within a few
 * percent, exact at both ends. So the function log kappa -> log of that formula at A_D(kappa) has a slope near 1
 * everywhere, and the secant method, its slope limited to 1/2..2, converges in four or five steps from 1e-300 to the
 * last double below 1. */
double ast_vmf_kappa(size_t dimension, double resultant) {
    if (dimension < 2 || !(resultant >= 0 && resultant <= 1))
        return NAN;
    if (resultant == 0 || resultant == 1)
        return resultant == 0 ? 0 : INFINITY;
    double target = linearised((double)dimension, resultant, 1 - resultant);
    double kappa = target, slope = 1, last_error = 0, last_step = 0;
    for (int i = 0; i < 50; i++) {
        shape now = shape_at(dimension, kappa);
        double error = log(linearised((double)dimension, now.resultant, now.complement) / target);
        if (last_step != 0)
            slope = fmin(2, fmax(0.5, (error - last_error) / last_step));
        if (!(fabs(error) > 2e-16))
            break;
        last_error = error;
        last_step = -error / slope;
        kappa *= exp(last_step);
        if (fabs(last_step) < 1e-15)
            break;
    }
    return kappa;
}

/* A' = 1 - A^2 - (D - 1) A / kappa. From FAR times D on the difference cancels, and A' = (D - 1) / (2 kappa^2)
 * (1 - (D - 3) / (2 kappa) + ...). */
ast_vmf_shape ast_vmf_shape_at(size_t dimension, double kappa) {
    assert(dimension >= 2 && kappa >= 0 && isfinite(kappa));
    shape now = shape_at(dimension, kappa);
    double degrees = (double)dimension - 1;
    if (!(kappa > 0))
        now.slope = 1 / (double)dimension;
    else if (kappa > FAR * (double)dimension)
        now.slope = degrees / 2 / kappa / kappa * (1 - (degrees - 2) / 2 / kappa);
    else
        now.slope = now.complement * (2 - now.complement) - degrees * (now.resultant / kappa);
    return now;
}

static double linearised(double dimension, double resultant, double complement) {
    return resultant * (dimension - resultant * resultant) / (complement * (2 - complement));
}

/* I_nu(kappa) = (kappa/2)^nu / Gamma(nu+1) S, S = sum_j u_j, u_j = (kappa^2/4)^j / (j! (nu+1)_j)  (DLMF 10.25.2). The
 * first factor turns C_D into the density of the uniform distribution; I_{nu+1} / I_nu is kappa/2 times the mean of 1 /
 * (nu+1+j) with weights u_j. */
static shape by_series(double nu, double kappa) {
    double quarter = kappa * kappa / 4, term = 1, above_one = 0, weighted = 1 / (nu + 1);
    for (int j = 1; term > 1e-18 * (1 + above_one); j++) {
        term *= quarter / (j * (nu + j));
        above_one += term;
        weighted += term / (nu + 1 + j);
    }
    double log_uniform = ast_log_gamma(nu + 1) - (nu + 1) * log(M_PI) - M_LN2; /* - log of the area of the sphere */
    double resultant = kappa / 2 * weighted / (1 + above_one);
    return (shape){log_uniform - log1p(above_one) + kappa, resultant, 1 - resultant, NAN};
}

/* I_nu(kappa) ~ exp(r) (kappa / (nu + r))^nu / sqrt(2 pi r) U, U = sum_k U_k(p) / nu^k, p = nu / r  (DLMF 10.41.3).
 * U_k(p) = p^k times a polynomial in p^2, whose coefficients follow from those of U_{k-1} (10.41.9), so U is a series
 * in 1/r that holds at nu = 0 too. For the ratio, I' / I = (r / kappa) V / U (10.41.5), where V_{k+1} = U_{k+1} -
 * p (1 - p^2) W_k and W_k = U_k / 2 + p U_k', gives A = kappa / (r + nu) - kappa / r^2 W / U: no cancellation. */
static double debye[DEBYE_TERMS][DEBYE_TERMS + 1]; /* coefficients of U_k in powers of p^2, behind p^k */

static void find_debye(void) {
    debye[0][0] = 1;
    for (int k = 1; k < DEBYE_TERMS; k++) {
        for (int j = 0; j < k; j++) {
            double n = k - 1 + 2 * j; /* the power of p of this coefficient */
            debye[k][j] += debye[k - 1][j] * (n / 2 + 1 / (8 * (n + 1)));
            debye[k][j + 1] -= debye[k - 1][j] * (n / 2 + 5 / (8 * (n + 3)));
        }
    }
}

static shape by_debye(double nu, double kappa) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_debye);
    double r = hypot(nu, kappa), p2 = nu / r * (nu / r);
    double above_one = 0, slope_sum = 0.5, scale = 1;
    for (int k = 1; k < DEBYE_TERMS; k++) {
        double power = scale /= r;
        for (int j = 0; j <= k; j++) {
            above_one += debye[k][j] * power;
            slope_sum += (0.5 + k + 2 * j) * debye[k][j] * power;
            power *= p2;
        }
    }
    double correction = kappa / r / r * (slope_sum / (1 + above_one));
    double excess = nu * (nu / (r + kappa)); /* r - kappa */
    double log_density_at_mean =
        nu * log(nu + r) - (nu + 1) * log(2 * M_PI) - excess + 0.5 * log(2 * M_PI * r) - log1p(above_one);
    return (shape){log_density_at_mean, kappa / (r + nu) - correction, (nu + excess) / (r + nu) + correction, NAN};
}

static shape shape_at(size_t dimension, double kappa) {
    double nu = (double)dimension / 2 - 1;
    bool small = nu < DEBYE_FROM && kappa < DEBYE_FROM && nu * nu + kappa * kappa < DEBYE_FROM * DEBYE_FROM;
    return small ? by_series(nu, kappa) : by_debye(nu, kappa);
}
