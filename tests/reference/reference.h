/* SPDX-License-Identifier: MIT
 *
 * The definition of asterism as slow, sequential code: what every fast path is compared with, bit for bit. It was
 * written from the specification alone and shares no line with src/. It favours the plain statement over speed, keeps
 * every pass it has seen, and ends the process when memory runs out. */
#ifndef REF_REFERENCE_H
#define REF_REFERENCE_H

#include "asterism.h"

#include <stddef.h>
#include <stdint.h>

/* The points as the algorithms see them: unit vectors of floats and relative weights. */
typedef struct ref_points {
    size_t count, dimension;
    float *x;           /* (N, D) unit rows; zeros where missing */
    double *weight;     /* (N) divided by the smallest positive one; 1 without weights; 0 where missing */
    int32_t *missing;   /* (N) 1 where the row has no direction */
    size_t used;        /* rows that take part: not missing and of positive weight */
    size_t missed;      /* rows without a direction */
    double total;       /* sum of `weight`: what "N" means in bounds on the objective */
    int equal;          /* every point counts the same: the objective cannot fall */
    int shift;          /* sums are whole numbers of 2^-shift */
    ptrdiff_t infinite; /* the first row that holds an infinity, or -1 */
    int axial;          /* x and -x are the same: docs/axial.md */
} ref_points;

/* Reads and normalises a view. */
void ref_points_read(ref_points *points, const ast_points *view);
void ref_points_free(ref_points *points);

/* Makes them axial: rows are turned so that their first component that is not zero is positive. */
void ref_points_turn(ref_points *points);

/* What one pass came to. */
typedef struct ref_pass {
    double objective;
    size_t clusters; /* alive after it */
    size_t changed;  /* points to which the labelling gave another cluster or sign, the first labels included; without
                        those that k-means moves into empty clusters afterwards */
} ref_pass;

typedef struct ref_result {
    int32_t *labels; /* (N) 0..K-1, -1 for missing rows */
    float *means;    /* (K, D) */
    size_t clusters;
    double objective;
    int iterations, converged;
    ref_pass *passes; /* (iterations) */
} ref_result;

/* DP-vMF-means. `given` (given_count, D), or NULL: means that are candidates in the first pass, not yet unit. */
void ref_dp(ref_result *result, const ref_points *points, double angle, int max_iterations, const float *given,
            size_t given_count);

/* Spherical k-means from `given` means (clusters, D), as the user gave them. Every cluster finds a point: the points
 * that take part are at least as many as the clusters. */
void ref_spkm(ref_result *result, const ref_points *points, const float *given, size_t clusters, int max_iterations);

void ref_result_free(ref_result *result);

/* Labels with known means (clusters, D). `similarity` (N) or NULL. */
void ref_assign(const ref_points *points, const float *given, size_t clusters, double angle, int32_t *labels,
                float *similarity);

/* The pieces, for tests that need one alone. */
double ref_score(const float *x, const float *mean, size_t dimension);
double ref_closeness(int axial, const float *x, const float *mean, size_t dimension); /* the score, or its magnitude */
int32_t ref_sign(int axial, const float *x, const float *mean, size_t dimension);     /* 1 or -1 */
void ref_turn_mean(float *mean, size_t dimension); /* its largest component, the first of equals, becomes positive */
void ref_negate(float *v, size_t dimension);
double ref_cosine(double angle); /* of degrees; exact at 0, 60, 90, 120, 180 */
int ref_fits(double score, double angle);
/* Normalises one row; f8 rows (`wide`) are scaled by their largest component first. 1, or 0 if the row is missing. */
int ref_normalise(const double *row, size_t dimension, int wide, float *unit);

/* Memory that is there, and zero. */
void *ref_take(size_t count, size_t size);

#endif
