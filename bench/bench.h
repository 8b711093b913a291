/* SPDX-License-Identifier: MIT
 *
 * What all files of asterism-bench share: the clock, repeated timings, a team of threads. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_MAX_THREADS 64
#define BENCH_MAX_REPETITIONS 101

/* ---- Time ------------------------------------------------------------------------------------------------------- */

double bench_now(void); /* seconds of a monotonic clock */

/* Seconds of repetitions of one measurement. */
typedef struct bench_samples {
    int count;
    double seconds[BENCH_MAX_REPETITIONS];
} bench_samples;

void bench_samples_add(bench_samples *samples, double seconds);
double bench_samples_min(const bench_samples *samples);    /* 0 if empty */
double bench_samples_median(const bench_samples *samples); /* 0 if empty */

/* The value at a share of the sorted values, nearest rank; 0 if empty. */
double bench_quantile(const double *values, size_t count, double share);

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* Never NULL: prints a sentence and exits if memory runs out. Aligned to 64 bytes, zeroed; release with free(). */
void *bench_alloc(size_t bytes);

/* A number of /proc/self/status, such as VmHWM, the peak of resident memory; 0 if it is not there. */
size_t bench_status_bytes(const char *key);

/* One sentence on stderr, then exit 1. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- Labels ----------------------------------------------------------------------------------------------------- */

/* FNV-1a over the labels: the same for every run that must agree. */
#define BENCH_HASH_START 0xcbf29ce484222325u
uint64_t bench_hash_labels(uint64_t hash, const int32_t *labels, size_t count);

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

/* Fork and join with spinning barriers, so that the limits of the machine do not include the cost of waking a thread.
 * It is not the library's pool, which is what is measured. */
typedef struct bench_team bench_team;
typedef void bench_job(void *data, int worker, int workers);

bench_team *bench_team_open(int threads); /* including the caller */
void bench_team_close(bench_team *team);
int bench_team_threads(const bench_team *team);
void bench_team_run(bench_team *team, bench_job *job, void *data);

/* The part [*begin, *end) of `count` items for one worker. */
void bench_part(size_t count, int worker, int workers, size_t *begin, size_t *end);

/* Whether this processor, and this build, have AVX2 and FMA. */
int bench_has_avx2(void);

#endif
