/* SPDX-License-Identifier: MIT
 *
 * Some of many scenes, as people write them: 0-99, 5,17,200, every tenth as 0-/10, or all. */
#ifndef AST_CLI_REPRODUCE_FRAME_LIST_H
#define AST_CLI_REPRODUCE_FRAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ast_frame_list_problem {
    AST_FRAMES_FINE,
    AST_FRAMES_UNREADABLE,
    AST_FRAMES_BEYOND
} ast_frame_list_problem;

/* Marks those of `count` scenes that the list names, from 0. `wanted` is NULL where only the writing is looked at: then
 * no number is beyond. `beyond` is the number that is. */
ast_frame_list_problem ast_frame_list_mark(const char *list, size_t count, bool *wanted, size_t *beyond);

#endif
