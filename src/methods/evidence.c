/* SPDX-License-Identifier: MIT */
#include "evidence.h"

#include "asterism.h"
#include "clusters.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST (-4) /* the smallest kappa is 2^(FIRST / 2) */
#define FRESH 1000 /* joins after which the totals are computed anew: rounding errors add up */
#define REACH 3    /* widths from its centre at which a prior ends */

static const int widths[AST_WIDTHS] = {0, 2, 4};

double ast_evidence_constant(size_t dimension, double kappa) {
    return ast_vmf_log_density(dimension, kappa, 0) - ast_vmf_log_density(dimension, 0, 0);
}

static double kappa_of(int j) {
    return exp2((j + FIRST) / 2.0);
}

/* ln p_j of a normal prior over the grid. */
static void set_prior(ast_evidence *e, int width, int centre) {
    double *logs = e->logs[width][centre], sum = 0;
    int step = widths[width];
    for (int j = 0; j < AST_KAPPAS; j++) {
        int away = abs(j - centre);
        bool counts = step == 0 ? away == 0 : away <= REACH * step;
        logs[j] = counts ? (step ? -0.5 * away * away / (double)(step * step) : 0) : -INFINITY;
        sum += counts ? exp(logs[j]) : 0;
    }
    double log_sum = log(sum);
    for (int j = 0; j < AST_KAPPAS; j++)
        logs[j] -= log_sum;
}

/* The tables of constants and priors, when the first cluster needs them: often no two clusters are compared. */
static void prepare(ast_evidence *e) {
    for (int j = 0; j < AST_KAPPAS; j++)
        e->constants[j] = ast_evidence_constant(e->space, kappa_of(j));
    for (int width = 0; width < AST_WIDTHS; width++)
        for (int centre = 0; centre < AST_KAPPAS; centre++)
            set_prior(e, width, centre);
    e->prepared = true;
}

void ast_evidence_clear(ast_evidence *e) {
    e->nodes = e->clusters = e->leaves = e->joined_since_totals = 0;
    e->points = e->count_logs = 0;
    memset(e->totals, 0, sizeof e->totals);
}

bool ast_evidence_open(ast_evidence *e, size_t leaves, size_t dimension, double unit) {
    return ast_evidence_open_in(e, leaves, dimension, dimension, unit);
}

bool ast_evidence_open_in(ast_evidence *e, size_t leaves, size_t dimension, size_t space, double unit) {
    *e = (ast_evidence){.dimension = dimension, .space = space, .unit = unit, .row_scale = 1};
    return ast_replace_arrays(AST_REQUEST(e->counts, leaves), AST_REQUEST(e->sums, leaves * dimension),
                              AST_REQUEST(e->parts, leaves * AST_PRIORS), AST_REQUEST(e->places, 2 * leaves),
                              AST_REQUEST(e->logs, AST_WIDTHS));
}

void ast_evidence_close(ast_evidence *e) {
    ast_free_all(e->counts, e->sums, e->parts, e->places, e->logs);
}

/* ln sum_j p_j exp(given_j). */
static double integral(const double *logs, const double *given) {
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < AST_KAPPAS; j++)
        most = fmax(most, logs[j] + given[j]);
    for (int j = 0; j < AST_KAPPAS; j++)
        if (logs[j] > -INFINITY)
            sum += exp(logs[j] + given[j] - most);
    return most + log(sum);
}

/* ln m of the cluster in a place, under every prior; 0 for a single point, which says nothing about kappa. */
static void find_parts(ast_evidence *e, size_t place) {
    double n = e->counts[place], given[AST_KAPPAS], *part = e->parts + place * AST_PRIORS;
    memset(part, 0, AST_PRIORS * sizeof *part);
    if (n < 2)
        return;
    if (!e->prepared)
        prepare(e);
    double length = fmin(ast_sum_length(e->sums + place * e->dimension, e->dimension) / e->unit * e->row_scale, n);
    for (int j = 0; j < AST_KAPPAS; j++)
        given[j] = n * e->constants[j] - ast_evidence_constant(e->space, kappa_of(j) * length);
    for (int width = 0; width < AST_WIDTHS; width++)
        for (int centre = 0; centre < AST_KAPPAS; centre++)
            part[width * AST_KAPPAS + centre] = width == 0 ? given[centre] : integral(e->logs[width][centre], given);
}

/* Adds the part of a cluster to the totals, or with sign -1 subtracts it. */
static void add_part(ast_evidence *e, size_t place, int sign) {
    const double *part = e->parts + place * AST_PRIORS;
    for (int i = 0; i < AST_PRIORS; i++)
        e->totals[i] += sign * part[i];
    e->count_logs += sign * ast_n_log_n(e->counts[place]);
}

void ast_evidence_leaf(ast_evidence *e, double count, const int64_t *sum) {
    size_t place = e->leaves++;
    e->clusters++;
    e->places[e->nodes++] = (int32_t)place;
    e->counts[place] = count;
    memcpy(e->sums + place * e->dimension, sum, e->dimension * sizeof *sum);
    e->points += count;
    find_parts(e, place);
    add_part(e, place, 1);
}

/* The totals from all clusters, in order. A place without a node has a negative count. */
static void find_totals(ast_evidence *e) {
    memset(e->totals, 0, sizeof e->totals);
    e->count_logs = 0;
    for (size_t place = 0; place < e->leaves; place++)
        if (e->counts[place] >= 0)
            add_part(e, place, 1);
    e->joined_since_totals = 0;
}

bool ast_evidence_opposite(const ast_evidence *e, size_t a, size_t b) {
    const int64_t *first = e->sums + (size_t)e->places[a] * e->dimension;
    const int64_t *second = e->sums + (size_t)e->places[b] * e->dimension;
    double side = 0;
    for (size_t d = 0; d < e->dimension; d++)
        side += (double)first[d] * (double)second[d];
    return side < 0;
}

/* The new node takes the place of the first. */
void ast_evidence_join(ast_evidence *e, size_t a, size_t b, bool flipped) {
    size_t to = (size_t)e->places[a], from = (size_t)e->places[b];
    int64_t *sum = e->sums + to * e->dimension, *other = e->sums + from * e->dimension;
    add_part(e, to, -1);
    add_part(e, from, -1);
    for (size_t d = 0; d < e->dimension; d++)
        sum[d] += flipped ? -other[d] : other[d];
    e->counts[to] += e->counts[from];
    e->counts[from] = -1;
    e->places[e->nodes++] = (int32_t)to;
    e->clusters--;
    find_parts(e, to);
    add_part(e, to, 1);
    if (++e->joined_since_totals == FRESH)
        find_totals(e);
}

double ast_evidence_value(const ast_evidence *e) {
    double most = -INFINITY;
    for (int i = 0; i < AST_PRIORS; i++)
        most = fmax(most, e->totals[i]);
    return e->clusters ? most + e->count_logs - ast_n_log_n(e->points) : 0;
}
