/* SPDX-License-Identifier: MIT
 *
 * The windows of points and their labels: opening and saving them, and running tasks over their chunks. */
#include "inside.h"

#include <assert.h>
#include <string.h>

#define LABEL_BLOCK ((size_t)1 << 16) /* labels that one task reads or writes */

bool ast_windows_refuse_cluster(ast_labelling *l) {
    if (l->clusters.live < l->input.max_clusters)
        return false;
    atomic_store(&l->windows.full, true);
    return true;
}

ast_status ast_windows_failure(ast_labelling *l, ast_fault *fault) {
    ast_status status = ast_reader_status(&l->windows.reader, fault);
    if (status != AST_OK || !atomic_load(&l->windows.full))
        return status;
    return ast_fail(fault, AST_NO_MEMORY,
                    "there are more than %zu clusters, and no memory is left for their means; a larger angle makes "
                    "fewer of them, and a larger memory budget has room for more",
                    l->input.max_clusters);
}

/* Makes the rows of window `number` those of the labelling. */
static void place(ast_labelling *l, size_t number) {
    const ast_windows *w = &l->windows;
    ast_rowset *rows = &l->rows;
    size_t first = number * w->rows, left = w->points - first;
    assert(number < w->count && first <= w->points);
    rows->offset = l->windows.first = first;
    rows->count = left < w->rows ? left : w->rows;
    rows->chunks = (rows->count + rows->chunk - 1) / rows->chunk;
    rows->padded = rows->chunks * rows->chunk;
    rows->weights = rows->weights && l->input.weights ? l->input.weights + first : NULL;
    for (int i = 0; i < l->worker_count; i++)
        l->workers[i].chunk.rows.fetched.first = SIZE_MAX;
}

static ast_status survey(ast_labelling *l, ast_fault *fault);

void ast_windows_one(ast_windows *w, size_t points, size_t padded) {
    *w = (ast_windows){.points = points, .rows = padded, .count = 1};
    atomic_store(&w->reader.fault, UINT64_MAX);
}

ast_status ast_windows_load(ast_labelling *l, ast_fault *fault) {
    const ast_labelling_input *in = &l->input;
    ast_windows *w = &l->windows;
    size_t count = in->source->count, dimension = in->source->dimension;
    assert(in->window > 0 && in->window % AST_WINDOW_STEP == 0);
    ast_windows_one(w, count, in->window);
    w->reader.source = in->source;
    w->reader.stop = &l->failed;
    w->count = count ? (count + w->rows - 1) / w->rows : 1;
    w->current = SIZE_MAX;
    l->rows.axial = in->axial;
    l->rows.dimension = dimension;
    l->rows.chunk = ast_chunk_size(dimension);
    l->rows.small = dimension <= AST_SMALL;
    l->rows.reader = &w->reader;
    ast_clusters_clear(&l->clusters, dimension);
    place(l, 0);
    if (!ast_labelling_reserve(l, l->rows.padded))
        return ast_fail_memory(fault);
    w->reader.labels = l->labels;
    ast_labelling_reset_pass_state(l);
    l->present = l->everyone = count;
    return in->survey ? survey(l, fault) : AST_OK;
}

/* Tells a source that `count` rows from `first` on are read next. */
static void announce(const ast_windows *w, size_t first, size_t count) {
    const ast_source *source = w->reader.source;
    if (source && source->expect && first < w->points)
        source->expect(first, w->points - first < count ? w->points - first : count, source->data);
}

void ast_windows_announce_next(const ast_windows *w) {
    announce(w, (w->current + 1) * w->rows, w->rows);
}

/* ---- The labels of a window -------------------------------------------------------------------------------------- */

/* Whether the lowest bit of a label of the store is the sign of its point. */
static bool has_signs(const ast_labelling *l) {
    return l->rows.axial && !l->windows.plain;
}

static void write_block(void *data, size_t first, size_t last) {
    ast_labelling *l = data;
    const ast_label_store *store = l->input.store;
    size_t row = l->rows.offset + first;
    for (size_t i = first; has_signs(l) && i < last; i++)
        if (l->labels[i] >= 0)
            l->labels[i] = l->labels[i] << 1 | ast_is_flipped(l->signs, i);
    if (store->write(row, last - first, l->labels + first, store->data) != 0)
        ast_reader_note_fault(&l->windows.reader, row, AST_LABELS_UNSTORED);
}

static void read_block(void *data, size_t first, size_t last) {
    ast_labelling *l = data;
    const ast_label_store *store = l->input.store;
    size_t row = l->rows.offset + first;
    if (l->windows.current >= l->windows.written) /* the first pass has not come here */
        for (size_t i = first; i < last; i++)
            l->labels[i] = AST_UNLABELLED;
    else if (store->read(row, last - first, l->labels + first, store->data) != 0)
        ast_reader_note_fault(&l->windows.reader, row, AST_LABELS_UNSTORED);
    memset(l->signs + first / AST_LANES, 0, (last - first + AST_LANES - 1) / AST_LANES);
    for (size_t i = first; has_signs(l) && i < last && !atomic_load(&l->failed); i++)
        if (l->labels[i] >= 0) {
            ast_set_flipped(l->signs, i, l->labels[i] & 1);
            l->labels[i] >>= 1;
        }
}

ast_status ast_labelling_open_window(ast_labelling *l, size_t number, ast_fault *fault) {
    ast_windows *w = &l->windows;
    if (w->current == number)
        return AST_OK;
    place(l, number);
    w->current = number;
    ast_pool_ranges(l->pool, l->rows.count, LABEL_BLOCK, read_block, l);
    for (size_t i = l->rows.count; i < l->rows.padded; i++)
        l->labels[i] = AST_MISSING;
    ast_forget_bounds(&l->scorer);
    return ast_labelling_trouble(l, fault);
}

ast_status ast_windows_save(ast_labelling *l, ast_fault *fault) {
    ast_windows *w = &l->windows;
    ast_status status = w->reader.source ? ast_labelling_trouble(l, fault) : AST_OK;
    if (status != AST_OK || w->count == 1)
        return status;
    ast_pool_ranges(l->pool, l->rows.count, LABEL_BLOCK, write_block, l);
    w->written = w->current < w->written ? w->written : w->current + 1;
    w->current = SIZE_MAX;
    return ast_labelling_trouble(l, fault);
}

/* ---- Segments ---------------------------------------------------------------------------------------------------- */

static void survey_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    if (!ast_labelling_stopped(l, worker->chunk.worker))
        ast_rows_fetch(&l->rows, &worker->chunk.rows);
}

ast_status ast_each_chunk_by_segment(ast_labelling *l, size_t first, ast_chunk_task *task, ast_fault *fault) {
    const ast_labelling_input *in = &l->input;
    const ast_windows *w = &l->windows;
    ast_status status = ast_labelling_trouble(l, fault);
    while (first < l->rows.chunks && status == AST_OK) {
        size_t last = l->rows.chunks - first < in->segment ? l->rows.chunks : first + in->segment;
        size_t done = l->rows.offset + last * l->rows.chunk;
        if (w->eager)
            announce(w, done, in->segment * l->rows.chunk);
        ast_each_chunk(l, first, last, task);
        first = last;
        status = ast_labelling_trouble(l, fault);
        if (status == AST_OK && in->report && done < w->points) {
            ast_pass_result work = {0};
            ast_count_work(l, &work);
            status = in->report(in->report_data, &work, w->points - done, fault);
        }
    }
    return status;
}

static ast_status survey(ast_labelling *l, ast_fault *fault) {
    ast_windows *w = &l->windows;
    ast_status status = AST_OK;
    w->eager = true;
    for (size_t n = 0; n < w->count && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        if (status == AST_OK)
            status = ast_each_chunk_by_segment(l, 0, survey_chunk, fault);
        if (status == AST_OK)
            status = ast_windows_save(l, fault);
    }
    l->present = l->everyone = w->points - atomic_load(&w->reader.missing);
    return status;
}

void ast_windows_plan_announcing(ast_labelling *l) {
    ast_windows *w = &l->windows;
    uint64_t read = atomic_load(&w->reader.read);
    w->eager = !l->scorer.bounds.on || (read - w->last_read) * 4 > w->points;
    w->last_read = read;
}
