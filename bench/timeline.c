/* SPDX-License-Identifier: MIT
 *
 * Timelines of threads. The pool of a context records what its threads do (src/engine/trace.h); the linker shows loads,
 * passes and updates (watch.c). A run is a process of the trace, a thread of the pool a thread of it. */
#include "timeline.h"

#include "watch.h"

#include <asterism_depth.h>
#include <context.h>
#include <json.h>
#include <pool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPANS ((size_t)1 << 16) /* of one thread and run */
#define FRAMES 16               /* of a stream; the last half is recorded */
#define ITERATIONS 6            /* of k-means */

/* Kinds of the bench, after those of the library. */
enum { CALL = AST_TRACE_KINDS, LOAD, PASS, UPDATE, KINDS };

static const char *const names[KINDS] = {"job",    "tail", "wake-up", "block", "score", "wait for the turn",
                                         "commit", "sums", "call",    "load",  "pass",  "update"};

typedef struct tracer {
    ast_context *context;
    ast_trace trace;
    int threads, process;
    FILE *file;
    bool any; /* events have been written */
} tracer;

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void begin_event(tracer *t) {
    fputs(t->any ? ",\n" : "\n", t->file);
    t->any = true;
}

static void write_name(tracer *t, const char *name) {
    begin_event(t);
    fprintf(t->file, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"%s, %d thread%s\"}}",
            t->process, name, t->threads, t->threads == 1 ? "" : "s");
}

static void write_span(tracer *t, int thread, const ast_trace_span *s, double origin) {
    begin_event(t);
    fprintf(t->file,
            "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
            "\"args\":{\"number\":%zu,\"faults\":%u}}",
            names[s->kind], t->process, thread, 1e6 * (s->begin - origin), 1e6 * (s->end - s->begin), s->number,
            s->faults);
}

/* The spans since `origin`, as a process of this name. */
static void write_spans(tracer *t, const char *name, double origin) {
    t->process++;
    write_name(t, name);
    for (int w = 0; w < t->threads; w++) {
        ast_trace_thread *list = &t->trace.threads[w];
        for (size_t i = 0; i < list->count; i++)
            write_span(t, w, &list->spans[i], origin);
        if (list->lost)
            fprintf(stderr, "asterism-bench: %s: %zu spans of thread %d are lost\n", name, list->lost, w);
        list->count = list->lost = 0;
    }
}

/* ---- Recording --------------------------------------------------------------------------------------------------- */

static void begin(tracer *t, int threads) {
    t->threads = threads;
    ast_open(&t->context, threads);
    if (!t->context)
        bench_die("a context of %d threads could not be opened", threads);
    t->trace.threads = bench_alloc((size_t)threads * sizeof *t->trace.threads);
    for (int w = 0; w < threads; w++)
        t->trace.threads[w] =
            (ast_trace_thread){.spans = bench_alloc(SPANS * sizeof(ast_trace_span)), .capacity = SPANS};
}

static void end(tracer *t) {
    for (int w = 0; w < t->threads; w++)
        free(t->trace.threads[w].spans);
    free(t->trace.threads);
    ast_close(t->context);
}

static ast_trace_mark record(tracer *t) {
    ast_pool_set_trace(t->context->pool, &t->trace);
    bench_watch_trace(&t->trace, LOAD);
    return ast_trace_now(&t->trace);
}

static void note(tracer *t, ast_status status, ast_trace_mark since) {
    if (status != AST_OK)
        bench_die("%s", ast_message(t->context));
    ast_trace_note(&t->trace, 0, (ast_trace_kind)CALL, 0, since);
    ast_pool_set_trace(t->context->pool, NULL);
    bench_watch_trace(NULL, 0);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static void cluster(tracer *t, const char *name, const ast_points *points, const ast_options *options) {
    int32_t *labels = bench_alloc(points->count * sizeof *labels);
    ast_report report = {.size = sizeof report};
    ast_trace_mark begin = record(t);
    note(t, ast_cluster(t->context, points, options, labels, &report), begin);
    write_spans(t, name, begin.time);
    free(labels);
}

/* From nothing, in new memory and in that of the call before; then from the means of that. */
static void trace_workload(tracer *t, const bench_workload *w, int threads) {
    static const char *const kinds[] = {"cold, first call", "cold", "warm"};
    ast_points points = ast_points_f4(w->points, w->count, w->dimension);
    float *means = NULL;
    begin(t, threads);
    for (int kind = 0; kind < 3; kind++) {
        char name[64];
        ast_options options;
        ast_options_init(&options);
        options.angle = w->angle;
        if (kind == 2) {
            ast_report last = {.size = sizeof last};
            int32_t *labels = bench_alloc(w->count * sizeof *labels);
            ast_cluster(t->context, &points, &options, labels, &last);
            size_t bytes = last.clusters * w->dimension * sizeof *means;
            means = memcpy(bench_alloc(bytes), ast_means(t->context), bytes);
            options.start.by = AST_GIVEN;
            options.start.means = means;
            options.start.means_count = last.clusters;
            free(labels);
        }
        snprintf(name, sizeof name, "%s %s", w->name, kinds[kind]);
        cluster(t, name, &points, &options);
    }
    end(t);
    free(means);
}

static void trace_kmeans(tracer *t, const bench_embedding_points *p, int threads) {
    ast_points points = ast_points_f4(p->points, p->count, p->dimension);
    for (int c = 0; c < 2 && p->clusters[c]; c++) {
        char name[64];
        float *start = bench_embedding_start(p, p->clusters[c]);
        ast_options options;
        ast_options_init(&options);
        options.method = AST_SPKM;
        options.start.by = AST_GIVEN;
        options.start.means = start;
        options.start.means_count = p->clusters[c];
        options.max_iterations = ITERATIONS;
        snprintf(name, sizeof name, "%s K=%zu", p->name, p->clusters[c]);
        begin(t, threads);
        cluster(t, name, &points, &options);
        end(t);
        free(start);
    }
}

static void step(tracer *t, ast_stream *stream, const char *name, const ast_points *points, bool recorded) {
    int32_t *labels = bench_alloc(points->count * sizeof *labels);
    ast_frame frame = {.size = sizeof frame};
    ast_trace_mark begin = {0};
    if (recorded)
        begin = record(t);
    ast_status status = ast_stream_step(stream, points, labels, &frame);
    note(t, status, begin);
    if (recorded)
        write_spans(t, name, begin.time);
    else
        for (int w = 0; w < t->threads; w++)
            t->trace.threads[w].count = 0;
    free(labels);
}

static ast_stream *open_stream(tracer *t, double angle) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.angle = angle;
    ast_stream *stream;
    if (ast_stream_open(&stream, t->context, &options) != AST_OK)
        bench_die("%s", ast_message(t->context));
    return stream;
}

static void trace_stream(tracer *t, const bench_streams *s, int threads) {
    begin(t, threads);
    ast_stream *stream = open_stream(t, 70);
    for (int f = 0; f < FRAMES; f++) {
        char name[64];
        ast_points points = ast_points_f4(s->points[f], s->count, 3);
        snprintf(name, sizeof name, "W4 frame %d", f);
        step(t, stream, name, &points, f >= FRAMES / 2);
    }
    ast_stream_close(stream);
    end(t);
}

/* Normals of planes and clustering are two processes of the trace. */
static void trace_frame(tracer *t, ast_depth *depth, ast_depth_frame *planes, ast_stream *stream, float *normals,
                        const bench_depth_scene *scene, int f) {
    char name[64];
    bool recorded = f >= FRAMES / 2;
    ast_depth_image image = ast_depth_view(&scene->frame[f]);
    ast_points points = ast_points_f4(normals, scene->frame[f].width * scene->frame[f].height, 3);
    ast_depth_report report = {.size = sizeof report};
    ast_trace_mark begin = record(t);
    note(t, ast_depth_compute(depth, &image, NULL, NULL, normals, planes), begin);
    snprintf(name, sizeof name, "camera frame %d: normals", f);
    if (recorded)
        write_spans(t, name, begin.time);
    if (ast_depth_describe(planes, &report) != AST_OK)
        bench_die("%s", ast_message(t->context));
    points.late = report.late;
    snprintf(name, sizeof name, "camera frame %d: clustering", f);
    step(t, stream, name, &points, recorded);
}

static void trace_depth(tracer *t, const bench_depth_scene *scene, int threads) {
    begin(t, threads);
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.camera = scene->camera;
    options.units_per_metre = scene->units;
    options.smooth = AST_SMOOTH_PLANES;
    ast_depth *depth;
    ast_depth_frame *planes;
    if (ast_depth_open(&depth, t->context, &options) != AST_OK || ast_depth_frame_open(&planes, t->context) != AST_OK)
        bench_die("%s", ast_message(t->context));
    ast_stream *stream = open_stream(t, 60);
    float *normals = bench_alloc(3 * scene->frame[0].width * scene->frame[0].height * sizeof *normals);
    for (int f = 0; f < FRAMES && f < scene->frames; f++)
        trace_frame(t, depth, planes, stream, normals, scene, f);
    free(normals);
    ast_stream_close(stream);
    ast_depth_frame_close(planes);
    ast_depth_close(depth);
    end(t);
}

void bench_timeline_run(const bench_timeline_input *input, const char *path) {
    tracer t = {.file = fopen(path, "w")};
    if (!t.file)
        bench_die("%s cannot be written", path);
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", t.file);
    for (int c = 0; c < input->thread_counts; c++) {
        for (int w = 0; w < BENCH_WORKLOADS; w++)
            if (input->workloads[w].points)
                trace_workload(&t, &input->workloads[w], input->threads[c]);
        if (input->streams->count)
            trace_stream(&t, input->streams, input->threads[c]);
        if (input->depths->scene_count)
            trace_depth(&t, &input->depths->scene[0], input->threads[c]);
        if (input->embeddings->points)
            trace_kmeans(&t, input->embeddings, input->threads[c]);
    }
    fputs("\n]}\n", t.file);
    bool whole = !ferror(t.file);
    if (fclose(t.file) != 0 || !whole)
        bench_die("%s could not be written completely", path);
}
