/* SPDX-License-Identifier: MIT
 *
 * Repetitions: limits, bare passes and runs of the library alternate, so that a slow moment of the machine affects all
 * of them. The spinning team exists only during a bare pass: it would take a processor from the library. */
#include "measure.h"

#include "machine.h"

#include <asterism.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BANDWIDTH_BYTES ((size_t)192 << 20) /* far more than any cache */
#define BARE_SECONDS 0.02                   /* short passes are repeated for this long in each repetition */
#define BARE_PASSES 24 /* and at least this often: some should hit a quiet moment of a busy machine */

typedef struct state {
    ast_context *context;
    bench_bare *bare[BENCH_MAX_METHODS];
    int32_t *labels;
    float *final_means; /* of the cold run */
    size_t final_count;
} state;

/* ---- The machine ------------------------------------------------------------------------------------------------ */

static void keep_most(double *most, double value) {
    *most = value > *most ? value : *most;
}

void bench_limits_repeat(bench_limits *limits) {
    bench_team *team = bench_team_open(limits->threads);
    for (int i = 0; i < 5; i++)
        keep_most(&limits->multiply_add, bench_multiply_add_peak(team));
    keep_most(&limits->read, bench_read_bandwidth(team, BANDWIDTH_BYTES));
    keep_most(&limits->triad, bench_triad_bandwidth(team, BANDWIDTH_BYTES));
    bench_team_close(team);
}

/* ---- The bare pass ---------------------------------------------------------------------------------------------- */

static void repeat_method(bench_result *result, int m, bench_team *team) {
    state *s = result->state;
    double best = bench_bare_run(s->bare[m], team), spent = best;
    for (int passes = 1; spent < BARE_SECONDS || (passes < BARE_PASSES && best < BARE_SECONDS / 4); passes++) {
        double seconds = bench_bare_run(s->bare[m], team);
        best = seconds < best ? seconds : best;
        spent += seconds;
    }
    if (result->bare[m].count == 0)
        bench_bare_check(s->bare[m]);
    bench_samples_add(&result->bare[m], best);
}

void bench_result_repeat_bare(bench_result *result) {
    bench_team *team = bench_team_open(result->threads);
    for (int m = 0; m < result->methods; m++)
        repeat_method(result, m, team);
    bench_team_close(team);
}

int bench_bare_best(const bench_result *result) {
    int best = 0;
    for (int m = 1; m < result->methods; m++)
        if (bench_samples_min(&result->bare[m]) < bench_samples_min(&result->bare[best]))
            best = m;
    return best;
}

double bench_bare_seconds(const bench_result *result) {
    return bench_samples_min(&result->bare[bench_bare_best(result)]);
}

/* ---- Runs of the library ---------------------------------------------------------------------------------------- */

const char *bench_run_name(int kind) {
    static const char *const names[BENCH_RUNS] = {"cold", "cold, no bounds", "warm", "warm, no bounds",
                                                  "spkm", "spkm, no bounds"};
    return names[kind];
}

/* What is measured for each workload: births matter in three dimensions, bounds and k-means in many. */
static int wanted(const bench_result *result, int kind) {
    int wide = result->workload->dimension > 3;
    return kind == BENCH_COLD || kind == BENCH_COLD_UNBOUNDED || kind == BENCH_WARM ||
           (wide ? kind >= BENCH_SPKM : kind == BENCH_WARM_UNBOUNDED);
}

static int note_pass(const ast_progress *progress, void *data) {
    bench_run *run = data;
    int index = progress->iteration - 1;
    if (index < 0) /* the starts of k-means++ are not passes */
        return 0;
    if (index >= run->room) {
        int room = 2 * index + 16;
        bench_pass *grown = bench_alloc((size_t)room * sizeof *grown);
        if (run->pass)
            memcpy(grown, run->pass, (size_t)run->room * sizeof *grown);
        free(run->pass);
        run->pass = grown;
        run->room = room;
    }
    bench_pass *pass = &run->pass[index];
    pass->changed = progress->changed;
    pass->scored = progress->scored;
    pass->clusters = progress->clusters;
    bench_samples_add(&pass->time, progress->seconds);
    return 0;
}

static ast_options options_of(const bench_result *result, int kind, bench_run *run) {
    const bench_workload *w = result->workload;
    const state *s = result->state;
    ast_options options;
    ast_options_init(&options);
    options.method = kind >= BENCH_SPKM ? AST_SPKM : AST_DP;
    options.bounds = kind == BENCH_COLD || kind == BENCH_WARM || kind == BENCH_SPKM;
    options.max_iterations = 1000;
    options.progress = note_pass;
    options.progress_data = run;
    if (options.method == AST_DP)
        options.angle = w->angle;
    if (kind == BENCH_WARM || kind == BENCH_WARM_UNBOUNDED || options.method == AST_SPKM) {
        options.start.by = AST_GIVEN;
        options.start.means = options.method == AST_SPKM ? w->start : s->final_means;
        options.start.means_count = options.method == AST_SPKM ? w->clusters : s->final_count;
    }
    return options;
}

static void keep_final_means(bench_result *result, size_t clusters) {
    state *s = result->state;
    size_t bytes = clusters * result->workload->dimension * sizeof(float);
    if (s->final_means)
        return;
    s->final_means = bench_alloc(bytes);
    memcpy(s->final_means, ast_means(s->context), bytes);
    s->final_count = clusters;
}

static void repeat_run(bench_result *result, int kind) {
    const bench_workload *w = result->workload;
    state *s = result->state;
    bench_run *run = &result->run[kind];
    ast_points points = ast_points_f4(w->points, w->count, w->dimension);
    ast_options options = options_of(result, kind, run);
    ast_report report = {.size = sizeof report};
    double begin = bench_now();
    if (ast_cluster(s->context, &points, &options, s->labels, &report) != AST_OK)
        bench_die("%s, %s: %s", w->name, bench_run_name(kind), ast_message(s->context));
    double seconds = bench_now() - begin;
    bench_samples_add(&run->total, seconds);
    run->spent += seconds;
    run->passes = report.iterations;
    run->clusters = report.clusters;
    run->objective = report.objective;
    run->converged = report.converged;
    run->labels_hash = bench_hash_labels(BENCH_HASH_START, s->labels, w->count);
    if (kind == BENCH_COLD)
        keep_final_means(result, report.clusters);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

void bench_result_open(bench_result *result, const bench_workload *workload, int threads) {
    *result = (bench_result){.workload = workload, .threads = threads};
    state *s = result->state = bench_alloc(sizeof *s);
    ast_open(&s->context, threads);
    if (!s->context)
        bench_die("a context of %d threads could not be opened", threads);
    result->instruction_set = ast_instruction_set(s->context);
    s->labels = bench_alloc(workload->count * sizeof *s->labels);
    for (const bench_method *const *m = bench_bare_methods(workload->dimension); *m; m++) {
        int i = result->methods++;
        result->method[i] = *m;
        s->bare[i] = bench_bare_open(*m, workload->points, workload->count, workload->dimension, workload->means,
                                     workload->clusters);
    }
}

void bench_result_repeat(bench_result *result, double patience) {
    bench_result_repeat_bare(result);
    for (int kind = 0; kind < BENCH_RUNS; kind++)
        if (wanted(result, kind) && result->run[kind].spent <= patience)
            repeat_run(result, kind);
}

void bench_result_close(bench_result *result) {
    state *s = result->state;
    if (!s)
        return;
    for (int m = 0; m < result->methods; m++)
        bench_bare_close(s->bare[m]);
    ast_close(s->context);
    free(s->labels);
    free(s->final_means);
    free(s);
    result->state = NULL;
}

void bench_result_free(bench_result *result) {
    bench_result_close(result);
    for (int kind = 0; kind < BENCH_RUNS; kind++)
        free(result->run[kind].pass);
}
