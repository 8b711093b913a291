/* SPDX-License-Identifier: MIT
 *
 * Windows of points and their labels, one after the other, and a pass over all of them. */
#include "inside.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 4                        /* chunks at most that the first pass begins with on one thread */
#define LABEL_BLOCK ((size_t)1 << 16) /* labels that a task reads or writes together */

bool ast_windows_is_full(ast_labelling *l) {
    if (l->clusters.live < l->windows.most)
        return false;
    atomic_store(&l->windows.full, true);
    return true;
}

ast_status ast_windows_failure(ast_windows *w, ast_fault *fault) {
    ast_status status = ast_reader_status(&w->reader, fault);
    if (status != AST_OK || !atomic_load(&w->full))
        return status;
    return ast_fail(fault, AST_NO_MEMORY,
                    "there are more than %zu clusters, and no memory is left for their means; a larger angle makes "
                    "fewer of them, and a larger memory budget has room for more",
                    w->most);
}

/* The window as the labelling sees it. */
static void place(ast_labelling *l, size_t number) {
    const ast_windows *w = &l->windows;
    ast_rowset *rows = &l->rows;
    size_t first = number * w->rows, left = w->points - first;
    assert(number < w->count && first <= w->points);
    rows->offset = l->windows.first = first;
    rows->count = left < w->rows ? left : w->rows;
    rows->chunks = (rows->count + rows->chunk - 1) / rows->chunk;
    rows->padded = rows->chunks * rows->chunk;
    rows->weights = rows->weights && w->weights ? w->weights + first : NULL;
    for (int i = 0; i < l->worker_count; i++)
        l->workers[i].chunk.rows.fetched.first = SIZE_MAX;
}

static void open_rows(ast_labelling *l, const ast_labelling_input *in) {
    ast_windows *w = &l->windows;
    size_t dimension = w->reader.source->dimension;
    w->reader.stop = &l->failed;
    l->rows.kernels = l->scorer.kernels = in->kernels;
    l->rows.axial = in->axial;
    l->rows.dimension = dimension;
    l->rows.chunk = ast_chunk_size(dimension);
    l->rows.small = dimension <= AST_SMALL;
    l->rows.reader = &w->reader;
}

static ast_status survey(ast_labelling *l, ast_fault *fault);

void ast_windows_one(ast_windows *w, size_t points, size_t padded) {
    free(w->keys);
    *w = (ast_windows){.points = points, .rows = padded, .count = 1, .most = SIZE_MAX};
    atomic_store(&w->reader.fault, UINT64_MAX);
}

ast_status ast_windows_load(ast_labelling *l, const ast_labelling_input *in, ast_fault *fault) {
    assert(in->window > 0 && in->window % AST_WINDOW_STEP == 0);
    ast_windows *w = &l->windows;
    size_t count = in->source->count;
    ast_windows_one(w, count, in->window);
    w->reader.source = in->source;
    w->store = in->store;
    w->count = count ? (count + w->rows - 1) / w->rows : 1;
    w->current = SIZE_MAX;
    w->segment = in->segment;
    w->most = in->max_clusters;
    w->kept = !in->unbounded && in->source->dimension > AST_SMALL;
    w->weights = in->weights;
    w->report = in->report;
    w->report_data = in->report_data;
    l->schedule = &ast_windowed_schedule;
    open_rows(l, in);
    ast_clusters_clear(&l->clusters, l->rows.dimension);
    place(l, 0);
    if (!ast_labelling_reserve(l, l->rows.padded))
        return ast_fail_memory(fault);
    w->reader.labels = l->labels;
    ast_labelling_reset(l);
    l->cell_mode.min_clusters = SIZE_MAX; /* never by cells */
    l->present = l->everyone = count;
    return in->survey ? survey(l, fault) : AST_OK;
}

void ast_windows_announce(const ast_windows *w, size_t first, size_t count) {
    const ast_source *source = w->reader.source;
    if (source && source->expect && first < w->points)
        source->expect(first, w->points - first < count ? w->points - first : count, source->data);
}

/* ---- Labels come and go ------------------------------------------------------------------------------------------ */

/* With the store a label has its sign in the lowest bit, where there are signs. */
static void pack(ast_labelling *l, size_t first, size_t last) {
    for (size_t i = first; l->rows.axial && !l->windows.plain && i < last; i++)
        if (l->labels[i] >= 0)
            l->labels[i] = l->labels[i] << 1 | ast_is_flipped(l->signs, i);
}

static void unpack(ast_labelling *l, size_t first, size_t last) {
    memset(l->signs + first / AST_LANES, 0, (last - first + AST_LANES - 1) / AST_LANES);
    for (size_t i = first; l->rows.axial && !l->windows.plain && i < last; i++)
        if (l->labels[i] >= 0) {
            l->signs[i / AST_LANES] |= (uint8_t)((l->labels[i] & 1) << i % AST_LANES);
            l->labels[i] >>= 1;
        }
}

static size_t block_end(const ast_labelling *l, size_t block) {
    size_t last = (block + 1) * LABEL_BLOCK;
    return last < l->rows.count ? last : l->rows.count;
}

static void write_block(void *data, size_t block, int index) {
    ast_labelling *l = data;
    const ast_label_store *store = l->windows.store;
    size_t first = block * LABEL_BLOCK, last = block_end(l, block);
    (void)index;
    pack(l, first, last);
    if (store->write(l->rows.offset + first, last - first, l->labels + first, store->data) != 0)
        ast_reader_note(&l->windows.reader, l->rows.offset + first, AST_LABELS_UNSTORED);
}

static void read_block(void *data, size_t block, int index) {
    ast_labelling *l = data;
    const ast_windows *w = &l->windows;
    size_t first = block * LABEL_BLOCK, last = block_end(l, block);
    (void)index;
    if (w->current >= w->written) /* nobody has labels yet */
        for (size_t i = first; i < last; i++)
            l->labels[i] = AST_UNLABELLED;
    else if (w->store->read(l->rows.offset + first, last - first, l->labels + first, w->store->data) != 0)
        ast_reader_note(&l->windows.reader, l->rows.offset + first, AST_LABELS_UNSTORED);
    if (!atomic_load(&l->failed))
        unpack(l, first, last);
}

static size_t label_blocks(const ast_labelling *l) {
    return (l->rows.count + LABEL_BLOCK - 1) / LABEL_BLOCK;
}

ast_status ast_labelling_open_window(ast_labelling *l, size_t number, ast_fault *fault) {
    ast_windows *w = &l->windows;
    if (w->current == number)
        return AST_OK;
    place(l, number);
    w->current = number;
    ast_pool_run(l->pool, label_blocks(l), read_block, l);
    for (size_t i = l->rows.count; i < l->rows.padded; i++)
        l->labels[i] = AST_MISSING;
    ast_forget_blocks(&l->scorer);
    return ast_labelling_trouble(l, fault);
}

ast_status ast_windows_save(ast_labelling *l, ast_fault *fault) {
    ast_windows *w = &l->windows;
    ast_status status = w->reader.source ? ast_labelling_trouble(l, fault) : AST_OK;
    if (status != AST_OK || w->count == 1)
        return status;
    ast_pool_run(l->pool, label_blocks(l), write_block, l);
    w->written = w->current < w->written ? w->written : w->current + 1;
    w->current = SIZE_MAX;
    return ast_labelling_trouble(l, fault);
}

/* ---- Before the first pass --------------------------------------------------------------------------------------- */

static void survey_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    if (!ast_labelling_stopped(l, worker->chunk.worker))
        ast_rows_fetch(&l->rows, &worker->chunk.rows);
}

/* Runs a segment of chunks from *first on and reports to the caller; *first becomes the next chunk. */
static ast_status run_segment(ast_labelling *l, size_t *first, ast_chunk_task *task, ast_fault *fault) {
    ast_windows *w = &l->windows;
    size_t last = l->rows.chunks - *first < w->segment ? l->rows.chunks : *first + w->segment;
    size_t done = l->rows.offset + last * l->rows.chunk;
    if (w->eager)
        ast_windows_announce(w, done, w->segment * l->rows.chunk);
    ast_each_chunk(l, *first, last, task);
    *first = last;
    ast_status status = ast_labelling_trouble(l, fault);
    size_t left = done < w->points ? w->points - done : 0;
    return status == AST_OK && w->report && left ? w->report(w->report_data, left, fault) : status;
}

static ast_status survey(ast_labelling *l, ast_fault *fault) {
    ast_windows *w = &l->windows;
    ast_status status = AST_OK;
    w->eager = true;
    for (size_t n = 0; n < w->count && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        for (size_t chunk = 0; chunk < l->rows.chunks && status == AST_OK;)
            status = run_segment(l, &chunk, survey_chunk, fault);
        if (status == AST_OK)
            status = ast_windows_save(l, fault);
    }
    l->present = l->everyone = w->points - atomic_load(&w->reader.missing);
    return status;
}

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* The keys of the first pass are counted window by window, while their labels are here. */
static bool count_keys(ast_labelling *l) {
    ast_windows *w = &l->windows;
    return ast_reserve(&w->keys, &w->key_capacity, w->key_capacity, l->clusters.slots, sizeof *w->keys) &&
           ast_sum_keys(l, w->keys);
}

/* Before the second pass: its labels are those that the fingerprints start from. They are the clusters' keys already,
 * with what was moved since. */
static bool save_first(ast_labelling *l) {
    ast_windows *w = &l->windows;
    if (l->clusters.slots)
        memcpy(w->keys, l->clusters.keys, l->clusters.slots * sizeof *w->keys);
    if (!ast_save_order(l))
        return false;
    if (l->clusters.slots)
        memcpy(l->clusters.keys, w->keys, l->clusters.slots * sizeof *w->keys);
    l->label_hash_base.first = ast_clusters_label_hash(&l->clusters, l->label_hash_base.order, l->label_hash_base.live);
    l->label_hash_base.due = false;
    return true;
}

static ast_status label_window(ast_labelling *l, size_t number, ast_fault *fault) {
    size_t chunk = 0;
    ast_status status = ast_labelling_open_window(l, number, fault);
    atomic_store(&l->queue.turn, 0);
    if (status == AST_OK && l->first && number == 0) {
        bool quiet;
        chunk = ast_run_first_chunks(l, HEAD, &quiet);
        status = ast_labelling_trouble(l, fault);
    }
    while (chunk < l->rows.chunks && status == AST_OK)
        status = run_segment(l, &chunk, ast_ordered_chunk, fault);
    if (status == AST_OK && l->first && !count_keys(l)) {
        atomic_store(&l->failed, false);
        status = ast_fail_memory(fault);
    }
    return status == AST_OK ? ast_windows_save(l, fault) : status;
}

static void close_pass(ast_labelling *l, ast_pass_result *result) {
    ast_windows *w = &l->windows;
    uint64_t read = atomic_load(&w->reader.read);
    bool first = l->first;
    if (first && !l->rows.weights) /* where there are weights it was known before */
        l->present = l->everyone = w->points - atomic_load(&w->reader.missing);
    result->changed = first ? l->present : 0;
    ast_gather_sums(l);
    if (first && l->clusters.slots)
        memcpy(l->clusters.keys, w->keys, l->clusters.slots * sizeof *w->keys);
    ast_labelling_progress(l, result);
    w->eager = !l->scorer.bounds.on || (read - w->last_read) * 4 > w->points;
    w->last_read = read;
}

static ast_status windowed_pass(ast_labelling *l, ast_parallel how, ast_pass_result *result, ast_fault *fault) {
    ast_windows *w = &l->windows;
    (void)how; /* always ordered */
    l->scorer.keeps_scores = w->kept;
    w->eager |= l->first;
    if ((l->scorer.keeps_scores && !ast_scorer_keep(&l->scorer)) || (l->first_done && !save_first(l)))
        return ast_fail_memory(fault);
    atomic_store(&l->queue.stop, SIZE_MAX - 1); /* never by cells */
    ast_prepare_pass(l);
    ast_status status = ast_labelling_trouble(l, fault);
    for (size_t n = 0; n < w->count && status == AST_OK; n++)
        status = label_window(l, n, fault);
    if (status == AST_OK)
        close_pass(l, result);
    return status;
}

/* ---- Clusters of one point --------------------------------------------------------------------------------------- */

/* The singleton_point is known to be the member by its key; and where there is a singleton_point the mean is its row.
 */
static bool is_known(const ast_cluster_list *c, int32_t slot) {
    uint32_t singleton_point = c->singleton_point[slot];
    return singleton_point != UINT32_MAX &&
           (c->keys[slot] == ast_key_of(singleton_point, false) || c->keys[slot] == ast_key_of(singleton_point, true));
}

/* Every cluster that became one of a single point has it for its mean: those of this window. Returns how many. */
static size_t find_singletons(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    size_t found = 0;
    for (size_t i = 0; i < l->rows.count; i++) {
        int32_t slot = l->labels[i];
        if (slot < 0 || !ast_clusters_is_new_singleton(c, slot))
            continue;
        ast_clusters_keep_mean(c, slot);
        ast_clusters_set_mean(c, slot, ast_rows_canonical(&l->rows, &l->workers[0].chunk.rows, i));
        c->singleton_point[slot] = (uint32_t)(l->rows.offset + i);
        c->touched[slot] = 0;
        found++;
    }
    return found;
}

static ast_status update_windowed_singletons(ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    size_t left = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (ast_clusters_is_new_singleton(c, slot) && is_known(c, slot)) {
            ast_clusters_keep_mean(c, slot);
            c->touched[slot] = 0;
        }
        left += ast_clusters_is_new_singleton(c, slot);
    }
    ast_status status = AST_OK;
    for (size_t n = 0; n < l->windows.count && left > 0 && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        if (status == AST_OK)
            left -= find_singletons(l);
    }
    return status == AST_OK ? ast_labelling_trouble(l, fault) : status;
}

/* The worst of all windows. */
static ast_status windowed_fill(ast_labelling *l, ast_worst *worst, int32_t slot, ast_fault *fault) {
    ast_windows *w = &l->windows;
    ast_status status = AST_OK;
    double least = INFINITY, score;
    size_t point = 0;
    for (size_t n = 0; n < w->count && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        worst->looked = worst->looked && w->count == 1;
        size_t chunk = ast_find_worst(l, worst, &score);
        if (score < least) {
            least = score;
            point = l->rows.offset + worst->point[chunk];
        }
        status = status == AST_OK ? ast_labelling_trouble(l, fault) : status;
    }
    if (status == AST_OK)
        status = ast_labelling_open_window(l, point / w->rows, fault);
    if (status == AST_OK && !ast_move_point(l, point - l->rows.offset, slot))
        ast_labelling_fail(l);
    if (status == AST_OK)
        status = ast_labelling_trouble(l, fault);
    return status == AST_OK ? ast_windows_save(l, fault) : status;
}

const ast_schedule ast_windowed_schedule = {windowed_pass, update_windowed_singletons, windowed_fill, true, false};

void ast_labelling_announce(const ast_labelling *l, size_t number) {
    ast_windows_announce(&l->windows, number * l->windows.rows, l->windows.rows);
}
