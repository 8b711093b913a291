/* SPDX-License-Identifier: MIT
 *
 * Cells and the points in them. A direction is projected from the centre of a cube onto one of its faces: u and v in
 * -1..1. A cell of level l is one of 2^l by 2^l squares of a face. Its code is the face followed by the bits of u and v
 * alternately, so the points of any cell are adjacent once they are sorted by code. */
#include "cells.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACE_BITS (2 * AST_CELL_LEVELS)
#define BUCKET_BITS 16 /* low bits of a code, sorted within a bucket; the others are the number of the bucket */
#define BUCKETS ((size_t)6 << (FACE_BITS - BUCKET_BITS))
#define SLICE ((size_t)1 << 16) /* points per task */
#define FEW 48                  /* up to this number pairs are sorted by insertion */
#define LEAST_DEPTH ((FACE_BITS - BUCKET_BITS) / 2)
#define MOST_DEPTH 9

/* ---- geometry ---- */

static uint32_t spread(uint32_t bits) {
    bits = (bits | bits << 8) & 0x00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0fu;
    bits = (bits | bits << 2) & 0x33333333u;
    return (bits | bits << 1) & 0x55555555u;
}

static uint32_t grid_line(float u) {
    const int32_t cells = 1 << AST_CELL_LEVELS;
    const int32_t half = cells / 2;
    int32_t line = (int32_t)((u + 1) * (float)half);
    return (uint32_t)(line < 0 ? 0 : line < cells ? line : cells - 1);
}

uint32_t ast_cell_code(const float x[3]) {
    uint32_t axis = fabsf(x[1]) > fabsf(x[0]) ? 1 : 0;
    axis = fabsf(x[2]) > fabsf(x[axis]) ? 2 : axis;
    float length = fabsf(x[axis]);
    uint32_t face = 2 * axis + (x[axis] < 0), second = axis == 2 ? 0 : axis + 1, third = axis == 0 ? 2 : axis - 1;
    return face << FACE_BITS | spread(grid_line(x[second] / length)) | spread(grid_line(x[third] / length)) << 1;
}

/* The projection onto the sphere shortens a step on the face at (u, v) at least by the factor 1 / sqrt(1 + u^2 + v^2).
 * So half a diagonal, times this factor at the point of the cell nearest to the middle of the face, bounds the distance
 * on the sphere from the centre of the cell. Float arithmetic, here and in the code of a point, and the length of the
 * point contribute less than 2^-20: see docs/rules.md. */
void ast_cell_bound(const ast_cell *cell, float centre[3], float *radius) {
    float half = ldexpf(1, -(int)cell->level);
    float u = (float)(2 * cell->u + 1) * half - 1, v = (float)(2 * cell->v + 1) * half - 1;
    float near_u = fmaxf(fabsf(u) - half, 0), near_v = fmaxf(fabsf(v) - half, 0);
    float length = 1 / sqrtf(1 + u * u + v * v);
    uint32_t axis = cell->face / 2, second = axis == 2 ? 0 : axis + 1, third = axis == 0 ? 2 : axis - 1;
    centre[axis] = cell->face % 2 ? -length : length;
    centre[second] = u * length;
    centre[third] = v * length;
    *radius = half * 1.4142136f / sqrtf(1 + near_u * near_u + near_v * near_v) * (1 + 0x1p-12f) + 0x1p-19f;
}

static size_t place_of(const ast_cells *cells, size_t first, size_t last, uint64_t code) {
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (cells->code[middle] < code)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

ast_cell ast_cell_face(const ast_cells *cells, uint32_t face) {
    size_t width = (size_t)1 << 2 * cells->depth;
    return (ast_cell){
        .face = face, .prefix = face, .first = cells->start[face * width], .last = cells->start[(face + 1) * width]};
}

ast_cell ast_cell_part(const ast_cells *cells, const ast_cell *cell, uint32_t part) {
    assert(part < 4 && cell->level < AST_CELL_LEVELS);
    ast_cell child = {
        cell->face,  cell->level + 1, 2 * cell->u + (part & 1), 2 * cell->v + (part >> 1), 4 * cell->prefix + part,
        cell->first, cell->last};
    if (child.level <= cells->depth) {
        uint32_t shift = 2 * (cells->depth - child.level);
        child.first = cells->start[(size_t)child.prefix << shift];
        child.last = cells->start[((size_t)child.prefix + 1) << shift];
        return child;
    }
    uint32_t shift = 2 * (AST_CELL_LEVELS - child.level);
    child.first = place_of(cells, cell->first, cell->last, (uint64_t)child.prefix << shift);
    child.last = place_of(cells, child.first, cell->last, ((uint64_t)child.prefix + 1) << shift);
    return child;
}

ast_cell ast_cell_of(const ast_cells *cells, uint32_t level, uint32_t prefix) {
    ast_cell cell = ast_cell_face(cells, prefix >> 2 * level);
    while (cell.level < level)
        cell = ast_cell_part(cells, &cell, prefix >> 2 * (level - cell.level - 1) & 3);
    return cell;
}

/* ---- sorting ---- */

static void insert_all(uint64_t *pairs, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t pair = pairs[i];
        size_t j = i;
        for (; j > 0 && pairs[j - 1] > pair; j--)
            pairs[j] = pairs[j - 1];
        pairs[j] = pair;
    }
}

/* Sorts by one byte of the codes; stable. */
static void sort_byte(const uint64_t *from, uint64_t *to, size_t count, unsigned shift) {
    size_t place[256] = {0}, next = 0;
    for (size_t i = 0; i < count; i++)
        place[from[i] >> shift & 255]++;
    for (size_t b = 0; b < 256; b++) {
        size_t here = place[b];
        place[b] = next;
        next += here;
    }
    for (size_t i = 0; i < count; i++)
        to[place[from[i] >> shift & 255]++] = from[i];
}

void ast_sort_codes(uint64_t *pairs, uint64_t *spare, size_t count) {
    if (count <= FEW) {
        insert_all(pairs, count);
        return;
    }
    sort_byte(pairs, spare, count, 32);
    sort_byte(spare, pairs, count, 40);
}

/* ---- loading ---- */

typedef struct load_job {
    const ast_rowset *rows;
    const int32_t *labels;
    ast_cells *cells;
    uint32_t *code;   /* (N) by point */
    uint32_t *counts; /* (slices, BUCKETS) number of points, then the position of the next one */
    uint64_t *pairs, *spare;
    size_t slices;
} load_job;

static size_t slice_end(const load_job *job, size_t slice) {
    size_t last = (slice + 1) * SLICE;
    return last < job->rows->count ? last : job->rows->count;
}

static void count_slice(void *data, size_t slice) {
    load_job *job = data;
    uint32_t *counts = job->counts + slice * BUCKETS;
    const ast_rowset *rows = job->rows;
    memset(counts, 0, BUCKETS * sizeof *counts);
    for (size_t i = slice * SLICE; i < slice_end(job, slice); i++) {
        if (job->labels[i] == AST_MISSING)
            continue;
        float x[3] = {rows->column[0][i], rows->column[1][i], rows->column[2][i]};
        job->code[i] = ast_cell_code(x);
        counts[job->code[i] >> BUCKET_BITS]++;
    }
}

static void place_slices(load_job *job) {
    uint32_t next = 0;
    for (size_t b = 0; b < BUCKETS; b++)
        for (size_t slice = 0; slice < job->slices; slice++) {
            uint32_t here = job->counts[slice * BUCKETS + b];
            job->counts[slice * BUCKETS + b] = next;
            next += here;
        }
    job->cells->count = next;
    assert(job->cells->count <= job->rows->count);
}

static void fill_slice(void *data, size_t slice) {
    load_job *job = data;
    uint32_t *place = job->counts + slice * BUCKETS;
    for (size_t i = slice * SLICE; i < slice_end(job, slice); i++)
        if (job->labels[i] != AST_MISSING)
            job->pairs[place[job->code[i] >> BUCKET_BITS]++] = (uint64_t)job->code[i] << 32 | i;
}

/* Fills the directory for the cells of a bucket. */
static void fill_directory(ast_cells *cells, size_t bucket, size_t first, size_t last) {
    uint32_t shift = 2 * (AST_CELL_LEVELS - cells->depth), width = BUCKET_BITS - shift;
    size_t cell = bucket << width, end = (bucket + 1) << width;
    for (size_t place = first; place < last; place++)
        while (cell <= cells->code[place] >> shift)
            cells->start[cell++] = (uint32_t)place;
    while (cell < end)
        cells->start[cell++] = (uint32_t)last;
}

/* After fill_slice every count is the end of its points; that of the last slice is the end of the bucket. */
static void sort_bucket(void *data, size_t bucket) {
    load_job *job = data;
    ast_cells *cells = job->cells;
    const uint32_t *ends = job->counts + (job->slices - 1) * BUCKETS;
    size_t first = bucket ? ends[bucket - 1] : 0, last = ends[bucket];
    assert(first <= last && last <= cells->count);
    ast_sort_codes(job->pairs + first, job->spare + first, last - first);
    for (size_t place = first; place < last; place++) {
        cells->code[place] = (uint32_t)(job->pairs[place] >> 32);
        size_t i = cells->point[place] = (uint32_t)job->pairs[place];
        for (size_t d = 0; d < 3; d++)
            cells->columns[d * cells->pitch + place] = job->rows->column[d][i];
    }
    fill_directory(cells, bucket, first, last);
}

void ast_cells_free(ast_cells *cells) {
    if (!cells)
        return;
    for (int w = 0; cells->scratch && w < cells->workers; w++) {
        ast_scores_free(&cells->scratch[w].scores);
        ast_mean_table_free(&cells->scratch[w].nearby_means);
        for (size_t level = 0; level <= AST_CELL_LEVELS; level++)
            ast_mean_table_free(&cells->scratch[w].list[level]);
    }
    ast_free_all(cells->code, cells->point, cells->columns, cells->best, cells->label, cells->start, cells->scratch);
    ast_mean_index_free(&cells->mean_index);
    ast_free(cells);
}

static bool reserve_scratch(ast_cells *cells) {
    if (cells->scratch)
        return true;
    bool ready = true;
    cells->workers = ast_pool_threads(cells->pool);
    cells->scratch = ast_allocate_zero((size_t)cells->workers, sizeof *cells->scratch);
    for (int w = 0; cells->scratch && w < cells->workers; w++)
        ready = ast_scores_open(&cells->scratch[w].scores, AST_BLOCK) && ready;
    return cells->scratch && ready;
}

static bool reserve(ast_cells *cells, size_t count, size_t padded) {
    if (padded > cells->label_capacity || !cells->start) {
        cells->pitch = padded + AST_STAGGER;
        cells->depth = LEAST_DEPTH;
        while (cells->depth < MOST_DEPTH && (size_t)6 << 2 * cells->depth < count / 4)
            cells->depth++;
        size_t floats = 3 * cells->pitch + 2 * AST_LANES, directory = ((size_t)6 << 2 * cells->depth) + 1;
        if (!ast_replace_arrays(AST_REQUEST(cells->code, padded), AST_REQUEST(cells->point, padded),
                                AST_REQUEST(cells->columns, floats), AST_REQUEST(cells->best, padded),
                                AST_REQUEST(cells->label, padded), AST_REQUEST(cells->start, directory)))
            return false;
        memset(cells->columns, 0, floats * sizeof *cells->columns);
        cells->label_capacity = padded;
    }
    return reserve_scratch(cells);
}

static bool sort_points(load_job *job) {
    size_t count = job->rows->count;
    job->slices = count / SLICE + 1;
    bool ready = ast_replace_arrays(AST_REQUEST(job->code, count), AST_REQUEST(job->counts, job->slices * BUCKETS),
                                    AST_REQUEST(job->pairs, count), AST_REQUEST(job->spare, count));
    if (ready) {
        ast_pool_each(job->cells->pool, job->slices, 1, count_slice, job);
        place_slices(job);
        ast_pool_each(job->cells->pool, job->slices, 1, fill_slice, job);
        ast_pool_each(job->cells->pool, BUCKETS, 1, sort_bucket, job);
        job->cells->start[(size_t)6 << 2 * job->cells->depth] = (uint32_t)job->cells->count;
    }
    ast_free_all(job->code, job->counts, job->pairs, job->spare);
    return ready;
}

bool ast_cells_load(ast_cells **cells, const ast_scorer *s, ast_pool *pool) {
    assert(s->rows->dimension == 3 && s->rows->count <= UINT32_MAX);
    if (!*cells)
        *cells = ast_allocate_zero(1, sizeof **cells);
    if (!*cells)
        return false;
    (*cells)->scorer = s;
    (*cells)->pool = pool;
    if (!reserve(*cells, s->rows->count, s->rows->padded))
        return false;
    load_job job = {.rows = s->rows, .labels = s->labels, .cells = *cells};
    if (!(*cells)->loaded)
        (*cells)->loaded = sort_points(&job);
    return (*cells)->loaded;
}
