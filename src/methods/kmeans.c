/* SPDX-License-Identifier: MIT
 *
 * Spherical k-means (Dhillon and Modha 2001): K clusters, every point with the mean of the largest cosine, every mean
 * the normalised sum of its points. The start is k-means++ on 1 - cosine (Arthur and Vassilvitskii 2007), random points
 * or given means. A cluster that loses all its points takes the one that fits worst elsewhere. */
#include "methods.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED_BLOCK                                                                                                     \
    1024 /* points whose distances are added up together: fixed, so that sums do not depend on threads                 \
          */

/* ---- k-means++ ---- */

typedef struct seeding {
    ast_labelling *l;
    const float *mean; /* the latest */
    float *distance;   /* (count) 1 - cosine to the nearest mean so far */
    double *block;     /* (blocks) the sum of weight * distance */
    size_t blocks;
} seeding;

static void seed_block(void *data, size_t block, int index) {
    seeding *s = data;
    ast_labelling *l = s->l;
    size_t first = block * SEED_BLOCK, last = first + SEED_BLOCK;
    double sum = 0;
    for (size_t i = first; i < last && i < l->cloud.count; i++) {
        if (l->labels[i] == AST_MISSING)
            continue;
        double cosine = ast_cloud_steady_dot(&l->cloud, i, s->mean, l->workers[index].row);
        float away = (float)fmax(0, 1 - (l->axial ? fabs(cosine) : cosine));
        s->distance[i] = away < s->distance[i] ? away : s->distance[i];
        sum += (l->weights ? l->weights[i] : 1) * (double)s->distance[i];
    }
    s->block[block] = sum;
}

/* A point with probability proportional to weight * distance; any point where all distances are zero. */
static size_t draw(const seeding *s, ast_random *random) {
    const ast_labelling *l = s->l;
    double total = 0, at = ast_random_uniform(random);
    size_t last = l->cloud.count;
    for (size_t b = 0; b < s->blocks; b++)
        total += s->block[b];
    at *= total;
    for (size_t b = 0; b < s->blocks; b++) {
        if (at >= s->block[b] && b + 1 < s->blocks) {
            at -= s->block[b];
            continue;
        }
        for (size_t i = b * SEED_BLOCK; i < (b + 1) * SEED_BLOCK && i < l->cloud.count; i++) {
            double part = (l->weights ? l->weights[i] : 1) * (double)s->distance[i];
            if (l->labels[i] == AST_MISSING || part <= 0)
                continue;
            last = i;
            if (at < part)
                return i;
            at -= part;
        }
        if (last < l->cloud.count) /* rounding ran past the end of its block */
            return last;
    }
    return last;
}

/* The n-th point that is there. */
static size_t nth_point(const ast_labelling *l, uint64_t n) {
    for (size_t i = 0;; i++)
        if (l->labels[i] != AST_MISSING && n-- == 0)
            return i;
}

static uint64_t present(const ast_labelling *l) {
    uint64_t count = 0;
    for (size_t i = 0; i < l->cloud.count; i++)
        count += l->labels[i] != AST_MISSING;
    return count;
}

/* Compares every point with the latest start: as long as there is one to come. */
static ast_status measure_distances(seeding *s, const ast_run *run, ast_fault *fault) {
    double began = ast_seconds();
    ast_pool_run(s->l->pool, s->blocks, seed_block, s);
    ast_progress state = {.restart = run->restart,
                          .clusters = s->l->clusters.live,
                          .scored = s->l->present,
                          .seconds = ast_seconds() - began};
    return ast_run_tell(run, &state, fault);
}

static ast_status start_plusplus(ast_labelling *l, const ast_run *run, ast_random *random, ast_fault *fault) {
    size_t clusters = run->options->clusters;
    seeding s = {.l = l, .blocks = (l->cloud.count + SEED_BLOCK - 1) / SEED_BLOCK};
    s.distance = ast_allocate(l->cloud.count, sizeof *s.distance);
    s.block = ast_allocate(s.blocks, sizeof *s.block);
    float *row = ast_allocate(l->cloud.dimension, sizeof *row);
    ast_status status = s.distance && s.block && row ? AST_OK : ast_fail_memory(fault);
    uint64_t points = present(l);
    for (size_t i = 0; status == AST_OK && i < l->cloud.count; i++)
        s.distance[i] = 4;
    for (size_t k = 0; status == AST_OK && k < clusters; k++) {
        size_t i = k == 0 ? l->cloud.count : draw(&s, random);
        if (i == l->cloud.count)
            i = nth_point(l, ast_random_below(random, points));
        const float *start = ast_upright_row(l, &l->workers[0], i);
        s.mean = memcpy(row, start, l->cloud.dimension * sizeof *row);
        s.distance[i] = 0;
        if (ast_clusters_add(&l->clusters, s.mean, UINT32_MAX) < 0)
            status = ast_fail_memory(fault);
        else if (k + 1 < clusters)
            status = measure_distances(&s, run, fault);
    }
    free(s.distance);
    free(s.block);
    free(row);
    return status;
}

/* ---- random points ---- */

/* `clusters` of the points, each at most once, by selection sampling: in the order of the points. */
static ast_status start_random(ast_labelling *l, size_t clusters, ast_random *random, ast_fault *fault) {
    uint64_t left = present(l), wanted = clusters;
    for (size_t i = 0; i < l->cloud.count && wanted > 0; i++) {
        if (l->labels[i] == AST_MISSING)
            continue;
        if (ast_random_below(random, left--) >= wanted)
            continue;
        wanted--;
        const float *mean = ast_upright_row(l, &l->workers[0], i);
        if (ast_clusters_add(&l->clusters, mean, UINT32_MAX) < 0)
            return ast_fail_memory(fault);
    }
    return AST_OK;
}

ast_status ast_run_start(ast_labelling *l, const ast_run *run, ast_fault *fault) {
    const ast_options *options = run->options;
    ast_random random;
    ast_random_seed(&random, options->seed, (uint64_t)run->restart);
    if (options->start == AST_GIVEN)
        return ast_run_given(l, options, fault);
    if (options->start == AST_RANDOM)
        return start_random(l, options->clusters, &random, fault);
    return start_plusplus(l, run, &random, fault);
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
    double *score;      /* (chunks) the smallest score in the chunk */
    size_t *point;      /* (chunks) whose it is */
} worst_fit;

static void worst_of_chunk(void *data, size_t chunk, int index) {
    worst_fit *w = data;
    ast_labelling *l = w->l;
    w->score[chunk] = INFINITY;
    for (size_t i = chunk * l->chunk; i < (chunk + 1) * l->chunk && i < l->cloud.count; i++) {
        int32_t label = l->labels[i];
        if (label < 0 || l->clusters.members[label] < 2)
            continue;
        const float *mean = w->means + (size_t)label * l->cloud.dimension;
        double score = ast_cloud_exact_score(&l->cloud, i, mean, l->workers[index].row);
        score = l->axial ? fabs(score) : score;
        if (score < w->score[chunk]) {
            w->score[chunk] = score;
            w->point[chunk] = i;
        }
    }
}

static size_t find_worst(worst_fit *w) {
    ast_labelling *l = w->l;
    size_t best = 0;
    ast_pool_run(l->pool, l->chunks, worst_of_chunk, w);
    for (size_t chunk = 1; chunk < l->chunks; chunk++)
        if (w->score[chunk] < w->score[best])
            best = chunk;
    return w->point[best];
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
            w.score = ast_allocate(l->chunks, sizeof *w.score);
            w.point = ast_allocate(l->chunks, sizeof *w.point);
        }
        if (!w.score || !w.point || !ast_labelling_move(l, find_worst(&w), slot))
            status = ast_fail_memory(fault);
    }
    free(w.score);
    free(w.point);
    return status;
}

/* ---- the iteration ---- */

/* A point that leaves a cluster empty may be the one that fills it again: the labels tell whether anything changed. */
ast_status ast_run_spkm(ast_labelling *l, ast_run *run, ast_fault *fault) {
    ast_labelling_set_angle(l, NAN);
    ast_status status = ast_run_start(l, run, fault);
    uint64_t print = 0;
    while (status == AST_OK && !run->converged && run->iterations < run->options->max_iterations) {
        ast_pass_result pass;
        status = ast_run_label(l, run, &pass, fault);
        if (status == AST_OK)
            status = ast_run_fill_empty(l, fault);
        uint64_t next = run->iterations == 0 ? 0 : ast_labelling_print(l);
        bool same = pass.changed == 0 || (run->iterations > 0 && next == print);
        print = next;
        if (status == AST_OK)
            status = ast_run_update(l, run, 0, &pass, fault);
        run->converged = status == AST_OK && same;
    }
    return status;
}
