/* SPDX-License-Identifier: MIT
 *
 * Resuming from a checkpoint. It is used only if its checksums match, it belongs to these points and options, and its
 * numbers are within their ranges. */
#include "checkpoint.h"

#include "checksum.h"
#include "memory.h"
#include "checkpoint_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)1 << 16) /* records read at once */

typedef struct ast_resume {
    const ast_storage *storage;
    unsigned char *bytes; /* up to the records */
    ast_checkpoint_head head;
    ast_checkpoint_layout at;
} ast_resume;

static ast_status get(const ast_storage *storage, uint64_t offset, void *bytes, size_t size, ast_fault *fault) {
    if (offset > storage->bytes || size > storage->bytes - offset)
        return ast_fail(fault, AST_BAD_STATE, "the state ends early: it has only %llu bytes",
                        (unsigned long long)storage->bytes);
    if (size > 0 && storage->read(offset, bytes, size, storage->data) != 0)
        return ast_fail(fault, AST_BAD_STATE, "the state cannot be read");
    return AST_OK;
}

static ast_status damaged(ast_fault *fault) {
    return ast_fail(fault, AST_BAD_STATE, "the state is damaged: its checksum does not match");
}

/* ---- The head ---------------------------------------------------------------------------------------------------- */

/* Every version begins with the magic number and its own. */
static ast_status read_start(ast_resume *s, ast_fault *fault) {
    uint64_t start[2];
    ast_status status = get(s->storage, 0, start, sizeof start, fault);
    if (status != AST_OK)
        return status;
    if (start[0] != AST_CHECKPOINT_MAGIC)
        return ast_fail(fault, AST_BAD_STATE, "this is no state of a clustering");
    if (start[1] != AST_CHECKPOINT_VERSION)
        return ast_fail(fault, AST_BAD_STATE, "the state has version %llu; this library reads version %d",
                        (unsigned long long)start[1], AST_CHECKPOINT_VERSION);
    return get(s->storage, 0, &s->head, sizeof s->head, fault);
}

/* Reads everything up to the records. The numbers that determine its size are read again, with the checksum. */
static ast_status read_head(ast_resume *s, ast_fault *fault) {
    uint64_t sum, size;
    ast_status status = read_start(s, fault);
    if (status != AST_OK)
        return status;
    size = s->head.head_size;
    if (size > s->storage->bytes || size < sizeof s->head + sizeof sum || size % sizeof sum != 0)
        return damaged(fault);
    s->bytes = ast_allocate(size, 1);
    status = s->bytes ? get(s->storage, 0, s->bytes, size, fault) : ast_fail_memory(fault);
    if (status != AST_OK)
        return status;
    memcpy(&s->head, s->bytes, sizeof s->head);
    memcpy(&sum, s->bytes + size - sizeof sum, sizeof sum);
    if (sum != ast_checksum(s->bytes, size - sizeof sum) || !ast_checkpoint_lay_out(&s->head, &s->at) ||
        size != s->at.records || s->head.size != s->at.records_checksum + sizeof sum)
        return damaged(fault);
    if (s->head.size != s->storage->bytes)
        return ast_fail(fault, AST_BAD_STATE, "the state is damaged: it has %llu bytes in place of %llu",
                        (unsigned long long)s->storage->bytes, (unsigned long long)s->head.size);
    return AST_OK;
}

/* Which option differs, or NULL. */
static const char *other_option(const ast_checkpoint_head *a, const ast_checkpoint_head *b) {
    return a->method != b->method       ? "method"
           : a->angle != b->angle       ? "angle"
           : a->clusters != b->clusters ? "number of clusters"
           : a->axial != b->axial       ? "rule for axes (axial)"
           : a->order != b->order       ? "order of the points"
           : a->merge != b->merge       ? "merge or least size of a cluster"
           : a->start != b->start       ? "start"
           : a->means != b->means       ? "start: its means differ"
           : a->seed != b->seed         ? "seed"
                                        : NULL;
}

/* Restarts that are over cannot get more iterations. */
static ast_status check_limits(const ast_checkpoint_head *head, const ast_options *o, ast_fault *fault) {
    if (head->restart > 0 && head->max_iterations != (uint64_t)o->max_iterations)
        return ast_fail(fault, AST_BAD_STATE, "the state was made with another limit of iterations: %llu, not %d",
                        (unsigned long long)head->max_iterations, o->max_iterations);
    if (head->iterations > (uint64_t)o->max_iterations)
        return ast_fail(fault, AST_BAD_STATE, "the state is that of pass %llu, and the limit of iterations is %d",
                        (unsigned long long)head->iterations, o->max_iterations);
    if (head->restart >= (uint64_t)o->restarts)
        return ast_fail(fault, AST_BAD_STATE, "the state is that of run %llu, and there are to be %d",
                        (unsigned long long)head->restart + 1, o->restarts);
    return AST_OK;
}

static ast_status check_head(const ast_call *c, const ast_checkpoint_head *head, ast_fault *fault) {
    ast_checkpoint_head mine = ast_checkpoint_describe(c);
    if (head->points != mine.points || head->dimension != mine.dimension)
        return ast_fail(fault, AST_BAD_STATE, "the state was made with %llu x %llu points, and these are %llu x %llu",
                        (unsigned long long)head->points, (unsigned long long)head->dimension,
                        (unsigned long long)mine.points, (unsigned long long)mine.dimension);
    const char *other = other_option(head, &mine);
    if (other)
        return ast_fail(fault, AST_BAD_STATE,
                        "the state was made with another %s; go on with the same one, or begin a new state", other);
    ast_status status = check_limits(head, c->options, fault);
    bool possible = head->iterations > 0 && head->live <= head->points &&
                    head->earlier_clusters <= head->points * head->restart && head->label_hash_count > 0 &&
                    head->label_hash_count <= head->iterations &&
                    (c->options->method != AST_DP || head->label_hash_count == head->iterations);
    return status == AST_OK && !possible ? damaged(fault) : status;
}

/* All ranks must see the same file. */
static ast_status check_ranks(const ast_resume *s, const ast_comm *comm, ast_fault *fault) {
    uint64_t own, first;
    memcpy(&own, s->bytes + s->at.checksum, sizeof own);
    first = own;
    ast_comm_broadcast(comm, &first, sizeof first, 0);
    ast_status status = AST_OK;
    if (own != first)
        status = ast_fail(fault, AST_BAD_STATE, "the state on rank %d is another than on rank 0", ast_comm_rank(comm));
    return ast_comm_agree(comm, status, fault);
}

ast_status ast_resume_open(ast_call *c, int *restart) {
    const ast_comm *comm = c->context->comm;
    ast_fault *fault = c->fault;
    c->resume = ast_allocate_zero(1, sizeof *c->resume);
    ast_status status = c->resume ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK) {
        c->resume->storage = c->options->resume;
        status = read_head(c->resume, fault);
    }
    if (status == AST_OK)
        status = check_head(c, &c->resume->head, fault);
    status = ast_comm_agree(comm, status, fault);
    if (status == AST_OK)
        status = check_ranks(c->resume, comm, fault);
    *restart = status == AST_OK ? (int)c->resume->head.restart : 0;
    return status;
}

void ast_resume_free(ast_call *c) {
    if (c->resume)
        ast_free(c->resume->bytes);
    ast_free(c->resume);
    c->resume = NULL;
}

/* ---- What it holds ----------------------------------------------------------------------------------------------- */

static const float *means_at(const ast_resume *s, size_t at) {
    return (const float *)(const void *)(s->bytes + at);
}

/* One piece: the labels of the run, and those of earlier results. false: impossible records. */
static bool restore_piece(const ast_call *c, size_t first, size_t count, const uint32_t *records, uint64_t *sum) {
    size_t width = c->resume->at.width;
    bool good = true;
    for (size_t j = 0; j < count; j++) {
        const uint32_t *record = records + j * width;
        *sum += ast_checkpoint_record_checksum(c->input.offset + first + j, record, width);
        good = ast_restore_label(c->l, first + j, record[0]) && good;
        for (size_t i = 1; i < width; i++) {
            ast_result *r = &c->results[i - 1];
            int32_t label = r->labels[first + j] = (int32_t)record[i];
            good = good && label >= -1 && label < (int64_t)r->report.clusters;
        }
    }
    return good;
}

static ast_status read_records(const ast_call *c, uint32_t *records, uint64_t *sum, bool *good) {
    const ast_resume *s = c->resume;
    size_t count = c->v.rows->count, size = s->at.width * sizeof *records, n;
    ast_status status = AST_OK;
    for (size_t first = 0; status == AST_OK && first < count; first += n) {
        n = count - first < PIECE ? count - first : PIECE;
        status = get(s->storage, s->at.records + (c->input.offset + first) * size, records, n * size, c->fault);
        if (status == AST_OK)
            *good = restore_piece(c, first, n, records, sum) && *good;
    }
    return status;
}

/* The padding behind the records must be zero, too. */
static ast_status read_checksum(const ast_resume *s, uint64_t sum, ast_fault *fault) {
    uint64_t end = s->at.records + s->head.points * s->at.width * sizeof(uint32_t), gap = s->at.records_checksum - end,
             kept;
    unsigned char bytes[16];
    ast_status status = get(s->storage, end, bytes, (size_t)gap + sizeof kept, fault);
    if (status != AST_OK)
        return status;
    bool zeros = true;
    for (size_t i = 0; i < gap; i++)
        zeros = zeros && bytes[i] == 0;
    memcpy(&kept, bytes + gap, sizeof kept);
    return zeros && kept == sum ? AST_OK : damaged(fault);
}

static ast_status restore_records(const ast_call *c) {
    ast_fault *fault = c->fault;
    const ast_comm *comm = c->context->comm;
    uint32_t *records = ast_allocate(PIECE * c->resume->at.width, sizeof *records);
    uint64_t sum = 0;
    bool good = true;
    ast_status status = records ? read_records(c, records, &sum, &good) : ast_fail_memory(fault);
    ast_free(records);
    status = ast_comm_agree(comm, status, fault);
    if (status != AST_OK)
        return status;
    ast_comm_allreduce(comm, &sum, 1);
    status = read_checksum(c->resume, sum, fault);
    if (status == AST_OK && !good)
        status = damaged(fault);
    return ast_comm_agree(comm, status, fault);
}

static ast_status restore_run(const ast_resume *s, ast_run *run, ast_fault *fault) {
    run->resumed = true;
    run->iterations = (int)s->head.iterations;
    run->converged = s->head.converged != 0;
    run->oir_restarts = s->head.oir_restarts;
    run->objective = s->head.objective;
    const uint64_t *hashes = (const uint64_t *)(const void *)(s->bytes + s->at.label_hashes);
    ast_status status = AST_OK;
    bool repeats;
    for (size_t i = 0; i < s->head.label_hash_count && status == AST_OK; i++)
        status = ast_history_add(&run->history, hashes[i], &repeats, fault);
    return status;
}

static ast_status restore_clusters(const ast_call *c) {
    const ast_resume *s = c->resume;
    const float *means = means_at(s, s->at.means);
    bool finite = true;
    for (size_t i = 0; i < s->head.live * s->head.dimension; i++)
        finite = finite && isfinite(means[i]);
    ast_status status = finite ? ast_labelling_add_means(c->l, means, s->head.live, c->fault) : damaged(c->fault);
    return ast_comm_agree(c->context->comm, status, c->fault);
}

/* What is kept of a cluster; its mean is in the result already. false: no cluster of these points. */
static bool cluster_at(const ast_resume *s, size_t number, const float *mean, ast_cluster_info *info) {
    ast_checkpoint_cluster kept;
    memcpy(&kept, s->bytes + s->at.clusters + number * sizeof kept, sizeof kept);
    if (!(kept.size >= 0 && kept.size <= (double)s->head.points))
        return false;
    *info = (ast_cluster_info){
        (size_t)kept.size,          kept.weight, kept.resultant, kept.kappa, mean, .share = NAN, .stability = NAN,
        .effective = kept.effective};
    ast_cluster_errors(info, s->head.dimension, info->resultant);
    return true;
}

static ast_report report_at(const ast_call *c, const ast_checkpoint_result *kept) {
    ast_run run = ast_run_begin(c->options, 0);
    run.objective = kept->objective;
    run.iterations = (int)kept->iterations;
    run.converged = (int)kept->converged;
    run.oir_restarts = kept->oir_restarts;
    run.clusters_before_merge = kept->merged;
    ast_report report = ast_call_report(c, &run);
    report.clusters = kept->clusters;
    report.outliers = kept->outliers;
    report.silhouette = kept->silhouette;
    return report;
}

/* A result of a restart before this one, whose clusters begin at number `first`; its labels are read later. */
static ast_status restore_result(const ast_call *c, int number, size_t first) {
    const ast_resume *s = c->resume;
    ast_result *r = &c->results[number];
    ast_checkpoint_result kept;
    size_t dimension = s->head.dimension;
    memcpy(&kept, s->bytes + s->at.results + (size_t)number * sizeof kept, sizeof kept);
    if (kept.clusters > s->head.earlier_clusters - first)
        return damaged(c->fault);
    r->report = report_at(c, &kept);
    if (!ast_replace_arrays(AST_REQUEST(r->labels, c->points->count), AST_REQUEST(r->clusters, kept.clusters),
                            AST_REQUEST(r->means, kept.clusters * dimension)))
        return ast_fail_memory(c->fault);
    if (kept.clusters)
        memcpy(r->means, means_at(s, s->at.earlier_means) + first * dimension,
               kept.clusters * dimension * sizeof *r->means);
    bool good = true;
    for (size_t k = 0; k < kept.clusters; k++)
        good = cluster_at(s, first + k, r->means + k * dimension, &r->clusters[k]) && good;
    ast_pieces *pieces;
    if (!good || !ast_pieces_open(c, kept.clusters, &pieces))
        return good ? ast_fail_memory(c->fault) : damaged(c->fault);
    ast_pieces_enlarge_errors(pieces, r->clusters);
    ast_pieces_close(pieces);
    return AST_OK;
}

/* All of them; the one with the best objective is the best so far. */
static ast_status restore_results(ast_call *c) {
    size_t first = 0;
    ast_status status = AST_OK;
    c->best = 0;
    for (int i = 0; i < (int)c->resume->head.restart && status == AST_OK; i++) {
        status = restore_result(c, i, first);
        first += c->results[i].report.clusters;
        if (c->results[i].report.objective > c->results[c->best].report.objective)
            c->best = i;
    }
    if (status == AST_OK && first != c->resume->head.earlier_clusters)
        status = damaged(c->fault);
    return ast_comm_agree(c->context->comm, status, c->fault);
}

ast_status ast_resume_restore(ast_call *c, ast_run *run) {
    ast_fault *fault = c->fault;
    const ast_resume *s = c->resume;
    bool filled = true;
    ast_status status = ast_comm_agree(c->v.comm, restore_run(s, run, fault), fault);
    if (status == AST_OK && ast_checkpoint_digest(c) != s->head.digest)
        status = ast_fail(fault, AST_BAD_STATE, "the state was made with other points or weights");
    if (status == AST_OK)
        status = restore_clusters(c);
    if (status == AST_OK)
        status = restore_results(c);
    if (status == AST_OK)
        status = restore_records(c);
    if (status == AST_OK)
        status = ast_restore_sums(c->l, run->history.label_hashes[run->history.count - 1], &filled, fault);
    if (status == AST_OK && !filled)
        status = damaged(fault);
    return status;
}
