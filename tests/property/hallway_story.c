/* SPDX-License-Identifier: MIT
 *
 * From depth to directions and through the turn, on the ray-cast hallway, whose answer is known: the normals are right,
 * every frame is segmented well, and a direction that comes back has the id that it had before. A tracker without
 * memory gives it another one. */
#include "degree.h"
#include "reference/cases.h"
#include "reference/hallway.h"
#include "reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
    DIRECTIONS = AST_SCENE_DIRECTIONS,
    MINUS_Y = 3,
    MINUS_Z = 5,
    FRAMES = REF_SLOWER > 1 ? 12 : 60,
    MOST_IDS = 64,
    SAMPLED = 7 /* of so many normals one is measured: no divisor of the width */
};

/* A walk on its way through the library. */
typedef struct walk {
    ast_hallway hallway;
    size_t pixels;
    ast_context *context;
    ast_depth *maker;
    ast_stream *ddp, *sdp;
    uint16_t *depth;
    int32_t *truth, *labels;
    float *normals; /* in the world */
    double *errors;
} walk;

static ast_stream *open_stream(ast_context *context, ast_stream_method method) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.angle = 75;
    options.method = method;
    ast_stream *stream;
    ast_stream_open(&stream, context, &options);
    assert_non_null(stream);
    return stream;
}

static void walk_open(walk *w) {
    ast_hallway_init(&w->hallway);
    w->hallway.frames = FRAMES;
    w->pixels = w->hallway.width * w->hallway.height;
    ast_open(&w->context, 2);
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.smooth = AST_SMOOTH_GUIDED;
    options.camera = w->hallway.camera;
    ast_depth_open(&w->maker, w->context, &options);
    assert_non_null(w->maker);
    w->ddp = open_stream(w->context, AST_STREAM_DDP);
    w->sdp = open_stream(w->context, AST_STREAM_SDP);
    w->depth = ref_take(w->pixels, sizeof *w->depth);
    w->truth = ref_take(w->pixels, sizeof *w->truth);
    w->labels = ref_take(w->pixels, sizeof *w->labels);
    w->normals = ref_take(w->pixels * 3, sizeof *w->normals);
    w->errors = ref_take(w->pixels, sizeof *w->errors);
}

static void walk_close(walk *w) {
    ast_stream_close(w->ddp);
    ast_stream_close(w->sdp);
    ast_depth_close(w->maker);
    ast_close(w->context);
    free(w->depth);
    free(w->truth);
    free(w->labels);
    free(w->normals);
    free(w->errors);
}

/* The normals of a frame, turned into the world; truth becomes -1 where there is none. */
static void take_normals(walk *w, size_t index) {
    ast_hallway_frame frame;
    assert_int_equal(ast_hallway_render(w->context, &w->hallway, index, w->depth, w->truth, &frame), AST_OK);
    ast_depth_image image = {sizeof image, w->depth, w->hallway.width, w->hallway.height,
                             (ptrdiff_t)(w->hallway.width * sizeof *w->depth)};
    assert_int_equal(ast_depth_compute(w->maker, &image, NULL, NULL, w->normals, NULL), AST_OK);
    for (size_t p = 0; p < w->pixels; p++) {
        float *n = w->normals + 3 * p;
        const double normal[3] = {(double)n[0], (double)n[1], (double)n[2]};
        double turned[3];
        ref_hallway_turn(frame.rotation, normal, turned);
        for (int a = 0; a < 3; a++)
            n[a] = (float)turned[a];
        if (isnan(n[0]))
            w->truth[p] = -1;
    }
}

/* ---- Normals ---------------------------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_normals(walk *w, size_t index) {
    size_t directions, count = 0;
    const double *direction = ast_hallway_directions(&directions);
    for (size_t p = 0; p < w->pixels; p += SAMPLED) {
        if (w->truth[p] < 0 || w->depth[p] >= 4000)
            continue;
        double cosine = 0;
        for (int a = 0; a < 3; a++)
            cosine += (double)w->normals[3 * p + (size_t)a] * direction[3 * w->truth[p] + a];
        w->errors[count++] = acos(fmin(1, fmax(-1, cosine))) / AST_DEGREE;
    }
    assert_true(count > w->pixels / SAMPLED / 4);
    qsort(w->errors, count, sizeof *w->errors, compare_doubles);
    if (w->errors[count / 2] >= 2)
        fail_msg("frame %zu: half of the normals are more than %.2f degrees off", index, w->errors[count / 2]);
}

/* ---- Labels ------------------------------------------------------------------------------------------------------ */

/* The id that most pixels of each direction have; -1 for directions with less than 2% of the pixels. */
static void ids_of(const walk *w, int32_t *ids) {
    size_t votes[DIRECTIONS][MOST_IDS] = {{0}}, count[DIRECTIONS] = {0};
    for (size_t p = 0; p < w->pixels; p++) {
        if (w->truth[p] < 0 || w->labels[p] < 0)
            continue;
        assert_true(w->labels[p] < MOST_IDS);
        votes[w->truth[p]][w->labels[p]]++;
        count[w->truth[p]]++;
    }
    for (int d = 0; d < DIRECTIONS; d++) {
        ids[d] = -1;
        for (int32_t id = 0; count[d] >= w->pixels / 50 && id < MOST_IDS; id++)
            if (ids[d] < 0 || votes[d][id] > votes[d][ids[d]])
                ids[d] = id;
    }
}

static void follow(walk *w, ast_stream *stream, size_t index, int32_t *ids) {
    ast_points points = ast_points_f4(w->normals, w->pixels, 3);
    ast_frame frame = {.size = sizeof frame};
    ast_agreement agreement = {.size = sizeof agreement};
    assert_int_equal(ast_stream_step(stream, &points, w->labels, &frame), AST_OK);
    assert_int_equal(ast_compare(w->context, w->labels, w->truth, w->pixels, &agreement), AST_OK);
    if (stream == w->ddp && agreement.truths >= 3 && agreement.nmi < 0.9)
        fail_msg("frame %zu: NMI %.3f with %zu directions", index, agreement.nmi, agreement.truths);
    ids_of(w, ids);
}

/* With memory every direction has one id from its first frame to its last, and no two have the same. */
static void check_ids(int32_t *known, const int32_t *ids, size_t index) {
    for (int d = 0; d < DIRECTIONS; d++) {
        if (ids[d] < 0)
            continue;
        if (known[d] >= 0 && known[d] != ids[d])
            fail_msg("frame %zu: direction %d has id %d, and had %d", index, d, ids[d], known[d]);
        known[d] = ids[d];
        for (int e = 0; e < DIRECTIONS; e++)
            if (e != d && known[e] == ids[d])
                fail_msg("frame %zu: directions %d and %d both have id %d", index, d, e, ids[d]);
    }
}

static void ids_survive_the_turn(void **state) {
    (void)state;
    walk w;
    walk_open(&w);
    int32_t known[DIRECTIONS], first[DIRECTIONS], ids[DIRECTIONS];
    int gap[DIRECTIONS] = {0};
    for (int d = 0; d < DIRECTIONS; d++)
        known[d] = first[d] = -1;
    for (size_t i = 0; i < FRAMES; i++) {
        take_normals(&w, i);
        check_normals(&w, i);
        follow(&w, w.ddp, i, ids);
        check_ids(known, ids, i);
        follow(&w, w.sdp, i, ids);
        for (int d = 0; d < DIRECTIONS; d++) {
            first[d] = first[d] < 0 ? ids[d] : first[d];
            gap[d] += ids[d] < 0;
        }
    }
    for (int d = 0; d < DIRECTIONS; d++)
        assert_true(known[d] >= 0);
    assert_true(gap[MINUS_Y] > FRAMES / 10 && gap[MINUS_Z] > FRAMES / 10);         /* they were away, ... */
    assert_true(first[MINUS_Y] != ids[MINUS_Y] && first[MINUS_Z] != ids[MINUS_Z]); /* ... and sdp forgot them */
    walk_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ids_survive_the_turn)};
    return cmocka_run_group_tests_name("the story of the hallway", tests, NULL, NULL);
}
