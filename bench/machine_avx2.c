/* SPDX-License-Identifier: MIT
 *
 * The FMA peak, with intrinsics: twelve independent chains hide the latency of two units of four cycles. */
#include "machine.h"

#include <immintrin.h>

float bench_fma_rounds_avx2(size_t rounds) {
    __m256 sum[12];
    const __m256 scale = _mm256_set1_ps(0.5f);
    for (int i = 0; i < 12; i++)
        sum[i] = _mm256_set1_ps((float)i);
    for (size_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++)
            sum[i] = _mm256_fmadd_ps(sum[i], scale, scale);
    }
    __m256 total = sum[0];
    for (int i = 1; i < 12; i++)
        total = _mm256_add_ps(total, sum[i]);
    return _mm256_cvtss_f32(total);
}
