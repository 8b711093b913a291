/* SPDX-License-Identifier: MIT
 *
 * Vectors of VL floats as GCC vector extensions. Arithmetic is plain C. The few operations without a C operator are
 * here: with AVX2 (VL = 8), with NEON or SSE2 (VL = 4), and for every processor (VL = 4). AST_NEON is defined by the
 * wrapper files of the NEON kernels, since every aarch64 compiler has NEON switched on. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#define VL 8
#else
#if defined(AST_NEON)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif
#define VL 4
#endif

typedef float vf __attribute__((vector_size(4 * VL), may_alias));
typedef int32_t vi __attribute__((vector_size(4 * VL), may_alias));

static inline vf load_f(const float *p) {
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline vi load_i(const int32_t *p) {
    vi v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store_f(float *p, vf v) {
    memcpy(p, &v, sizeof v);
}

static inline void store_i(int32_t *p, vi v) {
    memcpy(p, &v, sizeof v);
}

static inline vf all_f(float s) {
    return s - (vf){0};
}

static inline vi all_i(int32_t s) {
    return s - (vi){0};
}

/* mask ? a : b, lane by lane; a mask lane is 0 or -1. */
static inline vf select_f(vi mask, vf a, vf b) {
#if defined(__AVX2__)
    return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (vf)((mask & (vi)a) | (~mask & (vi)b));
#endif
}

static inline vi select_i(vi mask, vi a, vi b) {
    return (vi)select_f(mask, (vf)a, (vf)b);
}

/* A mask of the NaNs. */
static inline vi is_nan(vf v) {
    return v != v; /* NOLINT(misc-redundant-expression) */
}

/* The larger; b if a is a NaN. */
static inline vf max_f(vf a, vf b) {
#if defined(__AVX2__)
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return select_f(a > b, a, b);
#endif
}

static inline vf min_f(vf a, vf b) {
#if defined(__AVX2__)
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return select_f(a < b, a, b);
#endif
}

/* One bit per lane, as lanes. */
#if defined(__AVX2__)
#define LANE_BITS ((vi){1, 2, 4, 8, 16, 32, 64, 128})
#else
#define LANE_BITS ((vi){1, 2, 4, 8})
#endif

/* |v|; v with the sign changed in the lanes of a mask. */
static inline vf magnitude(vf v) {
    return (vf)((vi)v & all_i(INT32_MAX));
}

static inline vf flip_signs(vf v, vi mask) {
    return (vf)((vi)v ^ (mask & all_i(INT32_MIN)));
}

/* One bit per lane. */
static inline unsigned mask_bits(vi mask) {
#if defined(__AVX2__)
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)mask);
#elif defined(AST_NEON)
    return vaddvq_u32((uint32x4_t)(mask & LANE_BITS));
#else
    unsigned bits = 0;
    for (int lane = 0; lane < VL; lane++)
        bits |= (unsigned)(mask[lane] & 1) << lane;
    return bits;
#endif
}

/* Nearest integer, ties to even; |v| <= 2^30. */
static inline vi round_to_int(vf v) {
#if defined(__AVX2__)
    return (vi)_mm256_cvtps_epi32((__m256)v);
#elif defined(__SSE2__)
    return (vi)_mm_cvtps_epi32((__m128)v);
#elif defined(AST_NEON)
    return (vi)vcvtnq_s32_f32((float32x4_t)v);
#else
    vi out;
    for (int lane = 0; lane < VL; lane++)
        out[lane] = (int32_t)lrintf(v[lane]);
    return out;
#endif
}

/* a * b + c; whether the product is rounded depends on the processor: only for scores with an error bound. */
static inline vf multiply_add(vf a, vf b, vf c) {
#if defined(__FMA__)
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(AST_NEON)
    return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    return a * b + c;
#endif
}

static inline float sum_lanes(vf v) {
    float sum = v[0];
    for (int lane = 1; lane < VL; lane++)
        sum += v[lane];
    return sum;
}

static inline float least_lane(vf v) {
#if defined(__AVX2__)
    __m128 m = _mm_min_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
    m = _mm_min_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_min_ss(m, _mm_movehdup_ps(m)));
#else
    float least = v[0];
    for (int lane = 1; lane < VL; lane++)
        least = v[lane] < least ? v[lane] : least;
    return least;
#endif
}

/* The smallest of each of eight groups of eight numbers, plus `drift`. */
static inline void least_of_groups(const float *numbers, float drift, float least[8]) {
#if defined(__AVX2__)
    __m256 two[4], four[2];
    for (int i = 0; i < 4; i++) {
        __m256 a = _mm256_loadu_ps(numbers + 16 * i), b = _mm256_loadu_ps(numbers + 16 * i + 8);
        two[i] = _mm256_min_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    }
    for (int i = 0; i < 2; i++)
        four[i] = _mm256_min_ps(_mm256_shuffle_ps(two[2 * i], two[2 * i + 1], 0x44),
                                _mm256_shuffle_ps(two[2 * i], two[2 * i + 1], 0xee));
    __m256 eight =
        _mm256_min_ps(_mm256_permute2f128_ps(four[0], four[1], 0x20), _mm256_permute2f128_ps(four[0], four[1], 0x31));
    _mm256_storeu_ps(least, _mm256_add_ps(eight, _mm256_set1_ps(drift)));
#else
    for (int g = 0; g < 8; g++)
        least[g] = least_lane(min_f(load_f(numbers + 8 * g), load_f(numbers + 8 * g + 4))) + drift;
#endif
}

/* The bitwise or of all lanes. */
static inline uint32_t join_lanes(vi v) {
    uint32_t bits = 0;
    for (int lane = 0; lane < VL; lane++)
        bits |= (uint32_t)v[lane];
    return bits;
}

/* In each lane the sum of eight products of bytes, four from each of two pairs of vectors: x m + y n. Bytes of x and y
 * are 0..126, those of m and n -63..63, so that four products fit 16 bits. */
static inline vi dot_bytes(vi x, vi m, vi y, vi n) {
#if defined(__AVX2__)
    __m256i pairs =
        _mm256_add_epi16(_mm256_maddubs_epi16((__m256i)x, (__m256i)m), _mm256_maddubs_epi16((__m256i)y, (__m256i)n));
    return (vi)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#elif defined(AST_NEON)
    int8x16_t a = (int8x16_t)x, b = (int8x16_t)m, c = (int8x16_t)y, d = (int8x16_t)n;
    int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(a), vget_low_s8(b)), vget_low_s8(c), vget_low_s8(d));
    int16x8_t high = vmlal_high_s8(vmull_high_s8(a, b), c, d);
    return (vi)vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high));
#elif defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128();
    __m128i a = (__m128i)x, b = (__m128i)m, c = (__m128i)y, d = (__m128i)n;
    __m128i low = _mm_add_epi32(_mm_madd_epi16(_mm_unpacklo_epi8(a, zero), _mm_srai_epi16(_mm_unpacklo_epi8(b, b), 8)),
                                _mm_madd_epi16(_mm_unpacklo_epi8(c, zero), _mm_srai_epi16(_mm_unpacklo_epi8(d, d), 8)));
    __m128i high =
        _mm_add_epi32(_mm_madd_epi16(_mm_unpackhi_epi8(a, zero), _mm_srai_epi16(_mm_unpackhi_epi8(b, b), 8)),
                      _mm_madd_epi16(_mm_unpackhi_epi8(c, zero), _mm_srai_epi16(_mm_unpackhi_epi8(d, d), 8)));
    __m128i even = (__m128i)_mm_shuffle_ps((__m128)low, (__m128)high, 0x88);
    __m128i odd = (__m128i)_mm_shuffle_ps((__m128)low, (__m128)high, 0xdd);
    return (vi)_mm_add_epi32(even, odd);
#else
    vi sum = all_i(0);
    for (int lane = 0; lane < VL; lane++)
        for (int byte = 0; byte < 4; byte++) {
            int at = 4 * lane + byte;
            sum[lane] += ((const uint8_t *)&x)[at] * ((const int8_t *)&m)[at] +
                         ((const uint8_t *)&y)[at] * ((const int8_t *)&n)[at];
        }
    return sum;
#endif
}

/* Time of a product of bytes relative to a product of floats (measured with avx2: 105 against 45 10^9 per second). */
#if defined(__AVX2__)
#define BYTE_COST 0.42f
#else
#define BYTE_COST 1.0f
#endif

/* Integers as floats. */
static inline vf to_floats(vi v) {
    return __builtin_convertvector(v, vf);
}

/* sum[0..VL) += v, in 64 bits. */
static inline void add_wide(int64_t *sum, vi v) {
#if defined(__AVX2__)
    __m256i *half = (__m256i *)(void *)sum;
    __m256i low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128((__m256i)v));
    __m256i high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256((__m256i)v, 1));
    _mm256_storeu_si256(half, _mm256_add_epi64(_mm256_loadu_si256(half), low));
    _mm256_storeu_si256(half + 1, _mm256_add_epi64(_mm256_loadu_si256(half + 1), high));
#elif defined(AST_NEON)
    vst1q_s64(sum, vaddw_s32(vld1q_s64(sum), vget_low_s32((int32x4_t)v)));
    vst1q_s64(sum + 2, vaddw_high_s32(vld1q_s64(sum + 2), (int32x4_t)v));
#else
    for (int lane = 0; lane < VL; lane++)
        sum[lane] += v[lane];
#endif
}
