/* SPDX-License-Identifier: MIT
 *
 * The von Mises-Fisher distribution on the unit sphere of R^D: density C_D(kappa) exp(kappa x.mean).
 *
 * Density, expected resultant and maximum-likelihood kappa are public (asterism.h) and implemented in vmf.c. This
 * header has what only the library uses: all of them at once, draws from it and from mixtures of it (sample.c). */
#pragma once

#include "asterism.h"
#include "fault.h"
#include "random.h"

/* The distribution at one kappa, 0 or more and finite. */
typedef struct ast_vmf_shape {
    double log_density_at_mean; /* log C_D(kappa) + kappa: the log density at the mean */
    double resultant;           /* A_D(kappa) */
    double complement;          /* 1 - A_D(kappa), without cancellation */
    double slope;               /* A_D'(kappa) */
} ast_vmf_shape;

ast_vmf_shape ast_vmf_shape_at(size_t dimension, double kappa);

/* One exact draw into x (D), D >= 2. The mean is a unit vector (D), or NULL for the first axis. kappa: 0 (uniform) to
 * infinity (x is the mean). */
void ast_vmf_sample(ast_random *random, size_t dimension, const double *mean, double kappa, double *x);

/* A direction (D) that is uniform on the sphere. */
void ast_uniform_direction(ast_random *random, size_t dimension, double *x);

/* ast_sample_mixture without its checks: points (N, D); labels (N) or NULL; means (K, D) or NULL. Every cluster is
 * equally likely, round(noise N) points are uniform, and the order is random. Everything follows from the seed. */
ast_status ast_mixture_draw(ast_fault *fault, const ast_mixture *given, float *points, int32_t *labels, float *means);
