/* SPDX-License-Identifier: MIT
 *
 * Merging after convergence: the evidence against its definition in three dimensions, levels of the tree, merges by
 * angle, dissolved clusters, copies of rows; the same on any threads and instruction set. */
#include "evidence.h"
#include "random.h"
#include "reference/harness.h"
#include "reference/store.h"
#include "vmf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The evidence by definition, D = 3 --------------------------------------------------------------------------- */

/* ln C_3(kappa) - ln C_3(0) = ln(kappa / sinh kappa). */
static long double constant(long double kappa) {
    return kappa < 1e-4L ? -kappa * kappa / 6 : logl(2 * kappa) - kappa - log1pl(-expl(-2 * kappa));
}

static long double cluster_evidence(double n, double length, int centre, int width) {
    long double sum = 0, total = 0, most = -INFINITY, terms[45];
    for (int j = 0; j < 45; j++) {
        long double kappa = exp2l((j - 4) / 2.0L);
        terms[j] = n * constant(kappa) - constant(kappa * length);
        most = fmaxl(most, terms[j]);
    }
    for (int j = 0; j < 45; j++) {
        int away = abs(j - centre);
        long double p = width ? (away <= 3 * width ? expl(-0.5L * away * away / (width * width)) : 0) : away == 0;
        total += p;
        sum += p * expl(terms[j] - most);
    }
    return n < 2 ? 0 : logl(sum / total) + most;
}

static long double partition_evidence(const double *counts, const double *lengths, size_t clusters) {
    long double best = -INFINITY, shares = 0, points = 0;
    for (size_t k = 0; k < clusters; k++)
        points += counts[k];
    for (size_t k = 0; k < clusters; k++)
        shares += counts[k] * logl(counts[k] / points);
    for (int width = 0; width <= 4; width += 2)
        for (int centre = 0; centre < 45; centre++) {
            long double sum = 0;
            for (size_t k = 0; k < clusters; k++)
                sum += cluster_evidence(counts[k], lengths[k], centre, width);
            best = fmaxl(best, sum);
        }
    return best + shares;
}

/* 1 to 12 leaves of 1 to 60 points, some of them joined. */
static void evidence_is_as_defined(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (ref_long() ? 60 : 12); seed++) {
        ast_random random;
        ast_evidence evidence;
        double counts[12], lengths[12];
        int64_t sums[12][3];
        size_t clusters = 1 + seed % 12;
        ast_random_seed(&random, seed, 0);
        assert_true(ast_evidence_open(&evidence, clusters, 3, 0x1p30));
        for (size_t k = 0; k < clusters; k++) {
            double n = 1 + floor(60 * ast_random_uniform(&random)),
                   mean = 1 - pow(ast_random_uniform(&random), 3) * 0.9;
            double x[3];
            ast_uniform_direction(&random, 3, x);
            for (int d = 0; d < 3; d++)
                sums[k][d] = (int64_t)(x[d] * n * mean * 0x1p30);
            counts[k] = n;
            ast_evidence_leaf(&evidence, n, sums[k]);
        }
        for (size_t joined = 0; joined < clusters; joined++) {
            for (size_t k = joined; k < clusters; k++)
                lengths[k] = sqrt((double)sums[k][0] * (double)sums[k][0] + (double)sums[k][1] * (double)sums[k][1] +
                                  (double)sums[k][2] * (double)sums[k][2]) /
                             0x1p30;
            double expected = (double)partition_evidence(counts + joined, lengths + joined, clusters - joined);
            assert_true(fabs(ast_evidence_value(&evidence) - expected) <= 1e-9 * (1 + fabs(expected)));
            if (joined + 1 == clusters)
                break;
            size_t a = joined == 0 ? 0 : clusters + joined - 1; /* the node that cluster `joined` is now */
            ast_evidence_join(&evidence, a, joined + 1, false);
            counts[joined + 1] += counts[joined];
            for (int d = 0; d < 3; d++)
                sums[joined + 1][d] += sums[joined][d];
        }
        ast_evidence_close(&evidence);
    }
}

/* ---- Merges ------------------------------------------------------------------------------------------------------ */

enum { CLUSTERS = 5, N = 1120 };

typedef struct mixture {
    size_t dimension;
    float *x;
    int32_t truth[N];
} mixture;

/* Five clusters of 600, 300, 140, 60 and 20 points, the smaller the tighter, means at least 60 degrees apart. */
static void make_mixture(mixture *m, size_t dimension, const double *kappas, uint64_t seed) {
    static const size_t sizes[CLUSTERS] = {600, 300, 140, 60, 20};
    double means[CLUSTERS][64], x[64];
    ast_random random;
    size_t at = 0;
    ast_random_seed(&random, seed, 0);
    m->dimension = dimension;
    m->x = ref_take(N * dimension, sizeof *m->x);
    for (size_t k = 0; k < CLUSTERS;) {
        bool apart = true;
        ast_uniform_direction(&random, dimension, means[k]);
        for (size_t o = 0; o < k; o++) {
            double cosine = 0;
            for (size_t d = 0; d < dimension; d++)
                cosine += means[o][d] * means[k][d];
            apart = apart && cosine < 0.5;
        }
        k += apart;
    }
    for (size_t k = 0; k < CLUSTERS; k++)
        for (size_t i = 0; i < sizes[k]; i++, at++) {
            ast_vmf_sample(&random, dimension, means[k], kappas[k], x);
            for (size_t d = 0; d < dimension; d++)
                m->x[at * dimension + d] = (float)x[d];
            m->truth[at] = (int32_t)k;
        }
}

static double agreement(const int32_t *labels, const int32_t *truth, size_t count) {
    ast_agreement a = {.size = sizeof a};
    assert_int_equal(ast_compare(ref_context("base", 1), labels, truth, count, &a), AST_OK);
    return a.ari;
}

/* Pieces of unequal clusters join, whatever the angle; labels do not depend on threads or instruction set. */
static void evidence_finds_unequal_clusters(void **state) {
    static const double ten[] = {20, 50, 100, 200, 400}, fifty[] = {60, 100, 200, 400, 800};
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(6); seed++)
        for (double angle = 40; angle <= 60; angle += 10) {
            mixture m;
            int32_t labels[N], again[N];
            ast_report report = {.size = sizeof report};
            ast_options options = ref_dp_options(angle);
            make_mixture(&m, seed % 2 ? 10 : 50, seed % 2 ? ten : fifty, seed);
            ast_points points = ast_points_f4(m.x, N, m.dimension);
            options.merge.by = AST_MERGE_EVIDENCE;
            assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
            assert_int_equal(ast_cluster(ref_context("base", 3), &points, &options, again, &report), AST_OK);
            assert_memory_equal(labels, again, sizeof labels);
            assert_int_equal(report.clusters, CLUSTERS);
            assert_true(report.merged > CLUSTERS);
            assert_true(agreement(labels, m.truth, N) > 0.98);
            free(m.x);
        }
}

/* One cluster is not split, nor are points without any structure. */
static void evidence_merges_what_has_no_structure(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        enum { COUNT = 400, D = 8 };
        float x[COUNT * D];
        int32_t labels[COUNT];
        ast_random random;
        ast_random_seed(&random, seed, 0);
        for (size_t i = 0; i < COUNT; i++) {
            double row[D];
            ast_vmf_sample(&random, D, NULL, seed % 2 ? 0 : 30, row);
            for (size_t d = 0; d < D; d++)
                x[i * D + d] = (float)row[d];
        }
        ast_points points = ast_points_f4(x, COUNT, D);
        ast_report report = {.size = sizeof report};
        ast_options options = ref_dp_options(25);
        options.merge.by = AST_MERGE_EVIDENCE;
        assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
        assert_true(report.merged > 20);
        assert_int_equal(report.clusters, 1);
    }
}

/* The evidence counts a row once, however many copies there are. */
static void copies_change_no_evidence(void **state) {
    (void)state;
    static const double kappas[] = {20, 50, 100, 200, 400};
    mixture m;
    int32_t labels[2 * N], once[N];
    make_mixture(&m, 10, kappas, 3);
    float *twice = ref_take(2 * N * 10, sizeof *twice);
    memcpy(twice, m.x, N * 10 * sizeof *twice);
    memcpy(twice + N * 10, m.x, N * 10 * sizeof *twice);
    ast_points points = ast_points_f4(m.x, N, 10), doubled = ast_points_f4(twice, 2 * N, 10);
    ast_report report = {.size = sizeof report};
    ast_options options = ref_dp_options(40);
    options.merge.by = AST_MERGE_EVIDENCE;
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, once, &report), AST_OK);
    assert_int_equal(report.clusters, CLUSTERS);
    assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &doubled, &options, labels, &report), AST_OK);
    assert_int_equal(report.clusters, CLUSTERS);
    assert_true(agreement(labels, once, N) == 1 && agreement(labels + N, once, N) == 1);
    free(twice);
    free(m.x);
}

/* The tree has its leaves, sizes and order; a merge by count leaves as many clusters. */
static void the_tree_adds_up(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(20); seed++) {
        enum { COUNT = 500 };
        float x[COUNT * 6];
        int32_t labels[COUNT], leaves[COUNT];
        size_t joins, sizes[2 * COUNT] = {0}, used[2 * COUNT] = {0};
        ref_fill_clustered(x, COUNT, 6, 7, 0.4, 0.3, seed);
        x[6 * 17] = NAN;
        ast_points points = ast_points_f4(x, COUNT, 6);
        ast_report report = {.size = sizeof report};
        ast_options options = ref_dp_options(30 + (double)(seed % 4) * 5);
        ast_context *context = ref_context(REF_FAST, 1 + (int)(seed % 3));
        options.merge.tree = 1;
        options.merge.leaves = leaves;
        options.axial = seed % 3 == 0;
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        assert_memory_equal(labels, leaves, sizeof labels);
        const ast_tree_join *tree = ast_tree(context, &joins);
        assert_int_equal(joins, report.clusters - 1);
        for (size_t i = 0; i < COUNT; i++)
            if (leaves[i] >= 0)
                sizes[leaves[i]]++;
        for (size_t t = 0; t < joins; t++) {
            assert_true(tree[t].a < tree[t].b && tree[t].b < report.clusters + t);
            assert_true(!used[tree[t].a]++ && !used[tree[t].b]++);
            assert_int_equal(tree[t].into, report.clusters + t);
            assert_int_equal(tree[t].count, sizes[tree[t].a] + sizes[tree[t].b]);
            assert_true(tree[t].loss > -1e-9 && tree[t].angle >= 0 && tree[t].angle <= (options.axial ? 90.001 : 180));
            sizes[tree[t].into] = tree[t].count;
        }
        size_t found = report.clusters;
        options.merge.by = AST_MERGE_COUNT;
        options.merge.count = 1 + seed % found;
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        assert_true(report.clusters == options.merge.count && report.merged == found);
        options.merge.count = found + 1;
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_DATA);
    }
}

/* No two means stay closer than the angle, and every point has the nearest mean. */
static void near_means_become_one(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(20); seed++) {
        enum { COUNT = 600 };
        float x[COUNT * 3];
        int32_t labels[COUNT];
        size_t count;
        ref_fill_clustered(x, COUNT, 3, 9, 0.3, 0.4, seed);
        ast_points points = ast_points_f4(x, COUNT, 3);
        ast_report report = {.size = sizeof report};
        ast_options options = ref_dp_options(20);
        options.merge.by = AST_MERGE_ANGLE;
        options.merge.angle = 25;
        ast_context *context = ref_context(REF_FAST, 2);
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        const ast_cluster_info *clusters = ast_clusters(context, &count);
        double limit = ref_cosine(25);
        for (size_t a = 0; a < count; a++)
            for (size_t b = a + 1; b < count; b++)
                assert_true(ref_score(clusters[a].mean, clusters[b].mean, 3) <= limit);
        assert_true(report.converged && count <= report.merged);
    }
}

/* Even if there are few passes, no two means stay closer than the angle, and the passes are bounded before and after
 * the joins. */
static void merging_by_angle_is_bounded(void **state) {
    (void)state;
    enum { COUNT = 900, D = 8 };
    int32_t labels[COUNT];
    float *x = ref_take(COUNT * D, sizeof *x);
    for (uint64_t seed = 1; seed <= ref_case_count(12); seed++) {
        size_t count;
        ref_fill_clustered(x, COUNT, D, 9, 0.4, 0.2, seed);
        ast_points points = ast_points_f4(x, COUNT, D);
        ast_report report = {.size = sizeof report};
        ast_options options = ref_dp_options(45);
        options.merge.by = AST_MERGE_ANGLE;
        options.merge.angle = 40;
        options.max_iterations = 1 + (int)(seed % 5);
        ast_context *context = ref_context(REF_FAST, 2);
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        const ast_cluster_info *clusters = ast_clusters(context, &count);
        for (size_t a = 0; a < count; a++)
            for (size_t b = a + 1; b < count; b++)
                assert_true(ref_score(clusters[a].mean, clusters[b].mean, D) <= ref_cosine(40));
        assert_true(report.iterations <= 2 * options.max_iterations);
    }
    free(x);
}

/* ---- Passes after a cut, by definition -----------------------------------------------------------------------------
 */

enum { ROWS = 900, MOST = 8 };

typedef struct passes {
    size_t dimension, clusters;
    const float *x;
    double counts[MOST], lengths[MOST];
    int64_t sums[MOST][8];
} passes;

static double length_of(const int64_t *sum, size_t dimension) {
    double squares = 0;
    for (size_t d = 0; d < dimension; d++)
        squares += (double)sum[d] * (double)sum[d];
    return sqrt(squares) / 0x1p30;
}

/* Sums the labels up; returns their evidence, or -infinity if a cluster has no point. */
static double sum_up(passes *p, const int32_t *labels) {
    ast_evidence evidence;
    bool empty = false;
    memset(p->counts, 0, sizeof p->counts);
    memset(p->sums, 0, sizeof p->sums);
    for (size_t i = 0; i < ROWS; i++) {
        p->counts[labels[i]]++;
        for (size_t d = 0; d < p->dimension; d++)
            p->sums[labels[i]][d] += llrint((double)p->x[i * p->dimension + d] * 0x1p30);
    }
    assert_true(ast_evidence_open(&evidence, p->clusters, p->dimension, 0x1p30));
    for (size_t k = 0; k < p->clusters; k++) {
        p->lengths[k] = length_of(p->sums[k], p->dimension);
        empty = empty || p->counts[k] == 0;
        ast_evidence_leaf(&evidence, p->counts[k], p->sums[k]);
    }
    double value = ast_evidence_value(&evidence);
    ast_evidence_close(&evidence);
    return empty ? -INFINITY : value;
}

/* kappa_k x . mu_k + L(kappa_k) + ln(n_k / N). */
static void label_by_definition(const passes *p, int32_t *labels) {
    double kappas[MOST], offsets[MOST], lengths = 0, dimension = (double)p->dimension;
    for (size_t k = 0; k < p->clusters; k++)
        lengths += p->lengths[k];
    for (size_t k = 0; k < p->clusters; k++) {
        double mean = (p->lengths[k] + dimension * lengths / ROWS) / (p->counts[k] + dimension);
        kappas[k] = ast_vmf_kappa(p->dimension, fmin(mean, 1 - 1e-9));
        offsets[k] = ast_vmf_log_density(p->dimension, kappas[k], 0) - ast_vmf_log_density(p->dimension, 0, 0) +
                     log(p->counts[k] / ROWS);
    }
    for (size_t i = 0; i < ROWS; i++) {
        double most = -INFINITY;
        for (size_t k = 0; k < p->clusters; k++) {
            double cosine = 0;
            for (size_t d = 0; d < p->dimension; d++)
                cosine += (double)p->x[i * p->dimension + d] * (double)p->sums[k][d] / 0x1p30 / p->lengths[k];
            if (kappas[k] * cosine + offsets[k] > most) {
                most = kappas[k] * cosine + offsets[k];
                labels[i] = (int32_t)k;
            }
        }
    }
}

/* The level of the tree with `clusters` clusters. */
static void cut_tree(const ast_tree_join *joins, size_t leaves, size_t clusters, const int32_t *leaf, int32_t *labels) {
    int32_t node[2 * ROWS], number[2 * ROWS], next = 0;
    for (size_t n = 0; n < 2 * leaves; n++) {
        node[n] = (int32_t)n;
        number[n] = -1;
    }
    for (size_t t = 0; t < leaves - clusters; t++)
        for (size_t n = 0; n < leaves; n++)
            if (node[n] == (int32_t)joins[t].a || node[n] == (int32_t)joins[t].b)
                node[n] = (int32_t)joins[t].into;
    for (size_t i = 0; i < ROWS; i++) {
        int32_t group = node[leaf[i]];
        if (number[group] < 0)
            number[group] = next++;
        labels[i] = number[group];
    }
}

/* A context whose runs compare points with means by their heads, however few these are. */
static ast_context *open_with_heads(void) {
    ast_context *context;
    setenv("ASTERISM_HEADS", "4", 1);
    assert_int_equal(ast_open(&context, 2), AST_OK);
    unsetenv("ASTERISM_HEADS");
    return context;
}

static void passes_follow_their_definition(void **state) {
    size_t moved = 0;
    ast_context *heads = open_with_heads();
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        static float x[ROWS * 8];
        static int32_t labels[ROWS], leaves[ROWS], expected[ROWS], cut[ROWS], trial[ROWS];
        passes p = {.dimension = seed % 2 ? 3 : 6, .clusters = 3 + seed % 3, .x = x};
        ast_report report = {.size = sizeof report};
        ast_options options = ref_dp_options(25);
        ast_context *context = seed % 4 < 2 ? heads : ref_context(REF_FAST, 2);
        size_t joins;
        ref_fill_clustered(x, ROWS, p.dimension, 5, 0.3, 0.3, seed);
        ast_points points = ast_points_f4(x, ROWS, p.dimension);
        options.merge.tree = 1;
        options.merge.leaves = leaves;
        options.merge.by = AST_MERGE_COUNT;
        options.merge.count = p.clusters;
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        const ast_tree_join *tree = ast_tree(context, &joins);
        cut_tree(tree, joins + 1, p.clusters, leaves, cut);
        memcpy(expected, cut, sizeof cut);
        double evidence = sum_up(&p, expected), value;
        for (label_by_definition(&p, trial); (value = sum_up(&p, trial)) > evidence; label_by_definition(&p, trial)) {
            evidence = value;
            memcpy(expected, trial, sizeof trial);
        }
        if (agreement(labels, expected, ROWS) < 1)
            fail_msg("seed %llu: ARI %.6f", (unsigned long long)seed, agreement(labels, expected, ROWS));
        moved += agreement(labels, cut, ROWS) < 1;
    }
    assert_true(moved > 12); /* otherwise there were no passes to compare */
    ast_close(heads);
}

/* Many dimensions: axial points, weights and missing rows too. */
static void heads_change_no_merge(void **state) {
    enum { COUNT = 900, WIDEST = 70 };
    static float x[COUNT * WIDEST];
    static double weights[COUNT];
    static int32_t labels[COUNT], expected[COUNT];
    ast_context *heads = open_with_heads(), *plain = ref_context("base", 1);
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(12); seed++) {
        size_t dimension = 5 + (size_t)(seed * 13 % (WIDEST - 4));
        ref_fill_clustered(x, COUNT, dimension, 6 + seed % 9, 0.1 + 0.1 * (double)(seed % 5), 0.3, seed);
        for (size_t i = 0; i < COUNT; i++)
            weights[i] = (double)(i % 4);
        x[7 * dimension] = NAN;
        ast_points points = ast_points_f4(x, COUNT, dimension);
        points.weights = seed % 3 ? NULL : weights;
        ast_report report = {.size = sizeof report}, other = {.size = sizeof other};
        ast_options options = ref_dp_options(35);
        options.axial = seed % 4 == 0;
        options.merge.by = seed % 2 ? AST_MERGE_EVIDENCE : AST_MERGE_COUNT;
        options.merge.count = 3;
        options.max_iterations = 5;
        assert_int_equal(ast_cluster(plain, &points, &options, expected, &report), AST_OK);
        assert_int_equal(ast_cluster(heads, &points, &options, labels, &other), AST_OK);
        assert_memory_equal(labels, expected, sizeof labels);
        assert_true(report.objective == other.objective && report.iterations == other.iterations);
    }
    ast_close(heads);
}

/* ---- After other runs -------------------------------------------------------------------------------------------- */

typedef struct keeper {
    ast_context *context;
    ref_store store;
} keeper;

static int keep_last(const ast_progress *state, void *data) {
    keeper *k = data;
    ast_storage view = ref_store_view(&k->store);
    if (state->last)
        assert_int_equal(ast_checkpoint(k->context, &view), AST_OK);
    return 0;
}

/* A run that is over and taken up again has no bounds, only labels: merging and dissolving need no more. */
static void a_resumed_run_merges_too(void **state) {
    (void)state;
    enum { COUNT = 6000 / (REF_SLOWER > 1 ? 3 : 1), D = 10 };
    static float x[COUNT * D];
    static int32_t labels[COUNT], again[COUNT];
    ref_fill_clustered(x, COUNT, D, 30, 0.3, 0.1, 4);
    ast_points points = ast_points_f4(x, COUNT, D);
    for (int merge = AST_MERGE_NONE; merge <= AST_MERGE_COUNT; merge++) {
        keeper k = {.context = ref_context(REF_FAST, 2)};
        ast_report report = {.size = sizeof report}, second = {.size = sizeof second};
        ast_options options = ref_dp_options(25);
        options.merge.by = (ast_merge)merge;
        options.merge.angle = 15;
        options.merge.count = 20;
        options.merge.min_size = 4;
        options.progress = keep_last;
        options.progress_data = &k;
        ref_store_open(&k.store);
        assert_int_equal(ast_cluster(k.context, &points, &options, labels, &report), AST_OK);
        ast_storage view = ref_store_view(&k.store);
        ast_context *fresh; /* which has no memory of a run before */
        options.resume = &view;
        options.progress = NULL;
        assert_int_equal(ast_open(&fresh, 2), AST_OK);
        assert_int_equal(ast_cluster(fresh, &points, &options, again, &second), AST_OK);
        ast_close(fresh);
        assert_memory_equal(labels, again, sizeof labels);
        assert_true(report.clusters == second.clusters && report.outliers == second.outliers);
        ref_store_close(&k.store);
    }
}

/* What a further pass over all points would gain is measured and taken back; then clusters merge. */
static void clusters_of_a_sample_merge(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        enum { COUNT = 600, D = 300 };
        static float x[COUNT * D];
        int32_t labels[COUNT];
        size_t clusters, members = 0;
        ref_fill_clustered(x, COUNT, D, 6, 0.0142, 0, seed); /* members are 20 degrees apart */
        ast_points points = ast_points_f4(x, COUNT, D);
        ast_report report = {.size = sizeof report};
        ast_options options = ref_dp_options(18.5 + (double)(seed % 8) / 4);
        options.dp.sample = 150;
        options.seed = seed;
        options.max_iterations = 1;
        options.merge.by = AST_MERGE_COUNT;
        options.merge.count = 4;
        assert_int_equal(ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report), AST_OK);
        const ast_cluster_info *info = ast_clusters(ref_context(REF_FAST, 2), &clusters);
        assert_int_equal(clusters, 4);
        for (size_t k = 0; k < clusters; k++)
            members += info[k].count;
        assert_int_equal(members, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            assert_true(labels[i] >= 0 && labels[i] < 4);
    }
}

/* ---- Small clusters ---------------------------------------------------------------------------------------------- */

static void small_clusters_dissolve(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(30); seed++) {
        enum { COUNT = 500 };
        float x[COUNT * 4];
        double weights[COUNT];
        int32_t before[COUNT], labels[COUNT];
        size_t dimension = 2 + seed % 3, count, missing = 0, outliers = 0;
        ref_fill_clustered(x, COUNT, dimension, 6, 0.2, 0.4, seed);
        for (size_t i = 0; i < COUNT; i++)
            weights[i] = seed % 2 ? 0.5 * (double)(1 + i % 3) : 1;
        x[0] = NAN;
        ast_points points = ast_points_f4(x, COUNT, dimension);
        points.weights = seed % 2 ? weights : NULL;
        ast_report report = {.size = sizeof report};
        ast_options options = ref_dp_options(15);
        options.axial = seed % 5 == 0;
        ast_context *context = ref_context(REF_FAST, 2);
        assert_int_equal(ast_cluster(context, &points, &options, before, &report), AST_OK);
        const ast_cluster_info *all = ast_clusters(context, &count);
        double sizes[COUNT];
        float means[COUNT * 4];
        size_t kept = 0;
        for (size_t k = 0; k < count; k++) {
            sizes[k] = all[k].weight;
            memcpy(means + k * dimension, all[k].mean, dimension * sizeof *means);
            kept += sizes[k] >= 8;
        }
        options.merge.min_size = 8;
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        assert_int_equal(report.clusters, kept);
        for (size_t i = 0; i < COUNT; i++) {
            missing += before[i] < 0;
            outliers += before[i] >= 0 && labels[i] < 0;
            if (before[i] < 0 || sizes[before[i]] >= 8)
                assert_true((labels[i] < 0) == (before[i] < 0));
            if (before[i] < 0 || labels[i] >= 0)
                continue;
            float row[4]; /* an outlier: no remaining mean is within the angle */
            double wide[4];
            for (size_t d = 0; d < dimension; d++)
                wide[d] = x[i * dimension + d];
            ref_normalise(wide, dimension, 0, row);
            for (size_t k = 0; k < count; k++)
                assert_true(sizes[k] < 8 ||
                            !ref_fits(ref_closeness(options.axial, row, means + k * dimension, dimension), 15));
        }
        assert_true(report.missing == missing && report.outliers == outliers);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_as_defined),
        cmocka_unit_test(evidence_finds_unequal_clusters),
        cmocka_unit_test(evidence_merges_what_has_no_structure),
        cmocka_unit_test(copies_change_no_evidence),
        cmocka_unit_test(the_tree_adds_up),
        cmocka_unit_test(near_means_become_one),
        cmocka_unit_test(merging_by_angle_is_bounded),
        cmocka_unit_test(passes_follow_their_definition),
        cmocka_unit_test(heads_change_no_merge),
        cmocka_unit_test(a_resumed_run_merges_too),
        cmocka_unit_test(clusters_of_a_sample_merge),
        cmocka_unit_test(small_clusters_dissolve),
    };
    return cmocka_run_group_tests_name("merging", tests, NULL, ref_contexts_end);
}
