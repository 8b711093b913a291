/* SPDX-License-Identifier: MIT
 *
 * Some of many scenes, as people write them: 0-99, 5,17,200, every tenth as 0-/10, or all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum ast_scene_list_problem {
    AST_SCENES_FINE,
    AST_SCENES_UNREADABLE,
    AST_SCENES_BEYOND
} ast_scene_list_problem;

/* Marks the scenes that the list names, out of `count`, counted from 0. With `wanted` NULL only the syntax is checked,
 * and no number is out of range. *beyond becomes the number that is out of range. */
ast_scene_list_problem ast_scene_list_mark(const char *list, size_t count, bool *wanted, size_t *beyond);
