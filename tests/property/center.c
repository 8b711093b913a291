/* SPDX-License-Identifier: MIT
 *
 * Centred rows and representatives. The reference is the slow computation: the mean in long double, every row centred
 * by hand and clustered as a plain table; and of every cluster all rows, sorted by their cosine to the mean. Threads,
 * ranks, the order of the rows, types and sources must not change a bit. */
#include "context.h"
#include "reference/harness.h"
#include "reference/ranks.h"
#include "reference/sparse.h"
#include "rowset.h"
#include "labelling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 700, DIMENSION = 11, EACH = 4 };

/* Unit vectors about a common direction, with weights; some rows are missing. */
typedef struct table {
    float x[COUNT * DIMENSION];
    double weights[COUNT];
    ast_points points;
} table;

static table *make_table(uint64_t seed, bool weighted) {
    table *t = calloc(1, sizeof *t);
    ast_random random;
    ast_random_seed(&random, seed, 3);
    ref_fill_clustered(t->x, COUNT, DIMENSION, 6, 0.1, 0.05, seed);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t d = 0; d < DIMENSION; d++)
            t->x[i * DIMENSION + d] = 3 * (t->x[i * DIMENSION + d] + 0.5f);
        t->weights[i] = ast_random_below(&random, 9) ? (double)ast_random_below(&random, 50) * 0.3 : 0;
    }
    t->x[5 * DIMENSION] = NAN;
    memset(&t->x[17 * DIMENSION], 0, DIMENSION * sizeof *t->x);
    t->points = ast_points_f4(t->x, COUNT, DIMENSION);
    t->points.weights = weighted ? t->weights : NULL;
    return t;
}

static ast_options centred_options(ast_method method) {
    ast_options options = ref_dp_options(50);
    options.method = method;
    options.clusters = method == AST_DP ? 0 : 6;
    options.center = 1;
    options.representatives = EACH;
    return options;
}

/* ---- The references ---------------------------------------------------------------------------------------------- */

/* Row i as a unit vector of floats; false: it is missing. */
static bool unit_row(const ast_points *points, size_t i, float *row) {
    return ast_read_row(points, i, row) != AST_ROW_MISSING;
}

static void check_center(const ast_points *points, const float *center) {
    long double sums[DIMENSION] = {0}, weight = 0;
    float row[DIMENSION];
    for (size_t i = 0; i < points->count; i++) {
        long double w = points->weights ? (long double)points->weights[i] : 1;
        if (!unit_row(points, i, row))
            continue;
        for (size_t d = 0; d < DIMENSION; d++)
            sums[d] += w * (long double)row[d];
        weight += w;
    }
    for (size_t d = 0; d < DIMENSION; d++) {
        long double wanted = sums[d] / weight;
        if (fabsl((long double)center[d] - wanted) > 0x1p-24L * fabsl(wanted) + 0x1p-40L)
            fail_msg("component %zu of the centre is %.9g, not %.9Lg", d, (double)center[d], wanted);
    }
}

/* (N, D) the rows without the centre. */
static float *centre_rows(const ast_points *points, const float *center) {
    float *rows = malloc(points->count * DIMENSION * sizeof *rows);
    for (size_t i = 0; i < points->count; i++) {
        float *row = rows + i * DIMENSION;
        bool there = unit_row(points, i, row);
        double squared = 0;
        for (size_t d = 0; d < DIMENSION && there; d++)
            squared += pow((double)row[d] - (double)center[d], 2);
        for (size_t d = 0; d < DIMENSION; d++)
            row[d] = there ? (float)(((double)row[d] - (double)center[d]) / sqrt(squared)) : NAN;
    }
    return rows;
}

static double cosine(const ast_points *points, size_t i, const float *mean, int axial) {
    float *row = malloc(points->dimension * sizeof *row);
    double sum = 0;
    unit_row(points, i, row);
    for (size_t d = 0; d < points->dimension; d++)
        sum += (double)row[d] * (double)mean[d];
    free(row);
    return axial ? fabs(sum) : sum;
}

/* Row by row, the best that is not taken yet: (`each`) rows of cluster k; returns how many there are. */
static size_t find_nearest(const ast_points *points, const int32_t *labels, int32_t k, const float *mean, int axial,
                           size_t each, size_t *rows) {
    size_t found = 0;
    for (; found < each; found++) {
        double best = -INFINITY;
        for (size_t i = 0; i < points->count; i++) {
            bool taken = labels[i] != k;
            for (size_t j = 0; j < found; j++)
                taken = taken || rows[j] == i;
            double score = taken ? -INFINITY : cosine(points, i, mean, axial);
            if (score > best) {
                best = score;
                rows[found] = i;
            }
        }
        if (isinf(best))
            break;
    }
    return found;
}

static void check_nearest(ast_context *context, const ast_points *points, const int32_t *labels, int axial, size_t each,
                          const char *what) {
    size_t count, rows[16];
    const ast_cluster_info *clusters = ast_clusters(context, &count);
    for (size_t k = 0; k < count; k++) {
        size_t wanted = find_nearest(points, labels, (int32_t)k, clusters[k].mean, axial, each, rows);
        if (clusters[k].representative_count != wanted)
            fail_msg("%s: cluster %zu has %zu representatives, not %zu", what, k, clusters[k].representative_count,
                     wanted);
        if (wanted && memcmp(rows, clusters[k].representatives, wanted * sizeof *rows) != 0)
            fail_msg("%s: representatives of cluster %zu begin with row %zu, not %zu", what, k,
                     clusters[k].representatives[0], rows[0]);
    }
}

/* ---- Rows in memory ---------------------------------------------------------------------------------------------- */

typedef struct outcome {
    int32_t labels[COUNT];
    ast_report report;
    float center[DIMENSION];
    float means[COUNT * DIMENSION];
    size_t nearest[COUNT * EACH], nearest_count;
} outcome;

static void keep(ast_context *context, outcome *o) {
    size_t count;
    const ast_cluster_info *clusters = ast_clusters(context, &count);
    memcpy(o->center, o->report.center, sizeof o->center);
    memcpy(o->means, ast_means(context), count * DIMENSION * sizeof *o->means);
    o->nearest_count = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < clusters[k].representative_count; i++)
            o->nearest[o->nearest_count++] = clusters[k].representatives[i];
}

static outcome *run(ast_context *context, const ast_points *points, const ast_options *options) {
    outcome *o = calloc(1, sizeof *o);
    o->report.size = sizeof o->report;
    if (ast_cluster(context, points, options, o->labels, &o->report) != AST_OK)
        fail_msg("%s", ast_message(context));
    keep(context, o);
    return o;
}

static void check_same(const outcome *a, const outcome *b, const char *what) {
    if (memcmp(a->center, b->center, sizeof a->center) != 0)
        fail_msg("%s: the centre differs", what);
    if (memcmp(a->labels, b->labels, sizeof a->labels) != 0)
        fail_msg("%s: the labels differ", what);
    if (a->report.clusters != b->report.clusters || a->report.objective != b->report.objective ||
        memcmp(a->means, b->means, a->report.clusters * DIMENSION * sizeof *a->means) != 0)
        fail_msg("%s: clusters or means differ", what);
    if (a->nearest_count != b->nearest_count ||
        memcmp(a->nearest, b->nearest, a->nearest_count * sizeof *a->nearest) != 0)
        fail_msg("%s: the representatives differ", what);
}

/* As clustering the centred rows as a table of their own; and assign gives the labels again. */
static void check_reference(const table *t, const ast_options *options) {
    ast_context *context = ref_context("base", 2);
    outcome *o = run(context, &t->points, options);
    check_center(&t->points, o->center);
    float *rows = centre_rows(&t->points, o->center);
    ast_points plain = ast_points_f4(rows, COUNT, DIMENSION);
    plain.weights = t->points.weights;
    check_nearest(context, &plain, o->labels, 0, EACH, "centred");
    ast_options without = *options;
    without.center = 0;
    int32_t labels[COUNT];
    ast_report report = {.size = sizeof report};
    assert_int_equal(ast_cluster(context, &plain, &without, labels, &report), AST_OK);
    assert_memory_equal(labels, o->labels, sizeof labels);
    assert_memory_equal(ast_means(context), o->means, report.clusters * DIMENSION * sizeof(float));
    assert_true(report.objective == o->report.objective && report.center == NULL);
    ast_assign_options known = ast_assign_to(o->means, o->report.clusters);
    int32_t again[COUNT], nearest[COUNT];
    assert_int_equal(ast_assign(context, &plain, &known, nearest, NULL), AST_OK);
    known.center = o->center;
    assert_int_equal(ast_assign(context, &t->points, &known, again, NULL), AST_OK);
    assert_memory_equal(again, nearest, sizeof again);
    free(rows);
    free(o);
}

static void test_reference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        table *t = make_table(seed, seed % 2);
        ast_options dp = centred_options(AST_DP), spkm = centred_options(AST_SPKM);
        check_reference(t, &dp);
        check_reference(t, &spkm);
        free(t);
    }
}

/* A permuted table gives the same centre and, visited by content, permuted labels. */
static void test_order_of_rows(void **state) {
    (void)state;
    ast_context *context = ref_context("base", 2);
    table *t = make_table(9, true), *other = make_table(9, true);
    uint32_t order[COUNT];
    ast_random random;
    ast_random_seed(&random, 5, 1);
    ast_random_permutation(&random, order, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(&other->x[i * DIMENSION], &t->x[order[i] * DIMENSION], DIMENSION * sizeof *t->x);
        other->weights[i] = t->weights[order[i]];
    }
    ast_options options = centred_options(AST_DP);
    options.dp.order = AST_ORDER_CONTENT;
    outcome *a = run(context, &t->points, &options), *b = run(context, &other->points, &options);
    assert_memory_equal(a->center, b->center, sizeof a->center);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(b->labels[i], a->labels[order[i]]);
    free(a);
    free(b);
    free(t);
    free(other);
}

static void test_threads(void **state) {
    (void)state;
    table *t = make_table(3, true);
    ast_options options = centred_options(AST_SPKM);
    options.restarts = 3;
    outcome *one = run(ref_context("base", 1), &t->points, &options);
    for (int threads = 2; threads <= 8; threads += 3) {
        outcome *o = run(ref_context(REF_FAST, threads), &t->points, &options);
        check_same(o, one, "threads");
        free(o);
    }
    free(one);
    free(t);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

typedef struct ranked {
    const table *t;
    ast_options options;
    outcome *one;
    int32_t labels[COUNT];
    char fault[200];
} ranked;

static void run_rank(const ast_comm *comm, void *data) {
    ranked *r = data;
    ast_context *context;
    size_t first = COUNT * (size_t)comm->rank / (size_t)comm->ranks,
           last = COUNT * ((size_t)comm->rank + 1) / (size_t)comm->ranks;
    ast_points slice = r->t->points;
    outcome *o = calloc(1, sizeof *o);
    o->report.size = sizeof o->report;
    slice.data = r->t->x + first * DIMENSION;
    slice.count = last - first;
    slice.weights = slice.weights ? slice.weights + first : NULL;
    ast_open(&context, 2);
    ast_join(context, comm);
    ast_status status = ast_cluster(context, &slice, &r->options, r->labels + first, &o->report);
    if (status == AST_OK)
        keep(context, o);
    bool same = status == AST_OK && memcmp(o->center, r->one->center, sizeof o->center) == 0 &&
                o->nearest_count == r->one->nearest_count &&
                memcmp(o->nearest, r->one->nearest, o->nearest_count * sizeof *o->nearest) == 0;
    if (!same && comm->rank == 0)
        snprintf(r->fault, sizeof r->fault, "%d ranks: centre or representatives differ: %s", comm->ranks,
                 ast_message(context));
    ast_close(context);
    free(o);
}

static void test_ranks(void **state) {
    (void)state;
    for (int size = 2; size <= 5; size += 3) {
        table *t = make_table((uint64_t)size, size == 5);
        ranked *r = calloc(1, sizeof *r);
        r->t = t;
        r->options = centred_options(size == 2 ? AST_DP : AST_SPKM);
        r->one = run(ref_context("base", 1), &t->points, &r->options);
        ref_ranks_run(size, run_rank, r);
        assert_string_equal(r->fault, "");
        assert_memory_equal(r->labels, r->one->labels, sizeof r->labels);
        free(r->one);
        free(r);
        free(t);
    }
}

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

/* The table again and again, as doubles or floats: several windows of them. */
enum { COPIES = 13 };
typedef struct file {
    const table *t;
    ast_type type;
    int32_t labels[COPIES * COUNT];
} file;

static int read_rows(size_t first, size_t count, void *rows, void *data) {
    const file *f = data;
    for (size_t i = 0; i < count * DIMENSION; i++) {
        float value = f->t->x[(first * DIMENSION + i) % (COUNT * DIMENSION)];
        if (f->type == AST_F4)
            ((float *)rows)[i] = value;
        else
            ((double *)rows)[i] = (double)value;
    }
    return 0;
}

static int write_labels(size_t first, size_t count, const int32_t *labels, void *data) {
    memcpy(((file *)data)->labels + first, labels, count * sizeof *labels);
    return 0;
}

static int read_labels(size_t first, size_t count, int32_t *labels, void *data) {
    memcpy(labels, ((file *)data)->labels + first, count * sizeof *labels);
    return 0;
}

static int take_labels(size_t first, size_t count, const int32_t *labels, const float *similarity, void *data) {
    (void)similarity;
    return write_labels(first, count, labels, data);
}

static void check_source(ast_context *context, file *f, size_t window, const ast_points *all,
                         const ast_options *options) {
    ast_source source = {.size = sizeof source,
                         .count = COPIES * COUNT,
                         .dimension = DIMENSION,
                         .type = f->type,
                         .read = read_rows,
                         .data = f};
    ast_label_store store = {.size = sizeof store, .write = write_labels, .read = read_labels, .data = f};
    ast_report report = {.size = sizeof report}, wanted = {.size = sizeof wanted};
    float center[DIMENSION], *means = malloc(COUNT * DIMENSION * sizeof *means);
    int32_t *labels = malloc(all->count * sizeof *labels);
    assert_int_equal(ast_cluster(context, all, options, labels, &wanted), AST_OK);
    memcpy(center, wanted.center, sizeof center);
    context->window = window;
    if (ast_cluster_source(context, &source, options, (size_t)1 << 30, &store, &report) != AST_OK)
        fail_msg("%s", ast_message(context));
    context->window = 0;
    assert_memory_equal(f->labels, labels, all->count * sizeof *labels);
    assert_memory_equal(report.center, center, sizeof center);
    assert_true(report.objective == wanted.objective);
    memcpy(means, ast_means(context), report.clusters * DIMENSION * sizeof *means);
    float *rows = centre_rows(all, center);
    ast_points plain = ast_points_f4(rows, all->count, DIMENSION);
    check_nearest(context, &plain, labels, 0, EACH, "source");
    ast_assign_options known = ast_assign_to(means, report.clusters);
    known.center = center;
    ast_label_sink sink = {.size = sizeof sink, .write = take_labels, .data = f};
    assert_int_equal(ast_assign(context, all, &known, labels, NULL), AST_OK);
    assert_int_equal(ast_assign_source(context, &source, &known, &sink), AST_OK);
    assert_memory_equal(f->labels, labels, all->count * sizeof *labels);
    free(rows);
    free(means);
    free(labels);
}

static void test_source(void **state) {
    (void)state;
    table *t = make_table(4, false);
    file *f = calloc(1, sizeof *f);
    float *all = malloc(COPIES * sizeof t->x);
    for (size_t i = 0; i < COPIES; i++)
        memcpy(all + i * COUNT * DIMENSION, t->x, sizeof t->x);
    ast_points points = ast_points_f4(all, COPIES * COUNT, DIMENSION);
    ast_options options = centred_options(AST_DP);
    f->t = t;
    for (int way = 0; way < 3; way++) {
        f->type = way ? AST_F8 : AST_F4;
        check_source(ref_context("base", 1 + way), f, way == 1 ? AST_WINDOW_STEP : 0, &points, &options);
    }
    free(all);
    free(f);
    free(t);
}

/* ---- Representatives of any rows --------------------------------------------------------------------------------- */

static void check_case(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ast_random random;
    (void)ways;
    ref_case_make(&made, seed, size);
    ast_random_seed(&random, seed, 8);
    ast_options options = ref_dp_options(made.angle);
    options.representatives = 1 + ast_random_below(&random, 6);
    options.axial = ast_random_below(&random, 3) == 0;
    options.dp.order = (ast_order)ast_random_below(&random, 3);
    options.restarts = 1 + (int)ast_random_below(&random, 2);
    options.merge.min_size = ast_random_below(&random, 2) ? 2 : 0;
    int32_t *labels = malloc((made.points.count + 1) * sizeof *labels);
    ast_report report = {.size = sizeof report};
    ast_context *context = ref_context("base", 2);
    if (ast_cluster(context, &made.points, &options, labels, &report) == AST_OK)
        check_nearest(context, &made.points, labels, options.axial, options.representatives, made.text);
    free(labels);
    ref_case_free(&made);
}

static void test_nearest(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_SMALL, 60, 1);
}

static void test_nearest_sparse(void **state) {
    (void)state;
    table *t = make_table(6, true);
    ast_random random;
    ref_sparse sparse;
    ast_random_seed(&random, 7, 7);
    ref_thin_out(&t->points, 0.4, &random);
    ref_compress(&sparse, &t->points, &random);
    ast_options options = centred_options(AST_SPKM);
    options.center = 0;
    int32_t labels[COUNT];
    ast_report report = {.size = sizeof report};
    ast_context *context = ref_context("base", 2);
    assert_int_equal(ast_cluster(context, &sparse.view, &options, labels, &report), AST_OK);
    check_nearest(context, &t->points, labels, 0, EACH, "sparse");
    options.center = 1;
    assert_int_equal(ast_cluster(context, &sparse.view, &options, labels, &report), AST_BAD_OPTION);
    assert_non_null(strstr(ast_message(context), "centring does not take sparse rows"));
    ref_sparse_free(&sparse);
    free(t);
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

/* Rows that equal the mean have no direction left. */
static void test_nothing_left(void **state) {
    (void)state;
    float equal[] = {3, 4, 0.3f, 0.4f, 6, 8}, crossed[] = {1, 0, -1, 0, 0, 1, 0, -1, 0.6f, 0.8f, -0.6f, -0.8f};
    int32_t labels[6];
    ast_report report = {.size = sizeof report};
    ast_context *context = ref_context("base", 1);
    ast_points points = ast_points_f4(equal, 3, 2);
    ast_options options = centred_options(AST_DP);
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_int_equal(report.missing, 3);
    assert_int_equal(report.clusters, 0);
    points = ast_points_f4(crossed, 6, 2);
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
    assert_int_equal(report.missing, 0);
    assert_true(report.center[0] == 0 && report.center[1] == 0);
    crossed[3] = INFINITY;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_DATA);
    assert_int_equal(ast_fault_row(context), 2);
    options.axial = 1;
    assert_string_equal(ast_options_problem(&options), "axial rows cannot be centred: x and -x would differ");
}

/* tune sees the centred rows; memberships are those of centred rows too. */
static void test_other_calls(void **state) {
    (void)state;
    table *t = make_table(2, false);
    ast_context *context = ref_context("base", 2);
    ast_options options = centred_options(AST_MOVMF);
    outcome *o = run(context, &t->points, &options);
    float *given = malloc(COUNT * 6 * sizeof *given), *plain = malloc(COUNT * 6 * sizeof *plain);
    assert_int_equal(ast_memberships(context, &t->points, given, NULL), AST_OK);
    float *rows = centre_rows(&t->points, o->center);
    ast_points centred = ast_points_f4(rows, COUNT, DIMENSION);
    ast_report report = {.size = sizeof report};
    options.center = 0;
    assert_int_equal(ast_cluster(context, &centred, &options, o->labels, &report), AST_OK);
    assert_int_equal(ast_memberships(context, &centred, plain, NULL), AST_OK);
    for (size_t i = 0; i < COUNT * 6; i++)
        assert_true(given[i] == plain[i] || (isnan(given[i]) && isnan(plain[i])));
    ast_tune_options tune;
    ast_tune_options_init(&tune);
    ast_tune_report a = {.size = sizeof a}, b = {.size = sizeof b};
    tune.draws = 1;
    tune.step = 10;
    assert_int_equal(ast_tune(context, &centred, &tune, NULL, &a), AST_OK);
    tune.center = 1;
    assert_int_equal(ast_tune(context, &t->points, &tune, NULL, &b), AST_OK);
    assert_true(a.angle == b.angle && a.silhouette == b.silhouette && a.clusters == b.clusters);
    free(rows);
    free(given);
    free(plain);
    free(o);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference),      cmocka_unit_test(test_order_of_rows),
                                       cmocka_unit_test(test_threads),        cmocka_unit_test(test_ranks),
                                       cmocka_unit_test(test_source),         cmocka_unit_test(test_nearest),
                                       cmocka_unit_test(test_nearest_sparse), cmocka_unit_test(test_nothing_left),
                                       cmocka_unit_test(test_other_calls)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
