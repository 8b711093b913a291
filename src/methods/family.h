/* SPDX-License-Identifier: MIT
 *
 * Mixtures whose components are not von Mises-Fisher: Watson distributions of axes, and Kent distributions.
 *
 * The main idea: the log density of each is linear in features of a row, so that such a mixture is a mixture over rows
 * of features, with the same steps, joins and searches:
 *
 *     Watson  D (D+1)/2 features   phi(x) = x x'               ln f = c + kappa <mu mu', phi>
 *     Kent    9 features           phi(x) = (x, x x') / sqrt 2 ln f = c + <(kappa g1, beta (g2 g2' - g3 g3')), ...>
 *
 * where entries off the diagonal count sqrt 2, so that |phi(x)| = 1. A component has the direction of its functional as
 * its mean, the length as its kappa, and the constant c. Sums of features are sums of x x': all that the estimates
 * need. */
#pragma once

#include "kappa_posterior.h"

#include <stdbool.h>
#include <stddef.h>

#define AST_WATSON_DIMENSION 100 /* at most */
#define AST_KENT_FEATURES 9

typedef enum ast_family_kind {
    AST_FAMILY_VMF = 0, /* rows are their own features */
    AST_FAMILY_WATSON,
    AST_FAMILY_KENT
} ast_family_kind;

typedef struct ast_family {
    ast_family_kind kind;
    size_t dimension; /* D */
    double spread;    /* a row stands for points spread over a cell, with this variance along each axis across it; 0: it
                         stands for itself. D at most 3 */
} ast_family;

/* One component in its own words. */
typedef struct ast_family_shape {
    double kappa, beta;
    double mean[AST_WATSON_DIMENSION]; /* (D) */
    double axes[6];                    /* Kent: (2, 3) long and short */
} ast_family_shape;

size_t ast_family_features(const ast_family *family);

/* phi(x) (F) of a unit vector (D). */
void ast_family_lift(const ast_family *family, const float *x, float *features);

/* The functional of a component: its direction (F, a unit vector) and length, and the constant c. */
void ast_family_encode(const ast_family *family, const ast_family_shape *shape, double *direction, double *length,
                       double *constant);
void ast_family_decode(const ast_family *family, const double *direction, double length, ast_family_shape *shape);

/* c of a component that is uniform: minus the log of the area of the sphere. */
double ast_family_uniform(const ast_family *family);

/* Maximum likelihood from the sum of features (F) of rows that weigh `mass`. known: NaN, or the kappa of all. */
void ast_family_fit(const ast_family *family, double mass, const double *sum, double known, ast_family_shape *shape);

/* The free numbers of a component, besides kappa and its share. */
double ast_family_numbers(const ast_family *family);

/* Eigenvalues of a component's second moments, kept from call to call: they are found again if mass or sum differ. */
typedef struct ast_family_cache {
    double mass;              /* 0: empty */
    double *sum;              /* (F) */
    double *values, *vectors; /* (D) and (D, D) */
} ast_family_cache;

/* The posterior of a component as in kappa_posterior.h, whose `kappa` has the sign of Watson's. cache: or NULL.
 * direction (F), length and constant, unless NULL: of the mean functional, for the E step. */
ast_kappa_posterior ast_family_posterior(const ast_family *family, const ast_kappa_prior *prior, double mass,
                                         const double *sum, ast_family_cache *cache, double *direction, double *length,
                                         double *constant);
