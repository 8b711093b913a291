/* SPDX-License-Identifier: MIT
 *
 * Joins of components: of pairs of neighbours by their gain of F, overlaps included, or to a level of the tree of joins
 * at once. mixture_auto.c defines F. */
#include "mixture_search.h"

#include "memory.h"
#include "tree.h"

#include <stdlib.h>

#define LEAST_GAIN 1e-9
#define FORCED 16 /* a forced step joins one pair in so many components */
#define TINY 1e-9 /* memberships that add nothing to an overlap */
#define OVERLAP_UNIT 0x1p30

/* ---- Pairs ---- */

/* The components that lose least of sum |s_k| in a join with a. */
void ast_search_find_nearest(void *data, size_t a) {
    const ast_mixture_search *s = data;
    size_t *nearest = s->nearest + a * AST_JOIN_NEIGHBOURS, found = 0;
    double losses[AST_JOIN_NEIGHBOURS];
    for (size_t b = 0; b < s->count; b++) {
        if (b == a)
            continue;
        double both = ast_search_length(ast_search_sum(s, a), ast_search_sum(s, b), s->prior.dimension) * s->row_scale;
        double loss = s->lengths[a] + s->lengths[b] - both;
        size_t place = found < AST_JOIN_NEIGHBOURS ? found++ : AST_JOIN_NEIGHBOURS;
        for (; place > 0 && losses[place - 1] > loss; place--)
            if (place < AST_JOIN_NEIGHBOURS) {
                losses[place] = losses[place - 1];
                nearest[place] = nearest[place - 1];
            }
        if (place < AST_JOIN_NEIGHBOURS) {
            losses[place] = loss;
            nearest[place] = b;
        }
    }
}

static bool knows(const ast_mixture_search *s, size_t a, size_t b) {
    size_t known = s->count - 1 < AST_JOIN_NEIGHBOURS ? s->count - 1 : AST_JOIN_NEIGHBOURS;
    for (size_t i = 0; i < known; i++)
        if (s->nearest[a * AST_JOIN_NEIGHBOURS + i] == b)
            return true;
    return false;
}

static void list_pairs(ast_mixture_search *s) {
    size_t known = s->count - 1 < AST_JOIN_NEIGHBOURS ? s->count - 1 : AST_JOIN_NEIGHBOURS;
    s->pair_count = 0;
    for (size_t a = 0; a < s->count; a++) {
        for (size_t i = 0; i < known; i++) {
            size_t b = s->nearest[a * AST_JOIN_NEIGHBOURS + i];
            if (a < b || !knows(s, b, a))
                s->pairs[s->pair_count++] = (ast_join_candidate){.a = a < b ? a : b, .b = a < b ? b : a};
        }
        if (s->m.c->background && !s->hard)
            s->pairs[s->pair_count++] = (ast_join_candidate){.a = a, .b = s->count};
    }
}

static ast_kappa_posterior posterior_of_both(const ast_mixture_search *s, const ast_join_candidate *pair, double n) {
    const double *a = ast_search_sum(s, pair->a), *b = ast_search_sum(s, pair->b);
    size_t dimension = s->prior.dimension;
    if (ast_components_are_vmf(s->m.c))
        return ast_kappa_posterior_find(&s->prior, n, s->row_scale * ast_search_length(a, b, dimension));
    double sum[AST_WATSON_DIMENSION * (AST_WATSON_DIMENSION + 1) / 2];
    for (size_t d = 0; d < dimension; d++)
        sum[d] = a[d] + b[d];
    return ast_search_posterior(s, n, sum, NULL);
}

/* The gain of F if the memberships of the two do not overlap. */
static void price_pair(void *data, size_t p) {
    const ast_mixture_search *s = data;
    ast_join_candidate *pair = &s->pairs[p];
    double n = s->mass[pair->a] + s->mass[pair->b];
    pair->gain = ast_n_log_n(n) - ast_n_log_n(s->mass[pair->a]) - ast_n_log_n(s->mass[pair->b]) -
                 s->posteriors[pair->a].log_marginal;
    if (pair->b == s->count)
        return;
    pair->gain += posterior_of_both(s, pair, n).log_marginal - s->posteriors[pair->b].log_marginal;
}

/* Adds the entropy that joins of these points would lose, in fixed point: the sums do not depend on the threads. */
static void add_overlaps(void *data, ast_tile_memory *memory, size_t chunk, size_t first) {
    const ast_mixture_search *s = data;
    size_t n = s->m.tiles.tile;
    int64_t *overlaps = s->overlaps + (size_t)(memory - s->m.tiles.memory) * s->pair_count;
    (void)chunk;
    ast_tile_memberships(&s->m.tiles, first, s->m.c, memory);
    for (size_t p = 0; p < s->pair_count; p++) {
        const double *a = memory->logits + s->pairs[p].a * n, *b = memory->logits + s->pairs[p].b * n;
        for (size_t i = 0; s->pairs[p].overlap_unknown && i < n && first + i < s->v.rows->count; i++)
            if (a[i] > TINY && b[i] > TINY && s->v.labels[first + i] != AST_MISSING && !s->distinct.copies[first + i])
                overlaps[p] +=
                    llrint((ast_n_log_n(a[i] + b[i]) - ast_n_log_n(a[i]) - ast_n_log_n(b[i])) * OVERLAP_UNIT);
    }
}

/* Subtracts the overlaps of the pairs that could gain, or of all. */
static ast_status find_overlaps(ast_mixture_search *s, bool all, ast_fault *fault) {
    size_t open = 0, threads = (size_t)s->m.tiles.threads;
    for (size_t p = 0; p < s->pair_count; p++)
        open += s->pairs[p].overlap_unknown = !s->hard && (all || s->pairs[p].gain > 0);
    if (open == 0)
        return AST_OK;
    ast_free(s->overlaps);
    s->overlaps = ast_allocate_zero(threads * s->pair_count, sizeof *s->overlaps);
    if (!s->overlaps)
        return ast_fail_memory(fault);
    if (!ast_tiles_each(&s->m.tiles, add_overlaps, s))
        return ast_fail_cancelled(fault);
    for (size_t p = 0; p < s->pair_count; p++)
        for (size_t w = 0; w < threads && s->pairs[p].overlap_unknown; w++)
            s->pairs[p].gain -= (double)s->overlaps[w * s->pair_count + p] / OVERLAP_UNIT;
    return AST_OK;
}

static int by_gain(const void *a, const void *b) {
    const ast_join_candidate *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* Adds b to a, or a to the background. The component that was added keeps its place, with a negative mass. */
static void join_pair(ast_mixture_search *s, size_t a, size_t b) {
    bool background = b == s->count;
    size_t to = background ? b : a, from = background ? a : b;
    s->mass[to] += s->mass[from];
    s->mass[from] = -1;
    for (size_t d = 0; d < s->prior.dimension && !background; d++)
        ast_search_sum(s, to)[d] += ast_search_sum(s, from)[d];
}

static void forget_joined(ast_mixture_search *s) {
    for (size_t k = s->count; k-- > 0;)
        if (s->mass[k] < 0)
            ast_search_remove_sums(s, k);
}

/* Joins pairs that gain, the best first, no component twice; forced: the best even if it loses. One is always left. */
ast_status ast_search_join(ast_mixture_search *s, bool forced, size_t *joined, ast_fault *fault) {
    *joined = 0;
    if (s->count < 2)
        return AST_OK;
    ast_search_find_posteriors(s);
    ast_pool_each(s->v.pool, s->count, 1, ast_search_find_nearest, s);
    list_pairs(s);
    ast_pool_each(s->v.pool, s->pair_count, 1, price_pair, s);
    ast_status status = find_overlaps(s, forced, fault);
    if (status != AST_OK)
        return status;
    qsort(s->pairs, s->pair_count, sizeof *s->pairs, by_gain);
    size_t before = s->count;
    uint8_t *used = ast_allocate_zero(before + 1, 1);
    if (!used)
        return ast_fail_memory(fault);
    for (size_t p = 0; p < s->pair_count && *joined + 1 < before; p++) {
        const ast_join_candidate *pair = &s->pairs[p];
        if (pair->gain <= LEAST_GAIN && !(forced && *joined < (before + FORCED - 1) / FORCED))
            break;
        if (used[pair->a] || used[pair->b])
            continue;
        used[pair->a] = used[pair->b] = 1;
        join_pair(s, pair->a, pair->b);
        ++*joined;
    }
    ast_free(used);
    forget_joined(s);
    return ast_pool_cancelled(s->v.pool) ? ast_fail_cancelled(fault) : AST_OK;
}

/* ---- The tree: a level with fewer components at once ---- */

typedef struct node {
    double mass, length, value; /* value: what it adds to the evidence of a partition */
    size_t place;               /* the component that its leaves are added to */
} node;

static node node_of(const ast_mixture_search *s, double mass, double length, size_t place) {
    double marginal = ast_kappa_posterior_find(&s->prior, mass, length).log_marginal;
    return (node){mass, length, marginal + ast_log_gamma(mass + 1), place};
}

/* Joins all the way along the tree. nodes: (2 leaves), of which the leaves are set; joins: (leaves). Returns the number
 * of joins after which the evidence is largest, and that evidence. */
static size_t best_level(const ast_mixture_search *s, ast_joiner *joiner, node *nodes, ast_joined *joins,
                         double *highest) {
    size_t made = 0, best = 0;
    double value = ast_search_evidence(s);
    *highest = value;
    for (; ast_joiner_next(joiner, &joins[made]) && !ast_pool_poll(s->v.pool); made++) {
        const node *a = &nodes[joins[made].a], *b = &nodes[joins[made].b];
        size_t place = a->place < b->place ? a->place : b->place;
        node *into = &nodes[s->count + made];
        ast_joiner_join(joiner, &joins[made]);
        *into = node_of(s, a->mass + b->mass, a->length + b->length - s->row_scale * joins[made].loss, place);
        value += into->value - a->value - b->value + ast_search_log_count_prior(s, s->count - made - 1) -
                 ast_search_log_count_prior(s, s->count - made);
        if (value > *highest) {
            *highest = value;
            best = made + 1;
        }
    }
    return best;
}

/* Applies the first joins. */
static void apply_joins(ast_mixture_search *s, const node *nodes, const ast_joined *joins, size_t made) {
    for (size_t t = 0; t < made; t++) {
        size_t a = nodes[joins[t].a].place, b = nodes[joins[t].b].place;
        join_pair(s, a < b ? a : b, a < b ? b : a);
    }
    forget_joined(s);
}

/* The evidence of the partition after each of the tree's joins is a lower bound of F there: takes the level with the
 * largest one, if that is above F. */
ast_status ast_search_take_best_level(ast_mixture_search *s, bool *climbed, ast_fault *fault) {
    size_t leaves = s->count, dimension = s->prior.dimension;
    int64_t *sums = NULL;
    ast_joined *joins = NULL;
    node *nodes = NULL;
    ast_joiner *joiner = NULL;
    *climbed = false;
    if (!ast_components_are_vmf(s->m.c)) /* the tree knows lengths of sums alone */
        return AST_OK;
    if (ast_replace_arrays(AST_REQUEST(sums, leaves * dimension), AST_REQUEST(joins, leaves),
                           AST_REQUEST(nodes, 2 * leaves))) {
        for (size_t i = 0; i < leaves * dimension; i++)
            sums[i] = llrint(s->sums[i] * AST_SUMS_UNIT);
        ast_leaves given = {.count = leaves, .dimension = dimension, .sums = sums, .unit = AST_SUMS_UNIT};
        joiner = ast_joiner_open(&given, AST_PRICE_LOSS, s->v.rows->kernels, s->v.pool);
    }
    if (joiner) {
        double highest;
        for (size_t k = 0; k < leaves; k++)
            nodes[k] = node_of(s, s->mass[k], s->lengths[k], k);
        size_t made = best_level(s, joiner, nodes, joins, &highest);
        *climbed = made > 0 && highest > s->evidence + LEAST_GAIN;
        apply_joins(s, nodes, joins, *climbed ? made : 0);
    }
    bool ready = joiner != NULL;
    ast_joiner_close(joiner);
    ast_free_all(sums, joins, nodes);
    return ready ? AST_OK : ast_fail_memory(fault);
}
