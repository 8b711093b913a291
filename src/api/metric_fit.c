/* SPDX-License-Identifier: MIT
 *
 * Learns a map from a sample of the rows (metric_sample.h). Every sum is either one of integers or has its additions in
 * the order by content, one by one: threads, kernels, ranks and the order of the caller's rows do not change a bit. */
#include "metric.h"

#include "memory.h"
#include "neighbours.h"
#include "scatter.h"
#include "symmetric.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAREST 5 /* neighbours that tell the local scatter: 1..15 make little difference */
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
    const ast_row_sample *sample;
    size_t dimension;
    ast_fitted_metric *fitted;
    double shrinkage;
} fitting;

/* ---- From W to the map ------------------------------------------------------------------------------------------- */

/* Ledoit and Wolf's estimate of how much of the scatter is noise of the sample, as s. `independent`: of the differences
 * that W is the mean of. */
static double choose_shrinkage(const fitting *f, const ast_vector_scatter *w, double trace, double squared,
                               double independent) {
    double dimension = (double)f->dimension, mean = trace * trace / dimension;
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
    size_t n = f->dimension, threads = (size_t)ast_pool_threads(f->context->pool);
    double *values = ast_allocate(n, sizeof *values), *sums = ast_allocate(threads * n, sizeof *sums);
    ast_status status = values && sums ? AST_OK : ast_fail_memory(f->fault);
    if (status == AST_OK)
        status = ast_symmetric_eigen(f->context->pool, n, w, values, f->fault);
    if (status == AST_OK) {
        invert_roots(values, n, ridge);
        product p = {n, w, values, sums, f->fitted->matrix};
        ast_pool_run(f->context->pool, n, multiply_row, &p);
    }
    ast_free(values);
    ast_free(sums);
    return status;
}

static void center_map(ast_fitted_metric *fitted, size_t dimension) {
    for (size_t j = 0; j < dimension; j++) {
        double sum = 0;
        for (size_t d = 0; d < dimension; d++)
            sum += (double)fitted->matrix[j * dimension + d] * (double)fitted->mean[d];
        fitted->mapped_center[j] = (float)sum;
    }
}

/* The differences are in: the map from their scatter. */
static ast_status finish(const fitting *f, ast_vector_scatter *scatter, double independent) {
    ast_fitted_metric *fitted = f->fitted;
    size_t n = f->dimension;
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
    ast_free(w);
    if (status == AST_OK)
        center_map(fitted, n);
    return status;
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

typedef struct nearest {
    const ast_row_sample *sample;
    size_t each;
    uint32_t *neighbours; /* (sample, each) */
    double *scores;
} nearest;

static ast_status find_neighbours(const fitting *f, nearest *n) {
    const ast_row_sample *s = f->sample;
    n->each = s->count > NEAREST ? NEAREST : s->count > 0 ? s->count - 1 : 0;
    n->neighbours = ast_allocate(s->count * n->each, sizeof *n->neighbours);
    n->scores = ast_allocate(s->count * n->each, sizeof *n->scores);
    if (!n->neighbours || !n->scores)
        return ast_fail_memory(f->fault);
    const ast_neighbour_search search = {.kernels = f->context->kernels,
                                         .pool = f->context->pool,
                                         .rows = s->rows,
                                         .count = s->count,
                                         .dimension = s->dimension,
                                         .each = n->each};
    return n->each ? ast_nearest_rows(&search, n->neighbours, n->scores, f->fault) : AST_OK;
}

/* Difference number i: of row i / each and one of its neighbours. */
static void neighbour_difference(const void *data, size_t i, float *to) {
    const nearest *n = data;
    size_t dimension = n->sample->dimension;
    const float *a = n->sample->rows + i / n->each * dimension;
    const float *b = n->sample->rows + (size_t)n->neighbours[i] * dimension;
    for (size_t d = 0; d < dimension; d++)
        to[d] = a[d] - b[d];
}

static ast_status fit_neighbours(const fitting *f) {
    nearest n = {.sample = f->sample};
    ast_vector_scatter scatter = {.kernels = f->context->kernels, .pool = f->context->pool};
    ast_status status = find_neighbours(f, &n);
    if (status == AST_OK)
        status = ast_vector_scatter_add(&scatter, f->dimension, f->sample->count * n.each, neighbour_difference, &n,
                                        f->fault);
    if (status == AST_OK)
        status = finish(f, &scatter, (double)f->sample->count);
    ast_vector_scatter_free(&scatter);
    ast_free_all(n.neighbours, n.scores);
    return status;
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

typedef struct clusters {
    const fitting *f;
    const int32_t *labels; /* (sample) */
    size_t count;
    int64_t *sums;    /* (K, D) in units of 2^-30 */
    size_t *sizes;    /* (K) */
    uint32_t *places; /* (rows) in the sample, of the rows in clusters of two or more */
    size_t rows;
} clusters;

static ast_status add_up(clusters *c) {
    const fitting *f = c->f;
    size_t n = f->sample->count;
    for (size_t i = 0; i < n; i++)
        c->count = c->labels[i] >= 0 && (size_t)c->labels[i] >= c->count ? (size_t)c->labels[i] + 1 : c->count;
    c->sums = ast_allocate_zero(c->count * f->dimension, sizeof *c->sums);
    c->sizes = ast_allocate_zero(c->count, sizeof *c->sizes);
    c->places = ast_allocate(n, sizeof *c->places);
    if (!c->sums || !c->sizes || !c->places)
        return ast_fail_memory(f->fault);
    for (size_t i = 0; i < n; i++) {
        if (c->labels[i] < 0)
            continue;
        f->context->kernels->sum_row(f->sample->rows + i * f->dimension, f->dimension, 1,
                                     c->sums + (size_t)c->labels[i] * f->dimension);
        c->sizes[c->labels[i]]++;
    }
    for (size_t i = 0; i < n; i++)
        if (c->labels[i] >= 0 && c->sizes[c->labels[i]] > 1)
            c->places[c->rows++] = (uint32_t)i;
    return AST_OK;
}

/* Row number n of those in clusters, minus the mean of its cluster. */
static void cluster_difference(const void *data, size_t n, float *to) {
    const clusters *c = data;
    size_t dimension = c->f->dimension, place = c->places[n], label = (size_t)c->labels[place];
    const float *row = c->f->sample->rows + place * dimension;
    const int64_t *sum = c->sums + label * dimension;
    double size = (double)c->sizes[label], factor = sqrt(size / (size - 1));
    for (size_t d = 0; d < dimension; d++)
        to[d] = (float)(((double)row[d] - (double)sum[d] * 0x1p-30 / size) * factor);
}

static ast_status fit_clusters(const fitting *f, const int32_t *labels) {
    clusters c = {.f = f, .labels = labels};
    ast_vector_scatter scatter = {.kernels = f->context->kernels, .pool = f->context->pool};
    ast_status status = add_up(&c);
    size_t used = 0;
    for (size_t k = 0; k < c.count && status == AST_OK; k++)
        used += c.sizes[k] > 1;
    if (status == AST_OK)
        status = ast_vector_scatter_add(&scatter, f->dimension, c.rows, cluster_difference, &c, f->fault);
    if (status == AST_OK)
        status = finish(f, &scatter, (double)(c.rows - used));
    ast_vector_scatter_free(&scatter);
    ast_free_all(c.sums, c.sizes, c.places);
    return status;
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

ast_status ast_fitted_metric_open(ast_fitted_metric *fitted, size_t dimension, ast_fault *fault) {
    ast_fitted_metric_free(fitted);
    if (!ast_replace_arrays(AST_REQUEST(fitted->center, dimension), AST_REQUEST(fitted->mean, dimension),
                            AST_REQUEST(fitted->matrix, dimension * dimension),
                            AST_REQUEST(fitted->mapped_center, dimension)))
        return ast_fail_memory(fault);
    fitted->map = (ast_metric){sizeof fitted->map, dimension, fitted->center, fitted->matrix, fitted->mapped_center};
    return AST_OK;
}

/* Rank 0 has learned: all get its map. */
static ast_status share(ast_context *context, ast_status status, ast_fitted_metric *fitted) {
    const ast_comm *comm = context->comm;
    size_t dimension = fitted->map.dimension;
    status = ast_comm_agree(comm, status, &context->fault);
    if (status != AST_OK)
        return status;
    ast_comm_broadcast(comm, fitted->matrix, dimension * dimension * sizeof *fitted->matrix, 0);
    ast_comm_broadcast(comm, fitted->mapped_center, dimension * sizeof *fitted->mapped_center, 0);
    ast_comm_broadcast(comm, &fitted->shrinkage, sizeof fitted->shrinkage, 0);
    ast_comm_broadcast(comm, &fitted->roundness, sizeof fitted->roundness, 0);
    return AST_OK;
}

static fitting begin(ast_context *context, const ast_row_sample *sample, double shrinkage, ast_fitted_metric *fitted) {
    return (fitting){.context = context,
                     .fault = &context->fault,
                     .sample = sample,
                     .dimension = fitted->map.dimension,
                     .fitted = fitted,
                     .shrinkage = shrinkage};
}

ast_status ast_metric_learn(const ast_map_input *input, double shrinkage, ast_row_sample *sample,
                            ast_fitted_metric *fitted) {
    ast_context *context = input->context;
    size_t dimension = input->points->dimension;
    ast_status status =
        ast_comm_agree(context->comm, ast_fitted_metric_open(fitted, dimension, &context->fault), &context->fault);
    if (status == AST_OK)
        status = ast_find_mean(context, input->points, input->source, input->total, fitted->center);
    if (status == AST_OK)
        status = ast_draw_rows(input, fitted->center, fitted->mean, sample);
    if (status != AST_OK)
        return status;
    fitting f = begin(context, sample, shrinkage, fitted);
    return share(context, ast_comm_rank(context->comm) == 0 ? fit_neighbours(&f) : AST_OK, fitted);
}

ast_status ast_metric_learn_within(ast_context *context, const ast_row_sample *sample, const int32_t *labels,
                                   double shrinkage, ast_fitted_metric *fitted) {
    fitting f = begin(context, sample, shrinkage, fitted);
    return share(context, ast_comm_rank(context->comm) == 0 ? fit_clusters(&f, labels) : AST_OK, fitted);
}

/* ---- Rows in memory ---------------------------------------------------------------------------------------------- */

static ast_status check(ast_context *context, const ast_points *points) {
    ast_status status = ast_refuse_sparse(points, "a metric", &context->fault);
    if (status == AST_OK && context->comm)
        status = ast_fail(&context->fault, AST_BAD_OPTION, "this call learns no metric on several ranks");
    return status;
}

static ast_map_input in_memory(ast_context *context, const ast_points *points) {
    return (ast_map_input){.context = context, .points = points, .total = points->count};
}

ast_status ast_metric_fit_local(ast_context *context, const ast_points *points, double shrinkage,
                                ast_fitted_metric *fitted) {
    ast_row_sample sample = {0};
    const ast_map_input input = in_memory(context, points);
    ast_status status = check(context, points);
    if (status == AST_OK)
        status = ast_metric_learn(&input, shrinkage, &sample, fitted);
    ast_row_sample_free(&sample);
    return status == AST_OK ? ast_check_cancelled(context) : status;
}

ast_status ast_metric_fit_within(ast_context *context, const ast_points *points, const int32_t *labels,
                                 double shrinkage, ast_fitted_metric *fitted) {
    ast_row_sample sample = {0};
    const ast_map_input input = in_memory(context, points);
    float mean[AST_MAX_DIMENSION]; /* that of these rows, which may be some of those that c2 is from */
    assert(fitted->center && fitted->map.dimension == points->dimension);
    ast_status status = ast_draw_rows(&input, fitted->center, mean, &sample);
    int32_t *drawn = ast_allocate(sample.count, sizeof *drawn);
    if (status == AST_OK && !drawn)
        status = ast_fail_memory(&context->fault);
    if (status == AST_OK) {
        ast_drawn_labels(&input, &sample, labels, drawn);
        status = ast_metric_learn_within(context, &sample, drawn, shrinkage, fitted);
    }
    ast_free(drawn);
    ast_row_sample_free(&sample);
    return status == AST_OK ? ast_check_cancelled(context) : status;
}
