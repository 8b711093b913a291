/* SPDX-License-Identifier: MIT
 *
 * The nearest rows of rows, for a map. */
#pragma once

#include <asterism.h>

#include <stdbool.h>

/* The k rows of these nearest to each, by cosine; equal ones in order of rows, -1 where there are fewer.
 * rows: (count) of the points, which have a direction. neighbours: (count, k) numbers 0..count - 1. */
bool ast_map_neighbours(const ast_points *points, const uint32_t *rows, size_t count, size_t k, int threads,
                        int (*stop)(void *data), void *data, int32_t *neighbours);
