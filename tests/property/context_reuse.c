/* SPDX-License-Identifier: MIT
 *
 * A context that has clustered before, with more clusters or until it was cancelled, gives what a new one gives, bit
 * for bit: nothing of a run may stay in the next. */
#include "random.h"
#include "reference/cases.h"
#include "reference/harness.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 12000 / (REF_SLOWER > 1 ? 4 : 1), FEW = 500, THREADS = 2 };

typedef struct result {
    int32_t labels[POINTS];
    ast_report report;
} result;

static void run(ast_context *context, const ast_points *points, double angle, result *to) {
    ast_options options;
    ast_options_init(&options);
    options.angle = angle;
    to->report = (ast_report){.size = sizeof to->report};
    assert_int_equal(ast_cluster(context, points, &options, to->labels, &to->report), AST_OK);
}

static int give_up(const ast_progress *state, void *data) {
    (void)data;
    return state->iteration >= 1;
}

/* One pass over some points, each of which becomes a cluster; `cancelled`: over all points, and then it is given up. */
static void disturb(ast_context *context, const ast_points *points, bool cancelled) {
    static result unused;
    ast_points some = *points;
    ast_options options;
    ast_options_init(&options);
    options.angle = cancelled ? 70 : 20;
    options.max_iterations = cancelled ? 100 : 1;
    options.progress = cancelled ? give_up : NULL;
    some.count = cancelled ? POINTS : FEW;
    unused.report = (ast_report){.size = sizeof unused.report};
    ast_status status = ast_cluster(context, &some, &options, unused.labels, &unused.report);
    assert_int_equal(status, cancelled ? AST_CANCELLED : AST_OK);
}

/* Points that have no clusters: their runs are long, and most points are close to changing. */
static void check(uint64_t seed, size_t dimension) {
    static result warm, cold;
    float *rows = malloc(POINTS * dimension * sizeof *rows);
    ast_random random;
    ast_context *used, *fresh;
    assert_non_null(rows);
    ast_random_seed(&random, seed, 0);
    for (size_t i = 0; i < POINTS * dimension; i++)
        rows[i] = (float)ast_random_normal(&random);
    ast_points points = ast_points_f4(rows, POINTS, dimension);
    assert_int_equal(ast_open(&used, THREADS), AST_OK);
    assert_int_equal(ast_open(&fresh, THREADS), AST_OK);
    disturb(used, &points, seed % 4 == 0);
    run(used, &points, 110, &warm);
    run(fresh, &points, 110, &cold);
    if (memcmp(warm.labels, cold.labels, sizeof cold.labels) != 0 || warm.report.objective != cold.report.objective)
        fail_msg("seed %d, D = %zu: a used context gives other labels", (int)seed, dimension);
    ast_close(used);
    ast_close(fresh);
    free(rows);
}

static void same_as_new(void **state) {
    (void)state;
    for (uint64_t seed = 7; seed < 7 + ref_case_count(6); seed++) /* seed 9 found the flags of fast clusters */
        check(seed, seed % 6 == 0 ? 3 : 96);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_new)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
