/* SPDX-License-Identifier: MIT
 *
 * Learns a map. Rows are taken in the order by content, and every sum is either one of integers or has its additions in
 * that order, one by one: threads, kernels and the order of the caller's rows do not change a bit. */
#include "metric.h"

#include "center.h"
#include "content.h"
#include "memory.h"
#include "neighbours.h"
#include "scatter.h"
#include "symmetric.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED 0x6d657472 /* of the order by content */
#define NEAREST 5       /* neighbours that tell the local scatter: 1..15 make little difference */
#define SAMPLE 20000    /* rows whose neighbours are found, among themselves */
#define LEAST_SHRINKAGE 0.1
#define MOST_SHRINKAGE 1000

void ast_fitted_metric_free(ast_fitted_metric *fitted) {
    ast_free_all(fitted->center, fitted->matrix, fitted->mapped_center, fitted->mean);
    *fitted = (ast_fitted_metric){0};
}

/* What a fit works with. */
typedef struct fitting {
    ast_context *context;
    ast_fault *fault;
    const ast_points *points;
    ast_fitted_metric *fitted;
    ast_centred centred; /* rows u */
    uint32_t *order;     /* (N) by content */
    size_t present;      /* rows that take part: the first ones of `order` */
    double shrinkage;
} fitting;

static void close_fitting(fitting *f) {
    ast_centred_free(&f->centred);
    free(f->order);
}

static const float *row_of(const fitting *f, size_t place) {
    return f->centred.rows + f->order[place] * f->points->dimension;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static ast_status check(const fitting *f) {
    ast_status status = ast_refuse_sparse(f->points, "a metric", f->fault);
    if (status == AST_OK && f->context->comm)
        status = ast_fail(f->fault, AST_BAD_OPTION, "a metric cannot be learned on several ranks");
    return status;
}

static bool takes_part(const fitting *f, size_t r) {
    const ast_points *p = f->points;
    return isfinite(f->centred.rows[r * p->dimension]) && !(p->weights && !(p->weights[r] > 0)) &&
           !(p->late && p->late[r]);
}

/* The rows u are there: orders those that take part. */
static ast_status order_rows(fitting *f) {
    const ast_points *p = f->points;
    for (size_t i = 0; i < p->count; i++)
        if (isinf(f->centred.rows[i * p->dimension]))
            return ast_fail_infinite(f->fault, i + 1);
    f->order = ast_allocate(p->count, sizeof *f->order);
    if (!f->order)
        return ast_fail_memory(f->fault);
    ast_status status =
        ast_order_by_content(&f->centred.points, p->weights, false, SEED, f->context->pool, f->order, f->fault);
    for (size_t i = 0; i < p->count && status == AST_OK; i++)
        if (takes_part(f, f->order[i]))
            f->order[f->present++] = f->order[i];
    return status;
}

/* ---- From W to the map ------------------------------------------------------------------------------------------- */

/* Ledoit and Wolf's estimate of how much of the scatter is noise of the sample, as s. `independent`: of the differences
 * that W is the mean of. */
static double choose_shrinkage(const fitting *f, const ast_vector_scatter *w, double trace, double squared,
                               double independent) {
    double dimension = (double)f->points->dimension, mean = trace * trace / dimension;
    if (isfinite(f->shrinkage))
        return f->shrinkage;
    double noise = fmax(w->fourth / (double)w->count - squared, 0) / independent, share = noise / (squared - mean);
    if (!(share < 1))
        return MOST_SHRINKAGE;
    return fmin(fmax(share / (1 - share), LEAST_SHRINKAGE), MOST_SHRINKAGE);
}

/* Rows of A from eigenvectors (one per row) and the factors of their outer products. */
typedef struct product {
    size_t dimension;
    const double *vectors, *factors;
    double *sums; /* (threads, D) */
    float *matrix;
} product;

static void multiply_row(void *data, size_t i, int worker) {
    const product *p = data;
    size_t n = p->dimension;
    double *sum = p->sums + (size_t)worker * n;
    memset(sum, 0, n * sizeof *sum);
    for (size_t k = 0; k < n; k++) {
        const double *vector = p->vectors + k * n;
        double factor = p->factors[k] * vector[i];
        for (size_t j = 0; j <= i; j++)
            sum[j] += factor * vector[j];
    }
    for (size_t j = 0; j <= i; j++)
        p->matrix[i * n + j] = p->matrix[j * n + i] = (float)sum[j];
}

/* values (D) become the eigenvalues of A; W without any scatter gives A = 1. */
static void invert_roots(double *values, size_t dimension, double ridge) {
    double largest = 0;
    for (size_t k = 0; k < dimension; k++) {
        values[k] = ridge > 0 ? 1 / sqrt(fmax(values[k], 0) + ridge) : 1;
        largest = fmax(largest, values[k]);
    }
    for (size_t k = 0; k < dimension; k++)
        values[k] /= largest;
}

static ast_status make_matrix(const fitting *f, double *w, double ridge) {
    size_t n = f->points->dimension, threads = (size_t)ast_pool_threads(f->context->pool);
    double *values = ast_allocate(n, sizeof *values), *sums = ast_allocate(threads * n, sizeof *sums);
    ast_status status = values && sums ? AST_OK : ast_fail_memory(f->fault);
    if (status == AST_OK)
        status = ast_symmetric_eigen(f->context->pool, n, w, values, f->fault);
    if (status == AST_OK) {
        invert_roots(values, n, ridge);
        product p = {n, w, values, sums, f->fitted->matrix};
        ast_pool_run(f->context->pool, n, multiply_row, &p);
    }
    free(values);
    free(sums);
    return status;
}

static void center_map(ast_fitted_metric *fitted, size_t dimension) {
    for (size_t j = 0; j < dimension; j++) {
        double sum = 0;
        for (size_t d = 0; d < dimension; d++)
            sum += (double)fitted->matrix[j * dimension + d] * (double)fitted->mean[d];
        fitted->mapped_center[j] = (float)sum;
    }
    fitted->map = (ast_metric){.size = sizeof fitted->map,
                               .dimension = dimension,
                               .center = fitted->center,
                               .matrix = fitted->matrix,
                               .mapped_center = fitted->mapped_center};
}

/* The differences are in: the map from their scatter. */
static ast_status finish(fitting *f, ast_vector_scatter *scatter, double independent) {
    ast_fitted_metric *fitted = f->fitted;
    size_t n = f->points->dimension;
    double *w = ast_allocate(n * n, sizeof *w);
    if (!w)
        return ast_fail_memory(f->fault);
    ast_vector_scatter_mean(scatter, w);
    double trace = 0, squared = 0;
    for (size_t i = 0; i < n; i++) {
        trace += w[i * n + i];
        for (size_t j = 0; j < n; j++)
            squared += w[i * n + j] * w[i * n + j];
    }
    fitted->roundness = squared > 0 ? trace * trace / ((double)n * squared) : 1;
    fitted->shrinkage = choose_shrinkage(f, scatter, trace, squared, independent);
    ast_status status = make_matrix(f, w, fitted->shrinkage * trace / (double)n);
    free(w);
    if (status == AST_OK)
        center_map(fitted, n);
    return status;
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

/* Distinct rows at equal distances in the order by content: (count, D). */
typedef struct sample {
    float *rows;
    size_t count, dimension, each;
    uint32_t *neighbours; /* (count, each) */
    double *scores;
} sample;

static ast_status take_sample(const fitting *f, sample *s) {
    size_t dimension = s->dimension = f->points->dimension, distinct = 0, taken = 0,
           bytes = dimension * sizeof *s->rows;
    uint32_t *places = ast_allocate(f->present, sizeof *places);
    if (!places)
        return ast_fail_memory(f->fault);
    for (size_t i = 0; i < f->present; i++)
        if (i == 0 || memcmp(row_of(f, i), row_of(f, i - 1), bytes) != 0)
            places[distinct++] = (uint32_t)i;
    s->count = distinct < SAMPLE ? distinct : SAMPLE;
    s->rows = ast_allocate(s->count * dimension, sizeof *s->rows);
    for (; s->rows && taken < s->count; taken++)
        memcpy(s->rows + taken * dimension, row_of(f, places[taken * distinct / s->count]), bytes);
    free(places);
    return s->rows ? AST_OK : ast_fail_memory(f->fault);
}

static ast_status find_neighbours(const fitting *f, sample *s) {
    s->each = s->count > NEAREST ? NEAREST : s->count > 0 ? s->count - 1 : 0;
    s->neighbours = ast_allocate(s->count * s->each, sizeof *s->neighbours);
    s->scores = ast_allocate(s->count * s->each, sizeof *s->scores);
    if (!s->neighbours || !s->scores)
        return ast_fail_memory(f->fault);
    const ast_neighbour_search search = {.kernels = f->context->kernels,
                                         .pool = f->context->pool,
                                         .rows = s->rows,
                                         .count = s->count,
                                         .dimension = s->dimension,
                                         .each = s->each};
    return s->each ? ast_nearest_rows(&search, s->neighbours, s->scores, f->fault) : AST_OK;
}

/* Difference number n: of row n / each and one of its neighbours. */
static void neighbour_difference(const void *data, size_t n, float *to) {
    const sample *s = data;
    const float *a = s->rows + n / s->each * s->dimension, *b = s->rows + (size_t)s->neighbours[n] * s->dimension;
    for (size_t d = 0; d < s->dimension; d++)
        to[d] = a[d] - b[d];
}

static ast_status fit_neighbours(fitting *f) {
    sample s = {0};
    ast_vector_scatter scatter = {.kernels = f->context->kernels, .pool = f->context->pool};
    ast_status status = take_sample(f, &s);
    if (status == AST_OK)
        status = find_neighbours(f, &s);
    if (status == AST_OK)
        status = ast_vector_scatter_add(&scatter, s.dimension, s.count * s.each, neighbour_difference, &s, f->fault);
    if (status == AST_OK)
        status = finish(f, &scatter, (double)s.count);
    ast_vector_scatter_free(&scatter);
    ast_free_all(s.rows, s.neighbours, s.scores);
    return status;
}

static ast_status allocate_map(ast_fitted_metric *fitted, size_t dimension, ast_fault *fault) {
    bool ready =
        ast_replace_arrays(AST_REQUEST(fitted->matrix, dimension * dimension),
                           AST_REQUEST(fitted->mapped_center, dimension), AST_REQUEST(fitted->mean, dimension));
    return ready ? AST_OK : ast_fail_memory(fault);
}

ast_status ast_metric_fit_local(ast_context *context, const ast_points *points, double shrinkage,
                                ast_fitted_metric *fitted) {
    fitting f = {
        .context = context, .fault = &context->fault, .points = points, .fitted = fitted, .shrinkage = shrinkage};
    ast_fitted_metric_free(fitted);
    ast_status status = check(&f);
    if (status == AST_OK)
        status = allocate_map(fitted, points->dimension, f.fault);
    if (status == AST_OK)
        status = ast_center_points(context, points, points->count, &f.centred);
    if (status == AST_OK)
        status = order_rows(&f);
    if (status == AST_OK)
        status = ast_find_mean(context, &f.centred.points, NULL, points->count, fitted->mean);
    if (status == AST_OK) {
        fitted->center = f.centred.center;
        f.centred.center = NULL;
        status = fit_neighbours(&f);
    }
    close_fitting(&f);
    return status == AST_OK ? ast_check_cancelled(context) : status;
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

typedef struct clusters {
    const fitting *f;
    const int32_t *labels;
    size_t count;
    int64_t *sums;     /* (K, D) in units of 2^-30 */
    size_t *sizes;     /* (K) */
    uint32_t *places;  /* (rows) of the rows in clusters of two or more, in the order by content */
    size_t rows, most; /* most: rows that are looked at */
} clusters;

static ast_status add_up(clusters *c) {
    const fitting *f = c->f;
    size_t dimension = f->points->dimension;
    for (size_t i = 0; i < f->present; i++) {
        int32_t label = c->labels[f->order[i]];
        c->count = label >= 0 && (size_t)label >= c->count ? (size_t)label + 1 : c->count;
    }
    c->sums = ast_allocate_zero(c->count * dimension, sizeof *c->sums);
    c->sizes = ast_allocate_zero(c->count, sizeof *c->sizes);
    c->places = ast_allocate(f->present, sizeof *c->places);
    if (!c->sums || !c->sizes || !c->places)
        return ast_fail_memory(f->fault);
    for (size_t i = 0; i < f->present; i++) {
        int32_t label = c->labels[f->order[i]];
        if (label < 0)
            continue;
        f->context->kernels->sum_row(row_of(f, i), dimension, 1, c->sums + (size_t)label * dimension);
        c->sizes[label]++;
    }
    for (size_t i = 0; i < f->present; i++) {
        int32_t label = c->labels[f->order[i]];
        if (label >= 0 && c->sizes[label] > 1)
            c->places[c->rows++] = (uint32_t)i;
    }
    return AST_OK;
}

/* Row number n of those that are looked at, minus the mean of its cluster. */
static void cluster_difference(const void *data, size_t n, float *to) {
    const clusters *c = data;
    size_t dimension = c->f->points->dimension, place = c->places[n * c->rows / c->most];
    size_t label = (size_t)c->labels[c->f->order[place]];
    const float *row = row_of(c->f, place);
    const int64_t *sum = c->sums + label * dimension;
    double size = (double)c->sizes[label], factor = sqrt(size / (size - 1));
    for (size_t d = 0; d < dimension; d++)
        to[d] = (float)(((double)row[d] - (double)sum[d] * 0x1p-30 / size) * factor);
}

static ast_status fit_clusters(fitting *f, const int32_t *labels) {
    clusters c = {.f = f, .labels = labels};
    ast_vector_scatter scatter = {.kernels = f->context->kernels, .pool = f->context->pool};
    ast_status status = add_up(&c);
    size_t used = 0;
    for (size_t k = 0; k < c.count && status == AST_OK; k++)
        used += c.sizes[k] > 1;
    c.most = c.rows < (size_t)SAMPLE * NEAREST ? c.rows : (size_t)SAMPLE * NEAREST;
    if (status == AST_OK)
        status = ast_vector_scatter_add(&scatter, f->points->dimension, c.most, cluster_difference, &c, f->fault);
    if (status == AST_OK)
        status = finish(f, &scatter, (double)c.most * (double)(c.rows - used) / (double)(c.rows ? c.rows : 1));
    ast_vector_scatter_free(&scatter);
    ast_free_all(c.sums, c.sizes, c.places);
    return status;
}

ast_status ast_metric_fit_within(ast_context *context, const ast_points *points, const int32_t *labels,
                                 double shrinkage, ast_fitted_metric *fitted) {
    fitting f = {
        .context = context, .fault = &context->fault, .points = points, .fitted = fitted, .shrinkage = shrinkage};
    assert(fitted->center && fitted->map.dimension == points->dimension);
    ast_status status = ast_subtract_points(context, points, fitted->center, &f.centred);
    if (status == AST_OK)
        status = order_rows(&f);
    if (status == AST_OK)
        status = fit_clusters(&f, labels);
    close_fitting(&f);
    return status == AST_OK ? ast_check_cancelled(context) : status;
}
