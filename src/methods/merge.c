/* SPDX-License-Identifier: MIT
 *
 * Merging. A cluster is born from one point beyond the angle of all means. In many dimensions two members of a cluster
 * are farther from each other than from their mean, so one cluster is born many times, and nothing in the pass joins
 * its pieces. Merging does, after the run has converged:
 *
 *     evidence   the level of the tree of joins whose partition is the most probable (evidence.h)
 *     count      the level of the tree with a given number of clusters
 *     angle      the nearest two means join while they are closer than an angle; the mean of the two is computed anew
 *
 * After a merge to a level of the tree, points move to the cluster that explains them best, as long as the evidence
 * rises (refine.c). After a merge by angle every point joins the nearest mean, a few times at most; no cluster is born,
 * and empty ones are dropped; then the nearest means join again. Once no means join, points join the nearest mean until
 * no label changes; if means are then closer than the angle, all of this is repeated. These passes are at most
 * options.max_iterations in all; if none is left, the points of clusters that join stay together. */
#include "merge.h"

#include "degree.h"
#include "memory.h"
#include "methods.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW 16         /* one of so many clusters moved: each is compared with all others */
#define REPORTED 256   /* joins between two reports to the caller; fewer clusters join at once */
#define EARLY_PASSES 3 /* between two rounds of joins by angle: means that will join need not settle before */

typedef struct merging {
    ast_labelling *l;
    ast_labelling_view v;
    ast_run *run;
    size_t count, dimension; /* clusters before the merge */
    int64_t *sums;           /* (count, D) */
    int64_t *weights;        /* (count) */
    int64_t *members;        /* (count) */
    float *means;            /* (count, D) */
    ast_joined *joins;       /* (count - 1) of which `made` are known */
    size_t made;
    int32_t *group;        /* (2 count) the cluster that a node of the tree is part of */
    ast_group_lists lists; /* of the clusters, if rows have groups */
    uint8_t *moved;        /* (count) merge by angle: the mean is not one of those that were apart */
} merging;

/* Means that were apart by the angle of a merge; those that are the same now still are. */
typedef struct apart {
    size_t slots;
    float *means; /* (slots, D); a NaN first: the cluster had joined another */
} apart;

void ast_tree_free(ast_tree_of_run *tree) {
    ast_free_all(tree->joins, tree->leaves);
    *tree = (ast_tree_of_run){0};
}

static bool open_merging(merging *m) {
    const ast_cluster_list *c = m->v.clusters;
    size_t row = m->dimension = c->dimension;
    m->count = c->live;
    if (!ast_replace_arrays(AST_REQUEST(m->sums, m->count * row), AST_REQUEST(m->weights, m->count),
                            AST_REQUEST(m->members, m->count), AST_REQUEST(m->means, m->count * row),
                            AST_REQUEST(m->joins, m->count), AST_REQUEST(m->group, 2 * m->count)))
        return false;
    for (size_t k = 0; k < m->count; k++) {
        size_t slot = (size_t)c->order[k];
        memcpy(m->sums + k * row, c->sums + slot * row, row * sizeof *m->sums);
        memcpy(m->means + k * row, c->means + slot * row, row * sizeof *m->means);
        m->weights[k] = c->weights[slot];
        m->members[k] = c->members[slot];
    }
    return true;
}

static void close_merging(merging *m) {
    ast_free_all(m->sums, m->weights, m->members, m->means, m->joins, m->group, m->moved);
    ast_group_lists_free(&m->lists);
}

/* Tells the caller how many clusters are left. AST_CANCELLED if it asks to stop. */
static ast_status report_joins(const merging *m, ast_fault *fault) {
    ast_progress state = {.restart = m->run->restart,
                          .iteration = m->run->iterations,
                          .clusters = m->count - m->made,
                          .merging = 1,
                          .joining = 1};
    bool told = m->run->options && m->count >= REPORTED;
    return told ? ast_run_report_progress(m->run, &state, fault) : AST_OK;
}

/* Finds joins up to the price `most`. */
static ast_status find_joins(merging *m, ast_price price, double most, ast_fault *fault) {
    ast_status status = report_joins(m, fault);
    if (status == AST_OK && m->run->groups && !ast_group_lists_open(&m->lists, m->run->groups, &m->v))
        status = ast_fail_memory(fault);
    if (status != AST_OK)
        return status;
    ast_leaves leaves = {m->count,       m->dimension,        m->sums,
                         m->means,       m->v.clusters->unit, m->v.rows->axial,
                         m->lists.start, m->lists.of,         price == AST_PRICE_ANGLE ? most : 0,
                         m->moved};
    ast_joiner *joiner = ast_joiner_open(&leaves, price, m->v.rows->kernels, m->v.pool);
    if (!joiner)
        return ast_fail_memory(fault);
    for (m->made = 0; status == AST_OK && ast_joiner_next(joiner, &m->joins[m->made]); m->made++) {
        ast_joiner_join(joiner, &m->joins[m->made]);
        if (m->made % REPORTED == REPORTED - 1)
            status = report_joins(m, fault);
    }
    bool failed = ast_joiner_failed(joiner);
    ast_joiner_close(joiner);
    if (status != AST_OK)
        return status;
    if (failed)
        return ast_fail_memory(fault);
    return ast_pool_cancelled(m->v.pool) ? ast_fail_cancelled(fault) : AST_OK;
}

/* The same on all ranks, which find the same joins. status: of this rank so far. */
static ast_status agree_on_joins(merging *m, ast_price price, double most, ast_status status, ast_fault *fault) {
    if (status == AST_OK)
        status = find_joins(m, price, most, fault);
    return ast_comm_agree(m->v.comm, status, fault);
}

/* ---- The level --------------------------------------------------------------------------------------------------- */

/* The number of joins after which the evidence is largest; of equal ones the largest number. */
static ast_status best_level(const merging *m, const ast_distinct *distinct, size_t *best, ast_fault *fault) {
    const ast_cluster_list *c = m->v.clusters;
    ast_evidence evidence;
    double highest = -INFINITY;
    *best = 0;
    if (!ast_evidence_open(&evidence, m->count, m->dimension, AST_SUMS_UNIT))
        return ast_fail_memory(fault);
    evidence.row_scale = distinct->scale;
    for (size_t k = 0; k < m->count; k++) {
        size_t slot = (size_t)c->order[k];
        ast_evidence_leaf(&evidence, (double)distinct->of.members[slot], distinct->of.sums + slot * m->dimension);
    }
    for (size_t made = 0; made <= m->made && !ast_pool_poll(m->v.pool); made++) {
        double value = ast_evidence_value(&evidence);
        if (value >= highest) {
            highest = value;
            *best = made;
        }
        if (made < m->made)
            ast_evidence_join(&evidence, (size_t)m->joins[made].a, (size_t)m->joins[made].b, m->joins[made].flipped);
    }
    ast_evidence_close(&evidence);
    return ast_pool_cancelled(m->v.pool) ? ast_fail_cancelled(fault) : AST_OK;
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

/* The tree as the caller sees it. */
static void write_joins(const merging *m, ast_tree_join *out) {
    for (size_t t = 0; t < m->made; t++) {
        const ast_joined *join = &m->joins[t];
        size_t pair[2] = {(size_t)join->a, (size_t)join->b};
        out[t] = (ast_tree_join){
            .a = pair[0], .b = pair[1], .into = m->count + t, .loss = join->loss, .angle = join->angle / AST_DEGREE};
        for (int i = 0; i < 2; i++)
            out[t].count += pair[i] < m->count ? (size_t)m->members[pair[i]] : out[pair[i] - m->count].count;
    }
}

static ast_status write_leaves(const merging *m, const int32_t *place, int32_t *leaves, ast_fault *fault) {
    ast_status status = AST_OK;
    for (size_t n = 0; leaves && n < m->v.windows && status == AST_OK; n++) {
        status = ast_labelling_open_window(m->l, n, fault);
        size_t first = ast_view_of(m->l).window_first;
        for (size_t i = 0; i < m->v.rows->count && status == AST_OK; i++)
            leaves[first + i] = m->v.labels[i] < 0 ? -1 : place[m->v.labels[i]];
    }
    return status;
}

static ast_status keep_tree(const merging *m, ast_fault *fault) {
    ast_tree_of_run *tree = &m->run->tree;
    int32_t *place = ast_allocate(m->v.clusters->slots + 1, sizeof *place);
    tree->clusters = m->count;
    tree->joins = ast_allocate(m->count, sizeof *tree->joins);
    tree->leaves = m->run->options->merge.leaves ? ast_allocate(m->v.points, sizeof *tree->leaves) : NULL;
    bool ready = place && tree->joins && (tree->leaves || !m->run->options->merge.leaves);
    if (ready)
        write_joins(m, tree->joins);
    for (size_t k = 0; k < m->count && ready; k++)
        place[m->v.clusters->order[k]] = (int32_t)k;
    ast_status status = ready ? write_leaves(m, place, tree->leaves, fault) : ast_fail_memory(fault);
    ast_free(place);
    return status;
}

/* ---- The merged clusters ----------------------------------------------------------------------------------------- */

/* The merged cluster that cluster k is part of. */
static int32_t root_of(const merging *m, int32_t k) {
    while (m->group[k] != k)
        k = m->group[k];
    return k;
}

/* Applies the first `made` joins. The older cluster of a pair stays and gets the sum of both. */
static void apply_joins(merging *m, size_t made) {
    size_t row = m->dimension;
    for (size_t k = 0; k < m->count; k++)
        m->group[k] = (int32_t)k;
    for (size_t t = 0; t < made; t++) {
        int32_t a = root_of(m, m->group[m->joins[t].a]), b = root_of(m, m->group[m->joins[t].b]);
        int32_t to = a < b ? a : b, from = a < b ? b : a;
        const int64_t *first = m->sums + (size_t)a * row, *second = m->sums + (size_t)b * row;
        int64_t *sum = m->sums + (size_t)to * row;
        int sign = m->joins[t].flipped ? -1 : 1;
        for (size_t d = 0; d < row; d++)
            sum[d] = first[d] + sign * second[d];
        m->weights[to] += m->weights[from];
        m->weights[from] = -1; /* part of another cluster */
        m->group[from] = m->group[m->count + t] = to;
    }
}

/* The mean of a merged cluster. If the sum has no direction, the mean of its oldest part stays. */
static void set_mean(merging *m, size_t k) {
    const int64_t *sum = m->sums + k * m->dimension;
    const ast_cluster_list *c = m->v.clusters;
    double length = ast_sum_length(sum, m->dimension);
    if (length / c->unit <= (double)m->weights[k] / c->weight_unit * AST_ZERO_SUM)
        return;
    for (size_t d = 0; d < m->dimension; d++)
        m->means[k * m->dimension + d] = (float)((double)sum[d] / length);
}

/* Points lose their labels; the merged clusters replace all clusters, without points. */
static ast_status restart(merging *m, ast_fault *fault) {
    ast_status status = ast_labelling_restart(m->l, fault);
    ast_labelling_set_rule(m->l, &ast_merging_rule, NAN);
    for (size_t k = 0; k < m->count && status == AST_OK; k++) {
        if (m->weights[k] < 0)
            continue;
        set_mean(m, k);
        status = ast_labelling_add_means(m->l, m->means + k * m->dimension, 1, fault);
    }
    return ast_comm_agree(m->v.comm, status, fault);
}

/* Points of a cluster become points of the merged cluster that it is part of. */
static ast_status relabel(merging *m, ast_fault *fault) {
    const ast_cluster_list *c = m->v.clusters;
    int32_t *into = ast_allocate(c->slots, sizeof *into);
    float *means = ast_allocate(c->slots * m->dimension, sizeof *means);
    ast_status status = into && means ? AST_OK : ast_fail_memory(fault);
    for (size_t k = 0; k < m->count && status == AST_OK; k++) {
        size_t slot = (size_t)c->order[k];
        set_mean(m, k);
        into[slot] = c->order[root_of(m, (int32_t)k)];
        memcpy(means + slot * m->dimension, m->means + k * m->dimension, m->dimension * sizeof *means);
    }
    status = ast_comm_agree(m->v.comm, status, fault);
    if (status == AST_OK)
        status = ast_labelling_relabel(m->l, into, means, fault);
    ast_free_all(into, means);
    return status;
}

/* Every point joins the nearest mean, so many times at most or until nothing changes. Empty clusters are dropped. */
static ast_status join_nearest(ast_labelling *l, ast_run *run, double lambda, int passes, ast_fault *fault) {
    run->converged = 0;
    run->max_iterations = run->iterations + passes;
    if (!run->groups)
        return ast_iterate(l, run, lambda, fault);
    run->history.count = 0; /* labels of other clusters */
    return ast_iterate_grouped(l, run, AST_GROUPED_MERGING, lambda, fault);
}

/* Which means are not among those that were apart. Rows with groups: all, since their groups may have changed. */
static bool find_moved(merging *m, const apart *before) {
    size_t bytes = m->dimension * sizeof *m->means, moved = 0;
    if (!before->means || m->run->groups)
        return true;
    m->moved = ast_allocate(m->count, sizeof *m->moved);
    for (size_t k = 0; m->moved && k < m->count; k++) {
        size_t slot = (size_t)m->v.clusters->order[k];
        m->moved[k] = slot >= before->slots ||
                      memcmp(m->means + k * m->dimension, before->means + slot * m->dimension, bytes) != 0;
        moved += m->moved[k];
    }
    bool ready = m->moved != NULL;
    if (ready && moved * FEW > m->count) { /* all pairs at once are faster */
        ast_free(m->moved);
        m->moved = NULL;
    }
    return ready;
}

/* Before a restart, which numbers the merged clusters: keeps the means of those that did not join, and NaN for the
 * others. */
static bool keep_apart(merging *m, apart *kept) {
    size_t row = m->dimension;
    int32_t *number = m->group + m->count; /* the nodes of the tree are not needed now */
    if (!ast_replace_arrays(AST_REQUEST(kept->means, m->count * row)))
        return false;
    kept->slots = 0;
    for (size_t k = 0; k < m->count; k++) {
        if (m->weights[k] < 0)
            continue;
        number[k] = (int32_t)kept->slots;
        memcpy(kept->means + kept->slots++ * row, m->means + k * row, row * sizeof *m->means);
    }
    for (size_t k = 0; k < m->count; k++)
        if (m->weights[k] < 0)
            kept->means[(size_t)number[root_of(m, (int32_t)k)] * row] = NAN;
    return true;
}

/* The merged clusters, and passes in which points join the nearest mean, unless none is left: at most *left, which they
 * reduce. */
static ast_status settle_joins(merging *m, double lambda, apart *means, int *left, ast_fault *fault) {
    int before = m->run->iterations, passes = *left < EARLY_PASSES ? *left : EARLY_PASSES;
    apply_joins(m, m->made);
    if (*left <= 0)
        return relabel(m, fault);
    ast_status status = ast_comm_agree(m->v.comm, keep_apart(m, means) ? AST_OK : ast_fail_memory(fault), fault);
    if (status == AST_OK)
        status = restart(m, fault);
    m->run->repeats = AST_REPEATS_NONE;
    if (status == AST_OK)
        status = join_nearest(m->l, m->run, lambda, passes, fault);
    *left -= m->run->iterations - before;
    return status;
}

/* One round of the merge by angle: joins the nearest means, then points join the nearest mean. *joined: the number of
 * joins. */
static ast_status merge_round(ast_labelling *l, ast_run *run, double lambda, apart *means, int *left, size_t *joined,
                              ast_fault *fault) {
    merging m = {.l = l, .v = ast_view_of(l), .run = run};
    double most = 1 - ast_cosine(run->options->merge.angle);
    bool ready = open_merging(&m) && find_moved(&m, means);
    ast_status status = ast_labelling_finish(l, ready ? AST_OK : ast_fail_memory(fault), fault);
    status = agree_on_joins(&m, AST_PRICE_ANGLE, most, status, fault);
    *joined = m.made;
    if (status == AST_OK && m.made > 0)
        status = settle_joins(&m, lambda, means, left, fault);
    close_merging(&m);
    return status;
}

static ast_status merge_by_angle(ast_labelling *l, ast_run *run, double lambda, ast_fault *fault) {
    ast_status status = AST_OK;
    apart means = {0};
    int left = run->options->max_iterations;
    for (bool merged = false, done = false; !done && status == AST_OK;) {
        size_t joined;
        bool spent = left <= 0;
        status = merge_round(l, run, lambda, &means, &left, &joined, fault);
        merged |= joined > 0;
        done = spent || (joined == 0 && (!merged || run->converged));
        if (status != AST_OK || joined > 0 || done)
            continue;
        int before = run->iterations;
        status = join_nearest(l, run, lambda, left, fault);
        left -= run->iterations - before;
    }
    ast_free(means.means);
    return status;
}

/* ---- The options ------------------------------------------------------------------------------------------------- */

static ast_status check_count(const ast_options *o, size_t clusters, ast_fault *fault) {
    if (o->merge.by != AST_MERGE_COUNT || o->merge.count <= clusters)
        return AST_OK;
    return ast_fail(fault, AST_BAD_DATA, "the merge is to leave %zu clusters, but there %s only %zu before it",
                    o->merge.count, clusters == 1 ? "is" : "are", clusters);
}

/* Rows with groups: points join the nearest cluster that is free for them, until nothing changes. */
static ast_status settle_groups(merging *m, size_t made, double lambda, ast_fault *fault) {
    ast_run *run = m->run;
    ast_grouped how = run->options->merge.by == AST_MERGE_COUNT ? AST_GROUPED_FIXED : AST_GROUPED_MERGING;
    if (made == 0)
        return AST_OK;
    run->converged = 0;
    run->history.count = 0;
    run->max_iterations = run->iterations + run->options->max_iterations;
    return ast_iterate_grouped(m->l, run, how, lambda, fault);
}

/* Merges to the level of the tree that the evidence or the number of clusters determines. */
static ast_status merge_to_level(merging *m, double lambda, ast_fault *fault) {
    const ast_options *o = m->run->options;
    ast_distinct distinct = {0};
    size_t made = m->made;
    ast_status status = ast_distinct_open(&distinct, m->l, o->rounding, fault);
    if (status == AST_OK)
        status = ast_distinct_sum(&distinct, m->l, fault);
    if (status == AST_OK && o->merge.by == AST_MERGE_EVIDENCE)
        status = ast_comm_agree(m->v.comm, best_level(m, &distinct, &made, fault), fault);
    else if (o->merge.by == AST_MERGE_COUNT)
        made = m->count - o->merge.count;
    if (made > m->made && status == AST_OK)
        status =
            ast_fail(fault, AST_BAD_DATA,
                     "the merge is to leave %zu clusters, but rows of one group never share one: %zu is the fewest",
                     o->merge.count, m->count - m->made);
    if (status == AST_OK && made > 0) {
        apply_joins(m, made);
        status = relabel(m, fault);
    }
    if (status == AST_OK && m->run->groups)
        status = settle_groups(m, made, lambda, fault);
    else if (status == AST_OK)
        status = ast_run_refine_labels(m->l, m->run, &distinct, o->merge.by == AST_MERGE_COUNT, lambda, fault);
    ast_distinct_free(&distinct);
    return status;
}

/* Builds the tree, and merges to one of its levels. */
static ast_status merge_by_tree(ast_labelling *l, ast_run *run, double lambda, ast_fault *fault) {
    const ast_options *o = run->options;
    merging m = {.l = l, .v = ast_view_of(l), .run = run};
    ast_status status = open_merging(&m) ? check_count(o, m.count, fault) : ast_fail_memory(fault);
    status = agree_on_joins(&m, AST_PRICE_LOSS, INFINITY, ast_labelling_finish(l, status, fault), fault);
    if (status == AST_OK && o->merge.tree)
        status = ast_comm_agree(m.v.comm, keep_tree(&m, fault), fault);
    if (status == AST_OK && o->merge.by != AST_MERGE_NONE && o->merge.by != AST_MERGE_ANGLE)
        status = merge_to_level(&m, lambda, fault);
    close_merging(&m);
    return status;
}

ast_status ast_run_merge(ast_labelling *l, ast_run *run, ast_fault *fault) {
    const ast_cluster_list *clusters = ast_view_of(l).clusters;
    const ast_options *o = run->options;
    double lambda = o->method == AST_DP ? ast_cosine(o->angle) - 1 : 0;
    ast_status status = AST_OK;
    run->clusters_before_merge = clusters->live;
    if (o->merge.by == AST_MERGE_COUNT && clusters->live == 0)
        return check_count(o, 0, fault);
    if (clusters->live == 0)
        return AST_OK;
    if (o->merge.tree || o->merge.by == AST_MERGE_EVIDENCE || o->merge.by == AST_MERGE_COUNT)
        status = merge_by_tree(l, run, lambda, fault);
    if (status == AST_OK && o->merge.by == AST_MERGE_ANGLE)
        status = merge_by_angle(l, run, lambda, fault);
    return status;
}
