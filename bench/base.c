/* SPDX-License-Identifier: MIT
 *
 * The clock, repeated timings, memory and processor of the benchmark. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_samples_add(bench_samples *samples, double seconds) {
    if (samples->count < BENCH_MAX_REPETITIONS)
        samples->seconds[samples->count++] = seconds;
}

double bench_samples_min(const bench_samples *samples) {
    double least = samples->count ? samples->seconds[0] : 0;
    for (int i = 1; i < samples->count; i++)
        if (samples->seconds[i] < least)
            least = samples->seconds[i];
    return least;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_samples_median(const bench_samples *samples) {
    double sorted[BENCH_MAX_REPETITIONS];
    int n = samples->count;
    if (n == 0)
        return 0;
    memcpy(sorted, samples->seconds, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

double bench_quantile(const double *values, size_t count, double share) {
    if (count == 0)
        return 0;
    double *sorted = bench_alloc(count * sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    double position = share * (double)count;
    size_t rank = (size_t)position + ((double)(size_t)position < position);
    double value = sorted[rank > 0 ? rank - 1 : 0];
    free(sorted);
    return value;
}

void *bench_alloc(size_t bytes) {
    size_t size = (bytes / 64 + 1) * 64;
    void *memory = aligned_alloc(64, size);
    if (!memory)
        bench_die("there is no memory for %zu bytes", size);
    return memset(memory, 0, size);
}

size_t bench_status_bytes(const char *key) {
    char line[256], format[32];
    size_t kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    snprintf(format, sizeof format, "%s: %%zu kB", key);
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, format, &kilobytes) == 1)
            break;
    if (status)
        fclose(status);
    return kilobytes * 1024;
}

void bench_die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("asterism-bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void bench_part(size_t count, int worker, int workers, size_t *begin, size_t *end) {
    *begin = count * (size_t)worker / (size_t)workers;
    *end = count * (size_t)(worker + 1) / (size_t)workers;
}

uint64_t bench_hash_labels(uint64_t hash, const int32_t *labels, size_t count) {
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (uint32_t)labels[i]) * 0x100000001b3u;
    return hash;
}

int bench_has_avx2(void) {
#if defined(BENCH_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}
