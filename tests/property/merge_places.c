/* SPDX-License-Identifier: MIT
 *
 * Merging and dissolving give the same wherever the rows are: a source, whole or in windows, and several ranks have the
 * labels, means, trees and outliers of rows in memory, bit for bit. */
#include "context.h"
#include "reference/harness.h"
#include "reference/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMENSION = 24, CLUSTERS = 9, RANKS = 3 };

/* Unequal clusters; some rows are missing, copies of others, alone, or have weight 0. */
typedef struct table {
    size_t count, dimension;
    float *x;
    double *weights;
    ast_points points;
} table;

static void put_row(ast_random *random, const double *centres, size_t dimension, float *row) {
    size_t k = ast_random_below(random, CLUSTERS) * ast_random_below(random, CLUSTERS) / CLUSTERS;
    for (size_t d = 0; d < dimension; d++)
        row[d] = (float)(centres[k * dimension + d] + ast_random_normal(random) * (0.15 + 0.05 * (double)k));
}

static table make_table(uint64_t seed, size_t count, size_t dimension, bool weighted) {
    table t = {count, dimension, malloc(count * dimension * sizeof *t.x), malloc(count * sizeof *t.weights), {0}};
    double centres[CLUSTERS * MOST_DIMENSION];
    ast_random random;
    ast_random_seed(&random, seed, 31);
    for (size_t i = 0; i < CLUSTERS * dimension; i++)
        centres[i] = ast_random_normal(&random);
    for (size_t i = 0; i < count; i++) {
        float *row = t.x + i * dimension;
        put_row(&random, centres, dimension, row);
        if (i > 50 && ast_random_below(&random, 8) == 0)
            memcpy(row, t.x + ast_random_below(&random, i) * dimension, dimension * sizeof *row);
        for (size_t d = 0; ast_random_below(&random, 250) == 0 && d < dimension; d++)
            row[d] = (float)ast_random_normal(&random);
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

/* ---- An outcome -------------------------------------------------------------------------------------------------- */

typedef struct outcome {
    ast_status status;
    char message[300];
    ast_report report;
    float *means;
    ast_cluster_info *clusters;
    ast_tree_join *joins;
    size_t join_count;
} outcome;

static void *copy_of(const void *from, size_t bytes) {
    return from ? memcpy(malloc(bytes + 1), from, bytes) : NULL;
}

static void take(outcome *o, const ast_context *context, ast_status status) {
    size_t clusters;
    o->status = status;
    snprintf(o->message, sizeof o->message, "%s", ast_message(context));
    if (status != AST_OK)
        return;
    const ast_cluster_info *found = ast_clusters(context, &clusters);
    const ast_tree_join *joins = ast_tree(context, &o->join_count);
    o->means = copy_of(ast_means(context), clusters * o->report.dimension * sizeof *o->means);
    o->clusters = copy_of(found, clusters * sizeof *found);
    o->joins = copy_of(joins, o->join_count * sizeof *joins);
}

static void drop(outcome *o) {
    free(o->means);
    free(o->clusters);
    free(o->joins);
    *o = (outcome){.report = {.size = sizeof o->report}};
}

static void check_same(const outcome *a, const outcome *b, const char *what) {
    if (a->status != b->status || (a->status != AST_OK && strcmp(a->message, b->message) != 0))
        fail_msg("%s: '%s', in memory '%s'", what, a->message, b->message);
    if (b->status != AST_OK)
        return;
    const ast_report *r = &a->report, *s = &b->report;
    if (r->clusters != s->clusters || r->iterations != s->iterations || r->missing != s->missing ||
        r->outliers != s->outliers || r->merged != s->merged || r->converged != s->converged ||
        r->objective != s->objective || memcmp(&r->rayleigh, &s->rayleigh, sizeof r->rayleigh) != 0)
        fail_msg("%s: %zu of %zu clusters after %d passes, %zu outliers, J %.17g; in memory %zu of %zu, %d, %zu, %.17g",
                 what, r->clusters, r->merged, r->iterations, r->outliers, r->objective, s->clusters, s->merged,
                 s->iterations, s->outliers, s->objective);
    if (memcmp(a->means, b->means, s->clusters * s->dimension * sizeof *a->means) != 0)
        fail_msg("%s: the means differ", what);
    for (size_t k = 0; k < s->clusters; k++)
        if (a->clusters[k].count != b->clusters[k].count || a->clusters[k].weight != b->clusters[k].weight ||
            a->clusters[k].resultant != b->clusters[k].resultant)
            fail_msg("%s: cluster %zu differs", what, k);
    if (a->join_count != b->join_count ||
        (b->joins && memcmp(a->joins, b->joins, b->join_count * sizeof *b->joins) != 0))
        fail_msg("%s: the trees differ", what);
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

typedef struct file {
    const table *t;
    int32_t *labels;
} file;

static int read_rows(size_t first, size_t count, void *rows, void *data) {
    const file *f = data;
    memcpy(rows, f->t->x + first * f->t->dimension, count * f->t->dimension * sizeof(float));
    return 0;
}

static int write_labels(size_t first, size_t count, const int32_t *labels, void *data) {
    memcpy(((const file *)data)->labels + first, labels, count * sizeof *labels);
    return 0;
}

static int read_labels(size_t first, size_t count, int32_t *labels, void *data) {
    memcpy(labels, ((const file *)data)->labels + first, count * sizeof *labels);
    return 0;
}

static outcome run_source(file *f, const ast_options *options, size_t window, int threads) {
    ast_context *context = ref_context(threads % 2 ? "base" : REF_FAST, threads);
    outcome o = {.report = {.size = sizeof o.report}};
    const ast_source source = {.size = sizeof source,
                               .count = f->t->count,
                               .dimension = f->t->dimension,
                               .type = AST_F4,
                               .weights = f->t->points.weights,
                               .read = read_rows,
                               .data = f};
    const ast_label_store store = {sizeof store, write_labels, window ? read_labels : NULL, f};
    context->window = window;
    ast_status status = ast_cluster_source(context, &source, options, (size_t)1 << 30, &store, &o.report);
    context->window = 0;
    take(&o, context, status);
    return o;
}

typedef struct parts {
    const table *t;
    ast_options options;
    size_t cut[RANKS + 1];
    int32_t *labels, *leaves;
    int stopper; /* the rank that cancels in pass `stops_in`, or -1 */
    int stops_in;
    outcome result[RANKS];
} parts;

typedef struct stopping {
    int in;
} stopping;

static int stop_run(const ast_progress *state, void *data) {
    return state->iteration == ((const stopping *)data)->in;
}

static void run_rank(const ast_comm *comm, void *data) {
    parts *p = data;
    size_t first = p->cut[comm->rank], dimension = p->t->dimension;
    outcome *o = &p->result[comm->rank];
    ast_context *context;
    ast_options options = p->options;
    stopping stops = {comm->rank == p->stopper ? p->stops_in : -1};
    options.progress = stop_run;
    options.progress_data = &stops;
    options.merge.leaves = options.merge.tree ? p->leaves + first : NULL;
    ast_points points = ast_points_f4(p->t->x + first * dimension, p->cut[comm->rank + 1] - first, dimension);
    points.weights = p->t->points.weights ? p->t->points.weights + first : NULL;
    assert_int_equal(ast_open(&context, 1 + comm->rank % 2), AST_OK);
    ast_join(context, comm);
    o->report = (ast_report){.size = sizeof o->report};
    take(o, context, ast_cluster(context, &points, &options, p->labels + first, &o->report));
    ast_close(context);
}

static void run_ranks(parts *p, int ranks) {
    for (int r = 1; r <= ranks; r++) /* the second of three has few rows */
        p->cut[r] = r == ranks ? p->t->count : r == 1 ? p->t->count / 2 : p->t->count / 2 + 3;
    ref_ranks_run(ranks, run_rank, p);
}

/* ---- The same as in memory --------------------------------------------------------------------------------------- */

typedef struct check {
    const table *t;
    const ast_options *options;
    int32_t *labels, *leaves, *others, *other_leaves;
    outcome one;
    char what[200];
} check;

static void check_labels(const check *c, const char *place) {
    size_t count = c->t->count;
    for (size_t i = 0; i < count; i++)
        if (c->labels[i] != c->others[i] || (c->options->merge.tree && c->leaves[i] != c->other_leaves[i]))
            fail_msg("%s, %s: row %zu has label %d, in memory %d", c->what, place, i, c->others[i], c->labels[i]);
}

static void check_source(check *c, size_t window, int threads) {
    char place[300];
    file f = {.t = c->t, .labels = c->others};
    ast_options options = *c->options;
    options.merge.leaves = options.merge.tree ? c->other_leaves : NULL;
    snprintf(place, sizeof place, "%s, a source with window %zu, %d threads", c->what, window, threads);
    outcome o = run_source(&f, &options, window, threads);
    check_same(&o, &c->one, place);
    if (o.status == AST_OK)
        check_labels(c, "a source");
    drop(&o);
}

static void check_ranks(check *c, int ranks) {
    char place[300];
    parts p = {.t = c->t, .options = *c->options, .labels = c->others, .leaves = c->other_leaves, .stopper = -1};
    run_ranks(&p, ranks);
    for (int r = 0; r < ranks; r++) {
        snprintf(place, sizeof place, "%s, rank %d of %d", c->what, r, ranks);
        check_same(&p.result[r], &c->one, place);
    }
    if (p.result[0].status == AST_OK)
        check_labels(c, "ranks");
    for (int r = 0; r < ranks; r++)
        drop(&p.result[r]);
}

static void check_places(const table *t, const ast_options *options, const char *what) {
    check c = {.t = t, .options = options, .one = {.report = {.size = sizeof c.one.report}}};
    c.labels = ref_take(t->count, sizeof *c.labels);
    c.leaves = ref_take(t->count, sizeof *c.leaves);
    c.others = ref_take(t->count, sizeof *c.others);
    c.other_leaves = ref_take(t->count, sizeof *c.other_leaves);
    snprintf(c.what, sizeof c.what, "%s", what);
    ast_context *context = ref_context("base", 2);
    ast_options own = *options;
    own.merge.leaves = own.merge.tree ? c.leaves : NULL;
    take(&c.one, context, ast_cluster(context, &t->points, &own, c.labels, &c.one.report));
    check_source(&c, 0, 1 + (int)(t->count % 3));
    if (t->count > 4096)
        check_source(&c, 4096, 2);
    check_ranks(&c, 2 + (int)(t->count % 2));
    drop(&c.one);
    free(c.labels);
    free(c.leaves);
    free(c.others);
    free(c.other_leaves);
}

static ast_options draw_options(ast_random *random, size_t dimension) {
    ast_options o = ref_dp_options(dimension > 5 ? 50 : 35);
    if (ast_random_below(random, 4) == 0) {
        ast_options_init(&o);
        o.method = AST_SPKM;
        o.clusters = 2 * CLUSTERS;
        o.seed = 5;
    }
    o.dp.order = AST_ORDER_GIVEN;
    o.rounding = 0;
    o.axial = ast_random_below(random, 3) == 0;
    o.max_iterations = ast_random_below(random, 3) ? 100 : 3;
    o.merge.by = (ast_merge)ast_random_below(random, 4);
    o.merge.angle = o.merge.by == AST_MERGE_ANGLE ? 10 + 30 * ast_random_uniform(random) : (double)NAN;
    o.merge.count = o.merge.by == AST_MERGE_COUNT ? 1 + ast_random_below(random, 4) : 0;
    o.merge.tree = ast_random_below(random, 2) == 0;
    o.merge.any_angle = o.method == AST_DP && ast_random_below(random, 3) == 0;
    o.merge.min_size =
        o.merge.by == AST_MERGE_NONE || ast_random_below(random, 2) ? (double)(1 + ast_random_below(random, 40)) : 0;
    return o;
}

static void check_case(uint64_t seed, bool many) {
    char what[100];
    const size_t dimensions[] = {2, 3, 5, 12, MOST_DIMENSION};
    ast_random random;
    ast_random_seed(&random, seed, 32);
    size_t dimension = dimensions[ast_random_below(&random, 5)];
    size_t count = many ? 5000 + ast_random_below(&random, 5000) : 60 + ast_random_below(&random, 900);
    table t = make_table(seed, count, dimension, ast_random_below(&random, 2) == 0);
    ast_options options = draw_options(&random, dimension);
    snprintf(what, sizeof what, "seed %llu: %zu x %zu, merge %d, least %g", (unsigned long long)seed, count, dimension,
             (int)options.merge.by, options.merge.min_size);
    check_places(&t, &options, what);
    free_table(&t);
}

static void test_few(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(120); seed++)
        check_case(seed, false);
}

static void test_many(void **state) {
    (void)state;
    for (uint64_t seed = 1001; seed <= 1000 + ref_case_count(24); seed++)
        check_case(seed, true);
}

/* ---- What goes wrong --------------------------------------------------------------------------------------------- */

/* A rank that is cancelled while clusters are merged ends all ranks, with one sentence. */
static void test_cancelled(void **state) {
    (void)state;
    table t = make_table(7, 900, 5, false);
    int32_t labels[900], leaves[900];
    ast_options options = ref_dp_options(30);
    ast_context *context = ref_context("base", 1);
    ast_report report = {.size = sizeof report};
    options.rounding = 0;
    assert_int_equal(ast_cluster(context, &t.points, &options, labels, &report), AST_OK);
    for (int by = AST_MERGE_EVIDENCE; by <= AST_MERGE_ANGLE; by++)
        for (int rank = 0; rank < RANKS; rank++) {
            options.merge.by = (ast_merge)by;
            options.merge.angle = by == AST_MERGE_ANGLE ? 40 : (double)NAN;
            parts p = {.t = &t, .options = options, .labels = labels, .leaves = leaves, .stopper = rank};
            p.stops_in = report.iterations + 1;
            run_ranks(&p, RANKS);
            for (int r = 0; r < RANKS; r++) {
                assert_int_equal(p.result[r].status, AST_CANCELLED);
                assert_string_equal(p.result[r].message, p.result[0].message);
            }
        }
    free_table(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_cancelled)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
