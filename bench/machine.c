/* SPDX-License-Identifier: MIT
 *
 * Memory bandwidth and arithmetic peak. Each call is one measurement: the caller repeats it and keeps the best. */
#include "machine.h"

#include <stdlib.h>

typedef float floats __attribute__((vector_size(16)));

typedef struct stream {
    floats *a, *b, *c;
    size_t count;                      /* vectors in each */
    float seen[BENCH_MAX_THREADS][16]; /* one cache line each: workers must not share lines */
} stream;

/* Kept between calls, so that pages are mapped once and allocation is not timed. */
static stream *open_stream(size_t count, int arrays) {
    stream *s = bench_alloc(sizeof *s);
    s->count = count;
    s->a = bench_alloc(count * sizeof(floats));
    s->b = arrays > 1 ? bench_alloc(count * sizeof(floats)) : NULL;
    s->c = arrays > 2 ? bench_alloc(count * sizeof(floats)) : NULL;
    return s;
}

static void close_stream(stream *s) {
    free(s->a);
    free(s->b);
    free(s->c);
    free(s);
}

static void read_job(void *data, int worker, int workers) {
    stream *s = data;
    size_t begin, end;
    floats sum[4] = {{0}};
    bench_part(s->count / 4, worker, workers, &begin, &end);
    for (size_t i = 4 * begin; i < 4 * end; i += 4) {
        sum[0] += s->a[i];
        sum[1] += s->a[i + 1];
        sum[2] += s->a[i + 2];
        sum[3] += s->a[i + 3];
    }
    floats total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    s->seen[worker][0] = total[0] + total[1];
}

static void triad_job(void *data, int worker, int workers) {
    stream *s = data;
    size_t begin, end;
    bench_part(s->count, worker, workers, &begin, &end);
    for (size_t i = begin; i < end; i++)
        s->a[i] = s->b[i] + 3.0f * s->c[i];
}

static double timed_bandwidth(bench_team *team, size_t bytes, int arrays, bench_job *job) {
    stream *s = open_stream(bytes / sizeof(floats) / (size_t)arrays, arrays);
    bench_team_run(team, job, s); /* warm-up: every page is touched by the thread that uses it */
    double best = 0;
    for (int i = 0; i < 3; i++) {
        double begin = bench_now();
        bench_team_run(team, job, s);
        double rate = (double)s->count * sizeof(floats) * arrays / (bench_now() - begin);
        best = rate > best ? rate : best;
    }
    close_stream(s);
    return best;
}

double bench_read_bandwidth(bench_team *team, size_t bytes) {
    return timed_bandwidth(team, bytes, 1, read_job);
}

double bench_triad_bandwidth(bench_team *team, size_t bytes) {
    return timed_bandwidth(team, bytes, 3, triad_job);
}

/* ---- Arithmetic ------------------------------------------------------------------------------------------------- */

enum { ROUNDS = 1000000 };

/* Without FMA: twelve chains of a multiplication and an addition, the same number of operations per round. */
static float plain_rounds(size_t rounds) {
    floats sum[24];
    for (int i = 0; i < 24; i++)
        sum[i] = (floats){0, 1, 2, 3};
    const floats scale = {0.5f, 0.5f, 0.5f, 0.5f};
    for (size_t r = 0; r < rounds; r++) {
#pragma GCC unroll 24
        for (int i = 0; i < 24; i++)
            sum[i] = sum[i] * scale + scale;
    }
    floats total = sum[0];
    for (int i = 1; i < 24; i++)
        total += sum[i];
    return total[0] + total[3];
}

static void multiply_add_job(void *data, int worker, int workers) {
    float *kept = data;
    (void)workers;
#if defined(BENCH_AVX2)
    if (bench_has_avx2()) {
        kept[16 * worker] = bench_fma_rounds_avx2(ROUNDS);
        return;
    }
#endif
    kept[16 * worker] = plain_rounds(ROUNDS);
}

double bench_multiply_add_peak(bench_team *team) {
    float kept[16 * BENCH_MAX_THREADS];
    double begin = bench_now();
    bench_team_run(team, multiply_add_job, kept);
    return (double)ROUNDS * BENCH_FMA_PER_ROUND * bench_team_threads(team) / (bench_now() - begin);
}
