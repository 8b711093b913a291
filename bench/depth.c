/* SPDX-License-Identifier: MIT
 *
 * Runs over depth frames. Each step is timed separately, frame by frame; the clustering gets the normals of the steps
 * before, as in use. A second run goes from PNG files to labels, with frames decoded ahead. */
#include "depth.h"

#include "bare.h"
#include "watch.h"

#include <frames.h>
#include <math.h>
#include <stdlib.h>

#define BARE_POINTS 300000
#define BARE_KAPPA 100.0
#define ANGLE 60.0 /* as the documentation says for rooms */

const char *bench_stage_name(int stage) {
    static const char *const names[BENCH_STAGES] = {"back-projection",      "guided filter",    "normals, no filter",
                                                    "filter + normals",     "the same and TV",  "clustering of these",
                                                    "normals of planes",    "clustering",       "depth to labels",
                                                    "normals, planes kept", "planes, outlines", "PNG files to labels"};
    return names[stage];
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static void open_bare(bench_depths *d) {
    bench_scene scene;
    ast_random random;
    d->points = bench_alloc((size_t)3 * BARE_POINTS * sizeof *d->points);
    bench_scene_axes(&scene, 0);
    ast_random_seed(&random, 4, 0);
    bench_scene_draw(&scene, &random, BARE_KAPPA, d->points, NULL, BARE_POINTS);
    for (int i = 0; i < 3 * BENCH_AXES; i++)
        d->means[i] = (float)scene.at[i / 3][i % 3];
}

static void open_run(bench_depth_run *run, const bench_depth_scene *scene, const bench_axes *bare, int repetitions) {
    run->scene = scene;
    run->bare = bare;
    run->threads = bare->threads;
    for (int s = 0; s < BENCH_STAGES; s++) {
        int step = s == BENCH_STAGE_TV ? BENCH_TV_STEP : 1;
        bench_series_open(&run->stage[s], (scene->frames + step - 1) / step, repetitions);
    }
    bench_series_open(&run->load, scene->frames, repetitions);
    bench_series_open(&run->passes, scene->frames, repetitions);
    bench_series_open(&run->in_bare, scene->frames, repetitions);
}

void bench_depths_open(bench_depths *d, double share, const char *data, const int *threads, int thread_counts,
                       int repetitions) {
    open_bare(d);
    for (int which = 0; which < BENCH_DEPTH_SCENES; which++)
        d->scene_count += bench_depth_scene_open(&d->scene[d->scene_count], which, share, data, repetitions);
    for (int t = 0; t < thread_counts; t++)
        d->bare[d->bare_count++].threads = threads[t];
    for (int s = 0; s < d->scene_count; s++)
        for (int t = 0; t < thread_counts; t++)
            open_run(&d->run[d->run_count++], &d->scene[s], &d->bare[t], repetitions);
}

void bench_depths_free(bench_depths *d) {
    for (int r = 0; r < d->run_count; r++) {
        for (int s = 0; s < BENCH_STAGES; s++)
            bench_series_free(&d->run[r].stage[s]);
        bench_series_free(&d->run[r].load);
        bench_series_free(&d->run[r].passes);
        bench_series_free(&d->run[r].in_bare);
    }
    for (int s = 0; s < d->scene_count; s++)
        bench_depth_scene_free(&d->scene[s]);
    free(d->points);
}

/* ---- What a run works with -------------------------------------------------------------------------------------- */

typedef struct desk {
    ast_context *context;
    ast_depth *none, *guided, *tv, *planes, *kept; /* kept: planes too, for the map */
    ast_depth_frame *frame;                        /* of planes, then of kept */
    ast_plane_map *map;
    ast_stream *stream, *pixels_stream; /* of planes, and of guided normals */
    float *vectors;                     /* (pixels, 3) points or normals */
    int32_t *labels, *plane_of;
    size_t pixels;
} desk;

static ast_depth *open_depth(ast_context *context, const bench_depth_scene *scene, ast_smooth smooth, int planes) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.camera = scene->camera;
    options.units_per_metre = scene->units;
    options.smooth = smooth;
    options.planes = planes;
    ast_depth *depth;
    ast_depth_open(&depth, context, &options);
    return depth;
}

static ast_stream *open_stream(ast_context *context) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.angle = ANGLE;
    ast_stream *stream;
    ast_stream_open(&stream, context, &options);
    return stream;
}

static ast_plane_map *open_map(ast_context *context) {
    ast_plane_options options;
    ast_plane_options_init(&options);
    ast_plane_map *map;
    ast_plane_map_open(&map, context, &options);
    return map;
}

static void desk_open(desk *k, const bench_depth_run *run) {
    const ast_depth_pixels *first = &run->scene->frame[0];
    *k = (desk){.pixels = first->width * first->height};
    ast_open(&k->context, run->threads);
    if (!k->context)
        bench_die("a context on %d threads could not be opened", run->threads);
    k->none = open_depth(k->context, run->scene, AST_SMOOTH_NONE, 0);
    k->guided = open_depth(k->context, run->scene, AST_SMOOTH_GUIDED, 0);
    k->tv = open_depth(k->context, run->scene, AST_SMOOTH_TV, 0);
    k->planes = open_depth(k->context, run->scene, AST_SMOOTH_PLANES, 0);
    k->kept = open_depth(k->context, run->scene, AST_SMOOTH_PLANES, 1);
    ast_depth_frame_open(&k->frame, k->context);
    k->map = open_map(k->context);
    k->stream = open_stream(k->context);
    k->pixels_stream = open_stream(k->context);
    if (!k->none || !k->guided || !k->tv || !k->planes || !k->kept || !k->frame || !k->map || !k->stream ||
        !k->pixels_stream)
        bench_die("%s", ast_message(k->context));
    k->vectors = bench_alloc(3 * k->pixels * sizeof *k->vectors);
    k->labels = bench_alloc(k->pixels * sizeof *k->labels);
    k->plane_of = bench_alloc(k->pixels * sizeof *k->plane_of);
}

static void desk_close(desk *k) {
    ast_stream_close(k->stream);
    ast_stream_close(k->pixels_stream);
    ast_plane_map_close(k->map);
    ast_depth_frame_close(k->frame);
    ast_depth_close(k->kept);
    ast_depth_close(k->planes);
    ast_depth_close(k->none);
    ast_depth_close(k->guided);
    ast_depth_close(k->tv);
    ast_close(k->context);
    free(k->vectors);
    free(k->labels);
    free(k->plane_of);
}

static void check(const desk *k, ast_status status, int f) {
    if (status != AST_OK)
        bench_die("depth frame %d: %s", f, ast_message(k->context));
}

/* ---- Frames in memory ------------------------------------------------------------------------------------------- */

typedef enum product { METRES, POINTS, NORMALS } product;

static double time_step(desk *k, int f, product wanted, ast_depth *depth, const ast_depth_image *image) {
    double begin = bench_now();
    float *out = k->vectors;
    ast_status status =
        ast_depth_compute(depth, image, wanted == METRES ? out : NULL, wanted == POINTS ? out : NULL,
                          wanted == NORMALS ? out : NULL, depth == k->planes || depth == k->kept ? k->frame : NULL);
    double seconds = bench_now() - begin;
    check(k, status, f);
    return seconds;
}

static double time_pixels(desk *k, int f) {
    ast_points points = ast_points_f4(k->vectors, k->pixels, 3);
    ast_frame frame = {.size = sizeof frame};
    double begin = bench_now();
    ast_status status = ast_stream_step(k->pixels_stream, &points, k->labels, &frame);
    double seconds = bench_now() - begin;
    check(k, status, f);
    return seconds;
}

/* The normals of planes that were just computed: those of pixels on no plane are late. */
static ast_points plane_points(desk *k, int f) {
    ast_points points = ast_points_f4(k->vectors, k->pixels, 3);
    ast_depth_report report = {.size = sizeof report};
    check(k, ast_depth_describe(k->frame, &report), f);
    points.late = report.late;
    return points;
}

static double time_clustering(desk *k, bench_depth_run *run, int f) {
    ast_points points = plane_points(k, f);
    ast_frame frame = {.size = sizeof frame};
    bench_watch_reset();
    double begin = bench_now();
    ast_status status = ast_stream_step(k->stream, &points, k->labels, &frame);
    double seconds = bench_now() - begin;
    check(k, status, f);
    bench_watch watched = bench_watch_read();
    size_t present = frame.points - frame.missing;
    bench_series_note(&run->load, f, watched.load);
    bench_series_note(&run->passes, f, watched.passes);
    run->iterations[f] = frame.iterations;
    run->scored[f] = present ? (double)watched.scored / (double)present : 0;
    run->missing[f] = (double)frame.missing / (double)frame.points;
    run->unconverged += !frame.converged;
    return seconds;
}

static double time_map(desk *k, const bench_depth_scene *scene, int f) {
    double begin = bench_now();
    ast_status status =
        ast_plane_map_frame(k->map, k->frame, k->labels, scene->posed ? scene->pose[f] : NULL, k->plane_of);
    double seconds = bench_now() - begin;
    check(k, status, f);
    return seconds;
}

static void run_frame(desk *k, bench_depth_run *run, bench_bare *bare, int f) {
    ast_depth_image image = ast_depth_view(&run->scene->frame[f]);
    bench_series *stage = run->stage;
    bench_series_note(&stage[BENCH_STAGE_POINTS], f, time_step(k, f, POINTS, k->none, &image));
    bench_series_note(&stage[BENCH_STAGE_FILTER], f, time_step(k, f, METRES, k->guided, &image));
    bench_series_note(&stage[BENCH_STAGE_PLAIN], f, time_step(k, f, NORMALS, k->none, &image));
    if (f % BENCH_TV_STEP == 0)
        bench_series_note(&stage[BENCH_STAGE_TV], f / BENCH_TV_STEP, time_step(k, f, NORMALS, k->tv, &image));
    bench_series_note(&stage[BENCH_STAGE_NORMALS], f, time_step(k, f, NORMALS, k->guided, &image));
    bench_series_note(&stage[BENCH_STAGE_PIXELS], f, time_pixels(k, f));
    double unit = bench_bare_now(bare, run->threads);
    double normals = time_step(k, f, NORMALS, k->planes, &image);
    double clustering = time_clustering(k, run, f);
    bench_series_note(&stage[BENCH_STAGE_PLANES], f, normals);
    bench_series_note(&stage[BENCH_STAGE_CLUSTERING], f, clustering);
    bench_series_note(&run->in_bare, f, clustering / unit);
    bench_series_note(&stage[BENCH_STAGE_LABELS], f, normals + clustering);
    bench_series_note(&stage[BENCH_STAGE_KEPT], f, time_step(k, f, NORMALS, k->kept, &image));
    bench_series_note(&stage[BENCH_STAGE_OUTLINES], f, time_map(k, run->scene, f));
    run->labels_hash = bench_hash_labels(run->labels_hash, k->labels, k->pixels);
    run->planes_hash = bench_hash_labels(run->planes_hash, k->plane_of, k->pixels);
}

static void repeat_memory(const bench_depths *d, bench_depth_run *run) {
    desk k;
    bench_bare *bare = bench_bare_open(bench_bare_methods(3)[0], d->points, BARE_POINTS, 3, d->means, BENCH_AXES);
    desk_open(&k, run);
    run->unconverged = 0;
    run->labels_hash = run->planes_hash = BENCH_HASH_START;
    for (int f = 0; f < run->scene->frames; f++)
        run_frame(&k, run, bare, f);
    for (int s = 0; s < BENCH_STAGE_FILES; s++)
        bench_series_end(&run->stage[s]);
    bench_series_end(&run->load);
    bench_series_end(&run->passes);
    bench_series_end(&run->in_bare);
    bench_bare_close(bare);
    run->last_hash = bench_hash_labels(BENCH_HASH_START, k.labels, k.pixels);
    desk_close(&k);
}

/* ---- Frames from files ------------------------------------------------------------------------------------------ */

/* From the request of a frame to its labels. */
static double time_file(desk *k, ast_frames *frames, int f) {
    ast_input_frame frame;
    ast_format_error error;
    ast_frame report = {.size = sizeof report};
    double begin = bench_now();
    if (ast_frames_next(frames, &frame, &error) <= 0)
        bench_die("%s", error.text);
    check(k, ast_depth_compute(k->planes, &frame.image, NULL, NULL, k->vectors, k->frame), f);
    ast_points points = plane_points(k, f);
    check(k, ast_stream_step(k->stream, &points, k->labels, &report), f);
    return bench_now() - begin;
}

static void repeat_files(bench_depth_run *run) {
    desk k;
    ast_format_error error;
    desk_open(&k, run);
    double start = bench_now();
    ast_frame_list list = {0};
    for (int f = 0; run->scene->file[f]; f++)
        if (!ast_frame_list_add(&list, run->scene->file[f], (ast_file_format){0}, AST_AS_DEPTH, &error))
            bench_die("%s", error.text);
    ast_frames *frames = ast_frames_open(&list, NULL, &error);
    if (!frames)
        bench_die("%s", error.text);
    for (int f = 0; f < run->scene->frames; f++)
        bench_series_note(&run->stage[BENCH_STAGE_FILES], f, time_file(&k, frames, f));
    bench_samples_add(&run->all_labelled, bench_now() - start);
    bench_series_end(&run->stage[BENCH_STAGE_FILES]);
    run->files_hash = bench_hash_labels(BENCH_HASH_START, k.labels, k.pixels);
    ast_frames_close(frames);
    ast_frame_list_free(&list);
    desk_close(&k);
}

void bench_depths_repeat(bench_depths *d) {
    for (int s = 0; s < d->scene_count; s++)
        if (d->scene[s].file[0])
            bench_depth_scene_decode(&d->scene[s]);
    for (int r = 0; r < d->run_count; r++) {
        bench_axes *bare = &d->bare[r % d->bare_count];
        bench_axes_repeat(bare, d->points, BARE_POINTS, d->means);
        repeat_memory(d, &d->run[r]);
        if (d->run[r].scene->file[0])
            repeat_files(&d->run[r]);
    }
}
