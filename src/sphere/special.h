/* SPDX-License-Identifier: MIT
 *
 * Tails and quantiles of the chi-square and F distributions, for any real degrees of freedom above 0. From 2e5 degrees
 * on, tails and quantiles of F use expansions, which are accurate to 1e-5 if `first` is at most 1e4. */
#pragma once

/* P(X > x) for a chi-square variable, accurate for tiny tails too. */
double ast_chi_square_tail(double degrees, double x);

/* The x with P(X <= x) = p, 0 < p < 1. 0 if it underflows. */
double ast_chi_square_quantile(double degrees, double p);

/* The same for F with `first` and `second` degrees of freedom. Infinity if it overflows. */
double ast_f_quantile(double first, double second, double p);

/* P(X > x) for F with `first` and `second` degrees of freedom. */
double ast_f_tail(double first, double second, double x);
