/* SPDX-License-Identifier: MIT
 *
 * The layout of a checkpoint, and writing one. Rank 0 writes the head and all write the records of their own points;
 * the last one closes with the checksum, which is added up over all of them. */
#include "checkpoint.h"

#include "checksum.h"
#include "memory.h"
#include "random.h"
#include "saved.h"
#include "checkpoint_labels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)1 << 18) /* records written at once */
#define TASK ((size_t)1 << 13)  /* records that one thread fills */

/* ---- The layout -------------------------------------------------------------------------------------------------- */

/* Moves *at past `count` things of `size` bytes, to a multiple of 8; false if there cannot be so many. */
static bool add(size_t *at, uint64_t count, size_t size) {
    if (count > (SIZE_MAX / 4 - *at) / size)
        return false;
    *at = (*at + count * size + 7) / 8 * 8;
    return true;
}

bool ast_checkpoint_lay_out(const ast_checkpoint_head *head, ast_checkpoint_layout *layout) {
    size_t at = sizeof *head, row = head->dimension * sizeof(float);
    if (head->dimension > INT32_MAX || head->dimension < 2 || head->points > INT32_MAX)
        return false;
    layout->label_hashes = at;
    bool good = add(&at, head->label_hash_count, sizeof(uint64_t));
    layout->means = at;
    good = good && add(&at, head->live, row);
    layout->results = at;
    good = good && add(&at, head->restart, sizeof(ast_checkpoint_result));
    layout->clusters = at;
    good = good && add(&at, head->earlier_clusters, sizeof(ast_checkpoint_cluster));
    layout->earlier_means = at;
    good = good && add(&at, head->earlier_clusters, row);
    layout->checksum = at;
    layout->records = at + sizeof(uint64_t);
    if (!good || head->restart >= INT32_MAX)
        return false;
    layout->width = 1 + (size_t)head->restart;
    at = layout->records;
    good = good && add(&at, head->points, layout->width * sizeof(uint32_t));
    layout->records_checksum = at;
    return good;
}

/* One number for everything that is asked for after convergence; options without effect do not count. */
static uint64_t merge_of(const ast_options *o) {
    const double all[] = {(double)o->merge.by, o->merge.by == AST_MERGE_ANGLE ? o->merge.angle : 0,
                          o->merge.by == AST_MERGE_COUNT ? (double)o->merge.count : 0, o->merge.min_size,
                          o->merge.any_angle ? 1 : 0};
    /* States of runs without any_angle are as old as the other fields. */
    return ast_checksum(all, sizeof all - (o->merge.any_angle ? 0 : sizeof *all));
}

ast_checkpoint_head ast_checkpoint_describe(const ast_call *c) {
    const ast_options *o = c->options;
    bool dp = o->method == AST_DP, given = o->start.by == AST_GIVEN;
    return (ast_checkpoint_head){
        .magic = AST_CHECKPOINT_MAGIC,
        .version = AST_CHECKPOINT_VERSION,
        .points = c->total,
        .dimension = c->points->dimension,
        .method = o->method,
        .clusters = dp      ? 0
                    : given ? o->start.means_count
                            : o->clusters,
        .seed = o->seed,
        .order = o->dp.order,
        .merge = merge_of(o),
        .axial = o->axial != 0,
        .start = dp && !given ? AST_PLUSPLUS : o->start.by,
        .means = given ? ast_checksum(o->start.means, o->start.means_count * c->points->dimension * sizeof(float)) : 0,
        .max_iterations = (uint64_t)o->max_iterations,
        .angle = dp ? o->angle : 0};
}

uint64_t ast_checkpoint_digest(ast_call *c) {
    if (!c->digested) {
        c->digest = ast_digest(c->points, c->input.offset, c->context->pool);
        ast_comm_allreduce(c->context->comm, &c->digest, 1);
        c->digested = true;
    }
    return c->digest;
}

uint64_t ast_checkpoint_record_checksum(uint64_t i, const uint32_t *record, size_t width) {
    uint64_t sum = ast_mix64(i);
    for (size_t j = 0; j < width; j++)
        sum = ast_mix64(sum ^ record[j]);
    return sum;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

typedef struct writing {
    const ast_call *call;
    const ast_storage *storage;
    ast_checkpoint_head head;
    ast_checkpoint_layout at;
    int32_t *place;      /* (slots) which cluster a slot is */
    uint32_t *records;   /* a piece */
    size_t first, count; /* its points */
    _Atomic uint64_t sum;
} writing;

static void fill_head(ast_checkpoint_head *head, const ast_call *c) {
    const ast_run *run = c->run;
    head->restart = (uint64_t)run->restart;
    head->iterations = (uint64_t)run->iterations;
    head->converged = run->converged != 0;
    head->oir_restarts = run->oir_restarts;
    head->label_hash_count = run->history.count;
    head->live = c->v.clusters->live;
    head->objective = run->objective;
    for (int i = 0; i < run->restart; i++)
        head->earlier_clusters += c->results[i].report.clusters;
}

static void fill_result(const writing *w, int number, size_t first, unsigned char *bytes) {
    const ast_result *r = &w->call->results[number];
    const ast_report *report = &r->report;
    size_t row = w->head.dimension * sizeof(float);
    ast_checkpoint_result record = {.clusters = report->clusters,
                                    .iterations = (uint64_t)report->iterations,
                                    .converged = report->converged != 0,
                                    .oir_restarts = report->oir_restarts,
                                    .merged = report->merged,
                                    .outliers = report->outliers,
                                    .objective = report->objective,
                                    .silhouette = report->silhouette};
    memcpy(bytes + w->at.results + (size_t)number * sizeof record, &record, sizeof record);
    for (size_t k = 0; k < report->clusters; k++) {
        const ast_cluster_info *info = &r->clusters[k];
        ast_checkpoint_cluster kept = {(double)info->count, info->weight, info->resultant, info->kappa,
                                       info->effective};
        memcpy(bytes + w->at.clusters + (first + k) * sizeof kept, &kept, sizeof kept);
    }
    ast_saved_put(bytes + w->at.earlier_means + first * row, r->means, report->clusters * row);
}

/* Everything up to the records, in memory of its own; NULL if there is none. */
static unsigned char *make_head(const writing *w) {
    const ast_cluster_list *clusters = w->call->v.clusters;
    size_t row = clusters->dimension * sizeof(float);
    unsigned char *bytes = ast_allocate_zero(w->at.records, 1);
    if (!bytes)
        return NULL;
    memcpy(bytes, &w->head, sizeof w->head);
    ast_saved_put(bytes + w->at.label_hashes, w->call->run->history.label_hashes,
                  w->head.label_hash_count * sizeof(uint64_t));
    for (size_t k = 0; k < clusters->live; k++)
        memcpy(bytes + w->at.means + k * row, clusters->means + (size_t)clusters->order[k] * clusters->dimension, row);
    size_t first = 0;
    for (int i = 0; i < w->call->run->restart; i++) {
        fill_result(w, i, first, bytes);
        first += w->call->results[i].report.clusters;
    }
    uint64_t sum = ast_checksum(bytes, w->at.checksum);
    memcpy(bytes + w->at.checksum, &sum, sizeof sum);
    return bytes;
}

static ast_status put(const writing *w, uint64_t offset, const void *bytes, size_t size, ast_fault *fault) {
    if (size == 0 || w->storage->write(offset, bytes, size, w->storage->data) == 0)
        return AST_OK;
    return ast_fail(fault, AST_BAD_STATE, "the state cannot be written");
}

static ast_status put_head(const writing *w, ast_fault *fault) {
    if (ast_comm_rank(w->call->v.comm) != 0)
        return AST_OK;
    unsigned char *bytes = make_head(w);
    ast_status status = bytes ? put(w, 0, bytes, w->at.records, fault) : ast_fail_memory(fault);
    ast_free(bytes);
    return status;
}

static void fill_records(void *data, size_t from, size_t to) {
    writing *w = data;
    size_t width = w->at.width, n = to - from;
    uint32_t *records = w->records + from * width;
    uint64_t sum = 0;
    ast_save_label_records(w->call->l, w->place, w->first + from, n, records, width);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 1; i < width; i++)
            records[width * j + i] = (uint32_t)w->call->results[i - 1].labels[w->first + from + j];
        sum += ast_checkpoint_record_checksum(w->call->input.offset + w->first + from + j, records + j * width, width);
    }
    atomic_fetch_add(&w->sum, sum);
}

static ast_status put_records(writing *w, ast_fault *fault) {
    size_t count = w->call->v.rows->count, size = w->at.width * sizeof *w->records;
    ast_status status = AST_OK;
    for (w->first = 0; status == AST_OK && w->first < count; w->first += w->count) {
        w->count = count - w->first < PIECE ? count - w->first : PIECE;
        ast_pool_ranges(w->call->v.pool, w->count, TASK, fill_records, w);
        status = put(w, w->at.records + (w->call->input.offset + w->first) * size, w->records, w->count * size, fault);
    }
    return status;
}

/* Zeros up to a multiple of 8, and the checksum. */
static ast_status put_checksum(const writing *w, uint64_t sum, ast_fault *fault) {
    uint64_t end = w->at.records + w->head.points * w->at.width * sizeof(uint32_t);
    unsigned char bytes[16] = {0};
    size_t gap = (size_t)(w->at.records_checksum - end);
    memcpy(bytes + gap, &sum, sizeof sum);
    if (ast_comm_rank(w->call->v.comm) + 1 != ast_comm_size(w->call->v.comm))
        return AST_OK;
    return put(w, end, bytes, gap + sizeof sum, fault);
}

static ast_status open_writing(writing *w, ast_fault *fault) {
    const ast_cluster_list *clusters = w->call->v.clusters;
    size_t count = w->call->v.rows->count < PIECE ? w->call->v.rows->count : PIECE;
    if (!ast_checkpoint_lay_out(&w->head, &w->at))
        return ast_fail_memory(fault);
    w->head.head_size = w->at.records;
    w->head.size = w->at.records_checksum + sizeof(uint64_t);
    if (!ast_replace_arrays(AST_REQUEST(w->place, clusters->slots), AST_REQUEST(w->records, count * w->at.width)))
        return ast_fail_memory(fault);
    for (size_t k = 0; k < clusters->live; k++)
        w->place[clusters->order[k]] = (int32_t)k;
    return AST_OK;
}

static ast_status write_all(writing *w, ast_fault *fault) {
    const ast_comm *comm = w->call->v.comm;
    ast_status status = ast_comm_agree(comm, open_writing(w, fault), fault);
    if (status != AST_OK)
        return status;
    status = put_head(w, fault);
    if (status == AST_OK)
        status = put_records(w, fault);
    uint64_t sum = atomic_load(&w->sum);
    ast_comm_allreduce(comm, &sum, 1);
    if (status == AST_OK)
        status = put_checksum(w, sum, fault);
    return ast_comm_agree(comm, status, fault);
}

ast_status ast_checkpoint(ast_context *context, const ast_storage *storage) {
    if (!context)
        return AST_BAD_OPTION;
    ast_call *c = context->call;
    ast_fault *fault = &context->fault;
    if (context->checkpointing)
        return ast_fail(fault, AST_BAD_OPTION, "ast_checkpoint was called from a callback of the same context");
    if (!c || !c->run || c->run->iterations == 0 || c->run->history.count == 0)
        return ast_fail(fault, AST_BAD_OPTION,
                        "ast_checkpoint is for the progress function of AST_DP and AST_SPKM, after a pass");
    if (c->run->merging)
        return ast_fail(fault, AST_BAD_OPTION,
                        "there is no checkpoint of a merge: the one of the pass before it serves");
    if (context->learning)
        return ast_fail(fault, AST_BAD_OPTION,
                        "there is no checkpoint of a run that learns a metric: give it a map that was learned");
    if (c->store)
        return ast_fail(fault, AST_BAD_OPTION, "a checkpoint needs all points in memory: it is for ast_cluster");
    if (c->options->dp.sample || c->options->start.points || c->options->kmeans.levels > 1)
        return ast_fail(fault, AST_BAD_OPTION,
                        "a checkpoint is of a run over all points, without sample, start.points and levels");
    ast_status status = ast_check_struct(storage, sizeof *storage, "storage", fault);
    if (status != AST_OK)
        return status;
    if (!storage->write)
        return ast_fail(fault, AST_BAD_OPTION, "the storage of a checkpoint needs a function that writes");
    writing w = {.call = c, .storage = storage, .head = ast_checkpoint_describe(c)};
    w.head.digest = ast_checkpoint_digest(c);
    fill_head(&w.head, c);
    context->checkpointing = true;
    status = write_all(&w, fault);
    context->checkpointing = false;
    ast_free_all(w.place, w.records);
    return status;
}
