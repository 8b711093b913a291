/* SPDX-License-Identifier: MIT */
#include "reference/mixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ref_mixture_open(ref_mixture *m, size_t count, size_t dimension) {
    m->count = count;
    m->dimension = dimension;
    m->means = ref_take(count * dimension, sizeof *m->means);
    m->kappas = ref_take(count, sizeof *m->kappas);
    m->weights = ref_take(count, sizeof *m->weights);
}

void ref_mixture_free(ref_mixture *m) {
    free(m->means);
    free(m->kappas);
    free(m->weights);
}

double ref_mixture_logit(const ref_mixture *m, size_t k, const float *x) {
    double product = 0;
    for (size_t d = 0; d < m->dimension; d++)
        product += m->means[k * m->dimension + d] * (double)x[d];
    return log(m->weights[k]) + ast_vmf_log_density(m->dimension, m->kappas[k], product);
}

double ref_mixture_posterior(const ref_mixture *m, const float *x, double *membership) {
    double most = -INFINITY, total = 0;
    for (size_t k = 0; k < m->count; k++)
        most = fmax(most, ref_mixture_logit(m, k, x));
    for (size_t k = 0; k < m->count; k++)
        total += membership[k] = exp(ref_mixture_logit(m, k, x) - most);
    for (size_t k = 0; k < m->count; k++)
        membership[k] /= total;
    return most + log(total);
}

/* A_D(kappa) = R by bisection of log kappa. */
static double solve_kappa(size_t dimension, double resultant) {
    double low = log(1e-9), high = log((double)(dimension - 1) * 0x1p22);
    if (resultant >= ast_vmf_resultant(dimension, exp(high)))
        return exp(high);
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (ast_vmf_resultant(dimension, exp(middle)) < resultant)
            low = middle;
        else
            high = middle;
    }
    return exp(low);
}

static double scaled_weight(const ref_points *points, size_t i) {
    return points->weight[i] * (double)points->used / points->total;
}

static int is_copy(const ref_points *points, size_t i) {
    size_t row = points->dimension * sizeof *points->x;
    for (size_t j = 0; j < i; j++)
        if (points->weight[j] > 0 &&
            memcmp(points->x + j * points->dimension, points->x + i * points->dimension, row) == 0)
            return 1;
    return 0;
}

/* A component of fewer than two distinct points has a kappa of at most 2 (D - 1) / (1 - cosine of the nearest mean),
 * or what it was. */
static void hold_kappas(ref_mixture *m, const ref_points *points, const double *memberships, const double *before) {
    double room = (double)(m->dimension - 1);
    for (size_t k = 0; k < m->count; k++) {
        double mass = 0, nearest = -1;
        for (size_t i = 0; i < points->count && m->kappas[k] > 512 * room; i++)
            if (points->weight[i] > 0 && !is_copy(points, i))
                mass += memberships[i * m->count + k];
        for (size_t other = 0; other < m->count; other++) {
            double cosine = 0;
            for (size_t d = 0; d < m->dimension; d++)
                cosine += m->means[k * m->dimension + d] * m->means[other * m->dimension + d];
            nearest = other != k && cosine < 1 - 0x1p-22 ? fmax(nearest, cosine) : nearest;
        }
        if (m->kappas[k] > 512 * room && mass < 1.5)
            m->kappas[k] = fmin(m->kappas[k], fmax(2 * room / (1 - nearest), before[k]));
    }
}

void ref_mixture_maximise(ref_mixture *m, const ref_points *points, const double *memberships, double kappa) {
    double *sum = ref_take(m->dimension, sizeof *sum), *before = ref_take(m->count, sizeof *before);
    memcpy(before, m->kappas, m->count * sizeof *before);
    for (size_t k = 0; k < m->count; k++) {
        double mass = 0, squared = 0;
        memset(sum, 0, m->dimension * sizeof *sum);
        for (size_t i = 0; i < points->count; i++) {
            double part = memberships[i * m->count + k] * scaled_weight(points, i);
            mass += part;
            for (size_t d = 0; d < m->dimension; d++)
                sum[d] += part * (double)points->x[i * m->dimension + d];
        }
        m->weights[k] = mass / (double)points->used;
        if (mass < 1e-3)
            continue;
        for (size_t d = 0; d < m->dimension; d++)
            squared += sum[d] * sum[d];
        for (size_t d = 0; d < m->dimension && squared > 0; d++)
            m->means[k * m->dimension + d] = sum[d] / sqrt(squared);
        m->kappas[k] = isnan(kappa) ? solve_kappa(m->dimension, sqrt(squared) / mass) : kappa;
    }
    if (isnan(kappa))
        hold_kappas(m, points, memberships, before);
    free(sum);
    free(before);
}

double ref_mixture_expect(const ref_mixture *m, const ref_points *points, int hard, double *memberships) {
    double likelihood = 0;
    for (size_t i = 0; i < points->count; i++) {
        double *row = memberships + i * m->count, weight = scaled_weight(points, i);
        size_t best = 0;
        if (!(weight > 0)) {
            memset(row, 0, m->count * sizeof *row);
            continue;
        }
        double density = ref_mixture_posterior(m, points->x + i * m->dimension, row);
        for (size_t k = 1; k < m->count; k++)
            best = row[k] > row[best] ? k : best;
        likelihood += weight * (hard ? ref_mixture_logit(m, best, points->x + i * m->dimension) : density);
        for (size_t k = 0; k < m->count && hard; k++)
            row[k] = k == best;
    }
    return likelihood;
}

void ref_mixture_start(ref_mixture *m, const ref_points *points, const float *means, double kappa) {
    double *memberships = ref_take(points->count * m->count, sizeof *memberships);
    for (size_t k = 0; k < m->count; k++) {
        m->kappas[k] = isnan(kappa) ? 1 : kappa;
        for (size_t d = 0; d < m->dimension; d++)
            m->means[k * m->dimension + d] = (double)means[k * m->dimension + d];
    }
    for (size_t i = 0; i < points->count; i++) {
        size_t best = 0;
        double most = -INFINITY;
        for (size_t k = 0; k < m->count; k++) {
            double score = ref_score(points->x + i * m->dimension, means + k * m->dimension, m->dimension);
            best = score > most ? k : best;
            most = fmax(most, score);
        }
        memberships[i * m->count + best] = 1;
    }
    ref_mixture_maximise(m, points, memberships, kappa);
    free(memberships);
}
