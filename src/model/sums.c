/* SPDX-License-Identifier: MIT
 *
 * From labels to sums. Each worker adds the changes of its chunks to its own sums; at the end of the pass these are
 * added to the sums of the clusters. Sums are integers, so the order of additions does not matter.
 *
 * Own sums of sparse points would take K x D numbers per worker. So workers have only counts, weights and keys of
 * sparse points. After the pass, the points whose label has changed move their entries from one sum of the clusters to
 * another, on all threads, by atomic additions. */
#include "inside.h"

#include "memory.h"

#include <assert.h>
#include <string.h>

/* Numbers of a bin. Bins of sparse points have no components. */
static size_t bin_width(const ast_labelling *l) {
    if (l->rows.sparse)
        return 1;
    return l->rows.small ? AST_SUM_WIDTH(l->rows.dimension) : l->rows.dimension + 1;
}

/* The place of the weight in a bin: after the components. */
static size_t weight_at(const ast_labelling *l) {
    if (l->rows.sparse)
        return 0;
    return l->rows.dimension == 2 ? 3 : l->rows.dimension;
}

/* Adds the copies of each old bin to the first copy of the new, larger bins. */
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
    size_t old = worker->bins.slots;
    if (!sums || !keys || !ast_grow_array(&worker->joined, old, slots, sizeof *worker->joined) ||
        !ast_grow_array(&worker->used, old, slots, sizeof *worker->used)) {
        ast_free_all(sums, keys);
        ast_labelling_fail(l);
        return false;
    }
    memset(worker->joined + old, 0, (slots - old) * sizeof *worker->joined);
    memset(worker->used + old, 0, slots - old);
    ast_bins bins = {slots, copies, sums + margin * width, keys + margin};
    fold(l, &worker->bins, &bins);
    ast_free_all(worker->bin_memory, worker->key_memory);
    worker->bins = bins;
    worker->bin_memory = sums;
    worker->key_memory = keys;
    return true;
}

bool ast_workers_reserve(ast_labelling *l) {
    bool ready = true;
    for (int w = 0; w < l->worker_count; w++)
        ready = ast_worker_reserve(l, &l->workers[w]) && ready;
    return ready;
}

/* bin += sign * round(weight * row * unit). */
static void add_weighted(const ast_labelling *l, const float *row, double weight, int64_t sign, bool flipped,
                         int64_t *bin) {
    double factor = weight * l->clusters.unit;
    for (size_t d = 0; d < l->rows.dimension && !l->rows.sparse; d++)
        bin[d] += (flipped ? -sign : sign) * llrint((double)row[d] * factor);
    bin[weight_at(l)] += sign * llrint(factor);
}

/* The row to add; NULL for sparse points. */
static const float *row_to_add(ast_labelling *l, ast_worker *worker, size_t i) {
    return l->rows.sparse ? NULL : ast_rows_at(&l->rows, &worker->chunk.rows, i);
}

/* Adds the point, as -x if `flipped`; with sign -1 subtracts it. */
static void add_point(const ast_labelling *l, ast_worker *worker, size_t i, const float *row, int32_t slot, int sign,
                      bool flipped) {
    int64_t *bin = worker->bins.sums + (size_t)slot * bin_width(l);
    assert(slot >= 0 && (size_t)slot < worker->bins.slots);
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

/* Moves the points of a block that were added to the wrong cluster. */
static void correct_block(ast_labelling *l, ast_worker *worker, size_t base, size_t first) {
    for (size_t j = first; j < first + AST_BLOCK; j++) {
        ast_change change = {(uint32_t)(base + j), worker->chunk.early_labels[j], l->labels[base + j],
                             ast_is_flipped(worker->chunk.early_signs, j), ast_is_flipped(l->signs, base + j)};
        if (change.to >= 0 && (change.from != change.to || change.was_flipped != change.flipped))
            ast_add_change(l, worker, &change);
    }
}

/* Corrects the blocks whose labels changed after their points were added: few. */
static void correct_chunk(ast_labelling *l, ast_worker *worker, size_t base) {
    const ast_chunk *c = &worker->chunk;
    for (size_t j = 0; j < l->rows.chunk; j += AST_BLOCK)
        if (memcmp(c->early_labels + j, l->labels + base + j, AST_BLOCK * sizeof *c->early_labels) != 0 ||
            memcmp(c->early_signs + j / AST_LANES, l->signs + (base + j) / AST_LANES, AST_GROUPS) != 0)
            correct_block(l, worker, base, j);
}

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

/* First pass: points that no visit labelled get the proposed label, and every point is added. */
static void add_first_pass(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (worker->chunk.added_early && worker->chunk.labels_saved)
        correct_chunk(l, worker, chunk * l->rows.chunk);
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

/* Whether the weight of a bin is the number of points that joined: all weigh 1, and none has left. */
static bool counts_by_weight(const ast_labelling *l) {
    return l->first && l->rows.small && !l->rows.weights;
}

static void merge_bin(const ast_labelling *l, ast_worker *worker, const ast_sums *to, size_t slot, size_t copy) {
    size_t width = bin_width(l), at = copy * worker->bins.slots + slot, dimension = l->rows.dimension;
    int64_t *bin = worker->bins.sums + at * width, weight = bin[weight_at(l)];
    for (size_t d = 0; d < dimension && !l->rows.sparse; d++)
        to->sums[slot * dimension + d] += bin[d];
    to->weights[slot] += weight;
    to->keys[slot] += worker->bins.keys[at];
    if (counts_by_weight(l))
        to->members[slot] += weight;
    if (weight)
        to->touched[slot] = 1;
    memset(bin, 0, width * sizeof *bin);
    worker->bins.keys[at] = 0;
}

static void merge_slot(const ast_labelling *l, ast_worker *worker, const ast_sums *to, size_t slot) {
    if (slot + AST_BIN_MARGIN >= worker->bins.slots || (!l->rows.small && !worker->used[slot]))
        return; /* the worker has no points of this slot */
    for (size_t copy = 0; copy < worker->bins.copies; copy++)
        merge_bin(l, worker, to, slot, copy);
    if (worker->used[slot])
        to->touched[slot] = 1;
    if (!counts_by_weight(l))
        to->members[slot] += worker->joined[slot];
    worker->used[slot] = 0;
    worker->joined[slot] = 0;
}

typedef struct merge_job {
    ast_labelling *l;
    const ast_sums *to;
    ast_worker *workers;
    int count;
} merge_job;

static void merge_block(void *data, size_t first, size_t last) {
    const merge_job *job = data;
    for (size_t slot = first; slot < last; slot++)
        for (int w = 0; w < job->count; w++)
            merge_slot(job->l, &job->workers[w], job->to, slot);
}

void ast_merge_into(ast_labelling *l, ast_worker *workers, int count, const ast_sums *to) {
    merge_job job = {l, to, workers, count};
    size_t step = 4 * AST_SLOTS_PER_TASK / (l->rows.dimension + 1) + 1;
    assert(to->slots >= l->clusters.slots);
    ast_pool_ranges(l->pool, l->clusters.slots, step, merge_block, &job);
}

/* ---- Sparse points ----------------------------------------------------------------------------------------------- */

static void add_entries(const ast_labelling *l, int64_t *sums, size_t i, int32_t slot, int64_t sign) {
    ast_sparse_row row = ast_rowset_entries(&l->rows, i);
    int64_t *sum = sums + (size_t)slot * l->rows.dimension;
    for (size_t e = 0; e < row.count; e++) {
        int64_t part = sign * ast_units(l, i, row.values[e]);
        if (l->worker_count == 1)
            sum[row.columns[e]] += part;
        else
            __atomic_fetch_add(&sum[row.columns[e]], part, __ATOMIC_RELAXED);
    }
}

void ast_sparse_sum_point(ast_labelling *l, size_t i) {
    int32_t from = l->summed[i], to = l->labels[i];
    if (from == to || to < 0)
        return;
    if (from >= 0)
        add_entries(l, l->clusters.sums, i, from, -1);
    add_entries(l, l->clusters.sums, i, to, 1);
    l->summed[i] = to;
}

static void sum_sparse_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    (void)worker;
    for (size_t i = chunk * l->rows.chunk; i < (chunk + 1) * l->rows.chunk; i++)
        ast_sparse_sum_point(l, i);
}

void ast_drop_sums(ast_labelling *l) {
    size_t width = bin_width(l);
    for (int w = 0; w < l->worker_count; w++) {
        const ast_worker *worker = &l->workers[w];
        size_t slots = worker->bins.slots, bins = slots * worker->bins.copies;
        if (slots == 0)
            continue;
        memset(worker->bins.sums, 0, bins * width * sizeof *worker->bins.sums);
        memset(worker->bins.keys, 0, bins * sizeof *worker->bins.keys);
        memset(worker->joined, 0, slots * sizeof *worker->joined);
        memset(worker->used, 0, slots);
    }
}

void ast_gather_sums(ast_labelling *l) {
    ast_sums sums = ast_cluster_sums(&l->clusters);
    ast_merge_into(l, l->workers, l->worker_count, &sums);
    if (l->rows.sparse)
        ast_each_chunk(l, 0, l->rows.chunks, sum_sparse_chunk);
}

/* ---- Any labels -------------------------------------------------------------------------------------------------- */

typedef struct sparse_job {
    const ast_labelling *l;
    int64_t *sums;
} sparse_job;

static void add_sparse_chunk(void *data, ast_chunk *memory, size_t first, size_t last) {
    const sparse_job *job = data;
    (void)memory;
    for (size_t i = first; i < last; i++)
        if (job->l->labels[i] >= 0)
            add_entries(job->l, job->sums, i, job->l->labels[i], 1);
}

static void clear_sums(const ast_labelling *l, const ast_sums *to) {
    size_t slots = l->clusters.slots;
    if (slots == 0)
        return;
    memset(to->sums, 0, slots * l->rows.dimension * sizeof *to->sums);
    memset(to->weights, 0, slots * sizeof *to->weights);
    memset(to->members, 0, slots * sizeof *to->members);
    memset(to->keys, 0, slots * sizeof *to->keys);
}

static void add_chunk_of_any(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (l->rows.reader) {
        if (ast_labelling_stopped(l, worker->chunk.worker))
            return;
        ast_begin_chunk(l, worker, chunk);
        ast_rows_fetch(&l->rows, &worker->chunk.rows);
    }
    ast_add_chunk(l, worker, chunk);
}

/* Adds the points of the open window. */
static ast_status add_window(ast_labelling *l, const ast_sums *to, ast_fault *fault) {
    sparse_job job = {l, to->sums};
    ast_status status = AST_OK;
    l->first = true; /* every point is added, none is moved */
    for (int w = 0; w < l->worker_count; w++)
        l->workers[w].chunk.rows.is_loaded = false;
    if (ast_workers_reserve(l))
        ast_each_chunk(l, 0, l->rows.chunks, add_chunk_of_any);
    if (!atomic_load(&l->failed))
        ast_merge_into(l, l->workers, l->worker_count, to);
    if (l->rows.sparse)
        status = ast_labelling_each_chunk(l, add_sparse_chunk, &job, fault);
    l->first = false;
    return status == AST_OK ? ast_labelling_trouble(l, fault) : status;
}

/* The sums of all ranks, where all have theirs. */
static ast_status share_sums(ast_labelling *l, const ast_sums *to, ast_status status, ast_fault *fault) {
    const ast_comm *comm = l->ranks.comm;
    size_t slots = l->clusters.slots;
    status = ast_comm_agree(comm, status, fault);
    if (status != AST_OK || slots == 0)
        return status;
    ast_comm_allreduce(comm, (uint64_t *)to->sums, slots * l->rows.dimension);
    ast_comm_allreduce(comm, (uint64_t *)to->weights, slots);
    ast_comm_allreduce(comm, (uint64_t *)to->members, slots);
    ast_comm_allreduce(comm, to->keys, slots);
    return AST_OK;
}

ast_status ast_recount(ast_labelling *l, ast_fault *fault) {
    const ast_sums to = ast_cluster_sums(&l->clusters);
    ast_status status = AST_OK;
    clear_sums(l, &to);
    for (size_t n = 0; n < l->windows.count && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        if (status == AST_OK)
            status = add_window(l, &to, fault);
    }
    return share_sums(l, &to, status, fault);
}

ast_status ast_labelling_sums_begin(ast_labelling *l, ast_sums *sums, ast_fault *fault) {
    size_t slots = l->clusters.slots;
    if (!ast_ensure_arrays(&sums->slots, slots, AST_REQUEST(sums->sums, slots * l->rows.dimension),
                           AST_REQUEST(sums->weights, slots), AST_REQUEST(sums->members, slots),
                           AST_REQUEST(sums->keys, slots), AST_REQUEST(sums->touched, slots)))
        return ast_fail_memory(fault);
    clear_sums(l, sums);
    return AST_OK;
}

/* The rows count without their weights, so these are gone meanwhile. */
ast_status ast_labelling_sums_add(ast_labelling *l, const int32_t *labels, const uint8_t *signs, ast_sums *sums,
                                  ast_fault *fault) {
    const double *weights = l->rows.weights;
    int32_t *own_labels = l->labels;
    uint8_t *own_signs = l->signs;
    l->rows.weights = NULL;
    l->labels = (int32_t *)labels; /* they are read */
    l->signs = (uint8_t *)signs;
    ast_status status = add_window(l, sums, fault);
    l->labels = own_labels;
    l->signs = own_signs;
    l->rows.weights = weights;
    return status;
}

ast_status ast_labelling_sums_end(ast_labelling *l, ast_sums *sums, ast_status status, ast_fault *fault) {
    return share_sums(l, sums, status, fault);
}

void ast_sums_free(ast_sums *sums) {
    ast_free_all(sums->sums, sums->weights, sums->members, sums->keys, sums->touched);
    *sums = (ast_sums){0};
}
