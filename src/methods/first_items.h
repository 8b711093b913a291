/* SPDX-License-Identifier: MIT
 *
 * The first items of an order among many, with memory for no more than these: a heap whose root is the last of them. */
#pragma once

#include <stddef.h>

/* As for qsort: below 0 if a comes before b. */
typedef int ast_comparison(const void *a, const void *b);

/* Offers one more item of `size` bytes, at most 64. items: (room, size) of which *count are in use. Sort them with
 * qsort at the end. */
void ast_first_items_offer(void *items, size_t *count, size_t room, size_t size, ast_comparison *compare,
                           const void *item);
