/* SPDX-License-Identifier: MIT
 *
 * Representatives: for each cluster the rows that are nearest to its mean, by the exact score. Of equal scores the
 * lower row number comes first, so that the result does not depend on windows or ranks. */
#include "call.h"

#include "first_items.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct ast_near_row {
    double score;
    size_t row;
} near_row;

static int compare(const void *a, const void *b) {
    const near_row *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void offer(ast_representatives *n, size_t cluster, near_row row) {
    size_t room = n->starts[cluster + 1] - n->starts[cluster];
    ast_first_items_offer(n->found + n->starts[cluster], &n->counts[cluster], room, sizeof row, compare, &row);
}

/* The starts are known: memory for the rest. */
static bool open_heaps(ast_representatives *n) {
    n->counts = ast_allocate_zero(n->clusters, sizeof *n->counts);
    n->found = ast_allocate(n->starts[n->clusters], sizeof *n->found);
    return n->counts && n->found;
}

/* With weights the number of members is not known yet: points of weight 0 have just got their labels. */
ast_status ast_representatives_open(ast_representatives *n, const ast_call *c, ast_result *r) {
    const ast_cluster_list *list = c->v.clusters;
    n->each = c->options->representatives < c->total ? c->options->representatives : c->total;
    n->clusters = list->live;
    if (n->each == 0)
        return AST_OK;
    n->starts = ast_allocate_zero(list->live + 1, sizeof *n->starts);
    n->scores = ast_allocate(c->v.rows->padded + c->v.window_rows, sizeof *n->scores);
    for (size_t k = 0; n->starts && k < list->live; k++) {
        size_t members = c->points->weights ? n->each : (size_t)list->members[list->order[k]];
        n->starts[k + 1] = n->starts[k] + (members < n->each ? members : n->each);
    }
    r->representatives = n->starts ? ast_allocate(n->starts[list->live], sizeof *r->representatives) : NULL;
    bool ready = r->representatives && n->scores && open_heaps(n);
    return ast_comm_agree(c->v.comm, ready ? AST_OK : ast_fail_memory(c->fault), c->fault);
}

typedef struct scoring {
    const ast_call *call;
    const int32_t *labels;
    double *scores;
} scoring;

static void score_chunk(void *data, ast_chunk *memory, size_t first, size_t last) {
    const scoring *s = data;
    const ast_rowset *rows = s->call->v.rows;
    const ast_cluster_list *c = s->call->v.clusters;
    const uint32_t *order = s->call->order;
    ast_rows_fetch(rows, &memory->rows);
    for (size_t i = first; i < last; i++) {
        int32_t label = s->labels[order ? order[i] : i];
        if (label < 0)
            continue;
        const float *mean = c->means + (size_t)c->order[label] * rows->dimension;
        double score = ast_rows_exact_score(rows, &memory->rows, i, mean);
        s->scores[i] = rows->axial ? fabs(score) : score;
    }
}

ast_status ast_representatives_add(ast_representatives *n, const ast_call *c, const int32_t *labels) {
    scoring s = {c, labels, n->scores};
    if (n->each == 0)
        return AST_OK;
    ast_status status = ast_labelling_each_chunk(c->l, score_chunk, &s, c->fault);
    for (size_t i = 0; i < c->v.rows->count && status == AST_OK; i++) {
        size_t row = c->order ? c->order[i] : i;
        if (labels[row] >= 0)
            offer(n, (size_t)labels[row], (near_row){n->scores[i], c->v.rows->offset + row});
    }
    return status;
}

/* Each rank in turn broadcasts its rows; all ranks keep the nearest of all. */
static ast_status gather(ast_representatives *n, const ast_comm *comm, ast_fault *fault) {
    ast_representatives own = *n;
    size_t all = n->starts[n->clusters];
    size_t *counts = ast_allocate(n->clusters, sizeof *counts);
    near_row *found = ast_allocate(all, sizeof *found);
    bool ready = open_heaps(n) && counts && found;
    ast_status status = ast_comm_agree(comm, ready ? AST_OK : ast_fail_memory(fault), fault);
    for (int rank = 0; rank < ast_comm_size(comm) && status == AST_OK; rank++) {
        if (rank == ast_comm_rank(comm)) {
            memcpy(counts, own.counts, n->clusters * sizeof *counts);
            memcpy(found, own.found, all * sizeof *found);
        }
        ast_comm_broadcast(comm, counts, n->clusters * sizeof *counts, rank);
        ast_comm_broadcast(comm, found, all * sizeof *found, rank);
        for (size_t k = 0; k < n->clusters; k++)
            for (size_t i = 0; i < counts[k]; i++)
                offer(n, k, found[n->starts[k] + i]);
    }
    ast_free_all(own.counts, own.found, counts, found);
    return status;
}

ast_status ast_representatives_hand_over(ast_representatives *n, const ast_call *c, ast_result *r) {
    ast_status status = n->each && ast_comm_many(c->v.comm) ? gather(n, c->v.comm, c->fault) : AST_OK;
    for (size_t k = 0; n->each && k < n->clusters && status == AST_OK; k++) {
        near_row *heap = n->found + n->starts[k];
        size_t *rows = r->representatives + n->starts[k];
        qsort(heap, n->counts[k], sizeof *heap, compare);
        for (size_t i = 0; i < n->counts[k]; i++)
            rows[i] = heap[i].row;
        r->clusters[k].representatives = rows;
        r->clusters[k].representative_count = n->counts[k];
    }
    return status;
}

void ast_representatives_free(ast_representatives *n) {
    ast_free_all(n->starts, n->counts, n->found, n->scores);
}
