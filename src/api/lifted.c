/* SPDX-License-Identifier: MIT */
#include "lifted.h"

#include "degree.h"
#include "kent.h"
#include "mean_error.h"
#include "memory.h"
#include "rounding.h"
#include "special.h"
#include "vectors.h"
#include "watson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95
#define MOST_KAPPA_ERRORS 1.959963984540054 /* standard errors of a 95% interval */
#define MOST_TESTED 16                      /* dimensions of Bingham's test, as in overall_resultant.c */

ast_family ast_family_of(const ast_options *o, size_t dimension) {
    ast_family_kind kind = o->method != AST_MOVMF                   ? AST_FAMILY_VMF
                           : o->axial                               ? AST_FAMILY_WATSON
                           : o->mixture.shape == AST_COMPONENT_KENT ? AST_FAMILY_KENT
                                                                    : AST_FAMILY_VMF;
    return (ast_family){.kind = kind, .dimension = dimension};
}

ast_status ast_family_check(const ast_options *o, const ast_points *points, ast_fault *fault) {
    ast_family family = ast_family_of(o, points->dimension);
    if (family.kind == AST_FAMILY_WATSON && points->dimension > AST_WATSON_DIMENSION)
        return ast_fail(fault, AST_BAD_DATA, "mixtures of axes have at most %d dimensions, and the points have %zu",
                        AST_WATSON_DIMENSION, points->dimension);
    if (family.kind == AST_FAMILY_KENT && points->dimension != 3)
        return ast_fail(fault, AST_BAD_DATA, "Kent components have 3 dimensions, and the points have %zu",
                        points->dimension);
    if (family.kind != AST_FAMILY_VMF && points->late)
        return ast_fail(fault, AST_BAD_OPTION, "late rows are not for mixtures of Watson or Kent distributions");
    return family.kind == AST_FAMILY_VMF
               ? AST_OK
               : ast_refuse_sparse(points, "a mixture of Watson or Kent distributions", fault);
}

/* ---- Rows of features -------------------------------------------------------------------------------------------- */

typedef struct lifting {
    const ast_points *points;
    const ast_family *family;
    size_t features;
    float *rows;
} lifting;

static void lift_row(void *data, size_t i) {
    const lifting *job = data;
    float x[AST_WATSON_DIMENSION], *row = job->rows + i * job->features;
    ast_row_kind kind = ast_read_row(job->points, i, x);
    if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE) {
        for (size_t d = 0; d < job->features; d++)
            row[d] = kind == AST_ROW_INFINITE ? INFINITY : NAN;
        return;
    }
    ast_family_lift(job->family, x, row);
}

ast_status ast_lift_points(ast_context *context, const ast_points *points, const ast_family *family,
                           ast_transformed_rows *lifted) {
    size_t features = ast_family_features(family);
    float *rows = ast_allocate(points->count * features, sizeof *rows);
    if (!rows)
        return ast_fail_memory(&context->fault);
    lifting job = {points, family, features, rows};
    ast_pool_each(context->pool, points->count, 256, lift_row, &job);
    ast_free(lifted->rows);
    lifted->rows = rows;
    lifted->points = ast_points_f4(rows, points->count, features);
    lifted->points.weights = points->weights;
    return ast_check_cancelled(context);
}

ast_status ast_lift_options(const ast_points *points, const ast_options *o, ast_family *family, ast_options *own,
                            float **means, ast_context *context) {
    size_t features = ast_family_features(family), count = o->start.by == AST_GIVEN ? o->start.means_count : 0;
    ast_fault *fault = &context->fault;
    double degrees;
    *own = *o;
    *means = NULL;
    bool axial = family->kind == AST_FAMILY_WATSON;
    ast_status status = ast_rounding_find(points, axial, o->rounding, context->pool, &degrees, fault);
    if (status != AST_OK)
        return status;
    own->rounding = degrees;
    family->spread = points->dimension <= 3 ? (degrees * AST_DEGREE) * (degrees * AST_DEGREE) / 12 : 0;
    if (count == 0)
        return AST_OK;
    *means = ast_allocate(count * features, sizeof **means);
    if (!*means)
        return ast_fail_memory(fault);
    ast_points given = ast_points_f4(o->start.means, count, family->dimension);
    lifting job = {&given, family, features, *means};
    for (size_t k = 0; k < count; k++)
        lift_row(&job, k);
    own->start.means = *means;
    return AST_OK;
}

/* ---- Errors of components ---------------------------------------------------------------------------------------- */

/* Half-axis in degrees of a 95% region across which the mean varies by `variance` in each of `degrees` directions. */
static double half_axis(double variance, double degrees, double n, double most) {
    double freedom = fmax(1, (n - 1) * degrees), quantile = degrees * ast_f_quantile(degrees, freedom, CONFIDENCE);
    double sine = sqrt(variance * quantile);
    return sine < 1 ? asin(sine) / AST_DEGREE : most;
}

/* For many points: the information about the axis is 2 n kappa times the difference of the mean of t^2 along and across
 * it, that about kappa n times the variance of t^2. For few, kappa is corrected as for concentrated points. */
static void watson_errors(size_t dimension, ast_cluster_info *c) {
    double n = c->effective, kappa = c->kappa, degrees = (double)dimension - 1, step = 1e-4 * fmax(1, fabs(kappa));
    double along = ast_watson_second_moment(dimension, kappa), across = (1 - along) / degrees;
    double slope =
        (ast_watson_second_moment(dimension, kappa + step) - ast_watson_second_moment(dimension, kappa - step)) /
        (2 * step);
    c->standard_error = c->alpha95 = c->precision = c->kappa_interval[0] = c->kappa_interval[1] = NAN;
    c->length = n * along;
    if (!(n > 1) || kappa == 0)
        return;
    double variance = 1 / (2 * (n - 1) * kappa * (along - across)), error = 1 / sqrt(n * slope);
    double spread = sqrt(variance * degrees);
    c->precision = kappa * (n - 1) / n;
    c->standard_error = spread < 1 ? asin(spread) / AST_DEGREE : 90;
    c->alpha95 = half_axis(variance, degrees, n, 90);
    double relative = MOST_KAPPA_ERRORS * error / fabs(kappa);
    c->kappa_interval[0] = kappa * exp(kappa < 0 ? relative : -relative);
    c->kappa_interval[1] = kappa * exp(kappa < 0 ? -relative : relative);
}

/* The mean varies along an axis as a point does, over n R^2. */
static void kent_errors(ast_cluster_info *c) {
    ast_kent_moments m = ast_kent_moments_at(c->kappa, c->beta);
    double n = c->effective, length = 1 - m.y, squares = 2 * m.y - (m.yy + m.y * m.y); /* of 1 - t^2 */
    double vmf = c->kappa;
    c->kappa = ast_vmf_kappa(3, length);
    ast_cluster_errors(c, 3, length);
    c->kappa = vmf;
    c->kappa_interval[0] *= vmf / ast_vmf_kappa(3, length);
    c->kappa_interval[1] *= vmf / ast_vmf_kappa(3, length);
    for (int axis = 0; axis < 2; axis++)
        c->ellipse95[axis] =
            n > 1 ? half_axis((squares + (axis ? -m.d : m.d)) / 2 / ((n - 1) * length * length), 2, n, 180) : NAN;
}

/* ---- The result -------------------------------------------------------------------------------------------------- */

/* Means (K, D) of the components, with the largest component of an axis positive. */
static void describe(ast_result *r, const ast_family *family, size_t k) {
    ast_family_shape shape;
    const ast_components *c = &r->components;
    ast_cluster_info *info = &r->clusters[k];
    float *mean = r->means + k * family->dimension;
    ast_family_decode(family, c->means + k * c->dimension, c->kappas[k], &shape);
    for (size_t d = 0; d < family->dimension; d++)
        mean[d] = (float)shape.mean[d];
    if (family->kind == AST_FAMILY_WATSON)
        ast_mean_make_largest_positive(mean, family->dimension);
    info->mean = mean;
    info->kappa = shape.kappa;
    if (family->kind == AST_FAMILY_WATSON) {
        watson_errors(family->dimension, info);
        return;
    }
    info->beta = shape.beta;
    for (size_t d = 0; d < 6; d++)
        r->axes[6 * k + d] = (float)shape.axes[d];
    info->axes = r->axes + 6 * k;
    kent_errors(info);
}

/* Sums of the members (K, D), axes on the side of their means, and what the test of uniformity needs: the sum of all
 * rows, and (D, D) of x x'. */
typedef struct totals {
    double *sums, *moments, *all;
    double weight;
} totals;

static void add_row(const float *x, double w, size_t dimension, bool axial, const float *mean, double *sum) {
    double side = 0;
    for (size_t d = 0; axial && d < dimension; d++)
        side += (double)x[d] * (double)mean[d];
    for (size_t d = 0; d < dimension; d++)
        sum[d] += (side < 0 ? -w : w) * (double)x[d];
}

static void add_rows(const ast_points *points, const ast_result *r, const int32_t *labels, bool axial, totals *t) {
    size_t dimension = points->dimension;
    float x[AST_WATSON_DIMENSION];
    for (size_t i = 0; i < points->count; i++) {
        ast_row_kind kind = ast_read_row(points, i, x);
        double w = points->weights ? points->weights[i] : 1;
        if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE || !(w > 0))
            continue;
        t->weight += w;
        add_row(x, w, dimension, false, NULL, t->all);
        for (size_t a = 0; a < dimension && dimension <= MOST_TESTED; a++)
            for (size_t b = 0; b < dimension; b++)
                t->moments[a * dimension + b] += w * (double)x[a] * (double)x[b];
        if (labels[i] >= 0)
            add_row(x, w, dimension, axial, r->means + (size_t)labels[i] * dimension,
                    t->sums + (size_t)labels[i] * dimension);
    }
}

static void finish_totals(ast_call *c, const ast_family *family, const totals *t, ast_result *r) {
    size_t dimension = family->dimension;
    double squares = 0;
    for (size_t k = 0; k < r->report.clusters; k++) {
        double length = ast_normalise(t->sums + k * dimension, dimension);
        r->clusters[k].resultant = r->clusters[k].weight > 0 ? fmin(1, length / r->clusters[k].weight) : 0;
    }
    if (family->kind == AST_FAMILY_KENT) {
        double length = ast_normalise(t->all, dimension) / t->weight;
        c->uniformity = ast_rayleigh(dimension, r->effective, length, &c->uniformity_p);
        return;
    }
    for (size_t i = 0; i < dimension * dimension; i++)
        squares += (t->moments[i] / t->weight) * (t->moments[i] / t->weight);
    squares = dimension <= MOST_TESTED ? squares : (double)NAN;
    c->uniformity = ast_bingham(dimension, r->effective, squares, &c->uniformity_p);
}

ast_status ast_unlift_result(ast_call *c, const ast_points *points, const int32_t *labels, ast_result *r) {
    ast_family family = r->components.family;
    size_t clusters = r->report.clusters, dimension = family.dimension;
    totals t = {0};
    float *means = ast_allocate(clusters * dimension, sizeof *means);
    r->axes = ast_allocate_zero(6 * clusters, sizeof *r->axes);
    t.sums = ast_allocate_zero(clusters * dimension, sizeof *t.sums);
    t.moments = ast_allocate_zero(dimension * dimension, sizeof *t.moments);
    t.all = ast_allocate_zero(dimension, sizeof *t.all);
    ast_status status = AST_OK;
    if (!means || !r->axes || !t.sums || !t.moments || !t.all) {
        ast_free(means);
        status = ast_fail_memory(c->fault);
    } else {
        ast_free(r->means);
        r->means = means;
        r->report.dimension = dimension;
        for (size_t k = 0; k < clusters; k++)
            describe(r, &family, k);
        add_rows(points, r, labels, family.kind == AST_FAMILY_WATSON, &t);
        finish_totals(c, &family, &t, r);
    }
    ast_free_all(t.sums, t.moments, t.all);
    return status;
}

/* ---- Models ------------------------------------------------------------------------------------------------------ */

void ast_lift_components(const ast_model_info *m, ast_components *c) {
    for (size_t k = 0; k < m->clusters; k++) {
        ast_family_shape shape = {.kappa = m->kappas[k], .beta = m->betas ? m->betas[k] : 0};
        for (size_t d = 0; d < m->dimension; d++)
            shape.mean[d] = (double)m->means[k * m->dimension + d];
        for (size_t d = 0; m->axes && d < 6; d++)
            shape.axes[d] = (double)m->axes[6 * k + d];
        ast_components_set_shape(c, k, &shape);
    }
}
