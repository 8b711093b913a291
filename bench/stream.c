/* SPDX-License-Identifier: MIT
 *
 * W4 and its variants. The frames are made in advance; only ast_stream_step is timed. Bare passes alternate with the
 * streams, so that a slow moment of the machine affects both. */
#include "stream.h"

#include "bare.h"

#include <asterism.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 300000
#define KAPPA 100.0
#define TURN 0.5       /* degrees a frame */
#define HIDDEN_FROM 40 /* two directions are hidden for 20 frames */
#define HIDDEN_TO 60

const char *bench_stream_name(int kind) {
    static const char *const names[BENCH_STREAM_KINDS] = {"W4", "W4 rotation off", "W4 lifetime 200",
                                                          "W4 ten unseen more", "W4 paper's"};
    return names[kind];
}

/* ---- The frames ------------------------------------------------------------------------------------------------- */

static int is_hidden(int direction, int frame) {
    return (direction == 1 || direction == 4) && frame >= HIDDEN_FROM && frame < HIDDEN_TO;
}

static void make_frame(bench_streams *s, int f) {
    bench_scene scene;
    ast_random random;
    s->points[f] = bench_alloc(s->count * 3 * sizeof(float));
    s->truth[f] = bench_alloc(s->count);
    bench_scene_axes(&scene, TURN * f);
    for (int k = 0; k < scene.count; k++)
        scene.hidden[k] = is_hidden(k, f);
    ast_random_seed(&random, 4, (uint64_t)f);
    bench_scene_draw(&scene, &random, KAPPA, s->points[f], s->truth[f], s->count);
    for (int i = 0; f == 0 && i < 3 * BENCH_AXES; i++)
        s->means[i] = (float)scene.at[i / 3][i % 3];
}

void bench_streams_open(bench_streams *s, double share, const int *threads, int thread_counts, int repetitions) {
    s->count = (size_t)(POINTS * share);
    for (int f = 0; f < BENCH_FRAMES; f++)
        make_frame(s, f);
    for (int t = 0; t < thread_counts; t++) {
        s->bare[s->bare_count++].threads = threads[t];
        for (int kind = 0; kind < BENCH_STREAM_KINDS; kind++) {
            bench_stream_run *run = &s->run[s->run_count++];
            run->kind = kind;
            run->threads = threads[t];
            bench_series_open(&run->times, BENCH_FRAMES, repetitions);
            bench_series_open(&run->in_bare, BENCH_FRAMES, repetitions);
        }
    }
}

void bench_streams_free(bench_streams *s) {
    for (int f = 0; f < BENCH_FRAMES; f++) {
        free(s->points[f]);
        free(s->truth[f]);
    }
    for (int r = 0; r < s->run_count; r++) {
        bench_series_free(&s->run[r].times);
        bench_series_free(&s->run[r].in_bare);
    }
}

/* ---- The prelude ------------------------------------------------------------------------------------------------ */

/* Ten directions besides the axes do not fit on the sphere at 70 degrees from each other, which births require. So each
 * is born where no other is, and moves to its place in small steps that the stream can follow. */
#define SMALL 50 /* points per direction */
#define SMALL_KAPPA 1e5
#define STEP 2.0
#define WAITING 75.0 /* degrees from the birthplace, for directions whose place is nearer to it */
#define UNSEEN_BEFORE 60

typedef struct prelude {
    ast_stream *stream;
    int extras, born, total;
    ast_random random;
    double colatitude[BENCH_MAX_DIRECTIONS];
    float points[3 * SMALL * BENCH_MAX_DIRECTIONS];
    int32_t labels[SMALL * BENCH_MAX_DIRECTIONS];
} prelude;

static void show(prelude *p, int extras_hidden) {
    bench_scene scene;
    ast_frame frame = {.size = sizeof frame};
    bench_scene_meridians(&scene, p->extras, p->colatitude);
    for (int k = 0; k < scene.count; k++)
        scene.hidden[k] = k >= p->born || (extras_hidden && k < p->extras);
    size_t count = SMALL * (size_t)p->born;
    bench_scene_draw(&scene, &p->random, SMALL_KAPPA, p->points, NULL, count);
    ast_points points = ast_points_f4(p->points, count, 3);
    if (ast_stream_step(p->stream, &points, p->labels, &frame) != AST_OK)
        bench_die("a small frame of the prelude failed");
}

static void move(prelude *p, int direction, double to) {
    double *at = &p->colatitude[direction];
    while (*at != to) {
        *at = fabs(to - *at) <= STEP ? to : *at + (to > *at ? STEP : -STEP);
        show(p, 0);
    }
}

static void run_prelude(ast_stream *stream, int extras) {
    prelude *p = bench_alloc(sizeof *p);
    size_t tracked;
    *p = (prelude){.stream = stream, .extras = extras, .total = extras + BENCH_AXES};
    ast_random_seed(&p->random, 5, 0);
    for (int k = 0; k < p->total; k++) {
        p->born = k + 1;
        show(p, 0);
        move(p, k, fmax(WAITING, bench_scene_colatitude(extras, k)));
    }
    for (int k = 0; k < p->total; k++)
        move(p, k, bench_scene_colatitude(extras, k));
    for (int f = 0; f < UNSEEN_BEFORE; f++)
        show(p, 1);
    ast_stream_clusters(stream, &tracked);
    if (tracked != (size_t)p->total)
        bench_die("the prelude left %zu clusters instead of %d", tracked, p->total);
    free(p);
}

/* ---- Checks, outside of the timed part -------------------------------------------------------------------------- */

/* The id of most points of a direction, if more than half of them share one. */
static void majority_ids(const bench_streams *s, int f, const int32_t *labels, int32_t *ids) {
    size_t votes[BENCH_AXES] = {0};
    for (int k = 0; k < BENCH_AXES; k++)
        ids[k] = -1;
    for (size_t i = 0; i < s->count; i++) {
        int k = s->truth[f][i];
        if (votes[k] == 0)
            ids[k] = labels[i];
        votes[k] += ids[k] == labels[i] ? 1 : (size_t)-1;
    }
}

static void check_ids(const bench_streams *s, bench_stream_run *run, int f, const int32_t *labels, int32_t *last) {
    int32_t ids[BENCH_AXES];
    majority_ids(s, f, labels, ids);
    for (int k = 0; k < BENCH_AXES; k++) {
        if (is_hidden(k, f))
            continue;
        int changed = f > 0 && ids[k] != last[k];
        run->switches += changed && !is_hidden(k, f - 1);
        run->lost += changed && is_hidden(k, f - 1);
        last[k] = ids[k];
    }
    run->labels_hash = bench_hash_labels(run->labels_hash, labels, s->count);
}

static void check_clusters(bench_stream_run *run, const ast_stream *stream, int f) {
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    int unseen = 0, broken = 0;
    for (size_t k = 0; k < count; k++) {
        unseen += clusters[k].event == AST_UNSEEN;
        for (int d = 0; d < 3; d++)
            broken |= isnan(clusters[k].mean[d]);
        broken |= isnan(clusters[k].weight);
    }
    run->nan_frames += broken;
    run->least_unseen = f == 0 || unseen < run->least_unseen ? unseen : run->least_unseen;
}

/* ---- Runs ------------------------------------------------------------------------------------------------------- */

static ast_stream_options options_of(int kind) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.angle = kind == BENCH_STREAM_PAPER ? 100 : 70;
    options.lifetime = kind == BENCH_STREAM_PAPER ? 400 : kind <= BENCH_STREAM_STILL ? 25 : 200;
    options.rotation = kind != BENCH_STREAM_STILL;
    if (kind == BENCH_STREAM_PAPER)
        options.beta = 1e5;
    return options;
}

static void note_frame(bench_stream_run *run, int f, double seconds, double unit, const ast_frame *frame) {
    bench_series_note(&run->times, f, seconds);
    bench_series_note(&run->in_bare, f, seconds / unit);
    run->passes[f] = frame->iterations;
    run->unconverged += !frame->converged;
}

static void repeat_run(const bench_streams *s, bench_stream_run *run) {
    ast_stream_options options = options_of(run->kind);
    ast_context *context;
    ast_open(&context, run->threads);
    ast_stream *stream = NULL;
    if (context)
        ast_stream_open(&stream, context, &options);
    int32_t *labels = bench_alloc(s->count * sizeof *labels), last[BENCH_AXES] = {0};
    if (!stream)
        bench_die("a stream on %d threads could not be opened", run->threads);
    if (run->kind == BENCH_STREAM_LONG || run->kind == BENCH_STREAM_UNSEEN)
        run_prelude(stream, run->kind == BENCH_STREAM_UNSEEN ? BENCH_EXTRAS : 0);
    bench_bare *bare = bench_bare_open(bench_bare_methods(3)[0], s->points[0], s->count, 3, s->means, BENCH_AXES);
    run->unconverged = run->nan_frames = run->switches = run->lost = 0;
    run->labels_hash = BENCH_HASH_START;
    for (int f = 0; f < BENCH_FRAMES; f++) {
        ast_points points = ast_points_f4(s->points[f], s->count, 3);
        ast_frame frame = {.size = sizeof frame};
        double unit = bench_bare_now(bare, run->threads), begin = bench_now();
        if (ast_stream_step(stream, &points, labels, &frame) != AST_OK)
            bench_die("%s, frame %d: %s", bench_stream_name(run->kind), f, ast_message(context));
        note_frame(run, f, bench_now() - begin, unit, &frame);
        check_clusters(run, stream, f);
        check_ids(s, run, f, labels, last);
    }
    bench_series_end(&run->times);
    bench_series_end(&run->in_bare);
    bench_bare_close(bare);
    ast_stream_close(stream);
    ast_close(context);
    free(labels);
}

void bench_streams_repeat(bench_streams *s) {
    for (int r = 0; r < s->run_count; r++) {
        bench_axes_repeat(&s->bare[r / BENCH_STREAM_KINDS], s->points[0], s->count, s->means);
        repeat_run(s, &s->run[r]);
    }
}
