/* SPDX-License-Identifier: MIT
 *
 * Places the points of a graph in the plane so that neighbours stay neighbours. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* neighbours: (count, k) numbers of points, -1 for none. xy: (count, 2), the middle of the points is 0. `stop`, or
 * NULL, is asked now and then whether to give up. False without memory, or if it was given up. The same graph gives the
 * same bits everywhere. */
bool ast_map_layout(const int32_t *neighbours, size_t count, size_t k, float *xy, int (*stop)(void *data), void *data);
