/* SPDX-License-Identifier: MIT
 *
 * Several restarts: which one is kept, and how far the others agree with it.
 *
 * DP-vMF-means keeps the run with the highest silhouette. Its objective pays for splits, so the best objective would be
 * the run with the most clusters. If a run found a single cluster, which has no silhouette, all runs are compared by
 * their evidence. The other methods keep the best objective. */
#include "call.h"

#include "evidence.h"
#include "measures.h"
#include "memory.h"
#include "partition.h"

#include <math.h>
#include <stdlib.h>

/* The evidence for the partition that the labelling holds. */
static ast_status find_evidence(const ast_labelling *l, double *value, ast_fault *fault) {
    const ast_cluster_list *c = &l->clusters;
    ast_evidence evidence;
    double total = 0, members = 0;
    for (size_t k = 0; k < c->live; k++) {
        total += ast_clusters_weight(c, c->order[k]);
        members += (double)c->members[c->order[k]];
    }
    if (!ast_evidence_open(&evidence, c->live, c->dimension, members, total))
        return ast_fail_memory(fault);
    for (size_t k = 0; k < c->live; k++)
        ast_evidence_leaf(&evidence, ast_clusters_weight(c, c->order[k]), ast_clusters_length(c, c->order[k]));
    *value = members > 0 ? ast_evidence_value(&evidence) : 0;
    ast_evidence_close(&evidence);
    return AST_OK;
}

/* The labelling's rows and labels in order of visit; slots are labels as good as any. */
ast_status ast_restart_measure(const ast_call *c, ast_labelling *l, ast_result *r, ast_fault *fault) {
    if (c->options->method != AST_DP)
        return AST_OK;
    ast_status status = find_evidence(l, &r->evidence, fault);
    if (status != AST_OK || l->clusters.live < 2)
        return status;
    ast_measured given = {.rows = &l->rows, .all = l->rows.count};
    ast_dissimilarity kind = c->options->axial ? AST_AXIAL_COSINE : AST_COSINE;
    return ast_silhouette_of(fault, c->context->pool, &given, l->labels, kind, c->options->seed, &r->report.silhouette,
                             NULL);
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

static int choose(const ast_call *c) {
    bool by_evidence = false;
    int best = 0;
    for (int i = 0; i < c->options->restarts; i++)
        by_evidence = by_evidence || isnan(c->results[i].report.silhouette);
    for (int i = 1; i < c->options->restarts; i++) {
        const ast_result *a = &c->results[i], *b = &c->results[best];
        if (by_evidence ? a->evidence > b->evidence : a->report.silhouette > b->report.silhouette)
            best = i;
    }
    return best;
}

/* ---- Stability --------------------------------------------------------------------------------------------------- */

/* For every cluster of the kept run the Jaccard index with the most similar cluster of another run is added to
 * jaccard (K). */
static bool add_jaccard(const ast_result *kept, const ast_result *other, size_t count, double *jaccard) {
    size_t clusters = kept->report.clusters;
    double *best = ast_allocate_zero(clusters, sizeof *best);
    size_t *mine = ast_allocate_zero(clusters, sizeof *mine);
    size_t *theirs = ast_allocate_zero(other->report.clusters, sizeof *theirs);
    ast_counter pairs = {0};
    bool ready = best && mine && theirs;
    for (size_t i = 0; i < count && ready; i++) {
        int32_t a = kept->labels[i], b = other->labels[i];
        if (a >= 0)
            mine[a]++;
        if (b >= 0)
            theirs[b]++;
        if (a >= 0 && b >= 0)
            ready = ast_counter_add(&pairs, (uint64_t)a << 32 | (uint32_t)b, 1, NULL);
    }
    for (size_t i = 0; i < pairs.used && ready; i++) {
        size_t a = pairs.entries[i].key >> 32, b = (uint32_t)pairs.entries[i].key, both = pairs.entries[i].count;
        best[a] = fmax(best[a], (double)both / (double)(mine[a] + theirs[b] - both));
    }
    for (size_t k = 0; k < clusters && ready; k++)
        jaccard[k] += best[k];
    ast_counter_free(&pairs);
    free(best);
    free(mine);
    free(theirs);
    return ready;
}

/* The mean agreement with the other runs, of all points and of every cluster. */
static ast_status find_stability(ast_call *c, ast_fault *fault) {
    ast_result *kept = &c->results[c->best];
    size_t clusters = kept->report.clusters, count = c->points->count;
    double *jaccard = ast_allocate_zero(clusters, sizeof *jaccard), ari = 0;
    int others = c->options->restarts - 1;
    ast_status status = jaccard ? AST_OK : ast_fail_memory(fault);
    for (int i = 0; i <= others && status == AST_OK; i++) {
        ast_agreement agreement;
        if (i == c->best)
            continue;
        status = ast_agreement_of(fault, NULL, kept->labels, c->results[i].labels, count, &agreement);
        ari += agreement.ari / others;
        if (status == AST_OK && !add_jaccard(kept, &c->results[i], count, jaccard))
            status = ast_fail_memory(fault);
    }
    for (size_t k = 0; k < clusters && status == AST_OK; k++)
        kept->clusters[k].stability = jaccard[k] / others;
    kept->report.stability = status == AST_OK ? ari : NAN;
    free(jaccard);
    return status;
}

/* Ranks have their own rows only, and a checkpoint the labels of the best run only: then nothing is compared. */
ast_status ast_restarts_choose(ast_call *c, ast_fault *fault) {
    if (c->options->method == AST_DP)
        c->best = choose(c);
    bool all = !c->context->comm;
    for (int i = 0; i < c->options->restarts; i++)
        all = all && c->results[i].labels;
    return all || c->points->count == 0 ? find_stability(c, fault) : AST_OK;
}
