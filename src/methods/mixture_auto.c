/* SPDX-License-Identifier: MIT
 *
 * A mixture of von Mises-Fisher distributions that finds its number of components. EM starts with too many components
 * and joins them as it goes (after Figueiredo and Jain 2002). It maximises a bound on the evidence (Attias 2000)
 * instead of the likelihood with a penalty per parameter.
 *
 * r_ik are the memberships, n_k = sum_i r_ik and s_k = sum_i r_ik x_i. The mean and the kappa of every component are
 * integrated out (kappa_posterior.h), and so are the shares, whose prior is uniform. Then
 *
 *     F = sum_k ln m(n_k, |s_k|) + sum_k ln Gamma(n_k + 1) + c(K) - sum_ik r_ik ln r_ik
 *     c(K) = ln Gamma(K) - ln Gamma(N + K) + ln K!        (K! orders of the components are one mixture)
 *
 * is a lower bound of the log evidence of K components, relative to uniform points. Every step raises it:
 *
 * M: the posterior of every kappa; centre and width of the prior of ln kappa, which all components share.
 * E: r_ik is proportional to exp(psi(n_k + 1) + E[L(kappa_k)] + E[kappa_k mu_k] . x_i): a vMF component for the
 *     kernels.
 * Join: two components whose memberships are added, or one and the background, if F rises by
 *     ln m(n_a + n_b, |s_a + s_b|) - ln m(n_a, |s_a|) - ln m(n_b, |s_b|) + [ln Gamma] + [c] - [r ln r of the points]
 *
 * When no join raises F and F has converged, it may be at a local maximum with too many components. Then the best level
 * of the tree of joins is taken, if its evidence, a lower bound of its F, is larger than F; otherwise the best pair is
 * joined although F falls, and EM continues; above 16 components one pair for every 16 of them, so that the number of
 * levels grows with the logarithm of K. The best F of all is kept. The search ends after a few levels without gain
 * (Figueiredo and Jain go down to one component), or after MOST_PASSES. Then EM runs from other starts: few groups,
 * splits, joins (mixture_moves.c).
 *
 * Each distinct row counts once and without its weight, as in evidence.h. There is one exception: if most rows are
 * copies, or all angles are multiples of some degrees, values are coarse, and a copy is an observation
 * (mixture_start.c). Such a row stands for points spread over a cell of a grid whose spacing is the distance between
 * neighbouring rows; without this, single values would be clusters. So x counts as row_scale x, where row_scale is the
 * mean cosine of a point in the cell and its centre. The shares, means and likelihood of the result count rows and
 * weights. */
#include "mixture_search.h"

#include "memory.h"
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MISSES 3                   /* levels without gain */
#define LEAST_MASS 0.01                 /* points; a component with less is removed */
#define LEAST_WIDTH 0.34657359027997264 /* of the prior of ln kappa: half an octave */
#define ROUGH 1e-5                      /* nats per point: tolerance at a level that will be left */
#define ROUGH_NATS 0.25                 /* the same for few points, in nats of all of them */
#define MOST_PASSES 400                 /* of the search; the best level found until then is finished */
#define JOIN_EVERY 4                    /* passes, after the first few: overlaps cost as much as a pass */
#define FIRST_PASSES 5                  /* before EM may be abandoned */
#define HOPE 0.5                        /* nats that EM may miss the best by and is continued */
#define LEAST_PROBABLE 1e-6             /* number of components that is told */
#define LEAST_POINTS 1000               /* for the tolerance: a thousandth of a nat is nothing */

/* ---- M: from masses and sums to components ---- */

/* The derivative of ln Gamma, x >= 1: psi(x) = psi(x + 1) - 1/x up to 8, then the asymptotic series. */
static double digamma(double x) {
    double below = 0;
    while (x < 8) {
        below += 1 / x;
        x++;
    }
    double square = 1 / (x * x);
    return log(x) - 1 / (2 * x) - square * (1.0 / 12 - square * (1.0 / 120 - square / 252)) - below;
}

/* c(K): what the number of components adds to F. A background has a share and no twin. */
double ast_search_log_count_prior(const ast_mixture_search *s, size_t count) {
    double shares = (double)(count + s->m.c->background);
    return ast_log_gamma(shares) - ast_log_gamma(s->points + shares) + ast_log_gamma((double)count + 1);
}

ast_kappa_posterior ast_search_posterior(const ast_mixture_search *s, double mass, const double *sum,
                                         ast_family_cache *cache) {
    const ast_components *c = s->m.c;
    if (!ast_components_are_vmf(c))
        return ast_family_posterior(&c->family, &s->prior, mass, sum, cache, NULL, NULL, NULL);
    double length = s->row_scale * ast_search_length(sum, NULL, s->prior.dimension);
    return ast_kappa_posterior_find(&s->prior, mass, length);
}

static void describe_one(void *data, size_t k) {
    ast_mixture_search *s = data;
    s->lengths[k] = s->row_scale * ast_search_length(ast_search_sum(s, k), NULL, s->prior.dimension);
    s->posteriors[k] = ast_search_posterior(s, s->mass[k], ast_search_sum(s, k), s->caches ? &s->caches[k] : NULL);
}

/* The functional of component k, where it is not von Mises-Fisher. */
static void write_functional(void *data, size_t k) {
    ast_mixture_search *s = data;
    ast_components *c = s->m.c;
    ast_family_posterior(&c->family, &s->prior, s->mass[k], ast_search_sum(s, k), &s->caches[k],
                         c->means + k * c->dimension, &c->kappas[k], &c->constants[k]);
}

void ast_search_find_posteriors(ast_mixture_search *s) {
    ast_pool_each(s->v.pool, s->count, 1, describe_one, s);
}

/* Centre and width of the prior: each is the best given the posteriors, so F rises. */
static void tune_prior(ast_mixture_search *s) {
    double centre = 0, square = 0;
    if (!isnan(s->prior.fixed_kappa))
        return;
    for (size_t k = 0; k < s->count; k++)
        centre += s->posteriors[k].centre / (double)s->count;
    s->prior.centre = fmin(fmax(centre, AST_LEAST_LOG_KAPPA), log(ast_kappa_limit(s->prior.dimension)));
    ast_search_find_posteriors(s);
    for (size_t k = 0; k < s->count; k++)
        square += s->posteriors[k].squared_deviation / (double)s->count;
    s->prior.width = fmax(LEAST_WIDTH, sqrt(square));
    ast_search_find_posteriors(s);
}

static void maximise(ast_mixture_search *s) {
    ast_components *c = s->m.c;
    size_t dimension = s->prior.dimension;
    double rest = digamma(s->points + (double)(s->count + c->background));
    ast_search_find_posteriors(s);
    tune_prior(s);
    if (c->background) {
        c->kappas[s->count] = 0;
        c->weights[s->count] = s->mass[s->count] / s->points;
        c->offsets[s->count] = digamma(s->mass[s->count] + 1) - rest;
        memmove(c->means + s->count * dimension, c->means + c->count * dimension, dimension * sizeof *c->means);
        c->constants[s->count] = c->constants[c->count];
    }
    c->count = s->count;
    if (!ast_components_are_vmf(c)) {
        ast_pool_each(s->v.pool, s->count, 1, write_functional, s);
        for (size_t k = 0; k < s->count; k++) {
            c->weights[k] = s->mass[k] / s->points;
            c->offsets[k] = digamma(s->mass[k] + 1) - rest + c->constants[k] - ast_family_uniform(&c->family);
        }
        return;
    }
    for (size_t k = 0; k < s->count; k++) {
        const ast_kappa_posterior *p = &s->posteriors[k];
        c->weights[k] = s->mass[k] / s->points;
        c->kappas[k] = p->mean_length * s->row_scale;
        c->offsets[k] = digamma(s->mass[k] + 1) - rest + p->mean_log_constant;
        for (size_t d = 0; d < dimension && s->lengths[k] > 0; d++)
            c->means[k * dimension + d] = s->row_scale * ast_search_sum(s, k)[d] / s->lengths[k];
    }
}

/* ---- E, and F ---- */

/* Masses and sums of the memberships. */
static void read_sums(ast_mixture_search *s) {
    size_t dimension = s->prior.dimension, width = dimension + 1;
    s->count = s->m.c->count;
    s->mass[s->count] = 0;
    for (size_t k = 0; k < ast_components_all(s->m.c); k++)
        s->mass[k] = (double)s->m.sums[k * width + dimension] * s->m.sum_unit;
    for (size_t k = 0; k < s->count; k++)
        for (size_t d = 0; d < dimension; d++)
            ast_search_sum(s, k)[d] = (double)s->m.sums[k * width + d] * s->m.sum_unit;
}

/* - sum r ln r = sum_i ln sum_k exp(logit_ik) - sum_ik r_ik logit_ik, and logits are linear in x. */
static double entropy(const ast_mixture_search *s) {
    const ast_components *c = s->m.c;
    double sum = s->m.run->log_likelihood;
    for (size_t k = 0; k < ast_components_all(c); k++) {
        if (!(s->mass[k] > 0))
            continue;
        double along =
            k < s->count ? ast_dot(c->means + k * c->dimension, ast_search_sum(s, k), s->prior.dimension) : 0;
        sum -= s->mass[k] * c->offsets[k] + c->kappas[k] * along;
    }
    return fmax(0, sum);
}

/* F without the entropy: the evidence of hard memberships. */
double ast_search_evidence(const ast_mixture_search *s) {
    double sum = ast_search_log_count_prior(s, s->count) + ast_log_gamma(s->mass[s->count] + 1);
    for (size_t k = 0; k < s->count; k++)
        sum += s->posteriors[k].log_marginal + ast_log_gamma(s->mass[k] + 1);
    return sum;
}

/* Removes component k. */
void ast_search_remove_sums(ast_mixture_search *s, size_t k) {
    size_t dimension = s->prior.dimension;
    memmove(s->mass + k, s->mass + k + 1, (s->count - k) * sizeof *s->mass);
    memmove(ast_search_sum(s, k), ast_search_sum(s, k + 1), (s->count - k - 1) * dimension * sizeof *s->sums);
    s->count--;
}

static void drop_light(ast_mixture_search *s) {
    for (size_t k = s->count; k-- > 0 && s->count > 1;)
        if (s->mass[k] < LEAST_MASS) {
            ast_search_remove_sums(s, k);
            ast_components_remove(s->m.c, k);
        }
}

static ast_status expect(ast_mixture_search *s, ast_fault *fault) {
    ast_run *run = s->m.run;
    size_t changed;
    run->pass_start = ast_seconds();
    ast_status status = ast_mixture_expect(&s->m, &changed, fault);
    if (status != AST_OK)
        return status;
    s->hard = false;
    read_sums(s);
    double spread = entropy(s);
    drop_light(s);
    ast_search_find_posteriors(s);
    s->evidence = run->objective = ast_search_evidence(s) + spread;
    s->best_of[s->count] = fmax(s->best_of[s->count], s->evidence);
    run->iterations++;
    s->work += s->points * (double)(s->count * s->prior.dimension);
    return ast_run_report_pass(run, s->count, changed, s->v.present, s->evidence, fault);
}

/* ---- The search ---- */

/* EM and joins until F has converged; begins with the M step. */
static ast_status run_em_and_joins(ast_mixture_search *s, double tolerance, ast_fault *fault) {
    double last = -INFINITY;
    ast_run *run = s->m.run;
    for (int pass = 1;; pass++) {
        size_t joined;
        maximise(s);
        ast_status status = expect(s, fault);
        run->converged = s->evidence - last <= tolerance * fmax(s->points, LEAST_POINTS);
        if (status != AST_OK || pass == run->options->max_iterations)
            return status;
        last = s->evidence;
        if (!run->converged && pass > JOIN_EVERY && pass % JOIN_EVERY)
            continue;
        status = ast_search_join(s, false, &joined, fault);
        if (status != AST_OK || (run->converged && joined == 0))
            return status;
        if (joined > 0)
            last = -INFINITY;
    }
}

/* F will stay below the best: its rises shrink, and four times what they would still add up to is not enough. */
static bool is_hopeless(const ast_mixture_search *s, double rise, double rise_before) {
    return rise < rise_before && s->evidence + HOPE + 4 * rise * rise / (rise_before - rise) < s->best_evidence;
}

ast_status ast_search_converge(ast_mixture_search *s, ast_fault *fault) {
    const ast_options *options = s->m.run->options;
    double last = -INFINITY, rise = INFINITY, least = options->mixture.tolerance * fmax(s->points, LEAST_POINTS);
    for (int pass = 1; pass <= options->max_iterations; pass++) {
        maximise(s);
        ast_status status = expect(s, fault);
        double now = s->evidence - last;
        if (status != AST_OK || now <= least || (pass > FIRST_PASSES && is_hopeless(s, now, rise)))
            return status;
        rise = now;
        last = s->evidence;
    }
    return AST_OK;
}

void ast_search_keep(ast_mixture_search *s) {
    ast_components_copy(&s->best, s->m.c);
    s->best_prior = s->prior;
    s->best_evidence = s->evidence;
}

static void keep_best(ast_mixture_search *s, int *misses) {
    ++*misses;
    if (s->evidence <= s->best_evidence)
        return;
    ast_search_keep(s);
    *misses = 0;
}

/* Restores the best components, and runs their E step. */
static ast_status restore_best(ast_mixture_search *s, ast_fault *fault) {
    ast_components_copy(s->m.c, &s->best);
    s->prior = s->best_prior;
    return expect(s, fault);
}

static ast_status descend(ast_mixture_search *s, ast_fault *fault) {
    int misses = 0;
    for (;;) {
        bool climbed = false;
        size_t joined = 0;
        double rough = fmax(ROUGH, ROUGH_NATS / fmax(s->points, LEAST_POINTS));
        ast_status status = run_em_and_joins(s, fmax(rough, s->m.run->options->mixture.tolerance), fault);
        if (status != AST_OK)
            return status;
        keep_best(s, &misses);
        if (s->count == 1 || misses == MOST_MISSES || s->m.run->iterations >= MOST_PASSES)
            return AST_OK;
        status = ast_search_take_best_level(s, &climbed, fault);
        if (status == AST_OK && !climbed)
            status = ast_search_join(s, true, &joined, fault);
        if (status != AST_OK)
            return status;
    }
}

/* ---- The result ---- */

/* Component k of the result, where it is not von Mises-Fisher: axes by maximum likelihood, the most probable kappa. */
static void make_shape(ast_mixture_search *s, size_t k, const int64_t *sums) {
    ast_components *c = s->m.c;
    ast_family_shape shape;
    double *sum = s->scratch, mass = (double)sums[c->dimension] * s->m.sum_unit, kappa = s->posteriors[k].kappa;
    for (size_t d = 0; d < c->dimension; d++)
        sum[d] = (double)sums[d] * s->m.sum_unit;
    if (!(mass > 0))
        return;
    ast_family_fit(&c->family, mass, sum, s->prior.fixed_kappa, &shape);
    if (c->family.kind == AST_FAMILY_WATSON && (shape.kappa < 0) == (kappa < 0))
        shape.kappa = kappa;
    ast_components_set_shape(c, k, &shape);
}

/* Shares and means of rows with their weights, the most probable kappas; then labels and likelihood. */
static ast_status make_result(ast_mixture_search *s, ast_fault *fault) {
    ast_components *c = s->m.c;
    size_t changed, dimension = s->prior.dimension, width = dimension + 1;
    double total = 0;
    s->m.copies = NULL;
    ast_status status = ast_mixture_expect(&s->m, &changed, fault);
    ast_components_copy(&s->best, c);
    for (size_t k = 0; k < ast_components_all(c); k++)
        total += (double)s->m.sums[k * width + dimension];
    for (size_t k = 0; k < ast_components_all(c); k++) {
        double squares = 0;
        const int64_t *sum = s->m.sums + k * width;
        c->weights[k] = (double)sum[dimension] / total;
        if (!ast_components_are_vmf(c)) {
            if (k < c->count)
                make_shape(s, k, sum);
            continue;
        }
        for (size_t d = 0; d < dimension; d++)
            squares += (double)sum[d] * (double)sum[d];
        for (size_t d = 0; d < dimension && squares > 0 && k < c->count; d++)
            c->means[k * dimension + d] = (double)sum[d] / sqrt(squares);
        c->kappas[k] = k < c->count ? fmin(ast_kappa_limit(dimension), s->posteriors[k].kappa) : 0;
    }
    if (status == AST_OK)
        status = ast_mixture_cap_kappas(&s->m, &s->distinct, &s->best, false, fault);
    ast_components_prepare(c);
    return status == AST_OK ? ast_mixture_expect(&s->m, &changed, fault) : status;
}

/* A component that is the best one of no point, or `count`. */
static ast_status find_empty(const ast_mixture_search *s, size_t *empty, ast_fault *fault) {
    uint8_t *named = ast_allocate_zero(s->count + 1, 1);
    if (!named)
        return ast_fail_memory(fault);
    for (size_t i = 0; i < s->v.rows->count; i++)
        if (s->v.labels[i] >= 0)
            named[s->v.labels[i]] = 1;
    for (*empty = 0; *empty < s->count && named[*empty];)
        ++*empty;
    ast_free(named);
    return AST_OK;
}

/* A broad component may be the best one of no point. It is no cluster: the search continues without it. */
static ast_status finish(ast_mixture_search *s, ast_fault *fault) {
    ast_run *run = s->m.run;
    for (;;) {
        size_t empty = 0;
        ast_status status = run_em_and_joins(s, run->options->mixture.tolerance, fault);
        if (status == AST_OK)
            status = make_result(s, fault);
        if (status == AST_OK)
            status = find_empty(s, &empty, fault);
        if (status != AST_OK)
            return status;
        if (empty == s->count || s->count == 1)
            return AST_OK;
        ast_components_copy(s->m.c, &s->best);
        s->m.copies = s->distinct.copies;
        ast_components_remove(s->m.c, empty);
        status = expect(s, fault);
        if (status != AST_OK)
            return status;
    }
}

/* ---- The run ---- */

/* exp(F) of every number of components that the search has met, as if each were equally likely before. */
static ast_status keep_count_posterior(ast_mixture_search *s, ast_fault *fault) {
    ast_run *run = s->m.run;
    double most = -INFINITY, sum = 0;
    size_t count = 1;
    for (size_t k = 1; k <= s->room; k++) {
        most = fmax(most, s->best_of[k]);
        count = s->best_of[k] > -INFINITY ? k + 1 : count;
    }
    for (size_t k = 1; k < count; k++)
        sum += exp(s->best_of[k] - most);
    while (count > 2 && exp(s->best_of[count - 1] - most) < LEAST_PROBABLE * sum)
        count--;
    run->cluster_posterior = ast_allocate_zero(count, sizeof *run->cluster_posterior);
    if (!run->cluster_posterior)
        return ast_fail_memory(fault);
    run->cluster_posterior_count = count;
    for (size_t k = 1; k < count; k++)
        run->cluster_posterior[k] = exp(s->best_of[k] - most) / sum;
    return AST_OK;
}

ast_status ast_run_movmf_auto(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_mixture_search s = {.m = {.l = l, .run = run, .c = &run->components}, .v = ast_view_of(l)};
    if (s.v.present == 0)
        return AST_OK;
    ast_status status = ast_search_start(&s, fault);
    if (status == AST_OK)
        status = descend(&s, fault);
    if (status == AST_OK)
        status = ast_search_try_moves(&s, fault);
    if (status == AST_OK)
        status = restore_best(&s, fault);
    if (status == AST_OK)
        status = finish(&s, fault);
    run->objective = s.evidence;
    if (status == AST_OK)
        status = keep_count_posterior(&s, fault);
    if (status == AST_OK)
        status = ast_mixture_finish(&s.m, fault);
    ast_search_close(&s);
    return status;
}
