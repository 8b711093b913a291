/* SPDX-License-Identifier: MIT
 *
 * Speeds up frames of few rows in streams of many identities: only identities that a row of the frame may join take
 * part; all others just age. A row can join a cluster only if their score is at least the least score that fits
 * any cluster (in exclusive frames: that fits this cluster). So one product of all means with the rows of the frame, in
 * floats and with a margin for their error, tells which means can be left out. Results do not depend on it.
 *
 * While the frame is labelled and closed, the stream consists of the identities that take part. Afterwards the other
 * identities are added again. */
#include "stream.h"

#include "mean_table.h"
#include "memory.h"

#include <string.h>

enum { LEAST_TRACKS = 64, MOST_ROWS = 1024, FEW_ROWS = 40, BLOCK = AST_TILE_ROWS };

/* ---- The product ------------------------------------------------------------------------------------------------- */

typedef struct product {
    const ast_kernels *kernels;
    const ast_near_set *near;
    const float *means;    /* (count, D) */
    const uint8_t *wanted; /* (count), or NULL: all */
    size_t dimension;
} product;

static bool is_wanted(const product *p, size_t k) {
    return !p->wanted || p->wanted[k];
}

static void score_block(void *data, size_t first, size_t last) {
    const product *p = data;
    const ast_near_set *near = p->near;
    for (size_t k = first, end; k < last; k = end) {
        for (end = k + 1; end < last && is_wanted(p, k) == is_wanted(p, end); end++)
            ;
        if (is_wanted(p, k))
            p->kernels->best_products(p->means + k * p->dimension, end - k, near->rows, near->count, p->dimension,
                                      near->best + k);
    }
}

/* The same with the table. */
static void score_tiles(void *data, size_t first, size_t last) {
    const product *p = data;
    _Alignas(AST_ALIGNMENT) float scratch[AST_ROW_SCRATCH];
    float best[BLOCK + AST_LANES], second[BLOCK + AST_LANES];
    int32_t ids[BLOCK + AST_LANES];
    const float *rows[BLOCK];
    size_t count = 0;
    for (size_t k = first; k < last; k++)
        if (is_wanted(p, k))
            rows[count++] = p->means + k * p->dimension;
    if (count == 0)
        return;
    p->kernels->score_rows(rows, count, &p->near->table, (ast_scores){best, second, ids}, scratch);
    count = 0;
    for (size_t k = first; k < last; k++)
        if (is_wanted(p, k))
            p->near->best[k] = best[count++];
}

bool ast_stream_reserve_mean_scores(ast_stream *s, size_t count) {
    ast_near_set *near = &s->near;
    return ast_reserve(&near->best, &near->best_capacity, near->best_capacity, count, sizeof *near->best) &&
           ast_reserve(&near->in, &near->in_capacity, near->in_capacity, count, sizeof *near->in);
}

bool ast_stream_score_means(ast_stream *s, const uint8_t *wanted) {
    ast_near_set *near = &s->near;
    const size_t dimension = s->options.dimension;
    product p = {s->kernels, near, s->m, wanted, dimension};
    bool few = near->count <= FEW_ROWS, good = true;
    ast_mean_table_clear(&near->table, dimension, false);
    for (size_t i = 0; i < near->count && !few && good; i++)
        good = ast_mean_table_append(&near->table, near->rows + i * dimension, (int32_t)i);
    if (good)
        ast_pool_ranges(s->pool, s->count, BLOCK, few ? score_block : score_tiles, &p);
    return good;
}

double ast_stream_score_slack(const ast_stream *s) {
    return 2 * (double)ast_score_error(s->options.dimension) + 0x1p-20;
}

/* ---- Who takes part ---------------------------------------------------------------------------------------------- */

static bool is_for_few(const ast_stream *s, const ast_points *points) {
    const ast_stream_options *o = &s->options;
    return o->bounds && o->method == AST_STREAM_DDP && ast_stream_scores_nearest(s) && !o->axial && !o->rigid &&
           o->lifetime > 1 && o->dimension > AST_SMALL && (!points->late || o->exclusive) && s->count >= LEAST_TRACKS &&
           points->count <= MOST_ROWS && points->count < s->count && !(o->max_clusters && s->count > o->max_clusters);
}

static bool take_rows(ast_stream *s, const ast_points *points) {
    ast_near_set *near = &s->near;
    const size_t dimension = s->options.dimension;
    float x[AST_MAX_DIMENSION];
    near->count = 0;
    if (!ast_reserve(&near->rows, &near->row_capacity, 0, points->count, dimension * sizeof *near->rows))
        return false;
    for (size_t i = 0; i < points->count; i++) {
        ast_row_kind kind = ast_read_row(points, i, x);
        if (kind != AST_ROW_MISSING && kind != AST_ROW_INFINITE)
            memcpy(near->rows + near->count++ * dimension, x, dimension * sizeof *x);
    }
    return true;
}

/* Marks the tracks of ids that take part. Pieces may join clusters that were in view in the last frame, whatever their
 * rows are. The scores of late rows do not fall with absence. */
static size_t mark(ast_stream *s, bool late) {
    const double slack = ast_stream_score_slack(s), q = (ast_cosine(s->options.angle) - 1) / s->options.lifetime;
    const double least = ast_stream_fit_limit(s, 1); /* of all clusters: a mean of one row is the least reliable */
    const double late_limit = ast_least_score(s->options.angle);
    const bool pieces = ast_stream_merges(s);
    size_t marked = 0;
    for (size_t k = 0, end; k < s->count; k = end) {
        bool in = pieces && s->track[k].dt == 1;
        end = ast_stream_end_of_id(s, k);
        for (size_t e = k; e < end && !in; e++) {
            double best = (double)s->near.best[e] + slack, score = best + s->track[e].dt * q;
            in = score >= least && (!s->options.exclusive || score >= ast_stream_fit_limit(s, s->track[e].rows));
            in = in || (late && best >= late_limit);
        }
        for (size_t e = k; e < end; e++)
            s->near.in[e] = in;
        marked += in ? end - k : 0;
    }
    return marked;
}

static bool reserve_work(ast_near_set *near, size_t count, size_t dimension) {
    ast_track_list *w = &near->others;
    if (count <= w->capacity)
        return true;
    size_t capacity = 2 * count + 16;
    bool grown = ast_grow_array(&w->track, 0, capacity, sizeof *w->track) &&
                 ast_grow_array(&w->m, 0, capacity, dimension * sizeof *w->m) &&
                 ast_grow_array(&w->data_direction, 0, capacity, dimension * sizeof *w->data_direction);
    w->capacity = grown ? capacity : w->capacity;
    return grown;
}

/* The stream's list and the other one change places. */
static void swap_lists(ast_stream *s) {
    ast_track_list *o = &s->near.others, mine = {s->track, s->m, s->data_direction, s->count, s->capacity};
    s->track = o->track;
    s->m = o->m;
    s->data_direction = o->data_direction;
    s->count = o->count;
    s->capacity = o->capacity;
    *o = mine;
}

ast_status ast_stream_select_near(ast_stream *s, const ast_points *points) {
    ast_near_set *near = &s->near;
    const size_t dimension = s->options.dimension;
    if (!is_for_few(s, points))
        return AST_OK;
    if (!take_rows(s, points) || !ast_stream_reserve_mean_scores(s, s->count) || !ast_stream_score_means(s, NULL))
        return ast_fail_memory(s->fault);
    size_t count = mark(s, points->late != NULL), to = 0;
    if (2 * count > s->count)
        return AST_OK; /* most take part */
    if (!reserve_work(near, count, dimension))
        return ast_fail_memory(s->fault);
    ast_track_list *w = &near->others;
    for (size_t k = 0; k < s->count; k++) {
        if (!near->in[k])
            continue;
        w->track[to] = s->track[k];
        memcpy(w->m + to * dimension, s->m + k * dimension, dimension * sizeof *w->m);
        memcpy(w->data_direction + to * dimension, s->data_direction + k * dimension,
               dimension * sizeof *w->data_direction);
        to++;
    }
    w->count = to;
    swap_lists(s);
    near->selected = true;
    return AST_OK;
}

void ast_stream_cancel_selection(ast_stream *s) {
    if (!s->near.selected)
        return;
    swap_lists(s);
    s->near.selected = false;
}

/* ---- Back among the others --------------------------------------------------------------------------------------- */

bool ast_stream_reserve_unselected(ast_stream *s, size_t born) {
    ast_near_set *near = &s->near;
    if (!near->selected)
        return true;
    size_t dying = 0, work = s->count + born, all;
    for (size_t k = 0; k < near->others.count; k++)
        dying += near->others.track[k].dt >= s->options.lifetime;
    swap_lists(s);
    all = s->count + born;
    bool good = ast_stream_reserve(s, all) && ast_stream_reserve_record_list(s, all) &&
                ast_stream_reserve_records(s, 2 * work + dying + 1) &&
                ast_reserve(&near->records, &near->record_capacity, 0, work + 1, sizeof *near->records) &&
                ast_reserve(&near->hidden, &near->hidden_capacity, 0, work + 1, sizeof *near->hidden);
    swap_lists(s);
    return good;
}

/* Puts track k of the stream at place `to`, which is not behind it. */
static void move_track(const ast_stream *s, size_t k, size_t to) {
    const size_t dimension = s->options.dimension;
    if (to == k)
        return;
    s->track[to] = s->track[k];
    memcpy(s->m + to * dimension, s->m + k * dimension, dimension * sizeof *s->m);
    memcpy(s->data_direction + to * dimension, s->data_direction + k * dimension,
           dimension * sizeof *s->data_direction);
}

static void copy_back(const ast_stream *s, const ast_track_list *w, size_t from, size_t to) {
    const size_t dimension = s->options.dimension;
    s->track[to] = w->track[from];
    memcpy(s->m + to * dimension, w->m + from * dimension, dimension * sizeof *s->m);
    memcpy(s->data_direction + to * dimension, w->data_direction + from * dimension,
           dimension * sizeof *s->data_direction);
}

/* An id that took no part: tracks first..end-1 go to the places from `to` on. Returns how many live. */
static size_t age_id(ast_stream *s, size_t first, size_t end, size_t to) {
    for (size_t k = first; k < end; k++)
        s->track[k].dt++;
    bool lives = s->track[first].dt <= s->options.lifetime;
    ast_stream_record_unseen(s, first, end, lives);
    for (size_t k = first; k < end && lives; k++)
        move_track(s, k, to + k - first);
    return lives ? end - first : 0;
}

static void put_record(ast_stream *s, size_t record) {
    s->records.hidden[s->records.count] = s->near.hidden[record];
    s->records.list[s->records.count++] = s->near.records[record];
}

void ast_stream_add_unselected(ast_stream *s) {
    ast_near_set *near = &s->near;
    const ast_track_list *w = &near->others;
    const size_t records = s->records.count;
    size_t to = 0, from = 0, record = 0;
    if (!near->selected)
        return;
    if (records) {
        memcpy(near->records, s->records.list, records * sizeof *near->records);
        memcpy(near->hidden, s->records.hidden, records * sizeof *near->hidden);
    }
    s->records.count = 0;
    ast_stream_cancel_selection(s);
    for (size_t k = 0, end; k < s->count; k = end) {
        end = ast_stream_end_of_id(s, k);
        if (!near->in[k]) {
            to += age_id(s, k, end, to);
            continue;
        }
        const int32_t id = s->track[k].id;
        put_record(s, record++);
        for (; from < w->count && w->track[from].id == id; from++)
            copy_back(s, w, from, to++);
    }
    for (; from < w->count; from++)
        copy_back(s, w, from, to++);
    for (; record < records; record++)
        put_record(s, record);
    s->count = to;
}

void ast_near_set_free(ast_near_set *near) {
    ast_mean_table_free(&near->table);
    ast_free_all(near->rows, near->best, near->in, near->records, near->hidden, near->others.track, near->others.m,
                 near->others.data_direction);
    *near = (ast_near_set){0};
}
