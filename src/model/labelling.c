/* SPDX-License-Identifier: MIT
 *
 * The memory of a labelling: points, weights, workers; its state before the first pass; the view. */
#include "inside.h"

#include "memory.h"
#include "weights.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

void ast_labelling_fail(ast_labelling *l) {
    atomic_store(&l->failed, true);
}

bool ast_labelling_stopped(ast_labelling *l, int worker) {
    if (ast_pool_stopped(l->pool, worker))
        atomic_store(&l->failed, true);
    return atomic_load_explicit(&l->failed, memory_order_relaxed);
}

ast_status ast_labelling_trouble(ast_labelling *l, ast_fault *fault) {
    if (ast_pool_cancelled(l->pool))
        atomic_store(&l->failed, true);
    if (!atomic_exchange(&l->failed, false))
        return AST_OK;
    if (ast_pool_cancelled(l->pool))
        return ast_fail_cancelled(fault);
    ast_status status = ast_windows_failure(l, fault);
    return status == AST_OK ? ast_fail_memory(fault) : status;
}

ast_status ast_labelling_set_pending(ast_labelling *l, ast_status status) {
    if (!ast_comm_many(l->ranks.comm))
        return status;
    if (l->ranks.pending == AST_OK)
        l->ranks.pending = status;
    return AST_OK;
}

ast_status ast_labelling_finish(ast_labelling *l, ast_status status, ast_fault *fault) {
    status = l->ranks.pending == AST_OK ? status : l->ranks.pending;
    return ast_comm_agree(l->ranks.comm, atomic_load(&l->failed) ? ast_fail_memory(fault) : status, fault);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static bool open_worker(const ast_rowset *rows, ast_worker *worker, int number) {
    worker->changes = ast_allocate(rows->chunk, sizeof *worker->changes);
    worker->chunk.worker = number;
    return ast_chunk_open(&worker->chunk, rows) && worker->changes;
}

static void free_worker(ast_worker *worker) {
    ast_free_all(worker->exact, worker->changes, worker->undo_log, worker->bin_memory, worker->key_memory,
                 worker->joined, worker->used);
    ast_chunk_free(&worker->chunk);
    ast_mean_table_free(&worker->table);
    ast_mean_table_free(&worker->changed_means);
}

static void free_workers(ast_labelling *l) {
    for (int w = 0; l->workers && w < l->worker_count; w++)
        free_worker(&l->workers[w]);
    ast_free(l->workers);
    l->workers = NULL;
}

/* The memory of workers fits one dimension. Only large rows that are not in place need memory for rows. */
static bool reserve_workers(ast_labelling *l) {
    const ast_rowset *rows = &l->rows;
    if (l->workers && (rows->small || rows->in_place || rows->sparse || l->workers[0].chunk.rows.memory))
        return true;
    free_workers(l);
    l->worker_count = ast_pool_threads(l->pool);
    l->workers = ast_allocate_zero((size_t)l->worker_count, sizeof *l->workers);
    bool ready = l->workers != NULL;
    for (int w = 0; w < l->worker_count && ready; w++)
        ready = open_worker(rows, &l->workers[w], w);
    if (!ready)
        free_workers(l);
    return ready;
}

static bool reserve_points(ast_labelling *l, size_t padded) {
    if (padded <= l->capacity && l->capacity > 0)
        return true;
    ast_free(l->summed);
    l->summed = NULL;
    bool ready = ast_replace_arrays(AST_REQUEST(l->labels, padded), AST_REQUEST(l->signs, padded / AST_LANES)) &&
                 ast_scorer_reserve(&l->scorer, padded);
    l->capacity = ready ? padded : 0;
    return ready;
}

/* No sum contains a sparse point yet. */
static bool reserve_summed(ast_labelling *l) {
    if (!l->rows.sparse)
        return true;
    if (!l->summed)
        l->summed = ast_allocate(l->capacity, sizeof *l->summed);
    for (size_t i = 0; l->summed && i < l->rows.padded; i++)
        l->summed[i] = AST_UNLABELLED;
    return l->summed != NULL;
}

bool ast_labelling_reserve(ast_labelling *l, size_t padded) {
    return reserve_points(l, padded) && reserve_workers(l);
}

void ast_labelling_clear(ast_labelling *l) {
    free_workers(l);
    ast_free_all(l->labels, l->signs, l->summed, l->events.list, l->label_hash_base.order, l->ranks.chunk_full,
                 l->ranks.scored_groups, l->ranks.packet, (void *)l->queue.parked);
    ast_scorer_free(&l->scorer);
    ast_clusters_free(&l->clusters);
    ast_cells_free(l->cells);
    ast_rowset_free(&l->rows);
    memset(l, 0, sizeof *l);
}

ast_labelling *ast_labelling_new(void) {
    return ast_allocate_zero(1, sizeof(ast_labelling));
}

void ast_labelling_free(ast_labelling *l) {
    if (l)
        ast_labelling_clear(l);
    ast_free(l);
}

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

void ast_labelling_weigh(ast_labelling *l, const double *weights, double unit) {
    for (size_t i = 0; weights && i < l->rows.count; i++)
        if (weights[i] == 0 && l->labels[i] != AST_MISSING) {
            l->labels[i] = AST_MISSING;
            l->present--;
            l->everyone--;
        }
    l->rows.weights = weights;
    if (weights)
        l->clusters.unit = l->clusters.weight_unit = unit;
}

/* Each rank continues the sum of the rank before: a sum of doubles depends on its order. */
static ast_status survey_weights(ast_labelling *l, const double *weights, ast_weight_range *range, ast_fault *fault) {
    const ast_comm *comm = l->ranks.comm;
    ast_status status = AST_OK;
    for (int step = 0; step < 2; step++)
        for (int turn = 0; turn < ast_comm_size(comm); turn++) {
            bool mine = turn == ast_comm_rank(comm);
            for (size_t n = 0; mine && n < l->windows.count && status == AST_OK; n++) {
                status = ast_labelling_open_window(l, n, fault);
                (step == 0 ? ast_weights_range : ast_weights_total)(&l->rows, l->labels, weights + l->windows.first,
                                                                    range);
            }
            ast_comm_broadcast(comm, range, sizeof *range, turn);
        }
    return status;
}

static ast_status apply_weights(ast_labelling *l, double *weights, ast_fault *fault) {
    l->least_weight = 1;
    if (!weights)
        return AST_OK;
    double unit = 0;
    ast_weight_range range = {.smallest = INFINITY};
    ast_status status = survey_weights(l, weights, &range, fault);
    if (status == AST_OK)
        status = ast_weights_choose_unit(&range, &unit, fault);
    l->least_weight = isfinite(range.smallest) ? range.smallest : 1;
    for (size_t n = 0; n < l->windows.count && status == AST_OK && unit != 0; n++) {
        status = ast_labelling_open_window(l, n, fault);
        double *part = weights + l->windows.first;
        for (size_t i = 0; i < l->rows.count; i++)
            part[i] /= range.smallest;
        ast_labelling_weigh(l, part, unit);
        if (status == AST_OK)
            status = ast_windows_save(l, fault);
    }
    return status;
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* Whether the first pass loads the rows. Weights and ranks need all rows before it, and large rows are not copied. */
static bool loads_in_first_pass(const ast_labelling_input *in) {
    const ast_points *points = in->points;
    return in->load_in_pass && points->dimension <= AST_SMALL && !points->starts && !in->weights &&
           !ast_comm_many(in->comm);
}

static ast_status load_points(ast_labelling *l, const ast_labelling_input *in, ast_fault *fault) {
    const ast_points *points = in->points;
    size_t chunk = ast_chunk_size(points->dimension), padded = (points->count + chunk - 1) / chunk * chunk;
    ast_windows_one(&l->windows, points->count, padded);
    ast_status status = reserve_points(l, padded) ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK && loads_in_first_pass(in))
        status = ast_rowset_begin(&l->rows, points, padded, l->labels, fault);
    else if (status == AST_OK)
        status = ast_rowset_load(&l->rows, l->pool, points, padded, l->labels, fault);
    return ast_comm_agree(l->ranks.comm, status, fault);
}

ast_status ast_labelling_finish_load(ast_labelling *l, size_t chunk, ast_fault *fault) {
    if (!l->rows.loading.due)
        return AST_OK;
    ast_status status = ast_rowset_end(&l->rows, l->pool, chunk * (l->rows.chunk / AST_BLOCK), fault);
    l->present = l->everyone = l->rows.count - l->rows.missing - l->rows.loading.late;
    return status;
}

static ast_status load_resident(ast_labelling *l, ast_fault *fault) {
    const ast_labelling_input *in = &l->input;
    l->rows.order = in->order;
    l->rows.late = in->late;
    l->rows.offset = in->offset;
    if (l->cells)
        l->cells->loaded = false;
    ast_status status = load_points(l, in, fault);
    if (status != AST_OK)
        return status;
    ast_clusters_clear(&l->clusters, in->points->dimension);
    l->rows.missing = l->rows.loading.due ? 0 : l->rows.missing;
    l->present = in->points->count - l->rows.missing - l->rows.loading.late;
    status =
        ast_comm_agree(l->ranks.comm, reserve_workers(l) && reserve_summed(l) ? AST_OK : ast_fail_memory(fault), fault);
    if (status == AST_OK)
        ast_labelling_reset_pass_state(l);
    return status;
}

/* The only function that distinguishes rows in memory from rows of a source. */
ast_status ast_labelling_load(ast_labelling *l, const ast_labelling_input *in, ast_fault *fault) {
    const ast_points *points = in->points;
    bool sparse = points && points->starts && points->dimension > AST_SMALL;
    if (!points || l->rows.dimension != points->dimension || l->rows.sparse != sparse)
        ast_labelling_clear(l);
    l->input = *in;
    if (points)
        l->input.segment = l->input.max_clusters = SIZE_MAX;
    l->pool = in->pool;
    l->ranks.comm = in->comm;
    l->rows.kernels = l->scorer.kernels = in->kernels;
    l->schedule = ast_comm_many(in->comm) ? &ast_ranked_schedule : &ast_local_schedule;
    l->cells_from = !points ? SIZE_MAX : in->cells_from ? in->cells_from : AST_CELLS_MIN_CLUSTERS;
    ast_status status = points ? load_resident(l, fault) : ast_windows_load(l, fault);
    if (status == AST_OK)
        status = apply_weights(l, in->weights, fault);
    if (status != AST_OK)
        return status;
    uint64_t counts[2] = {l->present, l->rows.missing};
    ast_comm_allreduce(l->ranks.comm, counts, 2);
    l->everyone = counts[0];
    l->rows.missing = counts[1];
    l->scorer.bounds.on = !in->unbounded;
    l->scorer.heads.allowed = !in->headless;
    l->scorer.heads.forced = in->heads;
    l->scorer.heads.wait = 0;
    l->scorer.heads.version++; /* the heads of earlier points are invalid */
    l->rows.axial = l->clusters.axial = in->axial;
    return AST_OK;
}

/* ---- The view ---------------------------------------------------------------------------------------------------- */

ast_labelling_view ast_view_of(const ast_labelling *l) {
    bool source = l->windows.reader.source != NULL;
    return (ast_labelling_view){.rows = &l->rows,
                                .clusters = &l->clusters,
                                .labels = l->labels,
                                .signs = l->signs,
                                .present = l->present,
                                .everyone = l->everyone,
                                .least_weight = l->least_weight,
                                .missing = source ? atomic_load(&l->windows.reader.missing) : l->rows.missing,
                                .limit = l->scorer.fit_threshold,
                                .pool = l->pool,
                                .comm = l->ranks.comm,
                                .buffer = l->workers ? &l->workers[0].chunk.rows : NULL,
                                .windows = l->windows.count,
                                .window_rows = l->windows.rows,
                                .window_first = l->windows.first,
                                .points = l->windows.points};
}

ast_labelling_input ast_labelling_input_like(const ast_labelling *l, const ast_points *points) {
    return (ast_labelling_input){.kernels = l->rows.kernels,
                                 .pool = l->pool,
                                 .points = points,
                                 .axial = l->rows.axial,
                                 .unbounded = !l->scorer.bounds.on,
                                 .headless = !l->scorer.heads.allowed,
                                 .heads = l->scorer.heads.forced,
                                 .cells_from = l->cells_from};
}

typedef struct chunk_visit {
    ast_labelling *l;
    ast_chunk_visitor *visit;
    void *data;
} chunk_visit;

static void visit_chunk(void *data, size_t chunk, int worker) {
    const chunk_visit *v = data;
    const ast_rowset *rows = &v->l->rows;
    assert(chunk < rows->chunks && rows->count <= rows->padded);
    ast_chunk *memory = &v->l->workers[worker].chunk;
    size_t first = chunk * rows->chunk, last = first + rows->chunk;
    ast_rows_begin(rows, &memory->rows, first);
    v->visit(v->data, memory, first, last < rows->count ? last : rows->count);
}

ast_status ast_labelling_each_chunk(ast_labelling *l, ast_chunk_visitor *visit, void *data, ast_fault *fault) {
    chunk_visit v = {l, visit, data};
    ast_pool_run_cancellable(l->pool, l->rows.chunks, visit_chunk, &v);
    return ast_labelling_trouble(l, fault);
}

/* ---- Before the first pass --------------------------------------------------------------------------------------- */

void ast_labelling_set_rule(ast_labelling *l, const ast_rule *rule, double angle) {
    l->rule = *rule;
    l->clusters.fixed = isnan(angle);
    ast_scorer_set_angle(&l->scorer, angle);
}

void ast_labelling_reset_pass_state(ast_labelling *l) {
    ast_scorer *s = &l->scorer;
    l->clusters.axial = l->rows.axial;
    s->pool = l->pool;
    s->rows = &l->rows;
    s->labels = l->labels;
    s->signs = l->signs;
    s->bounds.on = true;
    s->bounds.invalid = false;
    s->moves.fast_failed_move = 0;
    if (s->moves.fast) /* of an earlier run */
        memset(s->moves.fast, 0, s->moves.fast_capacity);
    s->unseen_bound = l->events.unseen_bound = (ast_unseen_bound){.all = AST_NO_SCORE};
    ast_forget_bounds(s);
    memset(l->signs, 0, l->rows.padded / AST_LANES); /* of an earlier axial run */
    l->rule = (ast_rule){0};
    l->events.count = 0;
    l->first = true;
    l->last_was_first = l->label_hash_base.due = l->ranks.speculative = false;
    l->ranks.pending = AST_OK;
    atomic_store(&l->failed, false);
    atomic_store(&l->ranks.conflict, false);
}
