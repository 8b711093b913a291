/* SPDX-License-Identifier: MIT
 *
 * Points are sorted along the Z curve, which makes a quadtree of ranges. Sixteen neighbours on the curve share one list
 * of what they see: far cells as their mean and weight, near points as they are. The sums over the list run over the
 * sixteen points side by side, each in the order of the list, so that vectors change no bit. */
#include "map_repulsion.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16, LEAF = 8, LEVELS = 16, RADIX = 11 };

/* A cell is far if its side is below this share of its distance: forces are then within
 * some percent. */
#define OPEN 0.7f

typedef struct cell {
    float x, y, weight; /* the mean of its points, and how many there are */
    float side;
    uint32_t first, end; /* its points, sorted */
    uint32_t skip;       /* the cell behind its last descendant; its first child is the next cell */
} cell;

/* What a group sees. */
typedef struct source {
    float x, y, weight;
} source;

struct ast_repulsion {
    size_t count;
    uint32_t *keys, *order; /* (2 count) of the points, and room to sort them */
    float *sorted;          /* (count, 2) */
    cell *cells;
    size_t cell_count, cell_room;
    source *seen; /* (count) */
};

ast_repulsion *ast_repulsion_open(size_t count) {
    ast_repulsion *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    /* A cell that is no leaf has more than LEAF points; each level has at most count / LEAF of them, and 4 children. */
    *r = (ast_repulsion){.count = count, .cell_room = 4 * (count / LEAF + 1) * LEVELS + 1};
    r->keys = malloc(2 * (count + 1) * sizeof *r->keys);
    r->order = malloc(2 * (count + 1) * sizeof *r->order);
    r->sorted = malloc(2 * (count + 1) * sizeof *r->sorted);
    r->cells = malloc(r->cell_room * sizeof *r->cells);
    r->seen = malloc((count + 1) * sizeof *r->seen);
    if (r->keys && r->order && r->sorted && r->cells && r->seen)
        return r;
    ast_repulsion_close(r);
    return NULL;
}

void ast_repulsion_close(ast_repulsion *r) {
    if (!r)
        return;
    free(r->keys);
    free(r->order);
    free(r->sorted);
    free(r->cells);
    free(r->seen);
    free(r);
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

/* Bit i of a number of LEVELS bits goes to bit 2 i. */
static uint32_t spread(uint32_t bits) {
    bits = (bits | bits << 8) & 0x00ff00ff;
    bits = (bits | bits << 4) & 0x0f0f0f0f;
    bits = (bits | bits << 2) & 0x33333333;
    return (bits | bits << 1) & 0x55555555;
}

/* Sorts by key, the least digits first; the keys end where they began. */
static void sort(ast_repulsion *r) {
    size_t n = r->count;
    uint32_t *key = r->keys, *to_key = key + n, *order = r->order, *to_order = order + n;
    for (int shift = 0; shift < 2 * LEVELS; shift += RADIX) {
        size_t at[1 << RADIX] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            at[key[i] >> shift & ((1 << RADIX) - 1)]++;
        for (size_t d = 0; d < 1 << RADIX; d++) {
            size_t size = at[d];
            at[d] = sum;
            sum += size;
        }
        for (size_t i = 0; i < n; i++) {
            size_t place = at[key[i] >> shift & ((1 << RADIX) - 1)]++;
            to_key[place] = key[i];
            to_order[place] = order[i];
        }
        uint32_t *swap = key;
        key = to_key, to_key = swap;
        swap = order;
        order = to_order, to_order = swap;
    }
    memmove(r->keys, key, n * sizeof *key);
    memmove(r->order, order, n * sizeof *order);
}

/* Returns the side of the square that holds all points. */
static float sort_points(ast_repulsion *r, const float *xy) {
    float low[2] = {xy[0], xy[1]}, high[2] = {xy[0], xy[1]};
    for (size_t i = 0; i < 2 * r->count; i++) {
        low[i % 2] = fminf(low[i % 2], xy[i]);
        high[i % 2] = fmaxf(high[i % 2], xy[i]);
    }
    float side = fmaxf(high[0] - low[0], high[1] - low[1]);
    float scale = side > 1e-20f ? (float)((1 << LEVELS) - 1) / side : 0;
    for (size_t i = 0; i < r->count; i++) {
        uint32_t x = (uint32_t)((xy[2 * i] - low[0]) * scale), y = (uint32_t)((xy[2 * i + 1] - low[1]) * scale);
        r->keys[i] = spread(x) | spread(y) << 1;
        r->order[i] = (uint32_t)i;
    }
    sort(r);
    for (size_t i = 0; i < r->count; i++)
        memcpy(r->sorted + 2 * i, xy + 2 * (size_t)r->order[i], 2 * sizeof *xy);
    return side;
}

/* The first of the points first..end - 1 whose key is at least `key`. */
static uint32_t find(const ast_repulsion *r, uint32_t first, uint32_t end, uint64_t key) {
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (r->keys[middle] < key)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Makes the cell of these points and those inside it. */
static void divide(ast_repulsion *r, uint32_t first, uint32_t end, uint64_t key, int level, float side) {
    cell *own = &r->cells[r->cell_count++];
    double sum[2] = {0, 0};
    for (uint32_t i = first; i < end; i++) {
        sum[0] += (double)r->sorted[2 * i];
        sum[1] += (double)r->sorted[2 * i + 1];
    }
    *own = (cell){.weight = (float)(end - first), .side = side, .first = first, .end = end};
    own->x = (float)(sum[0] / (double)(end - first));
    own->y = (float)(sum[1] / (double)(end - first));
    if (end - first > LEAF && level < LEVELS) {
        uint64_t part = (uint64_t)1 << 2 * (LEVELS - 1 - level);
        for (uint64_t q = 1; q <= 4; q++) {
            uint32_t stop = q < 4 ? find(r, first, end, key + q * part) : end;
            if (stop > first)
                divide(r, first, stop, key + (q - 1) * part, level + 1, side / 2);
            first = stop;
        }
    }
    own->skip = (uint32_t)r->cell_count;
}

/* ---- Forces ------------------------------------------------------------------------------------------------------ */

/* What the points of the box low..high see. */
static size_t look(const ast_repulsion *r, const float low[2], const float high[2]) {
    size_t count = 0;
    for (uint32_t c = 0; c < r->cell_count;) {
        const cell *at = &r->cells[c];
        float dx = fmaxf(fmaxf(low[0] - at->x, at->x - high[0]), 0),
              dy = fmaxf(fmaxf(low[1] - at->y, at->y - high[1]), 0);
        if (at->side * at->side < OPEN * OPEN * (dx * dx + dy * dy)) {
            r->seen[count++] = (source){at->x, at->y, at->weight};
            c = at->skip;
        } else if (at->skip == c + 1) {
            for (uint32_t i = at->first; i < at->end; i++)
                r->seen[count++] = (source){r->sorted[2 * i], r->sorted[2 * i + 1], 1};
            c++;
        } else {
            c++;
        }
    }
    return count;
}

/* The forces on LANES points at x, y. */
static void push(const source *seen, size_t count, const float x[LANES], const float y[LANES], float fx[LANES],
                 float fy[LANES], float z[LANES]) {
    for (size_t s = 0; s < count; s++) {
        source from = seen[s];
        for (size_t l = 0; l < LANES; l++) {
            float dx = x[l] - from.x, dy = y[l] - from.y, q = 1 / (1 + dx * dx + dy * dy), wq = from.weight * q;
            z[l] += wq;
            fx[l] += wq * q * dx;
            fy[l] += wq * q * dy;
        }
    }
}

static double push_group(const ast_repulsion *r, size_t first, float *force) {
    float x[LANES], y[LANES], fx[LANES] = {0}, fy[LANES] = {0}, z[LANES] = {0};
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    size_t count = r->count - first < LANES ? r->count - first : LANES;
    double sum = 0;
    for (size_t l = 0; l < LANES; l++) {
        size_t i = first + (l < count ? l : 0);
        x[l] = r->sorted[2 * i];
        y[l] = r->sorted[2 * i + 1];
        low[0] = fminf(low[0], x[l]), low[1] = fminf(low[1], y[l]);
        high[0] = fmaxf(high[0], x[l]), high[1] = fmaxf(high[1], y[l]);
    }
    push(r->seen, look(r, low, high), x, y, fx, fy, z);
    for (size_t l = 0; l < count; l++) {
        float *to = force + 2 * (size_t)r->order[first + l];
        to[0] = fx[l];
        to[1] = fy[l];
        sum += (double)z[l] - 1; /* without itself */
    }
    return sum;
}

double ast_repulsion_find(ast_repulsion *r, const float *xy, float *force) {
    double sum = 0;
    if (r->count == 0)
        return 0;
    float side = sort_points(r, xy);
    r->cell_count = 0;
    divide(r, 0, (uint32_t)r->count, 0, 0, side);
    for (size_t first = 0; first < r->count; first += LANES)
        sum += push_group(r, first, force);
    return sum;
}
