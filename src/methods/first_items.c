/* SPDX-License-Identifier: MIT */
#include "first_items.h"

#include <string.h>

static void swap(char *a, char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char copy = a[i];
        a[i] = b[i];
        b[i] = copy;
    }
}

/* A parent never comes before its children. */
void ast_first_items_offer(void *items, size_t *count, size_t room, size_t size, ast_comparison *compare,
                           const void *item) {
    char *heap = items;
    size_t at = *count;
    if (at < room) {
        memcpy(heap + at * size, item, size);
        ++*count;
        for (size_t up; at > 0 && compare(heap + at * size, heap + (up = (at - 1) / 2) * size) > 0; at = up)
            swap(heap + at * size, heap + up * size, size);
    } else if (room > 0 && compare(item, heap) < 0) {
        memcpy(heap, item, size);
        for (size_t child = 1, up = 0; child < room; up = child, child = 2 * up + 1) {
            child += child + 1 < room && compare(heap + (child + 1) * size, heap + child * size) > 0;
            if (compare(heap + up * size, heap + child * size) >= 0)
                return;
            swap(heap + up * size, heap + child * size, size);
        }
    }
}
