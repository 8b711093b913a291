/* SPDX-License-Identifier: MIT
 *
 * Streams: W4 frame by frame, and a million small frames. */
#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

#include "axes.h"
#include "goals.h"
#include "scene.h"
#include "series.h"

#include <json.h>

#define BENCH_FRAMES 100 /* of W4 */

/* Runs over the frames of W4. */
enum {
    BENCH_STREAM_W4,     /* 70 degrees, lifetime 25 */
    BENCH_STREAM_STILL,  /* the same without the rotation of the camera */
    BENCH_STREAM_LONG,   /* lifetime 200, after a prelude of small frames */
    BENCH_STREAM_UNSEEN, /* the same, with ten more clusters from the prelude that are tracked but not visible */
    BENCH_STREAM_PAPER,  /* 100 degrees, beta 1e5, lifetime 400 */
    BENCH_STREAM_KINDS
};

const char *bench_stream_name(int kind);

typedef struct bench_stream_run {
    int kind, threads;
    bench_series times;
    bench_series in_bare; /* in units of the bare passes just before: they share the machine's mood */
    int passes[BENCH_FRAMES];
    int unconverged, nan_frames; /* frames */
    int switches;                /* a direction that was visible in the frame before has another id */
    int lost;                    /* a direction came back with another id */
    int least_unseen;            /* tracked but invisible clusters, minimum over the frames */
    uint64_t labels_hash;
} bench_stream_run;

/* One million small frames. */
typedef struct bench_million {
    size_t frames;
    double first, last;           /* seconds per frame: medians of the first and the last 10,000 */
    double seconds;               /* all */
    size_t peak_early, peak_late; /* VmHWM after the first 10,000 frames and at the end */
    size_t heap_early, heap_late; /* bytes allocated by malloc */
    int32_t ids;                  /* used up */
    size_t most_clusters;
} bench_million;

typedef struct bench_streams {
    size_t count; /* points per frame; 0: W4 is not requested */
    float *points[BENCH_FRAMES];
    uint8_t *truth[BENCH_FRAMES];
    float means[3 * BENCH_AXES]; /* of the first frame */
    int bare_count, run_count;
    bench_axes bare[8]; /* over the first frame */
    bench_stream_run run[8 * BENCH_STREAM_KINDS];
    bench_million million; /* frames 0: not requested */
} bench_streams;

/* Makes the frames, only `share` of their points; results for each number of threads. */
void bench_streams_open(bench_streams *streams, double share, const int *threads, int thread_counts, int repetitions);
void bench_streams_repeat(bench_streams *streams); /* one more repetition of all runs and bare passes, in turn */
void bench_streams_free(bench_streams *streams);

void bench_million_run(bench_million *million, size_t frames, int threads);

void bench_streams_print(const bench_streams *streams);
void bench_streams_goals(const bench_streams *streams, bench_goals *goals);
void bench_streams_write(const bench_streams *streams, ast_text *json);
int bench_streams_agree(const bench_streams *streams); /* whether the labels agree over the numbers of threads */

#endif
