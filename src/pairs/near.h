/* SPDX-License-Identifier: MIT
 *
 * All pairs of rows whose score is at least a limit, exactly, without looking at most pairs.
 *
 * The main idea: similar rows are put into one *block* of AST_NEAR_BLOCK rows. The *sketch* of a row is a unit vector
 * of few coordinates: its first ones along the principal axes of the rows (scores/heads.h), and the length of its tail.
 * The score of two sketches is at least that of their rows. The sketches of a block lie in a cap, an angle around a
 * centre: a row whose sketch is farther from the centre than that and the angle of the limit is near no row of the
 * block. Rows and blocks that pass are compared by more of their heads and by tails; pairs that pass are scored in
 * full. Every bound includes its rounding errors, so that no pair is lost, whatever the blocks are.
 *
 *     near_rows.c    the rows of one or two sets; equal rows become one
 *     near_cells.c   similar rows next to each other: cells around a few means, split into blocks
 *     near_index.c   axes, heads and caps of the blocks
 *     near_search.c  the pairs of a tile of rows with a range of blocks */
#pragma once

#include "fault.h"
#include "heads.h"
#include "pool.h"
#include "rowset.h"

enum { AST_NEAR_BLOCK = 64 }; /* rows of a block and of a tile: a bit of uint64_t each; a multiple of AST_PANEL */
#define AST_NO_ROW UINT32_MAX /* an unused place of a block */

/* Rows of one or two sets. Row i of the second has the number i + the count of the first. */
typedef struct ast_near_rows {
    const ast_rowset *sets[2]; /* the second may be NULL */
    float *copies[2];    /* (count, D) where rows cannot be used in place; NULL: they are normalised on each read */
    size_t first, count; /* rows of the first set, and of both */
    size_t dimension;
    uint32_t *same_as; /* (count) the first row of the set that equals this one, bit for bit; AST_NO_ROW: missing */
    uint32_t *equal;   /* (count) of such a first row: how many rows there are, itself included */
} ast_near_rows;

/* Finds equal rows. labels[s]: those of ast_rowset_load. Copies take at most `memory` bytes (0: any). */
ast_status ast_near_rows_open(ast_near_rows *rows, ast_pool *pool, int32_t *const labels[2], size_t memory,
                              ast_fault *fault);
void ast_near_rows_free(ast_near_rows *rows);

/* A row, in place or in the buffer (D floats). */
const float *ast_near_row(const ast_near_rows *rows, uint32_t row, float *buffer);

/* The rows of a set that have no equal before them, sorted so that similar rows are neighbours. */
typedef struct ast_near_order {
    size_t count, cells;
    uint32_t *rows; /* (count) by cell */
    size_t *starts; /* (cells + 1) */
} ast_near_order;

bool ast_near_order_find(ast_near_order *order, const ast_near_rows *rows, size_t set, const ast_kernels *kernels,
                         ast_pool *pool);
void ast_near_order_free(ast_near_order *order);

/* Sorts the n rows of a cell into blocks of AST_NEAR_BLOCK: `order` (n) indices into heads (n, width). */
void ast_near_split(const float *heads, size_t width, uint32_t *order, size_t n);

/* Vectors for the kernel that masks products, of which all 64 are compared at a time. */
typedef struct ast_near_table {
    size_t width;
    float *panels; /* (count / AST_PANEL, width, AST_PANEL) */
    float *bias;   /* (count) minus the least product that passes; AST_NO_SCORE: unused */
} ast_near_table;

typedef struct ast_near_index {
    const ast_kernels *kernels;
    ast_pool *pool;
    const ast_near_rows *rows;
    double limit;       /* a pair counts if its score is at least this */
    size_t blocks, own; /* blocks of both sets, and of the first */
    uint32_t *ids;      /* (blocks, AST_NEAR_BLOCK) */
    uint32_t *places;   /* (rows->count) where a row is in ids; there are blocks * AST_NEAR_BLOCK of them */
    ast_basis axes;
    size_t width, long_width; /* of short and long heads */
    size_t cap_axes;          /* of the sketches in caps; 0: caps are around whole rows */
    ast_near_table sketches;  /* (places) of `width` axes */
    ast_near_table caps;      /* (blocks) their centres */
    float *long_heads;        /* (places, long_width); the short head is the first part */
    float *long_tails;        /* (places) */
    float head_slack;         /* allowance for rounding */
} ast_near_index;

ast_status ast_near_index_open(ast_near_index *index, ast_fault *fault); /* kernels, pool, rows and limit are set */
void ast_near_index_free(ast_near_index *index);

/* A pair: row r of the tile, and another row. `score` is exact if the search is, otherwise it decides only. */
typedef void ast_near_found(void *data, int worker, size_t r, uint32_t row, double score);

/* What a search is for. A search may run on several threads at once. */
typedef struct ast_near_search {
    const ast_near_index *index;
    bool exact;          /* compute the exact score of every pair */
    const uint8_t *skip; /* (rows) rows to leave out, or NULL */
    ast_near_found *found;
    void *data;
    struct ast_near_worker *workers; /* (threads) */
} ast_near_search;

bool ast_near_search_open(ast_near_search *search);
void ast_near_search_free(ast_near_search *search);

/* Begins a tile in the memory of a worker: of the rows of a block, or of n listed rows. */
void ast_near_begin_tile_of_block(ast_near_search *search, int worker, size_t block);
void ast_near_begin_tile_of_rows(ast_near_search *search, int worker, const uint32_t *rows, size_t n);

/* Reports the pairs of the worker's tile with the rows of blocks first..last-1. A tile that is the first of these
 * blocks is compared with itself, too: each pair once. Other tiles must not hold rows of these blocks: a row would be
 * reported as a pair with itself. */
void ast_near_search_tile(ast_near_search *search, int worker, size_t first, size_t last);

/* Row r of a worker's tile. */
uint32_t ast_near_tile_row(const ast_near_search *search, int worker, size_t r);

enum { AST_NEAR_WIDTH = 128 }; /* axes of a long head at most */

/* Computes the sketch (count + 1) of a row from its head: `count` coordinates, then the length of the tail. */
void ast_near_sketch(const ast_basis *axes, const float *head, size_t count, float *sketch);

/* For the choice of the caps: the number of pairs of a row of the tile and a block that pass the cap of the block. */
size_t ast_near_count_cap_passes(ast_near_search *search, int worker, size_t first, size_t last);
