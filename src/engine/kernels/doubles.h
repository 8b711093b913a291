/* SPDX-License-Identifier: MIT
 *
 * Vectors of DL doubles, as GCC vector extensions: half as many as floats go into a vector of simd.h. */
#ifndef AST_DOUBLES_H
#define AST_DOUBLES_H

#include "simd.h"

#define DL (VL / 2)

typedef double dv __attribute__((vector_size(8 * DL), may_alias));
typedef int64_t dm __attribute__((vector_size(8 * DL), may_alias));
typedef float hv __attribute__((vector_size(4 * DL), may_alias)); /* as many floats */
typedef int32_t hi __attribute__((vector_size(4 * DL), may_alias));

static inline dv load_d(const double *p) {
    dv v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store_d(double *p, dv v) {
    memcpy(p, &v, sizeof v);
}

static inline dv all_d(double s) {
    return s - (dv){0};
}

static inline dv widen(const float *p) {
    hv v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, dv);
}

/* mask ? a : b, lane by lane; a mask lane is 0 or -1. */
static inline dv select_d(dm mask, dv a, dv b) {
    return (dv)((mask & (dm)a) | (~mask & (dm)b));
}

/* The larger; b where a is not a number. */
static inline dv max_d(dv a, dv b) {
#if defined(__AVX2__)
    return (dv)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (dv)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return select_d(a > b, a, b);
#endif
}

#endif
