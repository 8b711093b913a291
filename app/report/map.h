/* SPDX-License-Identifier: MIT
 *
 * The map of a page: rows in a plane on which near rows are near, where three axes hold too little of many dimensions.
 * Of many rows a fair sample is on it, chosen by what the rows hold, not by where they stand in the file. */
#pragma once

#include <asterism.h>
#include <formats.h>

/* Rows on a map; the first MARKED ones are laid out by themselves, the others among their neighbours. */
enum { AST_MAP_ROWS = 30000, AST_MAP_MARKED = 10000 };

typedef struct ast_map {
    size_t count;
    uint32_t *rows; /* (count) of the points, in the order of a hash of what they hold */
    float *xy;      /* (count, 2) within -1..1; the scale of both is the same */
} ast_map;

/* Whether rows of this kind get a map: of more than three dimensions, and not axial. */
bool ast_map_suits(const ast_points *points, bool axial);

/* Makes the map of the points, or of the rows `among` (among_count) them if that is not NULL, on so many threads (0:
 * all). `stop`, or NULL, is asked now and then whether to give up. False after a
 * failure, or if it was given up (then the sentence is empty). Start with zeros, and free it in any case. */
bool ast_map_make(ast_map *map, const ast_points *points, const uint32_t *among, size_t among_count, int threads,
                  int (*stop)(void *data), void *data, ast_format_error *error);
void ast_map_free(ast_map *map);
