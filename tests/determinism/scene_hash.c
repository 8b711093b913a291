/* SPDX-License-Identifier: MIT
 *
 * One hash over frames of the hallway: on any number of threads, in any order, and the one that stands here, so that a
 * compiler or a processor that makes other bits shows. */
#include "reference/hallway.h"
#include "reference/reference.h"

#include <fnv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EXPECTED UINT64_C(0xc1559e0c836f896b) /* of little-endian bytes */

static const size_t frames[] = {0, 31, 55, 63, 70, 119};
enum { FRAMES = sizeof frames / sizeof *frames };

static uint64_t hash_frame(ast_context *context, const ast_hallway *hallway, size_t index) {
    size_t pixels = hallway->width * hallway->height;
    uint16_t *depth = ref_take(pixels, sizeof *depth);
    int32_t *truth = ref_take(pixels, sizeof *truth);
    ast_hallway_frame frame;
    assert_int_equal(ast_hallway_render(context, hallway, index, depth, truth, &frame), AST_OK);
    uint64_t h = ast_fnv(AST_FNV_START, depth, pixels * sizeof *depth);
    h = ast_fnv(h, truth, pixels * sizeof *truth);
    h = ast_fnv(h, &frame, sizeof frame);
    free(depth);
    free(truth);
    return h;
}

static void the_same_bits_everywhere(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        ast_context *context;
        ast_open(&context, threads[t]);
        assert_non_null(context);
        uint64_t sum = 0;
        for (size_t i = 0; i < FRAMES; i++) {
            size_t index = frames[t % 2 ? FRAMES - 1 - i : i];
            ast_hallway hallway;
            ast_hallway_init(&hallway);
            sum += hash_frame(context, &hallway, index) * (2 * index + 1);
        }
        if (sum != EXPECTED)
            fail_msg("%d threads: the hash is 0x%" PRIx64 ", should be 0x%" PRIx64, threads[t], sum, EXPECTED);
        ast_close(context);
    }
}

/* Every option counts, and whether the truth is asked for does not. */
static void options_make_the_difference(void **state) {
    (void)state;
    ast_context *context;
    ast_open(&context, 2);
    ast_hallway base = ref_hallway_smaller(8), seed = base, exact = base, slower = base;
    seed.seed = 2;
    exact.noise = 0;
    slower.frames = 121;
    uint64_t hashes[] = {hash_frame(context, &base, 20), hash_frame(context, &seed, 20),
                         hash_frame(context, &exact, 20), hash_frame(context, &slower, 20),
                         hash_frame(context, &base, 21)};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_true(hashes[i] != hashes[j]);
    uint16_t with[80 * 60], without[80 * 60];
    int32_t truth[80 * 60];
    assert_int_equal(ast_hallway_render(context, &base, 20, with, truth, NULL), AST_OK);
    assert_int_equal(ast_hallway_render(context, &base, 20, without, NULL, NULL), AST_OK);
    assert_memory_equal(with, without, sizeof with);
    exact.seed = 3; /* there is nothing random in it */
    assert_true(hash_frame(context, &exact, 20) == hashes[2]);
    ast_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_everywhere),
        cmocka_unit_test(options_make_the_difference),
    };
    return cmocka_run_group_tests_name("hashes of the hallway", tests, NULL, NULL);
}
