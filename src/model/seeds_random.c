/* SPDX-License-Identifier: MIT
 *
 * Starts for a fixed number of clusters: random points. They are the rows with the smallest hashes, in this order; the
 * seed of the hash is random. So they depend neither on the order of the rows nor on rows of weight 0. If there are
 * fewer different rows than starts, the rows are used again from the first on. */
#include "seeds.h"

#include "inside.h"

#include "seed_rows.h"
#include "memory.h"

#include <stdlib.h>

static void hash_point(void *data, size_t i, int worker) {
    ast_seed_search *s = data;
    ast_seed_found(s, i, ast_seed_hash(s, i, worker), 0, worker);
}

/* Replaces the candidates of this rank by those of all ranks: each rank sends its hashes to the others. */
static ast_status share_candidates(ast_seed_search *s) {
    const ast_comm *comm = s->l->ranks.comm;
    ast_seed_rows own = s->candidates;
    uint64_t *hashes = ast_allocate(own.most, sizeof *hashes);
    s->candidates = (ast_seed_rows){.most = own.most};
    ast_status status = ast_comm_agree(comm, hashes ? AST_OK : ast_fail_memory(s->fault), s->fault);
    for (int rank = 0; rank < ast_comm_size(comm) && status == AST_OK; rank++) {
        bool mine = rank == ast_comm_rank(comm);
        uint64_t count = own.count;
        ast_comm_broadcast(comm, &count, sizeof count, rank);
        for (size_t j = 0; j < count && mine; j++)
            hashes[j] = own.list[j].hash;
        ast_comm_broadcast(comm, hashes, count * sizeof *hashes, rank);
        for (size_t j = 0; j < count; j++)
            ast_seed_rows_add(&s->candidates, mine ? own.list[j] : (ast_seed_row){hashes[j], 0, SIZE_MAX});
    }
    ast_seed_rows_sort(&s->candidates);
    ast_free_all(hashes, own.list);
    if (status == AST_OK)
        status = ast_comm_agree(comm, s->candidates.failed ? ast_fail_memory(s->fault) : AST_OK, s->fault);
    return status;
}

/* Reads the rows (count, D) of the candidates, window by window, so that each window is opened once. */
static ast_status read_rows(ast_seed_search *s, float *rows) {
    ast_labelling *l = s->l;
    ast_status status = ast_comm_agree(l->ranks.comm, rows ? AST_OK : ast_fail_memory(s->fault), s->fault);
    for (size_t number = 0; number < l->windows.count && status == AST_OK; number++) {
        status = ast_labelling_open_window(l, number, s->fault);
        for (size_t j = 0; j < s->candidates.count && status == AST_OK; j++) {
            size_t point = s->candidates.list[j].point;
            if (l->windows.count == 1 || point / l->windows.rows == number)
                status = ast_seed_share_row(l, point, rows + j * l->rows.dimension, s->fault);
        }
    }
    return status == AST_OK ? ast_labelling_trouble(l, s->fault) : status;
}

ast_status ast_seed_random(ast_labelling *l, size_t clusters, ast_random *random, ast_fault *fault) {
    ast_seed_search s = {.l = l, .fault = fault};
    float *rows = NULL;
    ast_status status = ast_comm_agree(l->ranks.comm, ast_seed_search_open(&s, clusters, random), fault);
    if (status == AST_OK) {
        status = ast_seed_visit(l, hash_point, &s, false, fault);
        status = ast_seed_merge_found(&s, status);
        ast_seed_rows_sort(&s.candidates);
    }
    if (status == AST_OK && ast_comm_many(l->ranks.comm))
        status = share_candidates(&s);
    if (status == AST_OK) {
        rows = ast_allocate(s.candidates.count * l->rows.dimension, sizeof *rows);
        status = read_rows(&s, rows);
    }
    bool added = status == AST_OK;
    for (size_t k = 0; k < clusters && added; k++)
        added = ast_clusters_add(&l->clusters, rows + k % s.candidates.count * l->rows.dimension, UINT32_MAX) >= 0;
    if (status == AST_OK)
        status = ast_comm_agree(l->ranks.comm, added ? AST_OK : ast_fail_memory(fault), fault);
    ast_free(rows);
    ast_seed_search_close(&s);
    return status;
}
