/* SPDX-License-Identifier: MIT
 *
 * Several ranks give what one process gives, bit for bit: labels, means, counts, objectives, passes; however the points
 * are cut, with births and deaths on either side of the cuts. The ranks are threads here. */
#include "reference/harness.h"
#include "reference/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 6 };

/* What came out of a run. */
typedef struct outcome {
    ast_status status;
    char message[512];
    int32_t *labels; /* (N) */
    ast_report report;
    ast_cluster_info *clusters;
    float *means;
    ref_trace trace;
} outcome;

typedef struct task {
    const ref_case *made;
    ast_options options;
    size_t cut[MOST_RANKS + 1]; /* rank r has points cut[r]..cut[r+1] */
    int threads;
    outcome result[MOST_RANKS]; /* labels of result 0 are of all points */
} task;

static void take(outcome *o, const ast_context *context) {
    size_t count, dimension = o->report.dimension;
    const ast_cluster_info *clusters = ast_clusters(context, &count);
    o->clusters = malloc((count + 1) * sizeof *clusters);
    o->means = malloc((count * dimension + 1) * sizeof *o->means);
    if (count) {
        memcpy(o->clusters, clusters, count * sizeof *clusters);
        memcpy(o->means, ast_means(context), count * dimension * sizeof *o->means);
    }
}

static void run(ast_context *context, const ast_points *points, ast_options options, int32_t *labels, outcome *o) {
    options.progress = ref_trace_record;
    options.progress_data = &o->trace;
    o->report.size = sizeof o->report;
    o->status = ast_cluster(context, points, &options, labels, &o->report);
    snprintf(o->message, sizeof o->message, "%s", ast_message(context));
    if (o->status == AST_OK)
        take(o, context);
}

static void free_outcome(outcome *o) {
    free(o->labels);
    free(o->clusters);
    free(o->means);
    ref_trace_free(&o->trace);
}

static void run_rank(const ast_comm *comm, void *data) {
    task *t = data;
    ast_context *context;
    ast_open(&context, t->threads);
    ast_join(context, comm);
    size_t first = t->cut[comm->rank];
    ast_points slice = t->made->points;
    slice.data = (const char *)slice.data + (ptrdiff_t)first * slice.row_stride;
    slice.weights = slice.weights ? slice.weights + first : NULL;
    slice.count = t->cut[comm->rank + 1] - first;
    run(context, &slice, t->options, t->result[0].labels + first, &t->result[comm->rank]);
    ast_close(context);
}

static void compare(const task *t, int size, const outcome *one, const char *what) {
    char text[400];
    for (int r = 0; r < size; r++) {
        const outcome *o = &t->result[r];
        snprintf(text, sizeof text, "seed %llu, %s: %s: rank %d of %d, %d threads", (unsigned long long)t->made->seed,
                 t->made->text, what, r, size, t->threads);
        if (o->status != one->status || strcmp(o->message, one->message) != 0)
            fail_msg("%s: '%s', one process: '%s'", text, o->message, one->message);
        if (o->status != AST_OK)
            continue;
        const ast_report *a = &o->report, *b = &one->report;
        if (a->points != b->points || a->missing != b->missing || a->clusters != b->clusters ||
            a->iterations != b->iterations || a->converged != b->converged || a->objective != b->objective)
            fail_msg("%s: %zu clusters after %d passes, objective %.17g; one process: %zu, %d, %.17g", text,
                     a->clusters, a->iterations, a->objective, b->clusters, b->iterations, b->objective);
        if (memcmp(o->means, one->means, b->clusters * b->dimension * sizeof *o->means) != 0)
            fail_msg("%s: the means differ", text);
        for (size_t k = 0; k < b->clusters; k++)
            if (o->clusters[k].count != one->clusters[k].count || o->clusters[k].weight != one->clusters[k].weight ||
                o->clusters[k].resultant != one->clusters[k].resultant)
                fail_msg("%s: cluster %zu differs", text, k);
        for (size_t p = 0; p < one->trace.count; p++)
            if (o->trace.passes[p].changed != one->trace.passes[p].changed ||
                o->trace.passes[p].objective != one->trace.passes[p].objective)
                fail_msg("%s: pass %zu changed %zu, objective %.17g; one process: %zu, %.17g", text, p + 1,
                         o->trace.passes[p].changed, o->trace.passes[p].objective, one->trace.passes[p].changed,
                         one->trace.passes[p].objective);
        if (o->trace.starts != one->trace.starts)
            fail_msg("%s: %zu starts, one process: %zu", text, o->trace.starts, one->trace.starts);
    }
    if (one->status == AST_OK)
        for (size_t i = 0; i < t->made->points.count; i++)
            if (t->result[0].labels[i] != one->labels[i])
                fail_msg("%s: label %zu is %d, one process: %d", text, i, t->result[0].labels[i], one->labels[i]);
}

/* Cuts anywhere: some ranks may have no points at all. */
static void cut(task *t, int size, ast_random *random) {
    size_t count = t->made->points.count;
    t->cut[0] = 0;
    t->cut[size] = count;
    for (int r = 1; r < size; r++)
        t->cut[r] =
            ast_random_below(random, 3) ? count * (size_t)r / (size_t)size : ast_random_below(random, count + 1);
    for (int a = 1; a < size; a++)
        for (int b = a; b > 1 && t->cut[b] < t->cut[b - 1]; b--) {
            size_t other = t->cut[b];
            t->cut[b] = t->cut[b - 1];
            t->cut[b - 1] = other;
        }
}

static void check_options(const ref_case *made, const ast_options *options, const char *what, size_t ways,
                          ast_random *random) {
    outcome one = {.labels = malloc((made->points.count + 1) * sizeof *one.labels)};
    run(ref_context(REF_FAST, 1), &made->points, *options, one.labels, &one);
    for (size_t way = 0; way < ways; way++) {
        int size = 2 + (int)ast_random_below(random, MOST_RANKS - 1);
        task t = {.made = made, .options = *options, .threads = 1 + (int)ast_random_below(random, 2)};
        t.result[0].labels = malloc((made->points.count + 1) * sizeof *one.labels);
        t.options.bounds = (int)ast_random_below(random, 4) > 0;
        cut(&t, size, random);
        ref_ranks_run(size, run_rank, &t);
        compare(&t, size, &one, what);
        for (int r = 0; r < size; r++)
            free_outcome(&t.result[r]);
    }
    free_outcome(&one);
}

static void check_dp(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ast_random random;
    ref_case_make(&made, seed, size);
    ast_random_seed(&random, seed, 77);
    ast_options options = ref_dp_options(made.angle);
    options.axial = (int)ast_random_below(&random, 4) == 0;
    if (made.means) {
        options.start.by = AST_GIVEN;
        options.start.means = made.means;
        options.start.means_count = made.means_count;
    }
    check_options(&made, &options, "dp", ways, &random);
    ref_case_free(&made);
}

static void check_spkm(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ast_random random;
    ref_case_make(&made, seed, size);
    ast_random_seed(&random, seed, 78);
    ast_options options;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.axial = (int)ast_random_below(&random, 4) == 0;
    options.clusters = 1 + ast_random_below(&random, 8);
    options.seed = seed;
    options.start.by = ast_random_below(&random, 3) ? AST_PLUSPLUS : AST_RANDOM;
    options.restarts = 1 + (int)ast_random_below(&random, 2);
    check_options(&made, &options, "spkm", ways, &random);
    ref_case_free(&made);
}

static void test_small_dp(void **state) {
    (void)state;
    ref_check_seeds(check_dp, REF_SMALL, 600, 2);
}

static void test_small_spkm(void **state) {
    (void)state;
    ref_check_seeds(check_spkm, REF_SMALL, 150, 2);
}

static void test_large_dp(void **state) {
    (void)state;
    ref_check_seeds(check_dp, REF_LARGE, 30, 2);
}

static void test_large_spkm(void **state) {
    (void)state;
    ref_check_seeds(check_spkm, REF_LARGE, 12, 2);
}

/* Births come to an end, and then there is one more, or two, or none, anywhere behind: what was tried is right for most
 * points, and corrected for the others. Weights, axes, and dimensions that keep their scores. */
static void check_late(uint64_t seed, ref_size size, size_t ways) {
    enum { LATE = 24000 };
    static const size_t dimensions[] = {2, 3, 4, 6, 9};
    ast_random random;
    (void)size;
    ast_random_seed(&random, seed, 79);
    size_t dimension = dimensions[ast_random_below(&random, 5)], strays = ast_random_below(&random, 3);
    float *x = malloc(LATE * dimension * sizeof *x);
    double *weights = malloc(LATE * sizeof *weights);
    ref_fill_clustered(x, LATE, dimension, 4, 0.02, 0, seed);
    for (size_t i = 0; i < LATE; i++)
        weights[i] = 1 + (double)(i % 3);
    for (size_t n = 0; n < strays; n++) {
        double v[9];
        ref_random_direction(&random, v, dimension);
        size_t at = 6000 + ast_random_below(&random, LATE - 6000);
        for (size_t d = 0; d < dimension; d++)
            x[at * dimension + d] = (float)v[d];
    }
    ref_case made = {.seed = seed, .text = "late strays", .points = ast_points_f4(x, LATE, dimension)};
    made.points.weights = ast_random_below(&random, 4) ? NULL : weights;
    ast_options options = ref_dp_options(20);
    options.axial = (int)ast_random_below(&random, 4) == 0;
    check_options(&made, &options, "dp", ways, &random);
    free(x);
    free(weights);
}

/* Clusters that overlap, and a cluster that is born among them in a later pass: points of other ranks join it, which
 * float scores do not decide. Its mean must be known to the thread that commits, whichever thread compared the points
 * with it. */
static void check_overlapping(uint64_t seed, ref_size size, size_t ways) {
    enum { COUNT_OVERLAPPING = 9000, D = 8 };
    ast_random random;
    (void)size;
    ast_random_seed(&random, seed, 81);
    float *x = malloc(COUNT_OVERLAPPING * D * sizeof *x);
    ref_fill_clustered(x, COUNT_OVERLAPPING, D, 6, 0.4, 0, seed);
    ref_case made = {.seed = seed, .text = "overlapping", .points = ast_points_f4(x, COUNT_OVERLAPPING, D)};
    ast_options options = ref_dp_options(60);
    check_options(&made, &options, "dp", ways, &random);
    free(x);
}

static void test_overlapping_clusters(void **state) {
    (void)state;
    ref_check_seeds(check_overlapping, REF_LARGE, 16, 4);
}

static void test_late_births(void **state) {
    (void)state;
    ref_check_seeds(check_late, REF_LARGE, 30, 2);
}

/* Axes that are spread all over and wide angles: means turn far in a pass, so that points change their sides and keep
 * their clusters, while others are alone and what was tried has to be taken back. */
static void check_turning(uint64_t seed, ref_size size, size_t ways) {
    enum { MOST = 120 };
    float x[MOST * 6];
    ast_random random;
    (void)size;
    ast_random_seed(&random, seed, 80);
    size_t dimension = 2 + ast_random_below(&random, 5), count = 12 + ast_random_below(&random, MOST - 12);
    ref_fill_clustered(x, count, dimension, 3, 0.5, 0.7, seed);
    ref_case made = {.seed = seed, .text = "turning axes", .points = ast_points_f4(x, count, dimension)};
    ast_options options = ref_dp_options(55 + 35 * ast_random_uniform(&random));
    options.axial = 1;
    check_options(&made, &options, "dp", ways, &random);
}

static void test_turning_axes(void **state) {
    (void)state;
    ref_check_seeds(check_turning, REF_SMALL, 400, 2);
}

/* ---- What a pass costs, and what fails ----------------------------------------------------------------------------
 */

enum { COUNT = 3000 };

typedef struct story {
    float x[3 * COUNT];
    size_t sums[100], broadcasts[100]; /* so far, after each pass of rank 0 */
    int passes;
    int stopper; /* the rank that wants to stop, or -1 */
    int shuffler;
    size_t infinite; /* the point that is, or COUNT */
    ast_status status[3];
    char message[3][512];
} story;

typedef struct listener {
    story *s;
    const ast_comm *comm;
} listener;

static int hear(const ast_progress *state, void *data) {
    const listener *one = data;
    if (one->comm->rank == 0 && state->iteration > 0) {
        one->s->sums[one->s->passes] = ref_ranks_sums(one->comm);
        one->s->broadcasts[one->s->passes++] = ref_ranks_broadcasts(one->comm);
    }
    return one->comm->rank == one->s->stopper;
}

static void live(const ast_comm *comm, void *data) {
    story *s = data;
    listener one = {s, comm};
    int32_t labels[COUNT];
    ast_report report = {.size = sizeof report};
    ast_options options = ref_dp_options(25);
    ast_context *context;
    ast_open(&context, 1);
    options.progress = hear;
    options.progress_data = &one;
    options.dp.order = comm->rank == s->shuffler ? AST_ORDER_RANDOM : AST_ORDER_GIVEN;
    size_t first = COUNT / 3 * (size_t)comm->rank;
    ast_points points = ast_points_f4(s->x + 3 * first, COUNT / 3, 3);
    ast_join(context, comm);
    s->status[comm->rank] = ast_cluster(context, &points, &options, labels, &report);
    snprintf(s->message[comm->rank], sizeof s->message[0], "%s", ast_message(context));
    ast_close(context);
}

static story *tell_story(int stopper, int shuffler, size_t infinite) {
    story *s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (story){.stopper = stopper, .shuffler = shuffler, .infinite = infinite};
    ref_fill_clustered(s->x, COUNT, 3, 6, 0.15, 0, 5);
    if (infinite < COUNT)
        s->x[3 * infinite] = INFINITY;
    ref_ranks_run(3, live, s);
    return s;
}

/* The last pass of a run does nothing to the list of clusters. */
static void test_a_quiet_pass_costs_one_sum(void **state) {
    (void)state;
    story *s = tell_story(-1, -1, COUNT);
    assert_int_equal(s->status[0], AST_OK);
    assert_true(s->passes >= 3);
    int last = s->passes - 1;
    assert_int_equal(s->sums[last] - s->sums[last - 1], 1);
    assert_int_equal(s->broadcasts[last] - s->broadcasts[last - 1], 0);
    free(s);
}

static void check_all_fail(const story *s, ast_status status, const char *message) {
    for (int r = 0; r < 3; r++) {
        assert_int_equal(s->status[r], status);
        if (!strstr(s->message[r], message))
            fail_msg("rank %d says '%s', not '%s'", r, s->message[r], message);
    }
}

static void test_what_fails_on_one_fails_on_all(void **state) {
    (void)state;
    story *s = tell_story(-1, -1, 2345);
    check_all_fail(s, AST_BAD_DATA, "row 2346 (counting from 1) holds an infinity");
    free(s);
    s = tell_story(1, -1, COUNT);
    check_all_fail(s, AST_CANCELLED, "cancelled after pass 1");
    free(s);
    s = tell_story(-1, 2, COUNT);
    check_all_fail(s, AST_BAD_OPTION, "visit the points as given");
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_dp),
                                       cmocka_unit_test(test_small_spkm),
                                       cmocka_unit_test(test_large_dp),
                                       cmocka_unit_test(test_large_spkm),
                                       cmocka_unit_test(test_late_births),
                                       cmocka_unit_test(test_overlapping_clusters),
                                       cmocka_unit_test(test_turning_axes),
                                       cmocka_unit_test(test_a_quiet_pass_costs_one_sum),
                                       cmocka_unit_test(test_what_fails_on_one_fails_on_all)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
