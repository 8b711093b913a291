/* SPDX-License-Identifier: MIT
 *
 * What the pages of explore get. A message is the length of a JSON object (uint32, least significant byte first), the
 * object, and arrays of numbers, each behind enough zeros to begin at a multiple of 4; `sections` of the object names
 * them. viewer/EXPLORE.md has the fields. */
#pragma once

#include <map.h>
#include <recording.h>

#include "explore_parts.h"

/* A message that is being written. */
typedef struct ast_explore_text {
    ast_text json, arrays, sections;
} ast_explore_text;

void ast_explore_begin(ast_explore_text *text, const char *type);

/* Appends an array; type: "u8", "u16", "i16", "u32" or "i32". */
void ast_explore_array(ast_explore_text *text, const char *name, const char *type, const void *numbers, size_t count);

/* Puts it together; frees the text. NULL without memory. */
ast_shared_text *ast_explore_end(ast_explore_text *text);

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* The first one: what is explored, and the rows that are drawn. */
ast_shared_text *ast_explore_hello(const ast_explored *explored, const ast_drawn *drawn,
                                   const ast_explore_request *first);

/* Where the drawn rows are. */
ast_shared_text *ast_explore_places(const ast_drawn *drawn, const ast_explore_view *view, const int16_t *xyz,
                                    const ast_explore_request *request);

/* Where rows are on the map: which of the drawn ones, and what people call them. NULL without memory. */
ast_shared_text *ast_explore_mapped(const ast_explored *explored, const ast_drawn *drawn, const ast_map *map);

/* A run: its clusters, and the labels of the drawn rows. */
ast_shared_text *ast_explore_result(const ast_explored *explored, const ast_drawn *drawn, const ast_explore_view *view,
                                    const ast_explore_run *run);

/* {"type": TYPE, "id": ID, "text": TEXT}; a text of NULL is left out. */
ast_shared_text *ast_explore_words(const char *type, uint64_t id, const char *words);
