/* SPDX-License-Identifier: MIT
 *
 * Rows are put in the order of a hash of what they hold, so that a permuted file has the same map, and the first of
 * them are a fair sample. Those are laid out by their graph of nearest neighbours (map_layout.c); every other row is
 * placed at the mean of its nearest ones among them, the nearer the heavier. */
#include "map.h"

#include <fnv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "map_layout.h"
#include "map_neighbours.h"
#include "projection.h"

/* Neighbours in the graph; of those of another row, how many count. */
enum { NEAR = 15, ANCHORS = 5 };

bool ast_map_suits(const ast_points *points, bool axial) {
    return points->dimension > 3 && !axial;
}

void ast_map_free(ast_map *map) {
    free(map->rows);
    free(map->xy);
    *map = (ast_map){0};
}

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

typedef struct entry {
    uint64_t hash;
    uint32_t row;
} entry;

/* False for a row without a direction. */
static bool hash_row(const ast_points *points, size_t index, double *row, uint64_t *hash) {
    bool any = false;
    *hash = AST_FNV_START;
    if (!points->starts) {
        bool there = ast_unit_row(points, index, row);
        *hash = there ? ast_fnv(*hash, row, points->dimension * sizeof *row) : 0;
        return there;
    }
    for (size_t e = ast_points_index(points, points->starts, index);
         e < ast_points_index(points, points->starts, index + 1); e++) {
        const double *value = (const double *)points->data + e;
        size_t column = ast_points_index(points, points->columns, e);
        any |= *value != 0;
        *hash = ast_fnv(ast_fnv(*hash, &column, sizeof column), value, sizeof *value);
    }
    return any;
}

static int by_hash(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : (x->row > y->row) - (x->row < y->row);
}

static bool choose_rows(ast_map *map, const ast_points *points, const uint32_t *among, size_t all) {
    entry *entries = malloc((all + 1) * sizeof *entries);
    double *row = malloc((points->starts ? 1 : points->dimension) * sizeof *row);
    size_t count = 0;
    for (size_t i = 0; entries && row && i < all; i++) {
        entries[count].row = among ? among[i] : (uint32_t)i;
        count += hash_row(points, entries[count].row, row, &entries[count].hash);
    }
    bool good = entries && row;
    if (good)
        qsort(entries, count, sizeof *entries, by_hash);
    map->count = good && count < AST_MAP_ROWS ? count : good ? AST_MAP_ROWS : 0;
    map->rows = malloc((map->count + 1) * sizeof *map->rows);
    for (size_t i = 0; map->rows && i < map->count; i++)
        map->rows[i] = entries[i].row;
    free(row);
    free(entries);
    return good && map->rows;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* The place of row `i` among its neighbours below `end` that have one, nearest first; NaN if none has. */
static void place(ast_map *map, const int32_t *near, size_t end, size_t i) {
    double sum[2] = {0, 0}, weights = 0;
    for (size_t n = 0, met = 0; n < NEAR && met < ANCHORS; n++) {
        if (near[n] < 0 || (size_t)near[n] >= end || isnan(map->xy[2 * (size_t)near[n]]))
            continue;
        double weight = 1 / (double)++met;
        weights += weight;
        for (size_t c = 0; c < 2; c++)
            sum[c] += weight * (double)map->xy[2 * (size_t)near[n] + c];
    }
    for (size_t c = 0; c < 2; c++)
        map->xy[2 * i + c] = weights > 0 ? (float)(sum[c] / weights) : NAN;
}

/* Rows without a marked neighbour follow, among all that have a place; what no neighbour leads to is in the middle. */
static void place_others(ast_map *map, const int32_t *neighbours, size_t marked) {
    for (size_t i = marked; i < map->count; i++)
        place(map, neighbours + i * NEAR, marked, i);
    for (size_t i = marked; i < map->count; i++)
        if (isnan(map->xy[2 * i]))
            place(map, neighbours + i * NEAR, map->count, i);
    for (size_t i = 2 * marked; i < 2 * map->count; i++)
        map->xy[i] = isnan(map->xy[i]) ? 0 : map->xy[i];
}

/* Both coordinates to -1..1 with one scale. */
static void fit(ast_map *map) {
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < 2 * map->count; i++) {
        low[i % 2] = fminf(low[i % 2], map->xy[i]);
        high[i % 2] = fmaxf(high[i % 2], map->xy[i]);
    }
    float half = fmaxf(fmaxf(high[0] - low[0], high[1] - low[1]) / 2, 1e-20f);
    for (size_t i = 0; i < 2 * map->count; i++)
        map->xy[i] = fmaxf(-1, fminf(1, (map->xy[i] - (low[i % 2] + high[i % 2]) / 2) / half));
}

bool ast_map_make(ast_map *map, const ast_points *points, const uint32_t *among, size_t among_count, int threads,
                  int (*stop)(void *data), void *data, ast_format_error *error) {
    bool good = choose_rows(map, points, among, among ? among_count : points->count);
    size_t count = map->count, marked = count < AST_MAP_MARKED ? count : AST_MAP_MARKED;
    int32_t *neighbours = malloc((count * NEAR + 1) * sizeof *neighbours);
    map->xy = malloc((2 * count + 1) * sizeof *map->xy);
    good = good && neighbours && map->xy;
    good = good && ast_map_neighbours(points, map->rows, marked, NEAR, threads, stop, data, neighbours) &&
           ast_map_layout(neighbours, marked, NEAR, map->xy, stop, data);
    if (good && marked < count) {
        good = ast_map_neighbours(points, map->rows, count, NEAR, threads, stop, data, neighbours);
        if (good)
            place_others(map, neighbours, marked);
    }
    free(neighbours);
    if (good)
        fit(map);
    if (!good && stop && stop(data))
        error->text[0] = 0;
    else if (!good)
        ast_format_fail(error, "there is not enough memory for the map");
    return good;
}
