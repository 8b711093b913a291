/* SPDX-License-Identifier: MIT
 *
 * Rows are offered in any order and by any thread: the smallest ones by (hash, bytes, weight, number) are the same.
 * There is room for some rows more than are drawn; where it is full, the largest ones are dropped. */
#include "metric_sample.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARE 8  /* room for an eighth more */
#define SENT 256 /* rows that a rank sends at a time */

static size_t room_for(size_t count, size_t most) {
    size_t room = most + most / SHARE + 1;
    return count < room ? count : room;
}

double ast_row_sample_bytes(size_t dimension, size_t count) {
    double row = (double)(dimension * sizeof(float) + sizeof(ast_drawn_row));
    return (double)room_for(count, AST_METRIC_SAMPLE) * row;
}

bool ast_row_sample_open(ast_row_sample *sample, size_t dimension, size_t count, size_t most) {
    ast_row_sample_free(sample);
    sample->dimension = dimension;
    sample->most = most;
    sample->room = room_for(count, most);
    atomic_store(&sample->bound, UINT64_MAX);
    atomic_flag_clear(&sample->busy);
    bool ready = ast_content_open(&sample->content, dimension, true, false, AST_METRIC_SEED) &&
                 ast_replace_arrays(AST_REQUEST(sample->drawn, sample->room),
                                    AST_REQUEST(sample->rows, sample->room * dimension));
    for (size_t i = 0; ready && i < sample->room; i++)
        sample->drawn[i].place = i;
    return ready;
}

void ast_row_sample_free(ast_row_sample *sample) {
    ast_free_all(sample->drawn, sample->rows);
    ast_content_close(&sample->content);
    sample->drawn = NULL;
    sample->rows = NULL;
    sample->count = sample->room = 0;
}

static const float *row_at(const ast_row_sample *sample, const ast_drawn_row *drawn) {
    return sample->rows + drawn->place * sample->dimension;
}

/* ---- The smallest rows ------------------------------------------------------------------------------------------- */

static int compare_content(const ast_row_sample *sample, const ast_drawn_row *a, const ast_drawn_row *b) {
    const float *x = row_at(sample, a), *y = row_at(sample, b);
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    for (size_t d = 0; d < sample->dimension; d++)
        if (x[d] != y[d])
            return x[d] < y[d] ? -1 : 1;
    return 0;
}

static int compare(const void *a, const void *b, void *data) {
    const ast_drawn_row *x = a, *y = b;
    int order = compare_content(data, x, y);
    if (order == 0 && x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

/* Drops copies, and rows beyond those to draw; the places of dropped rows are free again. */
static void sort_out(ast_row_sample *sample) {
    ast_drawn_row *drawn = sample->drawn;
    size_t kept = 0;
    ast_system_sort(drawn, sample->count, sizeof *drawn, compare, sample);
    for (size_t i = 0; i < sample->count; i++) {
        if (kept == sample->most || (kept > 0 && compare_content(sample, &drawn[i], &drawn[kept - 1]) == 0))
            continue;
        ast_drawn_row row = drawn[i]; /* swapped, so that no place is lost */
        drawn[i] = drawn[kept];
        drawn[kept++] = row;
    }
    sample->count = kept;
    if (kept == sample->most && kept > 0)
        atomic_store(&sample->bound, drawn[kept - 1].hash);
}

static void keep(ast_row_sample *sample, const float *row, ast_drawn_row made) {
    size_t dimension = sample->dimension;
    if (sample->count == sample->room)
        sort_out(sample);
    if (sample->count == sample->room) /* fewer rows were announced, and all differ: cannot happen */
        return;
    made.place = sample->drawn[sample->count].place;
    sample->drawn[sample->count++] = made;
    memcpy(sample->rows + made.place * dimension, row, dimension * sizeof *row);
}

void ast_row_sample_offer(ast_row_sample *sample, const float *row, double weight, uint64_t number) {
    uint64_t hash = ast_content_row(&sample->content, row);
    unsigned spins = 0;
    if (hash > atomic_load_explicit(&sample->bound, memory_order_relaxed))
        return;
    while (atomic_flag_test_and_set_explicit(&sample->busy, memory_order_acquire))
        ast_pool_pause(&spins);
    keep(sample, row, (ast_drawn_row){.hash = hash, .number = number, .weight = weight});
    atomic_flag_clear_explicit(&sample->busy, memory_order_release);
}

static void swap_rows(float *a, float *b, size_t dimension) {
    for (size_t d = 0; d < dimension; d++) {
        float x = a[d];
        a[d] = b[d];
        b[d] = x;
    }
}

void ast_row_sample_end(ast_row_sample *sample) {
    size_t dimension = sample->dimension;
    sort_out(sample);
    for (size_t i = 0; i < sample->count; i++) {
        size_t from = sample->drawn[i].place;
        while (from < i) /* that row has made room for another one */
            from = sample->drawn[from].place;
        if (from != i)
            swap_rows(sample->rows + i * dimension, sample->rows + from * dimension, dimension);
        sample->drawn[i].place = from;
    }
    for (size_t i = 0; i < sample->room; i++)
        sample->drawn[i].place = i;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

typedef struct drawing {
    const ast_map_input *input;
    const float *center;
    ast_row_sample *sample;
    _Atomic uint64_t infinite; /* the first row with an infinity; UINT64_MAX: none */
} drawing;

/* The caller's rows `first` and on: in memory, or read into `rows` or into memory of their own, *own. */
static bool fetch(const ast_map_input *input, size_t first, size_t count, float *rows, void **own, ast_points *view) {
    const ast_source *source = input->source;
    *own = NULL;
    if (!source) {
        *view = *input->points;
        view->data = (const char *)view->data + (ptrdiff_t)first * view->row_stride;
        view->count = count;
        return true;
    }
    size_t element = ast_type_size(source->type);
    void *to = rows;
    if (source->type != AST_F4)
        to = *own = ast_allocate(count * source->dimension, element);
    *view = ast_points_dense(to, source->type, element, count, source->dimension);
    return to && source->read(first, count, to, source->data) == 0;
}

/* Rows without their mean for ast_find_mean, which are offered on the way. */
static int read_offered(size_t first, size_t count, void *rows, void *data) {
    drawing *d = data;
    const ast_points *p = d->input->points;
    size_t dimension = p->dimension;
    ast_points view;
    void *own;
    bool read = fetch(d->input, first, count, rows, &own, &view);
    for (size_t i = 0; i < count && read; i++) {
        float *row = (float *)rows + i * dimension;
        size_t r = first + i;
        double weight = p->weights ? p->weights[r] : 1;
        ast_center_row(&view, i, d->center, row);
        if (isinf(row[0]))
            ast_keep_least(&d->infinite, r);
        else if (!isnan(row[0]) && weight > 0 && !(p->late && p->late[r]))
            ast_row_sample_offer(d->sample, row, weight, d->input->offset + r);
    }
    ast_free(own);
    return !read;
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* Rows that a rank sends to all. */
typedef struct parcel {
    ast_drawn_row drawn[SENT];
    float *rows; /* (SENT, D) */
} parcel;

/* Rank `from` sends what it has drawn, as far as it may be among the smallest. */
static void send_rows(const ast_comm *comm, int from, const ast_row_sample *own, ast_row_sample *all, parcel *p) {
    uint64_t bound = atomic_load(&all->bound), count = 0;
    while (count < own->count && own->drawn[count].hash <= bound)
        count++;
    ast_comm_broadcast(comm, &count, sizeof count, from);
    for (size_t first = 0; first < count; first += SENT) {
        size_t n = count - first < SENT ? (size_t)count - first : SENT, bytes = n * own->dimension * sizeof *p->rows;
        if (ast_comm_rank(comm) == from) {
            memcpy(p->drawn, own->drawn + first, n * sizeof *p->drawn);
            memcpy(p->rows, own->rows + first * own->dimension, bytes);
        }
        ast_comm_broadcast(comm, p->drawn, n * sizeof *p->drawn, from);
        ast_comm_broadcast(comm, p->rows, bytes, from);
        for (size_t i = 0; i < n; i++)
            ast_row_sample_offer(all, p->rows + i * own->dimension, p->drawn[i].weight, p->drawn[i].number);
    }
    sort_out(all);
}

/* The samples of all ranks become one. */
static ast_status join_ranks(const ast_map_input *input, ast_row_sample *own) {
    const ast_comm *comm = input->context->comm;
    ast_fault *fault = &input->context->fault;
    if (!ast_comm_many(comm))
        return AST_OK;
    ast_row_sample all = {0};
    parcel *p = ast_allocate_zero(1, sizeof *p);
    bool ready = p && ast_row_sample_open(&all, own->dimension, input->total, own->most);
    if (ready)
        p->rows = ast_allocate(SENT * own->dimension, sizeof *p->rows);
    ast_status status = ast_comm_agree(comm, ready && p->rows ? AST_OK : ast_fail_memory(fault), fault);
    for (int rank = 0; rank < ast_comm_size(comm) && status == AST_OK; rank++)
        send_rows(comm, rank, own, &all, p);
    if (status == AST_OK) {
        ast_row_sample_end(&all);
        ast_row_sample_free(own);
        *own = all;
    } else {
        ast_row_sample_free(&all);
    }
    if (p)
        ast_free(p->rows);
    ast_free(p);
    return status;
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

static ast_status open_sample(const ast_map_input *input, ast_row_sample *sample) {
    bool ready = ast_row_sample_open(sample, input->points->dimension, input->points->count, AST_METRIC_SAMPLE);
    return ready ? AST_OK : ast_fail_memory(&input->context->fault);
}

ast_status ast_draw_rows(const ast_map_input *input, const float *center, float *mean, ast_row_sample *sample) {
    ast_context *context = input->context;
    ast_fault *fault = &context->fault;
    drawing d = {.input = input, .center = center, .sample = sample, .infinite = UINT64_MAX};
    const ast_source centred = {.size = sizeof centred,
                                .count = input->points->count,
                                .dimension = input->points->dimension,
                                .type = AST_F4,
                                .weights = input->points->weights,
                                .read = read_offered,
                                .data = &d};
    ast_points shape = ast_points_f4(NULL, centred.count, centred.dimension);
    shape.weights = centred.weights;
    ast_status status = ast_comm_agree(context->comm, open_sample(input, sample), fault);
    if (status == AST_OK)
        status = ast_find_mean(context, &shape, &centred, input->total, mean);
    if (status == AST_OK && atomic_load(&d.infinite) != UINT64_MAX)
        status = ast_fail_infinite(fault, input->offset + (size_t)atomic_load(&d.infinite) + 1);
    if (status == AST_OK)
        ast_row_sample_end(sample);
    status = ast_comm_agree(context->comm, status, fault);
    return status == AST_OK ? join_ranks(input, sample) : status;
}

void ast_drawn_labels(const ast_map_input *input, const ast_row_sample *sample, const int32_t *labels, int32_t *drawn) {
    enum { TOGETHER = 512 };
    uint64_t sums[TOGETHER];
    size_t count = input->points->count;
    for (size_t first = 0; first < sample->count; first += TOGETHER) {
        size_t n = sample->count - first < TOGETHER ? sample->count - first : TOGETHER;
        for (size_t i = 0; i < n; i++) {
            uint64_t r = sample->drawn[first + i].number - input->offset; /* wraps for rows before this rank's */
            sums[i] = r < count ? (uint64_t)(labels[r] + 1) : 0;
        }
        ast_comm_allreduce(input->context->comm, sums, n);
        for (size_t i = 0; i < n; i++)
            drawn[first + i] = (int32_t)sums[i] - 1;
    }
}
