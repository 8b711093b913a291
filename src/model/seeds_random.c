/* SPDX-License-Identifier: MIT
 *
 * Starts for a fixed number of clusters: random points. They are the rows with the smallest hashes, in this order; the
 * seed of the hash is random. So they depend neither on the order of the rows nor on rows of weight 0. Where there are
 * fewer different rows than starts, the rows are taken again from the first on. */
#include "seeds.h"

#include "inside.h"

#include "seed_rows.h"
#include "memory.h"

#include <stdlib.h>

typedef struct smallest {
    ast_labelling *l;
    ast_content content;
    ast_seed_rows *workers; /* (worker_count) */
    ast_seed_rows all;
    float *rows; /* (all.count, D) */
} smallest;

static void hash_point(void *data, size_t i, int worker) {
    smallest *s = data;
    ast_seed_rows_add(&s->workers[worker],
                      (ast_seed_row){ast_seed_hash(s->l, &s->content, i, worker), 0, s->l->windows.first + i});
}

/* The smallest hashes of this rank. */
static ast_status find_smallest(smallest *s, ast_fault *fault) {
    ast_labelling *l = s->l;
    ast_status status = ast_seed_visit(l, hash_point, s, false, fault);
    for (int w = 0; w < l->worker_count; w++)
        ast_seed_rows_take(&s->all, &s->workers[w]);
    ast_seed_rows_sort(&s->all);
    if (status == AST_OK && s->all.failed)
        status = ast_fail_memory(fault);
    return ast_comm_agree(l->ranks.comm, status, fault);
}

/* Those of all ranks: each tells the others its hashes. */
static ast_status share_smallest(smallest *s, ast_fault *fault) {
    const ast_comm *comm = s->l->ranks.comm;
    ast_seed_rows own = s->all;
    uint64_t *hashes = ast_allocate(own.most, sizeof *hashes);
    s->all = (ast_seed_rows){.most = own.most};
    ast_status status = ast_comm_agree(s->l->ranks.comm, hashes ? AST_OK : ast_fail_memory(fault), fault);
    for (int rank = 0; rank < ast_comm_size(comm) && status == AST_OK; rank++) {
        bool mine = rank == ast_comm_rank(comm);
        uint64_t count = own.count;
        ast_comm_broadcast(comm, &count, sizeof count, rank);
        for (size_t j = 0; j < count && mine; j++)
            hashes[j] = own.list[j].hash;
        ast_comm_broadcast(comm, hashes, count * sizeof *hashes, rank);
        for (size_t j = 0; j < count; j++)
            ast_seed_rows_add(&s->all, mine ? own.list[j] : (ast_seed_row){hashes[j], 0, SIZE_MAX});
    }
    ast_seed_rows_sort(&s->all);
    free(hashes);
    free(own.list);
    if (status == AST_OK)
        status = ast_comm_agree(s->l->ranks.comm, s->all.failed ? ast_fail_memory(fault) : AST_OK, fault);
    return status;
}

/* Window by window, so that each is opened once. */
static ast_status read_rows(smallest *s, ast_fault *fault) {
    ast_labelling *l = s->l;
    size_t dimension = l->rows.dimension;
    s->rows = ast_allocate(s->all.count * dimension, sizeof *s->rows);
    ast_status status = ast_comm_agree(l->ranks.comm, s->rows ? AST_OK : ast_fail_memory(fault), fault);
    for (size_t number = 0; number < l->windows.count && status == AST_OK; number++) {
        status = ast_labelling_open_window(l, number, fault);
        for (size_t j = 0; j < s->all.count && status == AST_OK; j++) {
            size_t point = s->all.list[j].point;
            if (l->windows.count == 1 || point / l->windows.rows == number)
                status = ast_seed_share_row(l, point, s->rows + j * dimension, fault);
        }
    }
    return status == AST_OK ? ast_labelling_trouble(l, fault) : status;
}

static ast_status add_starts(smallest *s, size_t clusters, ast_fault *fault) {
    ast_labelling *l = s->l;
    bool added = true;
    for (size_t k = 0; k < clusters && added; k++)
        added = ast_clusters_add(&l->clusters, s->rows + k % s->all.count * l->rows.dimension, UINT32_MAX) >= 0;
    return ast_comm_agree(l->ranks.comm, added ? AST_OK : ast_fail_memory(fault), fault);
}

ast_status ast_seed_random(ast_labelling *l, size_t clusters, ast_random *random, ast_fault *fault) {
    smallest s = {.l = l, .all.most = clusters};
    s.workers = ast_allocate_zero((size_t)l->worker_count, sizeof *s.workers);
    for (int w = 0; s.workers && w < l->worker_count; w++)
        s.workers[w].most = clusters;
    bool ready = ast_seed_content_open(l, &s.content, ast_random_u64(random)) && s.workers;
    ast_status status = ast_comm_agree(l->ranks.comm, ready ? AST_OK : ast_fail_memory(fault), fault);
    if (status == AST_OK)
        status = find_smallest(&s, fault);
    if (status == AST_OK && ast_comm_many(l->ranks.comm))
        status = share_smallest(&s, fault);
    if (status == AST_OK)
        status = read_rows(&s, fault);
    if (status == AST_OK)
        status = add_starts(&s, clusters, fault);
    for (int w = 0; s.workers && w < l->worker_count; w++)
        free(s.workers[w].list);
    ast_free_all(s.workers, s.all.list, s.rows);
    ast_content_close(&s.content);
    return status;
}
