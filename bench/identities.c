/* SPDX-License-Identifier: MIT
 *
 * asterism-bench identities: streams of many identities and frames of ten rows, as ratios to the bare product of the
 * rows with all means on one thread: the time of a frame, of a save and of a load; and the memory beside that of the
 * means. Every number is the lowest of several, since other processes only add to it. */
#include "identities.h"

#include <asterism.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "random.h"

enum { ROWS = 10, FRAMES = 200, PRODUCTS = 10, STATES = 3, LANES = 8 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

/* The largest product of each mean with the rows, in vectors of eight; the dimension is a multiple of eight. */
static float bare_product(const float *rows, const float *means, size_t count, size_t dimension) {
    float total = 0;
    for (size_t k = 0; k < count; k++) {
        const float *mean = means + k * dimension;
        lanes sums[ROWS] = {{0}};
        for (size_t d = 0; d < dimension; d += LANES)
            for (int i = 0; i < ROWS; i++)
                sums[i] += *(const lanes *)(mean + d) * *(const lanes *)(rows + (size_t)i * dimension + d);
        for (int i = 0; i < ROWS; i++)
            for (int e = 0; e < LANES; e++)
                total += sums[i][e];
    }
    return total;
}

static double least(double a, double b) {
    return a < b ? a : b;
}

/* Memory of this process, without what was freed. */
static size_t resident_bytes(void) {
    long all, resident = 0;
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2)
        bench_die("/proc/self/statm cannot be read");
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void draw(ast_random *random, const float *around, double noise, size_t dimension, float *x) {
    for (size_t d = 0; d < dimension; d++)
        x[d] = (around ? around[d] : 0) + (float)(noise * ast_random_normal(random));
}

/* Everybody is known from one row. */
static ast_stream *open_stream(ast_context *context, const float *people, size_t count, size_t dimension,
                               int exclusive) {
    ast_stream_options options;
    ast_stream *stream;
    ast_stream_options_init(&options);
    options.dimension = dimension;
    options.angle = 60;
    options.drift = 0.1;
    options.lifetime = 1000000;
    options.exclusive = options.merge_tracked = exclusive;
    if (ast_stream_open(&stream, context, &options) != AST_OK)
        bench_die("%s", ast_message(context));
    for (size_t k = 0; k < count; k++) {
        int32_t id = -1;
        ast_points one = ast_points_f4(people + k * dimension, 1, dimension);
        if (ast_stream_enroll(stream, &one, NULL, &id) != AST_OK)
            bench_die("%s", ast_message(context));
    }
    return stream;
}

/* Returns its time. */
static double one_frame(ast_stream *stream, const ast_context *context, const float *people, size_t count,
                        size_t dimension, ast_random *random) {
    float *x = bench_alloc(ROWS * dimension * sizeof *x);
    int32_t labels[ROWS];
    ast_frame frame = {.size = sizeof frame};
    for (int i = 0; i < ROWS; i++)
        draw(random, people + ast_random_below(random, count) * dimension, 0.5, dimension, x + (size_t)i * dimension);
    ast_points points = ast_points_f4(x, ROWS, dimension);
    double start = bench_now();
    if (ast_stream_step(stream, &points, labels, &frame) != AST_OK)
        bench_die("%s", ast_message(context));
    double seconds = bench_now() - start;
    free(x);
    return seconds;
}

static double time_frames(ast_stream *stream, const ast_context *context, const float *people, size_t count,
                          size_t dimension, ast_random *random) {
    double best = 1e9;
    for (int t = 0; t < FRAMES; t++)
        best = least(best, one_frame(stream, context, people, count, dimension, random));
    return best;
}

static double time_product(const float *people, size_t count, size_t dimension) {
    double best = 1e9;
    volatile float sink;
    for (int p = 0; p < PRODUCTS; p++) {
        double start = bench_now();
        sink = bare_product(people, people, count, dimension);
        best = least(best, bench_now() - start);
    }
    (void)sink;
    return best;
}

/* The first time may wait for memory that the machine has not handed out yet. */
static void save_and_load(ast_stream *stream, const ast_context *context, size_t *bytes, double *save, double *load) {
    double start = bench_now();
    const void *state = ast_stream_save(stream, bytes);
    *save = least(*save, bench_now() - start);
    start = bench_now();
    if (!state || ast_stream_load(stream, state, *bytes) != AST_OK)
        bench_die("%s", ast_message(context));
    *load = least(*load, bench_now() - start);
}

static void measure(size_t count, size_t dimension, int exclusive) {
    ast_context *context;
    ast_random random;
    ast_random_seed(&random, 7, count);
    float *people = bench_alloc(count * dimension * sizeof *people);
    for (size_t k = 0; k < count; k++)
        draw(&random, NULL, 1, dimension, people + k * dimension);
    if (ast_open(&context, 1) != AST_OK)
        bench_die("the context cannot be opened");
    size_t before = resident_bytes(), bytes;
    double bare = time_product(people, count, dimension);
    ast_stream *stream = open_stream(context, people, count, dimension, exclusive);
    double frame = time_frames(stream, context, people, count, dimension, &random);
    double memory = (double)(resident_bytes() - before), means = (double)(count * dimension * sizeof(float));
    double save = 1e9, load = 1e9, changes = 1e9;
    size_t changed = 0;
    for (int t = 0; t < STATES; t++)
        save_and_load(stream, context, &bytes, &save, &load);
    for (int t = 0; t < 20; t++) {
        one_frame(stream, context, people, count, dimension, &random);
        double start = bench_now();
        if (!ast_stream_save_changes(stream, &changed))
            bench_die("%s", ast_message(context));
        changes = least(changes, bench_now() - start);
    }
    printf("%9zu %9zu %9s %10.2f %8.2f %8.2f %8.3f %8.3f %8.5f %8.5f\n", count, dimension, exclusive ? "yes" : "no",
           bare * 1e3, frame / bare, memory / means, save, load, changes, (double)changed / (double)bytes);
    fflush(stdout);
    ast_stream_close(stream);
    ast_close(context);
    free(people);
}

void bench_identities_run(int quick) {
    printf("Ten rows a frame, one thread. frame: times the bare product; memory: resident, times the means in float32\n"
           "changes: seconds to save what a frame changed, and their bytes beside those of the state\n"
           "%9s %9s %9s %10s %8s %8s %8s %8s %8s %8s\n",
           "people", "dimension", "exclusive", "product ms", "frame", "memory", "save s", "load s", "changes", "bytes");
    for (size_t count = 1000; count <= (quick ? 10000u : 100000u); count *= 10)
        for (int exclusive = 0; exclusive < 2; exclusive++)
            measure(count, 512, exclusive);
}
