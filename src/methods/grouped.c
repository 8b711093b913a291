/* SPDX-License-Identifier: MIT
 *
 * Passes in which rows of one group never share a cluster. Points are visited in order, as in batch.c and kmeans.c;
 * clusters that already hold a point of the group in this pass are no candidates. So the first row of a photo takes the
 * nearest person, the next one the nearest of the others.
 *
 * The nearest cluster is computed for all points at once. If it is free for the point's group, the point joins it;
 * otherwise the point is compared with every cluster. Clusters that are born in a pass, or whose mean changes in it,
 * are compared one by one: a block of points at a time with the clusters that existed before the block. */
#include "grouped.h"

#include "mean_table.h"
#include "memory.h"
#include "methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256                /* points */
#define SCORES ((size_t)1 << 22) /* of a block at most, but for blocks of 16 */

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

typedef struct membership {
    int32_t group;
    uint32_t row;
} membership;

static int compare_memberships(const void *a, const void *b) {
    const membership *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

bool ast_groups_open(ast_groups *g, const int32_t *given, const uint32_t *order, size_t rows) {
    membership *all = ast_allocate(rows + 1, sizeof *all);
    bool ready = all && ast_replace_arrays(AST_REQUEST(g->of, rows + 1), AST_REQUEST(g->start, rows + 2),
                                           AST_REQUEST(g->member, rows + 1));
    size_t count = 0;
    g->count = 0;
    g->rows = rows;
    for (size_t i = 0; i < rows && ready; i++) {
        int32_t group = given[order ? order[i] : i];
        g->of[i] = -1;
        if (group >= 0)
            all[count++] = (membership){group, (uint32_t)i};
    }
    if (ready && count)
        qsort(all, count, sizeof *all, compare_memberships);
    for (size_t m = 0; m < count && ready; m++) {
        if (m == 0 || all[m].group != all[m - 1].group)
            g->start[g->count++] = m;
        g->of[all[m].row] = (int32_t)g->count - 1;
        g->member[m] = all[m].row;
    }
    if (ready)
        g->start[g->count] = count;
    ast_free(all);
    return ready;
}

void ast_groups_free(ast_groups *g) {
    ast_free_all(g->of, g->start, g->member);
    *g = (ast_groups){0};
}

static int compare_numbers(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

bool ast_group_lists_open(ast_group_lists *lists, const ast_groups *g, const ast_labelling_view *v) {
    const ast_cluster_list *c = v->clusters;
    size_t *place = ast_allocate(c->slots + 1, sizeof *place);
    bool ready =
        place && ast_replace_arrays(AST_REQUEST(lists->start, c->live + 2), AST_REQUEST(lists->of, g->rows + 1));
    if (ready)
        memset(lists->start, 0, (c->live + 2) * sizeof *lists->start);
    for (size_t k = 0; k < c->live && ready; k++)
        place[c->order[k]] = k;
    for (size_t i = 0; i < g->rows && ready; i++)
        if (v->labels[i] >= 0 && g->of[i] >= 0)
            lists->start[place[v->labels[i]] + 2]++;
    for (size_t k = 2; k < c->live + 2 && ready; k++)
        lists->start[k] += lists->start[k - 1];
    for (size_t i = 0; i < g->rows && ready; i++)
        if (v->labels[i] >= 0 && g->of[i] >= 0)
            lists->of[lists->start[place[v->labels[i]] + 1]++] = g->of[i];
    for (size_t k = 0; k < c->live && ready; k++)
        qsort(lists->of + lists->start[k], lists->start[k + 1] - lists->start[k], sizeof *lists->of, compare_numbers);
    ast_free(place);
    return ready;
}

void ast_group_lists_free(ast_group_lists *lists) {
    ast_free_all(lists->start, lists->of);
    *lists = (ast_group_lists){0};
}

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* Clusters have numbers here: 0..old-1 in order, then those born in this pass. */
typedef struct pass {
    ast_labelling *l;
    ast_labelling_view v;
    const ast_groups *groups;
    ast_grouped how;
    size_t old, all, capacity; /* clusters before the pass; now */
    double limit;              /* the smallest score that fits */
    int32_t *was, *now;        /* (rows) cluster before this pass, and in it; -1: none */
    int32_t *near;             /* (padded) slot of the nearest of the old clusters */
    double *fit;               /* (rows) score with the cluster that the point joined */
    int32_t *place;            /* (slots) the number of a slot */
    size_t *members;           /* (capacity) */
    uint32_t *taken;           /* (capacity) 1 + the row for which the cluster was found to be taken */
    uint8_t *moved;            /* (capacity) the mean has changed in this pass */
    ast_mean_table means;      /* of the old clusters, as before the pass */
    ast_mean_table fresh;      /* born, or moved */
    float *fresh_means;        /* (fresh, D) the same */
    size_t fresh_means_capacity;
    int32_t *fresh_of; /* (fresh) the cluster of an entry; the last entry of a cluster counts */
    size_t fresh_capacity, in_block;
    double *scores;       /* (most of the two tables) */
    double *block_scores; /* (BLOCK, in_block) with the fresh clusters before the block */
    size_t scores_capacity, block_capacity;
} pass;

static const float *mean_of(const pass *p, size_t k) {
    const ast_cluster_list *c = p->v.clusters;
    return c->means + (size_t)c->order[k] * c->dimension;
}

/* Whether a point of the group has joined the cluster in this pass before point i. */
static bool is_taken(const pass *p, size_t i, int32_t k) {
    int32_t g = p->groups->of[i];
    for (size_t m = g < 0 ? 0 : p->groups->start[g]; g >= 0 && p->groups->member[m] < i; m++)
        if (p->now[p->groups->member[m]] == k)
            return true;
    return false;
}

static void mark_taken(pass *p, size_t i) {
    int32_t g = p->groups->of[i];
    for (size_t m = g < 0 ? 0 : p->groups->start[g]; g >= 0 && p->groups->member[m] < i; m++)
        if (p->now[p->groups->member[m]] >= 0)
            p->taken[p->now[p->groups->member[m]]] = (uint32_t)i + 1;
}

/* Whether point i may join cluster k at all: it has points besides this one, or clusters may be empty. */
static bool is_candidate(const pass *p, size_t i, size_t k) {
    return p->how != AST_GROUPED_DP || p->members[k] > (size_t)(p->was[i] == (int32_t)k);
}

typedef struct choice {
    int32_t cluster; /* -1: none */
    double score;
} choice;

static void consider(choice *best, int32_t k, double score) {
    if (best->cluster < 0 || score > best->score || (score == best->score && k < best->cluster))
        *best = (choice){k, score};
}

/* The best of the old clusters. */
static choice best_old(pass *p, size_t i, const float *x) {
    choice best = {-1, -INFINITY};
    if (p->old == 0 || p->near[i] == AST_NOBODY)
        return best; /* none fits, and all may be too far only if clusters may be born */
    int32_t near = p->place[p->near[i]];
    if (!p->moved[near] && is_candidate(p, i, (size_t)near) && !is_taken(p, i, near))
        return (choice){near, ast_exact_score(x, mean_of(p, (size_t)near), p->v.rows->dimension)};
    mark_taken(p, i);
    ast_exact_scores(x, &p->means, p->scores);
    for (size_t k = 0; k < p->old; k++)
        if (!p->moved[k] && is_candidate(p, i, k) && p->taken[k] != i + 1)
            consider(&best, (int32_t)k, p->scores[k]);
    return best;
}

/* The best of the fresh clusters: scores of the first in_block are known. */
static void add_fresh(const pass *p, size_t i, const float *x, const double *known, choice *best) {
    size_t dimension = p->v.rows->dimension;
    for (size_t f = 0; f < p->fresh.count; f++) {
        int32_t k = p->fresh_of[f];
        if (k < 0 || !is_candidate(p, i, (size_t)k))
            continue;
        double score = f < p->in_block ? known[f] : ast_exact_score(x, p->fresh_means + f * dimension, dimension);
        bool better = best->cluster < 0 || score > best->score || (score == best->score && k < best->cluster);
        if (better && !is_taken(p, i, k))
            consider(best, k, score);
    }
}

/* Adds a mean to the fresh ones: of a cluster that is born, or that has lost all points but this one. */
static bool add_fresh_mean(pass *p, int32_t k, const float *x) {
    if (!ast_reserve(&p->fresh_of, &p->fresh_capacity, p->fresh.count, p->fresh.count + 1, sizeof *p->fresh_of))
        return false;
    for (size_t f = 0; f < p->fresh.count && (size_t)k < p->old && p->moved[k]; f++)
        p->fresh_of[f] = p->fresh_of[f] == k ? -1 : p->fresh_of[f];
    size_t dimension = p->v.rows->dimension, used = p->fresh.count * dimension;
    if (!ast_reserve(&p->fresh_means, &p->fresh_means_capacity, used, used + dimension, sizeof *x))
        return false;
    memcpy(p->fresh_means + used, x, dimension * sizeof *x);
    p->fresh_of[p->fresh.count] = k;
    return ast_mean_table_append(&p->fresh, x, k);
}

static bool reserve_clusters(pass *p, size_t count) {
    if (count <= p->capacity)
        return true;
    size_t capacity = 2 * count + 16;
    if (!ast_grow_array(&p->members, p->all, capacity, sizeof *p->members) ||
        !ast_grow_array(&p->taken, p->all, capacity, sizeof *p->taken) ||
        !ast_grow_array(&p->moved, p->all, capacity, sizeof *p->moved))
        return false;
    p->capacity = capacity;
    return true;
}

/* The point starts a cluster. false: no memory. */
static bool start(pass *p, size_t i, const float *x, ast_fault *fault) {
    size_t k = p->all;
    if (!reserve_clusters(p, k + 1) || !add_fresh_mean(p, (int32_t)k, x) ||
        ast_labelling_add_means(p->l, x, 1, fault) != AST_OK)
        return false;
    p->members[k] = 0;
    p->taken[k] = 0;
    p->moved[k] = 1;
    p->all++;
    p->now[i] = (int32_t)k;
    return true;
}

/* Decides point i, whose scores with the fresh clusters before its block are known. false: no memory. */
static bool visit(pass *p, size_t i, const float *x, const double *known, ast_fault *fault) {
    int32_t was = p->was[i];
    bool lone = was >= 0 && p->members[was] == 1;
    choice best = best_old(p, i, x);
    add_fresh(p, i, x, known, &best);
    bool good = true;
    if (best.cluster >= 0 && best.score >= p->limit)
        p->now[i] = best.cluster;
    else if (!lone)
        good = start(p, i, x, fault);
    else
        p->now[i] = was; /* it keeps its cluster, and is its mean */
    if (good && lone && p->now[i] == was && p->how == AST_GROUPED_DP) {
        good = add_fresh_mean(p, was, x);
        p->moved[was] = 1;
    }
    if (!good)
        return false;
    p->fit[i] = p->now[i] == best.cluster ? best.score : 1;
    if (was >= 0)
        p->members[was]--;
    p->members[p->now[i]]++;
    return true;
}

typedef struct block_job {
    pass *p;
    size_t first;
} block_job;

/* The scores of one point of a block with the fresh clusters. */
static void score_row(void *data, size_t j) {
    const block_job *job = data;
    const pass *p = job->p;
    float row[AST_MAX_DIMENSION];
    if (p->v.labels[job->first + j] != AST_MISSING)
        ast_exact_scores(ast_rowset_row(p->v.rows, job->first + j, row), &p->fresh,
                         p->block_scores + j * p->fresh.capacity);
}

static bool score_block(pass *p, size_t first, size_t count) {
    p->in_block = p->fresh.count;
    if (!ast_reserve(&p->block_scores, &p->block_capacity, 0, count * p->fresh.capacity + 1, sizeof(double)))
        return false;
    block_job job = {p, first};
    if (p->in_block)
        ast_pool_each(p->v.pool, count, 1, score_row, &job);
    return true;
}

/* All points in order. */
static ast_status visit_all(pass *p, ast_fault *fault) {
    float row[AST_MAX_DIMENSION];
    size_t rows = p->v.rows->count;
    for (size_t first = 0, count = 0; first < rows; first += count) {
        size_t stride = p->fresh.capacity, most = stride > SCORES / BLOCK ? SCORES / stride : BLOCK;
        most = most < 16 ? 16 : most;
        count = rows - first < most ? rows - first : most;
        if (ast_pool_poll(p->v.pool))
            return ast_fail_cancelled(fault);
        if (!score_block(p, first, count))
            return ast_fail_memory(fault);
        for (size_t j = 0; j < count; j++) {
            size_t i = first + j;
            p->now[i] = -1;
            if (p->v.labels[i] != AST_MISSING &&
                !visit(p, i, ast_rowset_row(p->v.rows, i, row), p->block_scores + j * stride, fault))
                return ast_fail_memory(fault);
        }
    }
    return AST_OK;
}

/* Every empty cluster, in order, takes the point that fits its own cluster worst, of equal ones the first. */
static void fill_empty(pass *p) {
    for (size_t k = 0; k < p->all; k++) {
        size_t worst = p->v.rows->count;
        for (size_t i = 0; i < p->v.rows->count && p->members[k] == 0; i++)
            if (p->now[i] >= 0 && p->members[p->now[i]] > 1 && (worst == p->v.rows->count || p->fit[i] < p->fit[worst]))
                worst = i;
        if (worst == p->v.rows->count)
            continue;
        p->members[p->now[worst]]--;
        p->members[k]++;
        p->now[worst] = (int32_t)k;
        p->fit[worst] = 1;
    }
}

/* Changes, and the hash of the labels after renumbering. */
static ast_pass_result count_changes(const pass *p, const int32_t *rank) {
    ast_pass_result result = {.label_hash = 0xcbf29ce484222325u};
    for (size_t i = 0; i < p->v.rows->count; i++) {
        int32_t label = p->now[i] < 0 ? -1 : rank[p->now[i]];
        result.changed += p->now[i] >= 0 && p->now[i] != p->was[i];
        result.scored += p->now[i] >= 0;
        result.label_hash = (result.label_hash ^ (uint32_t)label) * 0x100000001b3u;
    }
    return result;
}

/* The labelling takes the labels, and its clusters the means of their points. */
static ast_status apply(pass *p, ast_pass_result *result, ast_fault *fault) {
    int32_t *rank = ast_allocate(p->all + 1, sizeof *rank), live = 0;
    if (!rank)
        return ast_fail_memory(fault);
    for (size_t k = 0; k < p->all; k++)
        rank[k] = p->members[k] ? live++ : -1;
    *result = count_changes(p, rank);
    for (size_t i = 0; i < p->v.rows->padded; i++)
        p->near[i] = i >= p->v.rows->count || p->now[i] < 0 ? p->v.labels[i] : p->v.clusters->order[p->now[i]];
    ast_status status = ast_labelling_rebuild_from(p->l, p->near, NULL, fault);
    for (size_t i = 0; i < p->v.rows->count; i++)
        p->was[i] = p->now[i] < 0 ? -1 : rank[p->now[i]];
    ast_free(rank);
    return status;
}

static bool open_clusters(pass *p) {
    const ast_cluster_list *c = p->v.clusters;
    p->old = p->all = 0;
    if (!reserve_clusters(p, c->live) || !ast_replace_arrays(AST_REQUEST(p->place, c->slots + 1)))
        return false;
    p->old = p->all = c->live;
    ast_mean_table_clear(&p->means, c->dimension, false);
    ast_mean_table_clear(&p->fresh, c->dimension, false);
    p->in_block = 0;
    bool ready = true;
    for (size_t k = 0; k < c->live && ready; k++) {
        p->place[c->order[k]] = (int32_t)k;
        p->members[k] = p->taken[k] = p->moved[k] = 0;
        ready = ast_mean_table_append(&p->means, mean_of(p, k), (int32_t)k);
    }
    for (size_t i = 0; i < p->v.rows->count && ready; i++)
        if (p->was[i] >= 0)
            p->members[p->was[i]]++;
    return ready && ast_reserve(&p->scores, &p->scores_capacity, 0, p->means.capacity + 1, sizeof *p->scores);
}

static ast_status one_pass(pass *p, ast_pass_result *result, ast_fault *fault) {
    p->v = ast_view_of(p->l);
    if (!open_clusters(p))
        return ast_fail_memory(fault);
    ast_status status = AST_OK;
    if (p->old)
        status = ast_labelling_nearest(p->l, &(ast_nearest_query){.labels = p->near}, fault);
    if (status == AST_OK)
        status = visit_all(p, fault);
    p->v = ast_view_of(p->l); /* births have moved the list of clusters */
    if (status == AST_OK && p->how == AST_GROUPED_FIXED)
        fill_empty(p);
    return status == AST_OK ? apply(p, result, fault) : status;
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

static bool open_pass(pass *p) {
    size_t rows = p->v.rows->count;
    if (!ast_replace_arrays(AST_REQUEST(p->was, rows + 1), AST_REQUEST(p->now, rows + 1),
                            AST_REQUEST(p->near, p->v.rows->padded + 1), AST_REQUEST(p->fit, rows + 1)))
        return false;
    for (size_t i = 0; i < rows; i++)
        p->was[i] = -1;
    return true;
}

static void close_pass(pass *p) {
    ast_free_all(p->was, p->now, p->near, p->fit, p->place, p->members, p->taken, p->moved, p->fresh_of, p->fresh_means,
                 p->scores, p->block_scores);
    ast_mean_table_free(&p->means);
    ast_mean_table_free(&p->fresh);
}

/* The largest group must find as many clusters. */
static ast_status check_sizes(const pass *p, ast_fault *fault) {
    const ast_groups *g = p->groups;
    size_t clusters = p->v.clusters->live;
    for (size_t k = 0; k < g->count && p->how == AST_GROUPED_FIXED; k++) {
        size_t size = 0;
        for (size_t m = g->start[k]; m < g->start[k + 1]; m++)
            size += p->v.labels[g->member[m]] != AST_MISSING;
        uint32_t first = g->member[g->start[k]];
        if (size > clusters)
            return ast_fail(fault, AST_BAD_DATA,
                            "the group of row %zu (counting from 1) has %zu rows, but there are only %zu clusters; "
                            "rows of one group never share one",
                            (size_t)(p->v.rows->order ? p->v.rows->order[first] : first) + 1, size, clusters);
    }
    return AST_OK;
}

ast_status ast_iterate_grouped(ast_labelling *l, ast_run *run, ast_grouped how, double penalty, ast_fault *fault) {
    pass p = {.l = l, .v = ast_view_of(l), .groups = run->groups, .how = how};
    ast_labelling_set_rule(l, how == AST_GROUPED_DP ? &ast_dp_rule : &ast_nearest_rule,
                           how == AST_GROUPED_DP ? run->options->angle : NAN);
    p.limit = how == AST_GROUPED_DP ? ast_least_score(run->options->angle) : -INFINITY;
    ast_status status = open_pass(&p) ? check_sizes(&p, fault) : ast_fail_memory(fault);
    while (status == AST_OK && !run->converged && run->iterations < run->max_iterations) {
        ast_pass_result result = {0};
        bool repeats = false;
        run->pass_start = ast_seconds();
        status = one_pass(&p, &result, fault);
        if (status == AST_OK)
            status = ast_history_add(&run->history, result.label_hash, &repeats, fault);
        run->converged = status == AST_OK && (result.changed == 0 || repeats);
        if (status == AST_OK)
            status = ast_run_count_pass(l, run, penalty, &result, fault);
    }
    close_pass(&p);
    return status;
}

/* ---- Other rows -------------------------------------------------------------------------------------------------- */

ast_status ast_label_grouped(const ast_labelling *l, const ast_groups *g, const uint8_t *marked, const double *limits,
                             int32_t *labels, size_t *outliers, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_cluster_list *c = v.clusters;
    float row[AST_MAX_DIMENSION];
    uint32_t *taken = ast_allocate_zero(c->slots + 1, sizeof *taken);
    if (!taken)
        return ast_fail_memory(fault);
    for (size_t i = 0; i < v.rows->count; i++) {
        double best = -2;
        int32_t group = g->of[i];
        if (!marked[i])
            continue;
        for (size_t m = group < 0 ? 0 : g->start[group]; group >= 0 && m < g->start[group + 1]; m++)
            if (g->member[m] != i && labels[g->member[m]] >= 0)
                taken[labels[g->member[m]]] = (uint32_t)i + 1;
        labels[i] = AST_MISSING;
        const float *x = ast_rowset_row(v.rows, i, row);
        for (size_t k = 0; k < c->live; k++) {
            int32_t slot = c->order[k];
            if (taken[slot] == i + 1)
                continue;
            double score = ast_exact_score(x, c->means + (size_t)slot * c->dimension, c->dimension);
            if ((!limits || score >= limits[slot]) && (labels[i] < 0 || score > best)) {
                labels[i] = slot;
                best = score;
            }
        }
        *outliers += labels[i] < 0;
    }
    ast_free(taken);
    return AST_OK;
}
