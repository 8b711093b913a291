/* SPDX-License-Identifier: MIT
 *
 * The numbers of depth frames, for people and as goals. */
#include "depth.h"

#include <stdio.h>
#include <unistd.h>

#define NORMALS 3.0e-3  /* seconds, guided filter and normals on two threads */
#define OUTLINES 2.0e-3 /* planes with outlines, beside the normals, on two threads */
#define FRAME 3.0       /* bare passes, clustering the median frame */
#define TAIL 8.0        /* the same at p99 */
#define DECODER 1.25    /* from files to labels, relative to decoding alone */
#define FRAMES_A_SECOND 200

static double bare_seconds(const bench_depth_run *run) {
    return bench_samples_min(&run->bare->time);
}

static double from_files(const bench_depth_run *run) {
    return bench_samples_min(&run->all_labelled) / bench_samples_min(&run->scene->all_decoded);
}

/* The least seconds for decoding and labelling all frames: the decoder has one thread, and the processors share all
 * work. `one`: the same scene on one thread. */
static double least_from_files(const bench_depth_run *one) {
    double decoding = bench_samples_min(&one->scene->all_decoded), work = decoding;
    for (int f = 0; f < one->scene->frames; f++)
        work += one->stage[BENCH_STAGE_LABELS].best[f];
    work /= (double)sysconf(_SC_NPROCESSORS_ONLN);
    return work > decoding ? work : decoding;
}

int bench_depths_agree(const bench_depths *d) {
    int agree = 1;
    for (int r = 0; r < d->run_count; r++) {
        const bench_depth_run *run = &d->run[r], *first = &d->run[r - r % d->bare_count];
        agree &= run->labels_hash == first->labels_hash && run->planes_hash == first->planes_hash;
        agree &= run->all_labelled.count == 0 || run->files_hash == run->last_hash;
    }
    return agree;
}

/* ---- The tables ------------------------------------------------------------------------------------------------- */

static void print_series(const char *name, const bench_series *series, double bare,
                         double (*at)(const bench_series *, double)) {
    if (series->repetitions)
        printf("  %-20s %8.3f %8.3f %8.3f %8.3f %8.2f %8.2f\n", name, 1e3 * at(series, 0), 1e3 * at(series, 0.5),
               1e3 * at(series, 0.99), 1e3 * at(series, 1), at(series, 0.5) / bare, at(series, 0.99) / bare);
}

/* A row of the table for counts. */
static void print_counts(const char *name, const double *values, int frames) {
    size_t count = (size_t)frames;
    printf("  %-20s %8.2f %8.2f %8.2f %8.2f\n", name, bench_quantile(values, count, 0),
           bench_quantile(values, count, 0.5), bench_quantile(values, count, 0.99), bench_quantile(values, count, 1));
}

static void print_clustering(const bench_depth_run *run) {
    double rest[BENCH_DEPTH_FRAMES], passes[BENCH_DEPTH_FRAMES];
    int frames = run->scene->frames;
    for (int f = 0; f < frames; f++) {
        rest[f] = 1e3 * (run->stage[BENCH_STAGE_CLUSTERING].best[f] - run->load.best[f] - run->passes.best[f]);
        passes[f] = run->iterations[f];
    }
    printf("  %-20s %8.2f %8.2f %8.2f %8.2f\n", "  in bare passes then", bench_series_typical(&run->in_bare, 0),
           bench_series_typical(&run->in_bare, 0.5), bench_series_typical(&run->in_bare, 0.99),
           bench_series_typical(&run->in_bare, 1));
    print_series("  loading points", &run->load, bare_seconds(run), bench_series_best);
    print_series("  in passes", &run->passes, bare_seconds(run), bench_series_best);
    print_counts("  outside of both, ms", rest, frames);
    print_counts("  passes", passes, frames);
    print_counts("  scored, in frames", run->scored, frames);
    print_counts("  missing, share", run->missing, frames);
    if (run->unconverged)
        printf("  %d frames did not converge\n", run->unconverged);
}

static void print_run(const bench_depth_run *run) {
    const bench_depth_scene *scene = run->scene;
    double bare = bare_seconds(run);
    printf("%s, %d thread%s: %d depth frames of %zu x %zu; ddp at 60 degrees\n", scene->name, run->threads,
           run->threads == 1 ? "" : "s", scene->frames, scene->frame[0].width, scene->frame[0].height);
    printf("  bare pass, %-12s %9.3f ms (%.3f), 300000 x 3, K = 6\n", run->bare->name, 1e3 * bare,
           1e3 * bench_samples_median(&run->bare->time));
    printf("  %-20s %8s %8s %8s %8s %8s %8s\n", "ms a frame", "min", "median", "p99", "max", "/ bare", "p99 /");
    for (int s = 0; s < BENCH_STAGES; s++) {
        print_series(bench_stage_name(s), &run->stage[s], bare, bench_series_best);
        if (s >= BENCH_STAGE_CLUSTERING)
            print_series("  all repetitions", &run->stage[s], bare, bench_series_any);
        if (s == BENCH_STAGE_CLUSTERING)
            print_clustering(run);
    }
    print_series("PNG decoding alone", &scene->decoding, bare, bench_series_best);
    if (run->all_labelled.count)
        printf("  all frames: decoded in %.1f ms, from PNG files to labels %.1f ms, %.0f a second\n",
               1e3 * bench_samples_min(&scene->all_decoded), 1e3 * bench_samples_min(&run->all_labelled),
               scene->frames / bench_samples_min(&run->all_labelled));
    printf("\n");
}

void bench_depths_print(const bench_depths *d) {
    for (int r = 0; r < d->run_count; r++)
        print_run(&d->run[r]);
}

/* ---- Goals ------------------------------------------------------------------------------------------------------ */

static void add_files(const bench_depth_run *run, const bench_depth_run *one, bench_goals *goals) {
    const char *name = run->scene->name;
    bench_goals_add(goals, DECODER, from_files(run), 0, "%s, 2 threads: PNG to labels / decoding", name);
    if (one->threads == 1)
        bench_goals_add(goals, DECODER, bench_samples_min(&run->all_labelled) / least_from_files(one), 0,
                        "%s, 2 threads: the same / what processors allow", name);
}

/* `one`: the first run, usually on one thread. */
static void add_two_threads(const bench_depth_run *run, const bench_depth_run *one, bench_goals *goals) {
    const char *name = run->scene->name;
    bench_goals_add(goals, 1e3 * NORMALS, 1e3 * bench_series_best(&run->stage[BENCH_STAGE_NORMALS], 0.5), 0,
                    "%s, 2 threads: filter + normals, ms", name);
    bench_goals_add(goals, 1e3 * NORMALS, 1e3 * bench_series_best(&run->stage[BENCH_STAGE_PLANES], 0.5), 0,
                    "%s, 2 threads: normals of planes, ms", name);
    bench_goals_add(goals, FRAMES_A_SECOND, 1 / bench_series_best(&run->stage[BENCH_STAGE_LABELS], 0.5), 1,
                    "%s, 2 threads: depth to labels, frames a second", name);
    if (run->all_labelled.count)
        add_files(run, one, goals);
}

static void add_clustering(const bench_depth_run *run, bench_goals *goals) {
    const bench_series *clustering = &run->in_bare;
    const char *name = run->scene->name, *threads = run->threads == 1 ? "thread" : "threads";
    bench_goals_add(goals, FRAME, bench_series_typical(clustering, 0.5), 0, "%s, %d %s: median frame, in bare passes",
                    name, run->threads, threads);
    bench_goals_add(goals, TAIL, bench_series_typical(clustering, 0.99), 0, "%s, %d %s: p99, in bare passes", name,
                    run->threads, threads);
}

/* What planes with outlines take, beside normals that keep none. */
static double outlines_seconds(const bench_depth_run *run) {
    return bench_series_best(&run->stage[BENCH_STAGE_OUTLINES], 0.5) +
           bench_series_best(&run->stage[BENCH_STAGE_KEPT], 0.5) -
           bench_series_best(&run->stage[BENCH_STAGE_PLANES], 0.5);
}

/* The goals are for real frames; if there are none, the ray-cast frames are used. Those of two threads are for the
 * first scene. */
void bench_depths_goals(const bench_depths *d, bench_goals *goals) {
    for (int r = 0; r < d->run_count; r++) {
        bool first = d->run[r].scene == &d->scene[0];
        if (first || d->run[r].scene->recorded)
            add_clustering(&d->run[r], goals);
        if (d->run[r].threads == 2)
            bench_goals_add(goals, 1e3 * OUTLINES, 1e3 * outlines_seconds(&d->run[r]), 0,
                            "%s, 2 threads: planes with outlines, ms", d->run[r].scene->name);
        if (first && d->run[r].threads == 2)
            add_two_threads(&d->run[r], &d->run[0], goals);
    }
}
