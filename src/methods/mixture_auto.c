/* SPDX-License-Identifier: MIT
 *
 * A mixture of von Mises-Fisher distributions that finds its number of components: EM from too many of them, which join
 * as it goes (after Figueiredo and Jain 2002), by a bound on the evidence (Attias 2000) instead of a
 * penalty per parameter.
 *
 * With memberships r_ik, n_k = sum_i r_ik and s_k = sum_i r_ik x_i, the mean and kappa of every component integrated
 * out (kappa_posterior.h), and the shares too, all of which are equally likely before,
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
 * Once nothing joins and F stands still, it may be a local maximum with more components than needed. So the best level
 * of the tree of joins is taken if its F, which without overlap is at least its evidence, is larger; otherwise the best
 * pair joins although F falls, EM goes on, and the best F of all is kept (Figueiredo and Jain go down to one component;
 * here it ends after a few levels without gain).
 *
 * Each distinct row counts once and without its weight, as in evidence.h, unless most rows are copies: then values are
 * coarse, and a copy is an observation. A row then stands for points spread over the cells of a grid whose spacing is
 * the distance between neighbouring rows, or the finest clusters would be single values: x counts as shrink x, where
 * shrink is the mean cosine of a point in the cell and its centre. The shares, means and likelihood of the result count
 * rows and weights. */
#include "mixture.h"

#include "evidence.h"
#include "kappa_posterior.h"
#include "memory.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST 64                         /* components to start from, if there are so many points ... */
#define MANY 2048                         /* ... and at most */
#define NEIGHBOURS 5                      /* of a component are candidates for a join */
#define MOST_MISSES 3                     /* levels without gain */
#define LEAST_MASS 0.01                   /* points; a component with less is gone */
#define LEAST_WIDTH 0.34657359027997264   /* of the prior of ln kappa: half an octave */
#define FIRST_WIDTH 1.3862943611198906    /* two octaves */
#define LEAST_CENTRE (-6.907755278982137) /* kappa 0.001 */
#define ROUGH 1e-5                        /* nats per point: F stands still at a level that will be left */
#define LEAST_GAIN 1e-9
#define TINY 1e-9         /* memberships that add nothing to an overlap */
#define JOIN_EVERY 4      /* passes, after the first few: the overlap costs as much as a pass */
#define LEAST_POINTS 1000 /* for the tolerance: a thousandth of a nat is nothing */
#define OVERLAP_UNIT 0x1p30
#define STARTS_SEEN 256 /* that tell how far apart neighbouring rows are */
#define FEW_DIRECTIONS 64
#define EQUAL 0x1p-22    /* 1 - the cosine: rows that are closer are the same */
#define LEAST_SHRINK 0.5 /* of x, in very coarse values */

typedef struct candidate {
    size_t a, b; /* b = count: the background */
    double gain; /* of F */
    bool open;   /* the overlap of the two is not known yet */
} candidate;

typedef struct search {
    ast_mixture_steps m;
    ast_labelling *l;
    ast_distinct distinct;
    ast_kappa_prior prior;
    double points;                   /* N: those that count */
    double shrink;                   /* x counts as shrink x */
    size_t count;                    /* components */
    bool whole;                      /* memberships are labels */
    double *mass;                    /* (room + 1) n_k; the last is the background */
    double *sums;                    /* (room, D) s_k */
    double *lengths;                 /* (room) */
    ast_kappa_posterior *posteriors; /* (room) */
    candidate *pairs;                /* (room (NEIGHBOURS + 1)) */
    size_t pair_count;
    int64_t *overlaps; /* (threads, pairs) */
    size_t *nearest;   /* (room, NEIGHBOURS) */
    double evidence;   /* F */
    ast_components best;
    ast_kappa_prior best_prior;
    double best_evidence;
} search;

/* ---- M: from masses and sums to components ---- */

static double n_log_n(double n) {
    return n > 0 ? n * log(n) : 0;
}

static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* Its derivative, x >= 1: psi(x) = psi(x + 1) - 1/x up to 8, then the asymptotic series. */
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
static double count_value(const search *s, size_t count) {
    double shares = (double)(count + s->m.c->background);
    return log_gamma(shares) - log_gamma(s->points + shares) + log_gamma((double)count + 1);
}

static double *sum_of(const search *s, size_t k) {
    return s->sums + k * s->prior.dimension;
}

static double length_of(const double *a, const double *b, size_t dimension) {
    double squares = 0;
    for (size_t d = 0; d < dimension; d++) {
        double x = a[d] + (b ? b[d] : 0);
        squares += x * x;
    }
    return sqrt(squares);
}

static void describe_one(void *data, size_t k, int worker) {
    search *s = data;
    (void)worker;
    s->lengths[k] = s->shrink * length_of(sum_of(s, k), NULL, s->prior.dimension);
    s->posteriors[k] = ast_kappa_posterior_find(&s->prior, s->mass[k], s->lengths[k]);
}

static void describe(search *s) {
    ast_pool_run(s->l->pool, s->count, describe_one, s);
}

/* Centre and width of the prior: each is the best given the posteriors, so F rises. */
static void tune_prior(search *s) {
    double centre = 0, square = 0;
    if (!isnan(s->prior.known))
        return;
    for (size_t k = 0; k < s->count; k++)
        centre += s->posteriors[k].centre / (double)s->count;
    s->prior.centre = fmin(fmax(centre, LEAST_CENTRE), log(ast_kappa_limit(s->prior.dimension)));
    describe(s);
    for (size_t k = 0; k < s->count; k++)
        square += s->posteriors[k].square / (double)s->count;
    s->prior.width = fmax(LEAST_WIDTH, sqrt(square));
    describe(s);
}

static void maximise(search *s) {
    ast_components *c = s->m.c;
    size_t dimension = s->prior.dimension;
    double rest = digamma(s->points + (double)(s->count + c->background));
    describe(s);
    tune_prior(s);
    if (c->background) {
        c->kappas[s->count] = 0;
        c->weights[s->count] = s->mass[s->count] / s->points;
        c->offsets[s->count] = digamma(s->mass[s->count] + 1) - rest;
        memmove(c->means + s->count * dimension, c->means + c->count * dimension, dimension * sizeof *c->means);
    }
    c->count = s->count;
    for (size_t k = 0; k < s->count; k++) {
        const ast_kappa_posterior *p = &s->posteriors[k];
        c->weights[k] = s->mass[k] / s->points;
        c->kappas[k] = p->slope * s->shrink;
        c->offsets[k] = digamma(s->mass[k] + 1) - rest + p->constant;
        for (size_t d = 0; d < dimension && s->lengths[k] > 0; d++)
            c->means[k * dimension + d] = s->shrink * sum_of(s, k)[d] / s->lengths[k];
    }
}

/* ---- E, and F ---- */

/* Masses and sums of the memberships. */
static void read_sums(search *s) {
    size_t dimension = s->prior.dimension, width = dimension + 1;
    s->count = s->m.c->count;
    s->mass[s->count] = 0;
    for (size_t k = 0; k < ast_components_all(s->m.c); k++)
        s->mass[k] = (double)s->m.sums[k * width + dimension] * s->m.grain;
    for (size_t k = 0; k < s->count; k++)
        for (size_t d = 0; d < dimension; d++)
            sum_of(s, k)[d] = (double)s->m.sums[k * width + d] * s->m.grain;
}

/* - sum r ln r = sum_i ln sum_k exp(logit_ik) - sum_ik r_ik logit_ik, and logits are linear in x. */
static double entropy(const search *s) {
    const ast_components *c = s->m.c;
    double sum = s->m.run->log_likelihood;
    for (size_t k = 0; k < ast_components_all(c); k++) {
        if (!(s->mass[k] > 0))
            continue;
        double along = 0;
        for (size_t d = 0; d < s->prior.dimension && k < s->count; d++)
            along += c->means[k * c->dimension + d] * sum_of(s, k)[d];
        sum -= s->mass[k] * c->offsets[k] + c->kappas[k] * along;
    }
    return fmax(0, sum);
}

/* F without the entropy: the evidence, if memberships were whole. */
static double partition_evidence(const search *s) {
    double sum = count_value(s, s->count) + log_gamma(s->mass[s->count] + 1);
    for (size_t k = 0; k < s->count; k++)
        sum += s->posteriors[k].log_marginal + log_gamma(s->mass[k] + 1);
    return sum;
}

/* Closes the gap that component k leaves. */
static void forget(search *s, size_t k) {
    size_t dimension = s->prior.dimension;
    memmove(s->mass + k, s->mass + k + 1, (s->count - k) * sizeof *s->mass);
    memmove(sum_of(s, k), sum_of(s, k + 1), (s->count - k - 1) * dimension * sizeof *s->sums);
    s->count--;
}

static void drop_light(search *s) {
    for (size_t k = s->count; k-- > 0 && s->count > 1;)
        if (s->mass[k] < LEAST_MASS) {
            forget(s, k);
            ast_components_remove(s->m.c, k);
        }
}

static ast_status expect(search *s, ast_fault *fault) {
    ast_run *run = s->m.run;
    size_t changed;
    run->pass_start = ast_seconds();
    ast_status status = ast_mixture_expect(&s->m, &changed, fault);
    if (status != AST_OK)
        return status;
    s->whole = false;
    read_sums(s);
    double spread = entropy(s);
    drop_light(s);
    describe(s);
    s->evidence = run->objective = partition_evidence(s) + spread;
    run->iterations++;
    return ast_run_tell_pass(run, s->count, changed, s->l->present, s->evidence, fault);
}

/* ---- Joins ---- */

/* The components that lose least of sum |s_k| in a join with a. */
static void find_nearest(void *data, size_t a, int worker) {
    const search *s = data;
    size_t *nearest = s->nearest + a * NEIGHBOURS, found = 0;
    double losses[NEIGHBOURS];
    (void)worker;
    for (size_t b = 0; b < s->count; b++) {
        if (b == a)
            continue;
        double both = length_of(sum_of(s, a), sum_of(s, b), s->prior.dimension) * s->shrink;
        double loss = s->lengths[a] + s->lengths[b] - both;
        size_t place = found < NEIGHBOURS ? found++ : NEIGHBOURS;
        for (; place > 0 && losses[place - 1] > loss; place--)
            if (place < NEIGHBOURS) {
                losses[place] = losses[place - 1];
                nearest[place] = nearest[place - 1];
            }
        if (place < NEIGHBOURS) {
            losses[place] = loss;
            nearest[place] = b;
        }
    }
}

static bool knows(const search *s, size_t a, size_t b) {
    size_t known = s->count - 1 < NEIGHBOURS ? s->count - 1 : NEIGHBOURS;
    for (size_t i = 0; i < known; i++)
        if (s->nearest[a * NEIGHBOURS + i] == b)
            return true;
    return false;
}

static void list_pairs(search *s) {
    size_t known = s->count - 1 < NEIGHBOURS ? s->count - 1 : NEIGHBOURS;
    s->pair_count = 0;
    for (size_t a = 0; a < s->count; a++) {
        for (size_t i = 0; i < known; i++) {
            size_t b = s->nearest[a * NEIGHBOURS + i];
            if (a < b || !knows(s, b, a))
                s->pairs[s->pair_count++] = (candidate){.a = a < b ? a : b, .b = a < b ? b : a};
        }
        if (s->m.c->background && !s->whole)
            s->pairs[s->pair_count++] = (candidate){.a = a, .b = s->count};
    }
}

/* The gain of F if the memberships of the two do not overlap. */
static void price_pair(void *data, size_t p, int worker) {
    const search *s = data;
    candidate *pair = &s->pairs[p];
    double n = s->mass[pair->a] + s->mass[pair->b];
    (void)worker;
    pair->gain =
        n_log_n(n) - n_log_n(s->mass[pair->a]) - n_log_n(s->mass[pair->b]) - s->posteriors[pair->a].log_marginal;
    if (pair->b == s->count)
        return;
    double length = s->shrink * length_of(sum_of(s, pair->a), sum_of(s, pair->b), s->prior.dimension);
    pair->gain += ast_kappa_posterior_find(&s->prior, n, length).log_marginal - s->posteriors[pair->b].log_marginal;
}

/* Entropy that the joins of a chunk's points would lose, in fixed point: sums do not depend on the threads. */
static void overlap_tile(const search *s, const ast_tile_memory *memory, size_t first, int64_t *overlaps) {
    size_t n = s->m.tiles.tile;
    for (size_t p = 0; p < s->pair_count; p++) {
        if (!s->pairs[p].open)
            continue;
        const double *a = memory->logits + s->pairs[p].a * n, *b = memory->logits + s->pairs[p].b * n;
        for (size_t i = 0; i < n && first + i < s->l->rows.count; i++)
            if (a[i] > TINY && b[i] > TINY && s->l->labels[first + i] != AST_MISSING && !s->distinct.copies[first + i])
                overlaps[p] += llrint((n_log_n(a[i] + b[i]) - n_log_n(a[i]) - n_log_n(b[i])) * OVERLAP_UNIT);
    }
}

static void overlap_chunk(void *data, size_t chunk, int worker) {
    const search *s = data;
    const ast_mixture_steps *m = &s->m;
    ast_tile_memory *memory = &m->tiles.memory[worker];
    size_t first = chunk * s->l->rows.chunk, last = first + s->l->rows.chunk;
    for (size_t i = first; i < last && i < s->l->rows.count; i += m->tiles.tile) {
        ast_tile tile = ast_tile_at(&m->tiles, i, memory);
        ast_tile_logits(&m->tiles, &tile, m->c, memory);
        m->tiles.kernels->normalise(memory->logits, ast_components_all(m->c), m->tiles.tile, memory->most,
                                    memory->total);
        overlap_tile(s, memory, i, s->overlaps + (size_t)worker * s->pair_count);
    }
}

/* Subtracts the overlaps of the pairs that could gain, or of all. */
static ast_status find_overlaps(search *s, bool all, ast_fault *fault) {
    size_t open = 0, threads = (size_t)s->m.tiles.threads;
    for (size_t p = 0; p < s->pair_count; p++)
        open += s->pairs[p].open = !s->whole && (all || s->pairs[p].gain > 0);
    if (open == 0)
        return AST_OK;
    free(s->overlaps);
    s->overlaps = ast_allocate_zero(threads * s->pair_count, sizeof *s->overlaps);
    if (!s->overlaps)
        return ast_fail_memory(fault);
    if (!ast_pool_try(s->l->pool, s->l->rows.chunks, overlap_chunk, s))
        return ast_fail_cancelled(fault);
    for (size_t p = 0; p < s->pair_count; p++)
        for (size_t w = 0; w < threads && s->pairs[p].open; w++)
            s->pairs[p].gain -= (double)s->overlaps[w * s->pair_count + p] / OVERLAP_UNIT;
    return AST_OK;
}

static int by_gain(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* Adds b to a; b, unless it is the background, keeps its place without mass. */
static void join_pair(search *s, size_t a, size_t b) {
    bool background = b == s->count;
    size_t to = background ? b : a, from = background ? a : b;
    s->mass[to] += s->mass[from];
    s->mass[from] = -1;
    for (size_t d = 0; d < s->prior.dimension && !background; d++)
        sum_of(s, to)[d] += sum_of(s, from)[d];
}

static void forget_joined(search *s) {
    for (size_t k = s->count; k-- > 0;)
        if (s->mass[k] < 0)
            forget(s, k);
}

/* Joins pairs that gain, the best first, no component twice; forced: the best even if it loses. One is always left. */
static ast_status join(search *s, bool forced, size_t *joined, ast_fault *fault) {
    *joined = 0;
    if (s->count < 2)
        return AST_OK;
    describe(s);
    ast_pool_run(s->l->pool, s->count, find_nearest, s);
    list_pairs(s);
    ast_pool_run(s->l->pool, s->pair_count, price_pair, s);
    ast_status status = find_overlaps(s, forced, fault);
    if (status != AST_OK)
        return status;
    qsort(s->pairs, s->pair_count, sizeof *s->pairs, by_gain);
    size_t before = s->count;
    uint8_t *used = ast_allocate_zero(before + 1, 1);
    if (!used)
        return ast_fail_memory(fault);
    for (size_t p = 0; p < s->pair_count && *joined + 1 < before; p++) {
        const candidate *pair = &s->pairs[p];
        if (pair->gain <= LEAST_GAIN && !(forced && p == 0))
            break;
        if (used[pair->a] || used[pair->b])
            continue;
        used[pair->a] = used[pair->b] = 1;
        join_pair(s, pair->a, pair->b);
        ++*joined;
    }
    free(used);
    forget_joined(s);
    return ast_pool_cancelled(s->l->pool) ? ast_fail_cancelled(fault) : AST_OK;
}

/* ---- The tree: a level with fewer components at once ---- */

typedef struct node {
    double mass, length, value; /* value: what it adds to the evidence of a partition */
    size_t place;               /* the component that its leaves are added to */
} node;

static node node_of(const search *s, double mass, double length, size_t place) {
    double marginal = ast_kappa_posterior_find(&s->prior, mass, length).log_marginal;
    return (node){mass, length, marginal + log_gamma(mass + 1), place};
}

/* Joins all the way along the tree. nodes: (2 leaves), of which the leaves are set; joins: (leaves). Returns the number
 * of joins after which the evidence is largest, and that evidence. */
static size_t best_level(const search *s, ast_joiner *joiner, node *nodes, ast_joined *joins, double *highest) {
    size_t made = 0, best = 0;
    double value = partition_evidence(s);
    *highest = value;
    for (; ast_joiner_next(joiner, &joins[made]) && !ast_pool_poll(s->l->pool); made++) {
        const node *a = &nodes[joins[made].a], *b = &nodes[joins[made].b];
        size_t place = a->place < b->place ? a->place : b->place;
        node *into = &nodes[s->count + made];
        ast_joiner_take(joiner, &joins[made]);
        *into = node_of(s, a->mass + b->mass, a->length + b->length - s->shrink * joins[made].loss, place);
        value +=
            into->value - a->value - b->value + count_value(s, s->count - made - 1) - count_value(s, s->count - made);
        if (value > *highest) {
            *highest = value;
            best = made + 1;
        }
    }
    return best;
}

/* Applies the first joins. */
static void take_level(search *s, const node *nodes, const ast_joined *joins, size_t made) {
    for (size_t t = 0; t < made; t++) {
        size_t a = nodes[joins[t].a].place, b = nodes[joins[t].b].place;
        join_pair(s, a < b ? a : b, a < b ? b : a);
    }
    forget_joined(s);
}

/* The evidence of the partition after each of the tree's joins is a lower bound of F there: takes the level with the
 * largest one, if that is above F. */
static ast_status climb(search *s, bool *climbed, ast_fault *fault) {
    size_t leaves = s->count, dimension = s->prior.dimension;
    int64_t *sums = ast_allocate(leaves * dimension, sizeof *sums);
    ast_joined *joins = ast_allocate(leaves, sizeof *joins);
    node *nodes = ast_allocate(2 * leaves, sizeof *nodes);
    ast_joiner *joiner = NULL;
    *climbed = false;
    for (size_t i = 0; i < leaves * dimension && sums; i++)
        sums[i] = llrint(s->sums[i] * AST_DISTINCT_UNIT);
    if (sums && joins && nodes) {
        ast_leaves given = {.count = leaves, .dimension = dimension, .sums = sums, .unit = AST_DISTINCT_UNIT};
        joiner = ast_joiner_open(&given, AST_PRICE_LOSS, s->l->rows.kernels, s->l->pool);
    }
    if (joiner) {
        double highest;
        for (size_t k = 0; k < leaves; k++)
            nodes[k] = node_of(s, s->mass[k], s->lengths[k], k);
        size_t made = best_level(s, joiner, nodes, joins, &highest);
        *climbed = made > 0 && highest > s->evidence + LEAST_GAIN;
        take_level(s, nodes, joins, *climbed ? made : 0);
    }
    bool ready = joiner != NULL;
    ast_joiner_close(joiner);
    free(sums);
    free(joins);
    free(nodes);
    return ready ? AST_OK : ast_fail_memory(fault);
}

/* ---- The start ---- */

/* Many starts, so that every component gets some: more than the square root of the points, a sixteenth of few. */
static size_t first_count(const ast_labelling *l, const ast_options *o) {
    double points = (double)l->present, wanted = fmax(FEWEST, fmax(4 * sqrt(points), points / 16));
    if (o->clusters || o->start == AST_GIVEN)
        return o->clusters;
    return (size_t)fmin(points, fmin(MANY, wanted));
}

/* The squared chord from a start to the nearest other row. */
static double nearest_square(const search *s, size_t start) {
    const ast_labelling *l = s->l;
    const float *mean = l->clusters.means + (size_t)l->clusters.order[start] * l->rows.dimension;
    ast_row_buffer *rows = &l->workers[0].chunk.rows;
    double nearest = -1;
    for (size_t i = 0; i < l->rows.count; i++) {
        if (l->labels[i] == AST_MISSING || s->distinct.copies[i])
            continue;
        double cosine = ast_rows_exact_score(&l->rows, rows, i, mean);
        nearest = cosine < 1 - EQUAL ? fmax(nearest, cosine) : nearest;
    }
    return 2 - 2 * nearest;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Coarse values, by the median distance of neighbours at some starts: a uniform spread over a cell of that side has the
 * variance side^2 / 12 along each of D - 1 axes. Few distinct rows (a part with flat faces) are directions by
 * themselves, and cells far smaller than their distances. */
static void find_shrink(search *s, size_t distinct) {
    double squares[STARTS_SEEN] = {0};
    size_t seen = s->l->clusters.live < STARTS_SEEN ? s->l->clusters.live : STARTS_SEEN;
    for (size_t k = 0; k < seen && !ast_pool_poll(s->l->pool); k++)
        squares[k] = nearest_square(s, k);
    qsort(squares, seen, sizeof *squares, by_size);
    double side = sqrt(fmin(squares[seen / 2], 2)) / (distinct <= FEW_DIRECTIONS ? 8 : 1),
           room = (double)(s->l->rows.dimension - 1);
    s->shrink = fmax(LEAST_SHRINK, 1 - room * side * side / 24);
}

/* Every point with the nearest start, and which rows count. */
static ast_status open_partition(search *s, ast_fault *fault) {
    ast_options options = *s->m.run->options;
    ast_run start = *s->m.run;
    start.options = &options;
    options.clusters = first_count(s->l, &options);
    ast_status status = ast_run_nearest(s->l, &start, fault);
    if (status == AST_OK)
        status = ast_distinct_open(&s->distinct, s->l, fault);
    if (status != AST_OK)
        return status;
    size_t copies = 0;
    s->shrink = 1;
    for (size_t i = 0; i < s->l->rows.count; i++)
        copies += s->l->labels[i] != AST_MISSING && s->distinct.copies[i];
    if (2 * copies > s->l->present) {
        find_shrink(s, s->l->present - copies);
        memset(s->distinct.copies, 0, s->l->rows.count);
    }
    return ast_distinct_sum(&s->distinct, s->l, fault);
}

static bool open_arrays(search *s, size_t room) {
    size_t dimension = s->l->rows.dimension;
    s->mass = ast_allocate(room + 1, sizeof *s->mass);
    s->sums = ast_allocate(room * dimension, sizeof *s->sums);
    s->lengths = ast_allocate(room, sizeof *s->lengths);
    s->posteriors = ast_allocate(room, sizeof *s->posteriors);
    s->pairs = ast_allocate(room * (NEIGHBOURS + 1), sizeof *s->pairs);
    s->nearest = ast_allocate(room * NEIGHBOURS, sizeof *s->nearest);
    return s->mass && s->sums && s->lengths && s->posteriors && s->pairs && s->nearest;
}

/* The clusters of the labelling that have points that count. */
static void read_partition(search *s) {
    const ast_cluster_list *list = &s->l->clusters;
    size_t dimension = list->dimension;
    s->prior = (ast_kappa_prior){.dimension = dimension, .width = FIRST_WIDTH, .known = s->m.run->options->kappa};
    for (size_t k = 0; k < list->live; k++) {
        size_t slot = (size_t)list->order[k];
        if (s->distinct.counts[slot] == 0)
            continue;
        s->mass[s->count] = (double)s->distinct.counts[slot];
        for (size_t d = 0; d < dimension; d++)
            sum_of(s, s->count)[d] = (double)s->distinct.sums[slot * dimension + d] / AST_DISTINCT_UNIT;
        s->points += s->mass[s->count++];
    }
    s->mass[s->count] = 0;
    s->prior.centre = log((double)(dimension - 1));
}

/* The prior before anything is known: the kappa of every component together with its neighbour. Single points, of which
 * few points are the start, have none of their own. */
static void open_prior(search *s) {
    double lengths = 0, points = 0;
    describe(s);
    ast_pool_run(s->l->pool, s->count, find_nearest, s);
    for (size_t a = 0; a < s->count && s->count > 1; a++) {
        size_t b = s->nearest[a * NEIGHBOURS];
        lengths += s->shrink * length_of(sum_of(s, a), sum_of(s, b), s->prior.dimension);
        points += s->mass[a] + s->mass[b];
    }
    double kappa = points > 0 ? ast_vmf_kappa(s->prior.dimension, fmin(1, lengths / points)) : 0;
    if (kappa > 0)
        s->prior.centre = fmin(fmax(log(kappa), LEAST_CENTRE), log(ast_kappa_limit(s->prior.dimension)));
}

static ast_status open_search(search *s, ast_fault *fault) {
    size_t joined = 1;
    ast_status status = open_partition(s, fault);
    if (status == AST_OK && !open_arrays(s, s->l->clusters.live))
        status = ast_fail_memory(fault);
    if (status == AST_OK)
        read_partition(s);
    s->whole = true;
    if (status == AST_OK)
        open_prior(s);
    while (status == AST_OK && joined > 0)
        status = join(s, false, &joined, fault);
    if (status == AST_OK)
        status = ast_mixture_open(&s->m, s->count, fault);
    if (status == AST_OK && !ast_components_open(&s->best, s->count, s->l->rows.dimension))
        status = ast_fail_memory(fault);
    if (status != AST_OK)
        return status;
    s->m.copies = s->distinct.copies;
    s->best_evidence = -INFINITY;
    for (size_t k = 0; k < s->count; k++) /* where a sum has no direction, any will do */
        s->m.c->means[k * s->prior.dimension] = 1;
    if (s->m.run->options->background) {
        ast_components_add_background(s->m.c, AST_FIRST_SHARE);
        s->mass[s->count] = s->points * AST_FIRST_SHARE;
    }
    return AST_OK;
}

static void close_search(search *s) {
    void *memory[] = {s->mass, s->sums, s->lengths, s->posteriors, s->pairs, s->nearest, s->overlaps};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    ast_components_free(&s->best);
    ast_distinct_free(&s->distinct);
    ast_mixture_close(&s->m);
}

/* ---- The search ---- */

/* EM and joins until F stands still; begins with the M step. */
static ast_status settle(search *s, double tolerance, ast_fault *fault) {
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
        status = join(s, false, &joined, fault);
        if (status != AST_OK || (run->converged && joined == 0))
            return status;
        if (joined > 0)
            last = -INFINITY;
    }
}

static void keep_best(search *s, int *misses) {
    ++*misses;
    if (s->evidence <= s->best_evidence)
        return;
    ast_components_copy(&s->best, s->m.c);
    s->best_prior = s->prior;
    s->best_evidence = s->evidence;
    *misses = 0;
}

/* Back to the best components; their E step. */
static ast_status take_best(search *s, ast_fault *fault) {
    ast_components_copy(s->m.c, &s->best);
    s->prior = s->best_prior;
    return expect(s, fault);
}

static ast_status descend(search *s, ast_fault *fault) {
    int misses = 0;
    for (;;) {
        bool climbed = false;
        size_t joined = 0;
        ast_status status = settle(s, fmax(ROUGH, s->m.run->options->tolerance), fault);
        if (status != AST_OK)
            return status;
        keep_best(s, &misses);
        if (s->count == 1 || misses == MOST_MISSES)
            return AST_OK;
        status = climb(s, &climbed, fault);
        if (status == AST_OK && !climbed)
            status = join(s, true, &joined, fault);
        if (status != AST_OK)
            return status;
    }
}

/* ---- The result ---- */

/* Shares and means of rows with their weights, the most probable kappas; then labels and likelihood. */
static ast_status make_result(search *s, ast_fault *fault) {
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
        for (size_t d = 0; d < dimension; d++)
            squares += (double)sum[d] * (double)sum[d];
        for (size_t d = 0; d < dimension && squares > 0 && k < c->count; d++)
            c->means[k * dimension + d] = (double)sum[d] / sqrt(squares);
        c->kappas[k] = k < c->count ? fmin(ast_kappa_limit(dimension), s->posteriors[k].kappa) : 0;
    }
    if (status == AST_OK)
        status = ast_mixture_hold_kappas(&s->m, &s->distinct, &s->best, false, fault);
    ast_components_prepare(c);
    return status == AST_OK ? ast_mixture_expect(&s->m, &changed, fault) : status;
}

/* A component that is the best one of no point, or `count`. */
static ast_status find_empty(const search *s, size_t *empty, ast_fault *fault) {
    const ast_labelling *l = s->l;
    uint8_t *named = ast_allocate_zero(s->count + 1, 1);
    if (!named)
        return ast_fail_memory(fault);
    for (size_t i = 0; i < l->rows.count; i++)
        if (l->labels[i] >= 0)
            named[l->labels[i]] = 1;
    for (*empty = 0; *empty < s->count && named[*empty];)
        ++*empty;
    free(named);
    return AST_OK;
}

/* A mixture may have a broad component below others that is the best one nowhere. Such a one is no cluster: the search
 * goes on without it. */
static ast_status finish(search *s, ast_fault *fault) {
    ast_run *run = s->m.run;
    for (;;) {
        size_t empty = 0;
        ast_status status = settle(s, run->options->tolerance, fault);
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

ast_status ast_run_auto(ast_labelling *l, ast_run *run, ast_fault *fault) {
    search s = {.m = {.l = l, .run = run, .c = &run->components}, .l = l};
    if (l->present == 0)
        return AST_OK;
    ast_status status = open_search(&s, fault);
    if (status == AST_OK)
        status = descend(&s, fault);
    if (status == AST_OK)
        status = take_best(&s, fault);
    if (status == AST_OK)
        status = finish(&s, fault);
    run->objective = s.evidence;
    if (status == AST_OK)
        status = ast_mixture_finish(&s.m, fault);
    close_search(&s);
    return status;
}
