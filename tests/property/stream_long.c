/* SPDX-License-Identifier: MIT
 *
 * A long stream of small frames, as a real-time caller has it: in the steady state a step allocates nothing, and memory
 * stays what it was, although clusters are born, vanish, return and die all the time. The linker's --wrap counts. */
#include "reference/cases.h"
#include "reference/no_memory.h"
#include "reference/reference.h"

#include "random.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { POINTS = 50, CYCLE = 60, WARM = 10 * CYCLE };

static size_t all_frames(void) {
    return (ref_long() ? 100000 : 20000) / REF_SLOWER;
}

/* Frame t of the cycle: the six axis directions turning slowly, each of them away for twelve frames in its turn, a few
 * strays that found clusters which die again, and now and then no points at all. */
static size_t fill_frame(float *x, size_t t, ast_random *random) {
    double turn = 2 * M_PI * (double)t / CYCLE, c = cos(turn), s = sin(turn);
    if (t % 20 == 19)
        return 0;
    for (size_t i = 0; i < POINTS; i++) {
        size_t axis = i % 6, away = t / 10 % 6;
        double v[3] = {0, 0, 0};
        v[(axis == away ? axis + 1 : axis) % 3] = axis < 3 ? 1 : -1;
        float *row = x + i * 3;
        row[0] = (float)(c * v[0] - s * v[1]);
        row[1] = (float)(s * v[0] + c * v[1]);
        row[2] = (float)v[2];
        for (size_t d = 0; d < 3; d++)
            row[d] = (float)((i % 17 == 16 ? 0 : row[d]) + 0.1 * ast_random_normal(random));
    }
    return POINTS;
}

/* What happened over a stretch of the stream. */
typedef struct tally {
    size_t events[AST_MERGED + 1], most;
} tally;

static void step(ast_context *context, ast_stream *stream, const float *x, size_t count, tally *sum) {
    int32_t labels[POINTS];
    ast_frame frame = {.size = sizeof frame};
    size_t clusters;
    ast_points points = ast_points_f4(x, count, 3);
    if (ast_stream_step(stream, &points, labels, &frame) != AST_OK)
        fail_msg("%s", ast_message(context));
    const ast_tracked *records = ast_stream_clusters(stream, &clusters);
    for (size_t k = 0; k < clusters; k++)
        sum->events[records[k].event]++;
    sum->most = clusters > sum->most ? clusters : sum->most;
}

static void run_long(int threads, ast_parallel parallel, ast_stream_method method, int merging, size_t frames) {
    static float x[CYCLE][POINTS * 3];
    size_t counts[CYCLE];
    ast_random random;
    ast_stream_options options;
    tally sum = {{0}, 0};
    ast_random_seed(&random, 1, 12);
    for (size_t t = 0; t < CYCLE; t++)
        counts[t] = fill_frame(x[t], t, &random);
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.angle = 40;
    options.lifetime = 8;
    options.method = method;
    options.parallel = parallel;
    options.merge_tracked = options.rigid = merging;
    ast_context *context;
    ast_open(&context, threads);
    assert_non_null(context);
    ast_stream *stream;
    ast_stream_open(&stream, context, &options);
    assert_non_null(stream);
    for (size_t t = 0; t < WARM; t++)
        step(context, stream, x[t % CYCLE], counts[t % CYCLE], &sum);
    long before = atomic_load(&ast_test_allocations);
    size_t bytes = mallinfo2().uordblks;
    for (size_t t = WARM; t < WARM + frames; t++) {
        step(context, stream, x[t % CYCLE], counts[t % CYCLE], &sum);
        if (atomic_load(&ast_test_allocations) != before)
            fail_msg("frame %zu allocates (%d threads, mode %d, method %d)", t, threads, parallel, method);
    }
    size_t caches = (size_t)(threads - 1) * 1024; /* the C library's, made when a thread first frees something */
    if (mallinfo2().uordblks > bytes + caches)
        fail_msg("%zu bytes in use after the run, %zu before it", mallinfo2().uordblks, bytes);
    assert_true(sum.most < 60);
    assert_true(sum.events[AST_BORN] > frames / 100 && sum.events[AST_SEEN] > frames);
    if (method == AST_STREAM_DDP && !merging)
        for (int event = AST_BORN; event <= AST_DIED; event++)
            assert_true(sum.events[event] > frames / 100); /* all of it happens all the time */
    ast_stream_close(stream);
    ast_close(context);
}

static void a_long_stream_allocates_nothing(void **state) {
    (void)state;
    run_long(1, AST_ORDERED, AST_STREAM_DDP, 0, all_frames());
    run_long(1, AST_ORDERED, AST_STREAM_DDP, 1, all_frames() / 4);
}

static void nor_does_any_other_way(void **state) {
    (void)state;
    for (int mode = AST_ORDERED; mode <= AST_SERIAL; mode++) {
        run_long(2, (ast_parallel)mode, AST_STREAM_DDP, 0, all_frames() / 20);
        run_long(2, (ast_parallel)mode, AST_STREAM_SDP, 0, all_frames() / 50);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_stream_allocates_nothing),
        cmocka_unit_test(nor_does_any_other_way),
    };
    return cmocka_run_group_tests_name("long streams", tests, NULL, NULL);
}
