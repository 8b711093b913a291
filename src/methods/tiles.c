/* SPDX-License-Identifier: MIT
 *
 * Tiles: N x K scores would not fit in memory, so they are made for a few points at a time and used up at once. */
#include "components.h"

#include "memory.h"

#include <stdlib.h>

#define TILE_BYTES ((size_t)24 << 10) /* of points and logits together: most of a first-level cache */
_Static_assert(AST_TILE_MOST % AST_LANES == 0 && AST_BLOCK % AST_TILE_MOST == 0, "tiles fill chunks");

static size_t tile_size(size_t dimension, size_t components) {
    size_t tile = AST_TILE_MOST, bytes = components * sizeof(double) + dimension * sizeof(float);
    while (tile > AST_LANES && tile * bytes > TILE_BYTES)
        tile /= 2;
    return tile;
}

static bool open_memory(const ast_tiles *t, ast_tile_memory *m, bool sums) {
    const ast_labelling_view v = ast_view_of(t->labelling);
    size_t dimension = v.rows->dimension, width = dimension + 1;
    bool small = v.rows->small;
    m->x = small ? NULL : ast_allocate(dimension * t->tile, sizeof *m->x);
    m->logits = ast_allocate(t->components * t->tile, sizeof *m->logits);
    m->cumulative = ast_allocate(t->components * AST_LANES, sizeof *m->cumulative);
    m->most = ast_allocate(t->tile, sizeof *m->most);
    m->total = ast_allocate(t->tile, sizeof *m->total);
    m->weight = ast_allocate(t->tile, sizeof *m->weight);
    m->sums = sums ? ast_allocate_zero(t->components * width, sizeof *m->sums) : NULL;
    m->integer_sums = sums ? ast_allocate_zero(t->components * width, sizeof *m->integer_sums) : NULL;
    return (small || m->x) && m->logits && m->cumulative && m->most && m->total && m->weight &&
           (!sums || (m->sums && m->integer_sums));
}

bool ast_tiles_open(ast_tiles *t, ast_labelling *l, size_t components, bool sums) {
    const ast_labelling_view v = ast_view_of(l);
    *t = (ast_tiles){.labelling = l, .kernels = v.rows->kernels->mixing, .components = components};
    t->tile = tile_size(v.rows->dimension, components);
    t->threads = ast_pool_threads(v.pool);
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
        ast_tile_memory *m = &t->memory[w];
        void *memory[] = {m->x, m->logits, m->cumulative, m->most, m->total, m->weight, m->sums, m->integer_sums};
        for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
            free(memory[i]);
    }
    free(t->memory);
    *t = (ast_tiles){0};
}

/* Rows into columns. */
static void transpose_rows(const ast_tiles *t, size_t first, float *x) {
    const ast_labelling *l = t->labelling;
    const ast_labelling_view v = ast_view_of(l);
    size_t dimension = v.rows->dimension;
    float buffer[AST_MAX_DIMENSION];
    for (size_t i = 0; i < t->tile; i++) {
        bool there = first + i < v.rows->count && v.labels[first + i] != AST_MISSING;
        const float *row = there ? ast_rowset_row(v.rows, first + i, buffer) : NULL;
        for (size_t d = 0; d < dimension; d++)
            x[d * t->tile + i] = row ? row[d] : 0;
    }
}

ast_tile ast_tile_at(const ast_tiles *t, size_t first, ast_tile_memory *m) {
    const ast_labelling_view v = ast_view_of(t->labelling);
    const ast_rowset *rows = v.rows;
    if (rows->small)
        return (ast_tile){rows->column[0] + first, rows->pitch, t->tile, rows->dimension};
    transpose_rows(t, first, m->x);
    return (ast_tile){m->x, t->tile, t->tile, rows->dimension};
}

void ast_tile_logits(const ast_tiles *t, const ast_tile *tile, const ast_components *c, ast_tile_memory *m) {
    t->kernels->logits(tile, c->means, c->offsets, c->kappas, ast_components_all(c), m->logits);
}
