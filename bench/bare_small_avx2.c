/* SPDX-License-Identifier: MIT
 *
 * The bare fused pass for D = 3 with AVX2 and FMA: sixteen points at a time against one mean after the other.
 *
 * Sums are scattered with one 256-bit addition per point: x, y, z (and the x of the next point, ignored) become doubles
 * and 1.5 * 2^22 is added. This rounds them to multiples of 2^-30 and leaves the integer x 2^30 in the low bits of the
 * double. Those bits are added as int64: the bits of the constant are added n times too, and because they are above bit
 * 48, the number of points can be computed from them when a block is flushed. Four copies of the accumulators, used in
 * turn, keep neighbours in the same cluster from waiting for each other's store. Tried and slower: masked int32 lanes
 * for each cluster (K = 6: 1.7 x), conversion to int32 and widening (1.05 x), labels for a block first and then its
 * sums (1.1 x: the two kinds of work overlap well, so the sums run sixteen points behind the labels). */
#include "bare.h"

#include <immintrin.h>

enum { GROUP = 16, COPIES = 4, BLOCK = 16384 };

#define MAGIC 6291456.0                /* 1.5 * 2^22 */
#define MAGIC_BITS 0x4158000000000000u /* its bits as a double: 8 * 0x82b * 2^48 */
#define MAGIC_INVERSE 5763u            /* of 0x82b modulo 2^13 */

typedef struct direction8 { /* eight points */
    __m256 x, y, z;
} direction8;

typedef struct packed_mean {
    float x[8], y[8], z[8];
    uint32_t offset[8]; /* of the cluster's accumulators, in bytes */
} packed_mean;

typedef struct accumulator { /* of one cluster */
    int64_t copy[COPIES][4];
} accumulator;

static int usable(size_t dimension) {
    return dimension == 3 && bench_has_avx2();
}

static size_t packed_bytes(size_t clusters, size_t dimension) {
    (void)dimension;
    return clusters * sizeof(packed_mean);
}

static void pack(const float *means, size_t clusters, size_t dimension, void *packed) {
    packed_mean *out = packed;
    (void)dimension;
    for (size_t k = 0; k < clusters; k++)
        for (int j = 0; j < 8; j++) {
            out[k].x[j] = means[3 * k];
            out[k].y[j] = means[3 * k + 1];
            out[k].z[j] = means[3 * k + 2];
            out[k].offset[j] = (uint32_t)(k * sizeof(accumulator));
        }
}

static size_t scratch_bytes(size_t clusters, size_t dimension) {
    (void)dimension;
    return clusters * sizeof(accumulator);
}

/* Eight rows x y z to three vectors. */
static inline direction8 load_points(const float *p) {
    __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + 12), 1);
    __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 4)), _mm_loadu_ps(p + 16), 1);
    __m256 c = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 8)), _mm_loadu_ps(p + 20), 1);
    __m256 xy = _mm256_shuffle_ps(b, c, _MM_SHUFFLE(2, 1, 3, 2)); /* x2 y2 x3 y3 */
    __m256 yz = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 2, 1)); /* y0 z0 y1 z1 */
    direction8 points;
    points.x = _mm256_shuffle_ps(a, xy, _MM_SHUFFLE(2, 0, 3, 0));
    points.y = _mm256_shuffle_ps(yz, xy, _MM_SHUFFLE(3, 1, 2, 0));
    points.z = _mm256_shuffle_ps(yz, c, _MM_SHUFFLE(3, 0, 3, 1));
    return points;
}

static inline __m256 score(const direction8 *points, __m256 x, __m256 y, __m256 z) {
    return _mm256_fmadd_ps(points->z, z, _mm256_fmadd_ps(points->y, y, _mm256_mul_ps(points->x, x)));
}

/* Offsets of the nearest mean's accumulators for sixteen points; the first of equal scores wins. */
static inline void nearest(const float *p, const packed_mean *means, size_t clusters, __m256i offset[2]) {
    direction8 points[2] = {load_points(p), load_points(p + 24)};
    __m256 x0 = _mm256_load_ps(means->x), y0 = _mm256_load_ps(means->y), z0 = _mm256_load_ps(means->z);
    __m256 best[2] = {score(&points[0], x0, y0, z0), score(&points[1], x0, y0, z0)};
    offset[0] = offset[1] = _mm256_setzero_si256();
#pragma GCC unroll 2
    for (size_t k = 1; k < clusters; k++) {
        __m256 x = _mm256_load_ps(means[k].x), y = _mm256_load_ps(means[k].y), z = _mm256_load_ps(means[k].z);
        __m256i own = _mm256_load_si256((const __m256i *)means[k].offset);
#pragma GCC unroll 2
        for (int g = 0; g < 2; g++) {
            __m256 s = score(&points[g], x, y, z);
            __m256i nearer = _mm256_castps_si256(_mm256_cmp_ps(s, best[g], _CMP_GT_OQ));
            best[g] = _mm256_max_ps(s, best[g]);
            offset[g] = _mm256_blendv_epi8(offset[g], own, nearer);
        }
    }
}

/* Reads one float after the last of the sixteen points. */
static inline void scatter(const float *p, const uint32_t *offset, char *accumulators) {
    const __m256d magic = _mm256_set1_pd(MAGIC);
#pragma GCC unroll 16
    for (int i = 0; i < GROUP; i++) {
        __m256i v = _mm256_castpd_si256(_mm256_add_pd(_mm256_cvtps_pd(_mm_loadu_ps(p + 3 * i)), magic));
        __m256i *own = (__m256i *)(accumulators + offset[i] + 32 * (i % COPIES));
        _mm256_store_si256(own, _mm256_add_epi64(_mm256_load_si256(own), v));
    }
}

/* Removes the constants: sum = n MAGIC_BITS + the integers, modulo 2^64, with |integers| < 2^43 here. */
static void flush(const bench_slice *s, accumulator *accumulators) {
    for (size_t k = 0; k < s->clusters; k++)
        for (int c = 0; c < COPIES; c++) {
            int64_t *own = accumulators[k].copy[c];
            uint64_t top = ((uint64_t)own[0] + (1ull << 47)) >> 48;
            uint64_t n = (top >> 3) * MAGIC_INVERSE % 8192;
            s->counts[k] += (int64_t)n;
            for (int d = 0; d < 3; d++)
                s->sums[3 * k + (size_t)d] += (int64_t)((uint64_t)own[d] - n * MAGIC_BITS);
            own[0] = own[1] = own[2] = own[3] = 0;
        }
}

/* Whole groups only, and not the last group of the array. */
static void pass_block(const bench_slice *s, size_t begin, size_t end, accumulator *accumulators) {
    _Alignas(32) uint32_t offsets[2][GROUP];
    _Static_assert(sizeof(accumulator) == 128, "labels are offsets / 128");
    for (size_t i = begin, turn = 0; i < end; i += GROUP, turn ^= 1) {
        __m256i offset[2];
        nearest(s->points + 3 * i, s->packed, s->clusters, offset);
        for (int g = 0; g < 2; g++) {
            _mm256_store_si256((__m256i *)(offsets[turn] + 8 * g), offset[g]);
            _mm256_storeu_si256((__m256i *)(s->labels + i + 8 * g), _mm256_srli_epi32(offset[g], 7));
        }
        if (i > begin)
            scatter(s->points + 3 * (i - GROUP), offsets[turn ^ 1], (char *)accumulators);
    }
    if (end > begin)
        scatter(s->points + 3 * (end - GROUP), offsets[((end - begin) / GROUP - 1) % 2], (char *)accumulators);
    flush(s, accumulators);
}

static void pass(const bench_slice *s, void *scratch) {
    size_t whole = s->count ? (s->count - 1) / GROUP * GROUP : 0;
    for (size_t begin = 0; begin < whole; begin += BLOCK)
        pass_block(s, begin, begin + BLOCK < whole ? begin + BLOCK : whole, scratch);
    bench_slice rest = *s; /* the last 1..16 points */
    rest.points += 3 * whole;
    rest.labels += whole;
    rest.count -= whole;
    bench_bare_plain.pass(&rest, NULL);
}

const bench_method bench_bare_small = {.name = "avx2-3d",
                                       .usable = usable,
                                       .packed_bytes = packed_bytes,
                                       .pack = pack,
                                       .scratch_bytes = scratch_bytes,
                                       .pass = pass};
