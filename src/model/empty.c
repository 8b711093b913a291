/* SPDX-License-Identifier: MIT
 *
 * A fixed number of clusters: an empty cluster takes the point, of all points, that fits its own cluster worst. A
 * cluster of one point keeps it. There are at least as many points as clusters, so there always is such a point. */
#include "inside.h"

#include "memory.h"

#include <math.h>

static bool can_leave(const ast_labelling *l, size_t i) {
    return l->labels[i] >= 0 && l->clusters.members[l->labels[i]] > 1;
}

static void search_chunk(void *data, size_t chunk, int index) {
    ast_worst *w = data;
    ast_labelling *l = w->l;
    w->score[chunk] = INFINITY;
    size_t first = chunk * l->rows.chunk, last = first + l->rows.chunk;
    last = ast_labelling_stopped(l, index) ? first : last < l->rows.count ? last : l->rows.count;
    for (size_t i = first; i < last; i++) {
        if (!can_leave(l, i))
            continue;
        const float *mean = w->means + (size_t)l->labels[i] * l->rows.dimension;
        double score = ast_rows_in_order_score(&l->rows, &l->workers[index].chunk.rows, i, mean);
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

/* Each fill only removes candidates. So a chunk is searched again only if its worst point is the worst of all and
 * cannot leave its cluster any more. */
size_t ast_find_worst_chunk(ast_worst *w, double *score) {
    ast_labelling *l = w->l;
    if (!w->looked)
        ast_pool_run_in_order(l->pool, 0, l->rows.chunks, search_chunk, w);
    w->looked = true;
    size_t best = least_chunk(l, w);
    while (l->rows.chunks && !isinf(w->score[best]) && !can_leave(l, w->point[best])) {
        search_chunk(w, best, 0);
        best = least_chunk(l, w);
    }
    *score = l->rows.chunks ? w->score[best] : INFINITY;
    return best;
}

ast_status ast_labelling_fill_empty(ast_labelling *l, ast_fault *fault) {
    ast_worst worst = {.l = l, .means = l->clusters.means};
    ast_status status = AST_OK;
    for (size_t k = 0; k < l->clusters.live && status == AST_OK && l->clusters.fixed; k++) {
        int32_t slot = l->clusters.order[k];
        if (l->clusters.members[slot] > 0)
            continue;
        if (!worst.score) {
            size_t chunks = l->windows.rows / l->rows.chunk;
            bool ready = ast_replace_arrays(AST_REQUEST(worst.score, chunks), AST_REQUEST(worst.point, chunks));
            status = ast_comm_agree(l->ranks.comm, ready ? AST_OK : ast_fail_memory(fault), fault);
        }
        if (status == AST_OK)
            status = l->schedule->move_worst(l, &worst, slot, fault);
    }
    ast_free_all(worst.score, worst.point);
    return status == AST_OK && ast_pool_cancelled(l->pool) ? ast_fail_cancelled(fault) : status;
}
