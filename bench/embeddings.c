/* SPDX-License-Identifier: MIT
 *
 * Every run of the library is a process of its own, so that its peak memory is its own: the points, which it shares
 * with this process, and what the library adds. Runs with and without bounds take turns. */
#include "embeddings.h"

#include "bare.h"

#include <asterism.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define W7_ANGLE 60

/* What a run's process and this one share. */
typedef struct shared {
    bench_embedding_run run;
    int32_t labels[]; /* (count) */
} shared;

/* Runs of the library. */
enum { SPKM, DP, ASSIGN };

typedef struct job {
    const bench_embedding_points *points;
    const float *means; /* the start, or what to assign to */
    size_t means_count;
    int kind, bounds, iterations, threads;
} job;

/* ---- One run ----------------------------------------------------------------------------------------------------- */

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int note_pass(const ast_progress *progress, void *data) {
    bench_embedding_run *run = data;
    int index = progress->iteration - 1;
    if (index >= 0 && index < BENCH_EMBEDDING_PASSES)
        run->pass_seconds[index] = progress->seconds;
    run->scores += (double)progress->products;
    return 0;
}

static void cluster(const job *j, ast_context *context, const ast_points *points, shared *s) {
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_options_init(&options);
    options.bounds = j->bounds;
    options.progress = note_pass;
    options.progress_data = &s->run;
    if (j->kind == DP)
        options.angle = W7_ANGLE;
    else {
        options.method = AST_SPKM;
        options.start.by = AST_GIVEN;
        options.start.means = j->means;
        options.start.means_count = j->means_count;
        options.max_iterations = j->iterations;
    }
    if (ast_cluster(context, points, &options, s->labels, &report) != AST_OK)
        bench_die("%s: %s", j->points->name, ast_message(context));
    s->run.passes = report.iterations;
    s->run.clusters = report.clusters;
    s->run.objective = report.objective;
    s->run.scores /= (double)points->count * report.iterations;
}

static void assign(const job *j, ast_context *context, const ast_points *points, shared *s) {
    ast_assign_options options = ast_assign_to(j->means, j->means_count);
    if (ast_assign(context, points, &options, s->labels, NULL) != AST_OK)
        bench_die("%s: %s", j->points->name, ast_message(context));
    s->run.passes = 1;
    s->run.clusters = j->means_count;
}

static void run_library(const job *j, shared *s) {
    ast_points points = ast_points_f4(j->points->points, j->points->count, j->points->dimension);
    ast_context *context;
    s->run = (bench_embedding_run){.before = bench_status_bytes("VmRSS")};
    double begin = bench_now(), used = processor_seconds();
    ast_open(&context, j->threads);
    if (!context)
        bench_die("no context could be opened");
    (j->kind == ASSIGN ? assign : cluster)(j, context, &points, s);
    s->run.seconds = bench_now() - begin;
    s->run.processor = processor_seconds() - used;
    s->run.labels_hash = bench_hash_labels(BENCH_HASH_START, s->labels, points.count);
    s->run.peak = bench_status_bytes("VmHWM");
    ast_close(context);
}

static shared *share_labels(size_t count) {
    void *memory =
        mmap(NULL, sizeof(shared) + count * sizeof(int32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_die("there is no memory for %zu labels", count);
    return memory;
}

/* The labels of the last run stay in `s`, the numbers of the fastest in `best`. */
static void run_process(const job *j, shared *s, bench_embedding_run *best) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_library(j, s);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        bench_die("%s: the process of a run failed", j->points->name);
    if (best->seconds == 0 || s->run.seconds < best->seconds)
        *best = s->run;
}

/* ---- The bare pass ----------------------------------------------------------------------------------------------- */

/* Keeps the fastest method and time; with `s`, compares the labels with those in it. */
static void run_bare(const bench_embedding_points *p, bench_embedding_result *result, int threads, const shared *s) {
    for (const bench_method *const *m = bench_bare_methods(p->dimension); *m; m++) {
        bench_bare *bare = bench_bare_open(*m, p->points, p->count, p->dimension, p->means, p->means_count);
        bench_team *team = bench_team_open(threads);
        double used = processor_seconds(), seconds = bench_bare_run(bare, team);
        used = processor_seconds() - used;
        bench_team_close(team);
        result->bare = result->bare > 0 ? fmin(result->bare, seconds) : seconds;
        result->bare_processor = result->bare_processor > 0 ? fmin(result->bare_processor, used) : used;
        result->differing = 0;
        for (size_t i = 0; s && i < p->count; i++)
            result->differing += s->labels[i] != bench_bare_labels(bare)[i];
        bench_bare_close(bare);
    }
}

/* ---- Workloads --------------------------------------------------------------------------------------------------- */

static bench_embedding_result *add_result(bench_embeddings *e, const bench_embedding_points *p, size_t clusters) {
    bench_embedding_result *result = &e->result[e->result_count++];
    *result = (bench_embedding_result){
        .set = p->set, .whole = p->whole, .count = p->count, .dimension = p->dimension, .clusters = clusters};
    fprintf(stderr, "%s: %zu x %zu, K = %zu\n", p->name, p->count, p->dimension, clusters);
    return result;
}

static void run_kmeans(bench_embeddings *e, const bench_embedding_points *p, size_t clusters, int repetitions) {
    bench_embedding_result *result = add_result(e, p, clusters);
    float *start = bench_embedding_start(p, clusters);
    shared *s = share_labels(p->count);
    job with = {.points = p,
                .means = start,
                .means_count = clusters,
                .kind = SPKM,
                .bounds = 1,
                .iterations = p->iterations,
                .threads = e->threads};
    job without = with;
    without.bounds = 0;
    for (int r = 0; r < repetitions; r++) {
        run_process(&with, s, &result->bounds);
        run_process(&without, s, &result->brute);
    }
    munmap(s, sizeof *s + p->count * sizeof *s->labels);
    free(start);
}

static void run_known(bench_embeddings *e, const bench_embedding_points *p, int repetitions) {
    bench_embedding_result *result = add_result(e, p, p->means_count);
    shared *s = share_labels(p->count);
    job run = {.points = p,
               .means = p->means,
               .means_count = p->means_count,
               .kind = p->set == BENCH_W7 ? DP : ASSIGN,
               .bounds = 1,
               .threads = e->threads};
    job brute = run;
    brute.kind = SPKM;
    brute.bounds = 0;
    brute.iterations = 1;
    for (int r = 0; r < repetitions; r++) {
        if (p->set == BENCH_W7)
            run_process(&brute, s, &result->brute);
        run_process(&run, s, &result->bounds);
        run_bare(p, result, e->threads, p->set == BENCH_W8 ? s : NULL);
    }
    munmap(s, sizeof *s + p->count * sizeof *s->labels);
}

void bench_embeddings_run(bench_embeddings *e, int set, size_t rows, int threads, int repetitions) {
    bench_embedding_points points;
    e->threads = threads;
    bench_embedding_make(&points, set, rows, threads);
    for (int c = 0; c < 2 && points.clusters[c]; c++)
        run_kmeans(e, &points, points.clusters[c], repetitions);
    if (points.means)
        run_known(e, &points, repetitions);
    bench_embedding_free(&points);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static int same(const bench_embedding_result *r) {
    return r->bounds.labels_hash == r->brute.labels_hash && r->bounds.objective == r->brute.objective;
}

int bench_embeddings_agree(const bench_embeddings *e) {
    for (int i = 0; i < e->result_count; i++)
        if (e->result[i].bare == 0 && !same(&e->result[i]))
            return 0;
    return 1;
}

/* Only for all points: otherwise constant costs would dominate. */
void bench_embeddings_goals(const bench_embeddings *e, bench_goals *goals) {
    for (int i = 0; i < e->result_count; i++) {
        const bench_embedding_result *r = &e->result[i];
        const char *name = bench_embedding_name(r->set);
        if (!r->whole || e->threads != 2)
            continue;
        if (r->set == BENCH_W5_UNIFORM)
            bench_goals_add(goals, 1.05, r->bounds.seconds / r->brute.seconds, 0,
                            "%s, K = %zu: with bounds / without, no structure", name, r->clusters);
        if (r->set == BENCH_W7)
            bench_goals_add(goals, 3, r->bounds.seconds / r->brute.seconds, 0,
                            "%s: dp from nothing, in brute-force passes over %zu means", name, r->clusters);
        if (r->set == BENCH_W8)
            bench_goals_add(goals, 5, r->bare / r->bounds.seconds, 1, "%s: bare product with arg-max / assign", name);
    }
}

static void print_run(const bench_embedding_result *r, const char *what, const bench_embedding_run *run) {
    printf("  %-12s %8.2f s %8.2f s %8.3f s %3d passes", what, run->seconds, run->processor, run->seconds / run->passes,
           run->passes);
    if (run->scores > 0)
        printf(" %9.1f", run->scores);
    else
        printf(" %9s", "-");
    printf(" %10.0f %8.0f B", (double)run->peak / (1 << 20),
           ((double)run->peak - (double)run->before) / (double)r->count);
    if (run->objective > 0)
        printf("  %.9g", run->objective);
    printf("\n");
}

static void print_passes(const char *what, const bench_embedding_run *run) {
    printf("    %s, each pass:", what);
    for (int i = 0; i < run->passes && i < BENCH_EMBEDDING_PASSES; i++)
        printf(" %.3f", run->pass_seconds[i]);
    printf("%s s\n", run->passes > BENCH_EMBEDDING_PASSES ? " ..." : "");
}

static void print_kmeans(const bench_embedding_result *r) {
    print_run(r, "bounds", &r->bounds);
    print_run(r, "no bounds", &r->brute);
    print_passes("bounds", &r->bounds);
    print_passes("no bounds", &r->brute);
    printf("    speed-up by bounds: %.2f (%.2f in processor time); labels and objective %s\n",
           r->brute.seconds / r->bounds.seconds, r->brute.processor / r->bounds.processor,
           same(r) ? "are the same" : "DIFFER");
}

static void print_known(const bench_embedding_result *r) {
    if (r->set == BENCH_W7) {
        print_run(r, "one pass", &r->brute);
        print_run(r, "dp", &r->bounds);
        print_passes("dp", &r->bounds);
        printf("    dp found %zu clusters at %d degrees. In brute-force passes over %zu means: all %.2f (%.2f in "
               "processor "
               "time), the first pass %.2f\n    In bare passes of %.2f s: all %.2f, the first pass %.2f\n",
               r->bounds.clusters, W7_ANGLE, r->clusters, r->bounds.seconds / r->brute.seconds,
               r->bounds.processor / r->brute.processor, r->bounds.pass_seconds[0] / r->brute.seconds, r->bare,
               r->bounds.seconds / r->bare, r->bounds.pass_seconds[0] / r->bare);
        return;
    }
    print_run(r, "assign", &r->bounds);
    printf("    the bare matrix product with arg-max took %.2f s: assign is %.2f x faster (%.2f in processor "
           "time); %zu labels differ by rounding\n",
           r->bare, r->bare / r->bounds.seconds, r->bare_processor / r->bounds.processor, r->differing);
}

void bench_embeddings_print(const bench_embeddings *e) {
    for (int i = 0; i < e->result_count; i++) {
        const bench_embedding_result *r = &e->result[i];
        printf("\n%s: %zu x %zu, K = %zu, %d threads\n", bench_embedding_name(r->set), r->count, r->dimension,
               r->clusters, e->threads);
        printf("  %-12s %10s %10s %10s %10s %9s %10s %10s  %s\n", "", "in all", "processor", "a pass", "", "scores",
               "peak MiB", "per point", "objective");
        (r->bare > 0 ? print_known : print_kmeans)(r);
    }
    if (e->result_count)
        printf("\n  scores: exact scores per point and pass; per point: peak memory without the points themselves\n");
}

static void write_run(ast_text *json, const char *key, const bench_embedding_run *run) {
    if (run->seconds == 0)
        return;
    ast_json_open(json, key, '{');
    ast_json_number(json, "seconds", run->seconds, 9);
    ast_json_number(json, "processor_seconds", run->processor, 9);
    ast_json_number(json, "passes", run->passes, 9);
    ast_json_number(json, "clusters", (double)run->clusters, 9);
    if (run->scores > 0)
        ast_json_number(json, "scores_per_point_and_pass", run->scores, 9);
    if (run->objective > 0)
        ast_json_number(json, "objective", run->objective, 17);
    ast_json_number(json, "peak_memory_bytes", (double)run->peak, 9);
    ast_json_number(json, "memory_before_bytes", (double)run->before, 9);
    ast_json_open(json, "pass_seconds", '[');
    for (int i = 0; i < run->passes && i < BENCH_EMBEDDING_PASSES && run->pass_seconds[0] > 0; i++)
        ast_json_number(json, NULL, run->pass_seconds[i], 9);
    ast_json_close(json, ']');
    ast_json_close(json, '}');
}

void bench_embeddings_write(const bench_embeddings *e, ast_text *json) {
    if (e->result_count == 0)
        return;
    ast_json_open(json, "embeddings", '[');
    for (int i = 0; i < e->result_count; i++) {
        const bench_embedding_result *r = &e->result[i];
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "set", bench_embedding_name(r->set));
        ast_json_number(json, "points", (double)r->count, 9);
        ast_json_number(json, "dimension", (double)r->dimension, 9);
        ast_json_number(json, "means", (double)r->clusters, 9);
        ast_json_number(json, "threads", e->threads, 9);
        write_run(json, "bounds", &r->bounds);
        write_run(json, "no_bounds", &r->brute);
        if (r->bare > 0)
            ast_json_number(json, "bare_seconds", r->bare, 9);
        if (r->bare > 0)
            ast_json_number(json, "bare_processor_seconds", r->bare_processor, 9);
        else
            ast_json_number(json, "same_labels_and_objective", same(r), 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}
