/* SPDX-License-Identifier: MIT
 *
 * Points that are read as they are needed give what points in memory give, bit for bit: labels, means, counts,
 * objectives, passes; whatever is kept of them, with births in late windows and clusters of one point in any. */
#include "context.h"
#include "reference/harness.h"
#include "labelling.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A source and a store in memory. */
typedef struct file {
    const ast_points *points;
    int32_t *labels;      /* (N + 1) */
    _Atomic size_t reads; /* rows so far */
    size_t broken;        /* reads and writes of labels fail once so many rows were read; SIZE_MAX: never */
    bool labels_break;    /* those of labels, not of rows */
    size_t last_written;  /* one past the last label of the last write */
    bool in_order;        /* labels were written once, in order */
    size_t expected;      /* rows that were announced */
} file;

static size_t item_of(const ast_points *points) {
    return ast_type_size(points->type);
}

static int read_rows(size_t first, size_t count, void *rows, void *data) {
    file *f = data;
    const ast_points *p = f->points;
    char *to = rows;
    size_t item = item_of(p);
    if (first + count > p->count || count == 0)
        return 7;
    for (size_t i = first; i < first + count; i++)
        for (size_t d = 0; d < p->dimension; d++, to += item)
            memcpy(to, (const char *)p->data + (ptrdiff_t)i * p->row_stride + (ptrdiff_t)d * p->column_stride, item);
    return !f->labels_break && atomic_fetch_add(&f->reads, count) + count > f->broken;
}

static void expect_rows(size_t first, size_t count, void *data) {
    file *f = data;
    assert_true(first + count <= f->points->count);
    f->expected += count;
}

static int write_labels(size_t first, size_t count, const int32_t *labels, void *data) {
    file *f = data;
    f->in_order = f->in_order && first == f->last_written;
    f->last_written = first + count;
    memcpy(f->labels + first, labels, count * sizeof *labels);
    return f->labels_break && atomic_fetch_add(&f->reads, count) + count > f->broken;
}

static int read_labels(size_t first, size_t count, int32_t *labels, void *data) {
    file *f = data;
    memcpy(labels, f->labels + first, count * sizeof *labels);
    return f->labels_break && atomic_fetch_add(&f->reads, count) + count > f->broken;
}

static void open_file(file *f, const ast_points *points) {
    *f = (file){.points = points, .broken = SIZE_MAX, .in_order = true};
    f->labels = malloc((points->count + 1) * sizeof *f->labels);
    for (size_t i = 0; i <= points->count; i++)
        f->labels[i] = -77;
}

static ast_source source_of(file *f) {
    const ast_points *p = f->points;
    return (ast_source){.size = sizeof(ast_source),
                        .count = p->count,
                        .dimension = p->dimension,
                        .type = p->type,
                        .weights = p->weights,
                        .read = read_rows,
                        .expect = expect_rows,
                        .data = f};
}

static ast_label_store store_of(file *f) {
    return (ast_label_store){.size = sizeof(ast_label_store), .write = write_labels, .read = read_labels, .data = f};
}

/* ---- The same as in memory --------------------------------------------------------------------------------------- */

typedef struct trace {
    ref_trace passes;
    size_t within; /* calls within passes */
    size_t cancel; /* after so many calls of either kind; 0: never */
} trace;

static int hear(const ast_progress *state, void *data) {
    trace *t = data;
    if (state->left > 0) {
        t->within++;
        assert_true(isnan(state->objective));
    } else {
        ref_trace_record(state, &t->passes);
    }
    return t->cancel > 0 && --t->cancel == 0;
}

typedef struct outcome {
    ast_status status;
    char message[512];
    int32_t *labels;
    ast_report report;
    trace heard;
    ast_context *context;
} outcome;

static void check_same(const char *text, const ast_points *points, const outcome *a, const outcome *b) {
    if (a->status != b->status || strcmp(a->message, b->message) != 0)
        fail_msg("%s: '%s', in memory: '%s'", text, a->message, b->message);
    if (b->status != AST_OK)
        return;
    const ast_report *r = &a->report, *s = &b->report;
    if (r->points != s->points || r->missing != s->missing || r->clusters != s->clusters ||
        r->iterations != s->iterations || r->converged != s->converged || r->objective != s->objective)
        fail_msg("%s: %zu clusters, %zu missing, %d passes, objective %.17g; in memory: %zu, %zu, %d, %.17g", text,
                 r->clusters, r->missing, r->iterations, r->objective, s->clusters, s->missing, s->iterations,
                 s->objective);
    for (size_t p = 0; p < b->heard.passes.count; p++)
        if (a->heard.passes.passes[p].changed != b->heard.passes.passes[p].changed ||
            a->heard.passes.passes[p].objective != b->heard.passes.passes[p].objective)
            fail_msg("%s: pass %zu differs", text, p + 1);
    if (a->heard.passes.count != b->heard.passes.count || a->heard.passes.starts != b->heard.passes.starts)
        fail_msg("%s: the number of passes or starts differs", text);
    for (size_t i = 0; i < points->count; i++)
        if (a->labels[i] != b->labels[i])
            fail_msg("%s: label %zu is %d, in memory: %d", text, i, a->labels[i], b->labels[i]);
    size_t count, same;
    const ast_cluster_info *k = ast_clusters(a->context, &count), *m = ast_clusters(b->context, &same);
    size_t bytes = count * points->dimension * sizeof(float);
    if (count != same || (count && memcmp(ast_means(a->context), ast_means(b->context), bytes) != 0))
        fail_msg("%s: the means differ", text);
    for (size_t c = 0; c < count; c++)
        if (k[c].count != m[c].count || k[c].weight != m[c].weight || k[c].resultant != m[c].resultant)
            fail_msg("%s: cluster %zu differs", text, c);
}

static void run_memory(outcome *o, const ast_points *points, ast_options options) {
    o->context = ref_context(REF_FAST, 1);
    o->labels = malloc((points->count + 1) * sizeof *o->labels);
    options.progress = hear;
    options.progress_data = &o->heard;
    o->report.size = sizeof o->report;
    o->status = ast_cluster(o->context, points, &options, o->labels, &o->report);
    snprintf(o->message, sizeof o->message, "%s", ast_message(o->context));
}

static void run_source(outcome *o, file *f, ast_options options, size_t memory) {
    ast_source source = source_of(f);
    ast_label_store store = store_of(f);
    o->labels = f->labels;
    options.progress = hear;
    options.progress_data = &o->heard;
    o->report.size = sizeof o->report;
    o->status = ast_cluster_source(o->context, &source, &options, memory, &store, &o->report);
    snprintf(o->message, sizeof o->message, "%s", ast_message(o->context));
}

/* Bounds, labels alone, windows of one step and more. */
static void check_ways(const char *text, const ast_points *points, const ast_options *options, size_t ways,
                       ast_random *random) {
    static const char *const isas[] = {REF_FAST, "base"};
    outcome one = {0};
    run_memory(&one, points, *options);
    for (size_t way = 0; way < ways; way++) {
        char what[400];
        outcome other = {0};
        file f;
        ast_options run = *options;
        int threads = 1 + (int)ast_random_below(random, 3), set = (int)ast_random_below(random, 4) == 0;
        size_t window = ast_random_below(random, 2) ? AST_WINDOW_STEP * (1 + ast_random_below(random, 2)) : 0;
        run.bounds = ast_random_below(random, 3) > 0;
        other.context = ref_context(isas[set], threads);
        if (other.context == one.context) /* its result is still to be compared with */
            other.context = ref_context("base", 1);
        other.context->window = window;
        snprintf(what, sizeof what, "%s: %d threads, window %zu, bounds %d", text, threads, window, run.bounds);
        open_file(&f, points);
        run_source(&other, &f, run, (size_t)1 << 30);
        other.context->window = 0;
        check_same(what, points, &other, &one);
        if (other.status == AST_OK && (window == 0 || window >= points->count))
            assert_true(f.in_order && f.last_written == points->count);
        if (f.labels[points->count] != -77)
            fail_msg("%s: wrote past the end of labels", what);
        ref_trace_free(&other.heard.passes);
        free(f.labels);
    }
    ref_trace_free(&one.heard.passes);
    free(one.labels);
}

static ast_options some_options(uint64_t seed, double angle, bool spkm, ast_random *random) {
    ast_options options = ref_dp_options(angle);
    if (spkm) {
        ast_options_init(&options);
        options.method = AST_SPKM;
        options.clusters = 1 + ast_random_below(random, 12);
        options.seed = seed;
        options.start.by = ast_random_below(random, 3) ? AST_PLUSPLUS : AST_RANDOM;
    }
    options.axial = (int)ast_random_below(random, 4) == 0;
    return options;
}

static void check_case(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ast_random random;
    ref_case_make(&made, seed, size);
    ast_random_seed(&random, seed, 79);
    bool spkm = ast_random_below(&random, 3) == 0;
    ast_options options = some_options(seed, made.angle, spkm, &random);
    if (made.means && !spkm) {
        options.start.by = AST_GIVEN;
        options.start.means = made.means;
        options.start.means_count = made.means_count;
    }
    check_ways(made.text, &made.points, &options, ways, &random);
    ref_case_free(&made);
}

/* Directions that come late, points that are alone, rows of any length, some missing: several windows of them. */
static void fill_wide(float *x, size_t count, size_t dimension, uint64_t seed, ast_random *random) {
    ref_fill_clustered(x, count, dimension, 9, 0.3 / sqrt((double)dimension), 0.002, seed);
    for (size_t i = 0; i < count; i++) {
        float *row = x + i * dimension, scale = ast_random_below(random, 3) ? 1 : 3;
        if (i > count * 2 / 3 && ast_random_below(random, 2))
            for (size_t d = 0; d < dimension; d++)
                row[d] = d < 2 ? row[d] + 2 : row[d];
        for (size_t d = 0; d < dimension; d++)
            row[d] = ast_random_below(random, 200 * dimension) ? row[d] * scale : NAN;
    }
}

static void check_wide(uint64_t seed, ref_size size, size_t ways) {
    static const size_t dimensions[] = {2, 3, 4, 5, 9, 40, 70};
    static const double angles[] = {30, 45, 60, 75};
    ast_random random;
    char text[100];
    (void)size;
    ast_random_seed(&random, seed, 80);
    size_t dimension = dimensions[ast_random_below(&random, 7)], count = 4090 + ast_random_below(&random, 9000);
    float *x = malloc(count * dimension * sizeof *x);
    double *weights = ast_random_below(&random, 4) ? NULL : malloc(count * sizeof *weights);
    fill_wide(x, count, dimension, seed, &random);
    for (size_t i = 0; weights && i < count; i++)
        weights[i] = (double)ast_random_below(&random, 4) * 0.75;
    ast_points points = ast_points_f4(x, count, dimension);
    points.weights = weights;
    double angle = angles[ast_random_below(&random, 4)];
    bool third = ast_random_below(&random, 3) == 0;
    ast_options options = some_options(seed, angle, third, &random);
    snprintf(text, sizeof text, "wide seed %llu, %zu x %zu%s, method %d", (unsigned long long)seed, count, dimension,
             weights ? " weighted" : "", (int)options.method);
    check_ways(text, &points, &options, ways, &random);
    free(x);
    free(weights);
}

static void test_small(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_SMALL, 120, 2);
}

static void test_large(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_LARGE, 2, 2);
}

static void test_wide(void **state) {
    (void)state;
    ref_check_seeds(check_wide, REF_LARGE, 14, 2);
}

/* More clusters than there are directions: some are left empty, and take points of other windows. */
static void test_empty_clusters(void **state) {
    enum { COUNT = 9000 };
    float *x = malloc((size_t)COUNT * 6 * sizeof *x), start[12 * 6];
    ast_random random;
    (void)state;
    ast_random_seed(&random, 3, 3);
    ref_fill_clustered(x, COUNT, 6, 3, 0.05, 0.001, 17);
    memcpy(start, x, sizeof start);
    for (size_t k = 3; k < 12; k++) /* far from everybody, or the same again */
        for (size_t d = 0; d < 6; d++)
            start[k * 6 + d] = k % 2 ? -start[d] : start[k % 3 * 6 + d];
    ast_points points = ast_points_f4(x, COUNT, 6);
    ast_options options;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.start.by = AST_GIVEN;
    options.start.means = start;
    options.start.means_count = 12;
    check_ways("empty clusters", &points, &options, 6 / (REF_SLOWER > 1 ? 3 : 1), &random);
    free(x);
}

/* ---- What goes wrong --------------------------------------------------------------------------------------------- */

enum { N = 10000, D = 3 };

typedef struct stage {
    float x[N * D];
    ast_points points;
    ast_options options;
    outcome o;
    file f;
} stage;

static void set_stage(stage *s, size_t window) {
    *s = (stage){.options = ref_dp_options(25)};
    ref_fill_clustered(s->x, N, D, 12, 0.2, 0.01, 21);
    s->points = ast_points_f4(s->x, N, D);
    s->o.context = ref_context(REF_FAST, 2);
    s->o.context->window = window;
    s->o.report.size = sizeof s->o.report;
    open_file(&s->f, &s->points);
}

static void end_stage(stage *s) {
    s->o.context->window = 0;
    ref_trace_free(&s->o.heard.passes);
    free(s->f.labels);
}

static void check_fails(stage *s, ast_status status, const char *sentence) {
    memset(&s->o.report, 0x5a, sizeof s->o.report);
    s->o.report.size = sizeof s->o.report;
    ast_report before = s->o.report;
    run_source(&s->o, &s->f, s->options, (size_t)1 << 30);
    if (s->o.status != status || !strstr(s->o.message, sentence))
        fail_msg("status %d, '%s', expected %d, '%s'", s->o.status, s->o.message, status, sentence);
    assert_memory_equal(&before, &s->o.report, sizeof before);
    if (s->o.context->window == 0)
        assert_int_equal(s->f.labels[0], -77); /* labels are written when nothing can fail any more */
    end_stage(s);
}

static void test_what_goes_wrong(void **state) {
    static stage s;
    (void)state;
    for (size_t window = 0; window <= AST_WINDOW_STEP; window += AST_WINDOW_STEP) {
        set_stage(&s, window);
        s.f.broken = N / 2; /* the file ends early in the first pass ... */
        check_fails(&s, AST_NO_INPUT, "could not be read");
        set_stage(&s, window);
        s.f.broken = N + N / 2; /* ... and in the second */
        check_fails(&s, AST_NO_INPUT, "could not be read");
        set_stage(&s, window);
        s.x[D * 7000] = INFINITY;
        s.x[D * 9000] = INFINITY;
        check_fails(&s, AST_BAD_DATA, "row 7001 (counting from 1) holds an infinity");
        for (size_t calls = 1; calls < 4; calls++) {
            set_stage(&s, window);
            s.o.heard.cancel = calls;
            check_fails(&s, AST_CANCELLED, "cancelled");
        }
    }
    for (size_t after = N / 2; after < 4 * N; after += N) {
        set_stage(&s, AST_WINDOW_STEP);
        s.f.labels_break = true;
        s.f.broken = after;
        check_fails(&s, AST_NO_INPUT, "could not be kept");
    }
}

/* A row that turns into a missing one between two passes. */
static int fade(const ast_progress *progress, void *data) {
    stage *s = data;
    if (progress->left == 0 && progress->iteration == 1)
        for (size_t d = 0; d < D; d++)
            s->x[D * 4321 + d] = NAN;
    return 0;
}

static void test_changed_rows(void **state) {
    static stage s;
    (void)state;
    set_stage(&s, AST_WINDOW_STEP);
    s.options.progress = fade;
    s.options.progress_data = &s;
    ast_source source = source_of(&s.f);
    ast_label_store store = store_of(&s.f);
    ast_status status = ast_cluster_source(s.o.context, &source, &s.options, (size_t)1 << 30, &store, &s.o.report);
    assert_int_equal(status, AST_BAD_DATA);
    assert_non_null(strstr(ast_message(s.o.context), "row 4322 (counting from 1) is not what it was"));
    end_stage(&s);
}

static void check_refused(stage *s, const char *sentence) {
    s->o.status = AST_OK;
    check_fails(s, AST_BAD_OPTION, sentence);
}

static void test_refused(void **state) {
    static stage s;
    (void)state;
    set_stage(&s, 0);
    s.options.dp.order = AST_ORDER_CONTENT;
    check_refused(&s, "other orders need all points in memory");
    set_stage(&s, 0);
    s.options.restarts = 2;
    check_refused(&s, "restarts need all points in memory");
    set_stage(&s, 0);
    s.options.parallel = AST_OIR;
    check_refused(&s, "AST_OIR and AST_SERIAL need all points in memory");
    set_stage(&s, 0);
    s.options.method = AST_DPMEANS;
    check_refused(&s, "the other methods need all points in memory");
    set_stage(&s, 0);
    ast_source source = source_of(&s.f);
    ast_plan plan = {.size = sizeof plan};
    assert_int_equal(ast_plan_source(s.o.context, &source, &s.options, 1000, &plan), AST_NO_MEMORY);
    assert_int_equal(ast_plan_source(s.o.context, &source, &s.options, plan.least, &plan), AST_OK);
    assert_true(plan.rows < N && plan.memory <= plan.least && plan.label_bytes == 8 * N);
    s.options.angle = 0.01; /* thousands of clusters: more than there is memory for */
    run_source(&s.o, &s.f, s.options, plan.least);
    assert_int_equal(s.o.status, AST_NO_MEMORY);
    assert_non_null(strstr(s.o.message, "a larger angle makes fewer of them"));
    end_stage(&s);
}

/* Numbers of one byte: as floats, in memory and read. */
static void test_bytes(void **state) {
    enum { ROWS = 5000, WIDE = 20 };
    static int8_t bytes[ROWS * WIDE];
    static float floats[ROWS * WIDE];
    ast_random random;
    (void)state;
    ast_random_seed(&random, 4, 4);
    ref_fill_clustered(floats, ROWS, WIDE, 7, 0.1, 0.01, 33);
    for (size_t i = 0; i < (size_t)ROWS * WIDE; i++) {
        bytes[i] = (int8_t)lrintf(floats[i] * 127);
        floats[i] = bytes[i];
    }
    memset(bytes + 40 * WIDE, 0, WIDE);
    memset(floats + 40 * WIDE, 0, WIDE * sizeof *floats);
    ast_points small = {.size = sizeof small,
                        .data = bytes,
                        .type = AST_I1,
                        .count = ROWS,
                        .dimension = WIDE,
                        .row_stride = WIDE,
                        .column_stride = 1};
    ast_points wide = ast_points_f4(floats, ROWS, WIDE);
    ast_options options = ref_dp_options(40);
    outcome a = {.report.size = sizeof a.report}, b = {0};
    run_memory(&b, &wide, options);
    a.context = ref_context(REF_FAST, 2);
    a.labels = malloc(ROWS * sizeof *a.labels);
    options.progress = hear;
    options.progress_data = &a.heard;
    a.status = ast_cluster(a.context, &small, &options, a.labels, &a.report);
    check_same("bytes", &wide, &a, &b);
    assert_int_equal(a.report.missing, 1);
    check_ways("bytes from a source", &small, &options, REF_SLOWER > 1 ? 1 : 3, &random);
    ref_trace_free(&a.heard.passes);
    ref_trace_free(&b.heard.passes);
    free(a.labels);
    free(b.labels);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small),
                                       cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_wide),
                                       cmocka_unit_test(test_empty_clusters),
                                       cmocka_unit_test(test_what_goes_wrong),
                                       cmocka_unit_test(test_changed_rows),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
