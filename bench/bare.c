/* SPDX-License-Identifier: MIT
 *
 * The bare fused pass: how a pass is split, merged and checked, and the plain method. */
#include "bare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_NOW 3

typedef struct part {
    int64_t *sums;   /* (K, D) */
    int64_t *counts; /* (K) */
    void *scratch;
} part;

struct bench_bare {
    const bench_method *method;
    bench_slice whole; /* the pass over all points; its sums are those of the last run */
    void *packed;
    part parts[BENCH_MAX_THREADS]; /* allocated when a team first needs them */
};

/* ---- Methods ---------------------------------------------------------------------------------------------------- */

const bench_method *const *bench_bare_methods(size_t dimension) {
    static const bench_method *const all[] = {
#if defined(BENCH_AVX2)
        &bench_bare_small,
        &bench_bare_wide,
#endif
        &bench_bare_blas,
        NULL,
    };
    static const bench_method *usable[BENCH_MAX_METHODS + 1];
    size_t n = 0;
    for (size_t i = 0; all[i]; i++)
        if (all[i]->usable(dimension))
            usable[n++] = all[i];
    if (n == 0)
        usable[n++] = &bench_bare_plain;
    usable[n] = NULL;
    return usable;
}

static int always(size_t dimension) {
    (void)dimension;
    return 1;
}

static size_t nothing(size_t clusters, size_t dimension) {
    (void)clusters;
    (void)dimension;
    return 0;
}

static int32_t plain_label(const bench_slice *s, const float *x) {
    float best = -2;
    int32_t label = 0;
    for (size_t k = 0; k < s->clusters; k++) {
        const float *mean = s->means + k * s->dimension;
        float score = 0;
        for (size_t d = 0; d < s->dimension; d++)
            score += x[d] * mean[d];
        if (score > best) {
            best = score;
            label = (int32_t)k;
        }
    }
    return label;
}

void bench_add_row(const float *x, size_t dimension, int64_t *sum) {
#if defined(BENCH_AVX2)
    if (dimension >= 16 && bench_has_avx2()) {
        bench_add_row_avx2(x, dimension, sum);
        return;
    }
#endif
    for (size_t d = 0; d < dimension; d++)
        sum[d] += (int64_t)lrintf(x[d] * 0x1p30f);
}

static void plain_pass(const bench_slice *s, void *scratch) {
    (void)scratch;
    for (size_t i = 0; i < s->count; i++) {
        const float *x = s->points + i * s->dimension;
        size_t k = (size_t)plain_label(s, x);
        s->labels[i] = (int32_t)k;
        s->counts[k]++;
        bench_add_row(x, s->dimension, s->sums + k * s->dimension);
    }
}

const bench_method bench_bare_plain = {.name = "plain", .usable = always, .scratch_bytes = nothing, .pass = plain_pass};

/* ---- A pass ----------------------------------------------------------------------------------------------------- */

bench_bare *bench_bare_open(const bench_method *method, const float *points, size_t count, size_t dimension,
                            const float *means, size_t clusters) {
    bench_bare *bare = bench_alloc(sizeof *bare);
    bare->method = method;
    if (method->pack) {
        bare->packed = bench_alloc(method->packed_bytes(clusters, dimension));
        method->pack(means, clusters, dimension, bare->packed);
    }
    bare->whole = (bench_slice){.points = points,
                                .count = count,
                                .dimension = dimension,
                                .clusters = clusters,
                                .means = means,
                                .packed = bare->packed};
    bare->whole.labels = bench_alloc(count * sizeof(int32_t));
    bare->whole.sums = bench_alloc(clusters * dimension * sizeof(int64_t));
    bare->whole.counts = bench_alloc(clusters * sizeof(int64_t));
    return bare;
}

void bench_bare_close(bench_bare *bare) {
    if (!bare)
        return;
    for (int i = 0; i < BENCH_MAX_THREADS; i++) {
        free(bare->parts[i].sums);
        free(bare->parts[i].counts);
        free(bare->parts[i].scratch);
    }
    free(bare->whole.labels);
    free(bare->whole.sums);
    free(bare->whole.counts);
    free(bare->packed);
    free(bare);
}

static void make_parts(bench_bare *bare, int workers) {
    size_t clusters = bare->whole.clusters, dimension = bare->whole.dimension;
    for (int i = 0; i < workers; i++) {
        if (bare->parts[i].sums)
            continue;
        bare->parts[i].sums = bench_alloc(clusters * dimension * sizeof(int64_t));
        bare->parts[i].counts = bench_alloc(clusters * sizeof(int64_t));
        bare->parts[i].scratch = bench_alloc(bare->method->scratch_bytes(clusters, dimension));
    }
}

static void pass_job(void *data, int worker, int workers) {
    bench_bare *bare = data;
    size_t begin, end;
    bench_part(bare->whole.count, worker, workers, &begin, &end);
    bench_slice slice = bare->whole;
    slice.points += begin * slice.dimension;
    slice.labels += begin;
    slice.count = end - begin;
    slice.sums = bare->parts[worker].sums;
    slice.counts = bare->parts[worker].counts;
    memset(slice.sums, 0, slice.clusters * slice.dimension * sizeof *slice.sums);
    memset(slice.counts, 0, slice.clusters * sizeof *slice.counts);
    bare->method->pass(&slice, bare->parts[worker].scratch);
}

static void merge(bench_bare *bare, int workers) {
    bench_slice *whole = &bare->whole;
    size_t numbers = whole->clusters * whole->dimension;
    memcpy(whole->sums, bare->parts[0].sums, numbers * sizeof *whole->sums);
    memcpy(whole->counts, bare->parts[0].counts, whole->clusters * sizeof *whole->counts);
    for (int w = 1; w < workers; w++) {
        for (size_t i = 0; i < numbers; i++)
            whole->sums[i] += bare->parts[w].sums[i];
        for (size_t k = 0; k < whole->clusters; k++)
            whole->counts[k] += bare->parts[w].counts[k];
    }
}

double bench_bare_run(bench_bare *bare, bench_team *team) {
    int workers = bench_team_threads(team);
    make_parts(bare, workers);
    double begin = bench_now();
    bench_team_run(team, pass_job, bare);
    merge(bare, workers);
    return bench_now() - begin;
}

double bench_bare_now(bench_bare *bare, int threads) {
    bench_team *team = bench_team_open(threads);
    double best = bench_bare_run(bare, team);
    for (int i = 1; i < RUNS_NOW; i++) {
        double seconds = bench_bare_run(bare, team);
        best = seconds < best ? seconds : best;
    }
    bench_team_close(team);
    return best;
}

const int32_t *bench_bare_labels(const bench_bare *bare) {
    return bare->whole.labels;
}

/* ---- The check -------------------------------------------------------------------------------------------------- */

static double exact_score(const bench_slice *s, size_t i, size_t k) {
    double score = 0;
    for (size_t d = 0; d < s->dimension; d++)
        score += (double)s->points[i * s->dimension + d] * s->means[k * s->dimension + d];
    return score;
}

/* Scores of unit vectors have errors of at most D roundings; a label within them is as good as exact for the work of a
 * pass. */
static void check_label(const bench_slice *s, size_t i, const char *method) {
    double own = exact_score(s, i, (size_t)s->labels[i]), allowed = 0x1p-23 * (double)(s->dimension + 2);
    for (size_t k = 0; k < s->clusters; k++)
        if (exact_score(s, i, k) > own + allowed)
            bench_die("bare pass (%s): point %zu has label %d but mean %zu is nearer", method, i, s->labels[i], k);
}

void bench_bare_check(const bench_bare *bare) {
    const bench_slice *s = &bare->whole;
    size_t numbers = s->clusters * s->dimension, step = s->count / 20000 + 1;
    int64_t *sums = bench_alloc(numbers * sizeof *sums), *counts = bench_alloc(s->clusters * sizeof *counts);
    for (size_t i = 0; i < s->count; i++) {
        size_t k = (size_t)s->labels[i];
        if (k >= s->clusters)
            bench_die("bare pass (%s): point %zu has label %d", bare->method->name, i, s->labels[i]);
        counts[k]++;
        for (size_t d = 0; d < s->dimension; d++)
            sums[k * s->dimension + d] += (int64_t)lrintf(s->points[i * s->dimension + d] * 0x1p30f);
    }
    for (size_t i = 0; i < s->count; i += step)
        check_label(s, i, bare->method->name);
    if (memcmp(sums, s->sums, numbers * sizeof *sums) != 0 ||
        memcmp(counts, s->counts, s->clusters * sizeof *counts) != 0)
        bench_die("bare pass (%s): the sums are not those of the labels", bare->method->name);
    free(sums);
    free(counts);
}
