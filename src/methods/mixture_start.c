/* SPDX-License-Identifier: MIT
 *
 * The start of the search for a number of components: the rows that count, clusters around many starts, and the first
 * prior of kappa. mixture_auto.c explains coarse values. */
#include "mixture_search.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST 64                      /* components to start from, or the number of points if that is smaller */
#define MANY 2048                      /* components to start from at most */
#define MOST_FIRST_KAPPA 1e4           /* of pairs of pieces; two points may be any */
#define FEW_AXES 8                     /* dimensions of axes; in more each start has as many points ... */
#define FEWEST_AXES 16                 /* ... but there are so many starts */
#define SPARE 16                       /* components that splits may add to the first joins */
#define FIRST_WIDTH 1.3862943611198906 /* two octaves */
#define STARTS_SEEN 256                /* from which the distance of neighbouring rows is estimated */
#define FEW_DIRECTIONS 64
#define EQUAL 0x1p-22       /* 1 - the cosine: rows that are closer are the same */
#define LEAST_ROW_SCALE 0.5 /* of x, in very coarse values */

/* Many starts, so that every component gets some: more than the square root of the points, a sixteenth of few. */
static size_t first_count(size_t present, double axes, const ast_options *o) {
    double points = (double)present, wanted = fmax(FEWEST, fmax(4 * sqrt(points), points / 16));
    if (o->clusters || o->start.by == AST_GIVEN)
        return o->clusters;
    if (axes > FEW_AXES) /* the second moments of a component need points */
        wanted = fmin(wanted, fmax(FEWEST_AXES, points / axes));
    return (size_t)fmin(points, fmin(MANY, wanted));
}

/* The squared chord from a start to the nearest other row. */
static double nearest_square(const ast_mixture_search *s, size_t start) {
    const float *mean = s->v.clusters->means + (size_t)s->v.clusters->order[start] * s->v.rows->dimension;
    double nearest = -1;
    for (size_t i = 0; i < s->v.rows->count; i++) {
        if (s->v.labels[i] == AST_MISSING || s->distinct.copies[i])
            continue;
        double cosine = ast_rows_exact_score(s->v.rows, s->v.buffer, i, mean);
        nearest = cosine < 1 - EQUAL ? fmax(nearest, cosine) : nearest;
    }
    return 2 - 2 * nearest;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A uniform spread over a cell has the variance side^2 / 12 along each of D - 1 axes. */
static void set_row_scale(ast_mixture_search *s, double side) {
    s->row_scale = fmax(LEAST_ROW_SCALE, 1 - (double)(s->v.rows->dimension - 1) * side * side / 24);
}

/* Coarse values, by the median distance of neighbours at some starts. Few distinct rows (a part with flat faces) are
 * exact directions, with cells far smaller than their distances. */
static void find_row_scale(ast_mixture_search *s, size_t distinct) {
    double squares[STARTS_SEEN] = {0};
    size_t seen = s->v.clusters->live < STARTS_SEEN ? s->v.clusters->live : STARTS_SEEN;
    for (size_t k = 0; k < seen && !ast_pool_poll(s->v.pool); k++)
        squares[k] = nearest_square(s, k);
    qsort(squares, seen, sizeof *squares, by_size);
    set_row_scale(s, sqrt(fmin(squares[seen / 2], 2)) / (distinct <= FEW_DIRECTIONS ? 8 : 1));
}

/* Every point with the nearest start, and which rows count. */
static ast_status open_partition(ast_mixture_search *s, ast_fault *fault) {
    ast_options options = *s->m.run->options;
    ast_run start = *s->m.run;
    start.options = &options;
    const ast_family *f = &s->m.c->family;
    options.clusters = first_count(s->v.present, f->kind == AST_FAMILY_WATSON ? (double)f->dimension : 0, &options);
    ast_status status = ast_start_and_assign(s->m.l, &start, fault);
    if (status == AST_OK)
        status = ast_distinct_open(&s->distinct, s->m.l, s->m.run->options->rounding, fault);
    if (status != AST_OK)
        return status;
    size_t copies = 0;
    s->row_scale = s->distinct.scale;
    for (size_t i = 0; i < s->v.rows->count; i++)
        copies += s->v.labels[i] != AST_MISSING && s->distinct.copies[i];
    if (2 * copies > s->v.present) {
        if (ast_components_are_vmf(s->m.c))
            find_row_scale(s, s->v.present - copies);
        memset(s->distinct.copies, 0, s->v.rows->count);
    }
    return ast_distinct_sum(&s->distinct, s->m.l, fault);
}

static bool open_caches(ast_mixture_search *s, size_t room) {
    const ast_family *f = &s->m.c->family;
    size_t features = s->v.rows->dimension, each = features + f->dimension * (f->dimension + 1);
    if (!ast_replace_arrays(AST_REQUEST(s->caches, room), AST_REQUEST(s->cached, room * each)))
        return false;
    for (size_t k = 0; k < room; k++) {
        double *at = s->cached + k * each;
        s->caches[k] = (ast_family_cache){0, at, at + features, at + features + f->dimension};
    }
    return true;
}

static bool open_arrays(ast_mixture_search *s, size_t room) {
    size_t dimension = s->v.rows->dimension;
    s->room = room;
    if (!ast_components_are_vmf(s->m.c) && !open_caches(s, room))
        return false;
    return ast_replace_arrays(AST_REQUEST(s->pieces.mass, room), AST_REQUEST(s->pieces.sums, room * dimension),
                              AST_REQUEST(s->pieces.group, room), AST_REQUEST(s->pieces.means, room * dimension),
                              AST_REQUEST(s->pieces.scratch, 2 * room)) &&
           ast_replace_arrays(AST_REQUEST(s->mass, room + 1), AST_REQUEST(s->sums, room * s->v.rows->dimension),
                              AST_REQUEST(s->lengths, room), AST_REQUEST(s->posteriors, room),
                              AST_REQUEST(s->pairs, room * (AST_JOIN_NEIGHBOURS + 1)),
                              AST_REQUEST(s->nearest, room * AST_JOIN_NEIGHBOURS), AST_REQUEST(s->best_of, room + 1),
                              AST_REQUEST(s->scratch, 4 * s->v.rows->dimension));
}

/* The clusters of the labelling that have points that count. */
static void read_partition(ast_mixture_search *s) {
    const ast_cluster_list *list = s->v.clusters;
    size_t dimension = list->dimension;
    s->prior = (ast_kappa_prior){
        .dimension = dimension, .width = FIRST_WIDTH, .fixed_kappa = s->m.run->options->mixture.kappa};
    for (size_t k = 0; k < list->live; k++) {
        size_t slot = (size_t)list->order[k];
        if (s->distinct.of.members[slot] == 0)
            continue;
        s->mass[s->count] = (double)s->distinct.of.members[slot];
        for (size_t d = 0; d < dimension; d++)
            ast_search_sum(s, s->count)[d] = (double)s->distinct.of.sums[slot * dimension + d] / AST_SUMS_UNIT;
        s->points += s->mass[s->count++];
    }
    s->mass[s->count] = 0;
    s->pieces.count = s->count;
    memcpy(s->pieces.mass, s->mass, s->count * sizeof *s->mass);
    memcpy(s->pieces.sums, s->sums, s->count * dimension * sizeof *s->sums);
    s->prior.centre = log((double)(dimension - 1));
    for (size_t k = 0; k <= s->room; k++)
        s->best_of[k] = -INFINITY;
}

/* The mean of ln |kappa| of components together with their neighbours, where they are not von Mises-Fisher. */
static void open_family_prior(ast_mixture_search *s) {
    size_t dimension = s->prior.dimension;
    double logs = 0, mass = 0;
    for (size_t a = 0; a < s->count && s->count > 1; a++) {
        ast_family_shape shape;
        size_t b = s->nearest[a * AST_JOIN_NEIGHBOURS];
        double n = s->mass[a] + s->mass[b];
        for (size_t d = 0; d < dimension; d++)
            s->scratch[d] = ast_search_sum(s, a)[d] + ast_search_sum(s, b)[d];
        ast_family_fit(&s->m.c->family, n, s->scratch, NAN, &shape);
        logs += n * log(fmin(MOST_FIRST_KAPPA, fmax(1, fabs(shape.kappa))));
        mass += n;
    }
    if (mass > 0)
        s->prior.centre = logs / mass;
}

/* The first prior: the kappa of every component together with its neighbour. A single point has no kappa of its own. */
static void open_prior(ast_mixture_search *s) {
    double lengths = 0, points = 0;
    ast_search_find_posteriors(s);
    ast_pool_each(s->v.pool, s->count, 1, ast_search_find_nearest, s);
    for (size_t a = 0; a < s->count && s->count > 1; a++) {
        size_t b = s->nearest[a * AST_JOIN_NEIGHBOURS];
        lengths += s->row_scale * ast_search_length(ast_search_sum(s, a), ast_search_sum(s, b), s->prior.dimension);
        points += s->mass[a] + s->mass[b];
    }
    if (!ast_components_are_vmf(s->m.c)) {
        open_family_prior(s);
        return;
    }
    double kappa = points > 0 ? ast_vmf_kappa(s->prior.dimension, fmin(1, lengths / points)) : 0;
    if (kappa > 0)
        s->prior.centre = fmin(fmax(log(kappa), AST_LEAST_LOG_KAPPA), log(ast_kappa_limit(s->prior.dimension)));
}

ast_status ast_search_start(ast_mixture_search *s, ast_fault *fault) {
    size_t joined = 1;
    ast_status status = open_partition(s, fault);
    if (status == AST_OK && !open_arrays(s, s->v.clusters->live))
        status = ast_fail_memory(fault);
    if (status == AST_OK)
        read_partition(s);
    s->hard = true;
    if (status == AST_OK)
        open_prior(s);
    while (status == AST_OK && joined > 0)
        status = ast_search_join(s, false, &joined, fault);
    s->room = (size_t)fmin((double)s->pieces.count, (double)s->count + SPARE);
    if (status == AST_OK)
        status = ast_mixture_open(&s->m, s->room, fault);
    if (status == AST_OK && !ast_components_open(&s->best, s->room, s->v.rows->dimension))
        status = ast_fail_memory(fault);
    if (status != AST_OK)
        return status;
    s->m.copies = s->distinct.copies;
    s->best_evidence = -INFINITY;
    for (size_t k = 0; k < s->room; k++) /* where a sum has no direction, any will do */
        s->m.c->means[k * s->prior.dimension] = 1;
    s->m.c->count = s->count;
    if (s->m.run->options->mixture.background) {
        ast_components_add_background(s->m.c, AST_FIRST_SHARE);
        s->mass[s->count] = s->points * AST_FIRST_SHARE;
    }
    return AST_OK;
}

void ast_search_close(ast_mixture_search *s) {
    ast_free_all(s->mass, s->sums, s->lengths, s->posteriors, s->pairs, s->nearest, s->overlaps, s->best_of, s->scratch,
                 s->caches, s->cached, s->pieces.mass, s->pieces.sums, s->pieces.group, s->pieces.means,
                 s->pieces.scratch);
    ast_components_free(&s->best);
    ast_distinct_free(&s->distinct);
    ast_mixture_close(&s->m);
}
