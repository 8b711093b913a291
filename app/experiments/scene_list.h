/* SPDX-License-Identifier: MIT
 *
 * Some of many scenes, as people write them: 0-99, 5,17,200, every tenth as 0-/10, or all. */
#ifndef AST_EXPERIMENTS_SCENE_LIST_H
#define AST_EXPERIMENTS_SCENE_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ast_scene_list_problem {
    AST_SCENES_FINE,
    AST_SCENES_UNREADABLE,
    AST_SCENES_BEYOND
} ast_scene_list_problem;

/* Marks those of `count` scenes that the list names, from 0. `wanted` is NULL where only the writing is looked at: then
 * no number is beyond. `beyond` is the number that is. */
ast_scene_list_problem ast_scene_list_mark(const char *list, size_t count, bool *wanted, size_t *beyond);

#endif
