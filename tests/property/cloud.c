/* SPDX-License-Identifier: MIT
 *
 * Neighbours and normals of clouds against every point compared with every other one, on clouds of every awkward kind;
 * matrices against long double. */
#include "reference/cloud.h"
#include "reference/harness.h"

#include "cloud_kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 330 / REF_SLOWER + 33, MOST = 700, WANTED = 60 };

typedef struct one_case {
    uint64_t seed;
    ref_cloud_kind kind;
    size_t count, wanted;
    float points[3 * MOST];
    ast_random random;
} one_case;

static void make_case(one_case *c, uint64_t seed) {
    static const uint64_t missing[] = {0, 0, 20, 2, 1};
    ast_random_seed(&c->random, seed, 91);
    c->seed = seed;
    c->kind = (ref_cloud_kind)(seed % REF_CLOUD_KINDS);
    c->count = (size_t)ast_random_below(&c->random, ast_random_below(&c->random, 3) ? 40 : MOST + 1);
    c->wanted = 1 + (size_t)ast_random_below(&c->random, ast_random_below(&c->random, 2) ? 20 : WANTED);
    ref_cloud_fill(c->points, c->count, c->kind, missing[ast_random_below(&c->random, 5)], &c->random);
}

static const ast_cloud_kernels *tables[2];
static ast_pool *pool;

static int open_all(void **state) {
    (void)state;
    tables[0] = &ast_cloud_kernels_base;
    tables[1] = ref_has(REF_FAST) ? ast_cloud_kernels_choose(REF_FAST) : NULL;
    if (tables[1])
        assert_string_equal(tables[1]->name, REF_FAST);
    ast_pool_open(&pool, 3);
    return pool ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    ast_pool_close(pool);
    ref_contexts_close();
    return 0;
}

/* ---- The tree and its neighbours --------------------------------------------------------------------------------- */

/* Every row that is there is in one slot, and in all boxes above it. */
static void check_tree(const one_case *c, const ast_kdtree *tree) {
    size_t leaves = ast_kdtree_leaves(tree), seen = 0;
    for (size_t slot = 0; slot < leaves * AST_LEAF; slot++) {
        const ast_kdleaf *leaf = &tree->leaves[slot / AST_LEAF];
        size_t s = slot % AST_LEAF;
        int32_t index = leaf->index[s];
        assert_int_equal(index >= 0, s < ast_kdtree_leaf_size(tree, slot / AST_LEAF));
        if (index < 0)
            continue;
        float p[3] = {leaf->x[s], leaf->y[s], leaf->z[s]};
        seen++;
        assert_memory_equal(p, c->points + 3 * index, sizeof p);
        for (size_t node = leaves + slot / AST_LEAF; node > 1; node /= 2) {
            const ast_kdnode *parent = &tree->nodes[node / 2];
            assert_true(parent->lowest_index[node % 2] <= index);
            for (int a = 0; a < 3; a++)
                assert_true(parent->low[a][node % 2] <= p[a] && p[a] <= parent->high[a][node % 2]);
        }
    }
    assert_int_equal(seen, tree->count);
}

static void check_nearest(const one_case *c, const ast_kdtree *tree, const float *place) {
    double expected[WANTED], squared[WANTED];
    int32_t index[WANTED], slot[WANTED];
    size_t there = ref_nearest(c->points, c->count, place, c->wanted, expected, index);
    for (int t = 0; t < 2 && tables[t]; t++) {
        ast_nearest_list found = {squared, slot, c->wanted, 0};
        tables[t]->nearest(tree, place, &found);
        assert_int_equal(found.count, there);
        for (size_t i = 0; i < there; i++) {
            int32_t got = tree->leaves[slot[i] / AST_LEAF].index[slot[i] % AST_LEAF];
            if (squared[i] != expected[i] || got != index[i])
                fail_msg("seed %llu, %s: neighbour %zu of %zu is point %d at %a, should be %d at %a",
                         (unsigned long long)c->seed, tables[t]->name, i, there, got, squared[i], index[i],
                         expected[i]);
        }
    }
}

static void neighbours_are_exact(void **state) {
    (void)state;
    static one_case c;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        ast_kdtree tree;
        make_case(&c, seed);
        assert_true(ast_kdtree_build(&tree, pool, c.points, c.count));
        check_tree(&c, &tree);
        for (size_t i = 0; i < c.count; i++)
            if (!isnan(c.points[3 * i] + c.points[3 * i + 1] + c.points[3 * i + 2]))
                check_nearest(&c, &tree, c.points + 3 * i);
        for (int i = 0; i < 20; i++) {
            float place[3];
            ref_cloud_fill(place, 1, (ref_cloud_kind)ast_random_below(&c.random, REF_CLOUD_KINDS), 0, &c.random);
            check_nearest(&c, &tree, place);
        }
        ast_kdtree_free(&tree);
    }
}

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

/* Random symmetric matrices: of any rank, any ratio of eigenvalues and any scale. */
static void fill_matrix(ast_random *r, double m[6]) {
    double v[3][3], scale = ldexp(1, (int)ast_random_below(r, 400) - 250);
    memset(m, 0, 6 * sizeof *m);
    for (int i = 0; i < 3; i++) {
        double weight = ast_random_below(r, 4) == 0 ? 0 : exp(-20 * ast_random_uniform(r));
        for (int c = 0; c < 3; c++)
            v[i][c] = ast_random_below(r, 5) == 0 ? 0 : ast_random_normal(r);
        for (int a = 0, e = 0; a < 3; a++)
            for (int b = a; b < 3; b++, e++)
                m[e] += scale * weight * v[i][a] * v[i][b];
    }
}

static void check_eigen(const double m[6], const ast_eigen3 *got, int lane) {
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    long double wide[6], values[3], vectors[3][3];
    for (int e = 0; e < 6; e++)
        wide[e] = m[e];
    ref_eigen(wide, values, vectors);
    long double scale = fabsl(values[2]) > fabsl(values[0]) ? fabsl(values[2]) : fabsl(values[0]);
    for (int i = 0; i < 3; i++) {
        assert_true(fabsl(got->values[i][lane] - values[i]) <= 4e-15L * scale);
        for (int c = 0; c < 3; c++) {
            long double residual = -(long double)got->values[i][lane] * got->vectors[i][c][lane], dot = -(i == c);
            for (int d = 0; d < 3; d++) {
                residual += (long double)m[at[c][d]] * got->vectors[i][d][lane];
                dot += (long double)got->vectors[i][d][lane] * got->vectors[c][d][lane];
            }
            assert_true(fabsl(residual) <= 4e-15L * scale && fabsl(dot) < 1e-14L);
        }
    }
}

static void eigenvectors_are_right(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 5, 92);
    for (int round = 0; round < 3000 / REF_SLOWER + 50; round++) {
        ast_moments3 moments;
        ast_eigen3 out[2];
        double m[AST_LEAF][6];
        for (int lane = 0; lane < AST_LEAF; lane++) {
            fill_matrix(&random, m[lane]);
            for (int e = 0; e < 6; e++)
                moments.elements[e][lane] = m[lane][e];
        }
        for (int t = 0; t < 2 && tables[t]; t++) {
            tables[t]->eigen(&moments, &out[t]);
            assert_memory_equal(&out[0], &out[t], sizeof out[0]);
        }
        for (int lane = 0; lane < AST_LEAF; lane++)
            check_eigen(m[lane], &out[0], lane);
    }
}

/* ---- Normals ----------------------------------------------------------------------------------------------------- */

static double cosine_to(const float *n, const long double *v) {
    return (double)fabsl(n[0] * v[0] + n[1] * v[1] + n[2] * v[2]);
}

/* Either three NaN, with a reason, or the unit eigenvector as far as the gap to the next eigenvalue fixes it. */
static void check_normal(const one_case *c, size_t i, const float *normal, float curvature) {
    double squared[WANTED];
    int32_t index[WANTED];
    long double m[6], values[3], vectors[3][3], resolved = 0;
    const float *p = c->points + 3 * i;
    size_t n = ref_nearest(c->points, c->count, p, c->wanted, squared, index);
    bool missing = isnan(p[0] + p[1] + p[2]), none = isnan(normal[0]) && isnan(normal[1]) && isnan(normal[2]);
    assert_int_equal(none, isnan(curvature));
    if (missing || n < 3) {
        assert_true(none);
        return;
    }
    ref_covariance(c->points, index, n, m);
    ref_eigen(m, values, vectors);
    for (int a = 0; a < 3; a++)
        resolved += powl(vectors[1][a] * p[a] * 0x1p-24L, 2) * (long double)n;
    long double floor = fmaxl(resolved, values[2] * 0x1p-40L);
    if (none)
        assert_true(values[1] <= floor * 1.001L);
    else if (values[1] < floor * 0.999L)
        fail_msg("seed %llu, point %zu: a normal where there is no plane", (unsigned long long)c->seed, i);
    if (none)
        return;
    double length = 0, gap = (double)((values[1] - values[0]) / values[2]);
    for (int a = 0; a < 3; a++)
        length += (double)normal[a] * normal[a];
    assert_true(fabs(length - 1) < 3e-7);
    double away = sqrt(fmax(0, 1 - pow(cosine_to(normal, vectors[0]) / sqrt(length), 2)));
    if (gap > 1e-10 && away > 1e-3 * sqrt(FLT_EPSILON) + 1e-14 / gap + 2e-7)
        fail_msg("seed %llu, point %zu: normal %g away, gap %g", (unsigned long long)c->seed, i, away, gap);
    double share = (double)(values[0] / (values[0] + values[1] + values[2]));
    assert_true(fabs(curvature - share) <= 1e-6 * share + 1e-14);
}

/* The side is that of the viewpoint; without one, and along the surface, the first component is positive. */
static void check_side(const one_case *c, size_t i, const float *n, const ast_cloud_options *o) {
    double towards = 0;
    for (int a = 0; a < 3; a++) {
        assert_false(n[a] == 0 && signbit(n[a]));
        towards += n[a] * (o->viewpoint[a] - c->points[3 * i + (size_t)a]);
    }
    double first = n[0] != 0 ? n[0] : n[1] != 0 ? n[1] : n[2];
    assert_true(o->undirected || towards == 0 ? first > 0 : towards > 0);
}

static void normals_are_right(void **state) {
    (void)state;
    static one_case c;
    static float normals[3 * MOST], curvature[MOST], alone[3 * MOST];
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        ast_cloud_options options;
        ast_cloud_options_init(&options);
        make_case(&c, seed);
        c.wanted = c.wanted < 3 ? 3 : c.wanted;
        options.neighbours = (int)c.wanted;
        options.undirected = seed % 3 == 0;
        for (int a = 0; seed % 2 && a < 3; a++)
            options.viewpoint[a] = 5 * ast_random_normal(&c.random);
        ast_context *context = ref_context(seed % 4 ? REF_FAST : "base", 1 + (int)(seed % 3));
        assert_int_equal(ast_cloud_normals(context, c.points, c.count, &options, normals, curvature), AST_OK);
        assert_int_equal(ast_cloud_normals(context, c.points, c.count, &options, alone, NULL), AST_OK);
        assert_memory_equal(normals, alone, 3 * c.count * sizeof *normals);
        for (size_t i = 0; i < c.count; i++) {
            check_normal(&c, i, normals + 3 * i, curvature[i]);
            if (!isnan(normals[3 * i]))
                check_side(&c, i, normals + 3 * i, &options);
        }
    }
}

/* A cloud in another order has the same normals, where no two distances are equal. */
static void order_does_not_matter(void **state) {
    (void)state;
    enum { N = 600 };
    static float points[3 * N], shuffled[3 * N], normals[3 * N], again[3 * N];
    uint32_t order[N];
    ast_random random;
    ast_cloud_options options;
    ast_cloud_options_init(&options);
    ast_random_seed(&random, 3, 93);
    ref_cloud_fill(points, N, REF_CLOUD_ROOM, 0, &random);
    ast_random_permutation(&random, order, N);
    for (size_t i = 0; i < N; i++)
        memcpy(shuffled + 3 * i, points + 3 * order[i], 3 * sizeof *points);
    assert_int_equal(ast_cloud_normals(ref_context(REF_FAST, 2), points, N, &options, normals, NULL), AST_OK);
    assert_int_equal(ast_cloud_normals(ref_context(REF_FAST, 2), shuffled, N, &options, again, NULL), AST_OK);
    for (size_t i = 0; i < N; i++)
        assert_memory_equal(again + 3 * i, normals + 3 * order[i], 3 * sizeof *again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_exact),
        cmocka_unit_test(eigenvectors_are_right),
        cmocka_unit_test(normals_are_right),
        cmocka_unit_test(order_does_not_matter),
    };
    return cmocka_run_group_tests_name("cloud", tests, open_all, close_all);
}
