/* SPDX-License-Identifier: MIT
 *
 * The mixture of von Mises-Fisher distributions as slow, plain code: one point after the other, log-sum-exp by the
 * book, kappa by bisection. */
#ifndef REF_MIXTURE_H
#define REF_MIXTURE_H

#include "reference/reference.h"

typedef struct ref_mixture {
    size_t count, dimension;
    double *means;   /* (K, D) */
    double *kappas;  /* (K) */
    double *weights; /* (K) */
} ref_mixture;

void ref_mixture_open(ref_mixture *mixture, size_t count, size_t dimension);
void ref_mixture_free(ref_mixture *mixture);

/* log of weight times density of component k at a point. */
double ref_mixture_logit(const ref_mixture *mixture, size_t k, const float *x);

/* Memberships (K) of one point; returns the log density of the mixture there. */
double ref_mixture_posterior(const ref_mixture *mixture, const float *x, double *membership);

/* The M step from memberships (N, K). `kappa`: known, or NaN. */
void ref_mixture_maximise(ref_mixture *mixture, const ref_points *points, const double *memberships, double kappa);

/* The E step: memberships (N, K), all or nothing if `hard`; returns the log-likelihood, of the labels if hard. Weights
 * are scaled to add up to the number of points that take part. */
double ref_mixture_expect(const ref_mixture *mixture, const ref_points *points, int hard, double *memberships);

/* The start: every point wholly with the nearest of the means (K, D), and one M step. */
void ref_mixture_start(ref_mixture *mixture, const ref_points *points, const float *means, double kappa);

#endif
