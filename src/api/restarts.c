/* SPDX-License-Identifier: MIT
 *
 * Several restarts: which one is kept, and how far the others agree with it.
 *
 * DP-vMF-means keeps the run with the highest silhouette. Its objective pays for splits, so the best objective would be
 * the run with the most clusters. If a run found a single cluster, which has no silhouette, all runs are compared by
 * their evidence. The other methods keep the best objective. */
#include "call.h"

#include "content.h"
#include "measures.h"
#include "memory.h"
#include "partition.h"
#include "rounding.h"

#include <math.h>
#include <stdlib.h>

/* Rows and labels are those of the labelling, in the order of visit. */
ast_status ast_restart_measure(const ast_call *c, ast_result *r) {
    if (c->options->method != AST_DP || c->v.clusters->live < 2)
        return AST_OK;
    ast_measured given = {.rows = c->v.rows, .all = c->v.rows->count};
    ast_dissimilarity kind = c->options->axial ? AST_AXIAL_COSINE : AST_COSINE;
    return ast_silhouette_of(c->fault, c->context->pool, &given, c->v.labels, kind, c->options->seed,
                             &r->report.silhouette, NULL);
}

/* ---- Evidence, where a run has no silhouette --------------------------------------------------------------------- */

/* Adds up counts (K) and sums (K, D) of the distinct rows of a result; row: (D) scratch memory. Axial rows count from
 * the side of the mean. */
static void add_rows(const ast_call *c, const ast_result *r, const uint8_t *copies, float *row, int64_t *sums,
                     double *counts) {
    size_t dimension = c->points->dimension;
    for (size_t i = 0; i < c->points->count; i++) {
        int32_t label = r->labels[i];
        bool left_out = (c->points->weights && c->points->weights[i] == 0) || (c->points->late && c->points->late[i]);
        if (label < 0 || copies[i] || left_out)
            continue;
        ast_read_row(c->points, i, row);
        bool flipped = c->options->axial && ast_exact_score(row, r->clusters[label].mean, dimension) < 0;
        counts[label]++;
        for (size_t d = 0; d < dimension; d++)
            sums[(size_t)label * dimension + d] += llrint((flipped ? -1 : 1) * (double)row[d] * AST_SUMS_UNIT);
    }
}

static ast_status find_evidence(const ast_call *c, ast_result *r, const uint8_t *copies, double rounding) {
    size_t clusters = r->report.clusters, dimension = c->points->dimension;
    ast_evidence evidence = {0};
    float *row = ast_allocate(dimension, sizeof *row);
    int64_t *sums = ast_allocate_zero(clusters * dimension, sizeof *sums);
    double *counts = ast_allocate_zero(clusters, sizeof *counts);
    bool ready = row && sums && counts && ast_evidence_open(&evidence, clusters, dimension, AST_SUMS_UNIT);
    if (ready)
        evidence.row_scale = ast_rounding_scale(dimension, rounding);
    if (ready)
        add_rows(c, r, copies, row, sums, counts);
    for (size_t k = 0; k < clusters && ready; k++)
        ast_evidence_leaf(&evidence, counts[k], sums + k * dimension);
    r->evidence = ready ? ast_evidence_value(&evidence) : 0;
    ast_evidence_close(&evidence);
    ast_free_all(row, sums, counts);
    return ready ? AST_OK : ast_fail_memory(c->fault);
}

static ast_status find_all_evidence(const ast_call *c) {
    const ast_points *p = c->points;
    uint8_t *copies = ast_allocate(p->count, 1);
    ast_status status = copies
                            ? ast_find_copies(p, p->weights, c->options->axial != 0, c->context->pool, copies, c->fault)
                            : ast_fail_memory(c->fault);
    double rounding = 0;
    if (status == AST_OK)
        status =
            ast_rounding_find(p, c->options->axial != 0, c->options->rounding, c->context->pool, &rounding, c->fault);
    for (size_t i = 0; rounding > 0 && i < p->count; i++)
        copies[i] = p->weights && p->weights[i] == 0; /* copies are observations */
    for (int i = 0; i < c->options->restarts && status == AST_OK; i++)
        status = find_evidence(c, &c->results[i], copies, rounding);
    ast_free(copies);
    return status;
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

static ast_status choose(ast_call *c) {
    bool by_evidence = false;
    for (int i = 0; i < c->options->restarts; i++)
        by_evidence = by_evidence || isnan(c->results[i].report.silhouette);
    ast_status status = by_evidence ? find_all_evidence(c) : AST_OK;
    c->best = 0;
    for (int i = 1; i < c->options->restarts; i++) {
        const ast_result *a = &c->results[i], *b = &c->results[c->best];
        if (by_evidence ? a->evidence > b->evidence : a->report.silhouette > b->report.silhouette)
            c->best = i;
    }
    return status;
}

/* ---- Stability --------------------------------------------------------------------------------------------------- */

/* How often each label of two runs occurs, and each pair of labels. */
typedef struct overlap {
    uint64_t *mine, *theirs; /* (K of each run) */
    ast_counter pairs;       /* by label << 32 | other label */
} overlap;

static bool count_overlap(overlap *o, const ast_result *kept, const ast_result *other, size_t count) {
    o->mine = ast_allocate_zero(kept->report.clusters, sizeof *o->mine);
    o->theirs = ast_allocate_zero(other->report.clusters, sizeof *o->theirs);
    bool ready = o->mine && o->theirs;
    for (size_t i = 0; i < count && ready; i++) {
        int32_t a = kept->labels[i], b = other->labels[i];
        if (a >= 0)
            o->mine[a]++;
        if (b >= 0)
            o->theirs[b]++;
        if (a >= 0 && b >= 0)
            ready = ast_counter_add(&o->pairs, (uint64_t)a << 32 | (uint32_t)b, 1, NULL);
    }
    return ready;
}

/* For every cluster of the kept run the Jaccard index with the most similar cluster of another run is added to
 * jaccard (K). Ranks add up what they counted. */
static ast_status add_jaccard(const ast_call *c, const ast_result *other, double *jaccard) {
    const ast_result *kept = &c->results[c->best];
    const ast_comm *comm = c->context->comm;
    size_t clusters = kept->report.clusters;
    double *best = ast_allocate_zero(clusters, sizeof *best);
    overlap o = {0};
    bool ready = count_overlap(&o, kept, other, c->points->count) && best;
    ast_status status = ast_comm_agree(comm, ready ? AST_OK : ast_fail_memory(c->fault), c->fault);
    if (status == AST_OK && !ast_counter_share(&o.pairs, comm))
        status = ast_fail_memory(c->fault);
    if (status == AST_OK) {
        ast_comm_allreduce(comm, o.mine, clusters);
        ast_comm_allreduce(comm, o.theirs, other->report.clusters);
    }
    for (size_t i = 0; i < o.pairs.used && status == AST_OK; i++) {
        size_t a = o.pairs.entries[i].key >> 32, b = (uint32_t)o.pairs.entries[i].key, both = o.pairs.entries[i].count;
        best[a] = fmax(best[a], (double)both / (double)(o.mine[a] + o.theirs[b] - both));
    }
    for (size_t k = 0; k < clusters && status == AST_OK; k++)
        jaccard[k] += best[k];
    ast_counter_free(&o.pairs);
    ast_free_all(o.mine, o.theirs, best);
    return status;
}

/* The mean agreement with the other runs, of all points and of every cluster. */
static ast_status find_stability(ast_call *c) {
    ast_result *kept = &c->results[c->best];
    size_t clusters = kept->report.clusters, count = c->points->count;
    double *jaccard = ast_allocate_zero(clusters, sizeof *jaccard), ari = 0;
    int others = c->options->restarts - 1;
    const ast_comm *comm = c->context->comm;
    ast_status status = ast_comm_agree(comm, jaccard ? AST_OK : ast_fail_memory(c->fault), c->fault);
    for (int i = 0; i <= others && status == AST_OK; i++) {
        ast_agreement agreement;
        if (i == c->best)
            continue;
        status = ast_agreement_of(c->fault, comm, kept->labels, c->results[i].labels, count, &agreement);
        ari += agreement.ari / others;
        if (status == AST_OK)
            status = add_jaccard(c, &c->results[i], jaccard);
    }
    for (size_t k = 0; k < clusters && status == AST_OK; k++)
        kept->clusters[k].stability = jaccard[k] / others;
    kept->report.stability = status == AST_OK ? ari : NAN;
    ast_free(jaccard);
    return status;
}

ast_status ast_restarts_choose(ast_call *c) {
    ast_status status = c->options->method == AST_DP ? choose(c) : AST_OK;
    return status == AST_OK ? find_stability(c) : status;
}
