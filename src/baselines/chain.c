/* SPDX-License-Identifier: MIT */
#include "chain.h"

#include "memory.h"

#include <math.h>

#define BURN_IN 5       /* the first of so many parts is left out */
#define MOST_ERRORS 4.0 /* standard errors between the means of two halves that agree */
#define LEAST_SAMPLES 8 /* effective: fewer decide nothing */

ast_status ast_chain_open(ast_chain *chain, size_t sweeps, ast_fault *fault) {
    *chain = (ast_chain){0};
    return ast_replace_arrays(AST_REQUEST(chain->joint, sweeps), AST_REQUEST(chain->clusters, sweeps))
               ? AST_OK
               : ast_fail_memory(fault);
}

void ast_chain_free(ast_chain *chain) {
    ast_free_all(chain->joint, chain->clusters);
}

void ast_chain_add(ast_chain *chain, double joint, size_t clusters) {
    chain->joint[chain->sweeps] = joint;
    chain->clusters[chain->sweeps++] = (double)clusters;
}

static double mean_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i] / (double)n;
    return sum;
}

static double covariance(const double *values, size_t n, size_t lag, double mean) {
    double sum = 0;
    for (size_t i = 0; i + lag < n; i++)
        sum += (values[i] - mean) * (values[i + lag] - mean);
    return sum / (double)n;
}

/* The effective number of samples of n correlated numbers, 1..n: n / (1 + 2 sum of autocorrelations). The sum ends
 * where that of two neighbours is no longer positive (Geyer 1992). Numbers that are all equal count n. */
static double effective_samples(const double *values, size_t n) {
    double mean = mean_of(values, n), variance = covariance(values, n, 0, mean), sum = 0;
    if (!(variance > 1e-12 * (1 + mean * mean)))
        return (double)n;
    for (size_t lag = 1; lag + 1 < n; lag += 2) {
        double pair = covariance(values, n, lag, mean) + covariance(values, n, lag + 1, mean);
        if (!(pair > 0))
            break;
        sum += pair / variance;
    }
    return fmin((double)n, fmax(1, (double)n / (1 + 2 * sum)));
}

/* Whether the means of the two halves differ by no more than chance, by their effective samples. */
static bool halves_agree(const double *values, size_t n) {
    size_t half = n / 2;
    const double *parts[] = {values, values + n - half};
    double mean[2], error = 0;
    for (int i = 0; i < 2; i++) {
        mean[i] = mean_of(parts[i], half);
        error += covariance(parts[i], half, 0, mean[i]) / effective_samples(parts[i], half);
    }
    return fabs(mean[0] - mean[1]) <= MOST_ERRORS * sqrt(error) + 1e-9 * fabs(mean[0]);
}

static size_t most_frequent(const double *values, size_t n, double *counts, size_t room) {
    size_t best = 0;
    for (size_t k = 0; k < room; k++)
        counts[k] = 0;
    for (size_t i = 0; i < n; i++)
        counts[(size_t)values[i]]++;
    for (size_t k = 1; k < room; k++)
        best = counts[k] > counts[best] ? k : best;
    return best;
}

ast_status ast_chain_finish(const ast_chain *chain, ast_run *run, ast_fault *fault) {
    size_t burn_in = (size_t)run->options->sampler.burn_in, skipped = burn_in ? burn_in : chain->sweeps / BURN_IN,
           most = 0;
    skipped = skipped < chain->sweeps ? skipped : 0;
    size_t n = chain->sweeps - skipped, half = n / 2;
    const double *joint = chain->joint + skipped, *clusters = chain->clusters + skipped;
    for (size_t i = 0; i < n; i++)
        most = clusters[i] > (double)most ? (size_t)clusters[i] : most;
    double *posterior = run->cluster_posterior = ast_allocate(most + 1, sizeof *posterior);
    if (!posterior)
        return ast_fail_memory(fault);
    run->cluster_posterior_count = most + 1;
    size_t first = most_frequent(clusters, half, posterior, most + 1);
    size_t second = most_frequent(clusters + n - half, half, posterior, most + 1);
    bool near = first <= second + 1 && second <= first + 1; /* neighbours may be equally likely */
    most_frequent(clusters, n, posterior, most + 1);
    for (size_t k = 0; k <= most; k++)
        posterior[k] /= (double)n;
    run->effective_samples = fmin(effective_samples(joint, n), effective_samples(clusters, n));
    run->stationary =
        near && run->effective_samples >= LEAST_SAMPLES && halves_agree(joint, n) && halves_agree(clusters, n);
    return AST_OK;
}
