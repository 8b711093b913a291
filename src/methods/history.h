/* SPDX-License-Identifier: MIT
 *
 * Fingerprints of the labels after each pass of a run: labels that were there before will be there again. */
#ifndef AST_HISTORY_H
#define AST_HISTORY_H

#include "fault.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct ast_history {
    uint64_t *label_hashes;
    size_t count, capacity;
} ast_history;

/* Adds a fingerprint; *repeats becomes whether it was there already. */
ast_status ast_history_add(ast_history *history, uint64_t label_hash, bool *repeats, ast_fault *fault);

/* Forgets all but the last. */
static inline void ast_history_keep_last(ast_history *history) {
    if (history->count > 1)
        history->label_hashes[0] = history->label_hashes[history->count - 1];
    history->count = history->count > 0;
}
void ast_history_free(ast_history *history);

#endif
