/* SPDX-License-Identifier: MIT */
#include "history.h"

#include "memory.h"

#include <stdlib.h>

ast_status ast_history_add(ast_history *h, uint64_t print, bool *repeats, ast_fault *fault) {
    *repeats = false;
    for (size_t i = 0; i < h->count && !*repeats; i++)
        *repeats = h->prints[i] == print;
    if (!ast_reserve(&h->prints, &h->capacity, h->count, h->count + 1, sizeof *h->prints))
        return ast_fail_memory(fault);
    h->prints[h->count++] = print;
    return AST_OK;
}

void ast_history_free(ast_history *h) {
    free(h->prints);
    *h = (ast_history){0};
}
