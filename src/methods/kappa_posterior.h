/* SPDX-License-Identifier: MIT
 *
 * What n points whose sum has the length R say about the concentration kappa of their von Mises-Fisher distribution,
 * when its mean is unknown (uniform on the sphere) and integrated out:
 *
 *     ln p(points | kappa) = n L(kappa) - L(kappa R),    L(kappa) = ln C_D(kappa) - ln C_D(0)   (evidence.h)
 *
 * The prior of t = ln kappa is normal. n and R need not be whole: soft memberships add up to any n. */
#pragma once

#include <stddef.h>

typedef struct ast_kappa_prior {
    size_t dimension;
    double centre, width; /* of t */
    double fixed_kappa;   /* NaN: kappa is unknown */
} ast_kappa_prior;

typedef struct ast_kappa_posterior {
    double log_marginal;      /* ln of the integral over kappa: the evidence of the points, relative to uniform ones */
    double kappa;             /* the most probable one, by the density of t */
    double mean_log_constant; /* the mean of L(kappa) */
    double mean_length;       /* of the mean of kappa mu: the mean of kappa A_D(kappa R) */
    double centre;            /* the mean of t */
    double squared_deviation; /* the mean of (t - centre of the prior)^2 */
} ast_kappa_posterior;

ast_kappa_posterior ast_kappa_posterior_find(const ast_kappa_prior *prior, double n, double length);
