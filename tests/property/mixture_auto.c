/* SPDX-License-Identifier: MIT
 *
 * The mixture that finds its number of components: the posterior of kappa equals a plain integral, the bound of the
 * result is that of slow, plain steps, no pair of components would gain by a join, and known mixtures are found, in any
 * order, rotation and number of threads. */
#include "kappa_posterior.h"
#include "reference/harness.h"
#include "vmf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The posterior of kappa -------------------------------------------------------------------------------------- */

static double constant(size_t dimension, double kappa) {
    return ast_vmf_log_density(dimension, kappa, 0) - ast_vmf_log_density(dimension, 0, 0);
}

/* By the sum over a fine grid of t = ln kappa, as wide as the prior. */
static ast_kappa_posterior plain_posterior(const ast_kappa_prior *p, double n, double length, size_t nodes) {
    ast_kappa_posterior found = {.log_marginal = 0};
    double step = 24 * p->width / (double)nodes, total = 0, most = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j <= nodes; j++) {
            double t = p->centre - 12 * p->width + step * (double)j, kappa = exp(t), away = (t - p->centre) / p->width;
            double density = n * constant(p->dimension, kappa) - constant(p->dimension, kappa * length) -
                             away * away / 2 - log(p->width * sqrt(2 * M_PI));
            if (pass == 0) {
                found.kappa = density > most ? kappa : found.kappa;
                most = fmax(most, density);
                continue;
            }
            double part = exp(density - most);
            total += part;
            found.mean_log_constant += part * constant(p->dimension, kappa);
            found.mean_length += part * kappa * ast_vmf_resultant(p->dimension, kappa * length);
            found.centre += part * t;
            found.squared_deviation += part * (t - p->centre) * (t - p->centre);
        }
    found.log_marginal = most + log(total * step);
    found.mean_log_constant /= total;
    found.mean_length /= total;
    found.centre /= total;
    found.squared_deviation /= total;
    return found;
}

static void near(const char *what, double got, double expected, double relative) {
    if (!(fabs(got - expected) <= relative * (1 + fabs(expected))))
        fail_msg("%s is %.15g, should be %.15g", what, got, expected);
}

static void posterior_equals_the_integral(void **state) {
    (void)state;
    static const size_t dimensions[] = {2, 3, 40};
    static const double counts[] = {0.9, 1, 7.5, 3000}, lengths[] = {0.05, 0.6, 0.9999};
    for (size_t d = 0; d < 3; d++)
        for (size_t i = 0; i < 4; i++)
            for (size_t j = 0; j < 3; j++) {
                double room = (double)(dimensions[d] - 1), n = counts[i], length = n * lengths[j];
                ast_kappa_prior prior = {dimensions[d], log(room / (1 - lengths[j])), 0.35 + 0.3 * (double)(i % 4),
                                         NAN};
                ast_kappa_posterior got = ast_kappa_posterior_find(&prior, n, length);
                ast_kappa_posterior wanted = plain_posterior(&prior, n, length, 20000);
                near("the marginal", got.log_marginal, wanted.log_marginal, 5e-3);
                near("the mode", log(got.kappa), log(wanted.kappa), 1e-3);
                near("the constant", got.mean_log_constant, wanted.mean_log_constant, 2e-3);
                near("the slope", got.mean_length, wanted.mean_length, 2e-2);
                near("the centre", got.centre, wanted.centre, 1e-3);
                near("the square", got.squared_deviation, wanted.squared_deviation, 1e-2);
            }
}

/* ---- Plain steps ---------------------------------------------------------------------------------------------------
 */

typedef struct plain {
    size_t points, count, dimension;
    const float *x;
    double *r;     /* (N, K) */
    double *n, *s; /* (K), (K, D) */
    ast_kappa_prior prior;
    ast_kappa_posterior *found; /* (K) */
} plain;

static double norm(const double *a, const double *b, size_t dimension) {
    double squares = 0;
    for (size_t d = 0; d < dimension; d++)
        squares += (a[d] + (b ? b[d] : 0)) * (a[d] + (b ? b[d] : 0));
    return sqrt(squares);
}

static double x_log_x(double x) {
    return x > 0 ? x * log(x) : 0;
}

static void find_posteriors(plain *p) {
    for (size_t k = 0; k < p->count; k++)
        p->found[k] = plain_posterior(&p->prior, p->n[k], norm(p->s + k * p->dimension, NULL, p->dimension), 700);
}

/* Sums, then the prior; F of the memberships with the prior as it was. */
static double maximise(plain *p) {
    double bound = lgamma((double)p->count) - lgamma((double)(p->points + p->count)) + lgamma((double)p->count + 1),
           centre = 0, square = 0;
    memset(p->n, 0, p->count * sizeof *p->n);
    memset(p->s, 0, p->count * p->dimension * sizeof *p->s);
    for (size_t i = 0; i < p->points; i++)
        for (size_t k = 0; k < p->count; k++) {
            double r = p->r[i * p->count + k];
            p->n[k] += r;
            bound -= x_log_x(r);
            for (size_t d = 0; d < p->dimension; d++)
                p->s[k * p->dimension + d] += r * (double)p->x[i * p->dimension + d];
        }
    find_posteriors(p);
    for (size_t k = 0; k < p->count; k++) {
        bound += p->found[k].log_marginal + lgamma(p->n[k] + 1);
        centre += p->found[k].centre / (double)p->count;
    }
    p->prior.centre = centre;
    find_posteriors(p);
    for (size_t k = 0; k < p->count; k++)
        square += p->found[k].squared_deviation / (double)p->count;
    p->prior.width = fmax(0.5 * log(2), sqrt(square));
    find_posteriors(p);
    return bound;
}

/* The derivative of ln Gamma, by a difference. */
static double digamma(double x) {
    return (lgamma(x + 1e-4) - lgamma(x - 1e-4)) / 2e-4;
}

static void expect(plain *p) {
    for (size_t i = 0; i < p->points; i++) {
        double *row = p->r + i * p->count, most = -INFINITY, total = 0;
        for (size_t k = 0; k < p->count; k++) {
            const double *s = p->s + k * p->dimension;
            double along = 0;
            for (size_t d = 0; d < p->dimension; d++)
                along += s[d] * (double)p->x[i * p->dimension + d] / norm(s, NULL, p->dimension);
            row[k] = digamma(p->n[k] + 1) + p->found[k].mean_log_constant + p->found[k].mean_length * along;
            most = fmax(most, row[k]);
        }
        for (size_t k = 0; k < p->count; k++)
            total += row[k] = exp(row[k] - most);
        for (size_t k = 0; k < p->count; k++)
            row[k] /= total;
    }
}

/* The gain of F if components a and b join. */
static double gain(const plain *p, size_t a, size_t b) {
    double n = p->n[a] + p->n[b], length = norm(p->s + a * p->dimension, p->s + b * p->dimension, p->dimension);
    double sum = plain_posterior(&p->prior, n, length, 700).log_marginal - p->found[a].log_marginal -
                 p->found[b].log_marginal + lgamma(n + 1) - lgamma(p->n[a] + 1) - lgamma(p->n[b] + 1);
    sum += log((double)(p->points + p->count - 1)) - log((double)(p->count - 1)) - log((double)p->count);
    for (size_t i = 0; i < p->points; i++) {
        double ra = p->r[i * p->count + a], rb = p->r[i * p->count + b];
        sum -= x_log_x(ra + rb) - x_log_x(ra) - x_log_x(rb);
    }
    return sum;
}

/* ---- Data ----------------------------------------------------------------------------------------------------------
 */

static void fill(float *x, int32_t *truth, size_t count, size_t dimension, const double *kappas, size_t clusters,
                 double noise, uint64_t seed) {
    ast_random random;
    double mean[64], row[64];
    ast_random_seed(&random, seed, 17);
    for (size_t i = 0; i < count; i++) {
        size_t k = i % clusters % 3 == 2 && i % 5 < 3 ? 0 : i % clusters; /* not all of one size */
        memset(mean, 0, sizeof mean);
        mean[k % dimension] = k < dimension ? 1 : -1;
        truth[i] = (double)i < noise * (double)count ? -1 : (int32_t)k;
        ast_vmf_sample(&random, dimension, mean, truth[i] < 0 ? 0 : kappas[k], row);
        for (size_t d = 0; d < dimension; d++)
            x[i * dimension + d] = (float)row[d];
    }
}

static ast_report run(ast_context *context, const ast_points *points, int background, int32_t *labels) {
    ast_report report = {.size = sizeof report};
    ast_options options;
    ast_options_init(&options);
    options.method = AST_MOVMF;
    options.mixture.auto_clusters = 1;
    options.mixture.background = background;
    if (ast_cluster(context, points, &options, labels, &report) != AST_OK)
        fail_msg("%s", ast_message(context));
    assert_true(isfinite(report.objective) && isfinite(report.log_likelihood) && isfinite(report.bic));
    return report;
}

static double agreement(ast_context *context, const int32_t *a, const int32_t *b, size_t count) {
    ast_agreement found = {.size = sizeof found};
    assert_int_equal(ast_compare(context, a, b, count, &found), AST_OK);
    return found.ari;
}

static const double kappas[] = {30, 60, 150, 400};

/* ---- The tests -----------------------------------------------------------------------------------------------------
 */

static void bound_equals_the_reference(void **state) {
    (void)state;
    for (size_t dimension = 3; dimension <= 12; dimension += 9) {
        enum { N = 200 };
        float x[N * 12];
        int32_t labels[N], truth[N];
        fill(x, truth, N, dimension, kappas, 4, 0, dimension);
        ast_points points = ast_points_f4(x, N, dimension);
        ast_report report = run(ref_context("avx2", 2), &points, 0, labels);
        plain p = {.points = N, .count = report.clusters, .dimension = dimension, .x = x};
        p.r = ref_take(N * p.count, sizeof *p.r);
        p.n = ref_take(p.count, sizeof *p.n);
        p.s = ref_take(p.count * dimension, sizeof *p.s);
        p.found = ref_take(p.count, sizeof *p.found);
        p.prior = (ast_kappa_prior){dimension, log(100), 1, NAN};
        for (size_t i = 0; i < N; i++)
            p.r[i * p.count + (size_t)labels[i]] = 1;
        double bound = -INFINITY;
        for (int pass = 0; pass < 25; pass++) {
            double next = maximise(&p);
            assert_true(next > bound - 1e-6);
            bound = next;
            expect(&p);
        }
        near("F", report.objective, bound, 1e-5);
        for (size_t a = 0; a < p.count; a++)
            for (size_t b = a + 1; b < p.count; b++)
                assert_true(gain(&p, a, b) < 1e-6);
        free(p.r);
        free(p.n);
        free(p.s);
        free(p.found);
    }
}

static void known_mixtures_are_found(void **state) {
    (void)state;
    enum { N = 1200 };
    static const size_t dimensions[] = {3, 8, 40};
    for (size_t d = 0; d < 3; d++)
        for (int background = 0; background <= 1; background++) {
            size_t dimension = dimensions[d], clusters;
            float *x = ref_take(N * dimension, sizeof *x);
            int32_t labels[N], truth[N], kept[N];
            size_t outliers = 0;
            fill(x, truth, N, dimension, kappas, 4, background ? 0.1 : 0, 5);
            ast_points points = ast_points_f4(x, N, dimension);
            ast_context *context = ref_context("avx2", 2);
            ast_report report = run(context, &points, background, labels);
            assert_int_equal(report.clusters, 4);
            for (size_t i = 0; i < N; i++) {
                outliers += labels[i] < 0;
                kept[i] = truth[i] < 0 ? -1 : labels[i];
            }
            assert_int_equal(report.outliers, outliers);
            assert_true(agreement(context, kept, truth, N) > 0.99);
            assert_true(background ? fabs(report.background - 0.1) < 0.03 : isnan(report.background));
            float *memberships = ref_take(N * 4, sizeof *memberships);
            double *density = ref_take(N, sizeof *density), sum = 0;
            assert_int_equal(ast_memberships(context, &points, memberships, density), AST_OK);
            for (size_t i = 0; i < N; i++) {
                double all = 0, most = 0;
                for (size_t k = 0; k < 4; k++) {
                    all += (double)memberships[i * 4 + k];
                    most = fmax(most, (double)memberships[i * 4 + k]);
                }
                sum += density[i];
                assert_true(all <= 1 + 1e-6 && (background || all >= 1 - 1e-6));
                assert_true(labels[i] < 0 ? 1 - all >= most - 1e-6
                                          : (double)memberships[i * 4 + (size_t)labels[i]] >= most - 1e-6);
            }
            near("the likelihood", sum, report.log_likelihood, 1e-9);
            const ast_cluster_info *info = ast_clusters(context, &clusters);
            for (size_t i = N - 4; i < N; i++)
                if (labels[i] >= 0 && agreement(context, kept, truth, N) == 1)
                    near("kappa", info[labels[i]].kappa, kappas[truth[i]], 0.25);
            free(memberships);
            free(density);
            free(x);
        }
}

/* Two or three components 30 degrees apart: joined before EM had told them apart, they were one. One stays
 * one. */
static void near_components_are_found(void **state) {
    (void)state;
    enum { N = 1000 };
    static const double APART = 0.428955;
    for (size_t clusters = 1; clusters <= 3; clusters++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            float x[N * 3];
            int32_t labels[N];
            ast_random random;
            double row[3];
            ast_random_seed(&random, seed, 40);
            for (size_t i = 0; i < N; i++) { /* three means at 30 degrees from each other, around (1, 1, 1) */
                double mean[3] = {APART, APART, APART};
                mean[i % clusters] = sqrt(1 - 2 * APART * APART);
                ast_vmf_sample(&random, 3, mean, 20, row);
                for (size_t d = 0; d < 3; d++)
                    x[i * 3 + d] = (float)row[d];
            }
            ast_points points = ast_points_f4(x, N, 3);
            assert_int_equal(run(ref_context("avx2", 2), &points, 0, labels).clusters, clusters);
        }
}

/* A given number of components in much noise: EM from a small share of the background stopped on a saddle, with a broad
 * component that took the noise. */
static void background_leaves_the_saddle(void **state) {
    (void)state;
    enum { N = 1000 };
    static const double sharp[] = {50, 50};
    for (size_t clusters = 1; clusters <= 2; clusters++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            float x[N * 3];
            int32_t labels[N], truth[N];
            double noise = clusters == 1 ? 0.9 : 0.6;
            size_t found;
            fill(x, truth, N, 3, sharp, clusters, noise, seed);
            ast_points points = ast_points_f4(x, N, 3);
            ast_report report = {.size = sizeof report};
            ast_options options;
            ast_options_init(&options);
            options.method = AST_MOVMF;
            options.clusters = clusters;
            options.restarts = 5;
            options.mixture.background = 1;
            ast_context *context = ref_context("avx2", 2);
            assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
            const ast_cluster_info *info = ast_clusters(context, &found);
            assert_true(report.converged && fabs(report.background - noise) < 0.05);
            for (size_t k = 0; k < clusters; k++)
                assert_true(info[k].kappa > 25 && info[k].kappa < 100);
        }
}

/* Angles in five and ten degrees: every value is a cell with many points, not a cluster of copies. */
static void rounded_angles_are_no_clusters(void **state) {
    (void)state;
    enum { N = 200 };
    static const double broad[] = {20, 20, 20}, turn = 180 / M_PI;
    for (size_t dimension = 2; dimension <= 3; dimension++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            float x[N * 3];
            int32_t labels[N], truth[N];
            double step = seed % 2 ? 5 : 10;
            fill(x, truth, N, dimension, broad, 3, 0, seed);
            for (size_t i = 0; i < N; i++) {
                float *row = x + i * dimension;
                double azimuth = step / turn * round(atan2((double)row[1], (double)row[0]) * turn / step), across = 1;
                if (dimension == 3) {
                    double angle = step / turn * round(acos(fmin(1, fmax(-1, (double)row[2]))) * turn / step);
                    across = sin(angle);
                    row[2] = (float)cos(angle);
                }
                row[0] = (float)(across * cos(azimuth));
                row[1] = (float)(across * sin(azimuth));
            }
            ast_points points = ast_points_f4(x, N, dimension);
            ast_context *context = ref_context("avx2", 2);
            assert_int_equal(run(context, &points, 0, labels).clusters, 3);
            assert_true(agreement(context, labels, truth, N) > 0.9);
        }
}

static void uniform_points_are_one_component(void **state) {
    (void)state;
    enum { N = 600 };
    static const double none[] = {0};
    for (size_t dimension = 2; dimension <= 20; dimension += 9)
        for (int background = 0; background <= 1; background++) {
            float *x = ref_take(N * dimension, sizeof *x);
            int32_t labels[N], truth[N];
            fill(x, truth, N, dimension, none, 1, 0, dimension);
            ast_points points = ast_points_f4(x, N, dimension);
            assert_int_equal(run(ref_context("avx2", 2), &points, background, labels).clusters, 1);
            free(x);
        }
}

static void threads_give_the_same_bits(void **state) {
    (void)state;
    enum { N = 1500, D = 5 };
    static float x[N * D];
    int32_t labels[3][N], truth[N];
    double objective[3];
    fill(x, truth, N, D, kappas, 4, 0.1, 3);
    ast_points points = ast_points_f4(x, N, D);
    for (int way = 0; way < 3; way++)
        objective[way] =
            run(ref_context(way == 1 ? "base" : "avx2", way == 0 ? 1 : 4 - way), &points, 1, labels[way]).objective;
    for (int way = 1; way < 3; way++) {
        assert_memory_equal(labels[0], labels[way], sizeof labels[0]);
        assert_true(objective[0] == objective[way]);
    }
}

/* Rows in another order, and all components in another order with other signs: a rotation of the data. */
static void order_and_rotation_do_not_matter(void **state) {
    (void)state;
    enum { N = 1200, D = 4 };
    static float x[N * D], y[N * D];
    int32_t labels[N], other[N], back[N], truth[N];
    fill(x, truth, N, D, kappas, 4, 0, 9);
    ast_points points = ast_points_f4(x, N, D), changed = ast_points_f4(y, N, D);
    ast_context *context = ref_context("avx2", 2);
    ast_report report = run(context, &points, 0, labels);
    for (int rotated = 0; rotated <= 1; rotated++) {
        for (size_t i = 0; i < N; i++)
            for (size_t d = 0; d < D; d++)
                y[i * D + d] = rotated ? (d % 2 ? -1 : 1) * x[i * D + (d + 1) % D] : x[i * 7 % N * D + d];
        ast_report again = run(context, &changed, 0, other);
        for (size_t i = 0; i < N; i++)
            back[rotated ? i : i * 7 % N] = other[i];
        assert_int_equal(again.clusters, report.clusters);
        near("F", again.objective, report.objective, 1e-5);
        assert_true(agreement(context, labels, back, N) > 0.999);
    }
}

/* Few points, single points, copies, missing rows, rows of weight 0. */
static void awkward_sets_have_results(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(30); seed++) {
        enum { MOST = 40, D = 6 };
        float x[MOST * D];
        double weights[MOST];
        int32_t labels[MOST];
        ast_random random;
        size_t count = 1 + (size_t)(seed % MOST), dimension = 2 + (size_t)(seed % 5), clusters;
        ast_random_seed(&random, seed, 4);
        ref_fill_clustered(x, count, dimension, 3, 0.1, 0.3, seed);
        for (size_t i = 1; i < count; i++) {
            weights[i] = (double)ast_random_below(&random, 3);
            if (seed % 3 == 0 && i % 2)
                memcpy(x + i * dimension, x, dimension * sizeof *x);
            if (seed % 4 == 0 && i % 5 == 4)
                x[i * dimension] = NAN;
        }
        weights[0] = 1;
        ast_points points = ast_points_f4(x, count, dimension);
        points.weights = seed % 2 ? weights : NULL;
        ast_context *context = ref_context("avx2", 1 + (int)(seed % 3));
        ast_report report = run(context, &points, seed % 5 < 2, labels);
        const ast_cluster_info *info = ast_clusters(context, &clusters);
        size_t without = 0;
        assert_true(clusters >= 1 && clusters <= count);
        for (size_t k = 0; k < clusters; k++)
            assert_true(info[k].kappa >= 0 && info[k].kappa < 1e6 && info[k].share >= 0 &&
                        isfinite((double)info[k].mean[0]));
        for (size_t i = 0; i < count; i++)
            without += labels[i] < 0;
        assert_int_equal(without, report.missing + report.outliers);
    }
}

/* The case that made the ceiling: two equal rows among others. */
static void equal_rows_have_a_ceiling(void **state) {
    (void)state;
    enum { N = 60, D = 50 };
    float x[N * D];
    int32_t labels[N], truth[N];
    size_t clusters;
    static const double none[] = {0};
    fill(x, truth, N, D, none, 1, 0, 8);
    memcpy(x + D, x, D * sizeof *x);
    ast_points points = ast_points_f4(x, N, D);
    ast_context *context = ref_context("avx2", 2);
    for (size_t wanted = 1; wanted <= N; wanted += wanted < 8 ? 7 : 26) {
        ast_report report = {.size = sizeof report};
        ast_options options;
        ast_options_init(&options);
        options.method = AST_MOVMF;
        options.clusters = wanted;
        assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_OK);
        const ast_cluster_info *info = ast_clusters(context, &clusters);
        for (size_t k = 0; k < clusters; k++)
            assert_true(info[k].kappa >= 0 && info[k].kappa < 2000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posterior_equals_the_integral),    cmocka_unit_test(bound_equals_the_reference),
        cmocka_unit_test(known_mixtures_are_found),         cmocka_unit_test(near_components_are_found),
        cmocka_unit_test(background_leaves_the_saddle),     cmocka_unit_test(rounded_angles_are_no_clusters),
        cmocka_unit_test(uniform_points_are_one_component), cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(order_and_rotation_do_not_matter), cmocka_unit_test(awkward_sets_have_results),
        cmocka_unit_test(equal_rows_have_a_ceiling)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
