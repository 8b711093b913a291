/* SPDX-License-Identifier: MIT
 *
 * The nearest mean of every point. The search starts with cells of a level at which cells have a few means each; the
 * lists of these cells are gathered from the means near them. The list of a part of a cell is pruned from the list of
 * the cell. If a cell has few points times means, all are compared. Parts with many points become tasks for all
 * threads, level by level. */
#include "cells.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEANS_PER_CELL 16      /* least average number of means in a cell of the first level (measured) */
#define MAX_LEAF_PRODUCTS 4096 /* up to this number of points times means, a cell is not divided (measured) */
#define FEW_MEANS 8            /* up to this number of means, pruning does not pay */
#define MAX_IDLE_LEVELS 4      /* after this many levels without pruning a mean, the means are equal or nearly so */
#define TASKS_PER_THREAD 32    /* a cell with more than 1 / TASKS_PER_THREAD of the points per thread becomes a task */

typedef struct cell_task {
    ast_cell cell;
    ast_mean_table list;
    unsigned idle; /* levels without pruning a mean */
} cell_task;

typedef struct label_job {
    const ast_scorer *s;
    ast_cells *cells;
    size_t from;       /* earlier points keep their labels */
    size_t bulk;       /* a cell with more points becomes a task */
    double limit;      /* the lowest exact score that fits */
    float fit, misfit; /* a float score fits certainly from `fit` on, and certainly not below `misfit` */
    bool keep_scores;  /* store the best scores */
    uint32_t level;    /* level of the first cells */
    cell_task *now, *next;
    _Atomic size_t next_count;
    _Atomic bool failed;
} label_job;

/* ---- a leaf ---- */

/* Finds the winner by exact scores. The list includes it, in any order. */
static int32_t decide(const label_job *job, const ast_mean_table *list, const float x[3], float *best) {
    const int32_t *rank = job->cells->mean_index.creation_order;
    double most = -INFINITY;
    int32_t winner = AST_NOBODY;
    for (size_t k = 0; k < list->count; k++) {
        float mean[3] = {list->means[k], list->means[list->capacity + k], list->means[2 * list->capacity + k]};
        double score = ast_exact_score(x, mean, 3);
        if (score > most || (score == most && rank[list->ids[k]] < rank[winner])) {
            most = score;
            winner = list->ids[k];
        }
    }
    *best = (float)most;
    return most >= job->limit ? winner : AST_NOBODY;
}

/* Sets the labels of n points from position `first` on, given their float scores. */
static void take_scores(const label_job *job, const ast_mean_table *list, size_t first, size_t n, ast_scores scores) {
    ast_cells *cells = job->cells;
    for (size_t j = 0; j < n; j++) {
        float best = scores.best[j];
        int32_t label = scores.id[j];
        if (!(best >= job->fit && best - scores.second[j] > job->s->margin)) {
            float x[3];
            ast_cell_point(cells, first + j, x);
            label = best < job->misfit ? AST_NOBODY : decide(job, list, x, &best);
        }
        if (cells->point[first + j] < job->from)
            continue;
        cells->label[cells->point[first + j]] = label;
        if (job->keep_scores)
            cells->best[first + j] = label < 0 ? AST_NO_SCORE : best;
    }
}

static void score_leaf(const label_job *job, ast_cell_scratch *own, const ast_cell *cell, const ast_mean_table *list) {
    const ast_cells *cells = job->cells;
    for (size_t first = cell->first; first < cell->last; first += AST_BLOCK) {
        size_t n = cell->last - first < AST_BLOCK ? cell->last - first : AST_BLOCK;
        const float *x[AST_SMALL];
        for (size_t d = 0; d < 3; d++)
            x[d] = cells->columns + d * cells->pitch + first;
        job->s->kernels->score_columns[3](x, n, list, own->scores);
        take_scores(job, list, first, n, own->scores);
    }
    own->scored += cell->last - cell->first;
}

/* ---- down the tree ---- */

static bool is_leaf(const ast_cell *cell, const ast_mean_table *list, unsigned idle) {
    size_t points = cell->last - cell->first;
    return points * list->count <= MAX_LEAF_PRODUCTS || list->count <= FEW_MEANS || points <= AST_LANES ||
           cell->level == AST_CELL_LEVELS || idle >= MAX_IDLE_LEVELS;
}

/* Prunes a list for a part of its cell. */
static bool prune(const label_job *job, const ast_mean_table *list, const ast_cell *part, ast_mean_table *to) {
    float centre[3], radius;
    if (!ast_cell_list_reserve(to, list->count))
        return false;
    ast_cell_bound(part, centre, &radius);
    job->s->kernels->prune_means(list, centre, radius, to);
    return true;
}

static void queue_task(label_job *job, const ast_cell *cell, const ast_mean_table *list, unsigned idle) {
    cell_task *task = &job->next[atomic_fetch_add(&job->next_count, 1)];
    task->cell = *cell;
    task->idle = idle;
    task->list = (ast_mean_table){.dimension = 3};
    if (!ast_cell_list_reserve(&task->list, list->count)) {
        atomic_store(&job->failed, true);
        return;
    }
    task->list.count = list->count;
    memcpy(task->list.ids, list->ids, list->count * sizeof *list->ids);
    for (size_t d = 0; d < 3; d++)
        memcpy(task->list.means + d * task->list.capacity, list->means + d * list->capacity,
               list->count * sizeof *list->means);
}

static void descend(label_job *job, int index, const ast_cell *cell, const ast_mean_table *list, unsigned idle) {
    if (is_leaf(cell, list, idle)) {
        score_leaf(job, &job->cells->scratch[index], cell, list);
        return;
    }
    for (uint32_t q = 0; q < 4 && !atomic_load(&job->failed); q++) {
        ast_cell part = ast_cell_part(job->cells, cell, q);
        ast_mean_table *shorter = &job->cells->scratch[index].list[part.level];
        if (part.first == part.last)
            continue;
        if (!prune(job, list, &part, shorter)) {
            atomic_store(&job->failed, true);
            return;
        }
        unsigned still = shorter->count < list->count ? 0 : idle + 1;
        if (part.last - part.first > job->bulk && !is_leaf(&part, shorter, still))
            queue_task(job, &part, shorter, still);
        else
            descend(job, index, &part, shorter, still);
    }
}

static void descend_task(void *data, size_t b, int index) {
    label_job *job = data;
    cell_task *task = &job->now[b];
    if (!atomic_load(&job->failed))
        descend(job, index, &task->cell, &task->list, task->idle);
}

/* Gathers the list of a cell of the first level and labels its points. */
static void descend_first(void *data, size_t prefix, int index) {
    label_job *job = data;
    ast_cell_scratch *scratch = &job->cells->scratch[index];
    ast_cell cell = ast_cell_of(job->cells, job->level, (uint32_t)prefix);
    if (cell.first == cell.last || atomic_load(&job->failed))
        return;
    ast_mean_table *list = &scratch->list[job->level];
    if (ast_mean_index_gather(job->cells, &cell, &scratch->nearby_means) &&
        prune(job, &scratch->nearby_means, &cell, list))
        descend(job, index, &cell, list, 0);
    else
        atomic_store(&job->failed, true);
}

static void free_tasks(cell_task *tasks, size_t count) {
    for (size_t b = 0; b < count; b++)
        ast_mean_table_free(&tasks[b].list);
    ast_free(tasks);
}

/* Runs `count` tasks. Returns the number of tasks that they queued, which are job->next. */
static size_t run_level(label_job *job, size_t count, ast_task *run) {
    /* upper bound of the number of cells with more than `bulk` points */
    size_t parts = job->cells->count / (job->bulk + 1) + 1;
    job->next = ast_allocate_zero(4 * count < parts ? 4 * count : parts, sizeof *job->next);
    atomic_store(&job->next_count, 0);
    if (job->next)
        ast_pool_run(job->cells->pool, count, run, job);
    else
        atomic_store(&job->failed, true);
    return atomic_load(&job->next_count);
}

static uint32_t first_level(const ast_cells *cells) {
    uint32_t level = 0;
    while (level < cells->depth && (size_t)6 * MEANS_PER_CELL << 2 * (level + 1) <= cells->mean_index.sorted.count)
        level++;
    return level;
}

static bool label(label_job *job) {
    job->bulk = job->cells->count / (size_t)(TASKS_PER_THREAD * job->cells->workers);
    job->level = first_level(job->cells);
    size_t count = run_level(job, (size_t)6 << 2 * job->level, descend_first);
    while (count > 0 && !atomic_load(&job->failed)) {
        job->now = job->next;
        size_t parts = run_level(job, count, descend_task);
        free_tasks(job->now, count);
        count = parts;
    }
    free_tasks(job->next, count);
    return !atomic_load(&job->failed);
}

bool ast_cells_nearest_within_angle(ast_cells *cells, size_t from, bool keep_scores) {
    assert(cells->loaded && from <= cells->scorer->rows->count);
    const ast_scorer *s = cells->scorer;
    label_job job = {
        .s = s, .cells = cells, .from = from, .keep_scores = keep_scores, .limit = s->fit_threshold, .fit = s->fit};
    job.misfit = isinf(s->fit_threshold) ? -3 : (float)(s->fit_threshold - (double)ast_score_error(3)) - 0x1p-23f;
    return label(&job);
}

bool ast_cells_nearest(ast_cells *cells) {
    assert(cells->loaded);
    label_job job = {.s = cells->scorer, .cells = cells, .limit = -INFINITY, .fit = -3, .misfit = -3};
    return label(&job);
}
