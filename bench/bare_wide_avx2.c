/* SPDX-License-Identifier: MIT
 *
 * The bare fused pass for large dimensions with AVX2 and FMA: matrix-multiply tiles with a fused arg-max.
 *
 * Means are packed in units of eight, (unit, D, 8). A tile is 6 points x 2 units (or 12 x 1 for an odd last unit):
 * twelve accumulators, enough to hide the latency of two FMA units. Points need no packing: a tile broadcasts from 6
 * rows. Two units of 300 dimensions (19 KiB) stay in the first-level cache while the rows of a block (second level) are
 * used; each tile prefetches a part of the next block, which would otherwise cost a tenth of the pass. */
#include "bare.h"

#include <immintrin.h>
#include <string.h>

enum { ROWS = 72 }; /* per block: a multiple of 12 */

typedef struct running { /* per row: the best score of each of eight lanes, and its mean */
    _Alignas(32) float score[8];
    int32_t label[8];
} running;

typedef struct scratch {
    running best[ROWS];
    float rows[]; /* (12, D): the last rows, if fewer than a tile are left */
} scratch;

static int usable(size_t dimension) {
    return dimension >= 16 && bench_has_avx2();
}

static size_t unit_count(size_t clusters) {
    return (clusters + 7) / 8;
}

static size_t packed_bytes(size_t clusters, size_t dimension) {
    return unit_count(clusters) * 8 * dimension * sizeof(float);
}

/* The lanes of the last unit without a mean repeat the last mean: an equal score never beats a lower index. */
static void pack(const float *means, size_t clusters, size_t dimension, void *packed) {
    float *out = packed;
    for (size_t u = 0; u < unit_count(clusters); u++)
        for (size_t d = 0; d < dimension; d++)
            for (size_t j = 0; j < 8; j++) {
                size_t k = 8 * u + j < clusters ? 8 * u + j : clusters - 1;
                *out++ = means[k * dimension + d];
            }
}

static size_t scratch_bytes(size_t clusters, size_t dimension) {
    (void)clusters;
    return sizeof(scratch) + 12 * dimension * sizeof(float);
}

static inline void keep_best(running *best, __m256 score, size_t unit) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256 before = _mm256_load_ps(best->score);
    __m256 better = _mm256_cmp_ps(score, before, _CMP_GT_OQ);
    __m256i label = _mm256_add_epi32(_mm256_set1_epi32((int32_t)(8 * unit)), lane);
    __m256i old = _mm256_load_si256((const __m256i *)best->label);
    _mm256_store_ps(best->score, _mm256_max_ps(score, before));
    _mm256_store_si256((__m256i *)best->label, _mm256_blendv_epi8(old, label, _mm256_castps_si256(better)));
}

/* `rows` x `units` scores, for constants that the compiler unrolls. */
static inline __attribute__((always_inline)) void tile(const float *x, size_t dimension, const float *means,
                                                       size_t unit, running *best, const int rows, const int units) {
    __m256 sum[12];
    const float *m = means + unit * 8 * dimension;
#pragma GCC unroll 12
    for (int i = 0; i < rows * units; i++)
        sum[i] = _mm256_setzero_ps();
    for (size_t d = 0; d < dimension; d++, m += 8) {
        __m256 first = _mm256_load_ps(m), second = units > 1 ? _mm256_load_ps(m + 8 * dimension) : first;
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++) {
            __m256 component = _mm256_broadcast_ss(x + (size_t)r * dimension + d);
            sum[r * units] = _mm256_fmadd_ps(component, first, sum[r * units]);
            if (units > 1)
                sum[r * units + 1] = _mm256_fmadd_ps(component, second, sum[r * units + 1]);
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows * units; i++)
        keep_best(&best[i / units], sum[i], unit + (size_t)(i % units));
}

static void clear(running *best, size_t rows) {
    for (size_t r = 0; r < rows; r++)
        for (int j = 0; j < 8; j++) {
            best[r].score[j] = -4;
            best[r].label[j] = 0;
        }
}

/* Prefetches the next `bytes` bytes from *ahead on. Beyond the end of the array this does nothing. */
static inline void prefetch(const char **ahead, size_t bytes) {
    for (const char *end = *ahead + bytes; *ahead < end; *ahead += 64)
        _mm_prefetch(*ahead, _MM_HINT_T1);
}

/* Scores `rows` points, a multiple of 12, against all means. */
static void score_rows(const float *x, size_t rows, const bench_slice *s, running *best) {
    size_t units = unit_count(s->clusters), dimension = s->dimension;
    size_t step = 12 * dimension * sizeof(float) / units; /* of a block's bytes for each tile of 12 accumulators */
    const char *ahead = (const char *)(x + rows * dimension);
    clear(best, rows);
    for (size_t u = 0; u + 2 <= units; u += 2)
        for (size_t r = 0; r < rows; r += 6) {
            prefetch(&ahead, step);
            tile(x + r * dimension, dimension, s->packed, u, best + r, 6, 2);
        }
    if (units % 2)
        for (size_t r = 0; r < rows; r += 12)
            tile(x + r * dimension, dimension, s->packed, units - 1, best + r, 12, 1);
}

static int32_t reduce(const running *best) {
    float score = best->score[0];
    int32_t label = best->label[0];
    for (int j = 1; j < 8; j++)
        if (best->score[j] > score || (best->score[j] == score && best->label[j] < label)) {
            score = best->score[j];
            label = best->label[j];
        }
    return label;
}

/* sum += round(x 2^30): adding 1.5 * 2^22 leaves the integer in the low bits of the double, as in bare_small_avx2.c;
 * here the bits of the constant are subtracted at once, because there is no room to count them. */
void bench_add_row_avx2(const float *x, size_t dimension, int64_t *sum) {
    const __m256d magic = _mm256_set1_pd(6291456.0);
    size_t d = 0;
    for (; d + 4 <= dimension; d += 4) {
        __m256i v = _mm256_castpd_si256(_mm256_add_pd(_mm256_cvtps_pd(_mm_loadu_ps(x + d)), magic));
        v = _mm256_sub_epi64(v, _mm256_castpd_si256(magic));
        __m256i *own = (__m256i *)(sum + d);
        _mm256_storeu_si256(own, _mm256_add_epi64(_mm256_loadu_si256(own), v));
    }
    for (; d < dimension; d++)
        sum[d] += _mm_cvtss_si32(_mm_set_ss(x[d] * 0x1p30f));
}

static void finish_rows(const float *x, size_t rows, const bench_slice *s, size_t begin, const running *best) {
    for (size_t r = 0; r < rows; r++) {
        size_t k = (size_t)reduce(&best[r]);
        s->labels[begin + r] = (int32_t)k;
        s->counts[k]++;
        bench_add_row_avx2(x + r * s->dimension, s->dimension, s->sums + k * s->dimension);
    }
}

static void pass(const bench_slice *s, void *memory) {
    scratch *mine = memory;
    size_t begin = 0, dimension = s->dimension;
    while (s->count - begin >= 12) {
        size_t left = (s->count - begin) / 12 * 12, rows = left < ROWS ? left : ROWS;
        const float *x = s->points + begin * dimension;
        score_rows(x, rows, s, mine->best);
        finish_rows(x, rows, s, begin, mine->best);
        begin += rows;
    }
    size_t rest = s->count - begin; /* below 12: copied, so that a tile may read after them */
    memcpy(mine->rows, s->points + begin * dimension, rest * dimension * sizeof(float));
    score_rows(mine->rows, 12, s, mine->best);
    finish_rows(mine->rows, rest, s, begin, mine->best);
}

const bench_method bench_bare_wide = {.name = "avx2-tiles",
                                      .usable = usable,
                                      .packed_bytes = packed_bytes,
                                      .pack = pack,
                                      .scratch_bytes = scratch_bytes,
                                      .pass = pass};
