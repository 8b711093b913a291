/* SPDX-License-Identifier: MIT */
#include "history.h"

#include "memory.h"

#include <stdlib.h>

ast_status ast_history_add(ast_history *h, uint64_t label_hash, bool *repeats, ast_fault *fault) {
    *repeats = false;
    for (size_t i = 0; i < h->count && !*repeats; i++)
        *repeats = h->label_hashes[i] == label_hash;
    if (!ast_reserve(&h->label_hashes, &h->capacity, h->count, h->count + 1, sizeof *h->label_hashes))
        return ast_fail_memory(fault);
    h->label_hashes[h->count++] = label_hash;
    return AST_OK;
}

void ast_history_free(ast_history *h) {
    free(h->label_hashes);
    *h = (ast_history){0};
}
