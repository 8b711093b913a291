/* SPDX-License-Identifier: MIT
 *
 * A fixed number of clusters: one that has lost all its points takes the point that fits its own cluster worst, of all
 * points wherever they are. None is taken from a cluster of one. There are at least as many points as clusters, so
 * there always is such a point. */
#include "inside.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

typedef struct search {
    ast_labelling *l;
    ast_worst *worst;
} search;

static bool can_leave(const ast_labelling *l, size_t i) {
    return l->labels[i] >= 0 && l->clusters.members[l->labels[i]] > 1;
}

static void worst_of_chunk(void *data, size_t chunk, int index) {
    const search *s = data;
    ast_labelling *l = s->l;
    ast_worst *w = s->worst;
    w->score[chunk] = INFINITY;
    size_t first = chunk * l->rows.chunk, last = first + l->rows.chunk;
    last = ast_labelling_stopped(l, index) ? first : last < l->rows.count ? last : l->rows.count;
    for (size_t i = first; i < last; i++) {
        if (!can_leave(l, i))
            continue;
        const float *mean = w->means + (size_t)l->labels[i] * l->rows.dimension;
        double score = ast_rows_sequential_score(&l->rows, &l->workers[index].chunk.rows, i, mean);
        score = l->rows.axial ? fabs(score) : score;
        if (score < w->score[chunk]) {
            w->score[chunk] = score;
            w->point[chunk] = i;
        }
    }
}

static size_t least_chunk(const ast_labelling *l, const ast_worst *w) {
    size_t best = 0;
    for (size_t chunk = 1; chunk < l->rows.chunks; chunk++)
        if (w->score[chunk] < w->score[best])
            best = chunk;
    return best;
}

/* Filling clusters only takes choices away, so a chunk has to be looked at again only where its worst point is the
 * worst of all and cannot leave any more. */
size_t ast_find_worst(ast_labelling *l, ast_worst *w, double *score) {
    search s = {l, w};
    if (!w->looked)
        ast_pool_run(l->pool, l->rows.chunks, worst_of_chunk, &s);
    w->looked = true;
    size_t best = least_chunk(l, w);
    while (l->rows.chunks && !isinf(w->score[best]) && !can_leave(l, w->point[best])) {
        worst_of_chunk(&s, best, 0);
        best = least_chunk(l, w);
    }
    *score = l->rows.chunks ? w->score[best] : INFINITY;
    return best;
}

ast_status ast_labelling_fill_empty(ast_labelling *l, ast_fault *fault) {
    ast_worst worst = {.means = l->clusters.means};
    ast_status status = AST_OK;
    for (size_t k = 0; k < l->clusters.live && status == AST_OK && l->clusters.fixed; k++) {
        int32_t slot = l->clusters.order[k];
        if (l->clusters.members[slot] > 0)
            continue;
        if (!worst.score) {
            size_t chunks = l->windows.rows / l->rows.chunk;
            worst.score = ast_allocate(chunks, sizeof *worst.score);
            worst.point = ast_allocate(chunks, sizeof *worst.point);
            bool ready = worst.score && worst.point;
            status = ast_comm_agree(l->ranks.comm, ready ? AST_OK : ast_fail_memory(fault), fault);
        }
        if (status == AST_OK)
            status = l->schedule->fill(l, &worst, slot, fault);
    }
    free(worst.score);
    free(worst.point);
    return status == AST_OK && ast_pool_cancelled(l->pool) ? ast_fail_cancelled(fault) : status;
}
