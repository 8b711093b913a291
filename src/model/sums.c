/* SPDX-License-Identifier: MIT
 *
 * From labels to sums. Each worker adds what its chunks changed to sums of its own; when the pass is over they are
 * added to the clusters'. Integers: the order does not matter. */
#include "inside.h"

#include "memory.h"

#include <math.h>
#include <string.h>

/* Bins of sparse points have no components: sparse_sums.c adds those to the clusters' sums. */
static size_t bin_width(const ast_labelling *l) {
    if (l->rows.sparse)
        return 1;
    return l->rows.small ? AST_SUM_WIDTH(l->rows.dimension) : l->rows.dimension + 1;
}

/* The weight comes after the components of a bin. */
static size_t weight_at(const ast_labelling *l) {
    if (l->rows.sparse)
        return 0;
    return l->rows.dimension == 2 ? 3 : l->rows.dimension;
}

/* Adds the copies of each bin into the new, larger arrays. */
static void fold(const ast_labelling *l, const ast_bins *old, ast_bins *bins) {
    size_t width = bin_width(l);
    for (size_t copy = 0; copy < old->copies; copy++)
        for (size_t slot = 0; slot + AST_BIN_MARGIN < old->slots; slot++) {
            const int64_t *from = old->sums + (copy * old->slots + slot) * width;
            for (size_t d = 0; d < width; d++)
                bins->sums[slot * width + d] += from[d];
            bins->keys[slot] += old->keys[copy * old->slots + slot];
        }
}

bool ast_worker_reserve(ast_labelling *l, ast_worker *worker) {
    size_t needed = l->clusters.slots + AST_BIN_MARGIN, width = bin_width(l);
    if (needed <= worker->bins.slots)
        return true;
    size_t slots = 2 * needed, copies = l->rows.small && slots <= 256 ? 4 : 1, margin = AST_BIN_MARGIN;
    int64_t *sums = ast_allocate_zero((slots * copies + margin) * width, sizeof *sums);
    uint64_t *keys = ast_allocate_zero(slots * copies + margin, sizeof *keys);
    int64_t *joined = ast_allocate_zero(slots, sizeof *joined);
    uint8_t *used = ast_allocate_zero(slots, sizeof *used);
    if (!sums || !keys || !joined || !used) {
        ast_free_all(sums, keys, joined, used);
        ast_labelling_fail(l);
        return false;
    }
    ast_bins bins = {slots, copies, sums + margin * width, keys + margin};
    fold(l, &worker->bins, &bins);
    if (worker->bins.slots) {
        memcpy(joined, worker->joined, worker->bins.slots * sizeof *joined);
        memcpy(used, worker->used, worker->bins.slots * sizeof *used);
    }
    ast_free_all(worker->bin_memory, worker->key_memory, worker->joined, worker->used);
    worker->bins = bins;
    worker->bin_memory = sums;
    worker->key_memory = keys;
    worker->joined = joined;
    worker->used = used;
    return true;
}

bool ast_workers_reserve(ast_labelling *l) {
    bool ready = true;
    for (int w = 0; w < l->worker_count; w++)
        ready = ast_worker_reserve(l, &l->workers[w]) && ready;
    return ready;
}

/* sum += sign * round(w x unit): a weight is a factor of the point's part. */
static void add_weighted(const ast_labelling *l, const float *row, double weight, int64_t sign, bool flipped,
                         int64_t *bin) {
    double factor = weight * l->clusters.unit;
    for (size_t d = 0; d < l->rows.dimension && !l->rows.sparse; d++)
        bin[d] += (flipped ? -sign : sign) * llrint((double)row[d] * factor);
    bin[weight_at(l)] += sign * llrint(factor);
}

/* The row that is added; sparse points need none. */
static const float *row_to_add(ast_labelling *l, ast_worker *worker, size_t i) {
    return l->rows.sparse ? NULL : ast_rows_at(&l->rows, &worker->chunk.rows, i);
}

/* Adds the point, or with sign -1 takes it off again; `flipped`: as -x. */
static void add_point(const ast_labelling *l, ast_worker *worker, size_t i, const float *row, int32_t slot, int sign,
                      bool flipped) {
    int64_t *bin = worker->bins.sums + (size_t)slot * bin_width(l);
    worker->used[slot] = 1;
    uint64_t key = ast_key_of(l->rows.offset + i, flipped);
    worker->bins.keys[slot] += sign > 0 ? key : -key;
    if (l->rows.weights) {
        add_weighted(l, row, l->rows.weights[i], sign, flipped, bin);
        return;
    }
    if (!l->rows.sparse)
        l->rows.kernels->sum_row(row, l->rows.dimension, flipped ? -sign : sign, bin);
    bin[weight_at(l)] += sign;
}

void ast_add_change(ast_labelling *l, ast_worker *worker, const ast_change *change) {
    const float *row = row_to_add(l, worker, change->point);
    if (change->from >= 0)
        add_point(l, worker, change->point, row, change->from, -1, change->was_flipped);
    add_point(l, worker, change->point, row, change->to, 1, change->flipped);
}

/* The same in the first pass, where nobody needs keys, for small points without weights (sum_row rounds so). */
static void move_in_sums(ast_labelling *l, ast_worker *worker, const ast_change *change) {
    const size_t dimension = l->rows.dimension, width = bin_width(l), weight = weight_at(l);
    const float *row = ast_rows_at(&l->rows, &worker->chunk.rows, change->point);
    int64_t *to = worker->bins.sums + (size_t)change->to * width, nowhere[AST_SUM_WIDTH(AST_SMALL)] = {0};
    int64_t *from = change->from < 0 ? nowhere : worker->bins.sums + (size_t)change->from * width;
    for (size_t d = 0; d < dimension; d++) {
        int64_t part = (int64_t)lrintf(row[d] * 0x1p30f);
        to[d] += change->flipped ? -part : part;
        from[d] -= change->was_flipped ? -part : part;
    }
    to[weight]++;
    from[weight]--;
    worker->used[change->to] = 1;
    if (change->from >= 0)
        worker->used[change->from] = 1;
}

/* Points of a block that were added to the wrong cluster. */
static void correct_block(ast_labelling *l, ast_worker *worker, size_t base, size_t first) {
    for (size_t j = first; j < first + AST_BLOCK; j++) {
        ast_change change = {(uint32_t)(base + j), worker->chunk.early_labels[j], l->labels[base + j],
                             ast_is_flipped(worker->chunk.early_signs, j), ast_is_flipped(l->signs, base + j)};
        if (change.to >= 0 && (change.from != change.to || change.was_flipped != change.flipped))
            move_in_sums(l, worker, &change);
    }
}

/* Most blocks are as they were. */
static void correct(ast_labelling *l, ast_worker *worker, size_t base) {
    const ast_chunk *c = &worker->chunk;
    for (size_t j = 0; j < l->rows.chunk; j += AST_BLOCK)
        if (memcmp(c->early_labels + j, l->labels + base + j, AST_BLOCK * sizeof *c->early_labels) != 0 ||
            memcmp(c->early_signs + j / AST_LANES, l->signs + (base + j) / AST_LANES, AST_GROUPS) != 0)
            correct_block(l, worker, base, j);
}

/* Adds every point of a chunk. */
void ast_add_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t base = chunk * l->rows.chunk;
    if (l->rows.small && !l->rows.weights && !l->rows.axial) {
        const float *x[AST_SMALL];
        ast_rowset_need_columns(&l->rows, base, base + l->rows.chunk);
        for (size_t d = 0; d < l->rows.dimension; d++)
            x[d] = ast_rows_column(&l->rows, &worker->chunk.rows, d, base);
        l->rows.kernels->sum_columns[l->rows.dimension](x, l->labels + base, l->rows.chunk, &worker->bins);
        return;
    }
    for (size_t i = base; i < base + l->rows.chunk; i++) {
        if (l->labels[i] < 0)
            continue;
        bool loaded = worker->chunk.rows.is_loaded && worker->chunk.base == base;
        const float *row = loaded ? worker->chunk.rows.loaded[i - base] : row_to_add(l, worker, i);
        add_point(l, worker, i, row, l->labels[i], 1, l->rows.axial && ast_is_flipped(l->signs, i));
        worker->joined[l->labels[i]]++;
    }
}

void ast_add_all(ast_labelling *l) {
    for (int w = 0; w < l->worker_count; w++)
        l->workers[w].chunk.rows.is_loaded = false;
    if (ast_workers_reserve(l))
        ast_each_chunk(l, 0, l->rows.chunks, ast_add_chunk);
}

/* The first pass: every proposal that was not overruled becomes the label, and every point is added. */
static void add_first_pass(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (worker->chunk.added_early && worker->chunk.labels_saved)
        correct(l, worker, chunk * l->rows.chunk);
    if (worker->chunk.added_early)
        return;
    l->rows.kernels->take_proposals(l->labels + worker->chunk.base, worker->chunk.scores.id, l->rows.chunk);
    ast_add_chunk(l, worker, chunk);
}

void ast_add_changes(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (l->first)
        add_first_pass(l, worker, chunk);
    for (size_t c = 0; c < worker->change_count; c++)
        ast_add_change(l, worker, &worker->changes[c]);
    worker->change_count = 0;
}

static void merge_bin(const ast_labelling *l, ast_worker *worker, const ast_sum_arrays *c, size_t slot, size_t copy) {
    size_t width = bin_width(l), at = copy * worker->bins.slots + slot, dimension = l->rows.dimension;
    int64_t *bin = worker->bins.sums + at * width, weight = bin[weight_at(l)];
    for (size_t d = 0; d < dimension && !l->rows.sparse; d++)
        c->sums[slot * dimension + d] += bin[d];
    c->weights[slot] += weight;
    c->keys[slot] += worker->bins.keys[at];
    if (l->first && l->rows.small && !l->rows.weights)
        c->members[slot] += weight;
    if (weight)
        c->touched[slot] = 1;
    memset(bin, 0, width * sizeof *bin);
    worker->bins.keys[at] = 0;
}

static void merge_slot(const ast_labelling *l, ast_worker *worker, const ast_sum_arrays *sink, size_t slot) {
    if (slot + AST_BIN_MARGIN >= worker->bins.slots || (!l->rows.small && !worker->used[slot]))
        return; /* none of its points is in the slot */
    for (size_t copy = 0; copy < worker->bins.copies; copy++)
        merge_bin(l, worker, sink, slot, copy);
    if (worker->used[slot])
        sink->touched[slot] = 1;
    if (l->first && !(l->rows.small && !l->rows.weights))
        sink->members[slot] += worker->joined[slot];
    worker->used[slot] = 0;
    worker->joined[slot] = 0;
}

typedef struct merge_job {
    ast_labelling *l;
    const ast_sum_arrays *sink;
    ast_worker *workers;
    int count;
    size_t slots; /* of one task */
} merge_job;

static void merge_block(void *data, size_t block, int index) {
    const merge_job *job = data;
    (void)index;
    for (size_t slot = block * job->slots; slot < (block + 1) * job->slots && slot < job->l->clusters.slots; slot++)
        for (int w = 0; w < job->count; w++)
            merge_slot(job->l, &job->workers[w], job->sink, slot);
}

/* Adds what some workers have gathered and clears it. */
void ast_merge_into(ast_labelling *l, ast_worker *workers, int count, const ast_sum_arrays *sink) {
    merge_job job = {l, sink, workers, count, 4 * AST_SLOTS_PER_TASK / (l->rows.dimension + 1) + 1};
    ast_pool_run(l->pool, (l->clusters.slots + job.slots - 1) / job.slots, merge_block, &job);
}

void ast_merge_sums(ast_labelling *l, ast_worker *workers, int count) {
    ast_cluster_list *c = &l->clusters;
    ast_sum_arrays sink = {c->sums, c->weights, c->members, c->keys, c->touched};
    ast_merge_into(l, workers, count, &sink);
}
