/* SPDX-License-Identifier: MIT
 *
 * Starts of methods with a given number of clusters: against a slow reference; they do not depend on the order of rows
 * or on rows of weight 0; and k-means++ draws in proportion to weight times distance. */
#include "inside.h"
#include "seeds.h"

#include "content.h"
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300, WIDEST = 40, STARTS = 80 };

typedef struct rows {
    size_t count, dimension;
    float x[MOST * WIDEST];
    double weights[MOST];
} rows;

typedef struct how {
    bool random, weighted, axial;
    size_t starts, crowd, heads;
    uint64_t seed;
} how;

/* Rows with copies, zeros of both signs, missing rows, weights that may be 0. */
static void make(rows *r, ast_random *random) {
    r->count = 1 + ast_random_below(random, MOST);
    r->dimension = ast_random_below(random, 2) ? 3 : 2 + ast_random_below(random, WIDEST - 1);
    bool copies = ast_random_below(random, 2);
    for (size_t i = 0; i < r->count; i++) {
        float *row = r->x + i * r->dimension;
        r->weights[i] = i == 0 ? 0.5 : (double)ast_random_below(random, 4) / 3;
        for (size_t d = 0; d < r->dimension; d++)
            row[d] = ast_random_below(random, 5) == 0 ? (ast_random_below(random, 2) ? 0.0f : -0.0f)
                                                      : (float)ast_random_normal(random);
        if (i > 0 && copies && ast_random_below(random, 4) > 0)
            memcpy(row, r->x + ast_random_below(random, i) * r->dimension, r->dimension * sizeof *row);
        if (i > 0 && ast_random_below(random, 20) == 0)
            row[0] = NAN;
    }
    r->x[0] = 1;
}

/* ---- The library ------------------------------------------------------------------------------------------------- */

static ast_status no_teller(const void *data, double seconds, size_t clusters, uint64_t scored, ast_fault *fault) {
    (void)data, (void)seconds, (void)clusters, (void)scored, (void)fault;
    return AST_OK;
}

static void load(ast_labelling *l, const rows *r, const how *h, double *weights, ast_pool *pool, const char *isa) {
    ast_points points = ast_points_f4(r->x, r->count, r->dimension);
    ast_fault fault;
    memcpy(weights, r->weights, r->count * sizeof *weights);
    ast_labelling_input input = {.kernels = ast_kernels_choose(isa),
                                 .pool = pool,
                                 .points = &points,
                                 .weights = h->weighted ? weights : NULL,
                                 .axial = h->axial,
                                 .cells_from = h->crowd,
                                 .heads = h->heads};
    assert_int_equal(ast_labelling_load(l, &input, &fault), AST_OK);
}

/* starts (h->starts, D) */
static void draw(ast_labelling *l, const how *h, float *starts) {
    ast_random random;
    ast_fault fault;
    ast_random_seed(&random, h->seed, 0);
    ast_status status = h->random ? ast_seed_random(l, h->starts, &random, &fault)
                                  : ast_seed_plusplus(l, h->starts, &random, no_teller, NULL, &fault);
    assert_int_equal(status, AST_OK);
    assert_int_equal(l->clusters.live, h->starts);
    for (size_t k = 0; k < h->starts; k++)
        memcpy(starts + k * l->rows.dimension, l->clusters.means + (size_t)l->clusters.order[k] * l->rows.dimension,
               l->rows.dimension * sizeof *starts);
}

static void find_starts(const rows *r, const how *h, ast_pool *pool, const char *isa, float *starts) {
    ast_labelling l = {0};
    double weights[MOST];
    load(&l, r, h, weights, pool, isa);
    draw(&l, h, starts);
    ast_labelling_clear(&l);
}

/* ---- The reference ----------------------------------------------------------------------------------------------- */

typedef struct reference {
    ref_points points;
    uint64_t hash[MOST];
    size_t order[MOST]; /* of the points that take part, by hash */
    size_t count;
    float distance[MOST];
} reference;

static const reference *sorted;

static int by_hash(const void *a, const void *b) {
    uint64_t x = sorted->hash[*(const size_t *)a], y = sorted->hash[*(const size_t *)b];
    return x < y ? -1 : x > y;
}

static void prepare(reference *ref, const rows *r, const how *h, uint64_t seed) {
    ast_points view = ast_points_f4(r->x, r->count, r->dimension);
    ast_content content;
    view.weights = h->weighted ? r->weights : NULL;
    ref_points_read(&ref->points, &view);
    if (h->axial)
        ref_points_turn(&ref->points);
    assert_true(ast_content_open(&content, r->dimension, true, false, seed));
    ref->count = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (ref->points.missing[i] || ref->points.weight[i] == 0)
            continue;
        ref->hash[i] = ast_content_row(&content, ref->points.x + i * r->dimension);
        ref->order[ref->count++] = i;
    }
    sorted = ref;
    qsort(ref->order, ref->count, sizeof *ref->order, by_hash);
    ast_content_close(&content);
}

/* 1 - cosine: eight partial sums, in double. */
static float distance_to(const reference *ref, size_t i, const float *start) {
    const float *x = ref->points.x + i * ref->points.dimension;
    double part[8] = {0}, cosine = 0;
    for (size_t d = 0; d < ref->points.dimension; d++)
        part[d % 8] += (double)x[d] * (double)start[d];
    for (int j = 0; j < 8; j++)
        cosine += part[j];
    cosine = ref->points.axial ? fabs(cosine) : cosine;
    return cosine > 1 ? 0 : (float)(1 - cosine);
}

/* Parts are whole numbers: of the largest power of two with which all of them together stay below 2^62. */
static double scale_of(const reference *ref) {
    double total = 0, unit = 1;
    for (size_t i = 0; i < ref->points.count; i++)
        total += ref->points.missing[i] ? 0 : ref->points.weight[i];
    while (total * unit * 2 <= 0x1p62)
        unit *= 2;
    return unit / 2;
}

static uint64_t part_of(const reference *ref, size_t i) {
    return (uint64_t)(ref->points.weight[i] * (double)ref->distance[i] * scale_of(ref));
}

static uint64_t total_of(const reference *ref) {
    uint64_t total = 0;
    for (size_t j = 0; j < ref->count; j++)
        total += part_of(ref, ref->order[j]);
    return total;
}

/* The point whose part, in the order of hashes, a random number below the total falls into. */
static size_t draw_one(reference *ref, ast_random *random) {
    bool again = total_of(ref) == 0; /* every row is a start already */
    for (size_t i = 0; again && i < ref->points.count; i++)
        ref->distance[i] = 2;
    uint64_t at = ast_random_below(random, total_of(ref));
    size_t j = 0;
    while (at >= part_of(ref, ref->order[j]))
        at -= part_of(ref, ref->order[j++]);
    return ref->order[j];
}

static void refer(const rows *r, const how *h, float *starts) {
    static reference ref;
    ast_random random;
    ast_random_seed(&random, h->seed, 0);
    prepare(&ref, r, h, ast_random_u64(&random));
    size_t width = r->dimension * sizeof *starts, next = 0;
    for (size_t i = 0; i < r->count; i++)
        ref.distance[i] = 2;
    for (size_t k = 0; k < h->starts; k++) {
        size_t i = h->random ? ref.order[next] : draw_one(&ref, &random);
        float *start = starts + k * r->dimension;
        memcpy(start, ref.points.x + i * r->dimension, width);
        for (size_t d = 0; d < r->dimension; d++)
            start[d] += 0.0f;
        while (next < ref.count && ref.hash[ref.order[next]] == ref.hash[i])
            next++;
        next = next == ref.count ? 0 : next;
        for (size_t j = 0; j < ref.count && !h->random; j++) {
            size_t p = ref.order[j];
            float away = ref.hash[p] == ref.hash[i] ? 0 : distance_to(&ref, p, start);
            ref.distance[p] = away < ref.distance[p] ? away : ref.distance[p];
        }
    }
    ref_points_free(&ref.points);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static how any_way(const rows *r, ast_random *random, uint64_t seed) {
    how h = {.seed = seed};
    h.random = ast_random_below(random, 3) == 0;
    h.weighted = ast_random_below(random, 2);
    h.axial = ast_random_below(random, 3) == 0;
    h.starts = 1 + ast_random_below(random, STARTS);
    h.crowd = ast_random_below(random, 2) ? 2 : 0;
    h.heads = ast_random_below(random, 2) ? 8 : 0;
    h.starts = h.starts < r->count ? h.starts : r->count;
    return h;
}

static void starts_equal_the_reference(void **state) {
    static rows r;
    static float starts[STARTS * WIDEST], expected[STARTS * WIDEST];
    static const char *const isas[] = {"base", REF_FAST};
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        ast_pool *pool;
        assert_int_equal(ast_pool_open(&pool, threads), AST_OK);
        for (uint64_t n = 1; n <= ref_case_count(300); n++) {
            uint64_t seed = 3 * n + (uint64_t)threads;
            ast_random random;
            ast_random_seed(&random, seed, 1);
            make(&r, &random);
            how h = any_way(&r, &random, seed);
            refer(&r, &h, expected);
            find_starts(&r, &h, pool, isas[seed % 2], starts);
            if (memcmp(starts, expected, h.starts * r.dimension * sizeof *starts) != 0)
                fail_msg("seed %llu, %d threads: other starts", (unsigned long long)seed, threads);
        }
        ast_pool_close(pool);
    }
}

/* Moves rows, and adds some of weight 0 where there are weights. */
static void permute(const rows *from, bool weighted, ast_random *random, rows *to) {
    static uint32_t order[MOST];
    *to = *from;
    while (weighted && to->count < MOST && ast_random_below(random, 20)) {
        for (size_t d = 0; d < to->dimension; d++)
            to->x[to->count * to->dimension + d] = (float)ast_random_normal(random);
        to->weights[to->count++] = 0;
    }
    rows all = *to;
    ast_random_permutation(random, order, to->count);
    for (size_t i = 0; i < to->count; i++) {
        memcpy(to->x + i * to->dimension, all.x + order[i] * to->dimension, to->dimension * sizeof *to->x);
        to->weights[i] = all.weights[order[i]];
    }
}

static void starts_do_not_depend_on_the_order_of_rows(void **state) {
    static rows r, moved;
    static float starts[STARTS * WIDEST], again[STARTS * WIDEST];
    ast_pool *pool;
    (void)state;
    assert_int_equal(ast_pool_open(&pool, 2), AST_OK);
    for (uint64_t seed = 1; seed <= ref_case_count(300); seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 2);
        make(&r, &random);
        how h = any_way(&r, &random, seed);
        permute(&r, h.weighted, &random, &moved);
        find_starts(&r, &h, pool, REF_FAST, starts);
        find_starts(&moved, &h, pool, REF_FAST, again);
        if (memcmp(starts, again, h.starts * r.dimension * sizeof *starts) != 0)
            fail_msg("seed %llu: other starts", (unsigned long long)seed);
    }
    ast_pool_close(pool);
}

enum { KINDS = 5, COPIES = 3, DRAWS = 40000 };

/* Five rows on a circle, each three times, with weights that differ within the copies. */
static void make_kinds(rows *r, double *share) {
    *r = (rows){.count = KINDS * COPIES, .dimension = 2};
    double total = 0;
    for (size_t i = 0; i < r->count; i++) {
        double angle = 0.9 * (double)(i % KINDS);
        r->x[2 * i] = (float)cos(angle);
        r->x[2 * i + 1] = (float)sin(angle);
        r->weights[i] = 1 + (double)((i * 7) % 11);
        share[i % KINDS] += r->weights[i];
        total += r->weights[i];
    }
    for (size_t k = 0; k < KINDS; k++)
        share[k] /= total;
}

static size_t kind_of(const float *start) {
    double angle = atan2(start[1], start[0]);
    return (size_t)lround((angle < -0.1 ? angle + 2 * acos(-1) : angle) / 0.9);
}

/* The first two starts of many draws: the first in proportion to the weights, the second to weight * distance. */
static void draws_follow_weight_times_distance(void **state) {
    static rows r;
    double share[KINDS] = {0}, weights[MOST], squares = 0, first_squares = 0;
    size_t seen[KINDS][KINDS] = {{0}};
    ast_pool *pool;
    ast_labelling l = {0};
    (void)state;
#if defined(REF_TSAN)
    return; /* one thread */
#endif
    make_kinds(&r, share);
    how h = {.weighted = true, .starts = 2};
    assert_int_equal(ast_pool_open(&pool, 1), AST_OK);
    load(&l, &r, &h, weights, pool, "base");
    for (h.seed = 1; h.seed <= DRAWS; h.seed++) {
        float starts[4];
        draw(&l, &h, starts);
        assert_int_equal(ast_labelling_restart(&l, NULL), AST_OK);
        seen[kind_of(starts)][kind_of(starts + 2)]++;
    }
    for (size_t a = 0; a < KINDS; a++) {
        double total = 0, first = 0;
        for (size_t b = 0; b < KINDS; b++)
            total += share[b] * (1 - cos(0.9 * ((double)a - (double)b)));
        for (size_t b = 0; b < KINDS; b++) {
            double due = DRAWS * share[a] * share[b] * (1 - cos(0.9 * ((double)a - (double)b))) / total;
            double off = (double)seen[a][b] - due;
            squares += a == b ? 0 : off * off / due;
            first += (double)seen[a][b];
        }
        assert_int_equal(seen[a][a], 0);
        first_squares += (first - DRAWS * share[a]) * (first - DRAWS * share[a]) / (DRAWS * share[a]);
    }
    assert_true(first_squares < 18.5); /* chi square of 4 degrees of freedom: one in a thousand is larger */
    assert_true(squares < 43.8);       /* of 19 */
    ast_labelling_clear(&l);
    ast_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_equal_the_reference),
        cmocka_unit_test(starts_do_not_depend_on_the_order_of_rows),
        cmocka_unit_test(draws_follow_weight_times_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
