/* SPDX-License-Identifier: MIT */
#include "tally_sums.h"

#include "first_items.h"
#include "memory.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

static void free_list(ast_kept_point_list *list) {
    ast_free_all(list->items, list->rows);
    *list = (ast_kept_point_list){0};
}

void ast_tally_free(ast_tally_sums *sums) {
    free_list(&sums->worst);
    free_list(&sums->nearest);
}

static bool reserve(ast_kept_point_list *list, size_t count, size_t dimension) {
    *list = (ast_kept_point_list){ast_allocate_zero(count, sizeof *list->items),
                                  ast_allocate_zero(count * dimension, sizeof *list->rows), count};
    if (list->items && list->rows)
        return true;
    free_list(list);
    return false;
}

static void copy_point(ast_kept_point_list *to, size_t at, const ast_kept_point_list *from, size_t i,
                       size_t dimension) {
    to->items[at] = from->items[i];
    memcpy(to->rows + at * dimension, from->rows + i * dimension, dimension * sizeof *to->rows);
}

/* Whether an empty cluster takes a before b. */
static bool fits_worse(const ast_kept_point *a, const ast_kept_point *b) {
    return a->score < b->score || (a->score == b->score && a->point < b->point);
}

size_t ast_tally_empty(const int64_t *members, size_t clusters) {
    size_t empty = 0;
    for (size_t k = 0; k < clusters; k++)
        empty += members[k] == 0;
    return empty;
}

static uint64_t label_hash_of(const ast_kept_point *known) {
    return ast_key(known->point) * (known->opposite ? 0x9e3779b97f4a7c15u : 1) * ast_mix64((uint64_t)known->label + 1);
}

/* ---- One part --------------------------------------------------------------------------------------------------- */

typedef struct gathering {
    ast_labelling_view v;
    uint64_t first;
    size_t clusters, empty;
    ast_kept_point *worst; /* (clusters) that fit worst */
    size_t worst_count;
    ast_kept_point *nearest; /* (clusters) by label */
} gathering;

static ast_kept_point keep_point(const gathering *g, size_t i, bool scored) {
    const ast_labelling_view v = g->v;
    ast_kept_point known = {
        .point = g->first + i, .weight = v.rows->weights ? v.rows->weights[i] : 1, .label = v.labels[i], .opposite = 0};
    if (v.rows->axial) {
        bool down = ast_rows_canonical(v.rows, v.buffer, i) == v.buffer->canonical;
        known.opposite = ast_is_flipped(v.signs, i) != down;
    }
    if (scored) {
        const float *mean = v.clusters->means + (size_t)known.label * v.rows->dimension;
        double score = ast_rows_exact_score(v.rows, v.buffer, i, mean);
        known.score = v.rows->axial ? fabs(score) : score;
    }
    return known;
}

static int by_fit(const void *a, const void *b) {
    return fits_worse(a, b) ? -1 : fits_worse(b, a);
}

/* Visits every point; computes its score only if it is needed. */
static uint64_t visit_points(gathering *g) {
    const ast_labelling_view v = g->v;
    uint64_t label_hash = 0;
    for (size_t i = 0; i < v.rows->count; i++) {
        if (v.labels[i] < 0)
            continue;
        bool few = (uint64_t)v.clusters->members[v.labels[i]] <= g->empty + 1;
        ast_kept_point known = keep_point(g, i, few || g->empty > 0);
        label_hash += label_hash_of(&known);
        if (g->empty > 0)
            ast_first_items_offer(g->worst, &g->worst_count, g->clusters, sizeof known, by_fit, &known);
        ast_kept_point *nearest = &g->nearest[known.label];
        if (few && (nearest->label < 0 || fits_worse(nearest, &known)))
            *nearest = known;
    }
    return label_hash;
}

/* Copies the points that have a label, with their rows. */
static bool make_list(const gathering *g, const ast_kept_point *items, size_t count, ast_kept_point_list *list) {
    const ast_labelling_view v = g->v;
    size_t dimension = v.rows->dimension, wanted = 0, at = 0;
    for (size_t j = 0; j < count; j++)
        wanted += items[j].label >= 0;
    if (!reserve(list, wanted, dimension))
        return false;
    for (size_t j = 0; j < count; j++) {
        if (items[j].label < 0)
            continue;
        const float *row = ast_rows_canonical(v.rows, v.buffer, (size_t)(items[j].point - g->first));
        list->items[at] = items[j];
        memcpy(list->rows + at++ * dimension, row, dimension * sizeof *row);
    }
    return true;
}

bool ast_tally_gather(ast_labelling *l, uint64_t first, ast_tally_sums *part) {
    const ast_labelling_view v = ast_view_of(l);
    size_t clusters = v.clusters->live;
    gathering g = {.v = v, .first = first, .clusters = clusters};
    *part = (ast_tally_sums){.sums = v.clusters->sums, .weights = v.clusters->weights, .members = v.clusters->members};
    g.empty = ast_tally_empty(part->members, clusters);
    bool ready = ast_replace_arrays(AST_REQUEST(g.worst, clusters), AST_REQUEST(g.nearest, clusters));
    for (size_t k = 0; ready && k < clusters; k++)
        g.nearest[k] = (ast_kept_point){.label = -1};
    if (ready) {
        part->label_hash = visit_points(&g);
        qsort(g.worst, g.worst_count, sizeof *g.worst, by_fit);
        ready =
            make_list(&g, g.worst, g.worst_count, &part->worst) && make_list(&g, g.nearest, clusters, &part->nearest);
    }
    if (!ready)
        free_list(&part->worst);
    ast_free_all(g.worst, g.nearest);
    return ready;
}

/* ---- Two parts -------------------------------------------------------------------------------------------------- */

/* The K worst of both. */
static bool join_worst(const ast_kept_point_list *a, const ast_kept_point_list *b, size_t most, size_t dimension,
                       ast_kept_point_list *joined) {
    size_t i = 0, j = 0, count = a->count + b->count < most ? a->count + b->count : most;
    if (!reserve(joined, count, dimension))
        return false;
    for (size_t at = 0; at < count; at++) {
        bool first = j == b->count || (i < a->count && fits_worse(&a->items[i], &b->items[j]));
        copy_point(joined, at, first ? a : b, first ? i++ : j++, dimension);
    }
    return true;
}

/* The nearest point of both, for each cluster that may be left with one point. */
static bool join_nearest(const ast_tally_sums *all, const ast_tally_sums *part, size_t clusters, size_t empty,
                         size_t dimension, ast_kept_point_list *joined) {
    const ast_kept_point_list *a = &all->nearest, *b = &part->nearest;
    size_t i = 0, j = 0, count = 0;
    if (!reserve(joined, a->count + b->count, dimension))
        return false;
    for (size_t k = 0; k < clusters; k++) {
        bool in_a = i < a->count && (size_t)a->items[i].label == k;
        bool in_b = j < b->count && (size_t)b->items[j].label == k;
        uint64_t members = (uint64_t)(all->members[k] + part->members[k]);
        if ((in_a || in_b) && members <= empty + 1) {
            bool first = !in_b || (in_a && fits_worse(&b->items[j], &a->items[i]));
            copy_point(joined, count++, first ? a : b, first ? i : j, dimension);
        }
        i += in_a;
        j += in_b;
    }
    joined->count = count;
    return true;
}

bool ast_tally_join(ast_tally_sums *all, const ast_tally_sums *part, size_t clusters, size_t dimension) {
    ast_kept_point_list worst = {0}, nearest = {0};
    size_t empty = 0;
    for (size_t k = 0; k < clusters; k++)
        empty += all->members[k] + part->members[k] == 0;
    if (!join_worst(&all->worst, &part->worst, empty ? clusters : 0, dimension, &worst))
        return false;
    if (!join_nearest(all, part, clusters, empty, dimension, &nearest)) {
        free_list(&worst);
        return false;
    }
    ast_tally_free(all);
    all->worst = worst;
    all->nearest = nearest;
    for (size_t j = 0; j < clusters * dimension; j++)
        all->sums[j] += part->sums[j];
    for (size_t k = 0; k < clusters; k++) {
        all->weights[k] += part->weights[k];
        all->members[k] += part->members[k];
    }
    all->points += part->points;
    all->missing += part->missing;
    all->changed += part->changed;
    all->label_hash += part->label_hash;
    return true;
}

/* ---- The end of an iteration ------------------------------------------------------------------------------------ */

/* Adds the row to the sum of the cluster, or with sign -1 subtracts it. */
static void add_row(ast_cluster_list *c, int32_t slot, const ast_kept_point *known, const float *row, int64_t sign) {
    bool weighted = c->weight_unit == c->unit;
    double factor = known->weight * c->unit;
    int64_t side = known->opposite ? -sign : sign;
    int64_t *sum = c->sums + (size_t)slot * c->dimension;
    for (size_t d = 0; d < c->dimension; d++) /* modulo 2^64: sums from elsewhere may be no sums of rows */
        sum[d] = (int64_t)((uint64_t)sum[d] + (uint64_t)(side * llrint((double)row[d] * factor)));
    c->weights[slot] += sign * (weighted ? llrint(factor) : 1);
    c->members[slot] += sign;
}

void ast_tally_fill(ast_tally_sums *all, ast_cluster_list *c, ast_tally_move *moves) {
    size_t next = 0, moved = 0;
    for (int32_t slot = 0; (size_t)slot < c->live; slot++) {
        if (c->members[slot] > 0)
            continue;
        while (c->members[all->worst.items[next].label] < 2)
            next++;
        ast_kept_point *known = &all->worst.items[next];
        const float *row = all->worst.rows + next++ * c->dimension;
        moves[moved++] = (ast_tally_move){known->point, known->label, slot};
        add_row(c, known->label, known, row, -1);
        all->label_hash -= label_hash_of(known);
        known->label = slot;
        known->opposite = 0;
        add_row(c, slot, known, row, 1);
        all->label_hash += label_hash_of(known);
    }
}

void ast_tally_means(const ast_tally_sums *all, ast_cluster_list *c, const ast_tally_move *moves, size_t moved) {
    size_t filled = 0, near = 0, at = 0;
    for (int32_t slot = 0; (size_t)slot < c->live; slot++) {
        while (near < all->nearest.count && all->nearest.items[near].label < slot)
            near++;
        if (filled < moved && moves[filled].to == slot) { /* its point is in the list of the worst */
            while (all->worst.items[at].point != moves[filled].point)
                at++;
            ast_clusters_set_mean(c, slot, all->worst.rows + at * c->dimension);
            filled++;
        } else if (c->members[slot] == 1) {
            ast_clusters_set_mean(c, slot, all->nearest.rows + near * c->dimension);
        } else {
            ast_clusters_update_mean(c, slot);
        }
    }
}
