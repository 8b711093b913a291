/* SPDX-License-Identifier: MIT
 *
 * A metric is learned from the same rows wherever they are: a source and several ranks give the map, the labels and the
 * means of rows in memory, bit for bit. The drawn rows are compared with the first ones of all rows sorted by content.
 */
#include "content.h"
#include "metric.h"
#include "reference/harness.h"
#include "reference/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMENSION = 12, CLUSTERS = 7, RANKS = 3 };

/* Long clusters in a cone; some rows are missing, copies, or have weight 0. */
typedef struct table {
    size_t count, dimension;
    float *x;
    double *weights;
    ast_points points;
} table;

static table make_table(uint64_t seed, size_t count, size_t dimension, bool weighted) {
    table t = {count, dimension, malloc(count * dimension * sizeof *t.x), malloc(count * sizeof *t.weights), {0}};
    double centres[CLUSTERS * MOST_DIMENSION];
    ast_random random;
    ast_random_seed(&random, seed, 12);
    for (size_t i = 0; i < CLUSTERS * dimension; i++)
        centres[i] = 1.5 * ast_random_normal(&random);
    for (size_t i = 0; i < count; i++) {
        float *row = t.x + i * dimension;
        size_t k = ast_random_below(&random, CLUSTERS);
        for (size_t d = 0; d < dimension; d++)
            row[d] = (float)(1.5 + centres[k * dimension + d] + ast_random_normal(&random) * (d < 2 ? 1.2 : 0.25));
        if (i > 50 && ast_random_below(&random, 20) == 0)
            memcpy(row, t.x + ast_random_below(&random, i) * dimension, dimension * sizeof *row);
        if (ast_random_below(&random, 100) == 0)
            row[ast_random_below(&random, dimension)] = NAN;
        t.weights[i] = 0.5 * (double)ast_random_below(&random, 4);
    }
    t.points = ast_points_f4(t.x, count, dimension);
    t.points.weights = weighted ? t.weights : NULL;
    return t;
}

static void free_table(table *t) {
    free(t->x);
    free(t->weights);
}

/* ---- The drawn rows ---------------------------------------------------------------------------------------------- */

static void check_drawn(uint64_t seed, size_t most) {
    enum { COUNT = 700 };
    ast_context *context = ref_context("base", 2);
    table t = make_table(seed, COUNT, 5, true);
    ast_row_sample sample = {0};
    uint32_t order[COUNT];
    size_t wanted = 0, before = COUNT;
    for (size_t i = 0; i < COUNT; i++) { /* offered rows are unit vectors */
        float row[5];
        ast_read_row(&t.points, i, row);
        memcpy(t.x + i * 5, row, sizeof row);
    }
    assert_int_equal(
        ast_order_by_content(&t.points, t.weights, false, AST_METRIC_SEED, context->pool, order, &context->fault),
        AST_OK);
    assert_true(ast_row_sample_open(&sample, 5, COUNT, most));
    for (size_t i = 0; i < COUNT; i++) {
        size_t r = (i * 367 + seed) % COUNT; /* in some order */
        if (isfinite(t.x[r * 5]) && t.weights[r] > 0)
            ast_row_sample_offer(&sample, t.x + r * 5, t.weights[r], r);
    }
    ast_row_sample_end(&sample);
    for (size_t i = 0; i < COUNT && wanted < most; i++) {
        const float *row = t.x + (size_t)order[i] * 5;
        if (!isfinite(row[0]) || !(t.weights[order[i]] > 0) ||
            (before < COUNT && memcmp(row, t.x + before * 5, 5 * sizeof *row) == 0))
            continue;
        before = order[i];
        assert_true(wanted < sample.count && sample.drawn[wanted].number == before);
        assert_memory_equal(sample.rows + wanted * 5, row, 5 * sizeof *row);
        wanted++;
    }
    assert_int_equal(sample.count, wanted);
    ast_row_sample_free(&sample);
    free_table(&t);
}

static void test_drawn(void **state) {
    (void)state;
    static const size_t mosts[] = {1, 2, 9, 60, 300, 699, 700, 5000};
    for (uint64_t seed = 1; seed <= 16; seed++)
        check_drawn(seed, mosts[seed % 8]);
}

/* ---- Memory, source, ranks --------------------------------------------------------------------------------------- */

typedef struct outcome {
    ast_status status;
    char message[200];
    ast_report report;
    float *means, matrix[MOST_DIMENSION * MOST_DIMENSION], centers[2 * MOST_DIMENSION];
} outcome;

static void take(outcome *o, const ast_context *context, ast_status status) {
    size_t dimension = o->report.dimension;
    o->status = status;
    snprintf(o->message, sizeof o->message, "%s", ast_message(context));
    if (status != AST_OK)
        return;
    assert_non_null(o->report.metric);
    size_t bytes = o->report.clusters * dimension * sizeof *o->means;
    o->means = malloc(bytes);
    memcpy(o->means, ast_means(context), bytes);
    memcpy(o->matrix, o->report.metric->matrix, dimension * dimension * sizeof(float));
    memcpy(o->centers, o->report.metric->center, dimension * sizeof(float));
    memcpy(o->centers + dimension, o->report.metric->mapped_center, dimension * sizeof(float));
}

static void check_same(const outcome *a, const outcome *b, const char *what) {
    if (a->status != AST_OK || b->status != AST_OK)
        fail_msg("%s: '%s', in memory '%s'", what, a->message, b->message);
    size_t dimension = b->report.dimension;
    if (memcmp(a->matrix, b->matrix, dimension * dimension * sizeof(float)) ||
        memcmp(a->centers, b->centers, 2 * dimension * sizeof(float)))
        fail_msg("%s: the map differs", what);
    if (a->report.clusters != b->report.clusters || a->report.iterations != b->report.iterations ||
        a->report.missing != b->report.missing || a->report.objective != b->report.objective ||
        memcmp(a->means, b->means, b->report.clusters * dimension * sizeof(float)))
        fail_msg("%s: %zu clusters after %d passes, in memory %zu after %d", what, a->report.clusters,
                 a->report.iterations, b->report.clusters, b->report.iterations);
}

typedef struct file {
    const table *t;
    int32_t *labels;
    bool broken; /* rows are not read, or labels neither */
} file;

static int read_rows(size_t first, size_t count, void *rows, void *data) {
    const file *f = data;
    memcpy(rows, f->t->x + first * f->t->dimension, count * f->t->dimension * sizeof(float));
    return f->broken;
}

static int write_labels(size_t first, size_t count, const int32_t *labels, void *data) {
    memcpy(((const file *)data)->labels + first, labels, count * sizeof *labels);
    return 0;
}

static int read_labels(size_t first, size_t count, int32_t *labels, void *data) {
    memcpy(labels, ((const file *)data)->labels + first, count * sizeof *labels);
    return 0;
}

static ast_source source_of(file *f) {
    return (ast_source){.size = sizeof(ast_source),
                        .count = f->t->count,
                        .dimension = f->t->dimension,
                        .type = AST_F4,
                        .weights = f->t->points.weights,
                        .read = read_rows,
                        .data = f};
}

static outcome run_source(file *f, const ast_options *options, size_t window, size_t memory) {
    ast_context *context = ref_context(REF_FAST, 3);
    outcome o = {.report = {.size = sizeof o.report}};
    const ast_source source = source_of(f);
    const ast_label_store store = {sizeof store, write_labels, window ? read_labels : NULL, f};
    context->window = window;
    ast_status status = ast_cluster_source(context, &source, options, memory, &store, &o.report);
    context->window = 0;
    take(&o, context, status);
    return o;
}

typedef struct parts {
    const table *t;
    ast_options options;
    size_t cut[RANKS + 1];
    int32_t *labels;
    int stopper; /* the rank that cancels, or -1 */
    outcome result[RANKS];
} parts;

static int stop_run(const ast_progress *state, void *data) {
    return state->iteration == 2 && *(const bool *)data;
}

static void run_rank(const ast_comm *comm, void *data) {
    parts *p = data;
    size_t first = p->cut[comm->rank], dimension = p->t->dimension;
    outcome *o = &p->result[comm->rank];
    ast_context *context;
    ast_options options = p->options;
    bool stops = comm->rank == p->stopper;
    options.progress = stop_run;
    options.progress_data = &stops;
    ast_points points = ast_points_f4(p->t->x + first * dimension, p->cut[comm->rank + 1] - first, dimension);
    points.weights = p->t->points.weights ? p->t->points.weights + first : NULL;
    assert_int_equal(ast_open(&context, 1 + comm->rank % 2), AST_OK);
    ast_join(context, comm);
    o->report = (ast_report){.size = sizeof o->report};
    take(o, context, ast_cluster(context, &points, &options, p->labels + first, &o->report));
    ast_close(context);
}

static parts run_ranks(const table *t, const ast_options *options, int ranks, int32_t *labels, int stopper) {
    parts p = {.t = t, .options = *options, .labels = labels, .stopper = stopper};
    for (int r = 1; r <= ranks; r++) /* the second of three has few rows */
        p.cut[r] = r == ranks ? t->count : r == 1 ? t->count / 2 : t->count / 2 + 3;
    ref_ranks_run(ranks, run_rank, &p);
    return p;
}

static ast_options mapped_options(ast_method method) {
    ast_options options = ref_dp_options(70);
    options.method = method;
    options.clusters = method == AST_DP ? 0 : CLUSTERS;
    options.dp.order = AST_ORDER_GIVEN;
    options.metric = AST_METRIC_LOCAL;
    return options;
}

static void check_places(const table *t, const ast_options *options) {
    const size_t windows[] = {0, 4096};
    int32_t *labels = malloc(t->count * sizeof *labels), *others = malloc(t->count * sizeof *others);
    outcome one = {.report = {.size = sizeof one.report}};
    ast_context *context = ref_context("base", 2);
    take(&one, context, ast_cluster(context, &t->points, options, labels, &one.report));
    for (size_t w = 0; w < 2 && (windows[w] < t->count); w++) {
        file f = {.t = t, .labels = others};
        outcome o = run_source(&f, options, windows[w], (size_t)1 << 30);
        check_same(&o, &one, windows[w] ? "a source in windows" : "a source");
        assert_memory_equal(labels, others, t->count * sizeof *labels);
        free(o.means);
    }
    for (int ranks = 2; ranks <= RANKS; ranks++) {
        parts p = run_ranks(t, options, ranks, others, -1);
        for (int r = 0; r < ranks; r++) {
            check_same(&p.result[r], &one, ranks == 2 ? "two ranks" : "three ranks");
            free(p.result[r].means);
        }
        assert_memory_equal(labels, others, t->count * sizeof *labels);
    }
    free(one.means);
    free(labels);
    free(others);
}

static void test_places(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        table t = make_table(seed, seed == 1 ? 4500 : 900, seed == 2 ? 3 : 12, seed > 2);
        ast_options options = mapped_options(seed == 4 ? AST_SPKM : AST_DP);
        check_places(&t, &options);
        free_table(&t);
    }
}

/* More rows than are drawn. */
static void test_many(void **state) {
    (void)state;
    if (REF_SLOWER > 1)
        skip();
    table t = make_table(9, 30000, 4, false);
    ast_options options = mapped_options(AST_SPKM);
    options.max_iterations = 5;
    check_places(&t, &options);
    free_table(&t);
}

/* A map that is given, where the rows are not in memory. */
static void test_given(void **state) {
    (void)state;
    table t = make_table(5, 900, 6, false);
    float matrix[36] = {0}, zero[6] = {0};
    for (size_t d = 0; d < 6; d++)
        matrix[d * 7] = 1.0F / (float)(1 + d);
    const ast_metric map = {sizeof map, 6, zero, matrix, zero};
    ast_options options = mapped_options(AST_DP);
    options.map = &map;
    check_places(&t, &options);
    free_table(&t);
}

/* ---- What goes wrong --------------------------------------------------------------------------------------------- */

static void test_failures(void **state) {
    (void)state;
    table t = make_table(6, 900, 6, false);
    int32_t labels[900];
    file f = {.t = &t, .labels = labels};
    ast_options options = mapped_options(AST_DP);
    ast_plan plan = {.size = sizeof plan};
    ast_context *context = ref_context(REF_FAST, 3);
    ast_source source = source_of(&f);
    assert_int_equal(ast_plan_source(context, &source, &options, (size_t)1 << 20, &plan), AST_NO_MEMORY);
    outcome o = run_source(&f, &options, 0, plan.least - 1);
    assert_int_equal(o.status, AST_NO_MEMORY);
    o = run_source(&f, &options, 0, plan.least);
    assert_int_equal(o.status, AST_OK);
    free(o.means);
    f.broken = true;
    o = run_source(&f, &options, 0, (size_t)1 << 30);
    assert_int_equal(o.status, AST_NO_INPUT);
    assert_non_null(strstr(o.message, "could not be read"));
    f.broken = false;
    for (int stopper = 0; stopper < 2; stopper++) {
        parts p = run_ranks(&t, &options, 2, labels, stopper);
        assert_int_equal(p.result[0].status, AST_CANCELLED);
        assert_int_equal(p.result[1].status, AST_CANCELLED);
    }
    t.x[700 * 6 + 1] = INFINITY;
    o = run_source(&f, &options, 0, (size_t)1 << 30);
    assert_int_equal(o.status, AST_BAD_DATA);
    assert_non_null(strstr(o.message, "701"));
    parts p = run_ranks(&t, &options, 3, labels, -1);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(p.result[r].status, AST_BAD_DATA);
        assert_string_equal(p.result[r].message, o.message);
    }
    free_table(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_drawn), cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_many), cmocka_unit_test(test_given),
                                       cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
