/* SPDX-License-Identifier: MIT
 *
 * An angle smaller than the spread of a set cuts it into pieces whose means are nearer to each other than that angle.
 * None of these means is the mean of the set. If the evidence (evidence.h) prefers one cluster to such a pair, both are
 * pieces of one set, and pieces of the same cluster are pieces of one set, too. The alpha95 of a piece is enlarged to
 * cover the confidence cone of the mean of its set. Only in two and three dimensions, where users publish the means. */
#include "call.h"

#include "degree.h"
#include "evidence.h"
#include "mean_error.h"
#include "memory.h"
#include "vmf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIMENSIONS 3
#define MOST_CLUSTERS 500 /* pairs of them are compared */
#define UNIT 0x1p30       /* of sums: 2^33 points would fit */

struct ast_pieces {
    ast_cluster_info *clusters;
    size_t count, dimension, *first; /* (count) a cluster of the same set that comes before, or itself */
    double angle;
    bool axial;
    ast_evidence evidence; /* of two clusters */
};

static bool are_looked_at(const ast_call *c, size_t clusters) {
    return c->options->method == AST_DP && c->options->merge.by == AST_MERGE_NONE &&
           c->points->dimension <= MOST_DIMENSIONS && clusters > 1 && clusters <= MOST_CLUSTERS;
}

bool ast_pieces_open(const ast_call *c, size_t clusters, ast_pieces **opened) {
    *opened = NULL;
    if (!are_looked_at(c, clusters))
        return true;
    ast_pieces *p = ast_allocate_zero(1, sizeof *p);
    if (!p)
        return false;
    p->count = clusters;
    p->dimension = c->points->dimension;
    p->angle = c->options->angle;
    p->axial = c->options->axial != 0;
    p->first = ast_allocate(clusters, sizeof *p->first);
    if (!p->first || !ast_evidence_open(&p->evidence, 2, p->dimension, UNIT)) {
        ast_free_all(p->first, p);
        return false;
    }
    *opened = p;
    return true;
}

void ast_pieces_close(ast_pieces *p) {
    if (p) {
        ast_evidence_close(&p->evidence);
        ast_free(p->first);
    }
    ast_free(p);
}

static size_t first_of(const ast_pieces *p, size_t k) {
    while (p->first[k] != k)
        k = p->first[k];
    return k;
}

static double cosine_between(const ast_pieces *p, const float *a, const float *b) {
    double cosine = ast_exact_score(a, b, p->dimension);
    return p->axial ? fabs(cosine) : cosine;
}

/* Whether the evidence is for one cluster in place of two. */
static bool are_pieces(ast_pieces *p, size_t a, size_t b) {
    ast_evidence *e = &p->evidence;
    const ast_cluster_info *both[2] = {&p->clusters[a], &p->clusters[b]};
    int64_t sum[MOST_DIMENSIONS];
    ast_evidence_clear(e);
    for (int i = 0; i < 2; i++) {
        for (size_t d = 0; d < p->dimension; d++)
            sum[d] = llrint(UNIT * both[i]->length * (double)both[i]->mean[d]);
        ast_evidence_leaf(e, both[i]->effective, sum);
    }
    double apart = ast_evidence_value(e);
    ast_evidence_join(e, 0, 1, p->axial && ast_evidence_opposite(e, 0, 1));
    return ast_evidence_value(e) >= apart;
}

static void find_sets(ast_pieces *p) {
    double least = cos(p->angle * AST_DEGREE);
    for (size_t a = 0; a < p->count; a++)
        for (size_t b = 0; b < a; b++) {
            size_t x = first_of(p, b), y = first_of(p, a);
            if (x != y && cosine_between(p, p->clusters[a].mean, p->clusters[b].mean) > least && are_pieces(p, a, b))
                p->first[x < y ? y : x] = x < y ? x : y;
        }
    for (size_t k = 0; k < p->count; k++)
        p->first[k] = first_of(p, k);
}

/* The mean of the set with this first piece, on the side of that piece, and its alpha95. */
static double find_mean(const ast_pieces *p, size_t first, double mean[MOST_DIMENSIONS]) {
    double n = 0, square = 0;
    memset(mean, 0, MOST_DIMENSIONS * sizeof *mean);
    for (size_t k = 0; k < p->count; k++) {
        const ast_cluster_info *info = &p->clusters[k];
        if (p->first[k] != first)
            continue;
        bool flipped = p->axial && ast_exact_score(info->mean, p->clusters[first].mean, p->dimension) < 0;
        n += info->effective;
        for (size_t d = 0; d < p->dimension; d++)
            mean[d] += (flipped ? -info->length : info->length) * (double)info->mean[d];
    }
    for (size_t d = 0; d < p->dimension; d++)
        square += mean[d] * mean[d];
    for (size_t d = 0; d < p->dimension; d++)
        mean[d] /= sqrt(square);
    double resultant = fmin(1, sqrt(square) / n);
    return ast_mean_error_of(p->dimension, n, resultant, ast_vmf_kappa(p->dimension, resultant)).alpha95;
}

static void widen(const ast_pieces *p, size_t first, size_t set) {
    double mean[MOST_DIMENSIONS], alpha95 = find_mean(p, first, mean);
    for (size_t k = 0; k < p->count; k++) {
        ast_cluster_info *info = &p->clusters[k];
        double cosine = 0;
        if (p->first[k] != first)
            continue;
        info->set = set;
        for (size_t d = 0; d < p->dimension; d++)
            cosine += mean[d] * (double)info->mean[d];
        double away = acos(fmin(1, p->axial ? fabs(cosine) : fmax(-1, cosine))) / AST_DEGREE;
        if (!(info->alpha95 >= away + alpha95))
            info->alpha95 = fmin(180, away + alpha95);
    }
}

static void widen_all(const ast_pieces *p) {
    size_t sets = 0;
    for (size_t k = 0; k < p->count; k++) {
        size_t last = p->count - 1;
        while (last > k && p->first[last] != k)
            last--;
        if (last > k && p->first[k] == k)
            widen(p, k, ++sets);
    }
}

void ast_pieces_enlarge_errors(ast_pieces *p, ast_cluster_info *clusters) {
    if (!p)
        return;
    p->clusters = clusters;
    for (size_t k = 0; k < p->count; k++)
        p->first[k] = k;
    find_sets(p);
    widen_all(p);
}
