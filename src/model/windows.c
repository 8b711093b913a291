/* SPDX-License-Identifier: MIT
 *
 * Windows of points and their labels, one after the other, and a pass over all of them. */
#include "windows.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 4                        /* chunks at most that the first pass begins with on one thread */
#define LABEL_BLOCK ((size_t)1 << 16) /* labels that a task reads or writes together */

/* ---- What can go wrong ------------------------------------------------------------------------------------------- */

void ast_windows_note(ast_labelling *l, size_t row, ast_mishap mishap) {
    _Atomic uint64_t *first = &l->windows->mishap;
    uint64_t mine = (uint64_t)row << 3 | mishap, before = atomic_load(first);
    while (mine < before && !atomic_compare_exchange_weak(first, &before, mine))
        ;
    ast_labelling_fail(l);
}

bool ast_windows_full(ast_labelling *l) {
    if (!l->windows || l->clusters.live < l->windows->most)
        return false;
    atomic_store(&l->windows->full, true);
    return true;
}

ast_status ast_windows_fault(ast_labelling *l, ast_fault *fault) {
    ast_windows *w = l->windows;
    uint64_t mishap = atomic_load(&w->mishap);
    size_t row = (size_t)(mishap >> 3) + 1;
    if (!atomic_exchange(&l->failed, false))
        return AST_OK;
    if (mishap == UINT64_MAX && atomic_load(&w->full))
        return ast_fail(fault, AST_NO_MEMORY,
                        "there are more than %zu clusters, and no memory is left for their means; a larger angle makes "
                        "fewer of them",
                        w->most);
    if (mishap == UINT64_MAX)
        return ast_fail_memory(fault);
    switch ((ast_mishap)(mishap & 7)) {
    case AST_INFINITE_ROW:
        return ast_fail_infinite(fault, row);
    case AST_CHANGED_ROW:
        ast_fail(fault, AST_BAD_DATA,
                 "row %zu (counting from 1) is not what it was: the points changed while they were read", row);
        return ast_fail_at_row(fault, row);
    case AST_UNSTORED:
        return ast_fail(fault, AST_NO_INPUT, "the labels from row %zu (counting from 1) on could not be kept", row);
    default:
        ast_fail(fault, AST_NO_INPUT, "row %zu (counting from 1) could not be read", row);
        return ast_fail_at_row(fault, row);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static bool open_hold(const ast_labelling *l, ast_worker *worker) {
    const ast_source *source = l->windows->source;
    ast_hold *hold = &worker->hold;
    bool small = l->cloud.small, raw = small || source->type != AST_F4;
    hold->first = SIZE_MAX;
    hold->have = small ? NULL : ast_allocate(l->chunk, sizeof *hold->have);
    hold->kinds = small ? ast_allocate(l->chunk, sizeof *hold->kinds) : NULL;
    hold->raw = raw ? ast_allocate(l->chunk * source->dimension, ast_type_size(source->type)) : NULL;
    bool part = !small || ast_cloud_open_part(&hold->part, l->kernels, source->dimension, l->chunk);
    return part && (small ? hold->kinds != NULL : hold->have != NULL) && (!raw || hold->raw);
}

/* The window as the labelling sees it. */
static void place(ast_labelling *l, size_t number) {
    const ast_windows *w = l->windows;
    size_t first = number * w->rows, left = w->source->count - first;
    l->offset = l->cloud.offset = first;
    l->cloud.count = left < w->rows ? left : w->rows;
    l->chunks = (l->cloud.count + l->chunk - 1) / l->chunk;
    l->cloud.padded = l->chunks * l->chunk;
    for (int i = 0; i < l->worker_count; i++)
        l->workers[i].hold.first = SIZE_MAX;
    l->weights = l->weights && w->weights ? w->weights + first : NULL;
}

ast_status ast_windows_load(ast_labelling *l, ast_windows *w, const ast_kernels *kernels, ast_pool *pool,
                            ast_fault *fault) {
    size_t dimension = w->source->dimension;
    l->kernels = kernels;
    l->pool = pool;
    l->windows = w;
    l->chunk = ast_chunk_size(dimension);
    l->cloud.kernels = kernels;
    l->cloud.dimension = dimension;
    l->cloud.small = dimension <= AST_SMALL;
    w->current = SIZE_MAX;
    atomic_store(&w->mishap, UINT64_MAX);
    ast_clusters_clear(&l->clusters, dimension);
    place(l, 0);
    bool ready = ast_labelling_reserve(l, l->cloud.padded);
    for (int i = 0; i < l->worker_count && ready; i++)
        ready = open_hold(l, &l->workers[i]);
    if (!ready)
        return ast_fail_memory(fault);
    ast_labelling_set_axial(l, w->axial);
    ast_labelling_reset(l);
    l->bounds = w->bounds;
    l->crowd = SIZE_MAX; /* never by cells */
    l->present = l->everyone = w->source->count;
    return AST_OK;
}

void ast_windows_free(ast_windows *w) {
    free(w->keys);
    free(w->weights);
    w->keys = NULL;
    w->weights = NULL;
}

/* ---- Labels come and go ------------------------------------------------------------------------------------------ */

/* With the store a label has its sign in the lowest bit, where there are signs. */
static void pack(ast_labelling *l, size_t first, size_t last) {
    for (size_t i = first; l->axial && !l->windows->plain && i < last; i++)
        if (l->labels[i] >= 0)
            l->labels[i] = l->labels[i] << 1 | ast_is_turned(l->signs, i);
}

static void unpack(ast_labelling *l, size_t first, size_t last) {
    memset(l->signs + first / AST_LANES, 0, (last - first + AST_LANES - 1) / AST_LANES);
    for (size_t i = first; l->axial && !l->windows->plain && i < last; i++)
        if (l->labels[i] >= 0) {
            l->signs[i / AST_LANES] |= (uint8_t)((l->labels[i] & 1) << i % AST_LANES);
            l->labels[i] >>= 1;
        }
}

static size_t block_end(const ast_labelling *l, size_t block) {
    size_t last = (block + 1) * LABEL_BLOCK;
    return last < l->cloud.count ? last : l->cloud.count;
}

static void write_block(void *data, size_t block, int index) {
    ast_labelling *l = data;
    const ast_label_store *store = l->windows->store;
    size_t first = block * LABEL_BLOCK, last = block_end(l, block);
    (void)index;
    pack(l, first, last);
    if (store->write(l->offset + first, last - first, l->labels + first, store->data) != 0)
        ast_windows_note(l, l->offset + first, AST_UNSTORED);
}

static void read_block(void *data, size_t block, int index) {
    ast_labelling *l = data;
    const ast_windows *w = l->windows;
    size_t first = block * LABEL_BLOCK, last = block_end(l, block);
    (void)index;
    if (w->current >= w->written) /* nobody has labels yet */
        for (size_t i = first; i < last; i++)
            l->labels[i] = AST_UNLABELLED;
    else if (w->store->read(l->offset + first, last - first, l->labels + first, w->store->data) != 0)
        ast_windows_note(l, l->offset + first, AST_UNSTORED);
    if (!atomic_load(&l->failed))
        unpack(l, first, last);
}

static size_t label_blocks(const ast_labelling *l) {
    return (l->cloud.count + LABEL_BLOCK - 1) / LABEL_BLOCK;
}

ast_status ast_windows_open(ast_labelling *l, size_t number, ast_fault *fault) {
    ast_windows *w = l->windows;
    if (!w || w->current == number)
        return AST_OK;
    place(l, number);
    w->current = number;
    ast_pool_run(l->pool, label_blocks(l), read_block, l);
    for (size_t i = l->cloud.count; i < l->cloud.padded; i++)
        l->labels[i] = AST_MISSING;
    ast_labelling_forget(l);
    return ast_windows_fault(l, fault);
}

ast_status ast_windows_save(ast_labelling *l, ast_fault *fault) {
    ast_windows *w = l->windows;
    if (!w || w->count == 1)
        return AST_OK;
    ast_pool_run(l->pool, label_blocks(l), write_block, l);
    w->written = w->current < w->written ? w->written : w->current + 1;
    w->current = SIZE_MAX;
    return ast_windows_fault(l, fault);
}

/* ---- Before the first pass --------------------------------------------------------------------------------------- */

typedef struct stretch {
    ast_labelling *l;
    size_t first; /* chunk */
} stretch;

static void survey_chunk(void *data, size_t block, int index) {
    const stretch *s = data;
    ast_worker *worker = &s->l->workers[index];
    ast_begin_chunk(s->l, worker, s->first + block);
    if (!atomic_load(&s->l->failed))
        ast_fetch_chunk(s->l, worker);
}

/* Runs chunks first.. of the window, a segment, and tells; returns the next one. */
static ast_status run_segment(ast_labelling *l, size_t *first, void run(ast_labelling *, size_t, size_t),
                              ast_fault *fault) {
    ast_windows *w = l->windows;
    size_t last = l->chunks - *first < w->segment ? l->chunks : *first + w->segment;
    size_t done = l->offset + last * l->chunk, count = w->source->count;
    if (w->eager && w->source->expect && done < count) {
        size_t next = w->segment * l->chunk;
        w->source->expect(done, count - done < next ? count - done : next, w->source->data);
    }
    run(l, *first, last);
    *first = last;
    ast_status status = ast_windows_fault(l, fault);
    size_t left = done < count ? count - done : 0;
    return status == AST_OK && w->tell && left ? w->tell(w->tell_data, left, fault) : status;
}

static void survey_chunks(ast_labelling *l, size_t first, size_t last) {
    stretch s = {l, first};
    ast_pool_run(l->pool, last - first, survey_chunk, &s);
}

ast_status ast_windows_survey(ast_labelling *l, ast_fault *fault) {
    ast_windows *w = l->windows;
    ast_status status = AST_OK;
    w->eager = true;
    for (size_t n = 0; n < w->count && status == AST_OK; n++) {
        status = ast_windows_open(l, n, fault);
        for (size_t chunk = 0; chunk < l->chunks && status == AST_OK;)
            status = run_segment(l, &chunk, survey_chunks, fault);
        if (status == AST_OK)
            status = ast_windows_save(l, fault);
    }
    l->present = l->everyone = w->source->count - atomic_load(&w->missing);
    return status;
}

/* Over the points in order, as in memory: sums of doubles depend on it. */
ast_status ast_windows_weigh(ast_labelling *l, ast_fault *fault) {
    ast_windows *w = l->windows;
    ast_weight_range range = {.smallest = INFINITY};
    ast_status status = AST_OK;
    double unit = 0;
    for (int step = 0; step < 3 && status == AST_OK && w->weights; step++) {
        if (step == 2)
            status = ast_weights_unit(&range, &unit, fault);
        if (step == 2 && unit == 0)
            break;
        for (size_t n = 0; n < w->count && status == AST_OK; n++) {
            status = ast_windows_open(l, n, fault);
            if (step < 2)
                (step == 0 ? ast_weights_range : ast_weights_total)(l, w->weights + l->offset, &range);
            else
                ast_weights_apply(l, w->weights + l->offset, &range, unit);
            if (step == 2 && status == AST_OK)
                status = ast_windows_save(l, fault);
        }
    }
    l->everyone = l->present;
    return status;
}

/* ---- A pass ------------------------------------------------------------------------------------------------------ */

/* The keys of the first pass are counted window by window, while their labels are here. */
static bool count_keys(ast_labelling *l) {
    ast_windows *w = l->windows;
    size_t slots = l->clusters.slots, used = w->key_capacity;
    if (slots > used) {
        if (!ast_grow_array(&w->keys, used, 2 * slots, sizeof *w->keys))
            return false;
        memset(w->keys + used, 0, (2 * slots - used) * sizeof *w->keys);
        w->key_capacity = 2 * slots;
    }
    return ast_count_keys(l, w->keys);
}

/* Before the second pass: its labels are those that the fingerprints start from. They are the clusters' keys already,
 * with what was moved since. */
static bool save_first(ast_labelling *l) {
    ast_windows *w = l->windows;
    if (l->clusters.slots)
        memcpy(w->keys, l->clusters.keys, l->clusters.slots * sizeof *w->keys);
    if (!ast_save_order(l))
        return false;
    if (l->clusters.slots)
        memcpy(l->clusters.keys, w->keys, l->clusters.slots * sizeof *w->keys);
    l->first_print = ast_clusters_fingerprint(&l->clusters, l->first_order, l->first_live);
    l->keys_due = false;
    return true;
}

static ast_status label_window(ast_labelling *l, size_t number, ast_fault *fault) {
    size_t chunk = 0;
    ast_status status = ast_windows_open(l, number, fault);
    atomic_store(&l->turn, 0);
    if (status == AST_OK && l->first && number == 0) {
        bool quiet;
        chunk = ast_run_head(l, HEAD, &quiet);
        status = ast_windows_fault(l, fault);
    }
    while (chunk < l->chunks && status == AST_OK)
        status = run_segment(l, &chunk, ast_run_chunks, fault);
    if (status == AST_OK && l->first && !count_keys(l)) {
        atomic_store(&l->failed, false);
        status = ast_fail_memory(fault);
    }
    return status == AST_OK ? ast_windows_save(l, fault) : status;
}

static void close_pass(ast_labelling *l, ast_pass_result *result) {
    ast_windows *w = l->windows;
    uint64_t read = atomic_load(&w->read);
    bool first = l->first;
    if (first && !l->weights) /* where there are weights it was known before */
        l->present = l->everyone = w->source->count - atomic_load(&w->missing);
    result->changed = first ? l->present : 0;
    ast_gather_sums(l);
    if (first && l->clusters.slots)
        memcpy(l->clusters.keys, w->keys, l->clusters.slots * sizeof *w->keys);
    for (int i = 0; i < l->worker_count; i++) {
        result->changed += l->workers[i].changed;
        result->scored += l->workers[i].scored;
    }
    w->eager = !l->bounds || (read - w->last_read) * 4 > w->source->count;
    w->last_read = read;
}

ast_status ast_windows_pass(ast_labelling *l, ast_pass_result *result, ast_fault *fault) {
    ast_windows *w = l->windows;
    l->kept = w->bounds && !l->cloud.small;
    w->eager |= l->first;
    if ((l->kept && !ast_labelling_keep_scores(l)) || (l->first_done && !save_first(l)))
        return ast_fail_memory(fault);
    atomic_store(&l->stop, SIZE_MAX - 1); /* never by cells */
    ast_prepare_pass(l);
    ast_status status = ast_windows_fault(l, fault);
    for (size_t n = 0; n < w->count && status == AST_OK; n++)
        status = label_window(l, n, fault);
    if (status == AST_OK)
        close_pass(l, result);
    return status;
}

/* ---- Clusters of one point --------------------------------------------------------------------------------------- */

static bool is_single(const ast_cluster_list *c, int32_t slot) {
    return c->touched[slot] && c->alive[slot] && c->members[slot] == 1;
}

/* The founder is known to be the member by its key; and where there is a founder the mean is its row. */
static bool is_known(const ast_cluster_list *c, int32_t slot) {
    uint32_t founder = c->founder[slot];
    return founder != UINT32_MAX &&
           (c->keys[slot] == ast_key_of(founder, false) || c->keys[slot] == ast_key_of(founder, true));
}

/* Every cluster that became one of a single point has it for its mean: those of this window. Returns how many. */
static size_t find_singles(ast_labelling *l) {
    ast_cluster_list *c = &l->clusters;
    size_t found = 0;
    for (size_t i = 0; i < l->cloud.count; i++) {
        int32_t slot = l->labels[i];
        if (slot < 0 || !is_single(c, slot))
            continue;
        ast_clusters_rest(c, slot);
        ast_clusters_set_mean(c, slot, ast_upright_row(l, &l->workers[0], i));
        c->founder[slot] = (uint32_t)(l->offset + i);
        c->touched[slot] = 0;
        found++;
    }
    return found;
}

ast_status ast_windows_singles(ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    size_t left = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (is_single(c, slot) && is_known(c, slot)) {
            ast_clusters_rest(c, slot);
            c->touched[slot] = 0;
        }
        left += is_single(c, slot);
    }
    ast_status status = AST_OK;
    for (size_t n = 0; n < l->windows->count && left > 0 && status == AST_OK; n++) {
        status = ast_windows_open(l, n, fault);
        if (status == AST_OK)
            left -= find_singles(l);
    }
    return status == AST_OK ? ast_windows_fault(l, fault) : status;
}
