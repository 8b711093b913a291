/* SPDX-License-Identifier: MIT
 *
 * Whether sets of directions have one mean and one concentration. The common mean: Watson's V_w (Statistics on Spheres,
 * 1983), which allows different concentrations; its distribution is drawn, as palaeomagnetists do (McFadden and
 * McElhinny, Geophys. J. Int. 103, 1990), or resampled from sets that were turned to the common mean (Fisher and Hall,
 * J. Statist. Plann. Inference 24, 1990). With equal concentrations also the F test of Watson and Williams (Biometrika
 * 43, 1956). Equal concentrations: Bartlett's test of the 2 (n - R), which are chi-square over kappa with 2 (n - 1)
 * degrees of freedom.
 *
 * Every draw has random numbers of its own, so that the result does not depend on the number of threads. */
#include "orientation.h"

#include "degree.h"
#include "mean_error.h"
#include "memory.h"
#include "special.h"
#include "vmf.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DRAWN 20000 /* directions in all sets: with more V_w is chi-square with 2 (q - 1) degrees of freedom */
#define EQUAL 1.2e-7     /* of n: an n - R up to here is the rounding of floats */
#define SIGNIFICANT 0.05

typedef struct comparison {
    ast_directions *sets;
    size_t count;
    const ast_common_mean_options *options;
    ast_set_mean *each; /* (count) */
    double mean[3];     /* the common one */
    double *values;     /* (simulations) V_w of the draws */
    bool resample;
} comparison;

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The length of the vector, which becomes a unit vector. */
static double normalise(double *v) {
    double length = sqrt(dot(v, v));
    for (int d = 0; d < 3; d++)
        v[d] = length > 0 ? v[d] / length : 0;
    return length;
}

static double between(const double *a, const double *b) {
    double chord[3], other[3];
    for (int d = 0; d < 3; d++) {
        chord[d] = a[d] - b[d];
        other[d] = a[d] + b[d];
    }
    return 2 * atan2(sqrt(dot(chord, chord)), sqrt(dot(other, other))) / AST_DEGREE;
}

/* k from n and R; the least n - R that floats can tell stands in for less. */
static double precision_of(double n, double resultant) {
    return (n - 1) / fmax(n - resultant, EQUAL * n);
}

/* V_w of sums of sets (q, 3) with so many directions; `mean` (or NULL) receives the common mean. */
static double watson(const comparison *c, const double (*sums)[3], double *mean) {
    double all[3] = {0}, lengths = 0;
    for (size_t s = 0; s < c->count; s++) {
        double length = sqrt(dot(sums[s], sums[s])), k = precision_of((double)c->sets[s].count, length);
        lengths += k * length;
        for (int d = 0; d < 3; d++)
            all[d] += k * sums[s][d];
    }
    double together = normalise(all);
    if (mean)
        memcpy(mean, all, sizeof all);
    return 2 * fmax(0, lengths - together);
}

/* ---- The sets ---------------------------------------------------------------------------------------------------- */

static void turn(ast_directions *set, size_t i) {
    for (int d = 0; d < 3; d++)
        set->at[i][d] = -set->at[i][d];
}

/* Axes: every one on the side of the largest eigenvector, which is on the side of `first` (or NULL). */
static void turn_axes(ast_directions *set, const double *first) {
    double tensor[3][3] = {{0}}, values[3], axes[3][3];
    for (size_t i = 0; i < set->count; i++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                tensor[a][b] += set->at[i][a] * set->at[i][b];
    ast_eigen3((const double(*)[3])tensor, values, axes);
    double side = first && dot(axes[0], first) < 0 ? -1 : 1;
    for (size_t i = 0; i < set->count; i++)
        if (side * dot(set->at[i], axes[0]) < 0)
            turn(set, i);
}

static void describe(const ast_directions *set, ast_set_mean *mean, double sum[3]) {
    memset(sum, 0, 3 * sizeof *sum);
    for (size_t i = 0; i < set->count; i++)
        for (int d = 0; d < 3; d++)
            sum[d] += set->at[i][d];
    memcpy(mean->mean, sum, sizeof mean->mean);
    double n = (double)set->count;
    mean->count = set->count;
    mean->resultant = normalise(mean->mean);
    mean->precision = precision_of(n, mean->resultant);
    double length = mean->resultant / n;
    mean->alpha95 = ast_mean_error_of(3, n, length, ast_vmf_kappa(3, fmin(length, 1))).alpha95;
}

static void describe_sets(comparison *c, double (*sums)[3]) {
    for (size_t s = 0; s < c->count; s++) {
        if (c->options->axial)
            turn_axes(&c->sets[s], s ? c->each[0].mean : NULL);
        for (size_t i = 0; c->options->reversal && s > 0 && i < c->sets[s].count; i++)
            turn(&c->sets[s], i);
        describe(&c->sets[s], &c->each[s], sums[s]);
    }
}

/* ---- Draws ------------------------------------------------------------------------------------------------------- */

/* x turned by the rotation that takes `from` to `to` along their great circle. */
static void rotate(const double *from, const double *to, const double *x, double *y) {
    double c = dot(from, to), axis[3];
    for (int d = 0; d < 3; d++)
        axis[d] = from[(d + 1) % 3] * to[(d + 2) % 3] - from[(d + 2) % 3] * to[(d + 1) % 3];
    double along = 1 + c > 1e-12 ? dot(axis, x) / (1 + c) : 0;
    for (int d = 0; d < 3; d++)
        y[d] = c * x[d] + axis[(d + 1) % 3] * x[(d + 2) % 3] - axis[(d + 2) % 3] * x[(d + 1) % 3] + along * axis[d];
}

static void draw_set(const comparison *c, size_t s, ast_random *random, double sum[3]) {
    const ast_directions *set = &c->sets[s];
    double x[3];
    memset(sum, 0, 3 * sizeof *sum);
    for (size_t i = 0; i < set->count; i++) {
        if (c->resample)
            memcpy(x, set->at[ast_random_below(random, set->count)], sizeof x);
        else
            ast_vmf_sample(random, 3, c->mean, c->each[s].precision, x);
        for (int d = 0; d < 3; d++)
            sum[d] += x[d];
    }
    memcpy(x, sum, sizeof x);
    if (c->resample)
        rotate(c->each[s].mean, c->mean, x, sum);
}

static void draw(void *data, size_t i) {
    const comparison *c = data;
    double(*sums)[3] = ast_allocate(c->count, sizeof *sums);
    ast_random random;
    ast_random_seed(&random, c->options->seed, 2 * i + c->resample);
    for (size_t s = 0; sums && s < c->count; s++)
        draw_set(c, s, &random, sums[s]);
    c->values[i] = sums ? watson(c, (const double(*)[3])sums, NULL) : (double)NAN;
    ast_free(sums);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The share of draws with a V_w of at least `value`, the value itself being one; `critical` (or NULL): exceeded by 5%.
 */
static double share_above(const comparison *c, double value, double *critical) {
    size_t draws = (size_t)c->options->simulations, above = 0;
    qsort(c->values, draws, sizeof *c->values, by_value);
    for (size_t i = 0; i < draws; i++)
        above += c->values[i] >= value;
    if (critical)
        *critical = c->values[(size_t)((1 - SIGNIFICANT) * (double)draws)];
    return ((double)above + 1) / ((double)draws + 1);
}

static ast_status test_means(comparison *c, ast_pool *pool, ast_common_mean *result, ast_fault *fault) {
    size_t all = 0, draws = (size_t)c->options->simulations;
    double degrees = 2 * ((double)c->count - 1);
    for (size_t s = 0; s < c->count; s++)
        all += c->sets[s].count;
    if (all > MOST_DRAWN) {
        result->watson_p = result->bootstrap_p = ast_chi_square_tail(degrees, result->watson);
        result->critical = ast_chi_square_quantile(degrees, 1 - SIGNIFICANT);
        return AST_OK;
    }
    c->values = ast_allocate(draws, sizeof *c->values);
    if (!c->values)
        return ast_fail_memory(fault);
    for (int resample = 0; resample < 2 && !ast_pool_poll(pool); resample++) {
        c->resample = resample;
        for (size_t i = 0; i < draws; i++)
            c->values[i] = 0;
        ast_pool_each(pool, draws, 16, draw, c);
        for (size_t i = 0; i < draws; i++)
            if (isnan(c->values[i]))
                return ast_fail_memory(fault);
        *(resample ? &result->bootstrap_p : &result->watson_p) =
            share_above(c, result->watson, resample ? NULL : &result->critical);
    }
    return ast_pool_cancelled(pool) ? ast_fail_cancelled(fault) : AST_OK;
}

/* ---- Closed forms ------------------------------------------------------------------------------------------------ */

/* Watson and Williams' F, and Bartlett's test. */
static void test_equal_kappas(const comparison *c, const double (*sums)[3], ast_common_mean *result) {
    double all[3] = {0}, n = 0, lengths = 0, q = (double)c->count, spread = 0, logs = 0, inverse = 0;
    for (size_t s = 0; s < c->count; s++) {
        double own = (double)c->each[s].count, degrees = 2 * (own - 1),
               away = fmax(own - c->each[s].resultant, EQUAL * own);
        n += own;
        lengths += c->each[s].resultant;
        spread += 2 * away;
        logs += degrees * log(2 * away / degrees);
        inverse += 1 / degrees;
        for (int d = 0; d < 3; d++)
            all[d] += sums[s][d];
    }
    double degrees = 2 * (n - q), together = sqrt(dot(all, all));
    result->f = (n - q) / (q - 1) * (lengths - together) / fmax(n - lengths, EQUAL * n);
    result->f_p = ast_f_tail(2 * (q - 1), degrees, result->f);
    result->kappa_ratio =
        fmax(0, degrees * log(spread / degrees) - logs) / (1 + (inverse - 1 / degrees) / (3 * (q - 1)));
    result->kappa_p = ast_chi_square_tail(q - 1, result->kappa_ratio);
}

static void find_angles(const comparison *c, ast_common_mean *result) {
    result->angle = 0;
    for (size_t a = 0; a < c->count; a++)
        for (size_t b = 0; b < a; b++)
            result->angle = fmax(result->angle, between(c->each[a].mean, c->each[b].mean));
    result->critical_angle = NAN;
    if (c->count != 2)
        return;
    double a = c->each[0].precision * c->each[0].resultant, b = c->each[1].precision * c->each[1].resultant,
           together = fmax(0, a + b - result->critical / 2);
    double cosine = (together * together - a * a - b * b) / (2 * a * b);
    result->critical_angle = acos(fmax(-1, fmin(1, cosine))) / AST_DEGREE;
}

static ast_status compare(comparison *c, ast_pool *pool, double (*sums)[3], ast_common_mean *result, ast_fault *fault) {
    describe_sets(c, sums);
    for (size_t s = 0; s < c->count; s++) {
        double n = (double)c->sets[s].count;
        if (n - c->each[s].resultant <= EQUAL * n)
            return ast_fail(fault, AST_BAD_DATA,
                            "set %zu (counting from 1) has equal directions only, which say nothing about their spread",
                            s + 1);
    }
    result->watson = watson(c, (const double(*)[3])sums, c->mean);
    memcpy(result->mean, c->mean, sizeof c->mean);
    test_equal_kappas(c, (const double(*)[3])sums, result);
    ast_status status = test_means(c, pool, result, fault);
    if (status == AST_OK)
        find_angles(c, result);
    for (size_t s = 1; c->options->reversal && s < c->count; s++)
        for (int d = 0; d < 3; d++)
            c->each[s].mean[d] = -c->each[s].mean[d];
    return status;
}

ast_status ast_common_mean_find(ast_pool *pool, ast_directions *sets, size_t count,
                                const ast_common_mean_options *options, ast_set_mean *each, ast_common_mean *result,
                                ast_fault *fault) {
    comparison c = {.sets = sets, .count = count, .options = options};
    double(*sums)[3] = ast_allocate(count, sizeof *sums);
    c.each = ast_allocate(count, sizeof *c.each);
    ast_status status = sums && c.each ? compare(&c, pool, sums, result, fault) : ast_fail_memory(fault);
    if (status == AST_OK && each)
        memcpy(each, c.each, count * sizeof *each);
    ast_free_all(sums, c.each, c.values);
    return status;
}
