/* SPDX-License-Identifier: MIT
 *
 * Spherical k-means (Dhillon and Modha 2001): K clusters, every point with the mean of the largest cosine, every mean
 * the normalised sum of its points. The start is k-means++ or random points (starts.c), or given means. A cluster that
 * loses all its points takes the one that fits worst elsewhere. */
#include "methods.h"

#include "memory.h"
#include "windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ast_status ast_run_start(ast_labelling *l, const ast_run *run, ast_fault *fault) {
    const ast_options *options = run->options;
    ast_random random;
    ast_random_seed(&random, options->seed, (uint64_t)run->restart);
    if (options->start == AST_GIVEN)
        return ast_comm_agree(l->comm, ast_run_given(l, options, fault), fault);
    if (options->start == AST_RANDOM)
        return ast_start_random(l, options->clusters, &random, fault);
    if (run->start_points && run->start_points < l->present)
        return ast_start_sampled(l, run, &random, fault);
    return ast_start_plusplus(l, run, &random, fault);
}

ast_status ast_run_nearest(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_pass_result pass;
    ast_labelling_set_angle(l, NAN);
    ast_status status = ast_run_start(l, run, fault);
    return status == AST_OK ? ast_run_label(l, run, &pass, fault) : status;
}

/* ---- empty clusters ---- */

typedef struct worst_fit {
    ast_labelling *l;
    const float *means; /* (slots, D) that the labels were found with */
    double *score;      /* (chunks) the smallest score in the chunk, when it was last looked at */
    size_t *point;      /* (chunks) whose it is */
    bool looked;        /* at all of them */
} worst_fit;

static bool can_leave(const ast_labelling *l, size_t i) {
    return l->labels[i] >= 0 && l->clusters.members[l->labels[i]] > 1;
}

static void worst_of_chunk(void *data, size_t chunk, int index) {
    worst_fit *w = data;
    ast_labelling *l = w->l;
    w->score[chunk] = INFINITY;
    for (size_t i = chunk * l->chunk; i < (chunk + 1) * l->chunk && i < l->cloud.count; i++) {
        if (!can_leave(l, i))
            continue;
        const float *mean = w->means + (size_t)l->labels[i] * l->cloud.dimension;
        double score = ast_point_exact_score(l, &l->workers[index], i, mean);
        score = l->axial ? fabs(score) : score;
        if (score < w->score[chunk]) {
            w->score[chunk] = score;
            w->point[chunk] = i;
        }
    }
}

static size_t least_chunk(const worst_fit *w) {
    size_t best = 0;
    for (size_t chunk = 1; chunk < w->l->chunks; chunk++)
        if (w->score[chunk] < w->score[best])
            best = chunk;
    return best;
}

/* The chunk with it; *score is infinite where no point can be taken. Filling clusters only takes choices away, so a
 * chunk has to be looked at again only where its worst point is the worst of all and cannot leave any more. */
static size_t find_worst(worst_fit *w, double *score) {
    ast_labelling *l = w->l;
    if (!w->looked)
        ast_pool_run(l->pool, l->chunks, worst_of_chunk, w);
    w->looked = true;
    size_t best = least_chunk(w);
    while (l->chunks && !isinf(w->score[best]) && !can_leave(l, w->point[best])) {
        worst_of_chunk(w, best, 0);
        best = least_chunk(w);
    }
    *score = l->chunks ? w->score[best] : INFINITY;
    return best;
}

/* Of all windows. */
static ast_status fill_in_windows(worst_fit *w, int32_t slot, ast_fault *fault) {
    ast_labelling *l = w->l;
    ast_status status = AST_OK;
    double least = INFINITY, score;
    size_t worst = 0;
    for (size_t n = 0; n < l->windows->count && status == AST_OK; n++) {
        status = ast_windows_open(l, n, fault);
        w->looked = w->looked && l->windows->count == 1;
        size_t chunk = find_worst(w, &score);
        if (score < least) {
            least = score;
            worst = l->offset + w->point[chunk];
        }
        status = status == AST_OK ? ast_windows_fault(l, fault) : status;
    }
    if (status == AST_OK)
        status = ast_windows_open(l, worst / l->windows->rows, fault);
    if (status == AST_OK && !ast_labelling_move(l, worst - l->offset, slot))
        ast_labelling_fail(l);
    if (status == AST_OK)
        status = ast_windows_fault(l, fault);
    return status == AST_OK ? ast_windows_save(l, fault) : status;
}

/* Several ranks: the worst of all, the first of several. */
static ast_status fill_slot(worst_fit *w, int32_t slot, ast_fault *fault) {
    ast_labelling *l = w->l;
    double score;
    if (l->windows)
        return fill_in_windows(w, slot, fault);
    size_t chunk = find_worst(w, &score);
    if (!ast_comm_many(l->comm))
        return ast_labelling_move(l, w->point[chunk], slot) ? AST_OK : ast_fail_memory(fault);
    int owner = ast_comm_least(l->comm, score);
    bool moved = ast_ranked_move(l, owner, l->comm->rank == owner ? w->point[chunk] : 0, slot);
    return moved ? AST_OK : ast_fail_memory(fault);
}

/* Every empty cluster, in order, takes the point that fits its own cluster worst; none is taken from a cluster of one.
 * There are at least as many points as clusters, so there always is such a point. */
ast_status ast_run_fill_empty(ast_labelling *l, ast_fault *fault) {
    worst_fit w = {.l = l, .means = l->clusters.means};
    ast_status status = AST_OK;
    for (size_t k = 0; k < l->clusters.live && status == AST_OK; k++) {
        int32_t slot = l->clusters.order[k];
        if (l->clusters.members[slot] > 0)
            continue;
        if (!w.score) {
            size_t chunks = l->windows ? l->windows->rows / l->chunk : l->chunks;
            w.score = ast_allocate(chunks, sizeof *w.score);
            w.point = ast_allocate(chunks, sizeof *w.point);
            status = ast_comm_agree(l->comm, w.score && w.point ? AST_OK : ast_fail_memory(fault), fault);
        }
        if (status == AST_OK)
            status = fill_slot(&w, slot, fault);
    }
    free(w.score);
    free(w.point);
    return status;
}

/* ---- the iteration ---- */

/* A point that leaves a cluster empty may be the one that fills it again: the labels tell whether anything changed. */
ast_status ast_run_spkm(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_labelling_set_angle(l, NAN);
    ast_status status = run->resumed ? AST_OK : ast_run_start(l, run, fault);
    uint64_t print = run->print_count > 0 ? run->prints[run->print_count - 1] : 0;
    run->prints = &print;
    run->print_count = 1;
    while (status == AST_OK && !run->converged && run->iterations < run->options->max_iterations) {
        ast_pass_result pass;
        status = ast_run_label(l, run, &pass, fault);
        if (status == AST_OK)
            status = ast_run_fill_empty(l, fault);
        uint64_t next = run->iterations == 0 ? 0 : ast_labelling_print(l);
        run->converged = status == AST_OK && (pass.changed == 0 || (run->iterations > 0 && next == print));
        print = next;
        if (status == AST_OK)
            status = ast_run_update(l, run, 0, &pass, fault);
    }
    run->prints = NULL;
    return status;
}
