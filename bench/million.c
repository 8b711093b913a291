/* SPDX-License-Identifier: MIT
 *
 * One million small frames through one stream: does the last frame cost as much time and memory as the first? The scene
 * repeats every thousand frames. Two directions are absent long enough to be forgotten, so that new ids are used and
 * clusters die all the time; two others come back in time. */
#include "stream.h"

#include <asterism.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUND 1000
#define SMALL 50
#define WINDOW 10000
#define LIFETIME 25

static size_t heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static float *make_round(void) {
    float *points = bench_alloc((size_t)ROUND * SMALL * 3 * sizeof *points);
    ast_random random;
    ast_random_seed(&random, 6, 0);
    for (int f = 0; f < ROUND; f++) {
        bench_scene scene;
        bench_scene_axes(&scene, 360.0 * f / ROUND);
        scene.hidden[0] = scene.hidden[1] = f >= 100 && f < 100 + LIFETIME + 15; /* forgotten */
        scene.hidden[2] = scene.hidden[3] = f >= 500 && f < 500 + LIFETIME - 5;  /* comes back */
        bench_scene_draw(&scene, &random, 100, points + (size_t)f * SMALL * 3, NULL, SMALL);
    }
    return points;
}

static ast_stream *open_stream(ast_context *context) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.angle = 70;
    options.lifetime = LIFETIME;
    ast_stream *stream = NULL;
    if (context)
        ast_stream_open(&stream, context, &options);
    if (!stream)
        bench_die("a stream could not be opened");
    return stream;
}

static void note_clusters(bench_million *m, const ast_stream *stream) {
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    m->most_clusters = count > m->most_clusters ? count : m->most_clusters;
    if (count && clusters[count - 1].id >= m->ids)
        m->ids = clusters[count - 1].id + 1;
}

static double take(ast_stream *stream, const float *data) {
    int32_t labels[SMALL];
    ast_frame frame = {.size = sizeof frame};
    ast_points points = ast_points_f4(data, SMALL, 3);
    double begin = bench_now();
    if (ast_stream_step(stream, &points, labels, &frame) != AST_OK)
        bench_die("a small frame failed");
    return bench_now() - begin;
}

void bench_million_run(bench_million *m, size_t frames, int threads) {
    size_t window = frames < 2 * WINDOW ? frames / 2 : WINDOW;
    double *first = bench_alloc(window * sizeof *first), *last = bench_alloc(window * sizeof *last);
    float *points = make_round();
    ast_context *context;
    ast_open(&context, threads);
    ast_stream *stream = open_stream(context);
    *m = (bench_million){.frames = frames, .peak_early = bench_status_bytes("VmHWM"), .heap_early = heap_bytes()};
    for (size_t f = 0; f < frames; f++) {
        double seconds = take(stream, points + f % ROUND * SMALL * 3);
        m->seconds += seconds;
        if (f < window)
            first[f] = seconds;
        if (f >= frames - window)
            last[f - (frames - window)] = seconds;
        note_clusters(m, stream);
        if (f + 1 == window) {
            m->peak_early = bench_status_bytes("VmHWM");
            m->heap_early = heap_bytes();
        }
    }
    m->peak_late = bench_status_bytes("VmHWM");
    m->heap_late = heap_bytes();
    m->first = bench_quantile(first, window, 0.5);
    m->last = bench_quantile(last, window, 0.5);
    ast_stream_close(stream);
    ast_close(context);
    free(points);
    free(first);
    free(last);
}
