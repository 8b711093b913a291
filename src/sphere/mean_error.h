/* SPDX-License-Identifier: MIT
 *
 * How well the mean direction and the concentration of points from a von Mises-Fisher distribution are known, and
 * whether points are uniform on the sphere. Needs only the number of points and the length of their sum. */
#pragma once

#include <stddef.h>

/* NaN where undefined. Angles are in degrees. */
typedef struct ast_mean_error {
    double precision;         /* estimate of kappa from the distribution of R alone; D = 3: Fisher's k */
    double standard_error;    /* the angle whose cosine is the expected cosine between the mean and the true mean */
    double alpha95;           /* half the opening of the 95% confidence cone of the mean, 0..180 */
    double kappa_interval[2]; /* 95% confidence */
} ast_mean_error;

/* n: the number of points, or the effective number of weighted points. resultant: R / n, 0..1. kappa: the maximum
 * likelihood estimate for these two. */
ast_mean_error ast_mean_error_of(size_t dimension, double n, double resultant, double kappa);

/* Rayleigh's statistic of uniformity, D n (R / n)^2, and its tail probability, chi-square with D degrees of freedom. */
double ast_rayleigh(size_t dimension, double n, double resultant, double *p);

/* Bingham's for axes: D (D + 2) / 2 n (tr T^2 - 1/D), where T, the mean of x x', is given by its sum of squared entries
 * tr T^2; chi-square with (D - 1) (D + 2) / 2 degrees of freedom. */
double ast_bingham(size_t dimension, double n, double squares, double *p);
