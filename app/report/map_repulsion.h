/* SPDX-License-Identifier: MIT
 *
 * What drives the points of a map apart: of each point the sum of q^2 (y_i - y_j) over all others, with
 * q = 1 / (1 + |y_i - y_j|^2), and the sum of all q. Points that are far away count together, as their mean (Barnes and
 * Hut 1986): the work is O(n log n). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct ast_repulsion ast_repulsion;

/* For `count` points; NULL without memory. */
ast_repulsion *ast_repulsion_open(size_t count);
void ast_repulsion_close(ast_repulsion *repulsion); /* NULL is allowed */

/* xy, force: (count, 2). Returns the sum of q over all ordered pairs. */
double ast_repulsion_find(ast_repulsion *repulsion, const float *xy, float *force);
