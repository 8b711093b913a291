/* SPDX-License-Identifier: MIT
 *
 * A long life: frames of streams, frames of planes with poses, empty frames, and calls in one context. Memory must stay
 * what it was after a tenth of the run, although clusters are born, vanish, return and die all the time; the processor
 * time of each tenth is printed. The test runs it short; tools/endurance runs it long:
 *
 *     endurance directions|identities|planes|empty|calls COUNT
 */
#include <asterism.h>
#include <asterism_depth.h>
#include <random.h>

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 50, FACES = 8, WIDE = 16, PEOPLE = 40, VIEWS = 60, WIDTH = 64, HEIGHT = 48, TENTHS = 10 };

typedef struct life {
    ast_context *context;
    ast_random random;
    ast_stream *stream;
    ast_plane_map *map;
    ast_depth_frame *views[VIEWS];
    double poses[VIEWS][12];
    float people[PEOPLE][WIDE];
    size_t events; /* births, deaths and revivals, so that a run that does nothing shows */
} life;

static void need(bool good, const life *of, const char *what) {
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, of->context ? ast_message(of->context) : "");
    exit(1);
}

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- Streams -------------------------------------------------------------------------------------------------------
 */

static void take_frame(life *of, const float *rows, size_t count, size_t dimension) {
    int32_t labels[ROWS];
    ast_frame frame = {.size = sizeof frame};
    ast_points points = ast_points_f4(rows, count, dimension);
    size_t clusters;
    need(ast_stream_step(of->stream, &points, labels, &frame) == AST_OK, of, "a frame");
    const ast_tracked *tracked = ast_stream_clusters(of->stream, &clusters);
    for (size_t k = 0; k < clusters; k++)
        of->events += tracked[k].event == AST_BORN || tracked[k].event == AST_DIED || tracked[k].event == AST_REVIVED;
}

static void open_stream(life *of, size_t dimension, int exclusive) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = dimension;
    options.angle = 30;
    options.lifetime = 200;
    options.exclusive = exclusive;
    need(ast_stream_open(&of->stream, of->context, &options) == AST_OK, of, "a stream");
}

/* The six axes, turning slowly, each away for a while in its turn, and strays that found clusters which die again. */
static void directions(life *of, size_t t) {
    float rows[ROWS][3];
    double turn = (double)(t % 3600) * 3.14159265358979 / 1800;
    if (!of->stream)
        open_stream(of, 3, 0);
    for (size_t i = 0; i < ROWS; i++) {
        size_t axis = i % 6 == t / 10 % 6 ? (i + 1) % 6 : i % 6;
        double v[3] = {0}, c = cos(turn), s = sin(turn);
        v[axis % 3] = axis < 3 ? 1 : -1;
        rows[i][0] = (float)(c * v[0] - s * v[1] + 0.1 * ast_random_normal(&of->random));
        rows[i][1] = (float)(s * v[0] + c * v[1] + 0.1 * ast_random_normal(&of->random));
        rows[i][2] = (float)(v[2] + (i == 7 && t % 50 == 0 ? 2 : 0.1) * ast_random_normal(&of->random));
    }
    take_frame(of, &rows[0][0], ROWS, 3);
}

/* Faces of people who come and go; now and then a stranger who is never seen again. */
static void identities(life *of, size_t t) {
    float rows[FACES][WIDE];
    if (!of->stream) {
        open_stream(of, WIDE, 1);
        for (size_t i = 0; i < PEOPLE * WIDE; i++)
            of->people[i / WIDE][i % WIDE] = (float)ast_random_normal(&of->random);
    }
    for (size_t i = 0; i < FACES; i++)
        for (size_t d = 0; d < WIDE; d++)
            rows[i][d] = (i == 0 && t % 9 == 0 ? 0 : of->people[(t / 30 + 5 * i) % PEOPLE][d]) +
                         (float)ast_random_normal(&of->random) * (i == 0 && t % 9 == 0 ? 1 : 0.1f);
    take_frame(of, &rows[0][0], t % 31 == 0 ? 0 : FACES, WIDE);
}

static void empty(life *of, size_t t) {
    static const float rows[2][3] = {{1, 0, 0}, {0, 1, 0}};
    if (!of->stream)
        open_stream(of, 3, 0);
    take_frame(of, &rows[0][0], t < 3 ? 2 : 0, 3);
}

/* ---- Planes --------------------------------------------------------------------------------------------------------
 */

/* A corner of a room, seen by a camera that moves to and fro: the depth along the axis of the camera. */
static void see(life *of, ast_depth *depth, size_t view) {
    static uint16_t values[WIDTH * HEIGHT];
    static float normals[WIDTH * HEIGHT * 3];
    ast_depth_image image = {sizeof image, values, WIDTH, HEIGHT, WIDTH * (ptrdiff_t)sizeof *values};
    double aside = 0.3 * sin((double)view * 2 * 3.14159265358979 / VIEWS);
    const double pose[12] = {1, 0, 0, aside, 0, 1, 0, 0, 0, 0, 1, 0};
    memcpy(of->poses[view], pose, sizeof pose);
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
        double x = ((double)(i % WIDTH) - 31.5) / 60, y = ((double)(i / WIDTH) - 23.5) / 60, nearest = 3;
        nearest = x > 0 ? fmin(nearest, (1.2 - aside) / x) : nearest; /* a wall to the right, a floor */
        nearest = y > 0 ? fmin(nearest, 0.9 / y) : nearest;
        values[i] = (uint16_t)lround(1000 * nearest + ast_random_normal(&of->random));
    }
    need(ast_depth_frame_open(&of->views[view], of->context) == AST_OK, of, "a frame");
    need(ast_depth_compute(depth, &image, NULL, NULL, normals, of->views[view]) == AST_OK, of, "a depth image");
}

static void planes(life *of, size_t t) {
    size_t count;
    if (!of->map) {
        ast_depth_options options;
        ast_plane_options how;
        ast_depth *depth;
        ast_depth_options_init(&options);
        options.camera = (ast_camera){60, 60, 31.5, 23.5};
        options.planes = 1;
        ast_plane_options_init(&how);
        need(ast_depth_open(&depth, of->context, &options) == AST_OK, of, "a converter");
        need(ast_plane_map_open(&of->map, of->context, &how) == AST_OK, of, "a map");
        for (size_t view = 0; view < VIEWS; view++)
            see(of, depth, view);
        ast_depth_close(depth);
    }
    need(ast_plane_map_frame(of->map, of->views[t % VIEWS], NULL, of->poses[t % VIEWS], NULL) == AST_OK, of, "planes");
    (void)ast_plane_list(of->map, &count);
    of->events += count;
}

/* ---- Calls ---------------------------------------------------------------------------------------------------------
 */

/* One context for clusterings of every shape. */
static void calls(life *of, size_t t) {
    float rows[ROWS * WIDE];
    int32_t labels[ROWS];
    size_t dimension = 2 + t % (WIDE - 1), count = 1 + t * 7 % ROWS;
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_options_init(&options);
    options.method = t % 3 ? AST_DP : AST_SPKM;
    options.angle = 10 + (double)(t % 80);
    options.clusters = 1 + count / 5;
    options.merge.by = t % 5 == 1 ? AST_MERGE_EVIDENCE : AST_MERGE_NONE;
    for (size_t i = 0; i < count * dimension; i++)
        rows[i] = (float)ast_random_normal(&of->random) + (i % dimension == 0 ? 0.5f : 0);
    ast_points points = ast_points_f4(rows, count, dimension);
    if (t % 11 == 0)
        points.size = 0; /* and now and then a mistake */
    ast_status status = ast_cluster(of->context, &points, &options, labels, &report);
    need(status == (t % 11 ? AST_OK : AST_BAD_OPTION), of, "a call");
    of->events += report.clusters;
}

/* ---- A life --------------------------------------------------------------------------------------------------------
 */

static size_t memory_in_use(void) {
    struct mallinfo2 use = mallinfo2();
    return use.uordblks + use.hblkhd;
}

static bool live(const char *name, void (*step)(life *, size_t), size_t count) {
    life of = {.context = NULL};
    size_t before = 0, after = 0, next = 0;
    double first = 0, last = 0;
    ast_random_seed(&of.random, 38, 0);
    need(ast_open(&of.context, 1) == AST_OK, &of, "a context");
    for (size_t tenth = 0; tenth < TENTHS; tenth++) {
        double begin = processor_time();
        for (; next < count / TENTHS * (tenth + 1); next++)
            step(&of, next);
        last = (processor_time() - begin) / (double)(count / TENTHS);
        first = tenth == 1 ? last : first;
        after = memory_in_use();
        before = tenth == 1 ? after : before; /* the first tenth warms up */
    }
    printf("%-12s %10zu %10.2f us %10.2f us %12zu %12zu %12zu\n", name, count, 1e6 * first, 1e6 * last, before, after,
           of.events);
    ast_stream_close(of.stream);
    for (size_t view = 0; view < VIEWS; view++)
        ast_depth_frame_close(of.views[view]);
    ast_plane_map_close(of.map);
    ast_close(of.context);
    return of.events > 0 && after <= before + before / 50;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*step)(life *, size_t);
        size_t few;
    } lives[] = {{"directions", directions, 10000},
                 {"identities", identities, 10000},
                 {"planes", planes, 2000},
                 {"empty", empty, 100000},
                 {"calls", calls, 3000}};
    bool good = true;
    printf("%-12s %10s %13s %13s %12s %12s %12s\n", "life", "steps", "2nd tenth", "last tenth", "bytes", "at the end",
           "events");
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        if (argc < 2 || strcmp(argv[1], lives[i].name) == 0)
            good = live(lives[i].name, lives[i].step, argc > 2 ? strtoull(argv[2], NULL, 10) : lives[i].few) && good;
    if (!good)
        fprintf(stderr, "memory grows, or nothing happened\n");
    return good ? 0 : 1;
}
