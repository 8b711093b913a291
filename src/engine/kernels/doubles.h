/* SPDX-License-Identifier: MIT
 *
 * Vectors of DL doubles as GCC vector extensions; DL is half the number of floats in a vector of simd.h. */
#pragma once

#include "simd.h"

#define DL (VL / 2)

typedef double dv __attribute__((vector_size(8 * DL), may_alias));
typedef int64_t dm __attribute__((vector_size(8 * DL), may_alias));
typedef int32_t hi __attribute__((vector_size(4 * DL), may_alias)); /* as many int32 */

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

/* gcc 12 emits twice the instructions for __builtin_convertvector. */
static inline dv widen(const float *p) {
#if defined(__AVX2__)
    return (dv)_mm256_cvtps_pd(_mm_loadu_ps(p));
#elif defined(__SSE2__)
    return (dv)_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)p)));
#elif defined(AST_NEON)
    return (dv)vcvt_f64_f32(vld1_f32(p));
#else
    return (dv){(double)p[0], (double)p[1]};
#endif
}

/* Rounds the doubles of two vectors to the floats of one. */
static inline vf narrowed(dv low, dv high) {
#if defined(__AVX2__)
    return (vf)_mm256_set_m128(_mm256_cvtpd_ps((__m256d)high), _mm256_cvtpd_ps((__m256d)low));
#elif defined(__SSE2__)
    return (vf)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)low), _mm_cvtpd_ps((__m128d)high));
#elif defined(AST_NEON)
    return (vf)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)low), (float64x2_t)high);
#else
    return (vf){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
#endif
}

/* a b + c. The product of two floats in double is exact, so that of such numbers the fused operation has the bits of
 * the separate ones. */
static inline dv multiply_add_d(dv a, dv b, dv c) {
#if defined(__FMA__)
    return (dv)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(AST_NEON)
    return (dv)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

/* One bit per lane. */
static inline unsigned mask_bits_d(dm mask) {
#if defined(__AVX2__)
    return (unsigned)_mm256_movemask_pd((__m256d)mask);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd((__m128d)mask);
#else
    return (unsigned)(mask[0] & 1) | (unsigned)(mask[1] & 1) << 1;
#endif
}

/* mask ? a : b, lane by lane; a mask lane is 0 or -1. */
static inline dv select_d(dm mask, dv a, dv b) {
    return (dv)((mask & (dm)a) | (~mask & (dm)b));
}

/* The larger; b if a is a NaN. */
static inline dv max_d(dv a, dv b) {
#if defined(__AVX2__)
    return (dv)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (dv)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return select_d(a > b, a, b);
#endif
}
