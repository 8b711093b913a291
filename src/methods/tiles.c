/* SPDX-License-Identifier: MIT
 *
 * Tiles: N x K scores do not fit in memory, so they are computed for a few points at a time and used at once. */
#include "components.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#define TILE_BYTES ((size_t)24 << 10) /* of points and logits together: most of a first-level cache */
_Static_assert(AST_TILE_MOST % AST_LANES == 0 && AST_BLOCK % AST_TILE_MOST == 0, "tiles fill chunks");

static size_t tile_size(size_t dimension, size_t components) {
    size_t tile = AST_TILE_MOST, bytes = components * sizeof(double) + dimension * sizeof(float);
    while (tile > AST_LANES && tile * bytes > TILE_BYTES)
        tile /= 2;
    return tile;
}

static bool open_memory(const ast_tiles *t, ast_tile_memory *m, bool sums) {
    const ast_rowset *rows = t->v.rows;
    size_t numbers = sums ? t->components * (rows->dimension + 1) : 0;
    if (!ast_replace_arrays(AST_REQUEST(m->x, rows->small ? 0 : rows->dimension * t->tile),
                            AST_REQUEST(m->logits, t->components * t->tile),
                            AST_REQUEST(m->cumulative, t->components * AST_LANES), AST_REQUEST(m->sums, numbers),
                            AST_REQUEST(m->integer_sums, numbers)))
        return false;
    memset(m->sums, 0, numbers * sizeof *m->sums);
    memset(m->integer_sums, 0, numbers * sizeof *m->integer_sums);
    return true;
}

bool ast_tiles_open(ast_tiles *t, ast_labelling *l, size_t components, bool sums) {
    *t = (ast_tiles){.v = ast_view_of(l), .components = components};
    t->kernels = t->v.rows->kernels->mixing;
    t->tile = tile_size(t->v.rows->dimension, components);
    t->threads = ast_pool_threads(t->v.pool);
    t->memory = ast_allocate_zero((size_t)t->threads, sizeof *t->memory);
    bool ready = t->memory != NULL;
    for (int w = 0; w < t->threads && ready; w++)
        ready = open_memory(t, &t->memory[w], sums);
    if (!ready)
        ast_tiles_free(t);
    return ready;
}

void ast_tiles_free(ast_tiles *t) {
    for (int w = 0; t->memory && w < t->threads; w++) {
        const ast_tile_memory *m = &t->memory[w];
        ast_free_all(m->x, m->logits, m->cumulative, m->sums, m->integer_sums);
    }
    ast_free(t->memory);
    *t = (ast_tiles){0};
}

/* The entries of sparse rows. */
static void spread_entries(const ast_tiles *t, size_t first, float *x) {
    const ast_rowset *rows = t->v.rows;
    memset(x, 0, rows->dimension * t->tile * sizeof *x);
    for (size_t i = 0; i < t->tile && first + i < rows->count; i++) {
        if (t->v.labels[first + i] == AST_MISSING)
            continue;
        ast_sparse_row row = ast_sparse_rows_at(&rows->entries, rows->order ? rows->order[first + i] : first + i);
        for (size_t e = 0; e < row.count; e++)
            x[(size_t)row.columns[e] * t->tile + i] = row.values[e];
    }
}

/* Rows into columns. */
static void transpose_rows(const ast_tiles *t, size_t first, float *x) {
    const ast_rowset *rows = t->v.rows;
    float buffer[AST_MAX_DIMENSION];
    if (rows->sparse) {
        spread_entries(t, first, x);
        return;
    }
    for (size_t i = 0; i < t->tile; i++) {
        bool there = first + i < rows->count && t->v.labels[first + i] != AST_MISSING;
        const float *row = there ? ast_rowset_row(rows, first + i, buffer) : NULL;
        for (size_t d = 0; d < rows->dimension; d++)
            x[d * t->tile + i] = row ? row[d] : 0;
    }
}

ast_tile ast_tile_at(const ast_tiles *t, size_t first, ast_tile_memory *m) {
    const ast_rowset *rows = t->v.rows;
    if (rows->small)
        return (ast_tile){rows->column[0] + first, rows->pitch, t->tile, rows->dimension};
    transpose_rows(t, first, m->x);
    return (ast_tile){m->x, t->tile, t->tile, rows->dimension};
}

ast_tile ast_tile_logits(const ast_tiles *t, size_t first, const ast_components *c, ast_tile_memory *m) {
    ast_tile tile = ast_tile_at(t, first, m);
    t->kernels->logits(&tile, c->means, c->offsets, c->kappas, ast_components_all(c), m->logits);
    return tile;
}

void ast_tile_memberships(const ast_tiles *t, size_t first, const ast_components *c, ast_tile_memory *m) {
    ast_tile_logits(t, first, c, m);
    t->kernels->normalise(m->logits, ast_components_all(c), t->tile, m->most, m->total);
}

typedef struct visits {
    const ast_tiles *tiles;
    ast_tile_visitor *visit;
    void *data;
} visits;

static void visit_chunk(void *data, size_t chunk, int worker) {
    const visits *job = data;
    const ast_tiles *t = job->tiles;
    size_t first = chunk * t->v.rows->chunk, last = first + t->v.rows->chunk;
    last = last < t->v.rows->count ? last : t->v.rows->count;
    for (size_t i = first; i < last && !ast_pool_stopped(t->v.pool, worker); i += t->tile)
        job->visit(job->data, &t->memory[worker], chunk, i);
}

bool ast_tiles_each(const ast_tiles *t, ast_tile_visitor *visit, void *data) {
    ast_pool_run_cancellable(t->v.pool, t->v.rows->chunks, visit_chunk, &(visits){t, visit, data});
    return !ast_pool_cancelled(t->v.pool);
}
