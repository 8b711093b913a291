/* SPDX-License-Identifier: MIT
 *
 * The Watson distribution of axes in R^D, with the density exp(kappa t^2) / (area M(kappa)), t = mu . x: clusters about
 * +-mu for kappa > 0, girdles across mu for kappa < 0. M(kappa) = M(1/2, D/2, kappa) is Kummer's function. */
#pragma once

#include <stddef.h>

/* ln M(1/2, D/2, kappa), for any finite kappa: ln C of the density is - ln(area) - this. */
double ast_watson_log_kummer(size_t dimension, double kappa);

/* The mean of t^2, 0..1: increases with kappa, and is 1 / D at 0. */
double ast_watson_second_moment(size_t dimension, double kappa);

/* The kappa at which the mean of t^2 is `moment`: minus infinity at 0, infinity at 1. */
double ast_watson_kappa(size_t dimension, double moment);

/* ln of the mean of exp(x'Ax) over the sphere, for the eigenvalues l (D) of A, by a saddlepoint: within a tenth, and 0
 * if all are 0. slopes (D, or NULL): its derivatives, which add up to 1. */
double ast_bingham_log_mean(size_t dimension, const double *l, double *slopes);

/* Eigenvalues (n), from large to small, of a symmetric matrix (n, n), and in its place their eigenvectors, one per row.
 * Jacobi's rotations: needs no memory, on one thread. */
void ast_jacobi_eigen(size_t n, double *matrix, double *vectors, double *values);
