/* SPDX-License-Identifier: MIT
 *
 * examples/live.c as a robot would use it: planes keep their ids while the camera sways, floats and 16 bits are the
 * same, a frame without a pose changes nothing, and after the first round nothing is allocated. */
int live_main(void);
#define main live_main
#include "../../examples/live.c"
#undef main

#include "reference/harness.h"
#include "reference/no_memory.h"

#include <string.h>

enum { ROUND = 126 }; /* frames of a sway, from side to side and back */

static void frames_in_memory_allocate_nothing(void **state) {
    (void)state;
    static float metres[PIXELS];
    static int32_t once[PIXELS];
    const ast_camera camera = {525, 525, 319.5, 239.5};
    live l = {0};
    double pose[12];
    size_t count, first = 0;
    long before = 0;
    assert_true(live_open(&l, &camera));
    for (int t = 0; t < 2 * ROUND; t += 3) {
        simulate(t, &camera, metres, pose);
        if (t == ROUND)
            before = atomic_load(&ast_test_allocations);
        assert_int_equal(live_step_floats(&l, metres, pose), AST_OK);
        const ast_plane_info *planes = ast_plane_list(l.map, &count);
        assert_true(count > 0);
        int32_t largest = planes[count - 1].id;
        first = t < ROUND && largest + 1 > (int32_t)first ? (size_t)largest + 1 : first;
        assert_true(largest < (int32_t)first || t < ROUND); /* no new id in the second round */
    }
    assert_int_equal(atomic_load(&ast_test_allocations), before);
    assert_true(first >= 3 && first <= 6);
    memcpy(once, l.planes, sizeof once);
    assert_int_equal(live_step(&l, l.values, NULL), AST_OK);
    assert_memory_equal(once, l.planes, sizeof once);
    assert_int_equal(live_step(&l, l.values, pose), AST_OK);
    assert_memory_equal(once, l.planes, sizeof once);
    pose[0] = NAN;
    assert_int_not_equal(live_step(&l, l.values, pose), AST_OK);
    live_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_in_memory_allocate_nothing)};
    return cmocka_run_group_tests_name("a camera in memory", tests, NULL, NULL);
}
