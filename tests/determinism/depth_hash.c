/* SPDX-License-Identifier: MIT
 *
 * One hash of metres, points and normals over threads and instruction sets: frames of the noisy hallway, and random
 * images of awkward sizes, with every kind of smoothing. Bands depend on the threads; the bits must not. */
#include "reference/depth.h"
#include "private/asterism_hallway.h"
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 6, MOST = 320 * 240 };

typedef struct picture {
    size_t width, height;
    uint16_t *values;
    ast_depth_options options;
} picture;

static picture pictures[IMAGES];

static void hallway_picture(picture *p, size_t frame) {
    ast_hallway hallway;
    ast_hallway_frame pose;
    ast_hallway_init(&hallway);
    hallway.frames = 100;
    if (REF_SLOWER > 1) { /* under a sanitizer, for time */
        hallway.width = 112;
        hallway.height = 90;
        hallway.camera = (ast_camera){92, 92, 55.5, 44.5};
    } else {
        hallway.width = 320;
        hallway.height = 240;
        hallway.camera = (ast_camera){262.5, 262.5, 159.5, 119.5};
    }
    *p = (picture){hallway.width, hallway.height, ref_take(MOST, sizeof *p->values), {.smooth = AST_SMOOTH_GUIDED}};
    ast_depth_options_init(&p->options);
    p->options.smooth = AST_SMOOTH_GUIDED;
    p->options.camera = hallway.camera;
    assert_int_equal(ast_hallway_render(ref_context(REF_FAST, 2), &hallway, frame, p->values, NULL, &pose), AST_OK);
}

static void random_picture(picture *p, size_t width, size_t height, uint64_t seed) {
    ast_random random;
    ast_random_seed(&random, seed, 81);
    *p = (picture){width, height, ref_take(width * height, sizeof *p->values), {.smooth = AST_SMOOTH_GUIDED}};
    ast_depth_options_init(&p->options);
    p->options.smooth = AST_SMOOTH_GUIDED;
    p->options.camera = (ast_camera){200, 190, (double)width / 2, (double)height / 2};
    ref_depth_image(p->values, width, height, &p->options, &random);
}

static int make_pictures(void **state) {
    (void)state;
    hallway_picture(&pictures[0], 20);
    hallway_picture(&pictures[1], 50);
    random_picture(&pictures[2], 131, 77, 1);
    random_picture(&pictures[3], 3, 200, 2);
    random_picture(&pictures[4], 301, 5, 3);
    random_picture(&pictures[5], 64, 97, 4);
    pictures[5].options.filter_radius = 5;
    pictures[5].options.window = 9;
    return 0;
}

static int end(void **state) {
    (void)state;
    for (int i = 0; i < IMAGES; i++)
        free(pictures[i].values);
    ref_contexts_close();
    return 0;
}

/* A handle for every kind of smoothing sees all images one after the other: what one leaves behind meets the next. */
static uint64_t hash_of(const char *isa, int threads) {
    static float metres[MOST], points[3 * MOST], normals[3 * MOST];
    ast_context *context = ref_context(isa, threads);
    uint64_t hash = 0;
    for (int smooth = AST_SMOOTH_GUIDED; smooth <= AST_SMOOTH_PLANES; smooth++)
        for (int i = 0; i < IMAGES; i++) {
            const picture *p = &pictures[i];
            size_t n = p->width * p->height;
            ast_depth_options options = p->options;
            options.smooth = (ast_smooth)smooth;
            options.tv_iterations = 6;
            ast_depth *depth;
            ast_depth_open(&depth, context, &options);
            ast_depth_image image = {sizeof image, p->values, p->width, p->height,
                                     (ptrdiff_t)(p->width * sizeof *p->values)};
            assert_non_null(depth);
            assert_int_equal(ast_depth_compute(depth, &image, metres, NULL, NULL, NULL), AST_OK);
            assert_int_equal(ast_depth_compute(depth, &image, NULL, points, NULL, NULL), AST_OK);
            assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, normals, NULL), AST_OK);
            ast_depth_close(depth);
            hash = ref_hash_floats(hash, metres, n);
            hash = ref_hash_floats(hash, points, 3 * n);
            hash = ref_hash_floats(hash, normals, 3 * n);
        }
    return hash;
}

static void one_hash(void **state) {
    (void)state;
    static const char *const sets[] = {"base", REF_FAST};
    static const int threads[] = {1, 2, 3, 8};
    uint64_t expected = hash_of(REF_FAST, 2);
    for (int s = 0; s < 2 && ref_has(sets[s]); s++)
        for (int t = 0; t < 4; t++) {
            if (REF_SLOWER > 1 && s == 0 && threads[t] != 3)
                continue; /* under a sanitizer, for time */
            uint64_t got = hash_of(sets[s], threads[t]);
            if (got != expected)
                fail_msg("%s, %d threads: %016llx, should be %016llx", sets[s], threads[t], (unsigned long long)got,
                         (unsigned long long)expected);
        }
}

/* One handle, images of several sizes in turn and the first again: the same bits as from a fresh one. */
static void handles_forget(void **state) {
    (void)state;
    static float first[3 * MOST], again[3 * MOST];
    ast_depth_options options = pictures[0].options;
    ast_depth *depth;
    ast_depth_open(&depth, ref_context(REF_FAST, 2), &options);
    assert_non_null(depth);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < IMAGES; i++) {
            const picture *p = &pictures[i];
            ast_depth *fresh;
            ast_depth_open(&fresh, ref_context(REF_FAST, 3), &options);
            ast_depth_image image = {sizeof image, p->values, p->width, p->height,
                                     (ptrdiff_t)(p->width * sizeof *p->values)};
            assert_non_null(fresh);
            assert_int_equal(ast_depth_compute(depth, &image, NULL, NULL, again, NULL), AST_OK);
            assert_int_equal(ast_depth_compute(fresh, &image, NULL, NULL, first, NULL), AST_OK);
            assert_true(ref_hash_floats(0, first, 3 * p->width * p->height) ==
                        ref_hash_floats(0, again, 3 * p->width * p->height));
            ast_depth_close(fresh);
        }
    ast_depth_close(depth);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_hash), cmocka_unit_test(handles_forget)};
    return cmocka_run_group_tests_name("depth hash", tests, make_pictures, end);
}
