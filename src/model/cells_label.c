/* SPDX-License-Identifier: MIT
 *
 * The nearest mean of every point. The list of a face is all means; that of a part of a cell is what its own pruning
 * leaves of the list of the cell. Where the points of a cell times its means are few they are compared; large cells are
 * shared out over the threads, level by level. */
#include "cells.h"

#include "memory.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK 4096  /* points times means that are compared rather than parted (measured) */
#define SHORT 8    /* means that it does not pay to prune */
#define STUBBORN 4 /* levels without one mean less: they are the same, or too close to tell apart */
#define TASKS 32   /* a cell with more than one part in so many of the points of a thread is a task of its own */

typedef struct branch {
    ast_cell cell;
    ast_table list;
    unsigned idle; /* levels in which the list became no shorter */
} branch;

typedef struct label_job {
    ast_labelling *l;
    ast_cells *cells;
    size_t from;       /* points before have their labels */
    size_t bulk;       /* more points are parted by a task of its own */
    double limit;      /* a score fits from here, ... */
    float fit, misfit; /* ... a float score certainly, and below certainly not */
    bool keep;         /* the best scores */
    branch *now, *next;
    _Atomic size_t next_count;
    _Atomic bool failed;
} label_job;

/* ---- a leaf ---- */

/* By the definition: the list has the winner, and is in order. */
static int32_t decide(double limit, const ast_table *list, const float x[3], float *best) {
    double most = -INFINITY;
    size_t winner = 0;
    for (size_t k = 0; k < list->count; k++) {
        float mean[3] = {list->means[k], list->means[list->capacity + k], list->means[2 * list->capacity + k]};
        double score = ast_exact_score(x, mean, 3);
        if (score > most) {
            most = score;
            winner = k;
        }
    }
    *best = (float)most;
    return most >= limit ? list->ids[winner] : AST_NOBODY;
}

/* The labels of n points from place `first` on, given their float scores. */
static void take_scores(const label_job *job, const ast_table *list, size_t first, size_t n, ast_scores scores) {
    ast_cells *cells = job->cells;
    for (size_t j = 0; j < n; j++) {
        float best = scores.best[j];
        int32_t label = scores.id[j];
        if (!(best >= job->fit && best - scores.second[j] > job->l->margin)) {
            float x[3];
            ast_cell_point(cells, first + j, x);
            label = best < job->misfit ? AST_NOBODY : decide(job->limit, list, x, &best);
        }
        if (cells->point[first + j] < job->from)
            continue;
        cells->label[cells->point[first + j]] = label;
        if (job->keep)
            cells->best[first + j] = label < 0 ? AST_NO_SCORE : best;
    }
}

static void score_leaf(const label_job *job, ast_worker *worker, const ast_cell *cell, const ast_table *list) {
    const ast_cells *cells = job->cells;
    for (size_t first = cell->first; first < cell->last; first += AST_BLOCK) {
        size_t n = cell->last - first < AST_BLOCK ? cell->last - first : AST_BLOCK;
        const float *x[AST_SMALL];
        for (size_t d = 0; d < 3; d++)
            x[d] = cells->columns + d * cells->pitch + first;
        job->l->kernels->score_columns[3](x, n, list, worker->other);
        take_scores(job, list, first, n, worker->other);
    }
    worker->scored += cell->last - cell->first;
}

/* ---- down the tree ---- */

static bool reserve_list(ast_table *list, size_t count) {
    if (count + AST_LANES <= list->capacity)
        return true;
    free(list->ids);
    free(list->means);
    size_t capacity = (count + AST_LANES + count / 4 + AST_PANEL) / AST_PANEL * AST_PANEL;
    list->ids = ast_allocate(capacity, sizeof *list->ids);
    list->means = ast_allocate(3 * capacity, sizeof *list->means);
    list->dimension = 3;
    list->capacity = list->ids && list->means ? capacity : 0;
    return list->capacity > 0;
}

static bool is_leaf(const ast_cell *cell, const ast_table *list, unsigned idle) {
    size_t points = cell->last - cell->first;
    return points * list->count <= WORK || list->count <= SHORT || points <= AST_LANES ||
           cell->level == AST_CELL_LEVELS || idle >= STUBBORN;
}

/* The part of a list that matters for a part of its cell. */
static bool prune(const label_job *job, const ast_table *list, const ast_cell *part, ast_table *to) {
    float centre[3], radius;
    if (!reserve_list(to, list->count))
        return false;
    ast_cell_bound(part, centre, &radius);
    job->l->kernels->prune_means(list, centre, radius, to);
    return true;
}

static void hand_on(label_job *job, const ast_cell *cell, const ast_table *list, unsigned idle) {
    branch *twig = &job->next[atomic_fetch_add(&job->next_count, 1)];
    twig->cell = *cell;
    twig->idle = idle;
    twig->list = (ast_table){.dimension = 3};
    if (!reserve_list(&twig->list, list->count)) {
        atomic_store(&job->failed, true);
        return;
    }
    twig->list.count = list->count;
    memcpy(twig->list.ids, list->ids, list->count * sizeof *list->ids);
    for (size_t d = 0; d < 3; d++)
        memcpy(twig->list.means + d * twig->list.capacity, list->means + d * list->capacity,
               list->count * sizeof *list->means);
}

static void descend(label_job *job, int index, const ast_cell *cell, const ast_table *list, unsigned idle) {
    if (is_leaf(cell, list, idle)) {
        score_leaf(job, &job->l->workers[index], cell, list);
        return;
    }
    for (uint32_t q = 0; q < 4 && !atomic_load(&job->failed); q++) {
        ast_cell part = ast_cell_part(job->cells, cell, q);
        ast_table *shorter = &job->cells->scratch[index].list[part.level];
        if (part.first == part.last)
            continue;
        if (!prune(job, list, &part, shorter)) {
            atomic_store(&job->failed, true);
            return;
        }
        unsigned still = shorter->count < list->count ? 0 : idle + 1;
        if (part.last - part.first > job->bulk && !is_leaf(&part, shorter, still))
            hand_on(job, &part, shorter, still);
        else
            descend(job, index, &part, shorter, still);
    }
}

static void descend_branch(void *data, size_t b, int index) {
    label_job *job = data;
    branch *twig = &job->now[b];
    if (!atomic_load(&job->failed))
        descend(job, index, &twig->cell, &twig->list, twig->idle);
}

/* The lists of the first branches are the labelling's own table. */
static void free_branches(branch *branches, size_t count, const ast_table *table) {
    for (size_t b = 0; b < count; b++)
        if (branches[b].list.ids != table->ids) {
            free(branches[b].list.ids);
            free(branches[b].list.means);
        }
    free(branches);
}

static size_t plant(label_job *job) {
    size_t count = 0;
    job->now = ast_allocate_zero(6, sizeof *job->now);
    for (uint32_t face = 0; job->now && face < 6; face++) {
        ast_cell cell = ast_cell_face(job->cells, face);
        if (cell.first < cell.last)
            job->now[count++] = (branch){cell, job->l->table, 0};
    }
    if (!job->now)
        atomic_store(&job->failed, true);
    return count;
}

static bool label(label_job *job) {
    ast_labelling *l = job->l;
    job->bulk = l->cells->count / (size_t)(TASKS * l->worker_count);
    for (size_t count = plant(job); count > 0 && !atomic_load(&job->failed);) {
        job->next = ast_allocate_zero(4 * count, sizeof *job->next);
        atomic_store(&job->next_count, 0);
        if (job->next)
            ast_pool_run(l->pool, count, descend_branch, job);
        else
            atomic_store(&job->failed, true);
        free_branches(job->now, count, &l->table);
        job->now = job->next;
        count = atomic_load(&job->next_count);
        job->next = NULL;
        if (count == 0 || atomic_load(&job->failed)) {
            free_branches(job->now, count, &l->table);
            job->now = NULL;
            break;
        }
    }
    free(job->now);
    return !atomic_load(&job->failed);
}

bool ast_cells_label(ast_labelling *l, size_t from) {
    label_job job = {.l = l, .cells = l->cells, .from = from, .keep = !l->fixed, .limit = l->limit, .fit = l->fit};
    job.misfit = l->fixed ? -3 : (float)(l->limit - (double)ast_score_error(3)) - 0x1p-23f;
    return label(&job);
}

bool ast_cells_nearest(ast_labelling *l) {
    label_job job = {.l = l, .cells = l->cells, .limit = -INFINITY, .fit = -3, .misfit = -3};
    return label(&job);
}
