/* SPDX-License-Identifier: MIT
 *
 * Exact draws from distributions on the sphere that are not von Mises-Fisher: Watson, Kent, Bingham, and small circles.
 * A draw is about the first axis; sample.c moves it to the mean. */
#pragma once

#include "asterism.h"
#include "random.h"

#include <stdbool.h>

typedef struct ast_shape_sampler {
    ast_distribution kind;
    size_t dimension;
    double kappa;
    double *loss;    /* (D) Bingham's envelope: the log density falls by loss_j x_j^2 */
    double *scale;   /* (D) standard deviations of the angular central Gaussian that is drawn from */
    double b;        /* of that Gaussian */
    double cosine;   /* small circle: of its radius */
    double mode;     /* small circle: the most probable cosine to the pole */
    double ends[2];  /* tangents of the log density touch it there; NaN: there is no tangent on this side */
    double slope[2]; /* of the tangents */
    double flat[2];  /* between them the envelope is flat */
} ast_shape_sampler;

/* The shape of every cluster of a mixture whose distribution is not AST_VON_MISES_FISHER. Close it in any case.
 * false: no memory. */
bool ast_shape_sampler_open(ast_shape_sampler *sampler, const ast_mixture *mixture);
void ast_shape_sampler_close(ast_shape_sampler *sampler);

/* One draw into x (D). The mean or pole is the first axis; the long axis of Kent and Bingham is the second one. */
void ast_shape_sample(ast_random *random, const ast_shape_sampler *sampler, double *x);

/* Whether x and -x are equally likely. */
static inline bool ast_distribution_is_axial(ast_distribution kind) {
    return kind == AST_WATSON || kind == AST_BINGHAM;
}
