/* SPDX-License-Identifier: MIT
 *
 * Normals of clouds as their definition reads: every point against every other one, plain C, long double where it
 * matters; and clouds of every awkward kind, each made from one seed. */
#ifndef REF_CLOUD_H
#define REF_CLOUD_H

#include "asterism_depth.h"
#include "random.h"

typedef enum ref_cloud_kind {
    REF_CLOUD_UNIFORM,
    REF_CLOUD_ROOM,   /* walls with noise: what scanners see */
    REF_CLOUD_GRID,   /* whole numbers: equal distances everywhere */
    REF_CLOUD_EQUAL,  /* one place */
    REF_CLOUD_PLACES, /* a few places with many points each */
    REF_CLOUD_LINE,   /* in any direction, rounded to float */
    REF_CLOUD_PLANE,  /* z constant: the normal is exact */
    REF_CLOUD_FAR,    /* a room, a million away from the origin */
    REF_CLOUD_LARGE,  /* numbers up to 1e38 */
    REF_CLOUD_TINY,   /* numbers down to the smallest of all */
    REF_CLOUD_WILD,   /* any magnitude beside any other */
    REF_CLOUD_KINDS
} ref_cloud_kind;

/* Fills (count, 3); one row in `missing` (0: none) holds a NaN. */
void ref_cloud_fill(float *points, size_t count, ref_cloud_kind kind, uint64_t missing, ast_random *random);

/* The `wanted` nearest points of a place, in order; says how many there are. squared and index: [wanted] */
size_t ref_nearest(const float *points, size_t count, const float *place, size_t wanted, double *squared,
                   int32_t *index);

/* n times the covariance of the points with these indices, in long double: xx xy xz yy yz zz. */
void ref_covariance(const float *points, const int32_t *index, size_t n, long double out[6]);

/* Eigenvalues in increasing order, and eigenvectors: vectors[i] belongs to values[i]. */
void ref_eigen(const long double matrix[6], long double values[3], long double vectors[3][3]);

#endif
