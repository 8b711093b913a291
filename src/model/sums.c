/* SPDX-License-Identifier: MIT
 *
 * From labels to sums. Each worker adds what its chunks changed to sums of its own; when the pass is over they are
 * added to the clusters'. Integers: the order does not matter. */
#include "labelling.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sparse points keep the components out of the bins: sparse.c adds them to the clusters' sums. */
static size_t bin_width(const ast_labelling *l) {
    if (l->cloud.sparse)
        return 1;
    return l->cloud.small ? AST_SUM_WIDTH(l->cloud.dimension) : l->cloud.dimension + 1;
}

/* Where the weight stands in a bin: behind the components. */
static size_t weight_at(const ast_labelling *l) {
    if (l->cloud.sparse)
        return 0;
    return l->cloud.dimension == 2 ? 3 : l->cloud.dimension;
}

static int64_t *bin_of(const ast_labelling *l, ast_worker *worker, int32_t slot) {
    return worker->bins.sums + (size_t)slot * bin_width(l);
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
    size_t slots = 2 * needed, copies = l->cloud.small && slots <= 256 ? 4 : 1, margin = AST_BIN_MARGIN;
    int64_t *sums = ast_allocate_zero((slots * copies + margin) * width, sizeof *sums);
    uint64_t *keys = ast_allocate_zero(slots * copies + margin, sizeof *keys);
    int64_t *joined = ast_allocate_zero(slots, sizeof *joined);
    uint8_t *used = ast_allocate_zero(slots, sizeof *used);
    if (!sums || !keys || !joined || !used) {
        free(sums);
        free(keys);
        free(joined);
        free(used);
        ast_labelling_fail(l);
        return false;
    }
    ast_bins bins = {slots, copies, sums + margin * width, keys + margin};
    fold(l, &worker->bins, &bins);
    if (worker->bins.slots) {
        memcpy(joined, worker->joined, worker->bins.slots * sizeof *joined);
        memcpy(used, worker->used, worker->bins.slots * sizeof *used);
    }
    free(worker->bin_memory);
    free(worker->key_memory);
    free(worker->joined);
    free(worker->used);
    worker->bins = bins;
    worker->bin_memory = sums;
    worker->key_memory = keys;
    worker->joined = joined;
    worker->used = used;
    return true;
}

/* sum += sign * round(w x unit): a weight is a factor of the point's part. */
static void add_weighted(const ast_labelling *l, const float *row, double weight, int64_t sign, bool turned,
                         int64_t *bin) {
    double factor = weight * l->clusters.unit;
    for (size_t d = 0; d < l->cloud.dimension && !l->cloud.sparse; d++)
        bin[d] += (turned ? -sign : sign) * llrint((double)row[d] * factor);
    bin[weight_at(l)] += sign * llrint(factor);
}

/* Axial: labels on the other side are other labels. */
uint64_t ast_key_of(size_t point, bool turned) {
    return ast_key(point) * (turned ? 0x9e3779b97f4a7c15u : 1);
}

/* The row that is added; sparse points need none. */
static const float *row_to_add(ast_labelling *l, ast_worker *worker, size_t i) {
    return l->cloud.sparse ? NULL : ast_point_row(l, worker, i);
}

/* Adds the point, or with sign -1 takes it off again; `turned`: as -x. */
static void add_point(const ast_labelling *l, ast_worker *worker, size_t i, const float *row, int32_t slot, int sign,
                      bool turned) {
    int64_t *bin = bin_of(l, worker, slot);
    worker->used[slot] = 1;
    uint64_t key = ast_key_of(l->offset + i, turned);
    worker->bins.keys[slot] += sign > 0 ? key : -key;
    if (l->weights) {
        add_weighted(l, row, l->weights[i], sign, turned, bin);
        return;
    }
    if (!l->cloud.sparse)
        l->kernels->sum_row(row, l->cloud.dimension, turned ? -sign : sign, bin);
    bin[weight_at(l)] += sign;
}

void ast_add_change(ast_labelling *l, ast_worker *worker, const ast_change *change) {
    const float *row = row_to_add(l, worker, change->point);
    if (change->from >= 0)
        add_point(l, worker, change->point, row, change->from, -1, change->was_turned);
    add_point(l, worker, change->point, row, change->to, 1, change->turned);
}

void ast_note_hasty(ast_labelling *l, ast_worker *worker) {
    worker->noted = true;
    memcpy(worker->hasty, l->labels + worker->base, l->chunk * sizeof *worker->hasty);
    memcpy(worker->hasty_signs, l->signs + worker->base / AST_LANES, l->chunk / AST_LANES);
}

/* Points that were added to the wrong cluster. */
static void correct(ast_labelling *l, ast_worker *worker, size_t base) {
    for (size_t j = 0; j < l->chunk; j++) {
        ast_change change = {(uint32_t)(base + j), worker->hasty[j], l->labels[base + j],
                             ast_is_turned(worker->hasty_signs, j), ast_is_turned(l->signs, base + j)};
        if (change.to >= 0 && (change.from != change.to || change.was_turned != change.turned))
            ast_add_change(l, worker, &change);
    }
}

/* Adds every point of a chunk. */
void ast_add_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t base = chunk * l->chunk;
    if (l->cloud.small && !l->weights && !l->axial) {
        const float *x[AST_SMALL];
        for (size_t d = 0; d < l->cloud.dimension; d++)
            x[d] = ast_column(l, worker, d, base);
        l->kernels->sum_columns[l->cloud.dimension](x, l->labels + base, l->chunk, &worker->bins);
        return;
    }
    for (size_t i = base; i < base + l->chunk; i++) {
        if (l->labels[i] < 0)
            continue;
        bool loaded = worker->rows_loaded && worker->base == base;
        const float *row = loaded ? worker->rows[i - base] : row_to_add(l, worker, i);
        add_point(l, worker, i, row, l->labels[i], 1, l->axial && ast_is_turned(l->signs, i));
        worker->joined[l->labels[i]]++;
    }
}

/* The first pass: every proposal that was not overruled becomes the label, and every point is added. */
static void settle_first(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (worker->added && worker->noted)
        correct(l, worker, chunk * l->chunk);
    if (worker->added)
        return;
    l->kernels->adopt(l->labels + worker->base, worker->scores.id, l->chunk);
    ast_add_chunk(l, worker, chunk);
}

void ast_settle(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (l->first)
        settle_first(l, worker, chunk);
    for (size_t c = 0; c < worker->change_count; c++)
        ast_add_change(l, worker, &worker->changes[c]);
    worker->change_count = 0;
}

static void merge_bin(const ast_labelling *l, ast_worker *worker, const ast_sink *c, size_t slot, size_t copy) {
    size_t width = bin_width(l), at = copy * worker->bins.slots + slot, dimension = l->cloud.dimension;
    int64_t *bin = worker->bins.sums + at * width, weight = bin[weight_at(l)];
    for (size_t d = 0; d < dimension && !l->cloud.sparse; d++)
        c->sums[slot * dimension + d] += bin[d];
    c->weights[slot] += weight;
    c->keys[slot] += worker->bins.keys[at];
    if (l->first && l->cloud.small && !l->weights)
        c->members[slot] += weight;
    if (weight)
        c->touched[slot] = 1;
    memset(bin, 0, width * sizeof *bin);
    worker->bins.keys[at] = 0;
}

/* Keys come in groups of AST_LANES: a rank's points may begin within one. */
static void key_chunk(void *data, size_t chunk, int index) {
    ast_labelling *l = data;
    size_t base = chunk * l->chunk;
    bool grouped = !l->axial && l->offset % AST_LANES == 0;
    for (size_t i = base; !grouped && i < base + l->chunk; i++)
        l->workers[index].bins.keys[l->labels[i]] += ast_key_of(l->offset + i, l->axial && ast_is_turned(l->signs, i));
    if (grouped)
        l->kernels->add_keys(l->labels + base, l->chunk, l->offset + base, &l->workers[index].bins);
}

static uint64_t take_key(ast_labelling *l, size_t slot) {
    uint64_t sum = 0;
    for (int w = 0; w < l->worker_count; w++) {
        const ast_bins *bins = &l->workers[w].bins;
        for (size_t copy = 0; copy < bins->copies && slot + AST_BIN_MARGIN < bins->slots; copy++) {
            sum += bins->keys[copy * bins->slots + slot];
            bins->keys[copy * bins->slots + slot] = 0;
        }
    }
    return sum;
}

bool ast_count_keys(ast_labelling *l, uint64_t *keys) {
    for (int w = 0; w < l->worker_count; w++)
        if (!ast_worker_reserve(l, &l->workers[w]))
            return false;
    for (size_t slot = 0; slot < l->clusters.slots; slot++)
        take_key(l, slot);
    ast_pool_run(l->pool, l->chunks, key_chunk, l);
    for (size_t slot = 0; slot < l->clusters.slots; slot++)
        keys[slot] += take_key(l, slot);
    return true;
}

/* What changed since the first pass, taken from what the labels say now, gives the keys of the first pass, and so its
 * fingerprint. */
void ast_gather_keys(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    bool ready = true, many = ast_comm_many(l->comm);
    for (int w = 0; w < l->worker_count; w++)
        ready = ast_worker_reserve(l, &l->workers[w]) && ready;
    if (ready)
        ast_pool_run(l->pool, l->chunks, key_chunk, l);
    for (size_t slot = 0; many && slot < c->slots; slot++) /* the packet has room for more than one number a slot */
        l->packet[slot] = ready ? take_key(l, slot) : 0;
    ast_comm_sum(l->comm, l->packet, c->slots);
    if (!ready)
        return;
    for (size_t slot = 0; slot < c->slots; slot++) {
        uint64_t change = c->keys[slot];
        c->keys[slot] = (many ? l->packet[slot] : take_key(l, slot)) - change;
        l->workers[0].bins.keys[slot] = change;
    }
    l->keys_due = false;
    l->first_print = ast_clusters_fingerprint(c, l->first_order, l->first_live);
    for (size_t slot = 0; slot < c->slots; slot++)
        c->keys[slot] += take_key(l, slot);
}

static void merge_slot(const ast_labelling *l, ast_worker *worker, const ast_sink *sink, size_t slot) {
    if (slot + AST_BIN_MARGIN >= worker->bins.slots || (!l->cloud.small && !worker->used[slot]))
        return; /* the first: it has no memory for the slot, and none of its points is there */
    for (size_t copy = 0; copy < worker->bins.copies; copy++)
        merge_bin(l, worker, sink, slot, copy);
    if (worker->used[slot])
        sink->touched[slot] = 1;
    if (l->first && !(l->cloud.small && !l->weights))
        sink->members[slot] += worker->joined[slot];
    worker->used[slot] = 0;
    worker->joined[slot] = 0;
}

typedef struct merge_job {
    ast_labelling *l;
    const ast_sink *sink;
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
void ast_merge_into(ast_labelling *l, ast_worker *workers, int count, const ast_sink *sink) {
    merge_job job = {l, sink, workers, count, 4 * AST_SLOTS / (l->cloud.dimension + 1) + 1};
    ast_pool_run(l->pool, (l->clusters.slots + job.slots - 1) / job.slots, merge_block, &job);
}

void ast_merge_sums(ast_labelling *l, ast_worker *workers, int count) {
    ast_cluster_list *c = &l->clusters;
    ast_sink sink = {c->sums, c->weights, c->members, c->keys, c->touched};
    ast_merge_into(l, workers, count, &sink);
}
