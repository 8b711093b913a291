/* SPDX-License-Identifier: MIT
 *
 * Representatives: for each cluster the rows that are nearest to its mean, by the exact score. A heap per cluster keeps
 * the best so far, the worst of them at its root; among equal scores the lower row number is better, so that the result
 * does not depend on windows or ranks. */
#include "call.h"

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

/* Moves the entry at the root down to its place: a parent is no better than its children. */
static void sift_down(near_row *heap, size_t count) {
    for (size_t at = 0, child = 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && compare(&heap[child + 1], &heap[child]) > 0)
            child++;
        if (compare(&heap[at], &heap[child]) >= 0)
            return;
        near_row entry = heap[at];
        heap[at] = heap[child];
        heap[child] = entry;
    }
}

static void sift_up(near_row *heap, size_t at) {
    for (size_t parent; at > 0 && compare(&heap[at], &heap[parent = (at - 1) / 2]) > 0; at = parent) {
        near_row entry = heap[at];
        heap[at] = heap[parent];
        heap[parent] = entry;
    }
}

static void offer(ast_representatives *n, size_t cluster, near_row entry) {
    near_row *heap = n->found + n->starts[cluster];
    size_t room = n->starts[cluster + 1] - n->starts[cluster], *count = &n->counts[cluster];
    if (*count < room) {
        heap[*count] = entry;
        sift_up(heap, (*count)++);
    } else if (room > 0 && compare(&entry, &heap[0]) < 0) {
        heap[0] = entry;
        sift_down(heap, room);
    }
}

/* The starts are known: memory for the rest. */
static bool open_heaps(ast_representatives *n) {
    n->counts = ast_allocate_zero(n->clusters, sizeof *n->counts);
    n->found = ast_allocate(n->starts[n->clusters], sizeof *n->found);
    return n->counts && n->found;
}

/* With weights the number of members is not known yet: points of weight 0 have just got their labels. */
ast_status ast_representatives_open(ast_representatives *n, const ast_call *c, const ast_labelling *l, ast_result *r,
                                    ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_cluster_list *list = v.clusters;
    n->each = c->options->representatives < c->total ? c->options->representatives : c->total;
    n->clusters = list->live;
    if (n->each == 0)
        return AST_OK;
    n->starts = ast_allocate_zero(list->live + 1, sizeof *n->starts);
    n->scores = ast_allocate(v.rows->padded + v.window_rows, sizeof *n->scores);
    for (size_t k = 0; n->starts && k < list->live; k++) {
        size_t members = c->points->weights ? n->each : (size_t)list->members[list->order[k]];
        n->starts[k + 1] = n->starts[k] + (members < n->each ? members : n->each);
    }
    r->representatives = n->starts ? ast_allocate(n->starts[list->live], sizeof *r->representatives) : NULL;
    bool ready = r->representatives && n->scores && open_heaps(n);
    return ast_comm_agree(v.comm, ready ? AST_OK : ast_fail_memory(fault), fault);
}

typedef struct scoring {
    ast_labelling_view v;
    const uint32_t *order;
    const int32_t *labels;
    double *scores;
} scoring;

static void score_chunk(void *data, ast_chunk *memory, size_t first, size_t last, int worker) {
    const scoring *s = data;
    const ast_rowset *rows = s->v.rows;
    const ast_cluster_list *c = s->v.clusters;
    (void)worker;
    ast_rows_fetch(rows, &memory->rows);
    for (size_t i = first; i < last; i++) {
        int32_t label = s->labels[s->order ? s->order[i] : i];
        if (label < 0)
            continue;
        const float *mean = c->means + (size_t)c->order[label] * rows->dimension;
        double score = ast_rows_exact_score(rows, &memory->rows, i, mean);
        s->scores[i] = rows->axial ? fabs(score) : score;
    }
}

ast_status ast_representatives_add(ast_representatives *n, const ast_call *c, ast_labelling *l, const int32_t *labels,
                                   ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    scoring s = {v, c->order, labels, n->scores};
    if (n->each == 0)
        return AST_OK;
    ast_status status = ast_labelling_each_chunk(l, score_chunk, &s, fault);
    for (size_t i = 0; i < v.rows->count && status == AST_OK; i++) {
        size_t row = c->order ? c->order[i] : i;
        if (labels[row] >= 0)
            offer(n, (size_t)labels[row], (near_row){n->scores[i], v.rows->offset + row});
    }
    return status;
}

/* Every rank tells what it has found in turn. */
static ast_status gather(ast_representatives *n, const ast_comm *comm, ast_fault *fault) {
    ast_representatives own = *n;
    size_t all = n->starts[n->clusters];
    size_t *counts = ast_allocate(n->clusters, sizeof *counts);
    near_row *found = ast_allocate(all, sizeof *found);
    bool ready = open_heaps(n) && counts && found;
    ast_status status = ast_comm_agree(comm, ready ? AST_OK : ast_fail_memory(fault), fault);
    for (int turn = 0; turn < ast_comm_size(comm) && status == AST_OK; turn++) {
        if (turn == ast_comm_rank(comm)) {
            memcpy(counts, own.counts, n->clusters * sizeof *counts);
            memcpy(found, own.found, all * sizeof *found);
        }
        ast_comm_broadcast(comm, counts, n->clusters * sizeof *counts, turn);
        ast_comm_broadcast(comm, found, all * sizeof *found, turn);
        for (size_t k = 0; k < n->clusters; k++)
            for (size_t i = 0; i < counts[k]; i++)
                offer(n, k, found[n->starts[k] + i]);
    }
    ast_free_all(own.counts, own.found, counts, found);
    return status;
}

ast_status ast_representatives_hand_over(ast_representatives *n, const ast_comm *comm, ast_result *r,
                                         ast_fault *fault) {
    ast_status status = n->each && ast_comm_many(comm) ? gather(n, comm, fault) : AST_OK;
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
