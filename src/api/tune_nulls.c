/* SPDX-License-Identifier: MIT
 *
 * Draws of distributions without clusters, fitted to the sample. A silhouette that such draws reach is no structure.
 *
 *     one       one von Mises-Fisher distribution, or its axial form, with the mean and the kappa of the sample
 *     noise     the same in uniform noise: a mixture of one component and a background; axial: of a Watson
 *               distribution, which may be a girdle
 *     circle    three dimensions: the small circle (axial: the cone) in the plane nearest to the rows
 *     arc       three dimensions: a part of it, as wide as the rows scatter (axial: of a great circle, as of a fold)
 *
 * Circles and arcs are uniform in azimuth and normal in height. The heights of the rows themselves are not used: two
 * opposite clusters would then count as a distribution without clusters. */
#include "tune_call.h"

#include "memory.h"
#include "orientation.h"
#include "random.h"
#include "vectors.h"
#include "vmf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POWER_STEPS 30
#define EM_STEPS 60
#define HALVINGS 60
#define CONE_STEPS 8
#define MOST_TRIES 100 /* for a height on the sphere */
#define PI 3.14159265358979323846
#define MOST_AXIAL 100 /* dimensions of Watson distributions */

const char *ast_null_name(ast_null kind) {
    static const char *const names[AST_NULLS] = {[AST_NULL_ONE] = "one von Mises-Fisher distribution",
                                                 [AST_NULL_NOISE] = "one cluster or girdle in uniform noise",
                                                 [AST_NULL_CIRCLE] = "a small circle",
                                                 [AST_NULL_ARC] = "an arc of a circle, as of a fold,",
                                                 [AST_NULL_CLOUD] = "one cloud as long along every axis"};
    return names[kind];
}

bool ast_null_applies(const ast_tuning *t, ast_null kind) {
    size_t dimension = t->points->dimension; /* where rows become rows in the space that they span, it is above n */
    if (kind == AST_NULL_NOISE)
        return dimension <= t->sample.points.count && (!t->options->axial || dimension <= MOST_AXIAL);
    return kind == AST_NULL_ONE || (dimension == 3 && kind != AST_NULL_CLOUD);
}

/* ---- One distribution -------------------------------------------------------------------------------------------- */

/* The first axis if it is zero. */
static double normalise(double *x, size_t dimension) {
    double length = ast_normalise(x, dimension);
    if (length == 0)
        x[0] = 1;
    return length;
}

/* next (D) = sum of w x, from the entries of the rows; returns the sum of w. */
static double add_entries(const ast_tune_set *set, const ast_tune_sparse_rows *e, double *next) {
    double total = 0;
    memset(next, 0, e->points.dimension * sizeof *next);
    for (size_t i = 0; i < set->points.count; i++) {
        double weight = set->weights ? set->weights[i] : 1;
        total += weight;
        for (int32_t at = e->starts[i]; at < e->starts[i + 1]; at++)
            next[e->columns[at]] += weight * (double)e->values[at];
    }
    return total;
}

/* next (D) = sum of w x f(x.mean); returns the sum of w. `axial`: f is the cosine itself, a step of the power method;
 * otherwise 1. */
static double add_rows(const ast_tune_set *set, const double *mean, double *next) {
    size_t dimension = set->points.dimension;
    double total = 0;
    memset(next, 0, dimension * sizeof *next);
    for (size_t i = 0; i < set->points.count; i++) {
        const float *row = set->rows + i * dimension;
        double weight = set->weights ? set->weights[i] : 1, factor = mean ? ast_dot_row(row, mean, dimension) : 1;
        total += weight;
        for (size_t d = 0; d < dimension; d++)
            next[d] += weight * factor * (double)row[d];
    }
    return total;
}

/* The kappa at which E (x.mean)^2 = 1 - (D - 1) A(kappa) / kappa is `moment`: that of axes. */
static double axial_kappa(size_t dimension, double moment) {
    double d = (double)dimension, low = 1e-6, high = 1e9;
    if (!(moment > 1 / d + 1e-12))
        return 0;
    for (int i = 0; i < 100; i++) {
        double kappa = sqrt(low * high), expected = 1 - (d - 1) * ast_vmf_resultant(dimension, kappa) / kappa;
        *(expected < moment ? &low : &high) = kappa;
    }
    return low;
}

/* Mean and kappa of one distribution for the sample. */
static ast_status fit(ast_tuning *t, double *mean, double *kappa) {
    const ast_tune_set *set = &t->sample;
    size_t dimension = t->points->dimension;
    double *next = ast_allocate(dimension, sizeof *next);
    if (!next)
        return ast_fail_memory(t->fault);
    double total = t->entries.points.count ? add_entries(set, &t->entries, mean) : add_rows(set, NULL, mean),
           length = normalise(mean, dimension);
    *kappa = ast_vmf_kappa(dimension, fmin(length / total, 1));
    for (int i = 0; t->options->axial && i < POWER_STEPS && !ast_pool_poll(t->context->pool); i++) {
        add_rows(set, mean, next);
        double moment = normalise(next, dimension) / total;
        memcpy(mean, next, dimension * sizeof *mean);
        *kappa = axial_kappa(dimension, moment);
    }
    ast_free(next);
    return ast_check_cancelled(t->context);
}

static ast_status draw_one(ast_tuning *t, int number, ast_tune_set *set) {
    size_t count = set->points.count, dimension = t->points->dimension;
    double *mean = ast_allocate(dimension, sizeof *mean), *x = ast_allocate(dimension, sizeof *x), kappa = 0;
    ast_status status = mean && x ? fit(t, mean, &kappa) : ast_fail_memory(t->fault);
    ast_random random;
    ast_random_seed(&random, AST_TUNE_SEED, (uint64_t)number);
    for (size_t i = 0; i < count && status == AST_OK; i++) {
        ast_vmf_sample(&random, dimension, mean, kappa, x);
        for (size_t d = 0; d < dimension; d++)
            set->rows[i * dimension + d] = (float)x[d];
        if (i % 64 == 0 && ast_pool_poll(t->context->pool))
            status = ast_fail_cancelled(t->fault);
    }
    ast_free(mean);
    ast_free(x);
    return status;
}

/* ---- In uniform noise -------------------------------------------------------------------------------------------- */

/* One component and a background, by EM. */
static ast_status fit_noise(ast_tuning *t) {
    bool axial = t->options->axial != 0;
    size_t count;
    ast_options options = ast_tune_run_options(t, 60);
    ast_report report = {.size = sizeof report};
    options.method = AST_MOVMF;
    options.dp.order = AST_ORDER_GIVEN;
    options.clusters = 1;
    options.mixture.background = 1;
    options.max_iterations = EM_STEPS;
    int32_t *labels = ast_allocate(t->sample.points.count, sizeof *labels);
    ast_status status =
        labels ? ast_tune_run(t, &t->sample.points, &options, labels, &report) : ast_fail_memory(t->fault);
    ast_free(labels);
    if (status != AST_OK)
        return status;
    double kappa = ast_clusters(t->inner, &count)[0].kappa;
    t->noise = (ast_mixture){.size = sizeof t->noise,
                             .points = t->sample.points.count,
                             .dimension = t->sample.points.dimension,
                             .clusters = 1,
                             .kappa = isfinite(kappa) ? kappa : 0,
                             .noise = isfinite(report.background) ? report.background : 0,
                             .axial = axial,
                             .distribution = axial ? AST_WATSON : AST_VON_MISES_FISHER};
    return AST_OK;
}

static ast_status draw_noise(ast_tuning *t, int number, ast_tune_set *set) {
    ast_status status = t->noise.size ? AST_OK : fit_noise(t);
    t->noise.seed = AST_TUNE_SEED + (uint64_t)number;
    return status == AST_OK ? ast_tune_take_fault(t, ast_sample_mixture(t->inner, &t->noise, set->rows, NULL, NULL))
                            : status;
}

/* ---- Circles and arcs -------------------------------------------------------------------------------------------- */

/* The plane that cuts the sphere in a circle. */
typedef struct plane {
    double frame[3][3];      /* two directions within it, its normal */
    double height, variance; /* of the rows along the normal */
} plane;

static double along(const float *row, const double axis[3]) {
    return ast_dot_row(row, axis, 3);
}

/* The plane through the rows with the least squares of distances, through the origin or not. With `side`, rows are
 * flipped to the side of that axis: axes on a cone. */
static plane fit_plane(const ast_tune_set *set, bool through_origin, const double *side) {
    double tensor[3][3] = {{0}}, mean[3] = {0}, values[3], total = 0;
    plane found;
    for (size_t i = 0; i < set->points.count; i++) {
        const float *row = set->rows + 3 * i;
        double weight = set->weights ? set->weights[i] : 1, sign = side && along(row, side) < 0 ? -1 : 1;
        total += weight;
        for (int a = 0; a < 3; a++) {
            mean[a] += weight * sign * (double)row[a];
            for (int b = 0; b < 3; b++)
                tensor[a][b] += weight * (double)row[a] * (double)row[b];
        }
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            tensor[a][b] = tensor[a][b] / total - (through_origin ? 0 : mean[a] * mean[b] / (total * total));
    ast_eigen3(tensor, values, found.frame);
    found.variance = fmax(0, values[2]);
    found.height = 0;
    for (int d = 0; d < 3 && !through_origin; d++)
        found.height += found.frame[2][d] * mean[d] / total;
    return found;
}

/* The flattest of the cones about the principal axes. */
static plane fit_cone(const ast_tune_set *set) {
    plane principal = fit_plane(set, true, NULL), best = {.variance = INFINITY};
    for (int i = 0; i < 3; i++) {
        plane cone = fit_plane(set, false, principal.frame[i]);
        for (int step = 1; step < CONE_STEPS; step++)
            cone = fit_plane(set, false, cone.frame[2]);
        best = cone.variance < best.variance ? cone : best;
    }
    return best;
}

/* Half the width of a uniform arc whose azimuths scatter as those of the rows, and its middle: sin(n w) / (n w) = R of
 * n times the azimuths, n = 2 for axes. */
static double find_arc(const ast_tuning *t, const plane *p, double *middle) {
    const ast_tune_set *set = &t->sample;
    double n = t->options->axial ? 2 : 1, x = 0, y = 0, total = 0, low = 0, high = PI / n;
    for (size_t i = 0; i < set->points.count; i++) {
        double a = along(set->rows + 3 * i, p->frame[0]), b = along(set->rows + 3 * i, p->frame[1]),
               weight = (set->weights ? set->weights[i] : 1) * hypot(a, b), azimuth = n * atan2(b, a);
        x += weight * cos(azimuth);
        y += weight * sin(azimuth);
        total += weight;
    }
    *middle = atan2(y, x) / n;
    for (int i = 0; i < HALVINGS; i++) {
        double width = (low + high) / 2;
        *(sin(n * width) / (n * width) * total > hypot(x, y) ? &low : &high) = width;
    }
    return low;
}

static void draw_circle(ast_tuning *t, ast_null kind, int number, ast_tune_set *set) {
    bool arc = kind == AST_NULL_ARC, axial = t->options->axial != 0;
    plane p = axial && !arc ? fit_cone(&t->sample) : fit_plane(&t->sample, axial, NULL);
    double middle = 0, half_width = arc ? find_arc(t, &p, &middle) : PI, deviation = sqrt(p.variance);
    ast_random random;
    ast_random_seed(&random, AST_TUNE_SEED, (uint64_t)number);
    for (size_t i = 0; i < set->points.count; i++) {
        double height = 2, azimuth = middle + half_width * (2 * ast_random_uniform(&random) - 1);
        for (int tries = 0; tries < MOST_TRIES && fabs(height) > 1; tries++)
            height = p.height + deviation * ast_random_normal(&random);
        height = fmin(fmax(height, -1), 1); /* equal rows may be a little longer than 1 */
        double across = sqrt(1 - height * height);
        for (int d = 0; d < 3; d++)
            set->rows[3 * i + (size_t)d] =
                (float)(across * (cos(azimuth) * p.frame[0][d] + sin(azimuth) * p.frame[1][d]) +
                        height * p.frame[2][d]);
    }
}

/* ---- Any --------------------------------------------------------------------------------------------------------- */

ast_status ast_tune_draw_null(ast_tuning *t, ast_null kind, int number, ast_tune_set *set) {
    ast_status status = AST_OK;
    if (!ast_tune_set_open(set, t->sample.points.count, t->points->dimension, false))
        return ast_fail_memory(t->fault);
    if (kind == AST_NULL_ONE)
        status = draw_one(t, number, set);
    else if (kind == AST_NULL_NOISE)
        status = draw_noise(t, number, set);
    else
        draw_circle(t, kind, number, set);
    return status == AST_OK ? ast_tune_reduce_dimension(t, set) : status;
}
