/* SPDX-License-Identifier: MIT
 *
 * Proposals for points of five dimensions and more. Bounds sink and rise point by point, one for the few clusters that
 * move fast and one for the others; before a point is scored against all means, its own and the fast ones may settle
 * it. */
#include "propose.h"
#include "sparse_labelling.h"

#include <math.h>

#define KNOWS_NOTHING 2.0f /* above every score */

static const float *load_row(ast_labelling *l, ast_worker *worker, size_t i, size_t j) {
    if (l->windows)
        return ast_point_row(l, worker, i);
    float *buffer = l->cloud.in_place ? NULL : worker->row_memory + j * l->cloud.dimension;
    return ast_cloud_row(&l->cloud, i, buffer);
}

static void load_rows(ast_labelling *l, ast_worker *worker, size_t base) {
    if (worker->rows_loaded || l->cloud.sparse)
        return;
    ast_fetch_chunk(l, worker);
    for (size_t j = 0; j < l->chunk; j++)
        if (l->labels[base + j] != AST_MISSING)
            worker->rows[j] = load_row(l, worker, base + j, j);
    worker->rows_loaded = true;
}

/* The scores of n listed points (indices into the chunk) against the table, compact. */
static void score_list(ast_labelling *l, ast_worker *worker, const ast_table *table, size_t base, size_t n) {
    if (l->cloud.sparse) {
        ast_sparse_score_list(l, worker, table, base, n);
        return;
    }
    for (size_t j = 0; j < n; j++) {
        size_t at = worker->list[j];
        worker->picked[j] = worker->rows_loaded ? worker->rows[at] : load_row(l, worker, base + at, at);
    }
    l->kernels->score_rows(worker->picked, n, table, worker->compact, worker->row_scratch);
}

static size_t list_present(const ast_labelling *l, ast_worker *worker, size_t base, size_t first, size_t n) {
    size_t count = 0;
    for (size_t j = first; j < first + n; j++)
        if (l->labels[base + j] != AST_MISSING)
            worker->list[count++] = (uint32_t)j;
    return count;
}

void ast_large_others(ast_labelling *l, ast_worker *worker, const ast_table *table, size_t first, size_t n) {
    size_t base = first / l->chunk * l->chunk;
    load_rows(l, worker, base);
    size_t count = list_present(l, worker, base, first - base, n);
    score_list(l, worker, table, base, count);
    for (size_t j = 0; j < count; j++) {
        size_t at = worker->list[j] - (first - base);
        worker->other.best[at] = worker->compact.best[j];
        worker->other.second[at] = worker->compact.second[j];
        worker->other.id[at] = worker->compact.id[j];
    }
}

/* Takes the compact scores of listed points over. */
static void scatter(ast_worker *worker, size_t n) {
    for (size_t j = 0; j < n; j++) {
        size_t at = worker->list[j];
        worker->scores.best[at] = worker->compact.best[j];
        worker->scores.second[at] = worker->compact.second[j];
        if (worker->third)
            worker->third[at] = worker->compact.second[j];
        worker->scores.id[at] = worker->compact.id[j];
    }
    worker->scored += n;
}

/* Axial: a listed point that now stands on the other side of its mean has a score that decides nothing. */
static void doubt_turned(ast_labelling *l, ast_worker *worker, size_t base, size_t n) {
    size_t dimension = l->cloud.dimension;
    for (size_t j = 0; j < n && l->axial; j++) {
        size_t at = worker->list[j], i = base + at;
        if (l->labels[i] < 0 || worker->scores.id[at] != l->labels[i])
            continue;
        const float *mean = l->start_means + (size_t)l->labels[i] * dimension;
        if ((l->kernels->dot(worker->picked[j], mean, dimension) < 0) != ast_is_turned(l->signs, i))
            worker->scores.second[at] = worker->compact.second[j] = worker->scores.best[at];
    }
}

void ast_large_all(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t base = chunk * l->chunk;
    load_rows(l, worker, base);
    size_t count = list_present(l, worker, base, 0, l->chunk);
    score_list(l, worker, ast_current_table(l, worker), base, count);
    scatter(worker, count);
    doubt_turned(l, worker, base, count);
    for (size_t i = base; i < base + l->chunk; i += AST_BLOCK) {
        size_t j = i - base;
        ast_scores scores = {worker->scores.best + j, worker->scores.second + j, worker->scores.id + j};
        uint64_t bits[AST_BLOCK / 64];
        l->blocks[i / AST_BLOCK].attention =
            l->kernels->screen(scores, l->labels + i, AST_ALL_GROUPS, ast_deciding_score(l, worker), l->margin,
                               !l->first || l->axial, bits);
    }
}

/* Lets the bounds of a block sink and rise by what the means have moved since the last pass. Points that have not met
 * every event of it know nothing of the fast clusters. */
static void advance(const ast_labelling *l, ast_worker *worker, size_t b, bool informed) {
    float *best = worker->scores.best, *second = worker->scores.second, *third = worker->third;
    for (size_t i = b * AST_BLOCK; i < (b + 1) * AST_BLOCK; i++) {
        int32_t label = l->labels[i];
        size_t j = i - worker->base;
        if (label < 0)
            continue;
        if (l->regrouped)
            second[j] = third[j] = second[j] > third[j] ? second[j] : third[j];
        best[j] -= l->move_of[label];
        second[j] += l->slow.most[label == l->slow.fastest];
        third[j] = informed ? third[j] + l->quick.most[label == l->quick.fastest] : KNOWS_NOTHING;
    }
}

static bool is_settled(const ast_labelling *l, const ast_worker *worker, size_t at) {
    float best = worker->scores.best[at], second = worker->scores.second[at], third = worker->third[at];
    return best >= ast_deciding_score(l, worker) && best - (second > third ? second : third) > l->margin;
}

/* Lists the points of block b, in the chunk, that may have changed. */
static size_t list_block(ast_labelling *l, ast_worker *worker, size_t b, size_t count) {
    size_t first = b * AST_BLOCK - worker->base;
    float *rival = worker->other.second;
    for (size_t j = 0; j < AST_BLOCK; j++)
        rival[j] = fmaxf(worker->scores.second[first + j], worker->third[first + j]);
    uint32_t *list = worker->list + count;
    size_t listed = l->kernels->narrow(worker->scores.best + first, rival, l->labels + worker->base + first, AST_BLOCK,
                                       ast_deciding_score(l, worker), l->margin + 0x1p-22f, list);
    for (size_t j = 0; j < listed; j++)
        list[j] += (uint32_t)first;
    return count + listed;
}

/* Before a point is compared with every mean, a fresh score against its own may do. Returns how many stay listed. */
static size_t tighten(ast_labelling *l, ast_worker *worker, size_t n) {
    size_t left = 0, dimension = l->cloud.dimension;
    for (size_t j = 0; j < n; j++) {
        size_t at = worker->list[j], i = worker->base + at;
        float *best = &worker->scores.best[at];
        if (*best > AST_NO_SCORE) {
            const float *mean = l->start_means + (size_t)l->labels[i] * dimension;
            *best = l->cloud.sparse ? ast_sparse_score(l, i, mean)
                                    : l->kernels->dot(load_row(l, worker, i, at), mean, dimension);
            *best = l->axial && ast_is_turned(l->signs, i) ? -*best : *best;
        }
        if (!is_settled(l, worker, at))
            worker->list[left++] = worker->list[j];
    }
    return left;
}

/* ... and then fresh scores against the fast clusters. */
static size_t challenge(ast_labelling *l, ast_worker *worker, size_t n) {
    if (l->carry.count == 0)
        return n;
    size_t left = 0;
    score_list(l, worker, &l->carry, worker->base, n);
    for (size_t j = 0; j < n; j++) {
        size_t at = worker->list[j];
        bool own = worker->compact.id[j] == l->labels[worker->base + at]; /* no rival of itself */
        worker->third[at] = own ? worker->compact.second[j] : worker->compact.best[j];
        if (!is_settled(l, worker, at))
            worker->list[left++] = worker->list[j];
    }
    return left;
}

static void flag_undecided(ast_labelling *l, const ast_worker *worker, size_t base, size_t n) {
    for (size_t j = 0; j < n; j++) {
        size_t i = base + worker->list[j];
        float best = worker->scores.best[worker->list[j]], second = worker->compact.second[j];
        if (worker->compact.id[j] != l->labels[i] ||
            !(best >= ast_deciding_score(l, worker) && best - second > l->margin))
            l->blocks[i / AST_BLOCK].attention = true;
    }
}

void ast_large_bounded(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t base = chunk * l->chunk, count = 0;
    bool informed = ast_is_informed(l, chunk);
    if (!informed && 2 * l->carry.count > ast_current_table(l, worker)->count) {
        ast_propose_all(l, worker, chunk);
        return;
    }
    for (size_t b = base / AST_BLOCK; b < (base + l->chunk) / AST_BLOCK; b++) {
        l->blocks[b].attention = false;
        advance(l, worker, b, informed);
        count = list_block(l, worker, b, count);
    }
    ast_fetch_listed(l, worker, count);
    count = challenge(l, worker, tighten(l, worker, count));
    if (count == 0)
        return;
    score_list(l, worker, ast_current_table(l, worker), base, count);
    scatter(worker, count);
    doubt_turned(l, worker, base, count);
    flag_undecided(l, worker, base, count);
}
