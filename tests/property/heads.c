/* SPDX-License-Identifier: MIT
 *
 * Heads and tails: the upper_bound of a mean is never below its exact score, whatever the rows, however good the axes,
 * with floats and with bytes; the kernels list every rival, on every instruction set. Whole runs with heads are
 * compared with the reference by property/batch_heads and its like. */
#include "reference/harness.h"

#include "heads.h"
#include "small_large.h"
#include "inside.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, MEANS = 70, ROOM = 80 };

/* Rows of a case: one below the other, points first. */
typedef struct scene {
    size_t dimension;
    float *rows; /* (ROWS + MEANS, D) unit vectors */
    const float *row[ROWS + MEANS];
    ast_heads heads;
    ast_mean_table table;
    const float *head[ROWS + MEANS]; /* of the first stage */
    float *heads_memory;             /* (ROWS + MEANS, second) */
} scene;

enum { ANY, FEW_AXES, ONE_CONE, COPIES, COORDINATES, KINDS };

static void draw(ast_random *random, int kind, const float *earlier, size_t dimension, float *to) {
    double x[AST_MOST_AXES + 64];
    ref_random_direction(random, x, dimension);
    for (size_t d = 0; d < dimension; d++) {
        if (kind == FEW_AXES)
            x[d] *= pow(0.7, (double)d);
        else if (kind == ONE_CONE)
            x[d] = 1 + 1e-3 * x[d];
        else if (kind == COPIES)
            x[d] = (double)earlier[d] + 1e-7 * x[d];
        else if (kind == COORDINATES)
            x[d] = 0;
    }
    if (kind == COORDINATES) {
        size_t axis = ast_random_below(random, dimension);
        x[axis] = ast_random_below(random, 2) ? 1 : -1;
    }
    ref_make_unit(x, dimension);
    for (size_t d = 0; d < dimension; d++)
        to[d] = (float)x[d];
}

/* Along axes or with rows as they are, with any part of the coordinates as bytes. */
static void choose_stages(scene *s, ast_random *random, const ast_kernels *kernels) {
    ast_heads *h = &s->heads;
    ast_stages *stages = &h->stages;
    size_t most = s->dimension < AST_MOST_AXES ? s->dimension : AST_MOST_AXES;
    most = most < AST_PANEL ? AST_PANEL : most / AST_PANEL * AST_PANEL;
    assert_true(ast_basis_find(&h->axes, kernels, s->row + ROWS, MEANS, s->dimension, most));
    h->layout = 1;
    stages->raw = ast_random_below(random, 3) == 0;
    stages->second = stages->raw ? 0 : AST_PANEL * (1 + (size_t)ast_random_below(random, most / AST_PANEL));
    stages->first = 4 * (1 + (size_t)ast_random_below(random, (stages->raw ? s->dimension : stages->second) / 4));
    stages->plain = ast_random_below(random, 2) ? (size_t)ast_random_below(random, stages->first + 1) : 0;
    stages->unit = (float)pow(2, -3 - (double)ast_random_below(random, 8));
    h->slack = stages->raw ? ast_score_error(s->dimension) + 0x1p-20f : ast_head_slack(&h->axes, most);
}

static void open_scene(scene *s, uint64_t seed, const ast_kernels *kernels, bool axial) {
    ast_random random;
    ast_random_seed(&random, seed, 3);
    memset(s, 0, sizeof *s);
    size_t dimension = s->dimension = 5 + (size_t)ast_random_below(&random, seed % 4 ? 60 : 300);
    int kind = (int)ast_random_below(&random, KINDS);
    s->rows = ref_take((ROWS + MEANS) * dimension, sizeof *s->rows);
    for (size_t i = 0; i < ROWS + MEANS; i++) {
        bool first = i == 0 || ast_random_below(&random, 4) == 0;
        const float *earlier = i ? s->rows + ast_random_below(&random, i) * dimension : s->rows;
        draw(&random, first && kind == COPIES ? ANY : kind, earlier, dimension, s->rows + i * dimension);
        s->row[i] = s->rows + i * dimension;
    }
    choose_stages(s, &random, kernels);
    ast_mean_table_clear(&s->table, dimension, axial);
    for (size_t k = 0; k < MEANS; k++)
        assert_true(ast_mean_table_append(&s->table, s->row[ROWS + k], (int32_t)(3 * k)));
    assert_true(ast_mean_heads_sync(&s->heads, kernels, &s->table, NULL));
    s->heads_memory = ref_take((ROWS + MEANS) * (s->heads.stages.second + 1), sizeof *s->heads_memory);
    if (!s->heads.stages.raw)
        ast_heads_project(&s->heads.axes, kernels, s->row, ROWS + MEANS, s->heads.stages.second, s->heads_memory);
    for (size_t i = 0; i < ROWS + MEANS; i++)
        s->head[i] = s->heads.stages.raw ? s->row[i] : s->heads_memory + i * s->heads.stages.second;
}

static void close_scene(scene *s) {
    ast_heads_free(&s->heads);
    ast_mean_table_free(&s->table);
    free(s->rows);
    free(s->heads_memory);
}

static double exact(const scene *s, size_t i, size_t k) {
    double score = ast_exact_score(s->row[i], s->row[ROWS + k], s->dimension);
    return s->table.axial ? fabs(score) : score;
}

/* A number as a byte stands for it. */
static double rounded(float x, float unit) {
    double byte = nearbyint((double)(x * (1 / unit)));
    return (double)unit * fmax(-AST_BYTE, fmin(AST_BYTE, byte));
}

/* The most that a score can be, by the definition. A row's bytes are in units of its largest number. */
static double upper_bound(const scene *s, size_t i, size_t k) {
    const ast_stages *stages = &s->heads.stages;
    const float *a = s->head[i], *b = s->head[ROWS + k];
    double product = 0, a_left = 0, b_left = 0, a_length = 0;
    const ast_basis *axes = stages->raw ? NULL : &s->heads.axes;
    float unit = 0;
    for (size_t d = stages->plain; d < stages->first; d++)
        unit = fmaxf(unit, fabsf(a[d]));
    unit = fmaxf(unit / AST_BYTE, 0x1p-40f);
    for (size_t d = 0; d < stages->first; d++) {
        bool byte = d >= stages->plain;
        double x = byte ? rounded(a[d], unit) : (double)a[d], m = byte ? rounded(b[d], stages->unit) : (double)b[d];
        product += x * m;
        a_left += ((double)a[d] - x) * ((double)a[d] - x);
        b_left += ((double)b[d] - m) * ((double)b[d] - m);
        a_length += byte ? x * x : 0;
    }
    product = s->table.axial ? fabs(product) : product;
    return product + sqrt(a_left) * (double)s->table.heads->longest_bytes + sqrt(a_length) * sqrt(b_left) +
           (double)ast_tail_length(axes, a, stages->first) * (double)ast_tail_length(axes, b, stages->first);
}

static void check_reach(const scene *s, uint64_t seed) {
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < MEANS; k++)
            if (upper_bound(s, i, k) + (double)s->heads.slack < exact(s, i, k))
                fail_msg(
                    "seed %llu, D = %zu: the upper_bound of mean %zu from row %zu over %zu coordinates is %.9g, its "
                    "score %.9g",
                    (unsigned long long)seed, s->dimension, k, i, s->heads.stages.first, upper_bound(s, i, k),
                    exact(s, i, k));
}

/* Points of a scene as candidates.c makes them. */
typedef struct packed_rows {
    uint8_t *memory;
    const uint8_t *bytes[ROWS];
    float units[ROWS], lengths[ROWS], tails[ROWS], extra[ROWS];
} packed_rows;

static void pack_rows(const scene *s, const ast_kernels *kernels, packed_rows *p) {
    const ast_stages *stages = &s->heads.stages;
    size_t count = ast_byte_count(stages), n = stages->first - stages->plain;
    p->memory = ref_take(ROWS * count + 1, 1);
    for (size_t i = 0; i < ROWS; i++) {
        uint8_t *bytes = p->memory + i * count;
        memset(bytes, 0, count);
        ast_bytes_made made = kernels->heads.to_bytes(s->head[i] + stages->plain, n, 0, AST_BYTE, bytes);
        p->bytes[i] = bytes;
        p->units[i] = made.unit * stages->unit;
        p->lengths[i] = made.length;
        p->extra[i] = made.error * s->table.heads->longest_bytes;
        p->tails[i] = ast_tail_length(stages->raw ? NULL : &s->heads.axes, s->head[i], stages->first);
    }
}

/* Whether each mean is listed, in order, or passed; rounding may tell either way only within the slack. */
static void check_list(const scene *s, size_t i, const ast_mean_candidate *candidates, size_t count, double limit,
                       double passed, uint64_t seed) {
    double slack = 2 * (double)s->heads.slack;
    size_t listed = 0;
    for (size_t k = 0; k < MEANS; k++) {
        double r = upper_bound(s, i, k);
        bool is_listed = listed < count && candidates[listed].mean == k;
        if ((r > limit + slack && !is_listed) || (r < limit - slack && is_listed))
            fail_msg("seed %llu: mean %zu of row %zu upper_bounds %.9g, the limit is %.9g, listed %d",
                     (unsigned long long)seed, k, i, r, limit, is_listed);
        if (!is_listed && passed < r - slack)
            fail_msg("seed %llu: mean %zu of row %zu upper_bounds %.9g and was passed with %.9g",
                     (unsigned long long)seed, k, i, r, passed);
        listed += is_listed;
    }
    assert_int_equal(listed, count);
}

static void check_kernels(const scene *s, const ast_kernels *kernels, uint64_t seed) {
    ast_mean_candidate *candidates = ref_take(ROWS * ROOM, sizeof *candidates);
    float *scratch = aligned_alloc(64, AST_ROW_SCRATCH * sizeof *scratch);
    float limits[ROWS], passed[ROWS];
    float *upper_bounds = ref_take(ROWS * ROOM, sizeof *upper_bounds);
    size_t counts[ROWS];
    packed_rows p;
    pack_rows(s, kernels, &p);
    for (size_t i = 0; i < ROWS; i++) {
        limits[i] = (float)upper_bound(s, i, (i * 7) % MEANS) - 1e-3f - p.extra[i];
    }
    ast_head_tile tile = {ROWS,   s->head,    p.bytes, p.units,      p.lengths, p.tails,
                          limits, candidates, counts,  upper_bounds, ROOM};
    kernels->heads.list_candidates(&tile, &s->table.heads->packed, passed, scratch);
    kernels->heads.store_upper_bounds(&tile, &s->table.heads->packed);
    for (size_t i = 0; i < ROWS; i++) {
        ast_mean_candidate again[ROOM];
        float rest, most = -4;
        for (size_t k = 0; k < MEANS; k++)
            most = fmaxf(most, upper_bounds[i * ROOM + k]);
        check_list(s, i, candidates + i * ROOM, counts[i], (double)limits[i] + (double)p.extra[i],
                   (double)passed[i] + (double)p.extra[i], seed);
        assert_true(upper_bounds[i * ROOM + kernels->heads.largest_upper_bound(upper_bounds + i * ROOM, MEANS)] ==
                    most);
        assert_int_equal(kernels->heads.select_candidates(upper_bounds + i * ROOM, MEANS, limits[i], again, &rest),
                         counts[i]);
        assert_memory_equal(again, candidates + i * ROOM, counts[i] * sizeof *again);
        assert_true(rest == passed[i]);
    }
    free(upper_bounds);
    free(candidates);
    free(scratch);
    free(p.memory);
}

static void heads_bound_scores(void **state) {
    (void)state;
    const char *const sets[] = {"base", REF_FAST};
    for (uint64_t seed = 1; seed <= ref_case_count(300); seed++) {
        scene s;
        const ast_kernels *kernels = ast_kernels_choose(sets[seed % 2]);
        open_scene(&s, seed, kernels, seed % 3 == 0);
        check_reach(&s, seed);
        check_kernels(&s, kernels, seed);
        close_scene(&s);
    }
}

/* Bytes, and what they leave, of any numbers: against sums in double. */
static void bytes_round_numbers(void **state) {
    const char *const sets[] = {"base", REF_FAST};
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(2000); seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 6);
        size_t n = (size_t)ast_random_below(&random, 130);
        float x[130], unit = seed % 3 ? 0 : 0.01f * (1 + (float)(seed % 7));
        uint8_t bytes[131] = {0};
        double scale = pow(10, -(double)ast_random_below(&random, 6)), left = 0, length = 0;
        int32_t sum = 0;
        for (size_t d = 0; d < n; d++)
            x[d] = (float)(scale * ast_random_normal(&random) / 12);
        bytes[n] = 77;
        ast_bytes_made made = ast_kernels_choose(sets[seed % 2])->heads.to_bytes(x, n, unit, (int)(seed % 2), bytes);
        assert_int_equal(bytes[n], 77);
        for (size_t d = 0; d < n; d++) {
            int byte = (int8_t)bytes[d] - (int)(seed % 2);
            double stands = (double)made.unit * byte;
            assert_in_range(byte + AST_BYTE, 0, 2 * AST_BYTE);
            assert_true(fabs((double)x[d] - stands) <= (double)made.unit * 0.501 || abs(byte) == AST_BYTE);
            sum += byte;
            left += ((double)x[d] - stands) * ((double)x[d] - stands);
            length += stands * stands;
        }
        assert_int_equal(made.sum, sum);
        assert_true((double)made.error >= sqrt(left) && (double)made.error <= sqrt(left) * 1.001 + 1e-6);
        assert_true((double)made.length >= sqrt(length) && (double)made.length <= sqrt(length) * 1.001);
    }
}

/* A mean that is nobody is no rival; one that was replaced has the head of the other. */
static void heads_follow_their_table(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(60); seed++) {
        scene s;
        const ast_kernels *kernels = ast_kernels_choose(NULL);
        open_scene(&s, seed, kernels, false);
        size_t k = seed % MEANS, other = (seed * 13 + 1) % MEANS;
        ast_mean_table_replace(&s.table, k, s.row[ROWS + other]);
        assert_true(ast_mean_heads_sync(&s.heads, kernels, &s.table, NULL));
        const struct ast_mean_heads *h = s.table.heads;
        assert_memory_equal(h->means + k * s.dimension, h->means + other * s.dimension, s.dimension * sizeof(float));
        assert_true(h->packed.tails[k] == h->packed.tails[other] && h->packed.errors[k] == h->packed.errors[other] &&
                    h->packed.shift[k] == h->packed.shift[other]);
        ast_mean_table_clear_entry(&s.table, k);
        assert_true(h->packed.bias[k] <= AST_NO_SCORE);
        assert_int_equal(h->packed.count, MEANS);
        ast_mean_table_clear(&s.table, s.dimension, false);
        assert_int_equal(h->packed.count, 0);
        close_scene(&s);
    }
}

/* Bounds follow means that move, from tiny steps to large ones, on either side of every score. */
static void bounds_follow_moves(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(20000); seed++) {
        enum { D = 6 };
        ast_random random;
        double x[D], a[D], b[D], step[D], before = 0, after = 0, move = 0;
        ast_random_seed(&random, seed, 8);
        ref_random_direction(&random, x, D);
        ref_random_direction(&random, a, D);
        ref_random_direction(&random, step, D);
        double near = seed % 3 ? pow(10, -6 * ast_random_uniform(&random)) : 1,
               size = pow(10, -7 * ast_random_uniform(&random));
        for (size_t d = 0; d < D; d++)
            a[d] = x[d] + near * a[d];
        ref_make_unit(a, D);
        for (size_t d = 0; d < D; d++)
            b[d] = a[d] + size * (seed % 2 ? x[d] - a[d] + 0.1 * step[d] : step[d]);
        ref_make_unit(b, D);
        for (size_t d = 0; d < D; d++) {
            float xf = (float)x[d], af = (float)a[d], bf = (float)b[d];
            before += (double)xf * (double)af;
            after += (double)xf * (double)bf;
            move += ((double)af - (double)bf) * ((double)af - (double)bf);
        }
        float far = ast_round_up(sqrt(move));
        double error = (double)ast_score_error(D);
        assert_true((double)ast_upper_bound_after_move((float)before, far) + error >= after);
        assert_true((double)ast_lower_bound_after_move((float)before, far) - error <= after);
        assert_true((double)ast_upper_bound_after_move((float)before, far) <= before + (double)far + 1e-6);
    }
    assert_true(ast_upper_bound_after_move(0.5f, 0) == 0.5f && ast_lower_bound_after_move(0.5f, 0) == 0.5f);
    assert_true(ast_upper_bound_after_move(2, 0.1f) >= 2 && ast_upper_bound_after_move(AST_NO_SCORE, 0.1f) < -3);
}

/* ---- Bounds that a pass leaves behind -----------------------------------------------------------------------------
 */

static ast_verdict nearest(void *unused, const ast_candidates *candidates) {
    (void)unused;
    return ast_nearest_candidate(candidates);
}

static ast_verdict nearest_or_new(void *unused, const ast_candidates *candidates) {
    ast_verdict v = nearest(unused, candidates);
    v.action = v.score >= candidates->limit ? AST_JOIN : candidates->singleton ? AST_STAY_SINGLETON : AST_START;
    return v;
}

/* Means of which many are nearly equally far from a point: most contests are close. */
static void make_close(ast_random *random, size_t count, size_t dimension, double middle, float *rows) {
    for (size_t i = 0; i < count; i++) {
        double x[64];
        ref_random_direction(random, x, dimension);
        for (size_t d = 0; d < dimension; d++)
            x[d] = middle + (middle > 0 ? pow(10, -1 - (double)(i % 7)) : 1) * x[d];
        ref_make_unit(x, dimension);
        for (size_t d = 0; d < dimension; d++)
            rows[i * dimension + d] = (float)x[d];
    }
}

/* The second score of every point is at least that of every given mean but its own: later passes rely on it. */
static void check_bounds(const ast_labelling *l, const float *rows, size_t count, size_t given, uint64_t seed) {
    size_t dimension = l->rows.dimension;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < given; k++) {
            double score = ast_exact_score(rows + i * dimension, l->clusters.means + k * dimension, dimension);
            double bound = (double)l->scorer.bounds.scores.second[i] + (double)ast_score_error(dimension);
            if (l->labels[i] != (int32_t)k && score > bound)
                fail_msg("seed %llu: point %zu scores %.9g with mean %zu, and its bound is %.9g",
                         (unsigned long long)seed, i, score, k, bound);
        }
}

static void passes_leave_bounds(void **state) {
    enum { N = 300, K = 50, D = 40 };
    static float rows[N * D], means[K * D];
    static const ast_rule rules[] = {{.decide = nearest}, {.decide = nearest_or_new, .unfit = AST_UNFIT_START}};
    ast_pool *pool;
    (void)state;
    assert_int_equal(ast_pool_open(&pool, 2), AST_OK);
    for (uint64_t seed = 1; seed <= ref_case_count(40); seed++) {
        ast_random random;
        ast_labelling l = {0};
        ast_fault fault;
        ast_pass_result result;
        ast_random_seed(&random, seed, 5);
        bool births = seed % 2; /* about half of the points fit no mean, most of these nearly */
        make_close(&random, N, D, births ? 0 : 1, rows);
        make_close(&random, K, D, births ? 0 : 1, means);
        ast_points points = ast_points_f4(rows, N, D);
        ast_labelling_input input = {
            .kernels = ast_kernels_choose(NULL), .pool = pool, .points = &points, .heads = 4 + seed % 16};
        assert_int_equal(ast_labelling_load(&l, &input, &fault), AST_OK);
        ast_labelling_set_rule(&l, &rules[births], births ? 68 : NAN);
        assert_true(ast_clusters_add_means(&l.clusters, means, K));
        assert_int_equal(ast_labelling_pass(&l, AST_ORDERED, &result, &fault), AST_OK);
        assert_true(l.scorer.heads.on);
        check_bounds(&l, rows, N, K, seed);
        ast_labelling_clear(&l);
    }
    ast_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads_bound_scores), cmocka_unit_test(bytes_round_numbers),
                                       cmocka_unit_test(heads_follow_their_table),
                                       cmocka_unit_test(bounds_follow_moves), cmocka_unit_test(passes_leave_bounds)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
