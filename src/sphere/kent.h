/* SPDX-License-Identifier: MIT
 *
 * The Kent distribution on the sphere in R^3, with the density exp(kappa g1.x + beta ((g2.x)^2 - (g3.x)^2)) / c:
 * elliptical clusters about g1, longest along g2. 0 <= beta <= kappa / 2. */
#pragma once

#include <stddef.h>

/* ln c(kappa, beta) - kappa, and of y = 1 - g1.x and of d = (g2.x)^2 - (g3.x)^2 the means and the covariances. */
typedef struct ast_kent_moments {
    double log_constant;
    double y, d;
    double yy, yd, dd;
} ast_kent_moments;

ast_kent_moments ast_kent_moments_at(double kappa, double beta);

/* Maximum likelihood: kappa and beta whose means of y and d are these. kappa is at most `most`. */
void ast_kent_fit(double y, double d, double most, double *kappa, double *beta);
