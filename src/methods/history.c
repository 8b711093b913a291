/* SPDX-License-Identifier: MIT */
#include "history.h"

#include "memory.h"

#include <stdlib.h>

ast_status ast_history_add(ast_history *h, uint64_t print, bool *repeats, ast_fault *fault) {
    *repeats = false;
    for (size_t i = 0; i < h->count && !*repeats; i++)
        *repeats = h->prints[i] == print;
    if (h->count == h->capacity) {
        size_t capacity = 2 * h->capacity + 64;
        if (!ast_grow_array(&h->prints, h->count, capacity, sizeof *h->prints))
            return ast_fail_memory(fault);
        h->capacity = capacity;
    }
    h->prints[h->count++] = print;
    return AST_OK;
}

void ast_history_free(ast_history *h) {
    free(h->prints);
    *h = (ast_history){0};
}
